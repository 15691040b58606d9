"""What a checkpoint says without any input: v_bias over distance, what each cell reads, what is shared, a query's bias.

Everything follows from the weights and from the answers that the file leaves open, so two answers can be held side by
side before a single token is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from relxl.checkpoint import Checkpoint
from relxl.families import BY_NAME, FamilyError, Opened, open_tensors
from relxl.positions import clamp_distance, project_positions

LONGEST = 2048  # distances that a curve is drawn for
USUAL = 128  # where nothing says how far a model looks
SMALL = 8  # queries of the map that says what each cell reads
SMALL_MEMORY = 4  # of a map for a setting that needs a memory
CLAMPS = (64, 128)  # what a model may have been trained or tested with, where nobody says it
TOLD = ("file", "chosen")


def position_keys(attn, distance: Tensor, clamp_len: int | None = None) -> Tensor | None:
    """Give p_d for any relative attention: [distance] -> [head distance d_head]; None for absolute positions."""
    if hasattr(attn, "positions"):
        return attn.positions.table(distance, clamp_len)
    if not hasattr(attn, "pos_enc"):
        return None
    rows = attn.pos_enc.rows(distance, clamp_len).to(attn.w_k_pos.dtype)
    return project_positions(rows, attn.w_k_pos)


@torch.no_grad()
def v_bias_curves(attn, distance: Tensor, clamp_len: int | None = None, v: Tensor | None = None) -> np.ndarray | None:
    """Compute v_bias = scale * v . p_d of every head: [distance] -> [head distance]; None for absolute positions.

    `v` [head d_head] replaces the layer's own. A family that learns the curve itself has no v; then `v` adds to it.
    """
    keys = position_keys(attn, distance, clamp_len)
    if keys is None:
        return None
    learned = attn.positions.curve(distance, clamp_len) if hasattr(attn, "positions") else None
    v = attn.v if v is None else v
    curve = 0 if v is None else (v[:, None] @ keys.mT).squeeze(-2)
    curve = curve if learned is None else curve + learned
    return (curve * attn.scale).detach().cpu().float().numpy()


@dataclass(frozen=True)
class Reach:
    """Say for which distances a curve is drawn, and what is marked on it; None for a mark that nobody knows."""

    low: int
    high: int
    trained: int | None  # the largest distance that training had
    clamp: int | None  # the largest distance that clamp_len tells apart
    table: int | None  # the largest distance of a learned table

    @property
    def distances(self) -> Tensor:
        return torch.arange(self.low, self.high + 1)


def reach(opened: Opened) -> Reach:
    """Find how far the model of a checkpoint looks: one side for a language model, both for an encoder."""
    model, config = opened.model, opened.model.config
    told = {setting.ask.name for setting in opened.settings if setting.origin in TOLD}
    known = opened.family.name == "relxl" or {"tgt_len", "mem_len"} <= told
    trained = config.segment_len + config.mem_len - 1 if known else None
    table = config.max_len - 1 if config.positions == "learned" else None
    marks = [mark for mark in (trained, config.clamp_len, table) if mark is not None]
    high = min(round(1.15 * max(marks, default=USUAL)), LONGEST)
    positions = getattr(model.layers[0].attn, "positions", None)
    if not getattr(positions, "clamps", True):  # a table that ends
        high = min(high, positions.last)
    high = max(high, 1)
    low = -high if model.rule_at(0).sees == "both" else 0
    return Reach(low, high, trained, config.clamp_len, table)


# What a file leaves open -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reads:
    """Say of each cell (query, key) which query row and which distance it reads, and whether it is seen.

    A cell that reads no position has row -1. `right` marks cells that read their own row at their own distance,
    before a clamp or a mirror made it another.
    """

    row: np.ndarray  # [query key] int
    distance: np.ndarray  # [query key] int, tokens, after clamp and mirror
    mask: np.ndarray  # [query key] bool
    right: np.ndarray  # [query key] bool


@dataclass(frozen=True)
class Answer:
    """Hold what one answer to an open question gives for a head, or the sentence that refuses it."""

    changes: dict[str, object]  # what was answered
    is_now: bool
    curve: np.ndarray | None = None  # [distance], NaN where a diagonal does not read one row alone
    reads: Reads | None = None
    sizes: tuple[float, float] | None = None  # of the head's W_q and W_k, the norm's weight in them
    refused: str = ""


def open_questions(opened: Opened) -> list[str]:
    """Name the questions that the file leaves open and whose answer changes a score, the family's first."""
    assumed = {setting.ask.name for setting in opened.settings if setting.origin == "assumed"}
    return [name for name in SCORE_SETTINGS if name in assumed]


