"""The max_len lab: ranges, rows and walls against double loops; what a clamp changes, bit by bit; recorded losses."""

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from relxl.checkpoint import Checkpoint, open_checkpoint, save_checkpoint
from relxl.experiments.max_len import (
    beyond_wall,
    cells_per_distance,
    cells_per_row,
    distance_matrix,
    distance_range,
    index_rows,
    known_reach,
    max_len_needed,
    own_wall,
    row_sharing,
    rows_read,
    score_change,
    table_range,
    table_use,
    touched_queries,
    trained_reach,
)
from relxl.experiments.max_len_cli import SMALL, small_rows
from relxl.model import TransformerXL
from relxl.reading import Reading
from relxl.trace import run, run_hidden
from relxl.vocab import Vocab
from tests.conftest import ROOT, tiny_model
from tests.foreign import foreign, input_of

SIZES = [(1, 1, 0), (10, 5, 0), (3, 7, 0), (7, 7, 0), (5, 13, 8), (5, 13, 3), (2, 11, 9)]  # query_len, key_len, mem_len


def bundled(name: str) -> Checkpoint:
    return open_checkpoint(ROOT / "checkpoints" / name)


# What a max_len does to a matrix -------------------------------------------------------------------------------------


def test_ten_queries_and_five_keys_need_the_distances_that_the_article_says():
    assert distance_range(10, 5) == (-4, 9)
    assert distance_range(10, 5, convention="j-i") == (-9, 4)
    assert max_len_needed(10, 5) == 10 and max_len_needed(3, 7) == 7 and max_len_needed(3, 7, causal=True) == 3


@pytest.mark.parametrize("query_len, key_len, mem_len", SIZES)
@pytest.mark.parametrize("max_len", [1, 2, 5, 30])
@pytest.mark.parametrize("convention, sign", [("i-j", 1), ("j-i", -1)])
def test_rows_are_those_of_a_double_loop(query_len, key_len, mem_len, max_len, convention, sign):
    sizes, wall = (query_len, key_len, mem_len), max_len - 1
    rows = index_rows(*sizes, max_len, convention)
    for i in range(query_len):
        for j in range(key_len):
            assert rows[i, j] == max(-wall, min(wall, sign * (mem_len + i - j))) + wall
    distance = distance_matrix(*sizes, convention)
    assert (distance.min(), distance.max()) == distance_range(*sizes, convention)
    assert np.array_equal(2 * wall - rows, index_rows(*sizes, max_len, "j-i" if sign > 0 else "i-j"))
    sharing = row_sharing(*sizes, max_len, convention)
    assert np.array_equal(sharing.n_cells, np.bincount(rows.ravel(), minlength=2 * max_len - 1))
    for row, n_distances in enumerate(sharing.n_distances):
        assert n_distances == len(np.unique(distance[rows == row]))
        assert n_distances <= 1 or row in (0, 2 * wall)  # only the wall is shared
    assert sharing.unused == (sharing.n_cells == 0).sum()
    assert (max(sharing.n_distances) <= 1) == (max_len >= max_len_needed(*sizes))
    assert list(sharing.table()) == ["distance", "n_distances", "n_cells"]


@pytest.mark.parametrize("query_len, key_len, mem_len", SIZES)
def test_a_diagonal_has_as_many_cells_as_are_counted(query_len, key_len, mem_len):
    distances, cells = cells_per_distance(query_len, key_len, mem_len)
    found = distance_matrix(query_len, key_len, mem_len)
    assert [(found == distance).sum() for distance in distances] == cells.tolist()
    assert cells.sum() == query_len * key_len


@pytest.mark.parametrize("call, sentence", [
    (lambda: index_rows(3, 3, 0, 0), "^max_len must be 1 or more, got 0$"),
    (lambda: row_sharing(3, 3, 0, -5), "^max_len must be 1 or more, got -5$"),
    (lambda: rows_read(9, 3, 3, 0), "^max_len must be 1 or more, got 0$"),
    (lambda: distance_range(0, 3), "at least one query and one key"),
    (lambda: index_rows(3, 3, -1, 4), "no negative memory"),
    (lambda: index_rows(3, 3, 0, 4, "i+j"), r"convention must be one of i-j, j-i, got 'i\+j'"),
])  # fmt: skip
def test_sizes_that_no_attention_has_are_refused_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


