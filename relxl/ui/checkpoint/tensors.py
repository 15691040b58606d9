"""The sections of the page "Checkpoint" about tensors: the census of all, and the picture of one."""

import csv
import io

import numpy as np
import streamlit as st
from torch import Tensor

from relxl import style
from relxl.census import census as take_census
from relxl.checkpoint import Checkpoint
from relxl.export import safe_cell
from relxl.figures import checkpoint as figures
from relxl.figures.shift import grouped
from relxl.language import _
from relxl.tensor_view import KINDS, LARGEST, SHOWN, Histogram, Picture, cut, histogram, numbers, picture
from relxl.ui.show import show, shown
from relxl.ui.speak import fragment
from relxl.ui.state import keep
from relxl.ui.view import key_of

POSITIONS = ("pos_table", "w_k_pos", "r_emb", "r_net", "linear_pos", "key_pos_embeddings", "rel_attn.r")
MANY = 1 << 26  # numbers that take a moment to measure
LINE = 4096  # entries of a curve


@st.cache_resource(max_entries=8, show_spinner=False)
def cached_census(key: tuple, _checkpoint: Checkpoint) -> list[dict]:
    return take_census(_checkpoint)


@st.cache_resource(max_entries=32, show_spinner=False)
def cached_histogram(digest: str, name: str, _tensor: Tensor) -> Histogram:
    return histogram(_tensor)


def rows_of(checkpoint: Checkpoint) -> list[dict]:
    if checkpoint.n_parameters < MANY:
        return cached_census(key_of(checkpoint), checkpoint)
    with st.spinner(_("Measuring {n} numbers").format(n=grouped(checkpoint.n_parameters)), show_time=True):
        return cached_census(key_of(checkpoint), checkpoint)


@fragment
def census(checkpoint: Checkpoint, dark: bool) -> None:
    """Show the census of all tensors, and the picture of the one that is picked; its controls redraw this alone."""
    st.markdown("##### " + _("Every tensor"))
    rows = rows_of(checkpoint)
    st.markdown(census_sentence(rows))
    some_left = any(not row["matched"] for row in rows)
    if some_left:
        kept = keep("census_rest", False)
        if st.toggle(_("Only what plays no part"), **kept.widget):
            rows = [row for row in rows if not row["matched"]]
    left = _("plays a part")
    table = [
        {"name": row["name"], "shape": " × ".join(map(str, row["shape"])) or "–"}
        | {name: row[name] for name in ("dtype", "mean", "std", "min", "max", "nan", "infinite")}
        | {"zero": row["zero_share"]}
        | ({left: row["matched"]} if some_left else {})
        for row in rows
    ]
    number = st.column_config.NumberColumn
    columns = {name: number(format="%.4g") for name in ("mean", "std", "min", "max")}
    columns |= {
        "name": st.column_config.TextColumn(_("name"), width=340, pinned=True),
        "nan": number("NaN"),
        "infinite": number("±∞"),
        "zero": number(_("exactly 0"), format="percent"),
    }
    st.dataframe(table, hide_index=True, height=min(38 + 35 * len(table), 420), column_config=columns)
    st.download_button(
        "CSV", lambda: csv_bytes(rows), f"relxl_census_{checkpoint.digest[:16]}.csv", "text/csv", on_click="ignore",
        help=_("The table as it stands, one line a tensor"),
    )  # fmt: skip
    tensor_picture(checkpoint, [row["name"] for row in rows], dark)


def census_sentence(rows: list[dict]) -> str:
    """Say in one sentence whether anything in the file is odd; markdown."""
    odd = [row for row in rows if row["nan"] or row["infinite"]]
    zero = [row for row in rows if row["zero_share"] == 1]
    text = _("{n} tensors.").format(n=grouped(len(rows)))
    if odd:
        cells = sum(row["nan"] + row["infinite"] for row in odd)
        text += " " + _("**Not finite: {k} numbers in {n} of them**, first in {name}.").format(
            k=grouped(cells), n=len(odd), name=shown(odd[0]["name"])
        )
    else:
        text += " " + _("Every number is finite.")
    if zero:
        text += " " + _("All zero: {n}, first {name}.").format(n=len(zero), name=shown(zero[0]["name"]))
    return text


