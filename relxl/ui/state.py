"""Controls that keep their value from page to page and stand in the link.

Streamlit forgets a widget's value when its page is left, and its own query-parameter binding loses values that came
with the link. So the values live in one dict of the session: seeded from the link, written by each control's
`on_change`, copied to the widget before it is made, and written back to the link at the end of a run. Private text is
kept, but never put into the link.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from relxl.language import _
from relxl.ui.show import code

# The keys of a link, which people share, so they never change their meaning: checkpoint, memory (0 or 1), segment
# length, layer, head, query, key, cell pinned (0 or 1), term of the overview of all heads; of the page Shift: variant,
# queries, memory, causal mask (0 or 1), step; of the page Masking: order, fill, dtype, fault, window, layers;
# of the page Initialisation: scale, apart (0 or 1) with the five scales, d_model, length, heads, seed, positions,
# input, head shown; of the page Max len: wall, direction, and of its index matrix queries, keys, memory, max_len; of
# its recorded result checkpoint, memory, segment; answers that the weights can not give, as JSON; where XLNet's second
# segment starts; of the term mixer: scope, and the fader of each term.
LINK = ("ck", "m", "n", "l", "h", "q", "k", "c", "t", "s", "sq", "sm", "sc", "st", "mo", "mf", "md", "mx", "mw", "ml")
LINK += ("is", "ia", "it", "iw", "iu", "iv", "iq", "id", "il", "ih", "ie", "ip", "ii", "ig")
LINK += ("xr", "xd", "xq", "xk", "xm", "xl", "xc", "xe", "xn")
LINK += ("a", "sg")
# Of the page Distance: axis, terms, how far, all layers (0 or 1); of the page Memory: segments back from
# the last.
LINK += ("dx", "dt", "df", "da", "rs")
LINK += ("hm",)  # of the page Heads: measure
LINK += ("rd", "rds")  # of the page Relative vs absolute: step of the derivation, places that the text is moved by
LINK += ("ds",)  # of the page Doctor: severity
# Of the page Compare: mode, the other checkpoint, film, layer of the film, step.
LINK += ("cm", "cb", "cf", "cl", "cs")
# Of the page Memory: segment of "How much memory is enough?", context of the cost that is measured.
LINK += ("rcs", "rcc")
LINK += ("et",)  # term that is looked at closer, of the page Score terms
LINK += ("be", "br", "bs")  # of the page Bug museum: exhibit, repaired (0 or 1), seed of the mystery
LINK += ("lang",)  # the language, of every page
# Of the page Relative vs absolute: text, memory (0 or 1), times, measure at the right, training length; of its live run
# length, memory (0 or 1), steps, seed.
LINK += ("rt", "rm", "rk", "rp", "rn", "rl", "rb", "ru", "re")
LINK += ("le", "ls", "lp")  # of the page Lessons: lesson, step, presenter (0 or 1)
LINK += ("fs", "fa", "fb", "fc", "fd", "fe", "ff")


TEXT = "text"  # of a link: the text that is looked at; read once, and never written into the address


class FromLink(str):
    """Mark a value that came with the link and was not checked yet."""


@dataclass(frozen=True)
class Kept:
    """Hold the value of a control and the arguments that tie its widget to it."""

    value: Any
    widget: dict


def kept_values() -> dict:
    if "kept" not in st.session_state:
        st.session_state.kept = {
            name: FromLink(value) for name, value in st.query_params.items() if name in LINK or name == TEXT
        }
    return st.session_state.kept


def keep(name: str, default: Any, choices: Iterable | None = None) -> Kept:
    """Prepare a control: its value from this session, else from the link, else the default.

    A value that is not among `choices` falls back to the default; one that came with the link is reported.
    """
    kept = kept_values()
    raw = kept.get(name, default)
    value = raw
    if choices is not None:
        value = next((choice for choice in choices if str(choice) == str(raw)), default)
        if isinstance(raw, FromLink) and str(value) != raw:
            message = _("The link asked for {wanted}, which is not to be had here: showing {value}.")
            st.toast(message.format(wanted=code(f"{name}={raw[:40]}"), value=code(str(value))))
    kept[name] = value
    key = f"control_{name}"
    st.session_state[key] = value
    return Kept(value, {"key": key, "on_change": remember, "args": (name,)})


def remember(name: str) -> None:
    kept_values()[name] = st.session_state[f"control_{name}"]
    if name in ("q", "k"):
        choose(c=1)  # who sets a query or a key wants to see the cell
    if name == "ck":
        choose(a="")  # another file is asked other questions


def choose(**values: Any) -> None:
    """Set several controls at once, as a preset does."""
    kept_values().update(values)


def chips(caption: str, presets: dict[str, dict[str, Any]], key: str) -> None:
    """Draw presets in a row: a button a name, which sets the controls to its values."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(caption, width="content")
        for place, (name, values) in enumerate(presets.items()):
            st.button(name, key=f"{key}_{place}", on_click=choose, kwargs=values)


def chosen(*names: str) -> tuple:
    """Give the values of controls as they stand now."""
    return tuple(kept_values().get(name) for name in names)


def kept_link() -> dict[str, str]:
    """Give the kept values as a link has them, those of other pages too."""
    kept = kept_values()
    return {name: str(kept[name]) for name in LINK if name in kept}


def write_link() -> None:
    """Write the kept values into the address."""
    st.query_params.from_dict(kept_link())


def pick(name: str, label: str, options: list[str], labels: dict[str, str]) -> str:
    """Draw a control for one of a few options; give the option chosen."""
    control = keep(name, options[0], choices=options)
    st.segmented_control(label, options, format_func=labels.get, required=True, **control.widget)
    return control.value


def keep_cell(mask: np.ndarray, probs: np.ndarray) -> tuple[Kept, Kept, Kept]:
    """Prepare the query, the key and whether their cell is pinned (0 or 1).

    mask and probs are [query key]. At first the strongest key of the last query is pinned.
    """
    query_len, key_len = mask.shape
    query = keep("q", query_len - 1, range(query_len))
    return query, keep("k", int(probs[query.value].argmax()), range(key_len)), keep("c", 1, (0, 1))


def kept_cell(mask: np.ndarray, probs: np.ndarray) -> tuple[int, tuple[int, int] | None]:
    """Give the chosen query, and the pinned cell (query, key) if there is one."""
    query, key, pinned = (kept.value for kept in keep_cell(mask, probs))
    return query, (query, key) if pinned else None


def pick_cell(mask: np.ndarray, probs: np.ndarray) -> None:
    """Draw the controls for a query and a key."""
    query, key, _pinned = keep_cell(mask, probs)
    query_len, key_len = mask.shape
    st.number_input(_("Query"), 0, query_len - 1, step=1, **query.widget)
    st.number_input(_("Key"), 0, key_len - 1, step=1, **key.widget)
    strongest = {"k": int(probs[query.value].argmax()), "c": 1}
    help = _("The key that this query attends to most")
    st.button(_("Strongest"), on_click=choose, kwargs=strongest, help=help)
