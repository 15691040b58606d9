"""A model of any family, as data: layers, memory, output."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from relxl.canonical.attention import Linear, Norm, RelativeAttention
from relxl.config import Sizes
from relxl.masking import RIGHT_RULE, MaskRule, attention_probs


@dataclass(frozen=True)
class FeedForward:
    """Hold two linear maps with an activation between them."""

    first: Linear
    second: Linear
    activation: Callable[[Tensor], Tensor] = F.relu

    def __call__(self, x: Tensor) -> Tensor:
        return self.second(self.activation(self.first(x)))


@dataclass(frozen=True)
class Block:
    """Hold a layer of attention and feed-forward with residuals; the norms that a family lacks are None.

    Post-norm: after_attn and after_ff. Pre-norm: attn.norm and before_ff.
    """

    attn: RelativeAttention
    ff: FeedForward
    after_attn: Norm | None = None
    before_ff: Norm | None = None
    after_ff: Norm | None = None

    def enter(self, x: Tensor) -> Tensor:
        """Turn the layer's input into what its attention reads, which is what memory and trace keep."""
        return x

    def leave(self, x: Tensor, attended: Tensor) -> Tensor:
        """Finish the layer: x as `enter` gave it and what attention made of it, both [batch query d_model]."""
        x = optional(self.after_attn, x + attended)
        return optional(self.after_ff, x + self.ff(optional(self.before_ff, x)))


def optional(norm: Norm | None, x: Tensor) -> Tensor:
    return x if norm is None else norm(x)


@dataclass(frozen=True)
class Output:
    """Hold what one forward over one segment gives; every part is per token, nothing is quadratic."""

    output_logits: Tensor | None  # [batch query n_token], None for a model without tokens
    hidden: tuple[Tensor, ...]  # what the attention of each layer reads, [batch query d_model]
    mems: list[Tensor]  # the memory for the next segment, gradient stopped, [batch mem d_model] a layer
    last_hidden: Tensor  # [batch query d_model]


@dataclass(frozen=True)
class CanonicalModel:
    """Hold the layers of a model that reads hidden states. Families with tokens, memory or a last norm say how."""

    family: str
    config: Sizes
    layers: tuple[Block, ...]
    rule: MaskRule = RIGHT_RULE

    @property
    def dtype(self) -> torch.dtype:
        return self.layers[0].attn.u.dtype

    @property
    def device(self) -> torch.device:
        return self.layers[0].attn.u.device

    def eval(self) -> "CanonicalModel":
        """Be what `nn.Module.eval` gives: there is no dropout to switch off."""
        return self

    def rule_at(self, mem_len: int) -> MaskRule:
        """Say how the model masks over a memory of mem_len."""
        return self.rule

    def first_mems(self, batch: int) -> list[Tensor] | None:
        """Give the memory before the first segment: none, in most families."""
        return None

    def read(
        self,
        x: Tensor,
        mems: Sequence[Tensor] | None = None,
        clamp_len: int | None = None,
        rule: MaskRule | Sequence[MaskRule] | None = None,
        keep: Tensor | None = None,
        differs: Tensor | None = None,
        mix: Tensor | None = None,
    ) -> Output:
        """Read one segment of hidden states x [batch query d_model].

        `clamp_len` and `rule` (one, or one a layer) replace the model's own for this call. `keep` (bool, broadcast to
        [batch head query key]) forbids cells, `differs` [batch query key] marks pairs of different segments, `mix`
        [layer head term] multiplies the terms of the scores.
        """
        clamp_len = self.config.clamp_len if clamp_len is None else clamp_len
        mems = self.first_mems(len(x)) if mems is None else mems
        rule = self.rule_at(0 if mems is None else mems[0].shape[1]) if rule is None else rule
        rules = [rule] * len(self.layers) if isinstance(rule, MaskRule) else rule
        hidden = []
        for i, (layer, its_rule) in enumerate(zip(self.layers, rules, strict=True)):
            x = layer.enter(x)
            hidden.append(x)
            x = layer.leave(x, self.attended(i, x, mems, clamp_len, its_rule, keep, differs, mix))
        last = self.finish(x)
        return Output(self.output_logits(last), tuple(hidden), self.next_mems(mems, [*hidden, last]), last)

    def attended(
        self,
        layer: int,
        x: Tensor,
        mems: Sequence[Tensor] | None,
        clamp_len: int | None,
        rule: MaskRule,
        keep: Tensor | None,
        differs: Tensor | None,
        mix: Tensor | None,
    ) -> Tensor:
        """Give what the attention of one layer makes of its input x [batch query d_model], over its memory."""
        attn, keys = self.layers[layer].attn, x if mems is None else torch.cat([mems[layer], x], dim=1)
        mem_len = keys.shape[1] - x.shape[1]
        terms = attn.terms(x, keys, mem_len, clamp_len, differs=differs)
        terms = terms if mix is None else terms.mixed(mix[layer])
        return attn.attend(attention_probs(terms, rule, mem_len, keep), keys)

    def finish(self, x: Tensor) -> Tensor:
        """Do what stands between the last layer and the output."""
        return x

    def output_logits(self, last_hidden: Tensor) -> Tensor | None:
        """Turn the last hidden state into output logits: [batch query d_model] -> [batch query n_token]."""
        return None

    def next_mems(self, mems: Sequence[Tensor] | None, hidden: Sequence[Tensor]) -> list[Tensor]:
        """Make the memory for the next segment from the old one, what entered each layer, and the last output."""
        return []


