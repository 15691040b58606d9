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
    attn: nn.Module, query_hidden: Tensor, key_hidden: Tensor, distance: int, head: int, clamp_len: int | None
) -> dict[str, Tensor]:
    """Compute one cell of a relative attention layer in float64, straight from weights and hidden states.

    query_hidden and key_hidden [d_model] are the layer's input at the query and at the key. Gives what each dimension
    adds to each term, scaled, [d_head]; a term is the sum over its dimensions.
    """
    rows = head_rows(attn, head)
    q, k = project(attn.w_q, query_hidden, rows), project(attn.w_k, key_hidden, rows)
    p = position_row(attn, distance, clamp_len) @ attn.w_k_pos[head].double()
    u, v = attn.u[head].double(), attn.v[head].double()
    products = {"content": q * k, "content_position": q * p, "u_bias": u * k, "v_bias": v * p}
    return {name: product / math.sqrt(len(q)) for name, product in products.items()}


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


def head_rows(attn: nn.Module, head: int) -> slice:
    d_head = attn.w_q.out_features // attn.n_heads
    return slice(head * d_head, (head + 1) * d_head)


def project(linear: nn.Linear, x: Tensor, rows: slice, bias: bool = True) -> Tensor:
    """Project x [d_model] to some rows of a linear map in float64: [row]."""
    y = linear.weight[rows].double() @ x.double()
    return y + linear.bias[rows].double() if bias else y


def position_row(attn: nn.Module, distance: int, clamp_len: int | None) -> Tensor:
    """Compute R_d in float64: [d_pos]."""
    if clamp_len is not None:
        distance = max(-clamp_len, min(clamp_len, distance))
    table = getattr(attn.pos_enc, "pos_table", None)
    if table is not None:
        reach = (len(table) - 1) // 2
        return table[max(-reach, min(reach, distance)) + reach].double()
    d_pos = attn.pos_enc.dim
    phases = [distance * 10000.0 ** (-2 * k / d_pos) for k in range(d_pos // 2)]
    values = [math.sin(phase) for phase in phases] + [math.cos(phase) for phase in phases]
    return torch.tensor(values, dtype=torch.float64, device=attn.w_k_pos.device)
