"""The sections of the page "Max len" about the table: v_bias, trained rows, which row each cell reads."""

import numpy as np
import streamlit as st

from relxl import style
from relxl.experiments.max_len import (
    CONVENTIONS,
    RowSharing,
    TableUse,
    cells_per_row,
    distance_matrix,
    distance_range,
    index_rows,
    known_reach,
    max_len_needed,
    row_sharing,
    table_range,
    table_use,
)
from relxl.figures import max_len as figures
from relxl.figures.shift import STYLE, Cell, Table, stage_html
from relxl.language import _, translated
from relxl.ui.max_len.sections import Wall, no_wall
from relxl.ui.shift.tables import signed
from relxl.ui.show import escape, show
from relxl.ui.speak import fragment
from relxl.ui.state import keep, write_link
from relxl.ui.view import Source, View, cached_checkpoint

MOST = 4096
DRAWN = (12, 16)  # the largest matrix whose cells are drawn
WALL_STYLE = "<style>.cells b.wall {box-shadow: inset 0 0 0 2px var(--alarm); font-weight: 600}</style>"


def v_bias(view: View, wall: Wall) -> None:
    """Show v_bias of the head as a curve, with the wall, the training's reach and the memory's edge."""
    if no_wall(view):
        return
    terms, trained, both = view.terms, known_reach(view.checkpoint), wall.smallest < 0
    st.markdown("##### " + _("(d) v_bias: what the wall cuts off"))
    distances = terms.distances
    seen = (distances >= wall.smallest) & (distances <= wall.largest)
    marks = {_("training"): -1 if trained is None else trained, _("memory"): len(terms.mask) if view.mem_len else -1}
    marks = {name: place for name, place in marks.items() if 0 <= place <= wall.largest}
    here = wall.at is not None and wall.at < wall.largest
    alt = _("v_bias of {head} over the distances {smallest} to {largest}.").format(
        head=view.label, smallest=signed(wall.smallest), largest=wall.largest
    )
    if here:
        at_training = trained == wall.at  # two labels in one place can not be read
        marks = {name: place for name, place in marks.items() if place != wall.at}
        marks[_("wall at the training") if at_training else _("wall")] = wall.at
        beyond = [terms.v_bias[seen & side] for side in (distances > wall.at, distances < -wall.at)]
        lost = max(float(np.ptp(values)) for values in beyond if len(values)) / max(np.ptp(terms.v_bias[seen]), 1e-30)
        words = _("Beyond the wall at {n} one value stands for a range that is {lost} of the curve’s.")
        if both:
            words = _("Beyond the walls at ±{n} one value a side stands for a range of up to {lost} of the curve’s.")
        alt += " " + words.format(n=wall.at, lost=style.percent(float(lost)))
    dotted = _("The future is dotted.") if both else _("The future, which no query reads, is dotted.")
    st.caption(f"{alt} {dotted}")
    figure = figures.wall_figure(
        terms.v_bias, distances, view.looks["v_bias"], wall.at if here else None, marks, view.dark, both
    )
    show(figure, key="wall_curve", alt=alt, table=lambda: {"distance": distances, "v_bias": terms.v_bias})


@fragment
def index_matrix(dark: bool) -> None:
    """Show which row of a table each cell reads, under both directions; its controls redraw this section alone."""
    st.markdown("##### " + _("Which row does each cell read?"))
    controls = {
        "xq": (_("Queries"), 1, 10),
        "xk": (_("Keys"), 1, 5),
        "xm": (_("Memory m"), 0, 0),
        "xl": ("max_len", 1, 6),
    }
    values = []
    for place, (name, (label, least, first)) in zip(st.columns(4), controls.items(), strict=True):
        kept = keep(name, first, range(least, MOST + 1))
        place.number_input(label, least, MOST, step=1, **kept.widget)
        values.append(kept.value)
    query_len, key_len, _mem_len, max_len = values
    st.markdown(range_sentence(*values))
    if query_len > DRAWN[0] or key_len > DRAWN[1]:
        st.caption(_("The cells are drawn up to {q} queries and {k} keys.").format(q=DRAWN[0], k=DRAWN[1]))
    else:
        tables = [index_table(*values, convention) for convention in CONVENTIONS]
        legend = [
            (Cell("r", depth=0.5), _("row of the table, darker is higher")),
            (Cell("r", ("wall",)), _("beyond the wall: shares the row at the end")),
        ]
        longest = len(str(2 * max_len - 2))
        st.html(STYLE + WALL_STYLE + stage_html(tables, legend, (query_len, 2 * key_len, longest), dark))
    write_link()


