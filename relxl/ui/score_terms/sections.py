"""The sections of the page "Score terms"; home shows the first of them too."""

import re

import numpy as np
import streamlit as st

from relxl import diagnostics, style
from relxl.export import arrays_of, csv_text, npz_bytes, save_safetensors
from relxl.figures import score_terms as figures
from relxl.figures.head import head_grid, term_panel
from relxl.figures.matrix import matrix_figure
from relxl.language import _
from relxl.matrix_view import Grid, Panel, Scale
from relxl.matrix_view.panel import shared_limit
from relxl.ui.matrix import matrix_view, pin, step_head
from relxl.ui.score_terms.equation import NO_TERM, set_off
from relxl.ui.show import code, plain, show
from relxl.ui.speak import fragment, speaking
from relxl.ui.state import chips, choose, chosen, pick, write_link
from relxl.ui.view import View

MAX_TEXT_CELLS = 512 * 512  # as text or as a figure, more cells take minutes and hundreds of megabytes


def presets(view: View) -> None:
    """Draw chips that lead to heads worth seeing; one that finds nothing in this model is not drawn."""
    labels = {name: f"({look.letter}) {name}" for name, look in view.looks.items()} | {
        "previous_token": _("one token back")
    }
    heads = {
        f"{labels[name]} · L{layer}H{head}": {"l": layer, "h": head}
        for name, (layer, head) in diagnostics.notable_heads(view.measures).items()
    }
    chips(_("Try this: the head with most"), heads, "preset")


def equation(view: View, query: int) -> None:
    """Show the score as the sum of its four terms, each with its share over the head and in the chosen row."""
    head, rows = view.shares
    row = {name: shares[query] for name, shares in rows.items()}
    theme, cells = style.theme_of(view.dark), []
    basis = 22 if len(view.looks) == 4 else 30  # four in a row, or six in two
    for name, look in view.looks.items():
        width = 100 * min(max(float(np.nan_to_num(head[name])), 0), 1)
        cells.append(
            f'<div style="flex:1 1 {basis}%;min-width:9rem;border-left:4px solid {look.colour};padding:0 .6rem">'
            f'<div style="color:{style.readable(look.colour, view.dark)};font-weight:600">({look.letter}) {name}</div>'
            f'<div style="white-space:nowrap;font-style:italic">{look.formula}</div>'
            f'<div style="height:4px;margin:.3rem 0;background:{theme.grid}">'
            f'<div style="height:4px;width:{width:.0f}%;background:{look.colour}"></div></div>'
            f'<div style="font-size:.85rem;white-space:nowrap">{_("head")} <b>{style.percent(head[name])}</b>'
            f" &nbsp;{_('this row')} <b>{style.percent(row[name])}</b></div></div>"
        )
    st.html(f'<div style="display:flex;flex-wrap:wrap;gap:.5rem">{"".join(cells)}</div>')


def matrices(view: View, cell: tuple[int, int] | None, query: int, term: str = NO_TERM) -> None:
    """Show the four terms, their sum and the probabilities as linked matrices, and one row's numbers as a table."""
    terms = view.terms
    matrix_view(
        set_off(score_grid(view, cell, query), view, term),
        key="matrices",
        dark=view.dark,
        on_pin=pin,
        on_head=lambda step: step_head(view, step),
    )
    if st.toggle(_("Show row {query} as table").format(query=query), key="table_matrices"):
        row = {name: term[query] for name, term in terms.terms.items()}
        table = diagnostics.row_table(
            row, terms.logits[query], terms.probs[query], terms.mask[query], terms.distance[query], view.tokens
        )
        st.dataframe(table, hide_index=True, height=280)


def score_grid(view: View, cell: tuple[int, int] | None, query: int) -> Grid:
    """Lay out the six panels of the chosen head."""
    label = f"{view.label}: {plain(where_it_looks(view, query))}"
    return head_grid(view.terms, view.looks, view.tokens, label, cell)


