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


def unclamped_rows(pos_table: Tensor, distance: Tensor) -> Tensor:
    """Read R_d from a learned table that must hold a row for every distance: [distance d_pos].

    `learned_rows` lets what lies beyond the table share its last row, without a word. Raises ValueError instead.
    """
    max_len = table_max_len(pos_table)
    if distance.numel():
        smallest, largest = int(distance.min()), int(distance.max())
        needed = max(-smallest, largest) + 1
        if needed > max_len:
            raise ValueError(
                f"the table has rows for the distances {1 - max_len} to {max_len - 1} (max_len={max_len}), but "
                f"{smallest} to {largest} are asked for: clamp them, interpolate the table, or train with "
                f"max_len={needed} or more"
            )
    return learned_rows(pos_table, distance)


def interpolate_rows(pos_table: Tensor, max_len: int, near: int = 0) -> Tensor:
    """Stretch or squeeze a learned table over distance: [rows d_pos] -> [2*max_len-1 d_pos].

    R'_d = R_x, x = d (old_max_len - 1) / (max_len - 1), linear between two rows. Both ends and the centre (distance
    0) are kept to the bit; a table that is linear in d stays linear; the same length gives the same table. A max_len
    of 1 keeps the centre alone. Distances up to `near` keep their own row, and only what lies beyond is stretched.
    Raises ValueError for a max_len below 1 and for a `near` that one of the tables does not reach.
    Source: the article, section 5.
    """
    check_max_len(max_len)
    reach, new_reach = table_max_len(pos_table) - 1, max_len - 1
    check_near(near, reach, new_reach)
    if new_reach == reach:
        return pos_table
    distance = torch.arange(-new_reach, new_reach + 1, device=pos_table.device)
    inner, outer, share = stretched_places(distance, reach, new_reach, near)
    return torch.lerp(pos_table[reach + inner], pos_table[reach + outer], share.to(pos_table.dtype)[:, None])


def stretched_places(distance: Tensor, reach: int, new_reach: int, near: int) -> tuple[Tensor, Tensor, Tensor]:
    """Say where each distance of a stretched table lies in the old one: at `share` of the way from `inner` to `outer`.

    Distances in, old distances out: x = d reach / new_reach, beyond `near`; in whole numbers, so ends are hit exactly.
    """
    size, side = distance.abs(), distance.sign()
    place, step = (size - near).clamp(min=0) * (reach - near), max(new_reach - near, 1)
    inner, rest = size.clamp(max=near) + place // step, place % step
    return side * inner, side * (inner + (rest > 0)), rest.double() / step


def truncate_rows(pos_table: Tensor, max_len: int) -> Tensor:
    """Keep the rows of the distances -(max_len-1) .. max_len-1, as a view: [rows d_pos] -> [2*max_len-1 d_pos]."""
    check_max_len(max_len)
    old_max_len = table_max_len(pos_table)
    if max_len > old_max_len:
        raise ValueError(
            f"a table of max_len={old_max_len} can not be cut to max_len={max_len}: give a smaller one, or interpolate"
        )
    return pos_table[old_max_len - max_len : old_max_len + max_len - 1]


def check_near(near: int, reach: int, new_reach: int) -> None:
    if not 0 <= near <= min(reach, new_reach):
        raise ValueError(f"near must be a distance that both tables have, 0 to {min(reach, new_reach)}, got {near}")


def check_max_len(max_len: int) -> None:
    if max_len < 1:
        raise ValueError(f"max_len must be 1 or more, got {max_len}")


def table_max_len(pos_table: Tensor) -> int:
    """Give max_len of a table of 2*max_len - 1 rows. Raises ValueError for an even number of rows."""
    if len(pos_table) % 2 == 0:
        raise ValueError(f"a position table has 2*max_len - 1 rows, an odd number, got {len(pos_table)}")
    return (len(pos_table) + 1) // 2


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
