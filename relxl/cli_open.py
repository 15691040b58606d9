"""The commands that open a checkpoint: `inspect`, `terms`, and `convert` for a file that relxl refuses to unpickle."""

import argparse
import json
import sys
from pathlib import Path


def add_convert(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "convert", help="take the tensors out of a pickle that holds more than tensors, without running it"
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--trust", action="store_true", help="say that you know where the file comes from")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="folder to write (default: FILE_converted)")
    parser.set_defaults(run=run_convert)


def run_convert(options: argparse.Namespace) -> int:
    from relxl.containers.convert import convert

    done = convert(options.file, options.out, options.trust)
    print(f"{done.folder}: {done.tensors} tensors in model.safetensors, {done.config} values in config.json")
    for note in done.notes:
        print(f"  {note}")
    return 0


# What is opened ------------------------------------------------------------------------------------------------------


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Add the checkpoint and what may be said beside it."""
    parser.add_argument("checkpoint", type=Path, help="a folder, or a file of weights")
    parser.add_argument(
        "--choose",
        type=choice,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="answer what the weights can not tell, such as clamp_len=400 or family=espnet; may be repeated",
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="a config, JSON or YAML, that lies elsewhere")


def choice(text: str) -> tuple[str, object]:
    """Read an answer: numbers, true, false and lists as JSON has them, numbers apart by commas, else a word."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, such as clamp_len=400, got {text[:40]!r}")
    for written in (value, f"[{value}]"):
        try:
            return name, json.loads(written)
        except (ValueError, RecursionError):
            continue
    return name, value


def open_chosen(options: argparse.Namespace, dtype: str = "float32"):
    """Open the checkpoint with the answers and the config that were given."""
    import torch

    from relxl.checkpoint import open_checkpoint
    from relxl.containers.folders import read_config_file

    config = read_config_file(options.config) if options.config else None
    return open_checkpoint(options.checkpoint, getattr(torch, dtype), dict(options.choose), config)


