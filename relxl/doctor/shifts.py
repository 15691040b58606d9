"""Which position each cell really reads: the map of the model, and what its numbers depend on."""

import numpy as np
import torch
from torch import Tensor

from relxl.doctor.case import MOST_ROWS, Case
from relxl.doctor.finding import Finding, Kind
from relxl.relative import PairMap, RelativePairs, relative_pairs
from relxl.shift import SHIFTS, pair_map
from relxl.split import pairs_of
from relxl.trace import Trace

BY_KEY = 0.95  # variance of v_bias that a function of the key explains; healthy models have at most 0.48
BY_DISTANCE = 0.9  # and a function of the distance: healthy models have 1.00 by construction
SHOWN = 6
DISTINCT = 8  # queries below which distance and key can not be told apart

FOREIGN = Kind(
    "shift.foreign",
    "error",
    "{foreign} of {cells} visible cells of L{layer} read a position that is not theirs: {how}.",
    "Give the shift a table of 2T-1 rows (both sides) or a causal mask, and count distances as memory + i - j.",
    "espnet/espnet#2684",
    "shift",
)
UNREAD = Kind(
    "shift.no_position",
    "note",
    "{cells} visible cells of L{layer} read no position at all, those of the future.",
    "That is what zero_triu does; switch it off if the model should know how far ahead a key is.",
    "espnet/espnet#2816",
    "shift",
)
ABSOLUTE = Kind(
    "shift.absolute",
    "error",
    "{by_key:.0%} of v_bias in L{layer} is explained by the index of the key and {by_distance:.0%} by the distance: "
    "these positions are not relative.",
    "Put the shift back in; without it row r of the table belongs to key r, whoever asks.",
    "wenet-e2e/wenet#1612",
    "shift",
)


def check_map(case: Case) -> list[Finding]:
    """Compare every cell's map with (i, m + i - j). Cannot see: what the training code did and no file says."""
    trace, found = case.trace, []
    allowed = visible_cells(trace)
    for layer, attn in enumerate(case.attentions):
        pairs = pairs_of(attn, trace.key_len, trace.mem_len)
        if isinstance(pairs, RelativePairs):
            continue
        right = relative_pairs(trace.query_len, trace.key_len, trace.mem_len)
        pad = pairs.query_row < 0
        wrong = (pairs.query_row != right.query_row) | (pairs.distance != right.distance)
        foreign = wrong & ~pad & allowed
        if foreign.any():
            cells = foreign.nonzero()[:SHOWN]
            read = [[i, j, int(pairs.query_row[i, j]), int(pairs.distance[i, j])] for i, j in cells.tolist()]
            evidence = {"query, key, reads row, distance": read}
            counts = {"foreign": int(foreign.sum()), "cells": int(allowed.sum())}
            severity = "warning" if attn.legacy_len is not None else None  # the family's own code did so in training
            how = describe(pairs, right, foreign, trace.mem_len)
            found.append(FOREIGN.at(layer, how=how, evidence=counts | evidence, severity=severity, **counts))
        elif (pad & allowed).any():
            found.append(UNREAD.at(layer, cells=int((pad & allowed).sum()), evidence={}))
    return found


def visible_cells(trace: Trace) -> Tensor:
    """Mark the cells that a query of some text may attend to: [query key] bool."""
    allowed = trace.rule.allowed(trace.query_len, trace.key_len, trace.mem_len)
    return allowed if trace.keep is None else allowed & trace.keep.flatten(0, 1).any(0)


def describe(pairs: PairMap, right: RelativePairs, foreign: Tensor, mem_len: int) -> str:
    """Name a wrong map: the public shift that it is, an offset, or neither."""
    query_len, key_len = pairs.query_row.shape
    if key_len == query_len + mem_len:
        for name, shift in SHIFTS.items():
            if name in ("exact", "slice", "xlnet_bi", "labml"):
                continue
            its = pair_map(name, query_len, mem_len)
            same_distance = torch.equal(its.distance.where(foreign, 0), pairs.distance.where(foreign, 0))
            if torch.equal(its.query_row, pairs.query_row) and same_distance:
                return f"the map is `{name}`, as in {shift.source}"
    row_kept = pairs.query_row[foreign] == right.query_row[foreign]
    offset = pairs.distance[foreign] - right.distance[foreign]
    steady = offset[row_kept]
    if len(steady) and (steady == steady[0]).all():
        rest = int((~row_kept).sum())
        more = f", and {rest} cells read what is left over of another row" if rest else ""
        return f"distances are off by {int(steady[0]):+d}{more}"
    return f"{int((~row_kept).sum())} read another query's row, {len(steady)} another distance"


def check_absolute(case: Case) -> list[Finding]:
    """Split the variance of v_bias into f(distance) and f(key). Cannot see: a model whose v_bias is constant."""
    trace, found = case.trace, []
    if trace.query_len < DISTINCT:
        return []
    for layer in range(len(case.attentions)):
        split = trace.terms(layer, queries=min(trace.query_len, MOST_ROWS))
        mask = np.broadcast_to(split.mask, split.logits.shape)[0].any(0)
        key = np.broadcast_to(np.arange(trace.key_len), mask.shape)
        terms = split.terms["v_bias"][0].astype(np.float64)[:, mask]
        by_distance = explained(terms, (split.distance - split.distance.min())[mask])
        by_key = explained(terms, key[mask])
        if by_key > BY_KEY and by_distance < BY_DISTANCE:
            shares = {"by_key": by_key, "by_distance": by_distance}
            found.append(ABSOLUTE.at(layer, evidence=shares, **shares))
    return found


def explained(values: np.ndarray, group: np.ndarray) -> float:
    """Give the share of the variance that the means of groups explain: values [head cell], group [cell] int."""
    total = np.square(values - values.mean(-1, keepdims=True)).sum()
    if not total > 0:
        return float("nan")
    count = np.maximum(np.bincount(group), 1)
    means = [np.bincount(group, head) / count for head in values]
    rest = sum(np.square(head - mean[group]).sum() for head, mean in zip(values, means, strict=True))
    return float(1 - rest / total)
