"""The one view that draws every matrix: panels of cells (query, key) that share axes, scales, zoom and pin.

    panel.py         Panel and Grid: what is to be drawn; two renderers take it, this one and figures/matrix.py
    payload.py       a Grid as one buffer of bytes for the browser: levels, strips and curves, never JSON numbers
    matrix_view.*    html, css and plain JavaScript that decode and draw it on canvases

Free of streamlit: relxl/ui/matrix.py mounts it on a page.
"""

from relxl.matrix_view.panel import Grid, Panel, Scale
from relxl.matrix_view.payload import Window, encode

__all__ = ["Grid", "Panel", "Scale", "Window", "encode"]
