"""python -m relxl sweep max-len: measure beyond the training length and write it down. Imports torch when it runs."""

import argparse
import hashlib
import json
import shlex
import sys
import time
from pathlib import Path

BUNDLED = [Path("checkpoints") / f"shakespeare-{positions}" for positions in ("learned", "sinusoid", "absolute")]
SMALL = {"characters": 2048, "lead": 128}  # what a test measures again, at each checkpoint's own lengths
SMALL_VARIANTS = {"learned": ("as_trained", "interpolate:512", "flip"), "sinusoid": ("as_trained", "flip")}


def add_max_len(subjects: argparse._SubParsersAction) -> None:
    """Add `max-len` to the subjects of `python -m relxl sweep`."""
    parser = subjects.add_parser(
        "max-len", help="losses of trained models at longer segments and memories, by how positions are read"
    )
    parser.add_argument("checkpoints", type=Path, nargs="*", default=BUNDLED, help="(default: three bundled ones)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.csv", help="beside it FILE.json says how")
    parser.add_argument(
        "--text", type=Path, default=Path("data/tinyshakespeare.txt"), help="its last 10 %% are read (%(default)s)"
    )
    parser.add_argument(
        "--characters", type=int, default=20480, help="characters read, those that fill a memory too (%(default)s)"
    )
    parser.add_argument("--lengths", type=sizes, default="128,256,512,1024", help="segment lengths (%(default)s)")
    parser.add_argument("--memories", type=sizes, default="0,128,256,512,1024", help="memory lengths (%(default)s)")
    parser.add_argument("--threads", type=int, help="torch threads; without it torch decides")
    parser.set_defaults(run=run_max_len)


def sizes(text: str) -> list[int]:
    """Read whole numbers apart by commas."""
    if not all(part.isdecimal() for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"must be whole numbers apart by commas, got {text!r}")
    return sorted({int(part) for part in text.split(",")})


def run_max_len(options: argparse.Namespace) -> int:
    import torch

    from relxl.checkpoint import open_checkpoint
    from relxl.experiments.max_len_losses import BIN_LEN, loss_rows, to_csv
    from relxl.files import write_atomic

    if options.threads:
        torch.set_num_threads(options.threads)
    text = options.text.read_text(encoding="utf-8")
    checkpoints = [open_checkpoint(path) for path in options.checkpoints]
    lead = max(*options.lengths, *options.memories)
    table, small, began = [], [], time.monotonic()
    for i, checkpoint in enumerate(checkpoints):
        tokens = validation_streams(checkpoint, text, options.characters)
        small += small_rows(checkpoint, text) if options.characters >= SMALL["characters"] else []
        rows = []
        for done, row in checkpoint_losses(checkpoint, tokens, options.lengths, options.memories, lead):
            rows += [row] if row else []
            show_progress((i + done) / len(checkpoints), checkpoint.name, began)
        table += named(checkpoint, loss_rows(rows, rows[0], BIN_LEN))
    how = describe_sweep(options, text, checkpoints, tokens.shape, lead, time.monotonic() - began) | {"small": small}
    write_atomic(options.out, to_csv(table))
    write_atomic(options.out.with_suffix(".json"), json.dumps(how, ensure_ascii=False, indent=1).encode())
    print(file=sys.stderr)
    print(f"{options.out}: {len(table)} rows, {options.out.with_suffix('.json')} says how")
    return 0


def validation_streams(checkpoint, text: str, characters: int, streams: int | None = None):
    """Cut the validation part of a text into streams of tokens. Raises ValueError for characters nobody trained."""
    import torch

    from relxl.experiments.max_len_losses import STREAMS, check_has_loss, spread_streams
    from relxl.training import split_tokens

    check_has_loss(checkpoint.model)
    encoded = checkpoint.vocab.encode(text)
    if encoded.unknown:
        raise ValueError(
            f"{checkpoint.name} does not know {len(encoded.unknown)} of the text's characters, such as "
            f"{next(iter(encoded.unknown))!r}: give the text that it was trained on with --text"
        )
    return spread_streams(split_tokens(torch.tensor(encoded.ids))[1], characters, streams or STREAMS)