def add_inspect(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("inspect", help="say what a checkpoint is: family, sizes, settings, training, tensors")
    add_checkpoint(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.set_defaults(run=run_inspect)


def run_inspect(options: argparse.Namespace) -> int:
    from relxl.census import census, describe

    checkpoint = open_chosen(options)
    facts, tensors = describe(checkpoint), census(checkpoint)
    if options.json:
        print(json.dumps(facts | {"tensors": tensors}, ensure_ascii=False, indent=1))
        return 0
    settings = facts.pop("settings")
    for name, value in facts.items():
        if value not in (None, []):
            print(f"{name:18}{', '.join(map(str, value)) if isinstance(value, list) else value}")
    if settings:
        print("\nsettings")
        print_columns([[f"  {name}", str(value), origin] for name, (value, origin) in settings.items()])
    print()
    print_columns([["tensor", "shape", "dtype", *COLUMNS, ""], *map(tensor_line, tensors)])
    return 0


COLUMNS = ("mean", "std", "min", "max", "nan", "infinite", "zero_share")


def tensor_line(tensor: dict) -> list[str]:
    """Put the census of a tensor into words; one without finite numbers has dashes."""
    shape = " ".join(map(str, tensor["shape"]))
    values = ["–" if tensor[name] is None else f"{tensor[name]:.4g}" for name in COLUMNS]
    return [tensor["name"], f"[{shape}]", tensor["dtype"], *values, "" if tensor["matched"] else "plays no part"]


def print_columns(lines: list[list[str]]) -> None:
    """Print a table, every column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


# Terms ---------------------------------------------------------------------------------------------------------------


def add_terms(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "terms", help="split the scores of a text, of token ids or of hidden states into a file"
    )
    add_checkpoint(parser)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--text", help="the text itself")
    source.add_argument(
        "--tokens",
        type=Path,
        metavar="FILE",
        help="token ids: a JSON list (or one a batch entry), or numbers apart by white space",
    )
    source.add_argument(
        "--hidden",
        type=Path,
        metavar="FILE",
        help="`hidden` [batch len d_model], .npz or .safetensors, and `mask`, `mems` if there are any: what enters the "
        "first layer of a model of another family, and every layer asked for of our own or of attention alone",
    )
    parser.add_argument("--segments", type=Path, metavar="FILE", help="XLNet's token type ids, one a query")
    parser.add_argument("--layer", type=int, help="one layer, counted from 0 (default: all)")
    parser.add_argument("--heads", help="heads apart by commas, counted from 0 (default: all)")
    parser.add_argument(
        "--mem-len", type=int, default=0, help="this many first tokens are memory, not queries (default: 0)"
    )
    parser.add_argument("--clamp-len", type=int, help="clamp distances to this many tokens (default: the checkpoint's)")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32", help="(default: %(default)s)")
    parser.add_argument("--out", type=Path, required=True, help=".safetensors or .npz to write")
    parser.set_defaults(run=run_terms)


def run_terms(options: argparse.Namespace) -> int:
    from relxl.export import arrays_of, write_arrays

    checkpoint = open_chosen(options, options.dtype)
    n_layer = checkpoint.config.n_layer
    layers = range(n_layer) if options.layer is None else [options.layer]
    if not 0 <= layers[0] < n_layer:
        raise ValueError(f"--layer {options.layer}: the model has layers 0 to {n_layer - 1}")
    try:
        heads = None if options.heads is None else [int(head) for head in options.heads.split(",")]
    except ValueError:
        raise ValueError(f"--heads {options.heads!r}: give head numbers apart by commas, such as 0,3") from None
    trace = run_on_hidden(checkpoint, options) if options.hidden else run_on_tokens(checkpoint, options)
    arrays = {}
    for layer in layers:
        arrays |= arrays_of(trace.terms(layer, heads), layer)
    write_arrays(options.out, arrays)
    print(f"{options.out}: {len(arrays)} arrays, layers {', '.join(map(str, layers))}, heads {options.heads or 'all'}")
    return 0


def run_on_tokens(checkpoint, options: argparse.Namespace):
    """Run a language model on the text or the ids that were given."""
    import torch

    from relxl.export import read_ids, read_tokens
    from relxl.trace import run

    n_token = checkpoint.config.n_token
    if not n_token:
        raise ValueError(f"{checkpoint.name} reads hidden states and not tokens: give them with --hidden")
    if options.tokens:
        ids = read_tokens(options.tokens, n_token)
    else:
        encoded = checkpoint.vocab.encode(options.text)
        ids = [encoded.ids]
        if encoded.unknown:
            left_out = ", ".join(f"{token!r} x{count}" for token, count in encoded.unknown.items())
            print(f"relxl: not in the vocabulary: {left_out}", file=sys.stderr)
    if not ids or not ids[0]:
        raise ValueError("there is no token to run on: give a text with characters of the checkpoint's vocabulary")
    segments = None
    if options.segments:
        if not getattr(checkpoint.model, "has_segments", False):
            raise ValueError(f"--segments: {checkpoint.name} knows no segments, which only XLNet does: leave it out")
        segments = torch.tensor(read_ids(options.segments, "token type ids"))
        wanted = [len(ids), len(ids[0]) - options.mem_len]
        if list(segments.shape) != wanted:
            raise ValueError(f"{options.segments} has {list(segments.shape)} ids, but {wanted} are needed, one a query")
    return run(checkpoint.model, torch.tensor(ids), options.mem_len, options.clamp_len, segments)


def run_on_hidden(checkpoint, options: argparse.Namespace):
    """Run a model on the hidden states that were given, or only split them; the first --mem-len are the memory."""
    from relxl.export import read_hidden
    from relxl.trace import on_hidden

    given, mem_len, model = read_hidden(options.hidden, checkpoint), options.mem_len, checkpoint.model
    hidden, mems, visible = given.hidden, given.mems, given.visible
    if options.segments:
        raise ValueError("--segments goes with tokens, not with hidden states: leave it out")
    if not 0 <= mem_len < hidden.shape[1]:
        raise ValueError(f"--mem-len {mem_len}: {hidden.shape[1]} hidden states must leave at least one query")
    if mem_len and mems is not None:
        raise ValueError(f"--mem-len {mem_len}: {options.hidden} brings a memory of its own, so leave it out")
    return on_hidden(model, hidden, mems, mem_len, options.clamp_len, visible)