def index_table(query_len: int, key_len: int, mem_len: int, max_len: int, convention: str) -> Table:
    """Lay out the rows that the cells read, the wall marked."""
    rows = index_rows(query_len, key_len, mem_len, max_len, convention)
    distances = distance_matrix(query_len, key_len, mem_len, convention)
    says = _("query {query}, key {key}: distance {distance}, row {row}")
    cells = [
        [
            Cell(
                str(row),
                ("wall",) if abs(distance) >= max_len else (),
                says.format(query=i, key=j, distance=signed(distance), row=row),
                depth=row / max(2 * max_len - 2, 1),
            )
            for j, (row, distance) in enumerate(zip(line.tolist(), line_distances.tolist(), strict=True))
        ]
        for i, (line, line_distances) in enumerate(zip(rows, distances, strict=True))
    ]
    formula = "m + i − j" if convention == CONVENTIONS[0] else "j − i − m"
    title = _("row of {formula}").format(formula=formula)
    keys, queries = [str(j) for j in range(key_len)], [str(i) for i in range(query_len)]
    smallest, largest = (signed(d) for d in distance_range(query_len, key_len, mem_len, convention))
    label = _("{formula} runs from {smallest} to {largest}.").format(
        formula=formula, smallest=smallest, largest=largest
    )
    groups = [(_("key"), key_len)]
    if 0 < mem_len < key_len:
        groups = [(_("memory") if mem_len > 1 else _("mem"), mem_len), (_("key"), key_len - mem_len)]
    return Table(title, f"[{query_len} {key_len}]", groups, keys, _("query"), queries, cells, label)


def range_sentence(query_len: int, key_len: int, mem_len: int, max_len: int) -> str:
    """Say the range of distances, how many share a row, how many nothing reads, what would be needed; markdown."""
    low, high = distance_range(query_len, key_len, mem_len)
    sharing = row_sharing(query_len, key_len, mem_len, max_len)
    text = _("Distances run from **{low} to {high}**, {n} of them, and the table has {rows} rows.").format(
        low=signed(low), high=signed(high), n=high - low + 1, rows=2 * max_len - 1
    )
    crowded = [int(row) for row in np.flatnonzero(sharing.n_distances > 1)]
    if crowded:
        text += " " + " ".join(crowd(sharing, row) for row in crowded)
    else:
        text += " " + _("Each distance has a row of its own.")
    return f"{text} " + _("Rows that nothing reads: {unused}. max_len needed: **{needed}**, causal {causal}.").format(
        unused=sharing.unused,
        needed=max_len_needed(query_len, key_len, mem_len),
        causal=max_len_needed(query_len, key_len, mem_len, causal=True),
    )


def crowd(sharing: RowSharing, row: int) -> str:
    return _("{n} distances share row {row}.").format(n=int(sharing.n_distances[row]), row=row)


@st.cache_resource(max_entries=8, show_spinner=False)
def cached_use(source: Source) -> TableUse:
    return table_use(cached_checkpoint(source))


