"""The article's layers, the Transformer-XL language model made of them, and the absolute-position baseline.

Shapes: batch, head, query, key, d_model, d_head. Queries are the current segment; keys are memory, then segment.
Class, argument and parameter names of the three article classes are the article's own, so that a reader's state dict
loads strictly.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from relxl.canonical import Output
from relxl.config import ModelConfig
from relxl.masking import RIGHT_RULE, MaskRule, attention_probs
from relxl.positions import learned_rows, project_positions, sinusoid_rows
from relxl.relative import ScoreTerms, relative_pairs, score_terms

INIT_STD = 0.02  # the article's section 4.4


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Split features into heads: [batch len d_model] -> [batch head len d_head]."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def check_heads(d_model: int, n_heads: int) -> None:
    if n_heads < 1 or d_model % n_heads:
        raise ValueError(f"d_model must be a multiple of n_heads, got d_model={d_model} and n_heads={n_heads}")


class RelativePositionEncoding(nn.Module):
    """Hold the article's learned table of 2*max_len - 1 distances, one vector of head_dim each."""

    def __init__(self, head_dim: int, max_len: int = 512):
        super().__init__()
        if max_len < 1:
            raise ValueError(f"max_len must be 1 or more, got {max_len}")
        self.dim, self.max_len = head_dim, max_len
        self.pos_table = nn.Parameter(torch.randn(2 * max_len - 1, head_dim) * INIT_STD)

    def rows(self, distance: Tensor, clamp_len: int | None = None) -> Tensor:
        """Read the table at `distance`: [distance] -> [distance head_dim]."""
        return learned_rows(self.pos_table, distance, clamp_len)

    def forward(self, q_len: int, k_len: int) -> Tensor:
        """Give the explicit tensor of the article, row i - j for each pair: [q_len k_len head_dim]."""
        pairs = relative_pairs(q_len, k_len, device=self.pos_table.device)
        return self.rows(pairs.distance)


class SinusoidPositionEncoding(nn.Module):
    """Compute the paper's R, which has no parameters: sines, then cosines, over dim dimensions."""

    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def rows(self, distance: Tensor, clamp_len: int | None = None) -> Tensor:
        """Compute R at `distance`: [distance] -> [distance dim], float64; the caller's weights give the final dtype."""
        return sinusoid_rows(distance, self.dim, clamp_len, dtype=torch.float64)


class RelMultiheadAttention(nn.Module):
    """Attend with the four-term relative score.

    logit = ((q_i + u) . k_j + (q_i + v) . W_kR R_d) / sqrt(head_dim), the mask after the sum. Positions come from
    `pos_enc`: the article's learned table (default) or the paper's sinusoid.
    """

    def __init__(self, d_model: int, n_heads: int, max_len: int = 512, pos_enc: nn.Module | None = None):
        super().__init__()
        check_heads(d_model, n_heads)
        self.n_heads, self.head_dim = n_heads, d_model // n_heads
        self.scale = self.head_dim**-0.5
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self.pos_enc = RelativePositionEncoding(self.head_dim, max_len) if pos_enc is None else pos_enc
        self.w_k_pos = nn.Parameter(torch.randn(n_heads, self.pos_enc.dim, self.head_dim) * INIT_STD)
        self.u = nn.Parameter(torch.randn(n_heads, self.head_dim) * INIT_STD)
        self.v = nn.Parameter(torch.randn(n_heads, self.head_dim) * INIT_STD)

    def terms(
        self, q: Tensor, k: Tensor, mem_len: int = 0, clamp_len: int | None = None, heads: list[int] | None = None
    ) -> ScoreTerms:
        """Split the scores of inputs q [batch query d_model] and k [batch key d_model], for `heads` or for all."""
        pairs = relative_pairs(q.shape[1], k.shape[1], mem_len, device=q.device)
        rows = self.pos_enc.rows(pairs.distances, clamp_len).to(self.w_k_pos.dtype)
        pick = slice(None) if heads is None else heads
        return score_terms(
            query=split_heads(self.w_q(q), self.n_heads)[:, pick],
            key=split_heads(self.w_k(k), self.n_heads)[:, pick],
            position_key=project_positions(rows, self.w_k_pos[pick]),
            u=self.u[pick],
            v=self.v[pick],
            pairs=pairs,
            scale=self.scale,
        )

    def attend(self, probs: Tensor, v: Tensor) -> Tensor:
        """Mix the values and project: probs [batch head query key], v [batch key d_model] -> [batch query d_model]."""
        value = split_heads(self.w_v(v), self.n_heads)
        return self.out_proj((probs.to(value.dtype) @ value).transpose(1, 2).flatten(2))

    def forward(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | MaskRule | None = None,
        mem_len: int = 0,
        clamp_len: int | None = None,
        mix: Tensor | None = None,
    ) -> Tensor:
        """Attend from q [batch query d_model] to k, v [batch key d_model]: [batch query d_model].

        mask: true or 1 means may attend, [query key], [batch query key] or [batch head query key]; or a MaskRule.
        mix [head term]: a factor for each term.
        """
        terms = self.terms(q, k, mem_len, clamp_len)
        return self.attend(attention_probs(terms if mix is None else terms.mixed(mix), mask, mem_len), v)