def csv_bytes(rows: list[dict]) -> bytes:
    """Write the census as CSV; a spreadsheet takes no name for a formula."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(row | {"name": safe_cell(row["name"]), "shape": "x".join(map(str, row["shape"]))})
    return buffer.getvalue().encode("utf-8-sig")


# One tensor ----------------------------------------------------------------------------------------------------------


def tensor_picture(checkpoint: Checkpoint, names: list[str], dark: bool) -> None:
    """Show one tensor: a matrix as a picture, a vector as a curve, and how its numbers are spread."""
    if not names:
        return
    tensors = checkpoint.weights.tensors
    kept = keep("tensor", first_name(names, tensors), names)
    st.selectbox(_("Look into"), names, format_func=short, **kept.widget)
    tensor = tensors[kept.value]
    if not tensor.numel():
        st.markdown(_("This tensor has shape {shape} and holds no number.").format(shape=list(tensor.shape)))
        return
    leading = pick_leading(kept.value, tensor)
    matrix = cut(tensor, leading)
    image, spread = st.columns([5, 2], gap="medium")
    with image:
        if matrix.dim() == 2:
            draw_matrix(kept.value, matrix, dark)
        else:
            draw_line(kept.value, matrix, dark)
    with spread:
        draw_histogram(cached_histogram(checkpoint.digest, kept.value, tensor), dark)


def first_name(names: list[str], tensors: dict[str, Tensor]) -> str:
    """Pick what is worth seeing first: the positions, else a matrix, else anything."""
    matrices = [name for name in names if tensors[name].dim() > 1 and tensors[name].numel()]
    told = [name for name in matrices if any(part in name for part in POSITIONS)]
    return next(iter([*told, *matrices, *names]))


def short(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= 90 else f"{name[:60]} … {name[-25:]}"


def pick_leading(name: str, tensor: Tensor) -> tuple[int, ...]:
    """Let a person fix all axes but the last two."""
    n = tensor.dim() - 2
    if n < 1:
        return ()
    chosen = []
    for axis, place in enumerate(st.columns(max(n, 4))[:n]):
        size = tensor.shape[axis]
        kept = keep(f"axis {axis}", 0, range(size))
        label = _("Axis {axis} of {size}").format(axis=axis, size=size)
        place.number_input(label, 0, size - 1, step=1, **kept.widget)
        chosen.append(kept.value)
    st.caption(_("The picture is [{rows} {cols}] at this place.").format(rows=tensor.shape[-2], cols=tensor.shape[-1]))
    return tuple(chosen)


def pick_window(shape: tuple[int, ...], most: int) -> list[tuple[int, int]]:
    """Let a person choose a window of each axis: its first entry and how many."""
    labels = [_("row"), _("column")] if len(shape) == 2 else [_("entry")]
    windows, places = [], st.columns(4)
    for axis, (size, label) in enumerate(zip(shape, labels, strict=True)):
        first = keep(f"first {axis}", 0, range(size))
        places[2 * axis].number_input(_("First {axis}").format(axis=label), 0, size - 1, step=1, **first.widget)
        room = min(size - first.value, most)
        count = keep(f"count {axis}", room, range(1, room + 1))
        text = _("How many, of {size}").format(size=grouped(size))
        places[2 * axis + 1].number_input(text, 1, room, step=1, **count.widget)
        windows.append((first.value, count.value))
    return windows


def draw_matrix(name: str, matrix: Tensor, dark: bool) -> None:
    """Show a window of a matrix on a diverging scale, what its blocks are, and where the largest number stands."""
    shape, first, size = tuple(matrix.shape), (0, 0), (LARGEST, LARGEST)
    if any(side > most for side, most in zip(shape, SHOWN, strict=True)):
        (row, rows), (col, cols) = pick_window(shape, LARGEST)
        first, size = (row, col), (rows, cols)
    seen = picture(matrix, first, size)
    alt = picture_sentence(seen)
    figure = figures.tensor_figure(
        seen.values, seen.kind, seen.first, seen.block, seen.limit, (_("row"), _("column")), dark
    )
    show(figure, key="tensor", alt=f"{short(name)}: {alt}", table=lambda: matrix_table(seen))
    st.markdown(alt)
    if seen.cells < matrix.numel():
        text = _("This is a window of {cells} of {all} numbers.")
        st.caption(text.format(cells=grouped(seen.cells), all=grouped(matrix.numel())))
    if seen.block != (1, 1):
        text = _("Each cell is the number of largest magnitude of {rows} × {cols}; take fewer rows or columns for all.")
        st.caption(text.format(rows=seen.block[0], cols=seen.block[1]))


def matrix_table(seen: Picture) -> dict[str, np.ndarray]:
    """Give the blocks of a picture as columns, under the numbers of their first rows and columns."""
    rows = seen.first[0] + seen.block[0] * np.arange(len(seen.values))
    columns = seen.first[1] + seen.block[1] * np.arange(seen.values.shape[1])
    return {_("row"): rows} | {str(column): seen.values[:, i] for i, column in enumerate(columns)}


def picture_sentence(seen: Picture) -> str:
    """Say where the largest number is, how much is zero, and how much is not finite; markdown."""
    odd = [f"{kind} {grouped(count)}" for kind, count in zip(KINDS, seen.counts, strict=True) if count]
    text = ""
    if seen.largest is None:
        text = _("No number here is finite.")
    elif seen.zeros + sum(seen.counts) == seen.cells:
        text = _("Every finite number here is 0.")
    else:
        value, row, column = seen.largest
        text = _("The largest number by magnitude is **{value}**, at row {row}, column {column}; exactly 0: {zero}.")
        text = text.format(value=style.number(value), row=row, column=column, zero=share(seen.zeros, seen.cells))
    if odd:
        text += " " + _("**Not finite: {k} cells** ({kinds}).").format(
            k=grouped(sum(seen.counts)), kinds=", ".join(odd)
        )
    return text


def share(count: int, of: int) -> str:
    """Say a share so that none, few and all are told apart."""
    if not count:
        return _("none")
    return (
        style.percent(count / of) if 200 * count >= of else _("{n} of {all}").format(n=grouped(count), all=grouped(of))
    )


def draw_line(name: str, line: Tensor, dark: bool) -> None:
    """Show a tensor of one axis as a curve."""
    first, count = 0, len(line)
    if len(line) > LINE:
        ((first, count),) = pick_window(tuple(line.shape), LINE)
    values = numbers(line[first : first + count])
    seen = picture(line[None, first : first + count], size=(1, LINE))
    odd, value = sum(seen.counts), seen.largest
    alt = _("No number here is finite.")
    if value is not None:
        alt = _("The largest number by magnitude is **{value}**, at {place}.").format(
            value=style.number(value[0]), place=first + value[2]
        )
    if odd:
        alt += " " + _("**Not finite: {k} cells**, left out of the curve.").format(k=grouped(odd))
    figure = figures.line_figure(values, first, _("entry"), dark)
    table = {_("entry"): first + np.arange(len(values)), _("value"): values}
    show(figure, key="tensor", alt=f"{short(name)}: {alt}", table=lambda: table)
    st.markdown(alt)


def draw_histogram(spread: Histogram, dark: bool) -> None:
    """Show how the numbers of the whole tensor are spread."""
    if not len(spread.counts):
        return
    top = int(spread.counts.argmax())
    alt = _("Most of its numbers, {share}, lie between {low} and {high}.").format(
        share=style.percent(spread.counts[top] / max(spread.counts.sum(), 1)),
        low=style.number(float(spread.edges[top])),
        high=style.number(float(spread.edges[top + 1])),
    )
    figure = figures.histogram_figure(spread.counts, spread.edges, dark)
    show(figure, key="histogram", alt=alt, table=lambda: {_("from"): spread.edges[:-1], _("count"): spread.counts})
    text = _("All {n} numbers of the tensor.").format(n=grouped(spread.total))
    if spread.counted < spread.total:
        text = _("{n} of {all} numbers, taken at equal steps.").format(
            n=grouped(spread.counted), all=grouped(spread.total)
        )
    if spread.odd:
        text += " " + _("Not finite and left out: {k}.").format(k=grouped(spread.odd))
    st.caption(text)
