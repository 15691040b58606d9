"""Where positions come from: rows nobody trained, tables too short, a sign that is lost, phases that are off."""

import math

import numpy as np
import torch
from torch import Tensor

from relxl.canonical import LearnedPositions
from relxl.doctor.case import MOST_ROWS, Case
from relxl.doctor.finding import Finding, Kind
from relxl.trace import Trace

INITIAL_STD = 0.02  # of the article's table, and of r_emb under the authors' weights_init
BLOCK = 16  # rows that are judged together: 256 numbers of a table of 16 dimensions
EDGE = 3  # rows by which a block may reach over the end of its run
SURE = 5.0  # standard errors; never-trained blocks of the bundled tables lie within 3, no trained one within 9
ALIKE = 0.4  # mean |cosine| of neighbouring rows: noise of 16 dimensions 0.20, trained rows 0.45 to 0.95
MIRRORED = 1e-6  # relative difference of R(d) and R(-d) below which they are one
MIRROR_REACH = 16
PHASE = 0.05  # bug log B40: an error of a sine that shows
FULL_PRECISION = 1e4  # distance at which float32 frequencies are still good: theirs passes 0.05 beyond 800,000
NO_TERM = 1e-3  # share of a layer's score; the least of the bundled models is 0.30, of the fixtures 0.07
SHOWN = 6

UNTRAINED = Kind(
    "positions.untrained",
    "error",
    "The rows of L{layer} for the distances {first} to {last} were never trained, but the text uses {used} of them.",
    "Read no further than the model was trained to: a shorter segment or memory, a clamp, or an interpolated table.",
    "jason9693/MusicTransformer-pytorch",
    "max_len",
)
UNTRAINED_UNUSED = Kind(
    "positions.untrained",
    "note",
    "The rows of L{layer} for the distances {first} to {last} were never trained; nothing reads them up to "
    "{reach} tokens.",
    "Keep segment and memory within the training length.",
    "jason9693/MusicTransformer-pytorch",
    "max_len",
)
SHORT = Kind(
    "positions.short",
    "warning",
    "The table has rows for the distances {first} to {last}, but {near} to {far} are visible: {cells} of them share "
    "its outermost rows.",
    "Give a shorter text, or recompute or interpolate the table; code that slices it fails, or reads its other end.",
    "ASLP-lab/OSUM#7",
    "max_len",
)
BEYOND = Kind(
    "positions.beyond_training",
    "warning",
    "The text uses distances up to {far}, but segment {tgt_len} and memory {mem_len} gave at most {trained} in "
    "training, and no clamp is in force.",
    "Set clamp_len to the training reach, as the authors' evaluation scripts do.",
    "keitakurita/Practical_NLP_in_PyTorch#17",
    "max_len",
)
CLAMPED = Kind(
    "positions.clamped",
    "note",
    "Distances beyond {clamp_len} share one row: {share:.0%} of the visible cells.",
    "Compare with the clamp_len of the training; the model cannot tell these distances apart.",
    "kimiyoung/transformer-xl",
    "max_len",
)
PLATEAU = Kind(
    "positions.plateau",
    "warning",
    "The rows of L{layer} for the distances {first} to {last} are one and the same.",
    "A clamp was baked into the table, or it was padded with its last row: these distances cannot be told apart.",
    "kimiyoung/transformer-xl",
    "max_len",
)
SIGN_LOST = Kind(
    "positions.mirrored",
    "error",
    "Rows +d and -d are identical in L{layer} (largest difference {difference:.1g}): the heads cannot tell left from "
    "right.",
    "Fill the negative half of the table with sin(-p), not sin(p).",
    "speechbrain/speechbrain#3070",
    "shift",
)
SIGN_LOST_BY_DESIGN = Kind(
    "positions.mirrored",
    "note",
    "Rows +d and -d are identical in L{layer}: {family} computes them so, and its heads cannot tell left from right.",
    "Keep it so for these weights; a table with the sign put right would not fit them.",
    "speechbrain/speechbrain#3070",
    "shift",
)
FREQUENCIES = Kind(
    "positions.half_precision",
    "error",
    "The frequencies in {tensor} are off by up to {error:.2g}: the sinusoid is wrong by 0.05 from distance {where} on.",
    "Compute frequencies and phases in float32 whatever the model's dtype, and do not save them in half precision.",
    "vllm-project/vllm#54620",
    "max_len",
)
DEAD = Kind(
    "positions.dead",
    "warning",
    "Positions make {share:.2g} of the scores of L{layer}: its attention is blind to order.",
    "Look whether W_kR was loaded, and whether the position term reaches the scores and is not turned into a mask.",
    "huggingface/transformers#48843",
    "score_terms",
)


