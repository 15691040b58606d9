"""Faults in weights, positions, shifts, masks, heads and losses, each with the finding that must name it.

B1 to B45 and S1 to S12 are entries of the list of public reports in docs/doctor.md, 7.1 to 7.20 its usual slips.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

from relxl.bench.doctor_steps import (
    as_legacy,
    attention,
    both,
    cell,
    clamp,
    copies,
    forgotten_answers,
    hidden_row,
    long_memory,
    mask,
    near_fill,
    noise,
    nothing_told,
    one_head_twice,
    one_text,
    other_input_scale,
    other_vocabulary,
    prompt_again,
    put,
    redraw,
    rows_from,
    scaled,
    shift,
    symmetric,
    unfilled_memory,
    wanted_key,
)
from relxl.bench.doctor_subjects import Subject, healthy, with_model, with_tensors, without_sample
from relxl.doctor.hypotheses import flipped, mirrored, without_positions


@dataclass(frozen=True)
class Fault:
    """Hold a fault: what it is done to, the finding that must come of it, and values that the finding must have."""

    name: str
    entry: str  # of the bug log, "B5"
    base: str  # a healthy model
    inject: Callable[[Subject], Subject]
    finds: str
    detail: Mapping[str, object] = field(default_factory=dict)

    def subject(self) -> Subject:
        return self.inject(healthy(self.base))


LEAKY = "shakespeare-leaky"
LEARNED, SINUSOID, OFFICIAL = "shakespeare-learned", "shakespeare-sinusoid", "txl-official"
TXL, WINDOWED, HF = "txl_official/mem_2seg", "txl_official/same_length", "hf_transfoxl/untied_mem_2seg"
ESPNET, NEMO, XLNET, ARTICLE = "espnet/bi_nomask", "nemo/bi_nomask", "xlnet/bi_nomem_noseg", "seed/self_L10_max64"
LEGACY, LABML, UNI = "espnet/legacy_causal", "labml/mem_2seg", "xlnet/uni_mems_seg"
TABLE = "attn.pos_enc.pos_table"
LAYERS = range(4)
swap = {"u": "v", "v": "u"}

WEIGHTS = (
    Fault("NaN in a weight", "B18", LEAKY, put("layers.1.ff.0.weight", cell(torch.nan)), "weights.not_finite"),
    Fault("Inf in a weight", "B18", XLNET, put("layer.1.ff.layer_1.weight", cell(torch.inf)), "weights.not_finite"),
    Fault("a weight of 1e5", "B18", OFFICIAL, put("layers.1.pos_ff.CoreNet.0.bias", cell(1e5)), "weights.extreme"),
    Fault("memory nobody filled", "B18", LEAKY, put(f"1.{TABLE}", lambda t: t * 1e-40), "weights.denormal"),
    Fault("W_kR of zeros", "B23", OFFICIAL, put("layers.1.dec_attn.r_net.weight", torch.zeros_like), "weights.zero"),
    Fault("one matrix not loaded", "B36", LEARNED, put("layers.2.attn.w_q.weight", noise()), "weights.as_drawn"),
    Fault("no weights loaded", "B34", SINUSOID, lambda s: with_tensors(s, redraw), "weights.untrained"),
    Fault(
        "a layer stored twice",
        "B39",
        LEARNED,
        copies({"layers.1.ff.0.weight": "layers.0.ff.0.weight"}),
        "weights.duplicate",
    ),
    Fault("u uninitialised", "B18", NEMO, put("pos_bias_u", lambda t: t * 1e-41), "biases.uninitialised"),
    Fault("v uninitialised", "B18", XLNET, put("1.rel_attn.r_r_bias", cell(3e30)), "biases.uninitialised"),
    Fault("u of zeros", "B18", OFFICIAL, put("r_w_bias", torch.zeros_like), "biases.zero", {"tensor": "u_bias"}),
    Fault(
        "v of zeros under a q bias",
        "S12",
        ESPNET,
        put("pos_bias_v", torch.zeros_like),
        "biases.zero",
        {"tensor": "v_bias"},
    ),
    Fault("u never trained", "B18", SINUSOID, put("layers.1.attn.u", noise()), "biases.as_drawn", {"layer": 1}),
    Fault(
        "one layer's u everywhere",
        "B20",
        LEAKY,
        copies({f"layers.{i}.attn.u": "layers.0.attn.u" for i in range(2)}),
        "biases.tied",
        {"tensor": "u_bias"},
    ),
    Fault(
        "one bias for u and v",
        "B19",
        HF,
        copies({"transformer.layers.1.dec_attn.r_r_bias": "transformer.layers.1.dec_attn.r_w_bias"}),
        "biases.identical",
        {"layer": 1},
    ),
    Fault(
        "u repeated over heads",
        "7.7",
        NEMO,
        put("pos_bias_u", lambda t: t[:1].expand_as(t).clone()),
        "biases.broadcast",
    ),
    Fault(
        "a tensor of another name",
        "B36",
        ESPNET,
        lambda s: with_tensors(s, lambda t: {"pos_bias_w": t["pos_bias_u"]}),
        "config.unmatched",
    ),
    Fault("no rel_pos_type in the config", "B2", ESPNET, forgotten_answers, "config.assumed", {"name": "rel_pos_type"}),
    Fault("not even the family told", "B2", ESPNET, nothing_told, "config.assumed", {"name": "family"}),
    Fault("bi_data and one text", "B29", "xlnet/bi_data_clamp", one_text, "config.odd_batch"),
)

POSITIONS = (
    Fault(
        "rows never trained",
        "B23",
        LEARNED,
        put(TABLE, rows_from(129, noise())),
        "positions.untrained",
        {"last": 255},
    ),
    Fault(
        "rows of zeros",
        "B23",
        LABML,
        put("1.self_attn.key_pos_embeddings", rows_from(0, torch.zeros_like)),
        "positions.untrained",
    ),
    Fault(
        "a table too short",
        "B7",
        LEARNED,
        put(TABLE, lambda t: t[192:-192], max_len=64),
        "positions.short",
        {"last": 63},
    ),
    Fault("a table of |d|", "B5", ARTICLE, put("pos_enc.pos_table", symmetric), "positions.mirrored"),
    Fault("a sinusoid of |d|", "B5", ESPNET, attention(mirrored), "positions.mirrored"),
    Fault(
        "a clamp baked in",
        "B33",
        LEAKY,
        put(TABLE, rows_from(100, lambda t: t[:1].expand_as(t))),
        "positions.plateau",
        {"first": 100},
    ),
    Fault(
        "frequencies in float16",
        "B40",
        OFFICIAL,
        put("inv_freq", lambda t: t.half().float()),
        "positions.half_precision",
    ),
    Fault("frequencies in bfloat16", "B40", TXL, put("inv_freq", lambda t: t.bfloat16()), "positions.half_precision"),
    Fault("no clamp at evaluation", "B33", OFFICIAL, long_memory, "positions.beyond_training"),
    Fault("a clamp that hides distances", "B33", TXL, clamp(3), "positions.clamped", {"clamp_len": 3}),
    Fault("the position term lost", "B14", "wav2vec2_conformer/nomask", attention(without_positions), "positions.dead"),
    Fault("T rows in an encoder", "B1", ESPNET, shift("pad_and_view"), "shift.foreign"),
    Fault("T rows of the wrong order", "B9", NEMO, shift("ascending"), "shift.foreign"),
    Fault("legacy weights' map", "B2", ESPNET, as_legacy, "shift.foreign"),
    Fault("no shift", "B3", NEMO, shift("absolute"), "shift.absolute"),
    Fault("no shift in a language model", "B3", OFFICIAL, shift("absolute"), "shift.absolute"),
    Fault("an ascending table", "B4", TXL, shift("ascending"), "shift.foreign"),
    Fault("the memory forgotten in the distance", "B6", "nemo/cache_6", shift("memory_forgotten"), "shift.foreign"),
    Fault("a cache forgotten in chunks", "B44", OFFICIAL, shift("memory_forgotten"), "shift.foreign"),
)

MASKS = (
    Fault("a mask one key too wide", "B10", TXL, mask(fault="sees_next"), "masks.leak", {"mechanism": "sees_next"}),
    Fault(
        "a mask before the shift",
        "B10",
        OFFICIAL,
        mask(order="before_shift"),
        "masks.leak",
        {"mechanism": "before_shift"},
    ),
    Fault("an inverted mask", "B13", LEARNED, mask(fault="inverted"), "masks.leak", {"mechanism": "inverted"}),
    Fault("a mask that is thrown away", "B15", SINUSOID, mask(fault="no_mask"), "masks.leak", {"mechanism": "no_mask"}),
    Fault(
        "a query that misses itself",
        "B15",
        LABML,
        mask(fault="misses_itself"),
        "masks.shut",
        {"mechanism": "misses_itself"},
    ),
    Fault(
        "the memory forgotten in the mask",
        "B8",
        OFFICIAL,
        mask(fault="memory_forgotten"),
        "masks.shut",
        {"mechanism": "memory_forgotten"},
    ),
    Fault("a fill of +1e-9", "B16", HF, mask(fill=1e-9), "masks.leak", {"mechanism": "weak_fill_after"}),
    Fault(
        "multiplied before the sum",
        "B16",
        LEARNED,
        mask(order="before", fill="multiply"),
        "masks.leak",
        {"mechanism": "weak_fill_before"},
    ),
    Fault(
        "a window one key short",
        "B12",
        WINDOWED,
        mask(fault="window_short"),
        "masks.shut",
        {"mechanism": "window_short"},
    ),
    Fault("a fill that scores beat", "B16", UNI, mask(fill=-6.0), "masks.fill_beaten"),
    Fault("a fill that is nearly beaten", "B16", TXL, near_fill, "masks.fill_near"),
    Fault(
        "a row without keys, -inf",
        "B11",
        ARTICLE,
        hidden_row,
        "masks.empty_rows",
        {"outcome": "NaN, and so is all that reads them"},
    ),
    Fault(
        "a row without keys, -1e30", "B11", XLNET, hidden_row, "masks.empty_rows", {"outcome": "the same for every key"}
    ),
    Fault("same_length", "B12", WINDOWED, lambda s: s, "masks.window"),
    Fault("zeros for a memory", "B26", OFFICIAL, unfilled_memory, "memory.unwritten"),
    Fault("zeros for a memory, by design", "B26", HF, lambda s: s, "memory.unwritten"),
    Fault("the prompt fed again", "B27", OFFICIAL, prompt_again, "memory.repeated"),
    Fault(
        "float16's lowest before the sum",
        "B17",
        SINUSOID,
        mask(order="before", fill="min"),
        "precision.not_finite",
        {"dtype": "float16"},
    ),
    Fault("scores beyond float16", "B17", SINUSOID, scaled(3e3), "precision.not_finite", {"dtype": "float16"}),
)

HEADS = (
    Fault("scores near 0", "B21", OFFICIAL, scaled(1e-3), "heads.uniform"),
    Fault("scores too large", "B24", LEARNED, scaled(300.0), "heads.saturated"),
    Fault(
        "a key that all want",
        "B18",
        OFFICIAL,
        wanted_key,
        "heads.one_key",
        {"layer": 0},
    ),
    Fault("a head stored twice", "B39", LEARNED, attention(one_head_twice, 1), "heads.duplicate", {"layer": 1}),
)

LOSSES = (
    Fault(
        "u and v swapped",
        "B19",
        SINUSOID,
        lambda s: with_tensors(
            s, lambda t: {f"layers.{i}.attn.{a}": t[f"layers.{i}.attn.{b}"] for i in LAYERS for a, b in swap.items()}
        ),
        "loss.swapped_biases",
    ),
    Fault("a table turned round", "B4", LEARNED, put(TABLE, lambda t: t.flip(0)), "loss.direction"),
    Fault("the direction of one layer", "B42", SINUSOID, attention(flipped, 1), "loss.direction", {"layer": 1}),
    Fault("sqrt(d_model)", "B21", OFFICIAL, scaled(8**-0.5), "loss.scale"),
    Fault(
        "a kernel transposed",
        "B36",
        LEARNED,
        put("layers.1.attn.w_v.weight", lambda t: t.T.contiguous()),
        "loss.transposed",
        {"layer": 1},
    ),
    Fault(
        "no sqrt(d_model) on the input", "B24", LEARNED, lambda s: with_model(s, other_input_scale), "loss.input_scale"
    ),
    Fault(
        "a clamp from elsewhere", "B33", SINUSOID, lambda s: with_tensors(s, lambda t: {}, clamp_len=16), "loss.clamp"
    ),
    Fault("no memory", "B32", LEARNED, lambda s: with_tensors(s, lambda t: {}, mem_len=0), "loss.memory"),
    Fault(
        "no memory, nothing recorded",
        "B32",
        LEARNED,
        both(without_sample, lambda s: with_tensors(s, lambda t: {}, mem_len=0)),
        "loss.memory_missing",
    ),
    Fault("another vocabulary", "B34", OFFICIAL, other_vocabulary, "loss.sample"),
    Fault(
        "another vocabulary, nothing recorded",
        "B34",
        OFFICIAL,
        both(other_vocabulary, without_sample),
        "loss.above_chance",
    ),
    Fault("trained with a leak", "B10", "shakespeare-leaky", lambda s: s, "loss.knows_future"),
    Fault("which lengths a perplexity has", "B32", OFFICIAL, lambda s: s, "loss.sheet", {"tgt_len": 96, "mem_len": 96}),
)
