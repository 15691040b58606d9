"""What a figure or a question of a lesson looks at: the view on screen aimed at a head, or openly another model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go

from relxl import diagnostics, style
from relxl.checkpoint import list_checkpoints
from relxl.language import _
from relxl.lesson import Setting, fill, one_of, whole
from relxl.masking import DTYPES, FAULTS, ORDERS, MaskRule, read_fill
from relxl.matrix_view import Grid
from relxl.trace import split_memory
from relxl.ui.chooser import default_text, text_key
from relxl.ui.library import BUNDLED
from relxl.ui.loss import no_loss
from relxl.ui.masking.sections import base_rule, orders_of
from relxl.ui.state import chosen
from relxl.ui.view import View, cached_checkpoint, cached_measures, cached_trace, source_of

Settings = Mapping[str, object]
FEWEST = 6  # tokens of a segment in which a lesson has something to show
STAND_IN, ABSOLUTE = "shakespeare-learned", "shakespeare-absolute"
MEASURES = ("content", "content_position", "u_bias", "v_bias", "previous_token")


@dataclass(frozen=True)
class Chart:
    """Hold a figure, what it says for those who can not see it, and its numbers."""

    figure: go.Figure
    alt: str
    table: dict[str, object]


@dataclass(frozen=True)
class Cells:
    """Hold labelled cells as HTML of ours."""

    html: str


Drawn = Grid | Chart | Cells | str  # or why there is nothing to draw


@dataclass(frozen=True)
class Entry:
    """Hold a figure or a question of the registries: what makes it, what it needs of a model, what can be set."""

    make: Callable[[View, Settings], object]
    needs: tuple[str, ...] = ()
    settings: Mapping[str, Setting] | None = None
    shows: Callable[[View], str] | None = None  # which model and head, where it is not that of the view


HEAD = {"l": whole(0, 999), "h": whole(0, 999), "head": one_of(*MEASURES)}
ROW = HEAD | {"q": whole(-9999, 9999)}
RULE = {
    "mo": one_of(*ORDERS),
    "mf": fill(read_fill),
    "mx": one_of(*FAULTS[:-1]),
    "md": one_of(*DTYPES),
}


def known_settings(entries: Mapping[str, Entry]) -> dict[str, Mapping[str, Setting]]:
    """Name what a lesson may ask for: name -> key -> what its value may be."""
    return {name: entry.settings or {} for name, entry in entries.items()}


# The view ------------------------------------------------------------------------------------------------------------


def aimed(view: View, settings: Settings) -> View:
    """Aim a view at the head that the settings name: by its place, or by the measure that is largest in it."""
    layer, head = settings.get("l", view.layer), settings.get("h", view.head)
    measure = view.measures.get(str(settings.get("head")))
    if measure is not None:
        layer, head = (int(place) for place in np.unravel_index(np.nan_to_num(measure).argmax(), measure.shape))
    config = view.checkpoint.config
    return replace(view, layer=min(int(layer), config.n_layer - 1), head=min(int(head), config.n_head - 1))


def row_of(view: View, settings: Settings) -> int:
    """Give the query that the settings name, from the end where it is negative; the last without one."""
    n = view.trace.query_len
    row = int(settings.get("q", -1))
    return min(max(row + n if row < 0 else row, 0), n - 1)


def rule_of(view: View, settings: Settings) -> MaskRule:
    """Give the mask that the settings ask for, laid on the model's own."""
    base, order = base_rule(view), str(settings.get("mo", "after"))
    order = order if order in orders_of(view) else "after"
    fault, dtype = str(settings.get("mx", "none")), settings.get("md")
    return MaskRule(order, settings.get("mf", base.fill), dtype, fault, base.window, zero=base.zero)


def needs_words() -> dict[str, str]:
    """Say what a step may need of a model."""
    return {
        "text": _("a text of some tokens"),
        "relative": _("relative positions"),
        "absolute": _("absolute positions"),
        "curve": _("a v_bias that is one curve of distance"),
        "learned": _("a learned table"),
        "counts": _("a learned table with a record of its training"),
        "memory": _("a memory"),
        "loss": _("a model that predicts the next token"),
    }


def has(view: View, need: str) -> bool:
    """Say whether what is looked at has what a step needs."""
    positions = view.checkpoint.config.positions
    return {
        "text": lambda: view.trace.query_len >= FEWEST,
        "relative": lambda: positions != "absolute",
        "absolute": lambda: positions == "absolute",
        "curve": lambda: positions != "absolute" and view.terms.v_bias is not None and view.terms.diagonal,
        "learned": lambda: positions == "learned",
        "counts": lambda: "row_gradient_counts" in view.checkpoint.training,
        "memory": lambda: view.mem_len > 0,
        "loss": lambda: not no_loss(view),
    }[need]()


def lacking(view: View, needs: tuple[str, ...]) -> str:
    """Name the first thing that a step needs and that is not there; nothing where all is."""
    return next((need for need in needs if not has(view, need)), "")


def stand_in(view: View, need: str) -> View | None:
    """Look at the bundled model that has everything, at its own text; None where it is not there."""
    name = ABSOLUTE if need == "absolute" else STAND_IN
    return bundled_view(view, name) if name in list_checkpoints(BUNDLED) else None


def bundled_view(view: View, name: str) -> View:
    """Look at a bundled model, at its own text and its most telling head."""
    source = source_of(BUNDLED / name, name)
    checkpoint = cached_checkpoint(source)
    config, vocab = checkpoint.config, checkpoint.vocab
    ids = vocab.encode(chosen(text_key(checkpoint))[0] or "").ids
    if len(ids) < 4 * FEWEST:
        ids = vocab.encode(default_text(checkpoint)).ids
    used, mem_len = split_memory(len(ids), config.segment_len, config.segment_len if config.mem_len else 0)
    source = source._replace(ids=np.array(ids[-used:], np.int32).tobytes(), mem_len=mem_len)
    measures = cached_measures(source)
    layer, head = diagnostics.most_telling_head(measures, list(style.terms_of(config.positions)))
    tokens = cached_trace(source).names(vocab)
    return replace(view, checkpoint=checkpoint, source=source, tokens=tokens, layer=layer, head=head)


def suited(view: View, needs: tuple[str, ...]) -> tuple[View | None, str]:
    """Give what a step looks at: the view, or openly another model; and the sentence that says so."""
    need = lacking(view, needs)
    if not need:
        return view, ""
    other = stand_in(view, need)
    if other is None:
        words = _("This step needs {what}, and no bundled model has it here: run `make train`.")
        return None, words.format(what=needs_words()[need])
    words = _("This step needs {what}, which is not on screen: showing {name}.")
    return other, words.format(what=needs_words()[need], name=other.checkpoint.name)


def label_of(view: View) -> str:
    """Say which model and head a figure shows."""
    return f"{view.checkpoint.name} · {view.label}"