def visible_distances(trace: Trace) -> tuple[int, int]:
    """Give the smallest and the largest distance of a cell that a query may attend to."""
    rule, far = trace.rule, trace.key_len - 1
    if rule.sees == "both":
        return 1 - trace.query_len, far
    return 0, far if rule.window is None else min(far, rule.window - 1)


def tables(case: Case) -> list[tuple[int, Tensor, int]]:
    """List layer, learned table [row d_pos] as it was trained, and the distance of its first row."""
    raw = [value for name, value in case.checkpoint.weights.tensors.items() if name.endswith("pos_enc.pos_table")]
    learned = [attn.positions for attn in case.attentions if isinstance(attn.positions, LearnedPositions)]
    if case.own and case.attentions and learned:
        raw = [layer.attn.pos_enc.pos_table for layer in case.checkpoint.model.layers if hasattr(layer.attn, "pos_enc")]
    if len(raw) == len(learned):
        return [(layer, value, 1 - (len(value) + 1) // 2) for layer, value in enumerate(raw)]
    return [(layer, its.rows.transpose(0, 1).flatten(1), its.first) for layer, its in enumerate(learned)]


def untrained_rows(table: Tensor) -> Tensor:
    """Mark the rows that look as drawn, or are exactly 0: [row] bool. Blocks of BLOCK rows are judged together."""
    table = table.float()
    drawn = (table == 0).all(-1)
    if len(table) < BLOCK:
        return drawn
    size = table.square().mean(-1)
    blocks = size.unfold(0, BLOCK, 1).mean(-1).sqrt()
    cosine = torch.cosine_similarity(table[1:], table[:-1], dim=-1).abs()
    alike = cosine.unfold(0, BLOCK - 1, 1).mean(-1)
    error = INITIAL_STD / math.sqrt(2 * BLOCK * table.shape[1])
    noise = ((blocks - INITIAL_STD).abs() < SURE * error) & (alike < ALIKE)
    inside = torch.zeros(len(table), dtype=torch.bool)
    for start in noise.nonzero().flatten().tolist():
        inside[start : start + BLOCK] = True
    return drawn | eroded(inside, EDGE)


def eroded(rows: Tensor, edge: int) -> Tensor:
    """Shorten every run of marked rows at both ends, but not at the ends of the table, for blocks overlap their end."""
    kept = rows.clone()
    for shift in range(1, edge + 1):
        kept[shift:] &= rows[:-shift]
        kept[:-shift] &= rows[shift:]
    return kept


def check_untrained(case: Case) -> list[Finding]:
    """Find table rows that were never trained. Cannot see: rows that got a gradient once or twice."""
    counts = case.checkpoint.training.get("row_gradient_counts")
    near, far = (0, 0) if case.trace is None else visible_distances(case.trace)
    found = []
    for layer, table, first in tables(case):
        drawn = untrained_rows(table)
        if isinstance(counts, list) and len(counts) > layer and len(counts[layer]) == len(table):
            drawn = drawn | (torch.tensor(counts[layer]) == 0)
        distances = (drawn.nonzero().flatten() + first).tolist()
        if case.causal:
            distances = [d for d in distances if d >= 0]
        if not distances:
            continue
        used = [d for d in distances if near <= d <= far] if case.trace is not None else []
        ends = {"first": distances[0], "last": distances[-1]}
        evidence = {"rows": len(distances), "used": used[:SHOWN]}
        if used:
            found.append(UNTRAINED.at(layer, tensor="pos_table", used=len(used), evidence=evidence, **ends))
        else:
            reach = case.checkpoint.config.segment_len + case.checkpoint.config.mem_len
            found.append(UNTRAINED_UNUSED.at(layer, tensor="pos_table", evidence=evidence, reach=reach, **ends))
    return found


def check_reach(case: Case) -> list[Finding]:
    """Find distances that the table or the training does not have. Cannot see: a training length nobody recorded."""
    trace, found = case.trace, []
    if not case.attentions:
        return []
    near, far = visible_distances(trace)
    positions, clamp_len = case.attentions[0].positions, trace.clamp_len
    if clamp_len is not None:
        if far > clamp_len or -near > clamp_len:
            found.append(clamped(trace, clamp_len))
        near, far = max(near, -clamp_len), min(far, clamp_len)
    if isinstance(positions, LearnedPositions) and not positions.first <= near <= far <= positions.last:
        beyond = max(positions.first - near, 0) + max(far - positions.last, 0)
        ends = {"first": positions.first, "last": positions.last, "near": near, "far": far}
        found.append(SHORT.at(cells=beyond, evidence=ends | {"needed_rows": far - near + 1}, **ends))
    tgt_len, mem_len = case.told("tgt_len"), case.told("mem_len")
    if clamp_len is None and tgt_len is not None and mem_len is not None:
        trained = tgt_len + mem_len - 1
        if far > trained:
            lengths = {"far": far, "tgt_len": tgt_len, "mem_len": mem_len, "trained": trained}
            found.append(BEYOND.at(evidence=lengths, **lengths))
    return found


def clamped(trace: Trace, clamp_len: int) -> Finding:
    row = np.arange(trace.query_len)[:, None]
    distance = trace.mem_len + row - np.arange(trace.key_len)
    visible = trace.rule.allowed(trace.query_len, trace.key_len, trace.mem_len).numpy()
    share = float((np.abs(distance) > clamp_len)[visible].mean())
    return CLAMPED.at(clamp_len=clamp_len, share=share, evidence={"share": share, "longest": trace.key_len - 1})


def check_mirrored(case: Case) -> list[Finding]:
    """Compare R(+d) with R(-d) where both are visible. Cannot see: a sign that is wrong and not lost."""
    if case.causal:
        return []
    found, family = [], case.checkpoint.opened.family.name
    for layer, attn in enumerate(case.attentions):
        reach = MIRROR_REACH
        if isinstance(attn.positions, LearnedPositions):
            reach = min(reach, attn.positions.last, -attn.positions.first)
        distance = torch.arange(1, reach + 1, device=attn.u.device)
        if reach < 1:
            continue
        ahead, behind = attn.positions.table(-distance), attn.positions.table(distance)
        size = float(behind.abs().max())
        difference = float((ahead - behind).abs().max())
        if not size > 0 or difference > MIRRORED * size:
            continue
        by_design = family == "speechbrain"
        kind = SIGN_LOST_BY_DESIGN if by_design else SIGN_LOST
        found.append(kind.at(layer, difference=difference, family=family, evidence={"distances": reach, "size": size}))
    return found[:1] if found and found[0].severity == "note" else found


def check_plateau(case: Case) -> list[Finding]:
    """Find runs of identical rows at the end of a learned table. Cannot see: a plateau of a clamp in the code."""
    found = []
    for layer, table, first in tables(case):
        same = (table[1:] == table[:-1]).all(-1) & table[1:].any(-1)
        run = int(same.flip(0).cumprod(0).sum())
        if run >= 3:
            last = first + len(table) - 1
            found.append(PLATEAU.at(layer, first=last - run, last=last, evidence={"rows": run + 1}, tensor="pos_table"))
    return found


def check_frequencies(case: Case) -> list[Finding]:
    """Hold stored frequencies to 10000^(-2k/d). Cannot see: phases that the training code rounds while it runs."""
    found = []
    for name, value in case.checkpoint.weights.tensors.items():
        if not name.endswith("inv_freq") or value.dim() != 1 or not len(value):
            continue
        wanted = 10000.0 ** (-torch.arange(len(value), dtype=torch.float64) / len(value))
        error = float((value.double() - wanted).abs().max())
        where = math.inf if error == 0 else PHASE / error
        if where < FULL_PRECISION:
            half = value.dtype in (torch.float16, torch.bfloat16)
            evidence = {"largest_error": error, "dtype": str(value.dtype).removeprefix("torch.")}
            severity = "warning" if half else None
            found.append(
                FREQUENCIES.at(tensor=name, error=error, where=int(where), evidence=evidence, severity=severity)
            )
    return found


def check_dead(case: Case) -> list[Finding]:
    """Find layers whose positions play no part. Cannot see: positions that play a part and the wrong one."""
    found = []
    for layer in range(len(case.attentions)):
        rows = min(case.trace.query_len, MOST_ROWS)
        split = case.trace.terms(layer, queries=rows)
        mask = np.broadcast_to(split.mask, split.logits.shape)
        position = spread(split.terms["content_position"] + split.terms["v_bias"], mask)
        total = position + spread(split.terms["content"] + split.terms["u_bias"], mask)
        share = position / total if total > 0 else math.nan
        if share < NO_TERM:
            found.append(DEAD.at(layer, share=share, evidence={"position": position, "both": total}))
    return found


def spread(scores: np.ndarray, mask: np.ndarray) -> float:
    """Give the standard deviation of scores around the mean of their row, over visible cells."""
    count = np.maximum(mask.sum(-1, keepdims=True), 1)
    visible = np.where(mask, scores.astype(np.float64), 0)
    centred = np.where(mask, visible - visible.sum(-1, keepdims=True) / count, 0)
    return float(np.sqrt(np.square(centred).sum() / max(mask.sum(), 1)))
