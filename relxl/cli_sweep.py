"""The command `relxl sweep`: many measurements on many processes, or on the machines of a Dask scheduler; one table."""

import argparse
from pathlib import Path

from relxl.cli_relative_absolute import add_relative_absolute
from relxl.experiments.max_len_cli import add_max_len
from relxl.sweeps import SUFFIXES, add_where, check_out, chosen_executor, numbers, run_items, write_table


def add_sweep(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("sweep", help="measure many variants of a model, on all cores or on a Dask cluster")
    subjects = parser.add_subparsers(required=True, metavar="WHAT")
    scale = subjects.add_parser("init-scale", help="what the initial standard deviations make of a layer's scores")
    scale.add_argument(
        "--scales",
        required=True,
        help="standard deviations apart by commas, such as 0.002,0.02,0.2 (the article: 0.02)",
    )
    scale.add_argument("--seeds", default="0", help="seeds apart by commas (default: %(default)s)")
    scale.add_argument("--lengths", default="128", help="tokens, apart by commas (default: %(default)s)")
    scale.add_argument("--d-model", type=int, default=128, help="width of the input (default: %(default)s)")
    scale.add_argument("--n-head", type=int, default=8, help="heads (default: %(default)s)")
    scale.add_argument(
        "--positions", choices=("learned", "sinusoid"), default="learned", help="the table (default: %(default)s)"
    )
    scale.add_argument(
        "--scaled",
        default="table,w_k_pos,u,v,qk",
        help="what gets the scale, apart by commas; all else keeps 0.02 (default: %(default)s)",
    )
    scale.add_argument("--out", type=Path, required=True, help=f"{' or '.join(SUFFIXES)} to write, a row a head")
    add_where(scale)
    scale.set_defaults(run=run_init_scale)
    add_max_len(subjects)
    add_relative_absolute(subjects)


def run_init_scale(options: argparse.Namespace) -> int:
    check_out(options.out)
    scales, seeds, lengths = (
        numbers(name, getattr(options, name), kind)
        for name, kind in (("scales", float), ("seeds", int), ("lengths", int))
    )

    from relxl.experiments.init_scale import InitSettings
    from relxl.experiments.init_sweep import sweep_item, sweep_rows

    settings = InitSettings(d_model=options.d_model, n_head=options.n_head, positions=options.positions)
    items = sweep_rows(settings, scales, seeds, lengths, options.scaled.split(","))
    with chosen_executor(options.scheduler, options.workers, len(items)) as executor:
        parts = dict(run_items(executor, sweep_item, items))
    n_rows = write_table(options.out, [parts[place] for place in range(len(items))])
    print(f"{options.out}: {n_rows} rows, {len(items)} measurements of {options.n_head} heads")
    return 0