# What a clamp changes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
@pytest.mark.parametrize("reach", [0, 1, 5, 9, 11, 12, 17, 18, 40])
def test_the_cells_that_change_are_exactly_those_beyond_the_wall(positions, reach, dtype, tokens):
    model = tiny_model(positions, dtype, max_len=19)  # 19 tokens: the largest distance is 18, and has its own row
    trace = run(model, tokens, mem_len=7)
    wall = beyond_wall(12, 19, 7, reach)
    assert wall.any() == (reach < 18)
    for layer, head in ((0, 0), (1, 2)):
        change = score_change(trace, layer, head, Reading(clamp_len=reach))
        assert np.array_equal(change.changed, wall)
        assert np.array_equal(change.before[~wall], change.after[~wall])
        assert np.array_equal(beyond_wall(12, 19, 7, reach, causal=True), wall & change.mask)
    last = score_change(trace, 1, 1, Reading(clamp_len=reach), queries=5)
    assert np.array_equal(last.changed, wall[-5:])


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
@pytest.mark.parametrize("reach", [0, 3, 9, 17, 18, 99])
def test_only_queries_that_see_beyond_the_wall_are_touched(positions, reach, tokens):
    model = tiny_model(positions, max_len=19)
    touched = touched_queries(19, 0, reach)
    right, clamped = model(tokens).output_logits, model(tokens, clamp_len=reach).output_logits
    assert np.array_equal((right != clamped).any(-1).all(0).numpy(), touched)
    assert torch.equal(right[:, ~touched], clamped[:, ~touched])
    assert np.array_equal(beyond_wall(7, 19, 12, reach, causal=True).any(-1), touched_queries(7, 12, reach))


def test_a_flip_keeps_the_diagonal_and_reads_the_mirror_elsewhere(tokens):
    trace = run(tiny_model(max_len=19), tokens, mem_len=7)
    change = score_change(trace, 1, 2, Reading(flip=True))
    assert np.array_equal(~change.changed, distance_matrix(12, 19, 7) == 0)
    assert change.probs_after.shape == change.probs_before.shape == (12, 19)


# What training did to the rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_tokens, segment_len, mem_len, max_len", [(1, 3, 2, 4), (23, 5, 7, 6), (23, 5, 0, 20)])
def test_rows_that_a_text_reads_are_those_of_a_double_loop(n_tokens, segment_len, mem_len, max_len):
    counts = np.zeros(2 * max_len - 1, dtype=int)
    for query in range(n_tokens):
        begin = query - query % segment_len
        for key in range(max(begin - mem_len, 0), query + 1):
            counts[min(query - key, max_len - 1) + max_len - 1] += 1
    assert np.array_equal(rows_read(n_tokens, segment_len, mem_len, max_len), counts)


def test_a_trained_table_knows_the_past_up_to_its_reach_and_nothing_else():
    checkpoint = bundled("shakespeare-learned")
    use = table_use(checkpoint)
    assert trained_reach(checkpoint.config) == 255 and use.steps == 4000
    assert np.array_equal(use.untrained, use.distance < 0)
    assert np.array_equal(rows_read(10_000, 128, 128, 256) > 0, ~use.untrained)
    untrained = use.size[:, use.untrained]  # 4 layers of 255 rows: what the start gives, and no more
    assert abs(untrained.mean() - 1) < 0.05 and np.abs(untrained.std() - use.spread) < 0.02
    assert use.size[:, (use.distance >= 0) & (use.distance < 20)].mean() > 3
    table = use.table(2, rows_read(300, 128, 128, 256))
    assert table["cells_that_read_it"].sum() == 128 * 129 // 2 + 128 * 128 + 128 * 129 // 2 + 44 * 128 + 44 * 45 // 2
    assert list(table["steps_with_gradient"]) == list(use.gradient_counts[2])


