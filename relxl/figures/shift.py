"""What the page "Shift" draws: labelled cells as HTML tables, crisp at any size and read out one by one, and curves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import plotly.graph_objects as go

from relxl.figures.chart import chart, panels, scatter
from relxl.language import _
from relxl.style import FONT, LEGEND, MONO, axis, theme_of

STYLE = """<style>
.st-key-preset button {padding: .2rem .55rem}
.st-key-preset button p {font-size: .84rem}
.cells {display: flex; flex-wrap: wrap; align-items: flex-start; gap: 1rem 2.2rem; color: var(--ink)}
.stage {min-height: calc(3.8rem + (var(--rows) * 2.2 + 3.4) * var(--size))}
.cells .scroll {overflow-x: auto; max-width: 100%; min-width: 14rem; scrollbar-width: thin}
@media (min-width: 1200px) {.cells.fits .scroll {overflow: visible}} /* so that what moves is not cut off */
.cells table {border-collapse: collapse; border: none; margin: 0; font: var(--size) var(--mono); table-layout: fixed}
.cells caption {caption-side: top; position: relative; height: 1.6rem; padding: 0; color: var(--ink)}
.cells caption div {position: absolute; white-space: nowrap; font: 600 .95rem var(--sans)}
.cells caption span {font: .85rem var(--mono); color: var(--faint); padding-left: .4rem}
.cells th {font-weight: 400; color: var(--faint); border: none; padding: 0 .3em; height: 1.7em; text-align: center;
  white-space: nowrap}
.cells th.axis {font: 0.78rem var(--sans); text-align: left; padding-left: .45em; height: 1.5em; max-width: 0}
.cells th.axis.seam {text-align: right}
.cells th.axis[scope=col] {max-width: none}
.cells th[scope=row] {text-align: right; min-width: 2.4em}
.cells td {border: none; padding: 1px; width: var(--w); min-width: var(--w); max-width: var(--w)}
.cells td.seam, .cells th.seam {border-left: 2px solid var(--ink)}
.cells td b {display: block; height: 2.05em; line-height: 2.05em; border-radius: 3px; text-align: center}
.cells b {font-weight: 400; background: color-mix(in srgb, var(--c, var(--ink)) var(--t, 6%), transparent)}
.cells b.foreign {background: var(--alarm); color: var(--page); font-weight: 600}
.cells b.pad {background: none; box-shadow: inset 0 0 0 1.5px var(--faint); color: var(--faint)}
.cells b.foreign.pad {background: none; box-shadow: inset 0 0 0 2px var(--alarm); color: var(--alarm)}
.cells b.hidden, .cells b.hidden.pad {color: var(--faint); font-weight: 400; box-shadow: none;
  background: repeating-linear-gradient(135deg, var(--hatch) 0 1px, transparent 1px 6px)}
.cells b.hidden.foreign {color: var(--alarm)}
.cells b.moved {animation: moved .7s ease-in-out}
.legend {display: flex; flex-wrap: wrap; gap: .3rem 1.3rem; font-size: .85rem; color: var(--faint); padding-top: .6rem}
.legend .cells {display: inline-block; vertical-align: middle; margin-right: .45rem}
.legend .cells b {display: inline-block; width: 1.7em; height: 1.3em; line-height: 1.3em; border-radius: 3px;
  text-align: center; font: 0.8rem/1.35em var(--mono)}
.held table {border-collapse: collapse; width: 100%; color: var(--ink); font-size: .88rem}
.held th, .held td {border: none; padding: .16rem .6rem .16rem 0; text-align: left; font-weight: 400;
  white-space: nowrap}
