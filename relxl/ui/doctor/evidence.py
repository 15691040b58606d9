"""What a finding of the page "Doctor" rests on: a picture where there is one, its numbers, and the way to the place."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from relxl.doctor import Finding
from relxl.doctor.biases import named_biases
from relxl.doctor.case import Case
from relxl.doctor.positions import tables
from relxl.doctor.report import plain
from relxl.figures.doctor import bars_figure, cells_figure, heads_figure, numbers_figure, rows_figure
from relxl.language import _, translated
from relxl.trace import Trace
from relxl.ui.frame import all_pages
from relxl.ui.show import show
from relxl.ui.state import choose
from relxl.ui.view import View

MOST_BARS = 12
MOST_HEADS = 128


class Picture(NamedTuple):
    """Hold a figure, what it says for those who can not see it, and its numbers by column."""

    figure: go.Figure
    alt: str
    table: dict[str, object]


def show_evidence(view: View, trace: Trace, finding: Finding, key: str) -> None:
    """Draw the pictures of a finding and its numbers."""
    for place, picture in enumerate(pictures(view, trace, finding)):
        show(picture.figure, key=f"{key}_{place}", alt=picture.alt, table=lambda table=picture.table: table)
    numbers, lists = tabular(finding)
    if numbers["value"]:
        names = {"name": st.column_config.TextColumn(_("evidence")), "value": st.column_config.TextColumn(_("value"))}
        st.dataframe(numbers, hide_index=True, column_config=names)
    for columns in lists:
        st.dataframe(columns, hide_index=True, height=min(38 + 35 * len(next(iter(columns.values()))), 320))
    if not numbers["value"] and not lists:
        st.caption(_("It has no numbers beyond those in its sentence."))


def open_place(finding: Finding, key: str) -> None:
    """Offer the page that shows the place, with layer, head and cell set there."""
    door = all_pages().get(finding.page or "")
    if door is None:
        return
    label = _("Show {place} on {page}").format(place=finding.where, page=door.name)
    label = label if finding.where else _("Open {page}").format(page=door.name)
    if st.button(label, key=f"open_{key}", icon=":material/arrow_forward:", type="tertiary"):
        choose(**finding.link)
        st.switch_page(door.file)


def tabular(finding: Finding) -> tuple[dict[str, list[str]], list[dict[str, list]]]:
    """Give the evidence as names and values, and lists of rows whose name names their columns as tables."""
    numbers, lists = {"name": [], "value": []}, []
    for name, value in finding.evidence.items():
        columns, rows = rows_of(name, value)
        if rows:
            lists.append(
                {translated(column): [str(told(row[place])) for row in rows] for place, column in enumerate(columns)}
            )
        else:
            numbers["name"].append(translated(name.replace("_", " ")))
            numbers["value"].append(plain(told(value)))
    return numbers, lists


def told(value: object) -> object:
    """Translate the sentences in evidence, however deep they stand in it; a single word there is a name in the code."""
    if isinstance(value, dict):
        return {translated(name): told(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [told(part) for part in value]
    return translated(value) if isinstance(value, str) and " " in value else value


def rows_of(name: str, value: object) -> tuple[list[str], list[list]]:
    """Read a list of rows under a name like "query, key"; no rows where it is none."""
    columns = name.split(", ")
    if len(columns) < 2 or not isinstance(value, list) or not value:
        return columns, []
    rows = value if isinstance(value[0], list | tuple) else [value]
    return columns, rows if all(len(row) == len(columns) for row in rows) else []


def pictures(view: View, trace: Trace, finding: Finding) -> list[Picture]:
    """Draw what can be drawn of a finding's evidence; often nothing."""
    kinds: tuple[Callable[[View, Trace, Finding], Picture | None], ...] = (
        biases, rows, entropies, compared, cells, weights
    )  # fmt: skip
    drawn = [kind(view, trace, finding) for kind in kinds]
    return [picture for picture in drawn if picture is not None]


def biases(view: View, trace: Trace, finding: Finding) -> Picture | None:
    """Draw the size of u or v in every head of the layer."""
    if finding.layer is None or not finding.id.startswith("biases."):
        return None
    named = {name: value for layer, name, value, _attn in named_biases(Case(view.checkpoint)) if layer == finding.layer}
    value = named.get(finding.tensor or "u_bias")
    if value is None or len(value) > MOST_HEADS:
        return None
    size = np.sqrt((value.detach().double().numpy() ** 2).mean(-1))
    marked = [head for head in range(len(size)) if not np.isfinite(size[head])]
    marked += [head for head in finding.evidence.get("heads", []) if head not in marked]
    title = _("root mean square of {tensor}").format(tensor=finding.tensor or "u_bias")
    alt = _("A bar for every head of L{layer}: the {title}; the heads of the finding have a cross.")
    alt = alt.format(layer=finding.layer, title=title)
    return Picture(heads_figure(size, marked, title, view.dark), alt, by_head(size))