def finding(view: View, query: int) -> str:
    """Say in one sentence what the head's score is made of and where the chosen query looks; markdown."""
    shares, _rows = view.shares
    where = where_it_looks(view, query)
    if any(np.isnan(share) for share in shares.values()):
        return where
    name = max(shares, key=shares.get)
    what = _("{term} carries {share} of what tells the keys apart in {head}.").format(
        term=f"({view.looks[name].letter}) {name}".replace("_", r"\_"),
        share=style.percent(shares[name]),
        head=view.label,
    )
    return f"{what} {where}"


def where_it_looks(view: View, query: int) -> str:
    """Say in one sentence where the chosen query looks; markdown."""
    terms = view.terms
    key = int(np.nan_to_num(terms.probs[query]).argmax())
    return _(
        "Query {query} {query_token} gives {p} of its attention to key {key} {key_token} at distance {distance}."
    ).format(
        query=query,
        query_token=code(view.tokens[view.mem_len + query]),
        p=style.percent(terms.probs[query, key]),
        key=key,
        key_token=code(view.tokens[key]),
        distance=terms.distance[query, key],
    )


def explanation(view: View, pinned: tuple[int, int] | None) -> None:
    """Explain the pinned cell in numbers that add up: dot products, scale, terms, sum, probability, dimensions."""
    st.markdown("##### " + _("Explain this cell"))
    if pinned is None:
        st.caption(_("Click a cell of a matrix, or set query and key."))
        return
    query, key = pinned
    terms, cell, scale = view.terms, view.cell(query, key), view.attn.scale
    table = diagnostics.cell_table(cell, scale)
    outcome = _("the mask hides it, so its probability is 0")
    if terms.mask[query, key]:
        outcome = _("its probability is **{p}**").format(p=style.number(terms.probs[query, key]))
    st.markdown(
        _(
            "Query {query} {query_token} at key {key} {key_token}, distance {distance}: {n} dot products over "
            "{d_head} dimensions, times the scale {scale}, add up to the score **{score}**; {outcome}."
        ).format(
            query=query,
            query_token=code(view.tokens[view.mem_len + query]),
            key=key,
            key_token=code(view.tokens[key]),
            distance=style.number(int(terms.distance[query, key])),
            n=len(cell),
            d_head=view.checkpoint.config.d_head,
            scale=style.number(scale),
            score=style.number(table.loc["sum", "scaled"]),
            outcome=outcome,
        )
    )
    numbers, chart = st.columns([3, 4], gap="large")
    with numbers:
        names = {name: f"({look.letter}) {name}" for name, look in view.looks.items()} | {"sum": _("sum")}
        shown = table.rename(index=names).reset_index()
        shown.columns = [_("term"), _("dot product"), _("times scale")]
        st.dataframe(shown, hide_index=True, column_config={name: number_column() for name in shown.columns[1:]})
    with chart:
        dimensions = diagnostics.dimension_table(cell)
        strongest = dimensions.index[0]
        alt = _("Dimension {dimension} adds most to this cell: {value}.").format(
            dimension=strongest, value=style.number(dimensions.loc[strongest, "sum"])
        )
        figure = figures.dimensions_figure(cell, view.looks, view.dark)
        show(figure, key="dimensions", alt=alt, table=dimensions.reset_index)


def number_column() -> dict:
    return st.column_config.NumberColumn(format="%.5f")


