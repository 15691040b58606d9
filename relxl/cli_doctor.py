"""The command `doctor`: what is wrong with a checkpoint, for a person or for a build server."""

import argparse
import json
from pathlib import Path

from relxl.cli_open import add_checkpoint, open_chosen, run_on_hidden

SMALL = 1 << 24  # parameters of a model whose products are so small that threads only wait for one another


def add_doctor(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("doctor", help="say what is wrong with a checkpoint, where, and what to try")
    add_checkpoint(parser)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--text", type=Path, metavar="FILE", help="UTF-8 text (default: the recorded sample, or noise)")
    source.add_argument("--tokens", type=Path, metavar="FILE", help="token ids, as `terms` takes them")
    source.add_argument("--hidden", type=Path, metavar="FILE", help="hidden states, as `terms` takes them")
    parser.add_argument(
        "--mem-len", type=int, help="this many first tokens or frames are memory (default: the model's, frames: 0)"
    )
    parser.add_argument(
        "--reference",
        type=Path,
        metavar="FILE",
        help=".npz or .safetensors of a run of your own: probs.{layer} or logits.{layer}, and tokens or hidden",
    )
    report = parser.add_mutually_exclusive_group()
    report.add_argument("--json", action="store_true", help="one JSON object instead of text")
    report.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML too")
    parser.add_argument(
        "--fail-on", choices=("error", "warning"), default="error", help="exit with 1 from it on (default: %(default)s)"
    )
    parser.add_argument(
        "--emit-test", type=Path, metavar="FILE", help="write a pytest file that fails on what was found"
    )
    parser.set_defaults(run=run_doctor, segments=None, clamp_len=None)


def run_doctor(options: argparse.Namespace) -> int:
    """Examine a checkpoint: exit code 0, 1 where something is as bad as --fail-on, 2 where it can not be opened."""
    import torch

    from relxl.doctor.capture import read_reference
    from relxl.doctor.registry import examine_each
    from relxl.doctor.report import Report, as_json, as_junit, as_test, as_text
    from relxl.files import write_atomic

    checkpoint = open_chosen(options)
    if checkpoint.n_parameters < SMALL:
        torch.set_num_threads(1)
    trace, read, noise = run_on(checkpoint, options)
    reference = read_reference(options.reference) if options.reference else None
    checks = tuple(examine_each(checkpoint, trace, reference, noise))
    report = Report(checkpoint.name, checkpoint.opened.family.name, checkpoint.digest, read, checks)
    if options.json:
        print(json.dumps(as_json(report), ensure_ascii=False, indent=1))
    else:
        print(as_text(report), end="")
    if options.junit:
        write_atomic(options.junit, as_junit(report, options.fail_on))
    if options.emit_test:
        write_atomic(options.emit_test, as_test(report, again(options), options.fail_on).encode())
    return 1 if report.at_least(options.fail_on) else 0


def run_on(checkpoint, options: argparse.Namespace):
    """Run the model on what was given, else on its recorded sample, else on noise: trace, its words, whether noise."""
    from relxl.doctor import sample_trace, stand_in
    from relxl.export import read_tokens

    if options.hidden:
        options.mem_len = options.mem_len or 0
        trace = run_on_hidden(checkpoint, options)
        return trace, f"{trace.key_len} frames of {options.hidden.name}", False
    if options.text or options.tokens:
        if not checkpoint.config.n_token:
            raise ValueError(f"{checkpoint.name} reads hidden states and not tokens: give them with --hidden")
        if options.tokens:
            rows = read_tokens(options.tokens, checkpoint.config.n_token)
        else:
            rows = [checkpoint.vocab.encode(read_text(options.text)).ids]
        trace = run_rows(checkpoint, rows, options.mem_len)
        name = (options.text or options.tokens).name
        return trace, f"{trace.key_len} tokens of {name}, {trace.mem_len} of them memory", False
    trace = sample_trace(checkpoint)
    if trace is not None:
        return trace, f"its recorded sample ({trace.key_len} tokens, {trace.mem_len} of them memory)", False
    trace = stand_in(checkpoint)
    what = "tokens" if checkpoint.config.n_token else "frames"
    return trace, f"{trace.key_len} {what} of noise, which tell nothing of heads and losses", True


def run_rows(checkpoint, rows: list[list[int]], mem_len: int | None):
    """Run texts of one length: the last segment are the queries, what comes before is memory."""
    import torch

    from relxl.trace import run, split_memory

    if not rows or not rows[0]:
        raise ValueError("there is no token to run on: give a text with characters of the checkpoint's vocabulary")
    config, used = checkpoint.config, len(rows[0])
    if mem_len is None:
        used, mem_len = split_memory(used, config.segment_len, config.mem_len)
    return run(checkpoint.model, torch.tensor(rows)[:, -used:], mem_len)


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 ({error.reason} at byte {error.start}): convert it first") from None


def again(options: argparse.Namespace) -> list[str]:
    """Give the arguments that run the doctor in the same way from anywhere."""
    given = [str(options.checkpoint.resolve()), "--json", "--fail-on", options.fail_on]
    for name in ("text", "tokens", "hidden", "reference", "config"):
        path = getattr(options, name)
        given += [f"--{name}", str(path.resolve())] if path else []
    for name, value in options.choose:
        given += ["--choose", f"{name}={json.dumps(value) if not isinstance(value, str) else value}"]
    return given + (["--mem-len", str(options.mem_len)] if options.mem_len else [])