def by_head(values: np.ndarray) -> dict[str, list]:
    return {_("head"): [f"H{head}" for head in range(len(values))], _("value"): [float(value) for value in values]}


def rows(view: View, trace: Trace, finding: Finding) -> Picture | None:
    """Draw the size of every row of a learned table, and mark the distances of the finding."""
    if finding.layer is None or finding.tensor != "pos_table":
        return None
    found = [(table, first) for layer, table, first in tables(Case(view.checkpoint, trace)) if layer == finding.layer]
    if not found:
        return None
    table, first = found[0]
    sizes = np.sqrt((table.detach().double().numpy() ** 2).mean(-1))
    distances = first + np.arange(len(sizes))
    ends = finding.values.get("first"), finding.values.get("last")
    marked = ends if all(isinstance(end, int) for end in ends) else None
    title = _("root mean square of a row")
    alt = _("A curve over distance: the size of each row of the table of L{layer}; a band marks the finding.")
    figure = rows_figure(distances, sizes, marked, title, view.dark)
    return Picture(figure, alt.format(layer=finding.layer), {_("distance"): distances, title: sizes})


def entropies(view: View, trace: Trace, finding: Finding) -> Picture | None:
    """Draw the entropy of every head of the layer, where a finding is about a head's attention."""
    measured = view.measures.get("entropy") if finding.id.startswith("heads.") else None
    if measured is None or finding.layer is None or finding.head is None or measured.shape[1] > MOST_HEADS:
        return None
    values = measured[finding.layer]
    marked = [finding.head, *(head for head in finding.evidence.get("heads", []) if head != finding.head)]
    title = _("entropy of the attention, nats")
    alt = _("A bar for every head of L{layer}: the {title}; the heads of the finding have a cross.")
    return Picture(
        heads_figure(values, marked, title, view.dark), alt.format(layer=finding.layer, title=title), by_head(values)
    )


def compared(view: View, trace: Trace, finding: Finding) -> Picture | None:
    """Draw what each of several explanations comes to."""
    for name, value in finding.evidence.items():
        pairs = list(value.items()) if isinstance(value, dict) else value
        if not isinstance(pairs, list) or not 2 <= len(pairs) <= MOST_BARS or not all(map(is_pair, pairs)):
            continue
        names, values = [translated(pair[0]) for pair in pairs], np.array([pair[1] for pair in pairs], float)
        if np.isfinite(values).all():
            title = _("loss, nats per token") if name == "losses" else translated(name.replace("_", " "))
            alt = _("Bars, one below the other: {title}. Smallest: {name}, {value}.").format(
                title=title, name=names[values.argmin()], value=plain(float(values.min()))
            )
            return Picture(bars_figure(names, values, title, view.dark), alt, {_("name"): names, title: values})
    return None


def is_pair(pair: object) -> bool:
    """Say whether this is a name and its number."""
    two = isinstance(pair, list | tuple) and len(pair) == 2
    return two and isinstance(pair[0], str) and isinstance(pair[1], int | float) and not isinstance(pair[1], bool)


def cells(view: View, trace: Trace, finding: Finding) -> Picture | None:
    """Mark the cells of the finding on the matrix of this run."""
    for name, value in finding.evidence.items():
        name = "query, key" if name == "first" and finding.id.startswith("masks.") else name
        columns, found = rows_of(name, value)
        if not found or not {"query", "key"} <= set(columns) or finding.id.startswith("reference."):
            continue
        places = np.array([[row[columns.index("query")], row[columns.index("key")]] for row in found], int)
        alt = _("A matrix, queries down and keys across: the first {n} cells of the finding are marked.")
        figure = cells_figure(places, (trace.query_len, trace.key_len), view.dark)
        table = {_("query"): places[:, 0], _("key"): places[:, 1]}
        return Picture(figure, alt.format(n=len(places)), table)
    return None


def weights(view: View, trace: Trace, finding: Finding) -> Picture | None:
    """Mark the numbers of a matrix of weights that a finding names."""
    tensor, found = view.checkpoint.weights.tensors.get(finding.tensor or ""), finding.evidence.get("first")
    if not finding.id.startswith("weights.") or tensor is None or tensor.dim() != 2 or not found:
        return None
    places = np.array(found, int)
    alt = _("The extent of the matrix, {rows} rows and {columns} columns: the first {n} such numbers are marked.")
    alt = alt.format(rows=tensor.shape[0], columns=tensor.shape[1], n=len(places))
    table = {_("row"): places[:, 0], _("column"): places[:, 1]}
    return Picture(numbers_figure(places, tuple(tensor.shape), view.dark), alt, table)
