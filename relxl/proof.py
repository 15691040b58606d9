"""Prove that a split is exact, on the very numbers that are shown.

Two comparisons: sampled cells of each term against the definition in float64 (`definition.py`, straight from weights
and hidden states), and the sum of the shown terms against the logits that the model's own attention makes.
"""

from dataclasses import dataclass

import numpy as np

from relxl.split import LayerTerms
from relxl.trace import Trace

FORWARD_QUERIES = 256


@dataclass(frozen=True)
class Proof:
    """Hold the largest absolute differences found, and the tolerance that fits the dtype."""

    definition_error: float
    forward_error: float
    tolerance: float
    cells: int
    dtype: str

    @property
    def holds(self) -> bool:
        """Say whether both differences are within tolerance (NaN is not)."""
        return self.definition_error <= self.tolerance and self.forward_error <= self.tolerance


def prove(trace: Trace, layer: int, shown: LayerTerms, cells: int = 48, seed: int = 0) -> Proof:
    """Recompute `cells` random cells of each shown head by the definition, and the sum from the model's own forward.

    The sum is compared on the last 256 queries, all keys: for all heads of a long text it would be gigabytes.
    The tolerance is 128 units in the last place of the largest score: what summing some hundred products in that
    dtype may lose.
    """
    generator = np.random.default_rng(seed)
    query_len, key_len = shown.logits.shape[-2:]
    definition_error = forward_error = 0.0
    queries = min(query_len, FORWARD_QUERIES)
    forward_logits = trace.forward_logits(layer, queries)
    for place, head in enumerate(shown.heads):
        for query, key in generator.integers((query_len, key_len), size=(cells, 2)):
            cell = trace.cell(layer, head, int(query), int(key))
            for name, contributions in cell.items():
                error = abs(float(shown.terms[name][0, place, query, key]) - contributions.sum())
                definition_error = np.maximum(definition_error, error)  # unlike max(), keeps a NaN
        with np.errstate(invalid="ignore"):  # inf - inf is NaN, and then the split is not proved
            total = sum(term[0, place, -queries:].astype(np.float64) for term in shown.terms.values())
            forward_error = np.maximum(forward_error, np.abs(total - forward_logits[0, head]).max())
    dtype = shown.logits.dtype
    largest = max(float(np.abs(term).max()) for term in shown.terms.values())
    tolerance = 128 * float(np.finfo(dtype).eps) * max(1.0, largest)
    return Proof(float(definition_error), float(forward_error), tolerance, cells * len(shown.heads), str(dtype))
