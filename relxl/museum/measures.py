"""What a broken scene has that the right one has not, in numbers. Floats named in SHARES lie from 0 to 1."""

import math
import warnings

import numpy as np
import torch

from relxl.diagnostics import head_shares, row_covariances
from relxl.diagnostics.heads import row_entropy
from relxl.doctor.shifts import explained
from relxl.museum.scene import Scene
from relxl.shift import foreign_cells

Numbers = dict[str, float]
SHARES = {"moved", "leak", "by_key", "by_distance", "mass", "share", "biases_right", "biases_wrong", "top_right"}
SHARES |= {"top_wrong"}


def seen(right: Scene) -> np.ndarray:
    """Mark the cells that a query may attend to: [query key] bool."""
    return right.terms.mask


def finite_rows(scene: Scene) -> np.ndarray:
    return np.isfinite(scene.terms.probs).all(-1)


def moved(wrong: Scene, right: Scene) -> Numbers:
    """Give the share of the attention that goes to other keys, the mean over the rows."""
    rows = finite_rows(wrong) & finite_rows(right)
    change = np.abs(wrong.terms.probs - right.terms.probs)[rows].sum(-1) / 2
    return {"moved": float(change.mean()) if rows.any() else math.nan}


def foreign(wrong: Scene, right: Scene) -> Numbers:
    """Count the visible cells that do not read (i, m + i - j)."""
    cells = foreign_cells(wrong.pairs, wrong.mem_len).foreign.numpy() & seen(right)
    return {"foreign": int(cells.sum()), "cells": int(seen(right).sum())} | moved(wrong, right)


def legacy(wrong: Scene, right: Scene) -> Numbers:
    """Say which row distance 0 reads for the last query, and for a text that is one token longer."""
    row = int(wrong.pairs.distance[-1, -1])
    return {"row": row, "longer": row - 1, "n": wrong.key_len} | moved(wrong, right)


def key_or_distance(wrong: Scene, right: Scene) -> Numbers:
    """Split the variance of v_bias: what the index of the key explains, and what the distance does."""
    mask = seen(right)
    key = np.broadcast_to(np.arange(mask.shape[1]), mask.shape)[mask]
    distance = (right.terms.distance - right.terms.distance.min())[mask]
    values = wrong.terms.terms["v_bias"].astype(np.float64)[mask][None]
    return {"by_key": explained(values, key), "by_distance": explained(values, distance)} | moved(wrong, right)


def ends(wrong: Scene, right: Scene) -> Numbers:
    """Say at which distance the last query reads itself and the first key, and at which it should."""
    read, own = wrong.pairs.distance[-1], wrong.key_len - 1
    return {"own": int(read[own]), "first": int(read[0]), "far": own} | moved(wrong, right)


def favourite(wrong: Scene, right: Scene) -> Numbers:
    """Name the distance that (d) v_bias likes best, right and wrong, among those that are seen."""

    def best(scene: Scene) -> int:
        curve = np.where(seen(right), scene.terms.terms["v_bias"], -np.inf)
        place = np.unravel_index(int(curve.argmax()), curve.shape)
        return int(right.terms.distance[place])

    return {"right": best(right), "wrong": best(wrong)} | moved(wrong, right)


def sign(wrong: Scene, right: Scene) -> Numbers:
    """Compare the rows of +d and -d: the largest difference, right and wrong."""

    def apart(scene: Scene) -> float:
        distance = torch.arange(1, scene.query_len, device=scene.hidden.device)
        table = scene.attn.positions.table
        return float((table(distance) - table(-distance))[scene.head].abs().max())

    return {"apart_right": apart(right), "apart_wrong": apart(wrong)} | moved(wrong, right)


def off_by_memory(wrong: Scene, right: Scene) -> Numbers:
    """Say at which distance a query reads itself, and how many visible cells read one of the future."""
    ahead = (wrong.pairs.distance.numpy() < 0) & seen(right)
    own = int(wrong.pairs.distance[0, wrong.mem_len])
    return {"own": own, "ahead": int(ahead.sum()), "cells": int(seen(right).sum())} | moved(wrong, right)


def beyond(wrong: Scene, right: Scene) -> Numbers:
    """Count the visible cells beyond a quarter of the keys."""
    reach = wrong.key_len // 4
    cells = (np.abs(right.terms.distance) > reach) & seen(right)
    counts = {"beyond": int(cells.sum()), "cells": int(seen(right).sum()), "reach": reach}
    return counts | moved(wrong, right)


def alike(wrong: Scene, right: Scene) -> Numbers:
    """Correlate the positional scores of the visible cells, right and wrong."""
    mask = seen(right)
    one, two = (scene.positions.astype(np.float64)[mask] for scene in (right, wrong))
    one, two = one - one.mean(), two - two.mean()
    size = float(np.sqrt(np.square(one).sum() * np.square(two).sum()))
    return {"correlation": float((one * two).sum() / size) if size else math.nan} | moved(wrong, right)


