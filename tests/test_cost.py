"""The explicit tensor beside the table projected first: sizes by formula and as measured, and the same scores."""

import json
import math

import pytest
import torch

from relxl.experiments import cost


def test_the_two_quoted_numbers_are_these_tensors():
    shared, projected, *_rest = cost.held_tensors(512, n_head=8, d_head=32, d_pos=64)
    assert shared[1:] == ("rel_emb", (512, 512, 64), 67_108_864)
    assert projected[1:] == ("pos_proj", (512, 512, 8, 32), 268_435_456)
    assert cost.held_tensors(1024, d_pos=64)[0].bytes == 268_435_456
    assert cost.held_tensors(512, n_head=16)[0] == shared  # no head has a rel_emb of its own
    halves = [held.bytes for held in cost.held_tensors(512, itemsize=2)]
    assert halves == [held.bytes // 2 for held in cost.held_tensors(512)]
    assert (cost.N_HEAD, cost.D_HEAD, cost.D_POS) == (8, 32, 64)  # what is measured is what is quoted


def test_the_formula_names_the_tensors_that_the_code_makes():
    length = 31
    x = cost.make_inputs(length)
    shape = {(held.method, held.name): held.shape for held in cost.held_tensors(length)}
    for method, run in cost.METHODS.items():
        content_position, v_bias = run(x)
        assert content_position.shape == (1, *shape["explicit", "content_position"])
        assert v_bias.shape == shape[method, "v_bias"]
    product = cost.table_first(x)[0]._base  # the answer is a view of the product, with nothing copied
    assert product.shape == (1, *shape["table_first", "q · position_key"])


def test_rows_come_one_by_one_and_both_ways_give_the_same_scores(monkeypatch):
    monkeypatch.setattr(cost, "LONGEST_EXPLICIT", 31)
    rows = list(cost.measure_cost((2, 31, 37), rounds=1))
    assert [(row.method, row.length) for row in rows] == cost.planned((2, 31, 37))
    assert cost.planned((2, 31, 37))[-2:] == [("table_first", 31), ("table_first", 37)]
    for row in rows:
        assert row.ms > 0 and row.bytes_formula == cost.formula_bytes(row.method, row.length)
        assert row.bytes_formula <= row.bytes_measured <= 2 * row.bytes_formula + 100_000
        if row.length == 37:
            assert math.isnan(row.difference)
        else:
            assert row.difference <= 1e-5 * row.largest_score
    assert rows[2].bytes_measured > 2 * rows[3].bytes_measured


def test_other_scores_would_be_seen(monkeypatch):
    broken = cost.METHODS | {"table_first": lambda x: cost.table_first(x._replace(v=x.v + 1))}
    monkeypatch.setattr(cost, "METHODS", broken)
    assert list(cost.measure_cost((7,), rounds=1))[1].difference > 1


def test_the_peak_is_what_is_held_at_a_time():
    def run():
        first = torch.zeros(1000)
        second = torch.zeros(500)
        del first
        return second, torch.zeros(1000)

    assert cost.peak_bytes(run) == 4 * 1500


def test_a_process_of_its_own_measures_the_same_bytes():
    rows = [row for row in cost.measure_apart((7,)) if row]
    here = list(cost.measure_cost((7,), rounds=1))
    assert [(row.method, row.bytes_measured) for row in rows] == [(row.method, row.bytes_measured) for row in here]


def test_closing_ends_the_process(monkeypatch):
    started = []
    popen = cost.subprocess.Popen
    monkeypatch.setattr(cost.subprocess, "Popen", lambda *a, **k: started.append(popen(*a, **k)) or started[-1])
    measuring = cost.measure_apart((7,))
    assert next(measuring) is None  # a process needs longer than a heartbeat to come up
    measuring.close()
    assert started[0].returncode not in (None, 0) and started[0].stdout.closed


def test_a_process_that_falls_is_one_sentence():
    with pytest.raises(RuntimeError, match="ended with code 1"):
        list(cost.measure_apart((-1,)))


def test_a_row_survives_the_way_through_text():
    row = cost.Row("table_first", 7, 0.5, 1, 2, math.nan, 3.0)
    assert repr(cost.Row(**json.loads(json.dumps(cost.asdict(row))))) == repr(row)