.held th[scope=col] {color: var(--faint); font-size: .8rem}
.held th[scope=rowgroup] {font-weight: 600; padding-top: .5rem}
.held th[scope=row], .held .shape {font-family: var(--mono); font-size: .82rem}
.held th[scope=row] {padding-left: .9rem}
.held td.count {text-align: right; font-variant-numeric: tabular-nums}
.held td.bar {width: 45%; min-width: 6rem}
.held i {display: block; height: .55rem; min-width: 1px; border-radius: 2px; background: var(--faint)}
.held tr.known td.count {font-weight: 700}
.held tr.known i {background: var(--ink)}
@keyframes moved {from {transform: translate(calc(var(--dx) * var(--w)), calc(var(--dy) * (2.05em + 2px)))}}
@media (prefers-reduced-motion: reduce) {.cells b {animation: none !important}}
</style>"""
HUES = ("#3f7fd6", "#c98a1b", "#2f9e77", "#9a5bd0", "#c65f8f", "#6a8f2f", "#2d9bb0", "#a8703f")  # rows told apart
SIZES = ((8, 0.95, 3.5), (14, 0.84, 2.9), (999, 0.75, 2.4))  # up to so many columns: size in rem, width in em
MOST_ROWS_KEPT = 8


@dataclass(frozen=True)
class Cell:
    """Hold how one cell is shown: its label, its kinds (of the style sheet), and what it says on being pointed at.

    `row` tints it as a query row, `depth` (0 to 1) in the ink. `came` is how many columns and rows away it was before.
    """

    label: str
    kinds: tuple[str, ...] = ()
    title: str = ""
    row: int | None = None
    depth: float = 0.0
    came: tuple[int, int] | None = None


@dataclass(frozen=True)
class Table:
    """Hold a table of cells: title, shape in brackets, what stands over columns and before rows, and what it shows.

    `groups` are (name, number of columns); the second of two begins behind the memory seam.
    """

    title: str
    shape: str
    groups: Sequence[tuple[str, int]]
    columns: Sequence[str]
    corner: str
    rows: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    label: str


def stage_html(
    tables: Sequence[Table], legend: Sequence[tuple[Cell, str]], room: tuple[int, int, int], dark: bool = False
) -> str:
    """Draw tables side by side, below each other where the page is too narrow, and a sample cell a line of the legend.

    `room` is (rows, columns, characters of a label) to leave space for: tables drawn for the same room have cells of
    the same size, and what stands below them stays where it is.
    """
    rows, columns, longest = room
    size, least = next(look for most, *look in SIZES if columns <= most)
    fits = columns <= SIZES[1][0]
    width = max(least, 0.61 * longest + 0.6)
    style = f"{theme_variables(dark)};--rows:{min(rows, MOST_ROWS_KEPT)};--size:{size}rem;--w:{width:.2f}em"
    shown = "".join(map(table_html, tables))
    samples = "".join(sample_html(cell, text) for cell, text in legend)
    return (
        f'<div class="stage" style="{style}"><div class="cells{" fits" * fits}">{shown}</div>'
        f'<div class="legend">{samples}</div></div>'
    )


def theme_variables(dark: bool) -> str:
    theme = theme_of(dark)
    values = {
        "ink": theme.ink, "faint": theme.faint, "hatch": theme.hatch, "alarm": theme.alarm, "page": theme.halo,
        "mono": MONO, "sans": FONT,
    }  # fmt: skip
    return escape(";".join(f"--{name}:{value}" for name, value in values.items()))


def table_html(table: Table) -> str:
    seam = table.groups[0][1] if len(table.groups) == 2 else -1
    groups = "".join(
        f'<th class="axis{" seam" * (place == 1)}" scope="colgroup" colspan="{count}">{escape(name)}</th>'
        for place, (name, count) in enumerate(table.groups)
    )
    heads = "".join(
        f'<th scope="col"{seam_class(place, seam)}>{escape(name)}</th>' for place, name in enumerate(table.columns)
    )
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(cell_html(c, i == seam) for i, c in enumerate(row))}</tr>'
        for name, row in zip(table.rows, table.cells, strict=True)
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(table.title)}">'
        f'<table aria-label="{escape(table.label)}"><caption><div>{escape(table.title)}<span>{escape(table.shape)}'
        f"</span></div></caption><thead><tr><td></td>{groups}</tr>"
        f'<tr><th class="axis" scope="col">{escape(table.corner)}</th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def seam_class(place: int, seam: int) -> str:
    return ' class="seam"' if place == seam else ""


def cell_html(cell: Cell, seam: bool) -> str:
    style, kinds = f"--t:{6 + 20 * cell.depth:.0f}%", cell.kinds
    if cell.row is not None:
        style = f"--c:{HUES[cell.row % len(HUES)]};--t:30%"
    if cell.came is not None and cell.came != (0, 0):
        style += f";--dx:{cell.came[0]};--dy:{cell.came[1]}"
        kinds += ("moved",)
    return (
        f'<td{" class=seam" * seam}><b class="{" ".join(kinds)}" style="{style}" title="{escape(cell.title)}">'
        f"{escape(cell.label)}</b></td>"
    )


def sample_html(cell: Cell, text: str) -> str:
    style = f"--t:{6 + 20 * cell.depth:.0f}%"
    sample = f'<b class="{" ".join(cell.kinds)}" style="{style}">{escape(cell.label)}</b>'
    return f'<span><span class="cells">{sample}</span>{escape(text)}</span>'


class HeldRow(NamedTuple):
    """Hold a tensor that a method makes, and whether its size is one of the numbers that everybody quotes."""

    method: str
    name: str
    shape: str
    bytes: int
    known: bool


def held_html(rows: Sequence[HeldRow], dark: bool = False) -> str:
    """Draw the sizes of tensors as a table with bars on one scale, a group of rows a method."""
    largest, body = max(row.bytes for row in rows), ""
    for method in dict.fromkeys(row.method for row in rows):
        body += f'<tbody><tr><th scope="rowgroup" colspan="4">{escape(method)}</th></tr>'
        for row in rows:
            if row.method == method:
                body += (
                    f'<tr{" class=known" * row.known}><th scope="row">{escape(row.name)}</th>'
                    f'<td class="shape">{escape(row.shape)}</td>'
                    f'<td class="count">{grouped(row.bytes)}</td>'
                    f'<td class="bar"><i style="width:{100 * row.bytes / largest:.2f}%"></i></td></tr>'
                )
        body += "</tbody>"
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in (_("tensor"), _("shape"), _("bytes"), ""))
    label = escape(_("Size of every tensor of one layer"))
    return (
        f'<div class="held" style="{theme_variables(dark)}"><table aria-label="{label}">'
        f"<thead><tr>{heads}</tr></thead>{body}</table></div>"
    )


def grouped(count: int) -> str:
    """Write a whole number with a thin space between thousands."""
    return f"{count:,}".replace(",", "\u2009")


def cost_figure(
    lengths: dict[str, Sequence[int]],
    ms: dict[str, Sequence[float]],
    megabytes: dict[str, Sequence[float]],
    formula: dict[str, Sequence[float]],
    dark: bool = False,
) -> go.Figure:
    """Draw time and memory against length on logarithmic scales, a line a method, and dotted what the formula says."""
    theme = theme_of(dark)
    looks = dict(zip(lengths, ((theme.faint, "square"), (theme.ink, "circle")), strict=False))
    left, right = panels(1, 2, across=0.1)
    traces = []
    for name, (colour, symbol) in looks.items():
        for place, values, unit in ((left, ms, "ms"), (right, megabytes, "MB")):
            traces.append(scatter(
                place, x=lengths[name], y=values[name], name=name, legendgroup=name, showlegend=place is left,
                mode="lines+markers", line={"color": colour, "width": 2}, marker={"symbol": symbol, "size": 8},
                hovertemplate="L = %{x}: <b>%{y:.3g} " + unit + "</b><extra>%{fullData.name}</extra>",
            ))  # fmt: skip
        traces.append(scatter(
            right, x=lengths[name], y=formula[name], mode="lines", line={"color": colour, "width": 1, "dash": "dot"},
            name=_("{name}, by formula").format(name=name), showlegend=False,
            hovertemplate="L = %{x}: <b>%{y:.3g} MB</b><extra>%{fullData.name}</extra>",
        ))  # fmt: skip
    ticks = sorted({length for values in lengths.values() for length in values})
    x = axis(theme, _("length L, tokens"), type="log", tickvals=ticks, ticktext=list(map(str, ticks)))
    axes = left.axes(x, axis(theme, _("time, ms"), type="log", **decades(ms)))
    axes |= right.axes(x, axis(theme, _("memory, MB"), type="log", **decades(megabytes)))
    legend, margin = LEGEND | {"y": 1.03, "font": {"size": 13}}, {"l": 56, "r": 16, "t": 36, "b": 44}
    return chart(traces, theme, axes, height=320, showlegend=True, legend=legend, margin=margin)


def decades(values: dict[str, Sequence[float]]) -> dict:
    """Label the powers of ten that the values reach: a logarithmic axis alone would write 2 and 5 between them."""
    shown = [value for series in values.values() for value in series if value > 0]
    low, high = (math.floor(math.log10(min(shown))), math.ceil(math.log10(max(shown)))) if shown else (0, 1)
    powers = range(low, high + 1)
    return {"tickvals": [10.0**power for power in powers], "ticktext": [f"{10.0**power:,g}" for power in powers]}
