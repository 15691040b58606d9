"""The command `relxl bench`: what anybody can measure again. A measurement is imported when it runs."""

import argparse
from pathlib import Path


def add_bench(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("bench", help="measure relxl side by side with its bounds and its peers")
    subjects = parser.add_subparsers(required=True, metavar="WHAT")
    engine = subjects.add_parser("engine", help="time and peak memory of the four-term split")
    engine.add_argument("--rounds", type=whole_number, help="rounds a length; without it 5 to 200, by length")
    engine.add_argument("--threads", type=whole_number, help="torch threads; without it torch decides")
    engine.add_argument("--plot", type=Path, metavar="FILE.html", help="draw them")
    engine.set_defaults(run=run_bench_engine)
    browser = subjects.add_parser("browser", help="from a control to the painted matrices, in a real Chromium")
    browser.add_argument("--rounds", type=whole_number, default=7, help="changes a row (default: %(default)s)")
    browser.add_argument("--cold-rounds", type=whole_number, default=3, help="cold starts (default: %(default)s)")
    browser.set_defaults(run=run_bench_browser)
    peers = subjects.add_parser("peers", help="the matrix view beside BertViz, in a real Chromium")
    peers.add_argument("--rounds", type=whole_number, default=3, help="pictures a row (default: %(default)s)")
    peers.add_argument("--scripts", type=Path, metavar="FOLDER", help="what BertViz's page loads, else from its CDN")
    peers.set_defaults(run=run_bench_peers)
    add_bench_memory(subjects)
    add_bench_serve(subjects)
    doctor = subjects.add_parser("doctor", help="faults put into healthy models: which check finds which")
    doctor.add_argument("--json", type=Path, metavar="FILE", help="write every finding")
    doctor.set_defaults(run=run_bench_doctor)
    for parser, lengths in ((engine, "128,256,512,1024,2048"), (browser, "128,512,2048"), (peers, "64,128")):
        parser.add_argument("--lengths", default=lengths, help="lengths apart by commas (default: %(default)s)")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers")


def add_bench_memory(subjects: argparse._SubParsersAction) -> None:
    memory = subjects.add_parser("memory", help="a token evaluated with memory beside one with a recomputed window")
    names = [Path("checkpoints") / f"shakespeare-{positions}" for positions in ("learned", "sinusoid", "absolute")]
    memory.add_argument("checkpoints", type=Path, nargs="*", default=names, help="(default: three bundled ones)")
    memory.add_argument(
        "--contexts",
        default="128,256,512,1024,2048,3800",
        help="tokens of memory, and of a window, apart by commas (default: %(default)s)",
    )
    memory.add_argument(
        "--segment", type=whole_number, default=128, help="tokens read at once with memory (%(default)s)"
    )
    memory.add_argument("--rounds", type=whole_number, default=6, help="segments that are timed (default: %(default)s)")
    memory.add_argument("--threads", type=whole_number, help="torch threads; without it torch decides")
    memory.add_argument(
        "--text", type=Path, default=Path("data/tinyshakespeare.txt"), help="its last 10 %% are read (%(default)s)"
    )
    memory.add_argument("--json", type=Path, metavar="FILE", help="write the numbers")
    memory.set_defaults(run=run_bench_memory)


def run_bench_memory(options: argparse.Namespace) -> int:
    from relxl.bench.memory import bench_memory

    return bench_memory(
        options.checkpoints, options.contexts, options.segment, options.rounds, options.threads, options.text,
        options.json,
    )  # fmt: skip


def run_bench_engine(options: argparse.Namespace) -> int:
    from relxl.bench.engine import bench_engine

    return bench_engine(options.lengths, options.rounds, options.threads, options.json, options.plot)


def run_bench_browser(options: argparse.Namespace) -> int:
    from relxl.bench.browser import bench_browser

    return bench_browser(options.lengths, options.rounds, options.cold_rounds, options.json)


def run_bench_peers(options: argparse.Namespace) -> int:
    from relxl.bench.peers import bench_peers

    return bench_peers(options.lengths, options.rounds, options.scripts, options.json)


def run_bench_doctor(options: argparse.Namespace) -> int:
    from relxl.bench.doctor import bench_doctor

    return bench_doctor(options.json)


def add_bench_serve(subjects: argparse._SubParsersAction) -> None:
    serve = subjects.add_parser("serve", help="a class at once: what websocket sessions wait for, errors, memory")
    serve.add_argument("--sessions", type=int, default=50, help="(default: %(default)s)")
    serve.add_argument("--seconds", type=float, default=300, help="how long they walk (default: %(default)s)")
    serve.add_argument("--think", type=float, default=5, help="mean seconds between two actions (default: %(default)s)")
    serve.add_argument("--json", type=Path, help="write the numbers to this file too")
    serve.set_defaults(run=run_bench_serve)


def run_bench_serve(options: argparse.Namespace) -> int:
    from relxl.bench.serve import bench_serve

    return bench_serve(options.sessions, options.seconds, options.think, options.json)


def whole_number(text: str) -> int:
    """Read an option that must be 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text!r}")
    return int(text)
