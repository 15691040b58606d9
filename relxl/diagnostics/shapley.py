"""What each term of a row adds on average, whichever terms are there already: exact Shapley shares."""

from itertools import combinations
from math import factorial

import numpy as np


def focus(logits: np.ndarray) -> np.ndarray:
    """Say how far attention is from uniform, in nats: KL(softmax(logits) || uniform) over the last axis.

    Nothing is attended to more than anything else at 0; one key has it all at log(number of keys).
    """
    shifted = logits - logits.max(-1, keepdims=True)
    weights = np.exp(shifted)
    total = weights.sum(-1, keepdims=True)
    expected = (weights / total * shifted).sum(-1)
    return np.log(logits.shape[-1]) + expected - np.log(total[..., 0])


def shapley_shares(terms: dict[str, np.ndarray]) -> dict[str, float]:
    """Share the focus of a row among its terms, [key] of visible keys each: they add up to the focus of the sum.

    share_t = sum over subsets S without t of |S|! (n - |S| - 1)! / n! * (focus(S + t) - focus(S)), exact over all 2^n
    subsets. Source: Shapley 1953, "A value for n-person games".
    """
    names = list(terms)
    values = {(): 0.0}
    for size in range(1, len(names) + 1):
        for subset in combinations(names, size):
            values[subset] = float(focus(sum(terms[name].astype(np.float64) for name in subset)))
    shares = {}
    for name in names:
        others = [other for other in names if other != name]
        shares[name] = 0.0
        for size in range(len(names)):
            weight = factorial(size) * factorial(len(names) - size - 1) / factorial(len(names))
            for subset in combinations(others, size):
                joined = tuple(n for n in names if n in subset or n == name)
                shares[name] += weight * (values[joined] - values[subset])
    return shares
