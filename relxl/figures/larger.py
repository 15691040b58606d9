"""A figure for a projector: the same one, with larger type."""

import plotly.graph_objects as go

USUAL = 12  # pixels, where a figure does not say


def larger_figure(figure: go.Figure, times: float) -> go.Figure:
    """Give the figure with all its type, margins and height larger by a factor; the figure itself stays as it is."""
    shown = figure.to_plotly_json()
    layout = enlarged(shown["layout"], times)
    layout.pop("template", None)
    layout["margin"] = {side: round(width * times) for side, width in layout.get("margin", {}).items()}
    layout["height"] = round(layout.get("height", 300) * (1 + times) / 2)
    for name in [name for name in layout if name.startswith(("xaxis", "yaxis"))]:
        layout[name].setdefault("tickfont", {"size": round(USUAL * times)})
    return go.Figure([enlarged(trace, times) for trace in shown["data"]], layout)


def enlarged(part: object, times: float, name: str = "") -> object:
    """Enlarge every font inside a part of a figure."""
    if isinstance(part, dict):
        part = {key: enlarged(value, times, key) for key, value in part.items()}
        if name.endswith("font") and isinstance(part.get("size"), int | float):
            part["size"] = round(part["size"] * times, 1)
        return part
    return [enlarged(value, times) for value in part] if isinstance(part, list | tuple) and name != "" else part