def leaked(wrong: Scene, right: Scene) -> Numbers:
    """Measure what forbidden keys get, and count allowed cells that are shut and rows that are lost."""
    rows = finite_rows(wrong)
    leak = np.where(seen(right), 0, wrong.terms.probs)[rows].sum(-1)
    shut = (wrong.terms.probs[rows] == 0) & (right.terms.probs[rows] > 0)
    counts = {"shut": int(shut.sum()), "cells": int(seen(right).sum()), "lost": int((~rows).sum())}
    return {"leak": float(leak.mean()) if rows.any() else math.nan} | counts


def dead_rows(wrong: Scene, right: Scene) -> Numbers:
    """Name the row that is not a number, and count such rows on both sides."""
    bad = ~finite_rows(wrong)
    row = int(bad.argmax()) if bad.any() else -1
    return {"row": row, "rows": int(bad.sum()), "rows_right": int((~finite_rows(right)).sum())}


def window(wrong: Scene, right: Scene) -> Numbers:
    """Count the keys of the last row, and weigh the one that is lost."""
    lost = np.where(wrong.terms.mask & ~applied(wrong), right.terms.probs, 0).sum(-1)
    counts = {"keys": int(applied(wrong)[-1].sum()), "right": int(applied(right)[-1].sum())}
    return counts | {"mass": float(lost.max())} | moved(wrong, right)


def applied(scene: Scene) -> np.ndarray:
    return scene.rule.applied(scene.query_len, scene.key_len, scene.mem_len).numpy()


def position_share(wrong: Scene, right: Scene) -> Numbers:
    """Say what share of the score position had, (b) and (d)."""
    shares = shares_of(right)
    return {"share": shares["content_position"] + shares["v_bias"]} | moved(wrong, right)


def shares_of(scene: Scene) -> dict[str, float]:
    return head_shares(row_covariances(scene.terms.terms, scene.terms.mask))


def bias_shares(wrong: Scene, right: Scene) -> Numbers:
    """Say what share of the score the biases have, (c) and (d), right and wrong."""
    both = {}
    for name, scene in (("right", right), ("wrong", wrong)):
        shares = shares_of(scene)
        both[f"biases_{name}"] = shares["u_bias"] + shares["v_bias"]
    return both | {"factor": 1 / right.attn.scale} | moved(wrong, right)


def one_key(wrong: Scene, right: Scene) -> Numbers:
    """Say what the key gets that is attended to most, and how large u was and is."""
    top = {f"top_{name}": float(mean_row(scene).max()) for name, scene in (("right", right), ("wrong", wrong))}
    sizes = {f"u_{name}": float(s.attn.u[s.head].abs().max()) for name, s in (("right", right), ("wrong", wrong))}
    return top | sizes | moved(wrong, right)


def mean_row(scene: Scene) -> np.ndarray:
    return scene.terms.probs[finite_rows(scene)].mean(0)


def biases_apart(wrong: Scene, right: Scene) -> Numbers:
    """Say how far u of the two scenes lies apart, beside its size."""
    head = right.head
    apart = float((wrong.attn.u[head] - right.attn.u[head]).abs().max())
    return {"apart": apart, "size": float(right.attn.u[head].abs().max())} | moved(wrong, right)


def square(wrong: Scene, right: Scene) -> Numbers:
    """Say how wide the projection of the query is, that fits either way."""
    return {"n": right.attn.w_q.weight.shape[0]} | moved(wrong, right)


def entropies(wrong: Scene, right: Scene) -> Numbers:
    """Give the mean entropy of the rows, right and wrong, nats; and that of an even row over the same keys."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = {f"entropy_{name}": float(np.mean(row_entropy(scene.terms.probs[1:]))) for name, scene in
                (("right", right), ("wrong", wrong))}  # fmt: skip
    even = float(np.log(seen(right)[1:].sum(-1)).mean())
    return both | {"even": even, "factor": right.attn.scale / wrong.attn.scale} | moved(wrong, right)


def on_memory(wrong: Scene, right: Scene) -> Numbers:
    """Weigh the memory: its slots, and the share of attention that they get where they are seen."""
    masses = [float(scene.terms.probs[:, : scene.mem_len].sum(-1).mean()) for scene in (wrong, right)]
    return {"mass": max(masses), "slots": wrong.mem_len}


def phases(wrong: Scene, right: Scene) -> Numbers:
    """Give the largest error of p_d, beside its size, over the distances that are seen and over those up to `far`."""
    seen_far, far = int(right.terms.distance[seen(right)].max()), wrong.attn.positions.last

    def error(reach: int) -> float:
        distance = torch.arange(reach + 1)
        apart = wrong.attn.positions.table(distance) - right.attn.positions.table(distance)
        return float(apart[right.head].abs().max())

    size = float(right.attn.positions.table(torch.arange(far + 1))[right.head].abs().max())
    return {"near": seen_far, "error": error(seen_far), "far": far, "far_error": error(far), "size": size}
