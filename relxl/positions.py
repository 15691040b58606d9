"""Ways to fill the position table: R_d from a learned table or a sinusoid, clamped or not, and p_d = W_kR R_d.

Every function takes `distance` [distance] in tokens and gives one row a distance, so that the core never knows where
a position came from.
"""

import torch
from torch import Tensor


def clamp_distance(distance: Tensor, clamp_len: int | None) -> Tensor:
    """Let all distances beyond clamp_len share its row: d -> min(max(d, -clamp_len), clamp_len). None leaves them.

    Raises ValueError for a negative clamp_len. Source: `clamp_len` of github.com/kimiyoung/transformer-xl.
    """
    if clamp_len is None:
        return distance
    if clamp_len < 0:
        raise ValueError(f"clamp_len must be 0 or more tokens (or None for no clamp), got {clamp_len}")
    return distance.clamp(-clamp_len, clamp_len)


def learned_rows(pos_table: Tensor, distance: Tensor, clamp_len: int | None = None) -> Tensor:
    """Read R_d from a learned table [2*max_len-1 d_pos]: row clamp(d, -(max_len-1), max_len-1) + max_len - 1.

    Gives [distance d_pos]. A clamp_len below max_len - 1 moves the wall closer. Source: the article, section 3.2.
    """
    max_len = (len(pos_table) + 1) // 2
    reach = max_len - 1 if clamp_len is None else min(clamp_len, max_len - 1)
    return pos_table[clamp_distance(distance, reach) + max_len - 1]


def sinusoid_rows(
    distance: Tensor, d_pos: int, clamp_len: int | None = None, dtype: torch.dtype | None = None
) -> Tensor:
    """Compute R_d = [sin(d f_0), sin(d f_1), ..., cos(d f_0), cos(d f_1), ...], f_k = 10000^(-2k / d_pos).

    Gives [distance d_pos]: two halves, not interleaved. Phases are taken in float64, because float32 phases of large
    distances are off by 1e-4. Source: Dai et al. 2019, section 3.3; layout of github.com/kimiyoung/transformer-xl.
    """
    if d_pos < 2 or d_pos % 2:
        raise ValueError(f"a sinusoid needs an even number of dimensions, 2 or more, got {d_pos}")
    steps = torch.arange(0, d_pos, 2, dtype=torch.float64, device=distance.device)
    phase = clamp_distance(distance, clamp_len).to(torch.float64)[:, None] * 10000.0 ** (-steps / d_pos)
    return torch.cat([phase.sin(), phase.cos()], dim=-1).to(dtype or torch.get_default_dtype())


def project_positions(rows: Tensor, w_k_pos: Tensor) -> Tensor:
    """Project R to the position key of each head, p_d = W_kR R_d.

    rows [distance d_pos], w_k_pos [head d_pos d_head] -> [head distance d_head].
    """
    return torch.einsum("td,hde->hte", rows, w_k_pos)