def biases(view: View) -> None:
    """Show u_bias as a strip over keys and v_bias as a curve over distance; an absolute model has neither."""
    terms, looks = view.terms, view.looks
    if terms.u_bias is None or terms.v_bias is None:
        return
    config, mem_len, query_len = view.checkpoint.config, view.mem_len, len(terms.mask)
    strip, curve = st.columns(2, gap="large")
    with strip:
        st.markdown("##### " + _("(c) u_bias: one number a key"))
        top = int(terms.u_bias.argmax())
        alt = _("The key that u favours most is {token} at {key}.").format(token=code(view.tokens[top]), key=top)
        st.caption(_("What a key adds whoever asks.") + " " + alt)
        figure = figures.strip_figure(terms.u_bias, view.tokens, looks["u_bias"], view.dark)
        frame = {"key": np.arange(len(view.tokens)), "token": view.tokens, "u_bias": terms.u_bias}
        show(figure, key="u_bias", alt=alt, table=lambda: frame)
    with curve:
        st.markdown("##### " + _("(d) v_bias: one number a distance"))
        past = terms.distances >= 0 if view.trace.rule.sees == "past" else np.ones(len(terms.distances), bool)
        top = int(terms.distances[past][terms.v_bias[past].argmax()])
        alt = _("Among the visible distances v favours {distance} most.").format(distance=top)
        st.caption(_("What a distance adds whatever stands there.") + " " + alt)
        marks = {_("segment"): query_len} if mem_len and terms.diagonal else {}
        if config.clamp_len is not None:
            marks[_("clamp")] = config.clamp_len
        figure = figures.curve_figure(terms.v_bias, terms.distances, looks["v_bias"], marks, view.dark)
        show(
            figure,
            key="v_bias",
            alt=alt,
            table=lambda: {"distance": terms.distances, "v_bias": terms.v_bias},
        )


def all_heads(view: View, cell: tuple[int, int] | None) -> None:
    """Show one term, or all four, of all heads of the layer side by side; a click opens a head."""
    draw_heads(view, cell, chosen("h", "q", "k", "c"))


@fragment
def draw_heads(view: View, cell: tuple[int, int] | None, before: tuple) -> None:
    """Draw the heads; another term redraws them alone, another head or cell the whole page."""
    if chosen("h", "q", "k", "c") != before:
        st.rerun()
    st.markdown("##### " + _("All heads of layer {layer}").format(layer=view.layer))
    names = {name: f"({look.letter}) {name}" for name, look in view.looks.items()} | {
        "sum": _("sum"),
        "all": _("all four"),
    }
    shown_term = pick("t", _("Term"), list(names), names)
    shown = view.all_heads
    heads = [shown.head(head) for head in shown.heads]
    if shown_term == "sum":
        scale = Scale("diverging", shared_limit([terms.logits for terms in heads], shown.mask), _("score"))
        panels = [Panel(head_name(view, head), terms.logits, scale) for head, terms in enumerate(heads)]
    else:
        terms_shown = list(view.looks) if shown_term == "all" else [shown_term]
        limit = shared_limit([terms.terms[name] for terms in heads for name in terms_shown], shown.mask)
        scale = Scale("diverging", limit, _("score"))
        panels = [
            term_panel(name, view.looks[name], terms, scale, head_name(view, head, name))
            for name in terms_shown
            for head, terms in enumerate(heads)
        ]
    label = _("{term} of {n} heads of layer {layer}, on one scale").format(
        term=names[shown_term], n=len(heads), layer=view.layer
    )
    cut = len(view.terms.mask) - len(shown.mask)  # queries before those shown
    if cut:
        message = _("The last {queries} queries of the text, numbered from there.")
        st.caption(message.format(queries=len(shown.mask)))
    grid = Grid(
        panels=tuple(panels),
        mask=shown.mask,
        tokens=tuple(view.tokens),
        columns=len(heads) if shown_term == "all" and len(heads) > 1 else min(len(panels), 4),
        label=label,
        pin=(cell[0] - cut, cell[1]) if cell and cell[0] >= cut else None,
        axes=False,
        chosen=tuple(range(view.head, len(panels), len(heads))),
        seam=view.mem_len,
    )
    matrix_view(
        grid,
        key="heads",
        dark=view.dark,
        on_pin=lambda cell, panel: open_head(cell, panel % len(heads), cut),
        on_head=lambda step: step_head(view, step),
    )
    if st.toggle(_("Show as table"), key="table_heads"):
        last = len(shown.mask) - 1
        query, key = grid.pin or (last, int(heads[view.head].probs[last].argmax()))
        terms = {name: term[0] for name, term in shown.terms.items()}
        values = diagnostics.heads_cell_table(terms, shown.logits[0], shown.probs[0], query, key)
        exact = {name: st.column_config.NumberColumn(format="%.9g") for name in values.columns[1:]}
        shares = diagnostics.heads_table(view.measures, view.layer)
        table = values.merge(shares, on="head", suffixes=("", "_share"))
        st.caption(
            _("Every head at query {query}, key {key}, and the shares of its terms.").format(query=query, key=key)
        )
        st.dataframe(table, hide_index=True, column_config=exact)
    write_link()


