"""Decode the payload of the matrix view as its browser side does."""

import json

import numpy as np


def decode(data: bytes) -> tuple[dict, list[np.ndarray], np.ndarray]:
    """Give the header, the panels as dense blocks [row col] and the hidden blocks."""
    start = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:start])
    rows, cols = header["cells"]
    bits = np.frombuffer(data, np.uint8, (rows * cols + 7) // 8, start)
    hidden = np.unpackbits(bits, count=rows * cols).reshape(rows, cols).astype(bool)
    dtype = np.int8 if header["bits"] == 8 else np.int16
    most = np.iinfo(dtype).max - 1
    row, col = np.ogrid[:rows, :cols]
    place = {"matrix": row * cols + col, "strip": col + 0 * row, "curve": row - col + cols - 1}
    length = {"matrix": rows * cols, "strip": cols, "curve": rows + cols - 1}
    panels = []
    for panel in header["panels"]:
        kind, at = panel["kind"], start + panel["offset"]
        assert at % 2 == 0  # a typed array must start on its own alignment
        level = np.frombuffer(data, dtype, length[kind], at)[place[kind]].astype(int)
        value = level * panel["step"]
        value = np.select([level == most + 1, level == -most - 1, level == -most - 2], [np.inf, -np.inf, np.nan], value)
        panels.append(value)
    return header, panels, hidden
