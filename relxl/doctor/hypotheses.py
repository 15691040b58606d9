"""What may differ between two runs of the same weights: each hypothesis is the model as it would then be.

A hypothesis is tried by running the changed model and comparing what it gives (`reference.py`, `loss.py`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace

import torch
from torch import Tensor

from relxl.canonical import CanonicalModel, LearnedPositions, Linear, RelativeAttention, SinusoidPositions
from relxl.checkpoint import Checkpoint
from relxl.doctor.canon import OwnModel, with_attention
from relxl.families import FamilyError, open_tensors
from relxl.families.txl_official import TransformerXLModel
from relxl.masking import FAULTS, RIGHT_RULE
from relxl.reading import Reading, reread_canonical
from relxl.relative import PairMap, RelativePairs, relative_pairs
from relxl.shift import SHIFTS, pair_map

EVERY_CLAMP = 32  # clamp lengths up to it are all tried, then powers of two and the lengths of the config

GROUPS = {  # group -> (what to do, who met it)
    "swapped_biases": (
        "r_w_bias and pos_bias_u are u, they go with content; r_r_bias and pos_bias_v are v.",
        "kimiyoung/transformer-xl#46",
    ),
    "scale": ("Divide by sqrt(d_head), not sqrt(d_model), and do so once.", "sooftware/conformer#55"),
    "biases_unscaled": (
        "Scale the biases with the query, or do not: as the training code did.",
        "google-deepmind/deepmind-research",
    ),
    "shift": ("Put the shift and its table right: cell (i, j) reads distance memory + i - j.", "espnet/espnet#2684"),
    "memory_offset": (
        "Count distances from the first key of the memory: memory + i - j.",
        "lucidrains/x-transformers#103",
    ),
    "direction": ("Count distances as i - j: positive is the past.", "kimiyoung/transformer-xl#111"),
    "layout": (
        "Keep sines and cosines as the training had them: in two halves, or interleaved.",
        "huggingface/transformers#25985",
    ),
    "clamp": ("Set clamp_len to that of the run.", "keitakurita/Practical_NLP_in_PyTorch#17"),
    "setting": ("Give this answer by --choose when you open the file.", "espnet/espnet#3068"),
    "transposed": ("Transpose kernels that come from TensorFlow or Flax; a square one fits either way.", ""),
    "mask": ("Compare the masks cell by cell.", "huggingface/transformers#48818"),
    "window": ("Agree on same_length: mem_len keys, or mem_len + 1.", "kimiyoung/transformer-xl#86"),
    "mirrored": (
        "Fill the negative half of the table with sin(-p), or read R(|d|) as the run did.",
        "speechbrain/speechbrain#3070",
    ),
    "tied_biases": ("Load every layer's own u and v.", "huggingface/transformers#200"),
    "lost_biases": ("Load u and v: strict=False hides that they are missing.", "facebookresearch/fairseq#4622"),
    "lost_positions": (
        "Let the position term reach the scores; a mask that is made bool loses it.",
        "huggingface/transformers#48843",
    ),
    "input_scale": ("Multiply the embedding by sqrt(d_model) once.", "kimiyoung/transformer-xl"),
    "memory": (
        "Carry the memory from segment to segment, as long as it was in training.",
        "huggingface/transformers#4459",
    ),
}
LOCAL = {
    "swapped_biases",
    "direction",
    "transposed",
    "lost_biases",
    "lost_positions",
    "layout",
    "scale",
}  # may be one layer's


@dataclass(frozen=True)
class Hypothesis:
    """Hold one way in which a model may differ, and the model that differs so."""

    group: str
    words: str
    model: CanonicalModel
    change: Callable[[RelativeAttention], RelativeAttention] | None = None  # of one layer, where it is one


@dataclass(frozen=True)
class Mapped(RelativeAttention):
    """Hold an attention whose cells are read by one of `shift.SHIFTS` and not by the right map."""

    shift: str = "exact"

    def pairs(
        self, query_len: int, key_len: int, mem_len: int, device: torch.device | str | None = None
    ) -> PairMap | RelativePairs:
        if key_len != query_len + mem_len:
            return relative_pairs(query_len, key_len, mem_len, device)
        its = pair_map(self.shift, query_len, mem_len)
        return PairMap(*(part.to(device) for part in (its.query_row, its.distance, its.distances)))


def remapped(attn: RelativeAttention, shift: str) -> Mapped:
    return Mapped(**{field.name: getattr(attn, field.name) for field in fields(RelativeAttention)}, shift=shift)


def hypotheses(checkpoint: Checkpoint, model: CanonicalModel, query_len: int, key_len: int) -> Iterator[Hypothesis]:
    """Give every model that this one may have been meant to be, the simplest first."""
    yield from other_settings(checkpoint)  # first: of two that explain the same, this one can be answered
    for group, words, change in attention_changes(model, query_len, key_len):
        yield Hypothesis(group, words, with_attention(model, change), change)
    first = model.layers[0].attn
    if len(model.layers) > 1 and first.v is not None:
        tie = lambda attn: replace(attn, u=first.u, v=first.v)  # noqa: E731
        yield Hypothesis("tied_biases", "the u and v of L0 in every layer", with_attention(model, tie))
    yield from config_changes(model, key_len)
    yield from rule_changes(model)
    for factor, words in (
        (model.config.d_model**-0.5, "without sqrt(d_model)"),
        (model.config.d_model**0.5, "with sqrt(d_model) twice"),
    ):
        scaled = scaled_input(model, factor)
        if scaled is not None:
            yield Hypothesis("input_scale", f"the embedding {words}", scaled)


def attention_changes(
    model: CanonicalModel, query_len: int, key_len: int
) -> Iterator[tuple[str, str, Callable[[RelativeAttention], RelativeAttention]]]:
    """Give what may be different in an attention, in all layers or in one."""
    attn = model.layers[0].attn
    root = attn.n_heads**0.5
    if attn.v is not None:
        yield "swapped_biases", "u and v swapped", lambda a: replace(a, u=a.v, v=a.u)
        yield "biases_unscaled", "u and v left unscaled", lambda a: replace(a, u=a.u / a.scale, v=a.v / a.scale)
    yield "scale", "the scale 1/sqrt(d_model)", lambda a: replace(a, scale=a.scale / root)
    yield "scale", "a scale larger by sqrt(n_head)", lambda a: replace(a, scale=a.scale * root)
    yield "scale", "no scale at all", lambda a: replace(a, scale=1.0)
    yield "scale", "the scale applied twice", lambda a: replace(a, scale=a.scale**2)
    if not isinstance(attn.positions, LearnedPositions) or attn.positions.first < 0:
        yield "direction", "distances counted the other way, j - i", flipped
    if isinstance(attn.positions, SinusoidPositions):
        yield "layout", "sines and cosines in halves that were taken for interleaved", interleaved
        yield "layout", "sines and cosines interleaved that were taken for halves", halved
        yield "mirrored", "the sign of the distance " + ("kept" if attn.positions.mirrored else "lost"), mirrored
    yield from shift_changes(attn, query_len, key_len)
    for name, words in (("w_q", "query"), ("w_k", "key"), ("w_v", "value"), ("out_proj", "output")):
        square = getattr(attn, name).weight
        if square.shape[0] == square.shape[1]:
            yield "transposed", f"the {words} projection transposed", lambda a, name=name: transposed(a, name)
    if (
        isinstance(attn.positions, SinusoidPositions)
        and attn.n_heads * attn.u.shape[1] == attn.positions.w_k_pos.shape[1]
    ):
        yield "transposed", "W_kR transposed", transposed_positions
    yield (
        "lost_biases",
        "u and v of zeros",
        lambda a: replace(a, u=torch.zeros_like(a.u), v=None if a.v is None else torch.zeros_like(a.v)),
    )
    yield "lost_positions", "no position term", without_positions


def shift_changes(
    attn: RelativeAttention, query_len: int, key_len: int
) -> Iterator[tuple[str, str, Callable[[RelativeAttention], RelativeAttention]]]:
    """Give the shifts of public code that differ from the model's own at these sizes."""
    mem_len = key_len - query_len
    own = attn.pairs(query_len, key_len, mem_len)
    for name, shift in SHIFTS.items():
        its = pair_map(name, query_len, mem_len)
        if torch.equal(its.query_row, own.query_row) and torch.equal(its.distance, own.distance):
            continue
        group = "memory_offset" if name == "memory_forgotten" else "shift"
        words = f"the shift `{name}` of {shift.source}"
        if group == "memory_offset":
            words = "distances that forget the memory, i - j"
        elif name == "exact":
            words = "the right shift, memory + i - j"
        yield group, words, lambda a, name=name: remapped(a, name)


