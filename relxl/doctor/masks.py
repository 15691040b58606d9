"""Who sees whom: the future let in, the past shut out, fills that are beaten, rows and memories without anything."""

import math

import torch
from torch import Tensor

from relxl.causality import causality_test, layer_leaks, model_stages, stage_names
from relxl.doctor.case import Case
from relxl.doctor.finding import Finding, Kind
from relxl.masking import MaskRule, fill_margin, forbidden_mass
from relxl.trace import NO_TOKEN, Trace

LONGEST_WINDOW = 256  # keys up to which the far end of a window is tested too
TESTED = 12  # tokens that are changed one by one, and rows and memory of each layer: a leak shows in the first of them
LEAK = 1e-6  # probability on forbidden keys that rounding does not make; -inf and the families' fills leave exactly 0
NEAR = 20.0  # nats between the best visible and the best forbidden score: exp(-20) = 2e-9; NeMo's -1e4 leaves 9,990
UNWRITTEN_SHARE = 0.1  # attention on memory that nobody wrote from which on it is more than a note
REPEATED = 8  # tokens; texts repeat that many only in refrains
SHOWN = 6

LAID = {"after": "after the sum", "before": "before the sum", "before_shift": "before the shift"}
HOW = {
    "sees_next": "the mask is one key too wide",
    "misses_itself": "a query does not see itself",
    "memory_forgotten": "the mask forgets the memory, i - j >= 0 where m + i - j is meant",
    "inverted": "the mask is upside down",
    "no_mask": "there is no mask",
    "window_short": "the window is one key short",
    "before_shift": "the mask is laid before the shift, which moves it",
    "weak_fill_after": "the fill is too weak",
    "weak_fill_before": "the fill is put in before all terms are added",
    "unknown": "the open cells are no mask that is known",
}
FUTURE = Kind(
    "masks.leak",
    "error",
    "The future gets in at L{layer}: {cells} cells are read that must not be ({how}).",
    "Lay the mask on the sum of all terms, after the shift, with -inf; test by changing one token.",
    "kimiyoung/transformer-xl#138",
    "masking",
)
OUTSIDE = Kind(
    "masks.leak",
    "error",
    "The future gets in at {entry}, though no attention reads it: {cells} outputs move with a later token.",
    "Look at what else mixes tokens: a convolution with padding on both sides, a norm over time.",
    "",
    "masking",
)
SHUT = Kind(
    "masks.shut",
    "error",
    "L{layer} does not read {cells} cells that a query may attend to ({how}).",
    "Compare the mask with m + i - j >= 0, cell by cell; bool and additive masks are each other's opposite.",
    "huggingface/transformers#48818",
    "masking",
)
NOT_FINITE = Kind(
    "masks.not_finite",
    "error",
    "The scores of L{layer} are not finite before any mask.",
    "Look for the first layer whose input is not finite; everything after it follows from it.",
    "huggingface/transformers#17306",
    "masking",
)
MASS = Kind(
    "masks.fill_beaten",
    "error",
    "Keys that must not be seen get up to {mass:.2g} of a row's attention in L{layer} (fill {fill}, {order}).",
    "Fill with -inf, or with the dtype's lowest number, after the sum.",
    "huggingface/transformers#17306",
    "masking",
)
MARGIN = Kind(
    "masks.fill_near",
    "warning",
    "The fill {fill} stays only {margin:.1f} nats below the scores of L{layer}: larger scores will beat it.",
    "Fill with -inf, or with the dtype's lowest number, after the sum.",
    "huggingface/transformers#17306",
    "masking",
)
EMPTY = Kind(
    "masks.empty_rows",
    "warning",
    "{rows} of {of} queries have no key to attend to; with the fill {fill} their attention is {outcome}.",
    "Let every query see itself, or leave such rows out of what follows.",
    "kimiyoung/transformer-xl#104",
    "masking",
)
WINDOW = Kind(
    "masks.window",
    "note",
    "same_length is in force: a query sees {window} keys, itself among them, with a memory of {mem_len}. {convention}",
    "Compare with the code that trained the model: mem_len keys in the authors' PyTorch and HF, mem_len + 1 in TF and "
    "NVIDIA's.",
    "kimiyoung/transformer-xl#86",
    "masking",
)
UNWRITTEN = Kind(
    "memory.unwritten",
    "warning",
    "{mass:.0%} of the attention of L{layer} falls on {slots} memory slots that nobody has written.",
    "Start with no memory at all, or mask it until it is written; zeros are not the same as none.",
    "huggingface/transformers#200",
    "score_terms",
)
REPEATS = Kind(
    "memory.repeated",
    "warning",
    "{count} tokens stand both at the end of the memory and at the start of the segment: their keys count twice.",
    "Feed only what the memory does not hold yet.",
    "huggingface/transformers#4752",
    "score_terms",
)