SCORE_SETTINGS = (
    "family",
    "rel_pos_type",
    "attn_type",
    "causal",
    "cross",
    "clamp_len",
    "same_length",
    "bi_data",
    "zero_triu",
    "pre_lnorm",
)


def possible(opened: Opened, name: str) -> list[dict[str, object]]:
    """Give the answers to hold side by side: each a dict of settings."""
    if name == "family":
        found = []
        for family in opened.match.families:
            kinds = [ask for ask in family.asks if ask.name == "rel_pos_type"]
            found += [{"family": family.name, ask.name: kind} for ask in kinds for kind in ask.options]
            found += [] if kinds else [{"family": family.name}]
        return found
    setting = next(setting for setting in opened.settings if setting.ask.name == name)
    if name == "clamp_len":
        config = opened.model.config
        clamps = CLAMPS if config.positions == "sinusoid" else (max(config.max_len // 2, 1),)
        return [{name: value} for value in dict.fromkeys((-1, setting.value, *clamps))]
    more = {"mem_len": SMALL_MEMORY} if name == "same_length" else {}
    return [{name: value} | more for value in setting.ask.options or (False, True)]


def reopen(checkpoint: Checkpoint, changes: Mapping[str, object]) -> Opened:
    """Open the same tensors with other answers. Raises FamilyError where they do not fit."""
    opened = checkpoint.opened
    family = BY_NAME[str(changes.get("family", opened.family.name))]
    told = {setting.ask.name: setting.value for setting in opened.settings if setting.origin in TOLD}
    asked = {ask.name for ask in family.asks}
    chosen = {name: value for name, value in (told | dict(changes)).items() if name in asked} | {"family": family.name}
    return open_tensors(checkpoint.weights.tensors, checkpoint.weights.config, chosen, checkpoint.model.dtype)


def answers(checkpoint: Checkpoint, name: str, layer: int, head: int, distance: Tensor) -> list[Answer]:
    """Answer one open question in every way: for a head, v_bias over `distance` [distance] and what cells read."""
    mem_len = SMALL_MEMORY if name == "same_length" else 0
    found = []
    for changes in possible(checkpoint.opened, name):
        is_now = is_current(checkpoint.opened, name, changes)
        try:
            opened = reopen(checkpoint, changes)
        except FamilyError as error:
            found.append(Answer(changes, is_now, refused=str(error)))
            continue
        attn, flip = opened.model.layers[layer].attn, bool(changes.get("bi_data"))
        reads = cell_reads(opened, layer, SMALL, mem_len, flip)
        curve = diagonal_curve(opened, layer, head, distance, flip)
        found.append(Answer(changes, is_now, curve, reads, head_sizes(attn, head)))
    return found


def is_current(opened: Opened, name: str, changes: Mapping[str, object]) -> bool:
    now = {setting.ask.name: setting.value for setting in opened.settings}
    ours = [name, "rel_pos_type"] if name == "family" else [name]
    return all(now.get(key) == changes[key] for key in ours if key in changes)


def cell_reads(opened: Opened, layer: int, query_len: int, mem_len: int = 0, flip: bool = False) -> Reads:
    """Map what each cell of a small score reads and sees; `flip` is the second half of a batch under bi_data."""
    model, key_len = opened.model, mem_len + query_len
    attn = model.layers[layer].attn
    pairs = attn.pairs(query_len, key_len, mem_len)
    place = torch.arange(query_len)[:, None]
    right = (pairs.query_row == place) & (pairs.distance == mem_len + place - torch.arange(key_len))
    distance = effective(attn, -pairs.distance if flip else pairs.distance, model.config.clamp_len)
    mask = model.rule_at(mem_len).allowed(query_len, key_len, mem_len)
    return Reads(*(part.numpy() for part in (pairs.query_row, distance, mask, right)))


def effective(attn, distance: Tensor, clamp_len: int | None) -> Tensor:
    """Say which distance is really told: behind the clamp, the end of the table, without the sign if it is lost."""
    distance = clamp_distance(distance, clamp_len)
    if getattr(attn.positions, "mirrored", False):
        return distance.abs()
    if hasattr(attn.positions, "last"):
        return distance.clamp(attn.positions.first, attn.positions.last)
    return distance


def diagonal_curve(opened: Opened, layer: int, head: int, distance: Tensor, flip: bool = False) -> np.ndarray:
    """Give v_bias of a head as its cells read it: [distance], NaN where the cells of a diagonal read different rows.

    The cells are those of a score of as many tokens as the distances need.
    """
    attn, clamp_len = opened.model.layers[layer].attn, opened.model.config.clamp_len
    size = int(distance.abs().max()) + 1
    if attn.legacy_len is None and not attn.zero_future:
        return v_bias_curves(attn, -distance if flip else distance, clamp_len)[head]
    pairs, place = attn.pairs(size, size, 0), torch.arange(size)
    own, shift = pairs.query_row == place[:, None], pairs.distance - (place[:, None] - place)
    lines = [(own.diagonal(-int(d)), shift.diagonal(-int(d))) for d in distance]
    single = torch.tensor([bool(mine.all() and (line == line[0]).all()) for mine, line in lines])
    read = distance + torch.stack([line[0] for _mine, line in lines]).where(single, 0)
    return np.where(single.numpy(), v_bias_curves(attn, read, clamp_len)[head], np.float32(np.nan))


def head_sizes(attn, head: int) -> tuple[float, float]:
    """Give the Frobenius norms of a head's W_q and W_k, the weight of a norm before them multiplied in."""
    gain = 1 if attn.norm is None else attn.norm.weight
    d_head = attn.u.shape[1]
    rows = slice(head * d_head, (head + 1) * d_head)
    return tuple(float((linear.weight[rows].double() * gain).norm()) for linear in (attn.w_q, attn.w_k))


# What is shared, and a bias on the query ------------------------------------------------------------------------------


def same(tensors: Sequence[Tensor]) -> str:
    """Tell whether tensors are "one" in memory, "equal" in every number (NaN included), or "apart"."""
    first, *rest = tensors
    if any(first.shape != other.shape for other in rest):
        return "apart"
    if all(first.data_ptr() == other.data_ptr() for other in rest):
        return "one"
    if all(torch.equal(first, other) for other in rest):
        return "equal"
    odd = first.isnan()
    alike = odd.any() and all(bool(((first == other) | (odd & other.isnan())).all()) for other in rest)
    return "equal" if alike else "apart"


def shared_biases(model) -> dict[str, str]:
    """Tell for u and v whether all layers have the same; {} for absolute positions, no "v" where v_bias is a curve."""
    attns = [layer.attn for layer in model.layers]
    if not hasattr(attns[0], "u"):
        return {}
    names = ["u"] if attns[0].v is None else ["u", "v"]
    return {name: same([getattr(attn, name) for attn in attns]) for name in names}


def shared_embedding(model) -> str | None:
    """Tell whether output and input embedding are the same matrix; None for a model that lacks one of them."""
    if hasattr(model, "softmax") and model.softmax is not None:
        tables, weights = model.embedding.tables, model.softmax.weights
        if len(weights) > len(tables):  # one table, cut into clusters
            one = weights[0].data_ptr() == tables[0].data_ptr()
            return "one" if one else same([tables[0], torch.cat(weights)])
        kinds = {same(pair) for pair in zip(tables, weights, strict=True)}
        return next(kind for kind in ("apart", "equal", "one") if kind in kinds)
    if not hasattr(model, "word_emb"):
        return None
    return same([model.word_emb, model.output.weight]) if hasattr(model, "output") else "one"


def query_bias(attn) -> Tensor | None:
    """Give the bias of the query projection: [head d_head], or None without one or without u."""
    if not hasattr(attn, "u") or attn.w_q.bias is None:
        return None
    return attn.w_q.bias.detach().unflatten(0, (attn.n_heads, -1))


def gauge(attn) -> dict[str, np.ndarray] | None:
    """Measure the bias on the query beside u and v, [head] each; None where there is no bias.

    (q + b + u) . k + (q + b + v) . p: in every cell b does what an addition to both u and v would do.
    """
    bias = query_bias(attn)
    if bias is None:
        return None
    u, v = attn.u.detach(), None if attn.v is None else attn.v.detach()
    parts = {"u": u, "b_q": bias, "u + b_q": u + bias}
    parts |= {} if v is None else {"v": v, "v + b_q": v + bias}
    return {name: part.double().norm(dim=-1).cpu().numpy() for name, part in parts.items()}


def folded_curves(attn, distance: Tensor, clamp_len: int | None = None) -> np.ndarray | None:
    """Compute v_bias as the paper counts it, the query's bias folded in: [distance] -> [head distance]."""
    bias = query_bias(attn)
    if bias is None:
        return None
    return v_bias_curves(attn, distance, clamp_len, bias if attn.v is None else attn.v.detach() + bias)
