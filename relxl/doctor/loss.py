"""What the loss tells: the recorded sample recomputed, masks that the weights see through, memory, perplexity."""

import math
from dataclasses import replace

import torch
from torch import Tensor

from relxl.canonical import CanonicalModel
from relxl.doctor.canon import with_attention
from relxl.doctor.case import Case, sample_ids
from relxl.doctor.finding import Finding, Kind
from relxl.doctor.hypotheses import GROUPS, LOCAL, Hypothesis, hypotheses
from relxl.masking import RIGHT_RULE, MaskRule
from relxl.model import TransformerXL
from relxl.training import sample_losses, token_loss

SAME = 2e-3  # nats a token; other machines give 1e-5 to 1e-4, a table flipped or two tensors swapped 0.5 and more
LEAST = 32  # tokens below which a mean loss says nothing
KNOWS = 0.7  # loss under a leaking mask over that under the right one: healthy models 0.93 and more, leaky ones 0.006
KNOWS_NATS = 0.3
WINS = 0.05  # nats that a memory must gain to be missed; 0.08 to 0.36 on the samples of three bundled models, but
# 0.01 on that of txl-official: 96 tokens say little
FIRST = 16  # tokens at the start of each segment
CHANCE = 1.05  # loss over that of guessing from which on a text is not the model's; untrained weights 1.00 to 1.02

LEAKS = {
    "the mask laid before the other terms, by multiplying": MaskRule(order="before", fill="multiply"),
    "the mask laid before the shift": MaskRule(order="before_shift"),
    "a mask one key too wide": MaskRule(fault="sees_next"),
    "no mask": MaskRule(fault="no_mask"),
    "a fill of 1e-9": MaskRule(fill=1e-9),
}

SAMPLE = {
    group: Kind(
        f"loss.{group}",
        "error",
        "The recorded sample does not have its recorded loss: {found:.3f} nats instead of {recorded:.3f}, a token off "
        "by up to {worst:.2g}. It comes back, to {left:.2g}, with {words}{place}.",
        advice,
        report,
        "score_terms",
    )
    for group, (advice, report) in GROUPS.items()
}
SAMPLE_OFF = Kind(
    "loss.sample",
    "error",
    "The recorded sample does not have its recorded loss: {found:.3f} nats instead of {recorded:.3f}, a token off by "
    "up to {worst:.2g}; none of {tried} hypotheses brings it back.",
    "Compare the weights with those of the run: a tensor was changed, or the vocabulary belongs to another model.",
    "huggingface/transformers#846",
    "score_terms",
)
KNOWS_FUTURE = Kind(
    "loss.knows_future",
    "warning",
    "These weights were trained to see the future: {leaking:.3f} nats with {how}, {right:.3f} under the right mask.",
    "Train again with the mask after the sum of all terms; the low loss was never a language model's.",
    "kimiyoung/transformer-xl#138",
    "masking",
)
MISSED = Kind(
    "loss.memory_missing",
    "warning",
    "A memory of {mem_len} is not used, and would help: {without:.3f} nats without it, {with_it:.3f} with it.",
    "Give the mem_len of the training (--choose mem_len=...), and carry the memory from segment to segment.",
    "huggingface/transformers#4459",
    "score_terms",
)
FALLS = Kind(
    "loss.first_tokens",
    "note",
    "The first {first} tokens of a segment lose {begin:.3f} nats, the others {rest:.3f}: {reason}",
    "Compare losses only at the same segment and memory length.",
    "kimiyoung/transformer-xl#112",
    "score_terms",
)
SHEET = Kind(
    "loss.sheet",
    "note",
    "Perplexity {perplexity:.2f} ({loss:.3f} nats a token over {tokens} tokens) at tgt_len {tgt_len}, mem_len "
    "{mem_len}, clamp_len {clamp_len}, same_length {same_length}; largest distance {far}.",
    "State these five with any perplexity; each of them changes it.",
    "huggingface/transformers#4459",
    "score_terms",
)
ABOVE_CHANCE = Kind(
    "loss.above_chance",
    "warning",
    "The text loses {loss:.2f} nats a token, more than guessing among {n_token} tokens ({chance:.2f}).",
    "Look whether the weights were loaded, and whether vocabulary and tokenizer are the model's.",
    "huggingface/transformers#846",
    "score_terms",
)


def losses(model: TransformerXL | CanonicalModel, ids: Tensor) -> Tensor:
    """Give the loss of each token after the first, memory carried: [token]."""
    return torch.tensor(sample_losses(model, ids), dtype=torch.float64)


def check_sample(case: Case) -> list[Finding]:
    """Recompute the recorded losses. Cannot see: what was wrong already when they were recorded."""
    recorded = torch.tensor(case.checkpoint.training["sample"].get("losses") or [], dtype=torch.float64)
    ids = torch.tensor(sample_ids(case.checkpoint) or [])
    if len(recorded) < 1 or len(ids) != len(recorded) + 1:
        return []
    found = losses(case.checkpoint.model, ids)
    worst = difference(found, recorded)
    if worst <= SAME:
        return []
    values = {"found": float(found.nanmean()), "recorded": float(recorded.mean()), "worst": worst}
    off = (found - recorded).abs().nan_to_num(math.inf)
    evidence = {"first_token_off": int((off > SAME).nonzero()[0]), "tokens_off": int((off > SAME).sum())}
    tried = sorted(repairs(case, ids, recorded), key=lambda one: one[0]) if found.isfinite().all() else []
    evidence["largest difference left"] = [[f"{h.group}: {h.words}", round(left, 4)] for left, h, _ in tried[:4]]
    if not tried or tried[0][0] > SAME:
        return [SAMPLE_OFF.at(**values, tried=len(tried), evidence=evidence)]
    left, best, layer = tried[0]
    place = "" if layer is None else f" in L{layer} alone"
    return [SAMPLE[best.group].at(layer, words=best.words, place=place, left=left, evidence=evidence, **values)]