@dataclass(frozen=True)
class LanguageModel(CanonicalModel):
    """Hold a model that reads tokens: a family says how it embeds them."""

    def embed(self, tokens: Tensor) -> Tensor:
        """Look tokens up: [batch query] -> [batch query d_model]."""
        raise NotImplementedError

    def __call__(
        self,
        tokens: Tensor,
        mems: Sequence[Tensor] | None = None,
        clamp_len: int | None = None,
        rule: MaskRule | Sequence[MaskRule] | None = None,
        mix: Tensor | None = None,
    ) -> Output:
        """Read one segment of tokens [batch query]."""
        return self.read(self.embed(tokens), mems, clamp_len, rule, mix=mix)


@dataclass(frozen=True)
class AttentionLayer:
    """Hold a layer of which attention alone is known; the rest of it is not read."""

    attn: RelativeAttention


@dataclass(frozen=True)
class AttentionModel(CanonicalModel):
    """Hold the attention layers of an encoder that is not run itself: each is given its own input."""

    layers: tuple[AttentionLayer, ...]
    ends_align: bool = False  # in cross attention: the last query stands at the last key; else the first at the first

    def cross_mem_len(self, query_len: int, key_len: int) -> int:
        """Say how many keys stand before the first query's place in cross attention.

        Raises ValueError where the ends align and there are more queries than keys: a shift then gives some cells what
        is left over of the next row.
        """
        if self.ends_align and query_len > key_len:
            raise ValueError(
                f"{query_len} queries and {key_len} keys were given, but in cross attention {self.family} has places "
                "for no more queries than keys: give as many keys, or fewer queries"
            )
        return key_len - query_len if self.ends_align else 0

    def read(
        self,
        x: Tensor,
        mems: Sequence[Tensor] | None = None,
        clamp_len: int | None = None,
        rule: MaskRule | Sequence[MaskRule] | None = None,
        keep: Tensor | None = None,
        differs: Tensor | None = None,
        mix: Tensor | None = None,
    ) -> Output:
        """Take x [batch query d_model] for the input of every attention; last_hidden is what the last one gives."""
        clamp_len = self.config.clamp_len if clamp_len is None else clamp_len
        rule = self.rule if rule is None else rule
        its_rule = rule if isinstance(rule, MaskRule) else rule[-1]
        attended = self.attended(len(self.layers) - 1, x, mems, clamp_len, its_rule, keep, differs, mix)
        return Output(None, (x,) * len(self.layers), [], attended)
