"""A figure for a projector: the same one, with larger type."""

import plotly.graph_objects as go

USUAL = 12  # pixels, where a figure does not say


def larger_figure(figure: go.Figure, times: float) -> go.Figure:
    """Give the figure with all its type and margins larger by a factor; the figure itself stays as it is."""
    layout = enlarged(figure.layout.to_plotly_json(), times)
    layout["margin"] = {side: round(width * times) for side, width in layout.get("margin", {}).items()}
    layout["height"] = round(layout.get("height", 300) * (1 + times) / 2)
    for name in [name for name in layout if name.startswith(("xaxis", "yaxis"))]:
        layout[name].setdefault("tickfont", {"size": USUAL * times})
    return go.Figure([with_larger_text(trace.to_plotly_json(), times) for trace in figure.data], layout)


def with_larger_text(trace: dict, times: float) -> dict:
    """Enlarge the text inside a trace, where its size is given."""
    font = trace.get("textfont", {})
    return trace | {"textfont": font | {"size": font["size"] * times}} if "size" in font else trace


def enlarged(part: object, times: float, name: str = "") -> object:
    """Enlarge every font inside a part of a layout."""
    if isinstance(part, dict):
        part = {key: enlarged(value, times, key) for key, value in part.items()}
        if name.endswith("font") and "size" in part:
            part["size"] = part["size"] * times
        return part
    return [enlarged(value, times) for value in part] if isinstance(part, list | tuple) else part