def trained_rows(view: View) -> None:
    """Show for each row of the chosen layer's table how large it is, how often it was trained, and who reads it now."""
    config, reach = view.checkpoint.config, known_reach(view.checkpoint)
    if config.positions == "absolute":
        return
    st.markdown("##### " + _("Which rows were ever trained?"))
    if config.positions == "sinusoid":
        text = _(
            "A sinusoid has no rows to train: it computes one for any distance. What was trained is W_kR, and only on "
            "the distances that the training had, which the checkpoint does not say."
        )
        if reach is not None:
            text = _(
                "A sinusoid has no rows to train: it computes one for any distance. What was trained is W_kR, and only "
                "on the distances 0 to {reach}."
            ).format(reach=reach)
        st.markdown(text.replace("W_kR", r"W\_kR"))
        return
    try:
        use = cached_use(view.source.checkpoint)
    except ValueError as error:
        st.error(escape(translated(str(error))))
        return
    read = cells_per_row(view.terms.distance, view.terms.mask, table_range(view.checkpoint.model))
    text = untrained_sentence(use, reach)
    st.markdown(text)
    counts = None if use.gradient_counts is None else use.gradient_counts[view.layer]
    inside = reach is not None and reach < config.max_len
    marks = {_("training reaches {n}").format(n=reach): reach} if inside else {}
    figure = figures.rows_figure(use.distance, use.size[view.layer], use.spread, counts, read, marks, view.dark)
    alt = _("Rows of the table of layer {layer} over their distance.").format(layer=view.layer) + " " + text
    show(figure, key="rows", alt=alt, table=lambda: use.table(view.layer, read))
    words = _("Layer {layer}. Size is the norm of a row over the layer’s mean. This text reads {n} rows.")
    if use.spread is not None:
        words = _(
            "Layer {layer}. Size is the norm of a row over that which it was drawn with; the band holds the rows that "
            "stayed as they were. This text reads {n} rows."
        )
    st.caption(words.format(layer=view.layer, n=int((read > 0).sum())))


def untrained_sentence(use: TableUse, reach: int | None) -> str:
    """Say which rows no gradient ever reached; markdown."""
    if use.spread is None:
        return _("The checkpoint says neither which rows got a gradient nor how they were drawn.")
    if use.gradient_counts is None:
        near = np.abs(use.size - 1).max(axis=0) <= 4 * use.spread
        return _(
            "The checkpoint does not say which rows got a gradient; {n} of {rows} still have the size that they were "
            "drawn with in every layer."
        ).format(n=int(near.sum()), rows=len(near))
    untrained = use.distance[use.untrained]
    text = _("**{n} of {rows} rows were never trained**").format(n=len(untrained), rows=len(use.distance))
    past, future = int((untrained > 0).sum()), int((untrained < 0).sum())
    read = len(use.distance) // 2 - future  # rows of the future that got a gradient: a mask that holds leaves none
    leak = " " + _("{n} rows of the future were trained, so the mask of the training let it in.").format(n=read)
    leak = leak if read else ""
    if not len(untrained):
        return text + _(".") + leak
    if not past:
        return text + (_(": {n} of the future.").format(n=future) if read else _(": all of the future.")) + leak
    words = _(
        ": {future} of the future, and {past} of the past, because training reached no further than {reach}. Those of "
        "the past have {size} times the size that they were drawn with, and a longer text reads them all the same."
    )
    size = style.number(float(use.size[:, use.untrained & (use.distance > 0)].mean()))
    return text + words.format(future=future, past=past, reach=reach, size=size) + leak


def how() -> None:
    """Say how the numbers on the page are computed."""
    with st.expander(_("How this is computed")):
        st.latex(r"r_{ij} = \mathrm{clamp}(m + i - j,\; -(n-1),\; n-1) + n - 1, \qquad n = \text{max\_len}")
        st.markdown(
            _(
                "Distance is m + i − j: 0 is the token itself, positive is the past. A table of max_len n has 2n − 1 "
                "rows. `relxl.experiments.max_len.score_change` reads the head twice on the same layer input, so what "
                "differs is this layer’s reading and nothing else; the loss is that of `relxl.reading.with_positions`, "
                "where every layer reads so, on the last tokens of the text read at once. `index_rows`, `row_sharing` "
                "and `table_use` give the tables, `relxl.experiments.max_len_losses.length_losses` the losses: every "
                "cell of its grid is measured on the same characters with a full memory."
            )
        )
