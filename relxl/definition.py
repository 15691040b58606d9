"""The definition, written to be read: slow, obvious, and sharing no code with `relative.py` and `positions.py`.

Three writings of the same score. The tests hold the fast form to the first two; the proof badge of the app recomputes
single cells in float64 with the third.
"""

import math

import torch
from torch import Tensor, nn


def explicit_position_scores(query: Tensor, rel_emb: Tensor, w_k_pos: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Compute both position terms from the explicit tensor rel_emb [query key d_pos], unscaled.

    pos_proj[q, k, h] = rel_emb[q, k] W_h, then q_i . pos_proj and v . pos_proj: content_position
    [batch head query key] and v_bias [head query key]. Holds [query key head d_head]: 268 MB at length 512 with
    8 heads x 32, which is why relxl does not work this way. Source: the article, section 3.3.
    """
    pos_proj = torch.einsum("qkd,hde->qkhe", rel_emb, w_k_pos)
    return torch.einsum("bhqe,qkhe->bhqk", query, pos_proj), torch.einsum("he,qkhe->hqk", v, pos_proj)


def naive_scores(
    query: Tensor, key: Tensor, position_rows: Tensor, w_k_pos: Tensor, u: Tensor, v: Tensor, scale: float
) -> dict[str, Tensor]:
    """Compute the four terms of one batch entry by a double loop over queries and keys.

    query [head query d_head], key [head key d_head], position_rows [query key d_pos] (R of each pair), w_k_pos
    [head d_pos d_head], u, v [head d_head] -> four of [head query key]. Source: the article, section 3.5.
    """
    n_head, query_len, key_len = query.shape[0], query.shape[1], key.shape[1]
    names = ("content", "content_position", "u_bias", "v_bias")
    cells: dict[str, list[Tensor]] = {name: [] for name in names}
    for h in range(n_head):
        for i in range(query_len):
            for j in range(key_len):
                p = position_rows[i, j] @ w_k_pos[h]
                cells["content"].append(scale * query[h, i].dot(key[h, j]))
                cells["content_position"].append(scale * query[h, i].dot(p))
                cells["u_bias"].append(scale * u[h].dot(key[h, j]))
                cells["v_bias"].append(scale * v[h].dot(p))
    return {name: torch.stack(values).view(n_head, query_len, key_len) for name, values in cells.items()}


def relative_cell(
    attn: object,
    query_hidden: Tensor,
    key_hidden: Tensor,
    distance: int,
    head: int,
    clamp_len: int | None,
    reader_hidden: Tensor | None,
    differs: bool | None = None,
) -> dict[str, Tensor]:
    """Compute one cell of a relative attention layer in float64, straight from weights and hidden states.

    query_hidden and key_hidden [d_model] are the layer's input at the query and at the key; reader_hidden that of the
    query whose position score the cell reads, under the right map the query itself, and None for a pad, which reads
    none. Gives what each dimension adds to each term, scaled, [d_head]; a term is the sum over its dimensions, and a
    v_bias that is learned as one number is spread over them evenly.
    """
    rows, scale = head_rows(attn, head), attn.scale
    q, k = project(attn.w_q, norm(attn, query_hidden), rows), project(attn.w_k, norm(attn, key_hidden), rows)
    u = attn.u[head].double()
    products = {"content": q * k, "content_position": 0 * q, "u_bias": u * k, "v_bias": 0 * q}
    if reader_hidden is not None:
        reader = project(attn.w_q, norm(attn, reader_hidden), rows)
        p, curve = position(attn, distance, head, clamp_len)
        products["content_position"] = reader * p
        products["v_bias"] = attn.v[head].double() * p if curve is None else curve.expand(len(q)) / len(q)
    if differs is not None:
        s = attn.segments.embedding[int(differs), head].double()
        products |= {"segment_content": q * s, "segment_bias": attn.segments.bias[head].double() * s}
    return {name: product * scale for name, product in products.items()}


def absolute_cell(attn: nn.Module, query_hidden: Tensor, key_hidden: Tensor, head: int) -> dict[str, Tensor]:
    """Do the same for an absolute layer, whose hidden states are [2 d_model]: content, then position."""
    rows = head_rows(attn, head)
    q, k = project(attn.w_q, query_hidden[0], rows), project(attn.w_k, key_hidden[0], rows)
    q_position = project(attn.w_q, query_hidden[1], rows, bias=False)
    k_position = project(attn.w_k, key_hidden[1], rows, bias=False)
    products = {
        "content": q * k,
        "content_position": q * k_position,
        "position_content": q_position * k,
        "position_position": q_position * k_position,
    }
    return {name: product / math.sqrt(len(q)) for name, product in products.items()}


def head_rows(attn: object, head: int) -> slice:
    d_head = len(attn.w_q.weight) // attn.n_heads
    return slice(head * d_head, (head + 1) * d_head)


def project(linear: object, x: Tensor, rows: slice, bias: bool = True) -> Tensor:
    """Project x [d_model] to some rows of a linear map in float64: [row]."""
    y = linear.weight[rows].double() @ x.double()
    return y + linear.bias[rows].double() if bias and linear.bias is not None else y


def norm(attn: object, x: Tensor) -> Tensor:
    """Normalise a hidden state [d_model] in float64, if the family does so before it projects."""
    x, layer_norm = x.double(), getattr(attn, "norm", None)
    if layer_norm is None:
        return x
    centred = x - x.mean()
    return centred / (centred.square().mean() + layer_norm.eps).sqrt() * layer_norm.weight + layer_norm.bias


def position(attn: object, distance: int, head: int, clamp_len: int | None) -> tuple[Tensor, Tensor | None]:
    """Compute p_d in float64, [d_head], and v_bias where it is learned as one number."""
    positions = getattr(attn, "positions", None)
    if positions is None:  # the article's layer
        return position_row(attn, distance, clamp_len) @ attn.w_k_pos[head].double(), None
    if clamp_len is not None:
        distance = max(-clamp_len, min(clamp_len, distance))
    if hasattr(positions, "rows"):
        place = max(0, min(positions.rows.shape[1] - 1, distance - positions.first))
        curve = positions.v_curve
        return positions.rows[head, place].double(), None if curve is None else curve[head, place].double()
    w_k_pos = positions.w_k_pos[head].double()
    return sinusoid(abs(distance) if positions.mirrored else distance, len(w_k_pos)).to(w_k_pos.device) @ w_k_pos, None


def position_row(attn: nn.Module, distance: int, clamp_len: int | None) -> Tensor:
    """Compute R_d in float64: [d_pos]."""
    if clamp_len is not None:
        distance = max(-clamp_len, min(clamp_len, distance))
    table = getattr(attn.pos_enc, "pos_table", None)
    if table is not None:
        reach = (len(table) - 1) // 2
        return table[max(-reach, min(reach, distance)) + reach].double()
    return sinusoid(distance, attn.pos_enc.dim).to(attn.w_k_pos.device)


def sinusoid(distance: int, d_pos: int) -> Tensor:
    """Compute R_d, sines and then cosines, in float64: [d_pos]."""
    phases = [distance * 10000.0 ** (-2 * k / d_pos) for k in range(d_pos // 2)]
    return torch.tensor([f(phase) for f in (math.sin, math.cos) for phase in phases], dtype=torch.float64)
