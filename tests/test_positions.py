"""The ways to fill the table: learned and sinusoid rows, clamp, projection."""

import math

import pytest
import torch

from relxl.positions import (
    clamp_distance,
    interpolate_rows,
    learned_rows,
    project_positions,
    sinusoid_rows,
    truncate_rows,
    unclamped_rows,
)


def test_learned_rows_are_clamped_at_the_ends_of_the_table():
    table = torch.arange(7.0)[:, None]  # max_len 4: distances -3..3
    distance = torch.tensor([-9, -3, 0, 2, 3, 9])
    assert learned_rows(table, distance).flatten().tolist() == [0, 0, 3, 5, 6, 6]
    assert learned_rows(table, distance, clamp_len=1).flatten().tolist() == [2, 2, 3, 4, 4, 4]
    assert torch.equal(learned_rows(table, distance, clamp_len=99), learned_rows(table, distance))


def test_sinusoid_is_sines_then_cosines():
    rows = sinusoid_rows(torch.tensor([0, 2, -2]), 4, dtype=torch.float64)
    second = 2 * 10000 ** (-2 / 4)
    expected = [[0, 0, 1, 1], [math.sin(2), math.sin(second), math.cos(2), math.cos(second)]]
    expected.append([-expected[1][0], -expected[1][1], expected[1][2], expected[1][3]])
    torch.testing.assert_close(rows, torch.tensor(expected, dtype=torch.float64))


def test_sinusoid_phases_of_large_distances_are_exact_in_float32():
    rows = sinusoid_rows(torch.tensor([100_001]), 2, dtype=torch.float32)
    assert rows[0, 0].item() == pytest.approx(math.sin(100_001), abs=6e-8)


def test_clamp_shares_one_row_beyond_the_wall_and_leaves_the_rest():
    distance = torch.arange(-6, 7)
    assert clamp_distance(distance, 4).tolist() == [-4, -4, -4, -3, -2, -1, 0, 1, 2, 3, 4, 4, 4]
    assert torch.equal(clamp_distance(distance, 6), distance)
    assert clamp_distance(distance, None) is distance
    with pytest.raises(ValueError, match="got -1"):
        clamp_distance(distance, -1)


@pytest.mark.parametrize("d_pos", [0, 3])
def test_an_odd_sinusoid_is_refused(d_pos):
    with pytest.raises(ValueError, match=f"got {d_pos}"):
        sinusoid_rows(torch.arange(3), d_pos)


def test_projection_is_one_matrix_a_head():
    rows, w_k_pos = torch.randn(5, 3), torch.randn(2, 3, 7)
    torch.testing.assert_close(project_positions(rows, w_k_pos)[1], rows @ w_k_pos[1])


@pytest.mark.parametrize("old", [1, 2, 3, 5, 13])
@pytest.mark.parametrize("new", [1, 2, 3, 5, 7, 13, 25, 40])
def test_an_interpolated_table_keeps_its_ends_and_its_centre_to_the_bit(old, new):
    table = torch.randn(2 * old - 1, 3)
    other = interpolate_rows(table, new)
    assert other.shape == (2 * new - 1, 3)
    assert torch.equal(other[new - 1], table[old - 1])
    if new > 1:
        assert torch.equal(other[0], table[0]) and torch.equal(other[-1], table[-1])
    assert other is table if new == old else other is not table


@pytest.mark.parametrize("new", [2, 3, 4, 7, 11, 13, 29])
def test_a_table_linear_in_distance_stays_linear(new):
    slope, centre = torch.randn(2, 5, dtype=torch.float64)
    table = centre + torch.arange(-4, 5)[:, None] * slope
    steps = torch.arange(-(new - 1), new)[:, None] * 4 / (new - 1)
    torch.testing.assert_close(interpolate_rows(table, new), centre + steps * slope)


def test_a_table_stretched_by_a_whole_number_passes_through_its_rows():
    table = torch.randn(7, 2)  # max_len 4, distances -3..3
    assert torch.equal(interpolate_rows(table, 10)[::3], table)  # -9..9
    torch.testing.assert_close(interpolate_rows(table, 7)[1::2], (table[1:] + table[:-1]) / 2)


def test_near_distances_keep_their_row_and_only_the_rest_is_stretched():
    table = torch.randn(11, 2)  # max_len 6
    other = interpolate_rows(table, 10, near=2)  # 3..9 takes the place of 3..5
    assert torch.equal(other[9 - 2 : 9 + 3], table[5 - 2 : 5 + 3])
    assert torch.equal(other[[0, -1]], table[[0, -1]])
    torch.testing.assert_close(other[9 + 4], (table[5 + 2] * 1 + table[5 + 3] * 6) / 7)  # 2 + 2 * 3/7 = 2 + 6/7
    wall = interpolate_rows(table, 10, near=5)  # nothing is left to stretch: the clamp
    assert torch.equal(wall, learned_rows(table, torch.arange(-9, 10)))
    with pytest.raises(ValueError, match="0 to 5, got 6"):
        interpolate_rows(table, 10, near=6)


@pytest.mark.parametrize("max_len", [0, -3])
@pytest.mark.parametrize("resize", [interpolate_rows, truncate_rows])
def test_no_table_has_a_max_len_below_one(resize, max_len):
    with pytest.raises(ValueError, match=f"^max_len must be 1 or more, got {max_len}$"):
        resize(torch.randn(7, 2), max_len)


def test_an_even_number_of_rows_is_no_table():
    with pytest.raises(ValueError, match="an odd number, got 6"):
        interpolate_rows(torch.randn(6, 2), 5)


def test_a_truncated_table_is_a_clamp_and_no_copy():
    table, distance = torch.randn(13, 2), torch.arange(-20, 21)
    cut = truncate_rows(table, 4)
    assert torch.equal(learned_rows(cut, distance), learned_rows(table, distance, clamp_len=3))
    assert cut.untyped_storage().data_ptr() == table.untyped_storage().data_ptr()
    with pytest.raises(ValueError, match="max_len=7 can not be cut to max_len=8"):
        truncate_rows(table, 8)


def test_without_a_clamp_a_short_table_is_refused_in_one_sentence():
    table = torch.randn(7, 2)
    inside = torch.arange(-3, 4)
    assert torch.equal(unclamped_rows(table, inside), table) and len(unclamped_rows(table, inside[:0])) == 0
    with pytest.raises(ValueError, match=r"-3 to 3 \(max_len=4\), but -4 to 9 are asked for: .* max_len=10 or more"):
        unclamped_rows(table, torch.arange(-4, 10))
    for one_too_far in (torch.arange(-3, 5), torch.arange(-4, 4)):
        with pytest.raises(ValueError, match="max_len=5 or more"):
            unclamped_rows(table, one_too_far)
