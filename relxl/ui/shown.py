"""What stands on the page that a session looks at, so that it can be taken along: each figure, its words, its numbers.

Every page begins anew. A part that is redrawn by itself takes the place of what it was.
"""

from collections.abc import Callable
from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st


@dataclass(frozen=True)
class Shown:
    """Hold one figure of a page: what it says, how it is drawn for a file, and its table where it has one."""

    alt: str
    draw: Callable[[], go.Figure]
    cells: int = 0  # of matrices: a file holds every one
    table: Callable[[], object] | None = None


def begin_page(title: str) -> None:
    st.session_state["shown"] = title, {}


def note(key: str, shown: Shown) -> None:
    """Put a figure down as part of the page."""
    on_page()[1][key] = shown


def on_page() -> tuple[str, dict[str, Shown]]:
    """Give the title of the page, and what it shows in the order in which it was drawn first."""
    return st.session_state.setdefault("shown", ("", {}))