def test_rows_without_a_gradient_are_to_the_bit_what_the_seed_made():
    checkpoint = bundled("shakespeare-learned")
    untrained = table_use(checkpoint).untrained
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(checkpoint.training["seed"])
        fresh = TransformerXL(checkpoint.config)
    for layer, start in zip(checkpoint.model.layers, fresh.layers, strict=True):
        same = (layer.attn.pos_enc.pos_table == start.attn.pos_enc.pos_table).all(-1).numpy()
        assert np.array_equal(same, untrained)


def test_only_a_table_with_counts_of_its_own_can_be_asked_for_its_rows(tmp_path):
    with pytest.raises(ValueError, match="shakespeare-sinusoid has sinusoid positions, which have no table"):
        table_use(bundled("shakespeare-sinusoid"))
    save_checkpoint(tmp_path / "own", tiny_model(), Vocab(tuple("abcdefghijk")), {})
    checkpoint = open_checkpoint(tmp_path / "own")
    assert list(table_use(checkpoint).table(1)) == ["distance", "size"]
    with pytest.raises(ValueError, match="does not say which rows"):
        _ = table_use(checkpoint).untrained
    counted = replace(checkpoint, training={"row_gradient_counts": [[1, 2, 3]]})
    with pytest.raises(ValueError, match=r"gradients of \[1, 3\] rows, but the tables have \[2, 25\]"):
        table_use(counted)


# Other families ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, reach, table, wall", [
    ("txl_official", 8 + 6 - 1, None, None),
    ("txl_same_length", 6 - 1, None, None),  # its window ends before
    ("txl_learned", 7 + 6 - 1, (0, 12), 12),
    ("hf_transfoxl", None, None, None),  # its config has no tgt_len
    ("hf_same_length", None, None, 4),  # clamp_len
    ("xlnet_uni", None, None, None),
    ("labml", None, (-31, 32), 32),
    ("article", None, (-5, 5), 5),
    ("nemo", None, None, None),
])  # fmt: skip
def test_what_is_known_of_another_familys_distances(name, reach, table, wall):
    checkpoint = foreign(name)
    assert known_reach(checkpoint) == reach
    assert (table_range(checkpoint.model), own_wall(checkpoint.model)) == (table, wall)


@pytest.mark.parametrize("name", ["txl_learned", "labml", "article"])
def test_the_rows_of_another_familys_table_are_measured_and_counted(name):
    checkpoint = foreign(name)
    first, last = table_range(checkpoint.model)
    use = table_use(checkpoint)
    assert list(use.distance) == list(range(first, last + 1)) and use.spread is None and use.gradient_counts is None
    rows = [layer.attn.positions.rows for layer in checkpoint.model.layers]
    norms = np.array([[float(table[:, row].norm()) for row in range(last - first + 1)] for table in rows])
    np.testing.assert_allclose(use.size, norms / norms.mean(1, keepdims=True))
    distance = distance_matrix(5, 9, 4)
    mask = distance >= 0
    counts = cells_per_row(distance, mask, (first, last))
    for row, at in enumerate(range(first, last + 1)):
        reads = [d for d in distance[mask].tolist() if min(max(d, first), last) == at]
        assert counts[row] == len(reads)


@pytest.mark.parametrize("name", ["wav2vec2_conformer", "xlnet_bi", "nemo", "article", "labml", "hf_transfoxl"])
@pytest.mark.parametrize("reach", [0, 3])
def test_the_cells_that_change_in_another_family_are_those_beyond_its_wall(name, reach):
    checkpoint = foreign(name)
    trace = run_hidden(checkpoint.model, input_of(checkpoint, 9))
    change = score_change(trace, 0, 1, Reading(clamp_len=reach))
    distance = distance_matrix(trace.query_len, trace.key_len, trace.mem_len)
    assert np.array_equal(change.distance, distance)
    assert np.array_equal(change.changed & change.mask, (np.abs(distance) > reach) & change.mask)
    assert np.array_equal(change.beyond(reach), (np.abs(distance) > reach) & change.mask)
    assert change.beyond(reach)[0].any() == (trace.mem_len > 0 or trace.rule.sees == "both")