def check_causality(case: Case) -> list[Finding]:
    """Change keys and tokens, see what moves. Cannot see: a mask of the training code that the file does not tell."""
    if not case.causal:
        return []
    trace = case.trace
    reach = trace.rule.window or 0
    past = min(trace.mem_len, max(TESTED, reach if reach <= LONGEST_WINDOW else 0))
    ahead = min(trace.query_len, TESTED)
    window = slice(trace.mem_len - past, trace.mem_len + ahead)
    hidden = [x[:1, window] for x in trace.hidden]
    found = []
    for leak in layer_leaks(trace.model, hidden, past, trace.rule, trace.clamp_len):
        cells = {"forbidden": leak.forbidden, "unread": leak.unread, "of": leak.reads.numel()}
        evidence = cells | {"first": first_cells(leak.reads, past), "mechanism": leak.mechanism}
        if leak.mechanism == "not_finite":
            found.append(NOT_FINITE.at(leak.layer, evidence=evidence))
        elif leak.mechanism != "none":
            kind, count = (FUTURE, leak.forbidden) if leak.forbidden else (SHUT, leak.unread)
            how = {"how": HOW[leak.mechanism], "mechanism": leak.mechanism}
            found.append(kind.at(leak.layer, cells=count, evidence=evidence, **how))
    return found or check_whole(case)


def first_cells(reads: Tensor, mem_len: int) -> list[list[int]]:
    """Name the first cells (query, key) of the future that are read."""
    ahead = torch.ones_like(reads, dtype=torch.bool).triu(mem_len + 1)
    return ((reads > 0) & ahead).nonzero()[:SHOWN].tolist()


def check_whole(case: Case) -> list[Finding]:
    """Find the stage at which the future enters a model whose attention is right."""
    model = case.trace.model
    if not torch.isfinite(case.trace.hidden[-1]).all() or (model.config.n_token and case.tokens is None):
        return []
    if model.config.n_token:
        ids = case.tokens[:TESTED]
        changed = (ids + 1) % model.config.n_token
    else:
        ids = case.trace.hidden[0][0, case.trace.mem_len :][:TESTED]
        changed = ids.roll(1, 0) + 1
    test = causality_test(model_stages(model, clamp_len=case.trace.clamp_len), ids, changed, stage_names(model))
    if test.entry is None:
        return []
    count = int(test.leaks[test.stages.index(test.entry)].sum())
    return [OUTSIDE.at(entry=test.entry, cells=count, mechanism="outside", evidence={"outputs": count})]


def check_fill(case: Case) -> list[Finding]:
    """Measure what forbidden keys get and how far the fill lies below. Cannot see: scores larger than this text's."""
    rule, found = case.trace.rule, []
    for layer, scores in enumerate(case.layer_scores):
        if not scores.total.isfinite().all():
            continue
        seen = scores.allowed.expand_as(scores.probs).any(-1)
        mass = forbidden_mass(scores.probs, scores.allowed).nan_to_num(0).where(seen, 0)
        margin = fill_margin(scores).where(seen, math.inf)
        fill = {"fill": str(rule.fill), "order": LAID[rule.order]}
        head, query = divmod(int(mass[0].argmax()), mass.shape[-1])
        if mass.max() > LEAK:
            evidence = {"mass": float(mass.max()), "margin": float(margin.min()), "query": query}
            found.append(MASS.at(layer, head, mass=float(mass.max()), evidence=evidence, **fill))
        elif margin.min() < NEAR and not rule.zero:
            head, query = divmod(int(margin[0].argmin()), margin.shape[-1])
            evidence = {"margin": float(margin.min()), "query": query}
            found.append(MARGIN.at(layer, head, margin=float(margin.min()), evidence=evidence, **fill))
    return found