def feed_forward(d_model: int, d_ff: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(d_model, d_ff), nn.ReLU(), nn.Dropout(dropout), nn.Linear(d_ff, d_model), nn.Dropout(dropout)
    )


class TransformerXLBlock(nn.Module):
    """Apply attention, residual, LayerNorm, then feed-forward, residual, LayerNorm (post-norm, as in the paper)."""

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        max_len: int = 512,
        dropout: float = 0.1,
        pos_enc: nn.Module | None = None,
    ):
        super().__init__()
        self.attn = RelMultiheadAttention(d_model, n_heads, max_len, pos_enc)
        self.ln1 = nn.LayerNorm(d_model)
        self.ff = feed_forward(d_model, d_ff, dropout)
        self.ln2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | MaskRule | None = None,
        mems: Tensor | None = None,
        clamp_len: int | None = None,
        mix: Tensor | None = None,
    ) -> Tensor:
        """Map x [batch query d_model] to the same shape; keys are mems [batch mem d_model], then x."""
        keys = x if mems is None else torch.cat([mems, x], dim=1)
        mem_len = keys.shape[1] - x.shape[1]
        x = self.ln1(x + self.dropout(self.attn(x, keys, keys, mask, mem_len, clamp_len, mix)))
        return self.ln2(x + self.ff(x))


@dataclass(frozen=True)
class AbsoluteTerms:
    """Hold the four terms of an absolute score: hidden states are content + position on both sides."""

    content: Tensor  # [batch head query key], as are all four
    content_position: Tensor
    position_content: Tensor
    position_position: Tensor

    def dense(self) -> dict[str, Tensor]:
        return dict(vars(self))

    def mixed(self, mix: Tensor) -> "AbsoluteTerms":
        """Multiply each term of each head by a factor: mix [head term], in the order of the fields."""
        factors = mix.to(self.content).T[:, :, None, None]
        return AbsoluteTerms(*(term * factor for term, factor in zip(vars(self).values(), factors, strict=True)))

    def logits(self) -> Tensor:
        """Add the four terms: [batch head query key], before any mask."""
        return self.content + self.content_position + self.position_content + self.position_position


