"""Heads that do nothing of their own: one key for all, every key alike, nothing but one key, another head's work."""

import numpy as np

from relxl.doctor.case import Case
from relxl.doctor.finding import Finding, Kind
from relxl.split import to_numpy

ONE_KEY = 0.95  # mean attention of all queries to one and the same key; the largest of healthy models is 0.84
UNIFORM = 0.995  # entropy over that of equal weights; the largest of healthy models is 0.956
ONE_EACH = 0.995  # mean of the largest weight of a row; the largest of healthy models is 0.923
ALIKE = 0.999  # correlation of two heads' weights around their row means; the largest of healthy models is 0.82
AS_SHARP = 0.1  # logarithm of how much sharper one head of two may be than the other
LEAST_KEYS = 4  # visible keys that a row must have to count
LEAST_ROWS = 8

DEAD = Kind(
    "heads.one_key",
    "warning",
    "L{layer}H{head} gives {mass:.1%} of its attention to key {key}, whatever the query.",
    "A key that all want is u_bias or a large key vector: look at its terms; such a head can often be pruned.",
    "",
    "score_terms",
)
UNIFORM_HEAD = Kind(
    "heads.uniform",
    "warning",
    "L{layer}H{head} looks at every key alike: its entropy is {entropy:.2%} of the largest possible.",
    "Scores that are too small do this: look at the scale, and at an initial std that is too small.",
    "sooftware/conformer#55",
    "score_terms",
)
SATURATED = Kind(
    "heads.saturated",
    "warning",
    "L{layer}H{head} gives {peak:.1%} of its attention to a single key in the mean row: its softmax has no gradient.",
    "Scores that are too large do this: look at the scale (1/sqrt(d_head)) and at the size of the inputs.",
    "kimiyoung/transformer-xl#24",
    "score_terms",
)
DOUBLES = Kind(
    "heads.duplicate",
    "warning",
    "L{layer}H{head} does what H{other} does: their weights correlate by {correlation:.4f}.",
    "Look at whether one head's weights were copied; of two such heads one can be pruned.",
    "",
    "score_terms",
)


def check_heads(case: Case) -> list[Finding]:
    """Find heads that are dead, uniform, saturated or doubled. Cannot see: what a head does on another text."""
    found = []
    for layer, scores in enumerate(case.layer_scores):
        probs = to_numpy(scores.probs[0])
        allowed = to_numpy(scores.allowed.expand_as(scores.probs)[0])
        if np.isfinite(probs).all():
            found += layer_findings(layer, probs.astype(np.float64), allowed)
    return found


def layer_findings(layer: int, probs: np.ndarray, allowed: np.ndarray) -> list[Finding]:
    """Judge every head of one layer: probs and allowed [head query key]."""
    found = []
    rows = (allowed.sum(-1) >= LEAST_KEYS).all(0)
    if rows.sum() < LEAST_ROWS:
        return []
    probs, allowed = probs[:, rows], allowed[:, rows]
    for head, (weights, visible) in enumerate(zip(np.where(allowed, probs, 0), allowed, strict=True)):
        mass = weights.sum(0) / np.maximum(visible.sum(0), 1)
        key = int(np.where(visible.sum(0) >= LEAST_ROWS, mass, 0).argmax())
        peak, entropy = float(weights.max(-1).mean()), relative_entropy(weights, visible)
        if mass[key] > ONE_KEY:
            found.append(
                DEAD.at(layer, head, mass=float(mass[key]), key=key, evidence={"key": key}, link={"k": key, "c": 1})
            )
        elif peak > ONE_EACH:
            found.append(SATURATED.at(layer, head, peak=peak, evidence={"peak": peak}))
        if entropy > UNIFORM:
            found.append(UNIFORM_HEAD.at(layer, head, entropy=entropy, evidence={"entropy": entropy}))
    return found + doubles(layer, probs, allowed)


def relative_entropy(weights: np.ndarray, visible: np.ndarray) -> float:
    """Give the mean entropy of rows over the logarithm of their visible keys: 1 is uniform."""
    safe = np.where(weights > 0, weights, 1)
    return float((-(weights * np.log(safe)).sum(-1) / np.log(visible.sum(-1))).mean())


def doubles(layer: int, probs: np.ndarray, allowed: np.ndarray) -> list[Finding]:
    """Correlate the weights of every two heads around their row means over the visible keys."""
    centred = np.where(allowed, probs - probs.sum(-1, keepdims=True) / allowed.sum(-1, keepdims=True), 0)
    flat = centred.reshape(len(centred), -1)
    size = np.linalg.norm(flat, axis=-1)
    size = np.where(size > 0, size, 1)
    flat = flat / size[:, None]
    alike = np.abs(np.log(size[:, None] / size)) < AS_SHARP  # a flatter copy of a head correlates too
    correlation = np.triu(flat @ flat.T, 1) * alike
    found = []
    for one, other in zip(*np.nonzero(correlation > ALIKE), strict=True):
        value = float(correlation[one, other])
        evidence = {"heads": [int(one), int(other)], "correlation": value}
        found.append(DOUBLES.at(layer, int(other), other=int(one), correlation=value, evidence=evidence))
    return found