def check_empty(case: Case) -> list[Finding]:
    """Find queries whose mask leaves no key, and say what becomes of them. Cannot see: masks that are not given."""
    trace = case.trace
    rule = trace.rule
    allowed = rule.applied(trace.query_len, trace.key_len, trace.mem_len)[None, None]
    if trace.keep is not None:
        allowed = allowed & trace.keep
    empty = ~allowed.any(-1)
    if not empty.any():
        return []
    rows = [[batch, query] for batch, _, query in empty.nonzero().tolist()]
    kept = {"rows": len(rows), "of": empty.numel()}
    outcome, severity = outcome_of(rule)
    found = EMPTY.at(fill=str(rule.fill), outcome=outcome, evidence={"batch, query": rows[:SHOWN]}, **kept)
    return [found if severity is None else EMPTY.at(severity=severity, evidence=found.evidence, **found.values)]


def outcome_of(rule: MaskRule) -> tuple[str, str | None]:
    """Say what a softmax makes of a row in which everything is filled, and how bad that is."""
    if rule.zero:
        return "0 for every key", "note"
    if rule.fill == "min" or rule.fill == "multiply" or (math.isfinite(rule.fill) and rule.order == "after"):
        return "the same for every key", None
    if math.isinf(rule.fill):
        return "NaN, and so is all that reads them", "error"
    return "as if nothing were masked", None


def check_window(case: Case) -> list[Finding]:
    """Say how many keys same_length leaves. Cannot see: which convention the training code had (a reference can)."""
    rule, mem_len = case.trace.rule, case.checkpoint.config.mem_len
    if rule.window is None:
        return []
    least = int(rule.allowed(case.trace.query_len, case.trace.key_len, case.trace.mem_len).sum(-1).min())
    conventions = {
        mem_len: "That is mem_len: the oldest slot of a full memory is never read.",
        mem_len + 1: "That is mem_len + 1, as in TF and NVIDIA's code.",
    }
    convention = conventions.get(rule.window, "That is neither mem_len nor mem_len + 1.")
    evidence = {"window": rule.window, "least_visible": least}
    return [WINDOW.at(window=rule.window, mem_len=mem_len, convention=convention, evidence=evidence)]


def unwritten(trace: Trace) -> Tensor:
    """Mark the memory slots of the first text that hold nothing: [key] bool."""
    empty = (trace.hidden[0][0].flatten(1) == 0).all(-1)
    empty[trace.mem_len :] = False
    return empty


def check_unwritten(case: Case) -> list[Finding]:
    """Measure the attention on memory of zeros. Cannot see: memory that was written by another text."""
    empty, found = unwritten(case.trace), []
    if not empty.any():
        return []
    for layer, scores in enumerate(case.layer_scores):
        mass = float(scores.probs[..., empty].sum(-1).mean())
        if math.isfinite(mass) and mass > 0:
            severity = None if mass > UNWRITTEN_SHARE else "note"
            slots = int(empty.sum())
            found.append(UNWRITTEN.at(layer, mass=mass, slots=slots, severity=severity, evidence={"mass": mass}))
    return found


def check_repeated(case: Case) -> list[Finding]:
    """Find a segment that begins with what its memory ends with. Cannot see: repeats shorter than eight tokens."""
    tokens, mem_len = case.trace.tokens[0], case.trace.mem_len
    memory, segment = tokens[:mem_len], tokens[mem_len:]
    for count in range(min(len(memory), len(segment)), REPEATED - 1, -1):
        its = segment[:count]
        if (memory[-count:] == its).all() and (its != NO_TOKEN).all() and len(set(its.tolist())) > 1:
            return [REPEATS.at(count=count, evidence={"tokens": its[:SHOWN].tolist()})]
    return []
