"""Open a checkpoint: the only place where a file from outside becomes a model. Opening one never runs code from it.

`containers/` turns a file or folder into checked tensors, `families/` tells whose they are and brings them into the
canonical form. Our own checkpoints are folders: config.json (sizes), model.safetensors (weights), vocab.json (tokens),
training.json (how it came about: losses, seed, command, versions, a sample with its exact loss).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch
from safetensors.torch import save

from relxl.canonical import CanonicalModel
from relxl.config import ModelConfig, Sizes
from relxl.containers import CheckpointError, Weights, read_weights
from relxl.families import Family, Match, Opened, open_tensors
from relxl.files import write_atomic
from relxl.model import TransformerXL
from relxl.tokenizer import NOT_INSTALLED, TokenizerVocab, is_installed, read_tokenizer
from relxl.vocab import HALVES, IdVocab, Vocab, WordVocab, decode_text, read_vocab_json

OWN = Family("relxl", "relxl's own language model", "relxl.model", lambda shapes: None, lambda reader, told: None)
TOKENIZER = "tokenizer.json"
MAX_SAMPLE = 100_000  # characters of a recorded text; ours have 257


class UnansweredError(CheckpointError):
    """Say that a file can not be read before a question is answered; `ask` names it."""

    def __init__(self, message: str, ask: str):
        super().__init__(message)
        self.ask = ask


@dataclass(frozen=True)
class Checkpoint:
    """Hold an opened checkpoint. The model is shared by all who look at it, so it is never changed."""

    name: str
    vocab: Vocab | WordVocab | IdVocab | TokenizerVocab | None  # None: the model reads hidden states and not tokens
    training: dict
    opened: Opened
    weights: Weights

    @property
    def model(self) -> TransformerXL | CanonicalModel:
        return self.opened.model

    @property
    def config(self) -> ModelConfig | Sizes:
        return self.model.config

    @property
    def digest(self) -> str:
        """Give the sha256 of what was read, hexadecimal."""
        return self.weights.digest

    @property
    def n_parameters(self) -> int:
        """Count the numbers of all tensors of floats."""
        return sum(tensor.numel() for tensor in self.weights.tensors.values() if tensor.is_floating_point())


def list_checkpoints(root: Path) -> list[str]:
    """Name the checkpoint folders in `root`, sorted."""
    return sorted(path.parent.name for path in root.glob("*/config.json"))


def open_checkpoint(
    source: Path | str | bytes,
    dtype: torch.dtype = torch.float32,
    chosen: Mapping[str, object] | None = None,
    config: Mapping[str, object] | None = None,
    name: str = "",
) -> Checkpoint:
    """Open a file, a folder, or the bytes of a file; a person knows it as `name`, if that is not the path's.

    `chosen` answers what the weights cannot tell, by the names of `families.FAMILIES`; `config` is what is known beside
    the file. Raises CheckpointError, one sentence, for everything that cannot be opened.
    """
    weights = read_weights(source, name)
    called = name or ("" if isinstance(source, bytes) else Path(source).resolve().name)
    config = weights.config | dict(config or {})
    try:
        if config.get("family") == OWN.name:
            opened = open_own(weights, config, dtype)
        else:
            opened = open_tensors(weights.tensors, config, chosen, dtype)
        return Checkpoint(called, read_vocab(weights, opened), parse_training(weights), opened, weights)
    except ValueError as error:
        message, ask = f"{called or 'the file'}: {error}", getattr(error, "ask", None)
        raise (UnansweredError(message, ask) if ask else CheckpointError(message)) from None


def open_own(weights: Weights, config: dict, dtype: torch.dtype) -> Opened:
    """Build a model of ours from weights whose names and shapes are the config's."""
    sizes = parse_config(config)
    found = sum(tensor.numel() for tensor in weights.tensors.values())
    if sizes.n_parameters > 2 * found:  # before anything is allocated for it
        raise CheckpointError(
            f"the weights hold {found} numbers, but config.json asks for {sizes.n_parameters}: they differ, give "
            "the two files of one training run"
        )
    with torch.random.fork_rng(devices=[]):  # building a model draws random numbers, which are replaced at once
        model = TransformerXL(sizes)
    wanted = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    if missing := sorted(set(wanted) - set(weights.tensors)):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise CheckpointError(f"the weights lack {missing[0]}{more}: they do not fit config.json")
    for name, shape in wanted.items():
        tensor = weights.tensors[name]
        if tuple(tensor.shape) != shape or not tensor.is_floating_point():
            raise CheckpointError(
                f"{name} is {tensor.dtype} {list(tensor.shape)}, but config.json needs floats {list(shape)}: give the "
                "two files of one training run"
            )
    model.load_state_dict({name: weights.tensors[name].to(dtype) for name in wanted}, assign=True)
    model = model.eval().requires_grad_(False)
    unmatched = tuple(name for name in weights.tensors if name not in wanted)
    return Opened(model, OWN, Match((OWN,), ('config.json says "family": "relxl"',)), (), unmatched)


