"""Read a file, a folder or uploaded bytes into checked tensors."""

import io
import os
from pathlib import Path

from relxl.containers.errors import Refused
from relxl.containers.folders import read_folder
from relxl.containers.reader import Weights, finish, naming, open_regular, read_part


def read_weights(source: Path | str | bytes, name: str = "") -> Weights:
    """Read a file, a folder, or the bytes of a single file, called `name`. Raises CheckpointError for all else."""
    if isinstance(source, bytes):
        with naming(name or "the file"):
            return finish(read_part(io.BytesIO(source), len(source), name), len(source))
    path = Path(source)
    with naming(name or path):
        if "\0" in str(path):
            raise Refused("is no path: give the path of a file or folder")
        if path.is_dir():
            return read_folder(path)
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            return finish(read_part(file, size, path.name), size)
