"""What half precision does to these scores: the first step that is not finite, and how far probabilities move."""

from dataclasses import replace

import torch

from relxl.doctor.case import Case
from relxl.doctor.finding import Finding, Kind
from relxl.masking import first_not_finite, mask_scores

DTYPES = ("float16", "bfloat16")
ROWS = 64  # last queries that are recomputed
MOVED = {"float16": 0.06, "bfloat16": 0.35}  # largest change of a probability: twice that of the bundled models, whose
# largest score is 234
HALF = (torch.float16, torch.bfloat16)

NOT_FINITE = Kind(
    "precision.not_finite",
    "warning",
    "In {dtype} the scores of L{layer} are first not finite at the {step}, where float32 is fine.",
    "Compute scores, mask and softmax in float32; fill with the dtype's own lowest number, after the sum.",
    "huggingface/transformers#17306",
    "masking",
)
MOVES = Kind(
    "precision.moved",
    "note",
    "In {dtype} a probability of L{layer} moves by up to {moved:.2g}: the largest score is {largest:.3g}.",
    "Compute scores and softmax in float32.",
    "speechbrain/speechbrain#1470",
    "masking",
)


def check_precision(case: Case) -> list[Finding]:
    """Recompute the last rows in half precision. Cannot see: hidden states and gradients of a half-precision run."""
    trace, found = case.trace, []
    stored_half = any(value.dtype in HALF for value in case.checkpoint.weights.tensors.values())
    rows = min(trace.query_len, ROWS)
    for layer in range(len(trace.hidden)):
        with torch.no_grad():
            terms = trace.tensors(layer, rows, batch=0)
        keep = None if trace.keep is None else trace.keep[:1]
        keep = keep if keep is None or keep.shape[-2] == 1 else keep[..., -rows:, :]
        given = trace.rule, trace.key_len - rows, keep
        for dtype in DTYPES:
            finding = recompute(layer, terms, dtype, *given)
            if finding is not None:
                severity = "error" if stored_half and finding.id == NOT_FINITE.id else finding.severity
                found.append(type(finding)(**(vars(finding) | {"severity": severity})))
    return found


def recompute(layer: int, terms, dtype: str, rule, mem_len: int, keep) -> Finding | None:
    """Send the terms through the model's rule in one dtype and compare with float32."""
    exact = mask_scores(terms, rule, mem_len, keep)
    if first_not_finite(exact, rule) is not None:
        return None  # it is not half precision that does it
    its_rule = replace(rule, dtype=dtype)
    half = mask_scores(terms, its_rule, mem_len, keep)
    step = first_not_finite(half, its_rule)
    step = None if step == "fill" and half.probs.isfinite().all() else step
    if step is not None:
        bad = ~half.masked.isfinite() & half.allowed.expand_as(half.masked)
        worst = (bad if bad.any() else half.probs.isnan()).nonzero()[:1].tolist()
        evidence = {"batch, head, query, key": worst, "largest_score": float(exact.total.abs().max())}
        return NOT_FINITE.at(layer, dtype=dtype, step=step, evidence=evidence)
    change = (half.probs.float() - exact.probs.float()).abs().nan_to_num(0)
    moved, largest = float(change.max()), float(exact.total.abs().max())
    if moved <= MOVED[dtype]:
        return None
    _, head, query, key = (int(place[0]) for place in (change == change.max()).nonzero(as_tuple=True))
    link = {"h": head, "q": query, "k": key, "c": 1}
    return MOVES.at(layer, head, dtype=dtype, moved=moved, largest=largest, evidence={"moved": moved}, link=link)