def parse_config(values: dict) -> ModelConfig:
    """Check every size before anything is allocated."""
    values = {name: value for name, value in values.items() if name != "family"}
    known = {field.name for field in fields(ModelConfig)}
    if unknown := sorted(set(values) - known):
        raise CheckpointError(
            f"config.json has {unknown[0][:40]!r}, which relxl does not know: it knows {', '.join(sorted(known))}"
        )
    if missing := sorted(known - set(values)):
        raise CheckpointError(f"config.json lacks {', '.join(missing)}: restore it from the training run")
    try:
        return ModelConfig(**values)
    except ValueError as error:
        raise CheckpointError(f"config.json: {error}") from None


def read_vocab(weights: Weights, opened: Opened) -> Vocab | WordVocab | IdVocab | TokenizerVocab | None:
    """Read the vocabulary that lies beside the weights; without one, a model of tokens is given ids.

    vocab.json and vocab.txt come first, except as a part of the tokenizer.json that lies beside them: then they list
    its pieces, of which a text that is cut at white space has few.
    """
    n_token, texts = opened.model.config.n_token, weights.texts
    if not n_token:
        return None
    for file in ("vocab.json", "vocab.txt"):
        if file in texts and not (TOKENIZER in texts and lists_pieces(file, texts[file])):
            return read_words(file, texts[file], n_token)
    if TOKENIZER in texts:
        return read_tokenizer(texts[TOKENIZER], n_token) if is_installed() else IdVocab(n_token, NOT_INSTALLED)
    if opened.family is OWN:
        raise CheckpointError(
            "there is no vocab.json: a checkpoint needs config.json, model.safetensors and vocab.json"
        )
    return IdVocab(n_token)


def lists_pieces(file: str, data: bytes) -> bool:
    """Tell whether HuggingFace writes such a file beside a tokenizer.json; our own vocab.json is a list."""
    return file == "vocab.txt" or data.lstrip().startswith(b"{")


def read_words(file: str, data: bytes, n_token: int) -> Vocab | WordVocab:
    """Read vocab.json or vocab.txt for a model of `n_token` ids."""
    try:
        text = decode_text(data)
        vocab = WordVocab.from_text(text) if file.endswith(".txt") else read_vocab_json(text, n_token)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{file} can not be read ({error}): restore it from the training run") from None
    if len(vocab.tokens) != n_token:
        blank = sum(not token.strip() for token in vocab.tokens) if file.endswith(".txt") else 0
        raise CheckpointError(
            f"{file} has {len(vocab.tokens)} tokens{f', {blank} of them blank lines,' if blank else ','} but the model "
            f"has n_token={n_token}: the two files belong to different models"
        )
    return vocab


def is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_SAMPLE and not HALVES.search(value)


def is_number(value: object) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < 1 << 53)


def is_row(value: object) -> bool:
    return isinstance(value, list) and all(map(is_number, value))


def is_table(value: object) -> bool:
    return isinstance(value, list) and all(map(is_row, value)) and len(set(map(len, value))) == 1


NEEDED = {"text.name": is_text, "train.steps": is_number, "validation.loss": is_number, "sample.text": is_text}
OPTIONAL = {"train.mask_order": is_text, "train.mask_fill": is_text, "train.mask_fault": is_text}
OPTIONAL |= {"sample.losses": is_row, "row_gradient_counts": is_table}


def parse_training(weights: Weights) -> dict:
    """Read training.json, which a checkpoint may lack, and check what others read of it: the parts that it has."""
    if "training.json" not in weights.texts:
        return {}
    try:
        training = json.loads(weights.texts["training.json"])
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"training.json is not JSON ({error}): restore or remove it") from None
    if not isinstance(training, dict):
        raise CheckpointError(f"training.json holds a JSON {type(training).__name__}, but an object was expected")
    training = {part: values for part, values in training.items() if values is not None}
    for place, is_right in (NEEDED | OPTIONAL).items():
        part, _, name = place.partition(".")
        value = training.get(part)
        if name and value is not None:
            value = value.get(name) if isinstance(value, dict) else None
        if not is_right(value) and (value is not None or (place in NEEDED and part in training)):
            raise CheckpointError(
                f"training.json: {place} is not what a training run writes: restore or remove the file"
            )
    return training


def save_checkpoint(path: Path, model: TransformerXL, vocab: Vocab, training: dict) -> None:
    """Write a checkpoint folder; each file appears whole, and config.json, which makes it a checkpoint, last."""
    tensors = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
    write_atomic(path / "model.safetensors", save(tensors))
    write_atomic(path / "vocab.json", vocab.to_json().encode())
    write_atomic(path / "training.json", json.dumps(training, ensure_ascii=False, indent=1).encode())
    write_atomic(path / "config.json", json.dumps({"family": "relxl", **asdict(model.config)}, indent=1).encode())