def difference(found: Tensor, recorded: Tensor) -> float:
    return float((found - recorded).abs().nan_to_num(math.inf).max())


def repairs(case: Case, ids: Tensor, recorded: Tensor) -> list[tuple[float, Hypothesis, int | None]]:
    """Try every hypothesis: the difference that it leaves, and the layer where it is a single one's."""
    if case.model is None:
        return []
    config, tried = case.checkpoint.config, []
    query_len = min(config.segment_len, len(ids))
    for hypothesis in hypotheses(case.checkpoint, case.model, query_len, query_len):
        tried.append((left_by(hypothesis.model, ids, recorded), hypothesis, None))
        if tried[-1][0] <= SAME:
            return tried
    for hypothesis in hypotheses(case.checkpoint, case.model, query_len, query_len):
        for layer in range(config.n_layer) if hypothesis.change and hypothesis.group in LOCAL else ():
            changed = with_attention(case.model, hypothesis.change, layer)
            tried.append((left_by(changed, ids, recorded), hypothesis, layer))
            if tried[-1][0] <= SAME:
                return tried
    return tried


def left_by(model: CanonicalModel, ids: Tensor, recorded: Tensor) -> float:
    try:
        first = min(model.config.segment_len, len(recorded))
        left = difference(losses(model, ids[: first + 1]), recorded[:first])
        return left if left > SAME else difference(losses(model, ids), recorded)
    except (ValueError, RuntimeError):  # a table that is too short, say
        return math.inf


@torch.no_grad()
def segment_loss(model: CanonicalModel, ids: Tensor, rule: MaskRule) -> float:
    """Give the mean loss of one segment without memory under a rule."""
    output = model.read(model.embed(ids[None, :-1]), rule=rule)
    return float(token_loss(output.output_logits, ids[None, 1:]).double().mean())


def check_future(case: Case) -> list[Finding]:
    """Read the text through masks that leak. Cannot see: a leak of another kind, or one that helped too little."""
    if case.model is None or not case.causal or case.model.rule != RIGHT_RULE:
        return []
    ids = case.tokens[: case.checkpoint.config.segment_len + 1]
    if len(ids) < LEAST:
        return []
    right = segment_loss(case.model, ids, case.model.rule)
    under = {how: segment_loss(case.model, ids, rule) for how, rule in LEAKS.items()}
    how, leaking = min(under.items(), key=lambda one: one[1])
    if not leaking < KNOWS * right or right - leaking < KNOWS_NATS:
        return []
    train = case.checkpoint.training.get("train", {})
    told = {name: train[name] for name in ("mask_order", "mask_fill", "mask_fault") if name in train}
    return [KNOWS_FUTURE.at(how=how, leaking=leaking, right=right, evidence={"losses": under, "recorded_mask": told})]


def segmented(case: Case, mem_len: int) -> Tensor:
    """Give the loss of each token of the text, read in segments over a memory of mem_len: [token]."""
    model = case.model if case.model is not None else case.checkpoint.model
    if mem_len == model.config.mem_len:
        return losses(model, case.tokens)
    return losses(replace(model, config=replace(model.config, mem_len=mem_len)), case.tokens)


def check_memory(case: Case) -> list[Finding]:
    """Compare the loss with and without memory. Cannot see: a memory that is there and holds the wrong thing."""
    config, ids = case.checkpoint.config, case.tokens
    segment_len = config.segment_len
    if not case.causal or len(ids) < segment_len + FIRST:
        return []
    own = segmented(case, config.mem_len)
    begins = torch.arange(len(own)) % segment_len < FIRST
    begins[:FIRST] = False
    later = torch.arange(len(own)) >= segment_len
    begin, rest = float(own[begins].mean()), float(own[later & ~begins].mean())
    if config.mem_len == 0 and case.model is not None:
        without, with_it = float(own[later].mean()), float(segmented(case, segment_len)[later].mean())
        if without - with_it > WINS:
            losses_of = {"without": without, "with_it": with_it}
            return [MISSED.at(mem_len=segment_len, evidence=losses_of | {"first_tokens": begin}, **losses_of)]
    if config.mem_len == 0 and begin > rest + WINS and math.isfinite(begin + rest):
        reason = "without memory they have little to go by."
        return [FALLS.at(first=FIRST, begin=begin, rest=rest, reason=reason, evidence={"begin": begin, "rest": rest})]
    return []


def check_sheet(case: Case) -> list[Finding]:
    """State what a perplexity depends on. Cannot see: labels that were shifted twice, or padding that was counted."""
    if not case.causal or len(case.tokens) < LEAST:
        return []
    config = case.checkpoint.config
    every = segmented(case, config.mem_len)
    loss, chance = float(every.mean()), math.log(config.n_token)
    rule = case.trace.rule
    lengths = {
        "tgt_len": config.segment_len,
        "mem_len": config.mem_len,
        "clamp_len": config.clamp_len,
        "same_length": rule.window is not None,
        "far": min(len(case.tokens) - 1, config.segment_len + config.mem_len) - 1,
    }
    found = []
    if math.isfinite(loss):
        numbers = {"perplexity": math.exp(min(loss, 700)), "loss": loss, "tokens": len(every)}
        found.append(SHEET.at(evidence=numbers | lengths, **numbers, **lengths))
    if loss > CHANCE * chance:
        found.append(ABOVE_CHANCE.at(loss=loss, n_token=config.n_token, chance=chance, evidence={"tokens": len(every)}))
    return found
