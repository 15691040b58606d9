"""The four-term split by relxl, by the forms that others use, and the two matrix products that bound them all.

Every split takes `Inputs` and gives (content, content_position, u_bias, v_bias), scaled: [batch head query key] twice,
[batch head key], and [head distance] or, where the form cannot help it, [head query key]. `bound` gives two matrices.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from relxl.relative import PairMap, relative_pairs, score_terms

N_HEAD, D_HEAD = 8, 64


@dataclass(frozen=True)
class Inputs:
    """Hold one self attention of query_len = key_len = L, its positions already projected."""

    query: Tensor  # [1 head query d_head]
    key: Tensor  # [1 head key d_head]
    position_key: Tensor  # [head 2L-1 d_head], distances L-1 to -(L-1)
    u: Tensor  # [head d_head]
    v: Tensor  # [head d_head]
    scale: float = D_HEAD**-0.5


def make_inputs(length: int) -> Inputs:
    """Draw float32 inputs of one length, the same ones every time."""
    generator = torch.Generator().manual_seed(length)
    matrix, table, bias = (1, N_HEAD, length, D_HEAD), (N_HEAD, 2 * length - 1, D_HEAD), (N_HEAD, D_HEAD)
    return Inputs(*(torch.randn(shape, generator=generator) for shape in (matrix, matrix, table, bias, bias)))


def unchanged(x: Inputs) -> Inputs:
    return x


def first_head(x: Inputs) -> Inputs:
    return Inputs(x.query[:, :1], x.key[:, :1], x.position_key[:1], x.u[:1], x.v[:1], x.scale)


def scaled(x: Inputs) -> Inputs:
    return replace(x, query=x.query * x.scale)


def length_first(x: Inputs) -> Inputs:
    """Bring inputs to XLNet's layout, [len batch head d_head], with its one row more: the distance L, first."""
    return Inputs(
        query=x.query.permute(2, 0, 1, 3).contiguous(),
        key=x.key.permute(2, 0, 1, 3).contiguous(),
        position_key=F.pad(x.position_key, (0, 0, 1, 0)).transpose(0, 1).contiguous(),
        u=x.u,
        v=x.v,
        scale=x.scale,
    )


def split_bound(x: Inputs) -> tuple[Tensor, ...]:
    """Multiply, and no more: q . k [batch head query key] and q . p [batch head query distance]."""
    return x.query @ x.key.mT, x.query @ x.position_key.mT


def split_relxl(x: Inputs) -> tuple[Tensor, ...]:
    """Split as relxl does, with the making of the pair map."""
    pairs = relative_pairs(x.query.shape[2], x.key.shape[2], device=x.query.device)
    terms = score_terms(x.query, x.key, x.position_key, x.u, x.v, pairs, x.scale)
    return terms.content, terms.content_position, terms.u_bias, terms.v_bias


def split_explicit(x: Inputs) -> tuple[Tensor, ...]:
    """Copy p_d out for every cell, [head query key d_head], and multiply with that."""
    query, u, v = x.query * x.scale, x.u * x.scale, x.v * x.scale
    length = query.shape[2]
    token = torch.arange(length)
    cells = x.position_key[:, length - 1 - token[:, None] + token]
    return (
        query @ x.key.mT,
        torch.einsum("bhqd,hqkd->bhqk", query, cells),
        torch.einsum("hd,bhkd->bhk", u, x.key),
        torch.einsum("hd,hqkd->hqk", v, cells),
    )


def split_pad_and_view(x: Inputs) -> tuple[Tensor, ...]:
    """Shift the product as the Transformer-XL paper's appendix B does: pad a column, view with rows of L, drop one."""
    query, u, v = x.query * x.scale, x.u * x.scale, x.v * x.scale
    product = query @ x.position_key.mT
    batch, head, length, width = product.shape
    padded = torch.cat([product.new_zeros(batch, head, length, 1), product], dim=-1)
    shifted = padded.view(batch, head, width + 1, length)[:, :, 1:].reshape(product.shape)
    return (
        query @ x.key.mT,
        shifted[..., :length],
        (x.key @ u[..., None]).squeeze(-1),
        (x.position_key @ v[..., None]).squeeze(-1),
    )


def split_xlnet_style(x: Inputs) -> tuple[Tensor, ...]:
    """Work on [query key batch head], drop the first L cells of the product and select columns by index.

    The inputs are those of `length_first`; the answer is permuted back, which copies nothing.
    """
    query, u, v = x.query * x.scale, x.u * x.scale, x.v * x.scale
    length, width = len(query), len(x.position_key)
    product = torch.einsum("ibnd,jnd->ijbn", query, x.position_key)
    shifted = product.reshape(width, length, *product.shape[2:])[1:].reshape(length, width - 1, *product.shape[2:])
    shifted = shifted.index_select(1, torch.arange(length))
    content = torch.einsum("ibnd,jbnd->ijbn", query, x.key)
    u_bias = torch.einsum("nd,jbnd->jbn", u, x.key)
    v_bias = torch.einsum("nd,jnd->jn", v, x.position_key)[1:]
    return content.permute(2, 3, 0, 1), shifted.permute(2, 3, 0, 1), u_bias.permute(1, 2, 0), v_bias.T


@dataclass(frozen=True)
class Method:
    """Hold a way to split: what it wants its inputs to be (not timed), the split (timed), and how far it can go."""

    split: Callable[[Inputs], tuple[Tensor, ...]]
    prepare: Callable[[Inputs], Inputs] = unchanged
    longest: float = math.inf


METHODS = {
    "bound": Method(split_bound, scaled),
    "relxl": Method(split_relxl),
    "relxl one head": Method(split_relxl, first_head),
    "explicit": Method(split_explicit, longest=512),  # 0.5 GB there, 8.6 GB at 2048
    "pad-and-view": Method(split_pad_and_view),
    "xlnet-style": Method(split_xlnet_style, length_first),
}


def dense(split: tuple[Tensor, ...], pairs: PairMap) -> list[Tensor]:
    """Spread what a split gave over the cells: two or four tensors that broadcast to [batch head query key]."""
    content, position, *strips = split
    terms = [content, position if position.shape == content.shape else pairs.read(position)]
    if strips:
        u_bias, v_bias = strips
        terms += [u_bias[:, :, None], (pairs.read_curve(v_bias) if v_bias.dim() == 2 else v_bias)[None]]
    return terms


def largest_difference(split: tuple[Tensor, ...], x: Inputs) -> tuple[float, float]:
    """Compare a split with relxl's split of `x`, term by term: (largest difference, largest score of relxl)."""
    pairs = relative_pairs(x.query.shape[2], x.key.shape[2])
    expected = dense(split_relxl(x), pairs)
    compared = zip(dense(split, pairs), expected, strict=False)  # the bound has two terms
    difference = max((term - known[:, : term.shape[1]]).abs().max().item() for term, known in compared)
    return difference, sum(expected).abs().max().item()
