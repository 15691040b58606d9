"""How much a file from outside may be and have. Every number stands far above what real checkpoints have."""

MIB = 1 << 20
MAX_BYTES = 2 << 30  # of all weights that are opened at once
MAX_TENSORS = 20_000
MAX_DIMS = 8
MAX_NAME = 1024  # bytes of a tensor's name
MAX_HEADER = 8 * MIB  # of a safetensors file, and of an index of shards
MAX_CONFIG = MIB  # of a JSON or YAML file with sizes
MAX_TEXT = 32 * MIB  # of a vocabulary
MAX_PIECES_BYTES = 2 * MAX_TEXT  # of the texts of all tokens
MAX_TYPED = 200_000  # characters of a text that a tokenizer is given
MAX_IDS = 1_000_000  # tokens of such a text
TOKENIZER_SECONDS = 5  # of one processor; a good tokenizer takes a tenth of one
TOKENIZER_WAIT = 10  # seconds on the clock, of which a busy machine may give the child half
MAX_MEMBERS = 10_000  # of a zip
MAX_TAR_MEMBERS = 1_000
MAX_FACTS = 2 * MIB  # of the child's answer, without tensors
START_SECONDS = 60  # to import torch on a busy machine: nothing of a file is read before


def most_unfolded(size: int) -> int:
    """Say how many bytes a file of `size` bytes may become: tied tensors are written once and come back twice."""
    return min(MAX_BYTES, 2 * size + 8 * MIB)


def most_seconds(size: int) -> int:
    """Say how long the child may work on a file: a good one takes a hundredth of this."""
    return 4 + size // (25 * MIB)


def most_memory(size: int) -> int:
    """Say how much memory the child may take on top of what Python and torch have."""
    return 512 * MIB + 6 * size
