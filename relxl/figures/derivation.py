"""The figures of the derivation of relative positions: which terms a moved text changes, step by step."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from relxl.figures.chart import WHOLE, chart, scatter, vline
from relxl.figures.shift import theme_variables
from relxl.language import _
from relxl.style import LEGEND, Term, axis, number, readable, theme_of, translucent

STYLE = """<style>
.ladder {overflow-x: auto; color: var(--ink)}
.ladder table {border-collapse: separate; border-spacing: 3px; border: none; width: 100%; font-size: .9rem;
  font-variant-numeric: tabular-nums}
.ladder th, .ladder td {border: none; padding: .3rem .5rem; font-weight: 400; text-align: right; white-space: nowrap}
.ladder th[scope=col] {font-weight: 600; font-size: .84rem; padding: 0 .5rem}
.ladder th[scope=row] {text-align: left; border-left: 3px solid transparent}
.ladder td {border-radius: 4px}
.ladder td.still {font-weight: 700; background: var(--tint)}
.ladder td.new {box-shadow: inset 0 0 0 2px var(--c)}
.ladder td.none {text-align: center; color: var(--faint)}
.ladder tr.chosen th {border-left-color: var(--ink); font-weight: 700}
</style>"""


class Rung(NamedTuple):
    """Hold one step of the ladder: its name, what the move changes in each column, and the columns it replaced.

    A change is None where the column does not exist yet; `still` says which columns the move leaves as they are.
    """

    name: str
    changes: Sequence[float | None]
    still: Sequence[bool]
    replaced: Sequence[bool]


def ladder_html(rungs: Sequence[Rung], looks: Sequence[Term], chosen: int, dark: bool = False) -> str:
    """Draw a row a step: the largest change of each term, of the score and of a probability; looks name the terms."""
    theme = theme_of(dark)
    colours = [*(look.colour for look in looks), theme.ink, theme.ink]
    names = [*(f"({look.letter})" for look in looks), _("score"), _("probability")]
    inks = [*(readable(look.colour, dark) for look in looks), theme.ink, theme.ink]
    heads = "".join(
        f'<th scope="col" style="color:{ink}">{escape(name)}</th>' for name, ink in zip(names, inks, strict=True)
    )
    body = "".join(
        f'<tr{" class=chosen" * (place == chosen)}><th scope="row">{place} &ensp;{escape(rung.name)}</th>'
        f"{rung_html(rung, colours, len(looks))}</tr>"
        for place, rung in enumerate(rungs)
    )
    label = escape(_("What moving the text changes at every step"))
    return (
        f'<div class="ladder" style="{theme_variables(dark)}"><table aria-label="{label}">'
        f"<thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def rung_html(rung: Rung, colours: Sequence[str], terms: int) -> str:
    missing = sum(change is None for change in rung.changes)
    cells = f'<td class="none" colspan="{missing}">{escape(_("not apart yet"))}</td>' * bool(missing)
    columns = zip(rung.changes, rung.still, rung.replaced, colours, strict=True)
    for place, (change, still, replaced, colour) in enumerate(columns):
        if change is None:
            continue
        kinds = " ".join(kind for kind, holds in (("still", still), ("new", replaced)) if holds)
        style = f"--c:{colour};--tint:{translucent(colour, 0.28 if place < terms else 0.14)}"
        cells += f'<td class="{kinds}" style="{style}">{number(change)}</td>'
    return cells


def change_figure(
    shifts: Sequence[int],
    changes: Mapping[str, np.ndarray],
    looks: Mapping[str, Term],
    chosen: int,
    dark: bool = False,
) -> go.Figure:
    """Draw the largest change of each term and of the score ("score") against the move; changes are [shift] each.

    Both axes are logarithmic, so no change at all stands on a line of its own at the bottom, one in the other where
    several terms do not change.
    """
    theme = theme_of(dark)
    low, high = reach([value for values in changes.values() for value in values])
    zero = low / 10**0.6
    still = [name for name, values in changes.items() if not np.any(values)]
    lines = []
    for name in [*still, *(name for name in changes if name not in still)]:
        look = looks.get(name)
        title = f"({look.letter})" if look else _("score")
        width = 2.5 + 5 * (len(still) - 1 - still.index(name)) if name in still else 2.5
        values, line = np.asarray(changes[name]), {"width": width, "dash": "solid" if look else "dot"}
        lines.append(scatter(
            x=shifts, y=np.where(values > 0, values, zero), mode="lines+markers" if name not in still else "lines",
            name=title, customdata=values, line=line | {"color": look.colour if look else theme.ink},
            hovertemplate=_("moved by %{x}") + "<br><b>%{customdata:.3g}</b><extra>" + title + "</extra>",
        ))  # fmt: skip
    here = vline(chosen, {"color": theme.faint, "width": 1, "dash": "dot"}) | {"layer": "below"}
    powers = [10.0**power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]
    x = axis(
        theme, _("the text is moved by, places"), type="log", tickvals=shifts, ticktext=list(map(str, shifts)),
        range=[math.log10(shifts[0]) - 0.12, math.log10(shifts[-1]) + 0.12],
    )  # fmt: skip
    y = axis(
        theme, _("largest change"), type="log", range=[math.log10(zero) - 0.25, math.log10(high) + 0.1],
        tickvals=[zero, *powers], ticktext=["0", *(f"{power:g}" for power in powers)],
    )  # fmt: skip
    margin = {"l": 56, "r": 16, "t": 40, "b": 44}
    return chart(lines, theme, WHOLE.axes(x, y), [here], height=300, showlegend=True, legend=LEGEND, margin=margin)


def reach(values: Sequence[float]) -> tuple[float, float]:
    """Give the powers of ten round the values that are not 0; without one, round 1."""
    logs = [math.log10(value) for value in values if value > 0] or [-0.5]
    return 10.0 ** math.floor(min(logs)), 10.0 ** max(math.ceil(max(logs)), math.floor(min(logs)) + 1)
