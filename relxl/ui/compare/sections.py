"""The page "Compare", of two checkpoints: which tensors differ, and the biases and curves of the heads."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from relxl import style
from relxl.checkpoint import Checkpoint
from relxl.compare import Changes, bias_vectors, common_distances, compare_tensors, cosines, layer_curves, likeness
from relxl.figures import compare as figures
from relxl.figures.checkpoint import lines_figure
from relxl.language import _
from relxl.ui.library import BUNDLED, FIRST, Place, folder_entries, places
from relxl.ui.show import escape, said, show, shown
from relxl.ui.state import chips, keep, pick
from relxl.ui.view import Source, View, cached_checkpoint, key_of, source_of

MOST = 12  # tensors that have a bar
STEPS = "steps"


@dataclass(frozen=True)
class Pair:
    """Hold the checkpoint that is looked at (a), the other one (b), and what differs between their tensors."""

    view: View
    other: Checkpoint
    source: Source  # of b, reading the text in view
    changes: Changes

    @property
    def layer_fits(self) -> bool:
        """Tell whether b has the layer that is looked at."""
        return self.view.layer < self.other.config.n_layer

    @property
    def names(self) -> tuple[str, str]:
        return _("a: {name}").format(name=self.view.checkpoint.name), _("b: {name}").format(name=self.other.name)


def films() -> dict[str, Place]:
    """Name every training that this session may watch: bundled ones, and those of the folder RELXL_CHECKPOINTS."""
    bundled = sorted((BUNDLED / "film").iterdir()) if (BUNDLED / "film").is_dir() else []
    found = {path.name: Place(path, path.name) for path in bundled}
    found |= {f"folder/{path.name}": Place(path, f"{path.name} ({_('folder')})") for path in folder_entries()}
    return {name: place for name, place in found.items() if any(place.path.glob(f"{STEPS}/*/config.json"))}


def mode() -> str:
    """Draw the choice of mode; give it."""
    return pick("cm", _("Compare"), ["two", "film"], {"two": _("Two checkpoints"), "film": _("Training film")})


def presets(view: View) -> None:
    """Draw what is worth seeing, of what there is."""
    found, shown = places(), {}
    pairs = {
        _("Learned table against sinusoid"): (FIRST, "shakespeare-sinusoid"),
        _("Relative against absolute"): (FIRST, "shakespeare-absolute"),
        _("Ours against its authors' code"): ("shakespeare-sinusoid", "txl-official"),
    }
    for label, (a, b) in pairs.items():
        if a in found and b in found:
            shown[label] = {"cm": "two", "ck": a, "cb": b, "a": ""}
    if films():
        shown[_("Watch a training")] = {"cm": "film", "cs": 200}
    chips(_("Try this:"), shown, "compare_preset")


def choose_pair(view: View) -> Pair | None:
    """Find out what the checkpoint in view is compared with; None, with a sentence, where there is nothing."""
    here = view.source.path
    found = {name: place for name, place in places().items() if str(place.path) != here}
    if not found:
        st.info(_("There is no second checkpoint: upload one on the page Checkpoint, or train one."))
        return None
    first = next((name for name in ("shakespeare-sinusoid", FIRST) if name in found), next(iter(found)))
    other = keep("cb", first, found)
    label = lambda name: found[name].label  # noqa: E731
    left, _right = st.columns([2, 3])
    left.selectbox(_("Compare {name} (a) with (b)").format(name=escape(view.checkpoint.name[:60])), list(found),
                   format_func=label, **other.widget)  # fmt: skip
    place = found[other.value]
    source = source_of(place.path, place.label)
    try:
        checkpoint = cached_checkpoint(source)
    except (ValueError, OSError) as error:
        st.error(escape(said(error)))
        return None
    run = source._replace(ids=view.source.ids, mem_len=view.source.mem_len)
    return Pair(view, checkpoint, run, cached_changes(view.source.checkpoint, source))


@st.cache_resource(max_entries=32, show_spinner=False)
def cached_changes(a: Source, b: Source) -> Changes:
    return compare_tensors(cached_checkpoint(a).weights.tensors, cached_checkpoint(b).weights.tensors)


@st.cache_resource(max_entries=64, show_spinner=False)
def cached_pair_curves(key: tuple, layer: int, _a: Checkpoint, _b: Checkpoint) -> tuple:
    """Compute v_bias of all heads of a layer in both: [distance], [head distance] twice, None for absolute ones."""
    distance = common_distances(_a, _b)
    return distance.numpy(), layer_curves(_a, layer, distance), layer_curves(_b, layer, distance)


# The picture ---------------------------------------------------------------------------------------------------------


def picture(pair: Pair) -> None:
    """Show the most changed tensors beside the curves of the chosen head in both, and the finding."""
    bars, curves = st.columns(2, gap="large")
    with bars:
        st.markdown("##### " + _("Tensors that differ most"))
        sentence = changes_sentence(pair.changes)
        if pair.changes.both:
            changes_picture(pair.changes, "changed", sentence, pair.view.dark)
    with curves:
        st.markdown("##### " + _("(d) v_bias of {name} in both").format(name=pair.view.label))
        said = curve_picture(pair)
    st.markdown(f"{sentence} {said}")


def changes_picture(changes: Changes, key: str, alt: str, dark: bool) -> None:
    """Draw the most changed tensors; the table twin holds all."""
    top = changes.both[:MOST]
    figure = figures.changes_figure([change.name for change in top], [change.relative for change in top], dark)
    show(figure, key=key, alt=alt, table=lambda: tensor_table(changes))


def changes_sentence(changes: Changes) -> str:
    """Say how many tensors are alike, which differs most, and what can not be compared; markdown."""
    both, alone = changes.both, len(changes.missing) + len(changes.new) + len(changes.reshaped)
    if not both:
        return _("No tensor of one has the name and shape of one of the other, so their weights can not be compared.")
    text = _("**{equal} of {n}** tensors of the same name and shape are equal in every number.")
    text = text.format(equal=changes.equal, n=len(both))
    if changes.equal < len(both):
        most = both[0]
        change = _("no finite measure") if np.isnan(most.relative) else ratio(most.relative)
        text += " " + _("**{name}** differs most: {change}.").format(name=shown(most.name, 60), change=change)
    if alone:
        text += " " + _("Not comparable: {missing} only in a, {new} only in b, {reshaped} of other shapes.").format(
            missing=len(changes.missing), new=len(changes.new), reshaped=len(changes.reshaped)
        )
    return text


def ratio(relative: float) -> str:
    return _("from all zeros") if np.isinf(relative) else f"{style.number(100 * relative)} %"


def curve_picture(pair: Pair) -> str:
    """Draw v_bias of the chosen head in a over that in b; give what it says, markdown."""
    view, other = pair.view, pair.other
    if not pair.layer_fits:
        return absent(_("b has {n} layers, so there is no L{layer} in it.").format(
            n=other.config.n_layer, layer=view.layer))  # fmt: skip
    key = key_of(view.checkpoint), key_of(other)
    distance, a, b = cached_pair_curves(key, view.layer, view.checkpoint, other)
    if a is None or b is None:
        lacks = _("a") if a is None else _("b")
        return absent(_("{which} has absolute positions: it has no curve over distance.").format(which=lacks))
    if view.head >= len(b):
        return absent(_("b has {n} heads, so there is no H{head} in it.").format(n=len(b), head=view.head))
    one, two = a[view.head], b[view.head]
    like, span = float(likeness(one, two)), [float(np.ptp(c[np.isfinite(c)])) if c.size else 0.0 for c in (one, two)]
    text = _("v_bias of **{name}**: correlation over distance {like}, its range {a} in a and {b} in b.").format(
        name=view.label, like="–" if np.isnan(like) else style.number(like), a=style.number(span[0]),
        b=style.number(span[1]),
    )  # fmt: skip
    ink = style.theme_of(view.dark).ink
    lines = dict(zip(pair.names, (one, two), strict=True))
    figure = lines_figure(lines, distance, (style.RELATIVE_TERMS["v_bias"].colour, ink), view.dark, height=380)
    show(figure, key="both_curves", alt=text, table=lambda: {"distance": distance} | lines)
    return text


def absent(text: str) -> str:
    """Say what can not be compared, in its place; the finding need not repeat it."""
    st.markdown(text)
    return ""


def vectors(pair: Pair) -> None:
    """Show the cosine of u and of v of each head of the layer between both."""
    a, b = bias_vectors(pair.view.checkpoint.model), bias_vectors(pair.other.model)
    both = [name for name in a if name in b]
    if not both or not pair.layer_fits:
        return
    st.markdown("##### " + _("Do u and v point the same way?"))
    layer, sizes = pair.view.layer, {a[name].shape[-1] for name in both} | {b[name].shape[-1] for name in both}
    if len(sizes) > 1:
        st.markdown(_("u and v have other lengths (d\\_head {sizes}), so no angle lies between them.").format(
            sizes=_(" and ").join(map(str, sorted(sizes)))))  # fmt: skip
        return
    n_head = min(a[both[0]].shape[1], b[both[0]].shape[1])
    found = {name: cosines(a[name][layer, :n_head], b[name][layer, :n_head]) for name in both}
    means = ", ".join(f"{name} {signed(values)}" for name, values in found.items())
    alt = _("Mean cosine over {n} heads of layer {layer}: {means}.").format(n=n_head, layer=layer, means=means)
    st.markdown(alt)
    figure = figures.cosine_figure(found, pair.view.head, pair.view.dark)
    show(figure, key="cosines", alt=alt, table=lambda: {"head": np.arange(n_head)} | found)
    st.caption(_("Trainings that start from different seeds end in different bases: near 0 is what to expect there."))


def signed(values: np.ndarray) -> str:
    there = values[np.isfinite(values)]
    return style.number(float(there.mean())) if len(there) else "–"


# Tables --------------------------------------------------------------------------------------------------------------


def tensor_table(changes: Changes) -> dict[str, list]:
    """Give every tensor of both, the most changed first, as columns."""
    both = changes.both
    return {
        _("tensor"): [change.name for change in both],
        _("shape"): [str(list(change.shape)) for change in both],
        "|b − a| / |a|": [change.relative for change in both],
        _("cosine"): [change.cosine for change in both],
        "max |b − a|": [change.largest for change in both],
    }


def table(pair: Pair) -> None:
    """List every tensor, and those that only one of the two has or that have other shapes."""
    changes = pair.changes
    st.markdown("##### " + _("Every tensor"))
    if changes.both:
        st.dataframe(tensor_table(changes), hide_index=True, height=300)
    apart = [(name, _("only in a"), "") for name in changes.missing]
    apart += [(name, _("only in b"), "") for name in changes.new]
    apart += [(name, _("other shape"), f"{list(a)} / {list(b)}") for name, a, b in changes.reshaped]
    if apart:
        columns = zip((_("tensor"), _("why not compared"), _("shapes")), zip(*apart, strict=True), strict=True)
        st.dataframe({name: list(values) for name, values in columns}, hide_index=True, height=240)


def how() -> None:
    """Say how the numbers are computed."""
    with st.expander(_("How this is computed")):
        st.markdown(
            _(
                "Tensors are matched by name and shape, `relxl.compare.compare_tensors`: the Frobenius norm of b − a "
                "over that of a, the cosine of both as long vectors, the largest difference; all in float64. v\\_bias "
                "is scale · v · W\\_kR R\\_d over distance, from weights alone, `relxl.weights_only.v_bias_curves`. "
                "A term's share is its covariance with the logits over their variance, summed over the rows of a "
                "head, `relxl.diagnostics.head_shares`."
            )
        )
