"""How things are shown on every page: figures with their table twin, the proof badge, text from outside."""

import re
import time
from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from relxl.language import _, translated
from relxl.proof import Proof
from relxl.ui.shown import Shown, note

PAINT_SECONDS = 0.12
LONGEST_NAME = 120  # characters of a name that a sentence shows


def let_paint() -> None:
    """Leave the browser the time to paint what was drawn so far.

    Charts that arrive together with a matrix are drawn before it and cost it twice its own time, and at the first visit
    the server has the browser's own files to send. A newer click does not wait: reading the session's state is where
    Streamlit ends an outdated run.
    """
    for _step in range(8):
        time.sleep(PAINT_SECONDS / 8)
        st.session_state.get("kept")


def escape(text: str) -> str:
    """Make text safe for markdown: every punctuation mark is shown, none is obeyed, and no picture is fetched."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def shown(text: str, longest: int = LONGEST_NAME) -> str:
    """Make text from a file fit for a line of markdown: one line, not too long, nothing in it obeyed."""
    text = re.sub(r"\s+", " ", text)
    return escape(text if len(text) <= longest else f"{text[: longest - 20]} … {text[-18:]}")


def code(text: str) -> str:
    """Show text in a monospaced face inside markdown, exactly as it is: the fence is longer than any inside."""
    text = re.sub(r"\s", " ", text)
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if len(fence) > 1 else ""
    return f"{fence}{space}{text}{space}{fence}"


def plain(text: str) -> str:
    """Take the marks of markdown out of a sentence of ours, for those who hear it."""
    return re.sub(r"[\\`*]", "", text)


def said(error: Exception) -> str:
    """Give the sentence of an error in the language of the session; of a file the system is not to say the path."""
    if isinstance(error, OSError) and error.strerror:
        message = _("A file could not be read or kept here ({reason}): try again, or ask whoever runs this server.")
        return message.format(reason=error.strerror)
    return translated(str(error))


def show(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    table: Callable[[], object] | None = None,
    on_pick: Callable[[list], None] | None = None,
) -> None:
    """Show a figure, what it says for those who can not see it, and its numbers (anything tabular) on demand.

    `on_pick` is called with the data (customdata) of the point that a person clicks.
    """

    def picked() -> None:
        if points := st.session_state[key]["selection"]["points"]:
            on_pick(points[0]["customdata"])

    picking = {} if on_pick is None else {"on_select": picked, "selection_mode": "points"}
    config = {"displaylogo": False, "modeBarButtons": [["toImage", "resetScale2d"]]}
    config["toImageButtonOptions"] = {"format": "svg", "filename": f"relxl_{key}"}
    alt = plain(alt)
    note(key, Shown(alt, lambda: figure, table=table))
    st.plotly_chart(figure, theme=None, key=key, alt=alt, config=config, **picking)
    if table is not None and st.toggle(_("Show as table"), key=f"table_{key}"):
        st.dataframe(table(), hide_index=True, height=280)


def show_proof(proof: Proof) -> None:
    """Show whether the split on screen is exact, with the numbers."""
    details = _(
        "{cells} sampled cells of each term against a float64 recomputation from weights and hidden states: largest "
        "difference {definition}. Sum of the terms against the logits of the model's own forward: {forward}. "
        "Tolerance for {dtype}: {tolerance}."
    ).format(
        cells=proof.cells,
        definition=f"{proof.definition_error:.1e}",
        forward=f"{proof.forward_error:.1e}",
        dtype=proof.dtype,
        tolerance=f"{proof.tolerance:.1e}",
    )
    worst = f"{np.maximum(proof.definition_error, proof.forward_error):.0e}"
    if proof.holds:
        st.badge(_("exact to {worst}").format(worst=worst), icon=":material/verified:", color="green", help=details)
    else:
        st.badge(_("not exact: {worst}").format(worst=worst), icon=":material/error:", color="red", help=details)
        st.caption(details)