def test_a_reversed_table_is_read_at_other_distances():
    checkpoint = foreign("espnet_legacy")
    trace = run_hidden(checkpoint.model, input_of(checkpoint, 6))
    change = score_change(trace, 0, 1, Reading(clamp_len=5))
    past = distance_matrix(6, 6) >= 0
    assert np.array_equal(change.distance[past], distance_matrix(6, 6)[past] + 10 - 6)
    assert np.array_equal(change.changed, np.abs(change.distance) > 5)


# What is recorded ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded() -> list[dict]:
    with (ROOT / "data/max_len.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def how() -> dict:
    return json.loads((ROOT / "data/max_len.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["shakespeare-learned", "shakespeare-sinusoid", "shakespeare-absolute"])
def test_a_small_part_measured_again_gives_the_recorded_losses(name, how):
    checkpoint = bundled(name)
    assert how["checkpoints"][name] == checkpoint.digest and how["small_settings"] == SMALL
    text = (ROOT / "data/tinyshakespeare.txt").read_text(encoding="utf-8")
    expected = [row for row in how["small"] if row["checkpoint"] == name]
    again = small_rows(checkpoint, text)
    assert [row["variant"] for row in again] == [row["variant"] for row in expected]
    for row, old in zip(again, expected, strict=True):  # the same characters: nothing but rounding may differ
        assert row["loss"] == pytest.approx(old["loss"], abs=1e-3)


def test_the_recorded_rows_are_whole(recorded, how):
    assert (ROOT / "data/max_len.csv").stat().st_size < 300_000
    assert how["command"].startswith("python -m relxl sweep max-len --out data/max_len.csv")
    for row in recorded:
        if int(row["begin"]) == 0 and row["end"] == row["segment_len"]:
            bins = [
                other
                for other in recorded
                if all(other[name] == row[name] for name in ("checkpoint", "variant", "segment_len", "mem_len"))
                and other is not row
            ]
            characters = [int(other["characters"]) for other in bins]
            assert sum(characters) == int(row["characters"]) == how["characters"]["scored"]
            mean = sum(float(other["loss"]) * n for other, n in zip(bins, characters, strict=True)) / sum(characters)
            assert mean == pytest.approx(float(row["loss"]), abs=1e-5)
            assert math.isfinite(float(row["change_error"]))


@pytest.mark.parametrize("name", ["shakespeare-learned", "shakespeare-sinusoid", "shakespeare-absolute"])
def test_the_recorded_home_is_near_the_validation_loss(name, recorded):
    checkpoint = bundled(name)
    config = checkpoint.config
    key = (name, "as_trained", str(config.segment_len), str(config.mem_len), "0", str(config.segment_len))
    columns = ("checkpoint", "variant", "segment_len", "mem_len", "begin", "end")
    (row,) = [row for row in recorded if tuple(row[column] for column in columns) == key]
    assert abs(float(row["loss"]) - checkpoint.training["validation"]["loss"]) < 4 * float(row["loss_error"])


def test_the_recorded_losses_say_what_the_pages_say_of_them(recorded):
    def change(name, variant, segment_len, mem_len):
        columns = ("checkpoint", "variant", "segment_len", "mem_len", "begin", "end")
        key = (f"shakespeare-{name}", variant, *map(str, (segment_len, mem_len, 0, segment_len)))
        (row,) = [row for row in recorded if tuple(row[column] for column in columns) == key]
        return float(row["change"])

    for mem_len in (128, 256, 512, 1024):  # eight times the training's segment: relative positions hardly notice
        assert change("learned", "as_trained", 1024, mem_len) < 0.03
        assert change("sinusoid", "as_trained", 1024, mem_len) < change("learned", "as_trained", 1024, mem_len)
    assert change("absolute", "as_trained", 256, 0) > 0.8  # twice it is enough to break absolute ones
    assert change("learned", "interpolate", 1024, 0) > 2  # stretching the whole table breaks the nearest distances
    assert abs(change("learned", "interpolate:512:64", 128, 128)) < 0.002  # which are the only ones that matter so much
    assert change("learned", "flip", 128, 128) > 2 and change("sinusoid", "flip", 128, 128) > 2
    assert change("learned", "truncate:64", 128, 128) < 0.002 < 0.04 < change("learned", "truncate:32", 128, 128)
