"""The table of the page "Heads": every head with every measure."""

import re

import numpy as np
import streamlit as st

from relxl import diagnostics
from relxl.language import _
from relxl.ui.heads.look import Look, choose_head
from relxl.ui.speak import fragment
from relxl.ui.state import chosen, write_link
from relxl.ui.view import View


def table(view: View, look: Look) -> None:
    """Show every head with every measure, to sort, filter and choose from; and as CSV."""
    st.markdown("##### " + _("All heads"))
    draw_table(view, look, chosen("l", "h"))
    name = re.sub(r"[^A-Za-z0-9._-]", "_", view.checkpoint.name)

    def csv() -> bytes:
        return diagnostics.atlas_table(look.scores).to_csv(index=False).encode()

    st.download_button("CSV", csv, f"{name}_heads.csv", "text/csv", on_click="ignore")


@fragment
def draw_table(view: View, look: Look, before: tuple) -> None:
    """Draw the table; its filters redraw it alone, another head the whole page."""
    if chosen("l", "h") != before:
        st.rerun()
    shown, mean = look.shown, look.scores.mean[look.measure]
    rows = diagnostics.atlas_table(look.scores)
    low, high = (float(limit(mean[np.isfinite(mean)], initial=0)) for limit in (np.min, np.max))
    layers, least = st.columns([3, 2], gap="large", vertical_alignment="bottom")
    names = range(len(mean))
    kept = layers.multiselect(
        _("Layers"), names, format_func="L{}".format, placeholder=_("all of them"), key=f"heads_layers_{len(mean)}"
    )
    floor = low
    if high > low:
        factor = 100 if shown.unit == "share" else 1
        floor = least.slider(
            _("{measure} at least").format(measure=shown.name),
            factor * low, factor * high, factor * low, key=f"heads_least_{look.measure}_{low:.4g}_{high:.4g}",
            format="%.0f %%" if factor == 100 else "%.2f",
        ) / factor  # fmt: skip
    rows = rows[rows["layer"].isin(kept or names)]
    rows = rows[~(rows[look.measure] < floor - 1e-6)] if floor > low else rows
    rows = rows.sort_values(look.measure, ascending=False, kind="stable")
    places = rows[["layer", "head"]].to_numpy().tolist()
    rows.insert(0, "name", [f"{'▸ ' if it == [view.layer, view.head] else ''}L{it[0]}H{it[1]}" for it in places])
    first = [look.measure, f"{look.measure}_spread"]
    order = ["name", *first, *(name for name in look.measures if name != look.measure)]

    def picked() -> None:
        selection = st.session_state["heads_table"]["selection"]
        chosen_rows = [*selection["rows"], *(row for row, _column in selection["cells"])]
        if chosen_rows and chosen_rows[0] < len(places):
            choose_head(places[chosen_rows[0]])

    st.dataframe(
        rows[[name for name in order if name in rows]],
        hide_index=True,
        height=min(38 + 35 * max(len(rows), 1), 430),
        column_config=columns(look),
        key="heads_table",
        on_select=picked,
        selection_mode=["single-row", "single-cell"],
        placeholder="–",
        alt=_("All heads with all measures, by {measure}.").format(measure=shown.name),
    )
    st.caption(_("{n} of {all} heads. A row or a cell chooses its head everywhere.").format(n=len(rows), all=mean.size))
    write_link()


def columns(look: Look) -> dict:
    """Say how every column of the table is shown: shares as bars from 0 to 1."""
    shown = {"name": st.column_config.TextColumn(_("head"), width="small", pinned=True)}
    for name, it in look.measures.items():
        if it.unit == "share":
            column = st.column_config.ProgressColumn(it.name, help=it.what, format="percent", min_value=0, max_value=1)
        else:
            column = st.column_config.NumberColumn(it.name, help=it.what, format="%.2f")
        shown[name] = column
        spread_format = "percent" if it.unit == "share" else "%.2f"
        shown[f"{name}_spread"] = st.column_config.NumberColumn(f"± {it.name}", format=spread_format)
    return shown
