"""How every figure is made: in one piece, from what is drawn and how it is laid out.

plotly checks a figure anew with every change, so one that grows by `add_` and `update_` costs ten times as much.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from relxl.style import Theme, layout


class Place(NamedTuple):
    """Hold where a panel lies: the names of its axes, and its part of the figure, 0 to 1 from the left and the foot."""

    x: str = "x"
    y: str = "y"
    width: tuple[float, float] = (0.0, 1.0)
    height: tuple[float, float] = (0.0, 1.0)

    def axes(self, x: dict, y: dict) -> dict:
        """Give the entries of the layout that say how the panel's axes look."""
        return {
            f"xaxis{self.x[1:]}": {"anchor": self.y, "domain": self.width} | x,
            f"yaxis{self.y[1:]}": {"anchor": self.x, "domain": self.height} | y,
        }


WHOLE = Place()


def panels(
    rows: int, columns: int = 1, across: float = 0.0, down: float = 0.0, heights: Sequence[float] | None = None
) -> list[Place]:
    """Divide a figure into panels, row by row from the top, with gaps that are shares of the figure.

    `heights` are relative; without them all rows are equally high.
    """
    heights = heights or [1.0] * rows
    wide, unit = (1 - across * (columns - 1)) / columns, (1 - down * (rows - 1)) / sum(heights)
    places, top = [], 1.0
    for row in range(rows):
        foot = max(top - unit * heights[row], 0.0)
        for column in range(columns):
            left = column * (wide + across)
            name = str(row * columns + column + 1) if row or column else ""
            places.append(Place(f"x{name}", f"y{name}", (left, min(left + wide, 1.0)), (foot, top)))
        top = foot - down
    return places


def chart(
    traces: Iterable[dict], theme: Theme, axes: dict, shapes: Iterable[dict] = (), notes: Iterable[dict] = (), **changes
) -> go.Figure:
    """Make a figure of traces, of what `Place.axes` gave, of shapes and notes; `changes` is more of the layout."""
    return go.Figure(list(traces), layout(theme, **axes, shapes=list(shapes), annotations=list(notes), **changes))


def scatter(place: Place = WHOLE, **given) -> dict:
    return {"type": "scatter", "xaxis": place.x, "yaxis": place.y, **given}


def bar(place: Place = WHOLE, **given) -> dict:
    return {"type": "bar", "xaxis": place.x, "yaxis": place.y, **given}


def heatmap(place: Place = WHOLE, **given) -> dict:
    return {"type": "heatmap", "xaxis": place.x, "yaxis": place.y, **given}


def vline(x: float, line: dict, place: Place = WHOLE) -> dict:
    """Draw a line from the foot to the top of a panel."""
    ends = {"x0": x, "x1": x, "y0": 0, "y1": 1, "xref": place.x, "yref": f"{place.y} domain"}
    return {"type": "line", "line": line, **ends}


def hline(y: float, line: dict, place: Place = WHOLE) -> dict:
    """Draw a line from the left to the right of a panel."""
    ends = {"x0": 0, "x1": 1, "y0": y, "y1": y, "xref": f"{place.x} domain", "yref": place.y}
    return {"type": "line", "line": line, **ends}


def vband(x0: float, x1: float, colour: str, opacity: float, place: Place = WHOLE) -> dict:
    """Shade a panel between two places of its x axis, below the curves."""
    ends = {"x0": x0, "x1": x1, "y0": 0, "y1": 1, "xref": place.x, "yref": f"{place.y} domain"}
    return {"type": "rect", "fillcolor": colour, "opacity": opacity, "line": {"width": 0}, "layer": "below", **ends}


def hband(y0: float, y1: float, colour: str, opacity: float, place: Place = WHOLE) -> dict:
    """Shade a panel between two places of its y axis, below the curves."""
    ends = {"x0": 0, "x1": 1, "y0": y0, "y1": y1, "xref": f"{place.x} domain", "yref": place.y}
    return {"type": "rect", "fillcolor": colour, "opacity": opacity, "line": {"width": 0}, "layer": "below", **ends}


def note(text: str, x: float, y: float, place: Place = WHOLE, **given) -> dict:
    """Write text at a place of a panel; `given` may name other references, "paper" or "y domain"."""
    return {"text": text, "x": x, "y": y, "xref": place.x, "yref": place.y, "showarrow": False, **given}


def named_lines(marks: Mapping[str, float], colour: str, log: bool = False, width: float = 1.0) -> dict:
    """Draw a dashed line at each place of the x axis, its name beside its top: the shapes and notes of a chart."""
    line, look = {"color": colour, "width": width, "dash": "dash"}, {"size": 11, "color": colour}
    names = [  # on a logarithmic axis plotly takes a note's place by its logarithm, and a shape's as it is
        note(name, np.log10(x) if log else x, 1, yref="y domain", xanchor="left", yanchor="top", font=look)
        for name, x in marks.items()
    ]
    return {"shapes": [vline(x, line) for x in marks.values()], "notes": names}


def heading(text: str, place: Place, **given) -> dict:
    """Write text over the left end of a panel."""
    at = {"x": place.width[0], "y": place.height[1], "xref": "paper", "yref": "paper"}
    return {"text": text, "xanchor": "left", "yanchor": "bottom", "showarrow": False, **at, **given}


def box(x: float, y: float, across: float, down: float, line: dict, place: Place = WHOLE) -> dict:
    """Frame the cell of a grid, so far across and down on either side of its middle."""
    ends = {"x0": x - across, "x1": x + across, "y0": y - down, "y1": y + down, "xref": place.x, "yref": place.y}
    return {"type": "rect", "line": line, **ends}