def checkpoint_losses(checkpoint, tokens, lengths: list[int], memories: list[int], lead: int):
    """Measure what is worth comparing for a checkpoint, as trained at its own lengths first; see `length_losses`."""
    from relxl.experiments.max_len_losses import length_losses
    from relxl.experiments.max_len_variants import GRID, home_variants

    config = checkpoint.config
    home, grid = possible(checkpoint, home_variants(config)), possible(checkpoint, GRID[config.positions])
    first = length_losses(checkpoint.model, tokens, [config.segment_len], [config.mem_len], home, lead)
    second = length_losses(checkpoint.model, tokens, lengths, memories, grid, lead)
    for done, row in first:
        yield done * 0.05, row
    for done, row in second:
        again = row and row.variant in home and (row.segment_len, row.mem_len) == (config.segment_len, config.mem_len)
        yield 0.05 + done * 0.95, None if again else row


def possible(checkpoint, variants) -> tuple[str, ...]:
    """Leave out what a checkpoint can not be run as: as trained alone, if it does not say its lengths."""
    from relxl.experiments.max_len import known_reach
    from relxl.reading import can_flip

    if known_reach(checkpoint) is None:
        return ("as_trained",)
    return tuple(name for name in variants if name != "flip" or can_flip(checkpoint.model))


def small_rows(checkpoint, text: str) -> list[dict]:
    """Measure the few rows that a test measures again."""
    from relxl.experiments.max_len_losses import length_losses, loss_rows

    config = checkpoint.config
    variants = possible(checkpoint, SMALL_VARIANTS.get(config.positions, ("as_trained",)))
    tokens = validation_streams(checkpoint, text, SMALL["characters"])
    steps = length_losses(
        checkpoint.model, tokens, [config.segment_len], [config.mem_len], variants, lead=SMALL["lead"]
    )
    rows = loss_rows([row for _, row in steps if row])
    return [{name: row[name] for name in ("checkpoint", "variant", "loss")} for row in named(checkpoint, rows)]


def named(checkpoint, rows: list[dict]) -> list[dict]:
    return [{"checkpoint": checkpoint.name} | row for row in rows]


def describe_sweep(options, text: str, checkpoints: list, shape, lead: int, seconds: float) -> dict:
    """Put down how the rows came about: command, text, characters, checkpoints, versions."""

    from relxl.experiments.max_len_losses import BLOCK_LEN
    from relxl.experiments.max_len_variants import VARIANTS
    from relxl.training import versions

    streams, length = shape[0], shape[1] - 1
    return {
        "command": "python -m relxl " + shlex.join(sys.argv[1:]),
        "text": {"name": options.text.name, "sha256": hashlib.sha256(text.encode()).hexdigest()},
        "checkpoints": {checkpoint.name: checkpoint.digest for checkpoint in checkpoints},
        "characters": {"streams": streams, "read": streams * length, "scored": streams * (length - lead), "lead": lead},
        "how": (
            f"the last 10% of the characters as {streams} equal streams, the first {length} of each read in "
            f"consecutive segments, memory carried; the first {lead} fill the memory and are not scored, so every row "
            "is about the same characters with a full memory. loss: nats per character over the positions begin to "
            f"end of the segment; loss_error: standard error over blocks of about {BLOCK_LEN} characters; change: "
            "loss minus that of the checkpoint as trained, at its own segment and memory, on the same characters"
        ),
        "variants": VARIANTS,
        "versions": versions(),
        "minutes": round(seconds / 60, 1),
        "small_settings": SMALL,
    }


def show_progress(done: float, name: str, began: float) -> None:
    """Print one line over the last one: how far, which checkpoint, how long still."""
    left = round((time.monotonic() - began) * (1 - done) / max(done, 1e-6))
    bar = "#" * int(24 * done)
    print(f"\r[{bar:24}] {done:6.1%}  {name:24} {left // 60}:{left % 60:02} left ", end="", file=sys.stderr, flush=True)
