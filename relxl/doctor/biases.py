"""u and v: who never got values, who never moved, who is whose copy."""

import math

import torch
from torch import Tensor

from relxl.canonical import RelativeAttention
from relxl.doctor.case import Case
from relxl.doctor.finding import Finding, Kind

LARGEST = 10.0  # bug log B18; the largest of the bundled models is 1.25, of the fixtures 3.1
INITIAL_STD = 0.02  # of the authors' weights_init, HF's, XLNet's and the article's
SURE = 5.0  # standard errors; the least std of the bundled models is 0.058 (128 numbers: 0.02 +- 0.0063)
SHARED_BY_DESIGN = ("txl_official",)  # the file holds one u and one v
MAY_SHARE = ("hf_transfoxl", "nemo")  # untie_r and untie_biases false: stored again under every layer

UNFILLED = Kind(
    "biases.uninitialised",
    "error",
    "{tensor} of L{layer} looks as if nobody had initialised it: {nan} numbers that are not finite, {denormal} "
    "denormal ones, largest {largest:.3g}.",
    "Give u and v values where they are made; a parameter from torch.empty or torch.Tensor(...) holds what lay there.",
    "facebookresearch/fairseq#4622",
    "checkpoint",
)
ZEROS = Kind(
    "biases.zero",
    "error",
    "{tensor} of L{layer} is exactly 0 in {heads} of {n_head} heads, so its term plays no part.",
    "Look whether the optimiser has it: NVIDIA's code starts at 0 and trains from there, but it does not stay there.",
    "kimiyoung/transformer-xl#89",
    "score_terms",
)
ZEROS_HARMLESS = Kind(
    "biases.zero",
    "note",
    "{tensor} of L{layer} is exactly 0 in {heads} of {n_head} heads, which is harmless here: the bias of the query "
    "projection (root mean square {q_bias:.3g}) does the same.",
    "Nothing needs to be done. Compare terms with the query's bias folded into them.",
    "kimiyoung/transformer-xl#89",
    "score_terms",
)
AS_DRAWN = Kind(
    "biases.as_drawn",
    "warning",
    "{tensor} of L{layer} still looks as drawn from a normal of std 0.02: standard deviation {std:.4f}, largest "
    "{largest:.3f}.",
    "Look whether the optimiser has it: names that end in bias, or live outside of modules, are often left out.",
    "dhruvramani/Transformers-RL#3",
    "checkpoint",
)
SHARED = Kind(
    "biases.tied",
    "warning",
    "{tensor} is the same in all {n_layer} layers, though {family} has one a layer: one layer's was used everywhere.",
    "Load the untied biases; where the training tied them (untie_r false) this is right.",
    "huggingface/transformers#200",
    "score_terms",
)
SHARED_NOTE = Kind(
    "biases.tied",
    "note",
    "{tensor} is the same in all {n_layer} layers: {family} ties them.",
    "Copy it to every layer when you port these weights to code with one a layer.",
    "huggingface/transformers#200",
    "score_terms",
)
ONE_FOR_BOTH = Kind(
    "biases.identical",
    "error",
    "u_bias and v_bias of L{layer} are the same numbers: one parameter was loaded into both.",
    "Load r_w_bias (or pos_bias_u) into u, and r_r_bias (pos_bias_v) into v.",
    "kimiyoung/transformer-xl#46",
    "score_terms",
)
BROADCAST = Kind(
    "biases.broadcast",
    "warning",
    "{tensor} of L{layer} is the same for all {n_head} heads: one vector was spread over them.",
    "u and v are [head d_head]; a vector of d_model must be split into heads, not repeated.",
    "kimiyoung/transformer-xl#46",
    "score_terms",
)


def named_biases(case: Case) -> list[tuple[int, str, Tensor, RelativeAttention]]:
    """List layer, name, values [head d_head] and attention of every u and v that there is."""
    listed = []
    for layer, attn in enumerate(case.attentions):
        listed += [(layer, name, value, attn) for name, value in (("u_bias", attn.u), ("v_bias", attn.v))]
    return [item for item in listed if item[2] is not None]


def check_values(case: Case) -> list[Finding]:
    """Find u and v without values, of zeros, or as drawn. Cannot see: values that are finite, usual and wrong."""
    found = []
    for layer, name, value, attn in named_biases(case):
        size = value.abs()
        nan = int((~value.isfinite()).sum())
        denormal = int(((size > 0) & (size < torch.finfo(torch.float32).tiny)).sum())
        largest = float(size[value.isfinite()].max()) if nan < value.numel() else math.nan
        place = {"layer": layer, "tensor": name}
        if nan or denormal or largest > LARGEST:
            evidence = {"first": value.flatten()[:6].tolist(), "limit": LARGEST}
            odd = ~value.isfinite() | (size > LARGEST) | (size > 0) & (size < torch.finfo(torch.float32).tiny)
            link = {"h": int(odd.any(-1).nonzero()[0])}
            found.append(
                UNFILLED.at(**place, evidence=evidence, link=link, nan=nan, denormal=denormal, largest=largest)
            )
            continue
        empty = (value == 0).all(-1)
        if empty.any():
            q_bias = 0.0 if attn.w_q.bias is None else float(attn.w_q.bias.square().mean().sqrt())
            heads = {"heads": int(empty.sum()), "n_head": len(value)}
            place["evidence"] = {"heads": empty.nonzero().flatten().tolist()}
            place["link"] = {"h": place["evidence"]["heads"][0]}
            if q_bias:
                found.append(ZEROS_HARMLESS.at(**place, q_bias=q_bias, **heads))
            else:
                found.append(ZEROS.at(**place, **heads))
            continue
        std, error = float(value.std()), INITIAL_STD / math.sqrt(2 * value.numel())
        if abs(std - INITIAL_STD) < SURE * error and largest < SURE * INITIAL_STD and value.numel() >= 32:
            found.append(
                AS_DRAWN.at(**place, evidence={"expected": INITIAL_STD, "error": error}, std=std, largest=largest)
            )
    return found


def check_copies(case: Case) -> list[Finding]:
    """Find u and v that are copies of one another. Cannot see: the two of them swapped (a reference or a loss can)."""
    layers, family = case.attentions, case.checkpoint.opened.family.name
    found = []
    for name in ("u", "v"):
        values = [getattr(attn, name) for attn in layers]
        if any(value is None for value in values):
            continue
        tensor, n_layer = f"{name}_bias", len(layers)
        if n_layer > 1 and values[0].any() and all(torch.equal(values[0], value) for value in values[1:]):
            kind = SHARED_NOTE if family in SHARED_BY_DESIGN + MAY_SHARE else SHARED
            found.append(kind.at(tensor=tensor, evidence={"layers": n_layer}, n_layer=n_layer, family=family))
        for layer, value in enumerate(values):
            if len(value) > 1 and value.any() and torch.equal(value, value[:1].expand_as(value)):
                place = {"layer": layer, "tensor": tensor}
                found.append(BROADCAST.at(**place, evidence={"vector": value[0, :6].tolist()}, n_head=len(value)))
    for layer, attn in enumerate(layers):
        if attn.v is not None and attn.u.any() and torch.equal(attn.u, attn.v):
            found.append(ONE_FOR_BOTH.at(layer, evidence={"first": attn.u.flatten()[:6].tolist()}))
    return found