class AbsoluteMultiheadAttention(nn.Module):
    """Attend with plain dot products, kept as the four products of content and position.

    (W_q (e_i + p_i)) . (W_k (e_j + p_j)) / sqrt(d_head); the projections' biases belong to the content.
    """

    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        check_heads(d_model, n_heads)
        self.n_heads, self.scale = n_heads, (d_model // n_heads) ** -0.5
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def terms(
        self, q: Tensor, k: Tensor, mem_len: int = 0, clamp_len: int | None = None, heads: list[int] | None = None
    ) -> AbsoluteTerms:
        """Split the scores of q [batch query 2 d_model] and k [batch key 2 d_model]; part 0 is content, 1 position.

        `mem_len` and `clamp_len` play no part here: an absolute score knows no distance.
        """
        pick = slice(None) if heads is None else heads

        def project(w: nn.Linear, x: Tensor) -> tuple[Tensor, Tensor]:
            parts = w(x[:, :, 0]), F.linear(x[:, :, 1], w.weight)
            return tuple(split_heads(part, self.n_heads)[:, pick] for part in parts)

        query_content, query_position = (part * self.scale for part in project(self.w_q, q))
        key_content, key_position = project(self.w_k, k)
        return AbsoluteTerms(
            content=query_content @ key_content.mT,
            content_position=query_content @ key_position.mT,
            position_content=query_position @ key_content.mT,
            position_position=query_position @ key_position.mT,
        )

    attend = RelMultiheadAttention.attend

    def forward(
        self, q: Tensor, k: Tensor, mask: Tensor | MaskRule, mem_len: int = 0, mix: Tensor | None = None
    ) -> Tensor:
        """Attend from q [batch query 2 d_model] to k [batch key 2 d_model]: [batch query d_model]."""
        terms = self.terms(q, k)
        return self.attend(attention_probs(terms if mix is None else terms.mixed(mix), mask, mem_len), k.sum(2))


def norm_parts(norm: nn.LayerNorm, parts: Tensor) -> Tensor:
    """Normalise a sum while its parts stay apart: [batch len 2 d_model] -> the same; the sum equals norm(sum).

    Given the statistics of the sum, LayerNorm is linear, so it carries each part through by itself. The shift (beta)
    belongs to the content.
    """
    variance = parts.sum(2, keepdim=True).var(-1, correction=0, keepdim=True)
    parts = (parts - parts.mean(-1, keepdim=True)) * torch.rsqrt(variance + norm.eps) * norm.weight
    return torch.stack([parts[:, :, 0] + norm.bias, parts[:, :, 1]], dim=2)


class AbsoluteBlock(nn.Module):
    """Do what TransformerXLBlock does with absolute positions, on a residual stream of two parts.

    The position part is the position vector that was added to the input, as far as the residual stream carries it;
    everything that a layer writes belongs to the content. So the score of every layer, not only of the first, splits
    exactly.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.1):
        super().__init__()
        self.attn = AbsoluteMultiheadAttention(d_model, n_heads)
        self.ln1 = nn.LayerNorm(d_model)
        self.ff = feed_forward(d_model, d_ff, dropout)
        self.ln2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | MaskRule,
        mems: Tensor | None = None,
        clamp_len: int | None = None,
        mix: Tensor | None = None,
    ) -> Tensor:
        """Map x [batch query 2 d_model] to the same shape; keys are mems [batch mem 2 d_model], then x."""
        keys = x if mems is None else torch.cat([mems, x], dim=1)
        content, position = x.unbind(2)
        content = content + self.dropout(self.attn(x, keys, mask, keys.shape[1] - x.shape[1], mix))
        content, position = norm_parts(self.ln1, torch.stack([content, position], dim=2)).unbind(2)
        content = content + self.ff(content + position)
        return norm_parts(self.ln2, torch.stack([content, position], dim=2))


class TransformerXL(nn.Module):
    """Model language with segment memory, over relative (learned or sinusoid) or absolute positions.

    The input and output embeddings are one matrix. Source: Dai et al. 2019, section 3.
    """

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config
        d_model, sizes = config.d_model, (config.d_model, config.n_head, config.d_inner)
        self.word_emb = nn.Embedding(config.n_token, d_model)
        self.out_bias = nn.Parameter(torch.zeros(config.n_token))
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList()
        for _ in range(config.n_layer):
            if config.positions == "learned":
                block = TransformerXLBlock(*sizes, config.max_len, config.dropout)
            elif config.positions == "sinusoid":
                pos_enc = SinusoidPositionEncoding(d_model)
                block = TransformerXLBlock(*sizes, config.max_len, config.dropout, pos_enc)
            else:
                block = AbsoluteBlock(*sizes, config.dropout)
            self.layers.append(block)
        nn.init.normal_(self.word_emb.weight, std=INIT_STD)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=INIT_STD)
                nn.init.zeros_(module.bias)

    @property
    def dtype(self) -> torch.dtype:
        return self.out_bias.dtype

    @property
    def device(self) -> torch.device:
        return self.out_bias.device

    def rule_at(self, mem_len: int) -> MaskRule:
        """Say how the model masks over a memory: the right way."""
        return RIGHT_RULE

    def first_mems(self, batch: int) -> None:
        """Say that there is no memory before the first segment."""

    def embed(self, tokens: Tensor) -> Tensor:
        """Look tokens up: [batch query] -> [batch query d_model], or [batch query 2 d_model] for absolute positions."""
        x = self.dropout(self.word_emb(tokens) * self.config.d_model**0.5)
        if self.config.positions != "absolute":
            return x
        place = torch.arange(tokens.shape[1], device=tokens.device)  # counts from 0 in every segment
        return torch.stack([x, sinusoid_rows(place, self.config.d_model, dtype=x.dtype).expand_as(x)], dim=2)

    def forward(
        self,
        tokens: Tensor,
        mems: list[Tensor] | None = None,
        clamp_len: int | None = None,
        rule: MaskRule | Sequence[MaskRule] | None = None,
        mix: Tensor | None = None,
    ) -> Output:
        """Read one segment: tokens [batch query] int, mems as the last call returned them (None: no memory).

        `clamp_len` replaces the config's for this call; `rule` says how every layer masks, or each one; `mix`
        [layer head term] multiplies the terms of the scores.
        """
        if tokens.dim() != 2 or tokens.shape[1] < 1:
            raise ValueError(f"tokens must be [batch query] with at least one token, got shape {tuple(tokens.shape)}")
        return self.read(self.embed(tokens), mems, clamp_len, rule, mix)

    def read(
        self,
        x: Tensor,
        mems: list[Tensor] | None = None,
        clamp_len: int | None = None,
        rule: MaskRule | Sequence[MaskRule] | None = None,
        mix: Tensor | None = None,
    ) -> Output:
        """Do the same from embedded tokens x, as `embed` gives them."""
        clamp_len = self.config.clamp_len if clamp_len is None else clamp_len
        rule = self.rule_at(0) if rule is None else rule
        rules = [rule] * len(self.layers) if isinstance(rule, MaskRule) else rule
        hidden = []
        for i, (layer, its_rule) in enumerate(zip(self.layers, rules, strict=True)):
            hidden.append(x)
            x = layer(x, its_rule, None if mems is None else mems[i], clamp_len, None if mix is None else mix[i])
        x = x.sum(2) if self.config.positions == "absolute" else x
        output_logits = F.linear(self.dropout(x), self.word_emb.weight, self.out_bias)
        return Output(output_logits, tuple(hidden), update_mems(mems, hidden, self.config.mem_len), x)


def update_mems(mems: list[Tensor] | None, hidden: list[Tensor], mem_len: int) -> list[Tensor]:
    """Append each layer's inputs to its memory, keep the last mem_len of them and stop the gradient."""
    return [layer[:, max(layer.shape[1] - mem_len, 0) :].detach() for layer in join_mems(mems, hidden)]


def join_mems(mems: Sequence[Tensor] | None, hidden: Sequence[Tensor]) -> list[Tensor]:
    """Append each layer's inputs to its memory: [batch mem d_model], [batch query d_model] -> [batch key d_model]."""
    return list(hidden) if mems is None else [torch.cat(pair, dim=1) for pair in zip(mems, hidden, strict=True)]