def head_name(view: View, head: int, term: str = "") -> str:
    letter = f"({view.looks[term].letter}) " if term else ""
    return f"{letter}L{view.layer}H{head}"


def open_head(cell: tuple[int, int] | None, head: int, cut: int) -> None:
    """Choose a head and the cell that was clicked; `cut` queries stand before those shown."""
    choose(c=int(cell is not None), h=head)
    if cell is not None:
        choose(q=cell[0] + cut, k=cell[1])


def downloads(view: View, cell: tuple[int, int] | None, query: int) -> None:
    """Offer the chosen head as CSV, NPZ and a figure that opens offline; a file is made when it is asked for."""
    name = f"{re.sub(r'[^A-Za-z0-9._-]', '_', view.checkpoint.name)}_{view.label}"

    def csv_bytes() -> bytes:
        return csv_text(view.terms, view.tokens).encode("utf-8-sig")  # the mark tells a spreadsheet that it is UTF-8

    def npz() -> bytes:
        return npz_bytes(arrays_of(view.split, view.layer))

    def safetensors() -> bytes:
        return save_safetensors(arrays_of(view.split, view.layer))

    def html() -> str:
        return matrix_figure(score_grid(view, cell, query)).to_html(include_plotlyjs=True)

    small = view.terms.mask.size <= MAX_TEXT_CELLS
    with st.container(horizontal=True, vertical_alignment="center"):
        if small:
            st.download_button("HTML", speaking(html), f"{name}.html", "text/html", on_click="ignore")
            st.download_button("CSV", csv_bytes, f"{name}.csv", "text/csv", on_click="ignore")
        st.download_button("NPZ", npz, f"{name}.npz", "application/octet-stream", on_click="ignore")
        file = f"{name}.safetensors"
        st.download_button("safetensors", safetensors, file, "application/octet-stream", on_click="ignore")
        st.caption(_("Every cell of {head}: the four terms, their sum, mask and probability.").format(head=view.label))
        if not small:
            st.caption(_("As CSV or HTML up to {n} cells.").format(n=MAX_TEXT_CELLS))


def how(view: View) -> None:
    """Say how the numbers on the page are computed: equation, shapes, the names of the functions."""
    with st.expander(_("How this is computed")):
        if view.checkpoint.config.positions == "absolute":
            st.latex(r"s_{ij} = \tfrac{1}{\sqrt{d_{head}}}\,(W_q (e_i + p_i))^\top (W_k (e_j + p_j))")
            split = _(
                "`relxl.model.AbsoluteMultiheadAttention.terms` multiplies out. The position part p is the position "
                "vector added to the input, as far as the residual stream carries it to this layer; all that layers "
                "wrote belongs to the content e."
            )
        else:
            segments = r" + q_i^\top g_{ij} + r_s^\top g_{ij}" if "segment_bias" in view.looks else ""
            st.latex(
                rf"s_{{ij}} = {view.attn.scale:.4g}\,\bigl(q_i^\top k_j + q_i^\top W_{{kR}} R_{{d}}"
                rf" + u^\top k_j + v^\top W_{{kR}} R_{{d}}{segments}\bigr), \qquad d = m + i - j"
            )
            split = _(
                "`relxl.relative.score_terms` projects the position table once, [head distance d_head], multiplies it "
                "with the queries and reads cell (i, j) at distance m + i − j as a view."
            )
        shares = _(
            "A share is Cov(term, sum) / Var(sum) over the visible keys of a row, because what is constant in a row "
            "changes nothing after the softmax; over a head, covariances and variances are summed over its rows. "
            "Shares add up to 100 % and may be negative. The badge compares this very view with `relxl.definition`, "
            "the formula written out in float64."
        )
        st.markdown(f"{split} {shares}")
