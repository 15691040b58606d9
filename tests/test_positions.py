"""The ways to fill the table: learned and sinusoid rows, clamp, projection."""

import math

import pytest
import torch

from relxl.positions import clamp_distance, learned_rows, project_positions, sinusoid_rows


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