def config_changes(model: CanonicalModel, key_len: int) -> Iterator[Hypothesis]:
    config = model.config
    known = {config.mem_len, config.segment_len, config.mem_len + config.segment_len, 1 << (key_len.bit_length() - 1)}
    clamps = {*range(min(EVERY_CLAMP, key_len)), *known, *(2**i for i in range(5, key_len.bit_length()))} - {0}
    for clamp_len in [None, *sorted(clamp for clamp in clamps if clamp < key_len)]:
        if clamp_len != config.clamp_len:
            words = "no clamp" if clamp_len is None else f"distances clamped at {clamp_len}"
            yield Hypothesis("clamp", words, replace(model, config=replace(config, clamp_len=clamp_len)))
    if config.n_token:
        for mem_len in sorted({0, config.segment_len, 2 * config.segment_len} - {config.mem_len}):
            yield Hypothesis(
                "memory", f"a memory of {mem_len}", replace(model, config=replace(config, mem_len=mem_len))
            )


def rule_changes(model: CanonicalModel) -> Iterator[Hypothesis]:
    rule = model.rule
    if rule.fault != "none" or rule.order != "after" or (rule.fill != RIGHT_RULE.fill and rule.sees == "past"):
        right = replace(rule, fault="none", order="after", fill=RIGHT_RULE.fill)
        yield Hypothesis("mask", "the right mask, -inf after the sum", replace(model, rule=right))
    sides = {"past": "both", "both": "past"}[rule.sees]
    words = "a mask that shows both sides" if sides == "both" else "a causal mask"
    yield Hypothesis("mask", words, replace(model, rule=replace(rule, sees=sides)))
    if rule.sees == "past":
        for fault in FAULTS[1:]:
            if fault != "window_short" or rule.window is not None:
                yield Hypothesis("mask", f"the mask fault {fault}", replace(model, rule=replace(rule, fault=fault)))
        for order in ("before", "before_shift"):
            its = replace(rule, order=order, fill="multiply" if order == "before" else rule.fill)
            yield Hypothesis(
                "mask",
                f"a mask laid {'before the sum' if order == 'before' else 'before the shift'}",
                replace(model, rule=its),
            )
        mem_len, segment = model.config.mem_len, model.config.segment_len
        windows = {mem_len, mem_len + 1, segment, segment + 1} | (
            {rule.window - 1, rule.window + 1} if rule.window else set()
        )
        for window in [None, *sorted(window for window in windows if window > 0)]:
            if window != rule.window:
                words = "no window" if window is None else f"a window of {window} keys"
                yield Hypothesis("window", words, replace(model, rule=replace(rule, window=window)))


