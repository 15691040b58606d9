"""The command `convert`, which makes a file openable that relxl refuses to unpickle."""

import argparse
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
