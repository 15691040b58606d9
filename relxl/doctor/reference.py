"""Hold a captured run beside our own: the first tensor that disagrees, and the one change that makes it agree."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import torch
from torch import Tensor

from relxl.canonical import CanonicalModel
from relxl.doctor.canon import with_attention
from relxl.doctor.capture import Reference
from relxl.doctor.case import Case
from relxl.doctor.finding import Finding, Kind
from relxl.doctor.hypotheses import GROUPS, LOCAL, Hypothesis, hypotheses
from relxl.split import LayerTerms, attention_terms
from relxl.trace import Trace, run, run_hidden

TOLERANCE = {"probs": 5e-4, "logits": 5e-3}  # of float32 dumps; 37 conformance cases agree to 2e-5 and 7e-5
HALF_TOLERANCE = {"probs": 5e-3, "logits": 5e-2}  # of float16 and bfloat16 dumps: bfloat16 has 3 digits
BETTER = 10.0  # a change must leave a tenth of the disagreement, or it explains nothing
LISTED = 4
AXES = ("batch", "head", "query", "key")
USUAL = (AXES, ("query", "key", "batch", "head"), ("head", "batch", "query", "key"), ("batch", "query", "head", "key"))

AGREES = Kind(
    "reference.agrees",
    "note",
    "All {count} captured tensors agree with this checkpoint: the largest difference is {largest:.2g}.",
    "Nothing needs to be done.",
    "",
    "score_terms",
)
UNEXPLAINED = Kind(
    "reference.unexplained",
    "error",
    "{tensor} is the first captured tensor that disagrees, by {residual:.2g}; none of {tried} hypotheses explains it.",
    "Compare the inputs first (tokens, memory, padding), then the weights; more than one thing may be wrong.",
    "",
    "score_terms",
)
EXPLAINED = (
    "{tensor} is the first captured tensor that disagrees, by {residual:.2g}. It agrees to {left:.2g} with "
    "{words}{place}."
)
KINDS = {
    group: Kind(f"reference.{group}", "error", EXPLAINED, advice, report, "score_terms")
    for group, (advice, report) in GROUPS.items()
}


@dataclass(frozen=True)
class Fit:
    """Hold how far one captured tensor is from ours: its largest difference, and where."""

    tensor: str
    layer: int
    residual: float
    tolerance: float
    place: tuple[int, int, int, int]  # batch, head, query, key
    layout: str

    @property
    def agrees(self) -> bool:
        return self.residual <= self.tolerance


def check_reference(case: Case) -> list[Finding]:
    """Find the first captured tensor that disagrees and name why. Cannot see: two things that are wrong at once."""
    model, reference = case.model, case.reference
    if model is None:
        raise ValueError("a reference needs relative positions: this model's are absolute")
    baseline, trace = fits(model, reference)
    bad = next((fit for fit in baseline if not fit.agrees), None)
    if bad is None:
        largest = max(fit.residual for fit in baseline)
        return [
            AGREES.at(count=len(baseline), largest=largest, evidence={"layouts": sorted({f.layout for f in baseline})})
        ]
    tried = sorted(
        ((outcome(hypothesis.model, reference), hypothesis, None) for hypothesis in candidates(case, trace)), key=order
    )
    if tried[0][0] > 1:
        tried = sorted(tried + list(one_layer(case, trace, bad.layer)), key=order)
    score, best, layer = tried[0]
    evidence = {
        "layout": bad.layout,
        "batch, head, query, key": list(bad.place),
        "left, in units of the tolerance": [[f"{h.group}: {h.words}", round(s, 3)] for s, h, _ in tried[:LISTED]],
        "factors of the terms": term_factors(model, reference, bad.layer, trace),
    }
    place = {"layer": bad.layer, "head": bad.place[1], "tensor": bad.tensor, "evidence": evidence}
    link = {"q": bad.place[2], "k": bad.place[3], "c": 1}
    if score > 1 or score * BETTER > bad.residual / bad.tolerance:
        return [UNEXPLAINED.at(**place, link=link, residual=bad.residual, tried=len(tried))]
    where = "" if layer is None else f" in L{layer} alone"
    words = {"words": best.words, "place": where, "left": score * bad.tolerance}
    return [KINDS[best.group].at(**place, link=link, residual=bad.residual, **words)]


def order(tried: tuple) -> float:
    return tried[0]


def candidates(case: Case, trace: Trace) -> Iterator[Hypothesis]:
    yield from hypotheses(case.checkpoint, case.model, trace.query_len, trace.key_len)


def one_layer(case: Case, trace: Trace, layer: int) -> Iterator[tuple[float, Hypothesis, int]]:
    """Try what may be wrong with a single layer."""
    for hypothesis in candidates(case, trace):
        if hypothesis.change is not None and hypothesis.group in LOCAL and case.checkpoint.config.n_layer > 1:
            changed = with_attention(case.model, hypothesis.change, layer)
            yield outcome(changed, case.reference), hypothesis, layer


def outcome(model: CanonicalModel, reference: Reference) -> float:
    """Give the largest difference that a model leaves, in units of its tolerance; infinite where it cannot be run."""
    try:
        found, _ = fits(model, reference)
    except (ValueError, RuntimeError):  # a table that is too short, say
        return float("inf")
    return max(fit.residual / fit.tolerance for fit in found)


@torch.no_grad()
def fits(model: CanonicalModel, reference: Reference) -> tuple[list[Fit], Trace]:
    """Run a model on what went into the captured run and compare every captured tensor, layer by layer.

    Raises ValueError for tensors whose axes fit no layout.
    """
    kinds = [("probs", reference.probs), ("logits", reference.logits)]
    captured = sorted((layer, kind, value) for kind, values in kinds for layer, value in values.items())
    if bad := [layer for layer, _, _ in captured if layer >= len(model.layers)]:
        raise ValueError(f"{reference.name} has layer {bad[0]}, but the model has layers 0 to {len(model.layers) - 1}")
    trace = rerun(model, reference, mem_len_of(model, reference, captured[0][2]))
    found, split = [], {}
    for layer, kind, value in captured:
        if layer not in split:
            split[layer] = layer_split(model, reference, trace, layer)
        found.append(compare(f"{kind}.{layer}", layer, kind, value, split[layer]))
    return found, trace


def rerun(model: CanonicalModel, reference: Reference, mem_len: int) -> Trace:
    """Run a model on the tokens, or the hidden states, of a reference. Raises ValueError for those of another model."""
    config = model.config
    if reference.tokens is not None:
        least, most = int(reference.tokens.min()), int(reference.tokens.max())
        if least < 0 or most >= config.n_token:
            known = f"knows 0 to {config.n_token - 1}" if config.n_token else "reads hidden states"
            raise ValueError(f"{reference.name} has the tokens {least} to {most}, but the model {known}")
        return run(model, reference.tokens, mem_len, segments=reference.segments)
    hidden = reference.hidden
    if hidden is None:
        hidden = reference.layer_hidden[min(reference.layer_hidden)]
    hidden = hidden[None] if hidden.dim() == 2 else hidden
    if hidden.dim() != 3 or hidden.shape[-1] != config.d_model:
        shape = list(hidden.shape)
        raise ValueError(f"hidden in {reference.name} has shape {shape}, but the model reads {config.d_model} numbers")
    hidden = hidden.to(model.dtype)
    mems = [hidden[:, :mem_len]] * len(model.layers) if mem_len else None
    return run_hidden(model, hidden[:, mem_len:], mems, visible=reference.visible)


def layer_split(model: CanonicalModel, reference: Reference, trace: Trace, layer: int) -> LayerTerms:
    own = (reference.layer_hidden or {}).get(layer)
    if own is None:
        return trace.terms(layer)
    own = own[None] if own.dim() == 2 else own
    sides = (trace.rule, trace.keep, trace.differs)
    return attention_terms(model.layers[layer].attn, own.to(model.dtype), trace.mem_len, None, trace.clamp_len, *sides)


def mem_len_of(model: CanonicalModel, reference: Reference, value: Tensor) -> int:
    """Tell how many of the inputs are memory: what is said, or what the number of queries leaves."""
    source = reference.tokens if reference.tokens is not None else reference.hidden
    if source is None:
        source = reference.layer_hidden[min(reference.layer_hidden)]
        source = source[None] if source.dim() == 2 else source
    batch, length = source.shape[:2]
    if reference.mem_len is not None:
        if not 0 <= reference.mem_len < length:
            raise ValueError(f"mem_len in {reference.name} is {reference.mem_len}, but {length} inputs went in")
        return reference.mem_len
    zeros = 0 if model.first_mems(1) is None else model.config.mem_len
    n_head = model.config.n_head
    for sizes in layouts(value, {"head": n_head, "batch": batch}):
        if sizes["query"] <= length and sizes["key"] in (length, length + zeros):
            return length - sizes["query"]
    raise ValueError(
        f"{reference.name} has scores of shape {list(value.shape)}, but {length} inputs, {n_head} heads and a batch of "
        f"{batch} need [batch head query key] in some order, with {length} keys"
    )


def layouts(value: Tensor, known: dict[str, int]) -> Iterator[dict[str, int]]:
    """Give every way to name the axes of a tensor that agrees with the known sizes: axis -> size, in its order."""
    orders = [*USUAL, *(order for order in permutations(AXES) if order not in USUAL)]
    if value.dim() == 3:
        orders = list(dict.fromkeys(tuple(axis for axis in order if axis != "batch") for order in orders))
    for axes in orders:
        sizes = dict(zip(axes, value.shape, strict=False))
        if len(axes) == value.dim() and all(sizes.get(axis, 1) == size for axis, size in known.items()):
            yield sizes


def compare(name: str, layer: int, kind: str, value: Tensor, ours: LayerTerms) -> Fit:
    """Bring a captured tensor to [batch head query key], in the order that fits, and find the largest difference."""
    shape = dict(zip(AXES, ours.logits.shape, strict=True))
    half = value.dtype in (torch.float16, torch.bfloat16)
    tolerance = (HALF_TOLERANCE if half else TOLERANCE)[kind]
    best = None
    for sizes in layouts(value, shape):
        its = in_order(value, sizes)
        difference = differences(kind, its, ours)
        place = tuple(int(p) for p in np.unravel_index(int(difference.argmax()), difference.shape))
        fit = Fit(name, layer, float(difference[place]), tolerance, place, " ".join(sizes))
        if fit.agrees:
            return fit
        if best is None and (kind == "logits" or abs(float(np.median(its.sum(-1))) - 1) < 0.02):
            best = fit  # the first in which the weights of a row add up to 1
    if best is None:
        raise ValueError(
            f"{name} has shape {list(value.shape)}, but [batch head query key] is {list(ours.logits.shape)}"
        )
    return best


def in_order(value: Tensor, sizes: dict[str, int]) -> np.ndarray:
    """Bring a captured tensor, whose axes are named in its own order, to [batch head query key]."""
    order = list(sizes) if value.dim() == 4 else ["batch", *sizes]
    return (value if value.dim() == 4 else value[None]).permute([order.index(axis) for axis in AXES]).double().numpy()


def differences(kind: str, its: np.ndarray, ours: LayerTerms) -> np.ndarray:
    """Compare cell by cell; logits around the mean of their row, over the cells that both sides show."""
    if kind == "probs":
        difference = np.abs(its - ours.probs)
        return np.where(np.isnan(its) & np.isnan(ours.probs), 0, np.nan_to_num(difference, nan=np.inf))
    mask = np.broadcast_to(ours.mask, its.shape)
    logits = ours.logits.astype(np.float64)
    size = max(1.0, float(np.std(logits[mask])))
    open_cells = mask & np.isfinite(its)
    difference = np.abs(centred(its, open_cells) - centred(logits, open_cells)) / size
    return np.where(mask & ~np.isfinite(its), np.inf, difference)


def centred(scores: np.ndarray, where: np.ndarray) -> np.ndarray:
    count = np.maximum(where.sum(-1, keepdims=True), 1)
    scores = np.where(where, scores, 0)
    return np.where(where, scores - scores.sum(-1, keepdims=True) / count, 0)


def term_factors(model: CanonicalModel, reference: Reference, layer: int, trace: Trace) -> dict[str, float]:
    """Estimate by which factor each term enters the captured scores, by least squares on row-centred log-probabilities.

    1 for every term means the same score; one factor for all of them is another scale. Empty where it cannot be told.
    """
    value = reference.logits.get(layer, reference.probs.get(layer))
    ours = layer_split(model, reference, trace, layer)
    sizes = next(layouts(value, dict(zip(AXES, ours.logits.shape, strict=True))), None)
    if sizes is None:
        return {}
    its = in_order(value, sizes)
    if layer not in reference.logits:
        its = np.log(np.where(its > 1e-6, its, np.nan))
    where = np.broadcast_to(ours.mask, its.shape) & np.isfinite(its)
    columns = [centred(term.astype(np.float64), where)[where] for term in ours.terms.values()]
    if where.sum() < 4 * len(columns):
        return {}
    factors, _, rank, _ = np.linalg.lstsq(np.stack(columns, 1), centred(its, where)[where], rcond=1e-8)
    return dict(zip(ours.terms, (round(float(f), 4) for f in factors), strict=True)) if rank == len(columns) else {}
