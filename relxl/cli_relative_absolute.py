"""python -m relxl sweep relative-vs-absolute: the article's experiment, on many processes or machines, resumable.

Every training that is done is a line of a journal beside the table; a command that was killed goes on from there and
ends with the same table. Imports torch when it runs.
"""

import argparse
import hashlib
import json
import shlex
import sys
import time
from dataclasses import asdict
from pathlib import Path

from relxl.sweeps import SUFFIXES, add_where, check_out, chosen_executor, numbers, run_items, write_table

TEXTS = [Path("data/tinyshakespeare.txt"), Path("data/songci.txt")]
SMALL = {"steps": 30, "step_tokens": 256, "scored": 512}  # a sweep so small that a test repeats it
SMALL_LENGTH = 64


def add_relative_absolute(subjects: argparse._SubParsersAction) -> None:
    """Add `relative-vs-absolute` to the subjects of `python -m relxl sweep`."""
    parser = subjects.add_parser(
        "relative-vs-absolute", help="train relative and absolute models on the same batches at several segment lengths"
    )
    parser.add_argument("--texts", type=Path, nargs="+", default=TEXTS, metavar="FILE", help="(the two in data/)")
    parser.add_argument("--lengths", default="32,64,128,256,512", help="segment lengths (default: %(default)s)")
    parser.add_argument("--seeds", default="0,1,2", help="seeds apart by commas (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=800, help="of each training (default: %(default)s)")
    parser.add_argument("--lr", type=float, default=4e-3, help="learning rate at its highest (default: %(default)s)")
    parser.add_argument("--step-tokens", type=int, default=512, help="tokens that a step reads (default: %(default)s)")
    parser.add_argument("--scored", type=int, default=8192, help="characters that are scored (default: %(default)s)")
    help = f"{' or '.join(SUFFIXES)} to write; beside it FILE.json says how"
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help=help)
    add_where(parser)
    parser.set_defaults(run=run_relative_absolute)


def run_relative_absolute(options: argparse.Namespace) -> int:
    check_out(options.out)
    lengths, seeds = (numbers(name, getattr(options, name), int) for name in ("lengths", "seeds"))
    if min(lengths) < 1:
        raise ValueError(f"--lengths {options.lengths}: a segment has 1 token or more")

    from relxl.experiments.relative_absolute import SweepSettings, measure_run, sweep_runs, sweep_text
    from relxl.files import write_atomic

    settings = SweepSettings(steps=options.steps, lr=options.lr, step_tokens=options.step_tokens, scored=options.scored)
    texts = [sweep_text(path.stem, path.read_text(encoding="utf-8")) for path in options.texts]
    runs = sweep_runs(settings, texts, lengths, seeds)
    how = describe_sweep(settings, options.texts, lengths, seeds)
    journal = options.out.with_name(options.out.name + ".journal")
    parts, seconds = read_journal(journal, how)
    left = [place for place in range(len(runs)) if json.dumps(runs[place].facts) not in parts]
    if len(left) < len(runs):
        print(f"relxl: {journal} has {len(runs) - len(left)} of {len(runs)} trainings; going on", file=sys.stderr)
    began = time.monotonic()
    with journal.open("a", encoding="utf-8") as file:
        if not file.tell():
            print(json.dumps(how), file=file, flush=True)
        with chosen_executor(options.scheduler, options.workers, len(left)) as executor:
            for place, part in run_items(executor, measure_run, [runs[place] for place in left]):
                name = json.dumps(runs[left[place]].facts)
                parts[name] = part
                spent = seconds + time.monotonic() - began
                print(json.dumps({"run": name, "rows": part, "seconds": spent}), file=file, flush=True)
    n_rows = write_table(options.out, [parts[json.dumps(run.facts)] for run in runs])
    how |= {"command": "python -m relxl " + shlex.join(sys.argv[1:]), "how": HOW}
    how |= {"minutes": round((seconds + time.monotonic() - began) / 60, 1)}
    if options.texts == TEXTS:  # what is recorded here is held to by a test, which has no two hours
        how |= {"small_settings": SMALL | {"segment_len": SMALL_LENGTH}, "small": small_rows(texts[0])}
    write_atomic(options.out.with_suffix(".json"), json.dumps(how, ensure_ascii=False, indent=1).encode())
    journal.unlink()
    print(f"{options.out}: {n_rows} rows of {len(runs)} trainings, {options.out.with_suffix('.json')} says how")
    return 0


HOW = (
    "a row is about the positions begin to end of segments of eval_len, over the same characters for all rows of a "
    "text: the last of the equal streams of its last 10%, each with a full memory. loss: nats per character; "
    "loss_error: standard error over blocks of about 1024 characters; train_loss: mean of the last 50 steps. All "
    "kinds have the same sizes, seed, batches, steps and learning rate, and no dropout; a learned table has a row for "
    "each distance of the training, and what lies beyond shares the last one"
)


def describe_sweep(settings, paths: list[Path], lengths: list[int], seeds: list[int]) -> dict:
    """Say all that the rows depend on: settings, texts, versions."""
    from relxl.training import versions

    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    return {"settings": asdict(settings), "texts": digests, "lengths": lengths, "seeds": seeds, "versions": versions()}


def read_journal(path: Path, how: dict) -> tuple[dict[str, dict[str, list]], float]:
    """Read the trainings that are done, and the seconds spent on them. Raises ValueError for another sweep's journal.

    The line that a killed command was writing is cut off, and its training is done again.
    """
    if not path.exists():
        return {}, 0.0
    whole = path.read_bytes()
    whole = whole[: whole.rfind(b"\n") + 1]
    path.write_bytes(whole)
    lines = [json.loads(line) for line in whole.splitlines()]
    if lines and lines[0] != how:
        raise ValueError(
            f"{path} holds the trainings of another sweep (its settings, texts or versions differ): give the same "
            "options to go on with it, or delete it to start over"
        )
    return {line["run"]: line["rows"] for line in lines[1:]}, max((line["seconds"] for line in lines[1:]), default=0.0)


def small_rows(text) -> list[dict]:
    """Train what a test trains again: each kind once, one length, few steps; its losses over all positions."""
    from relxl.experiments.relative_absolute import SweepSettings, measure_run, sweep_runs

    rows = []
    for run in sweep_runs(SweepSettings(**SMALL), [text], [SMALL_LENGTH], [0]):
        part = measure_run(run)
        whole = [
            place
            for place, begin in enumerate(part["begin"])
            if (begin, part["end"][place]) == (0, part["eval_len"][place])
        ]
        rows += [run.facts | {name: part[name][place] for name in ("eval_len", "loss")} for place in whole]
    return rows