def other_settings(checkpoint: Checkpoint) -> Iterator[Hypothesis]:
    """Give the file as it reads with another answer to one of its family's questions."""
    settings = checkpoint.opened.settings
    told = {setting.ask.name: setting.value for setting in settings if setting.origin != "assumed"}
    for setting in settings:
        boolean = isinstance(setting.ask.default, bool)
        for other in [not setting.value] if boolean else [o for o in setting.ask.options if o != setting.value]:
            try:
                its = open_tensors(
                    checkpoint.weights.tensors, checkpoint.weights.config, told | {setting.ask.name: other}
                )
            except FamilyError:
                continue
            yield Hypothesis("setting", f"{setting.ask.name}={other}", its.model)


# What is done to one attention ----------------------------------------------------------------------------------------


def flipped(attn: RelativeAttention) -> RelativeAttention:
    return replace(attn, positions=reread_canonical(attn.positions, Reading(flip=True)))


def mirrored(attn: RelativeAttention) -> RelativeAttention:
    return replace(attn, positions=replace(attn.positions, mirrored=not attn.positions.mirrored))


def interleaved(attn: RelativeAttention) -> RelativeAttention:
    """Read rows that were meant sine, cosine, sine, cosine and stand as they are: now sines first."""
    w = attn.positions.w_k_pos
    return replace(attn, positions=replace(attn.positions, w_k_pos=torch.cat([w[:, 0::2], w[:, 1::2]], dim=1)))


def halved(attn: RelativeAttention) -> RelativeAttention:
    """Undo `interleaved`, for rows that were put in order and need not have been."""
    w = attn.positions.w_k_pos
    pairs = torch.stack(w.unflatten(1, (2, -1)).unbind(1), dim=2).flatten(1, 2)
    return replace(attn, positions=replace(attn.positions, w_k_pos=pairs))


def transposed(attn: RelativeAttention, name: str) -> RelativeAttention:
    linear = getattr(attn, name)
    return replace(attn, **{name: Linear(linear.weight.T, linear.bias)})


def transposed_positions(attn: RelativeAttention) -> RelativeAttention:
    w = attn.positions.w_k_pos  # [head d_pos d_head] of a matrix [head*d_head d_pos]
    square: Tensor = w.transpose(1, 2).flatten(0, 1).T
    turned = square.unflatten(0, (attn.n_heads, -1)).transpose(1, 2)
    return replace(attn, positions=replace(attn.positions, w_k_pos=turned))


def without_positions(attn: RelativeAttention) -> RelativeAttention:
    positions = attn.positions
    if isinstance(positions, SinusoidPositions):
        return replace(attn, positions=replace(positions, w_k_pos=torch.zeros_like(positions.w_k_pos)))
    curve = None if positions.v_curve is None else torch.zeros_like(positions.v_curve)
    return replace(attn, positions=replace(positions, rows=torch.zeros_like(positions.rows), v_curve=curve))


def scaled_input(model: CanonicalModel, factor: float) -> CanonicalModel | None:
    """Scale what the first layer reads of a token; None for a model that reads none, or has no scale there."""
    if isinstance(model, OwnModel):
        return replace(model, input_scale=model.input_scale * factor)
    if isinstance(model, TransformerXLModel):
        embedding = model.embedding
        return replace(model, embedding=replace(embedding, tables=tuple(table * factor for table in embedding.tables)))
    return None
