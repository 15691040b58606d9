"""Memory and recomputed windows: where they must agree to rounding, where they must not, and what each costs."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from relxl.experiments.max_len_losses import cell_losses
from relxl.experiments.recurrence import (
    PAPER,
    WAYS,
    Measured,
    counted_cost,
    lead_of,
    measure_recurrence,
    multiplications,
    window_losses,
)
from relxl.figures.memory_cost import Ratios, speedup_figure, ways_figure
from relxl.training import token_loss
from tests.conftest import tiny_model
from tests.foreign import foreign

RELATIVE = ("learned", "sinusoid", "txl_official", "txl_learned")
CLOSE = {torch.float64: 1e-10, torch.float32: 1e-5}


def model_of(kind, dtype=torch.float64, n_layer=None, **changes):
    """Make a language model of ours, or open one of another family; one that has fewer layers where it is asked."""
    if kind in ("learned", "sinusoid", "absolute"):
        return tiny_model(kind, dtype, n_layer=n_layer or 3, **changes)
    model = foreign(kind, dtype).model
    return model if n_layer is None else replace(model, layers=model.layers[:n_layer])


def text_of(model, length=48):
    return torch.randint(model.config.n_token, (2, length), generator=torch.Generator().manual_seed(5))


def memory(model, tokens, segment_len, context):
    return torch.cat([loss for *_place, loss in cell_losses(model, tokens, segment_len, context)], dim=1)


def windows(model, tokens, window, stride, first=0):
    steps = window_losses(model, tokens, window, stride, first)
    return torch.cat([loss for *_place, loss in steps if loss is not None], dim=1)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("kind", RELATIVE)
@pytest.mark.parametrize("segment_len, context", [(1, 5), (3, 7), (7, 3), (5, 13)])
def test_one_layer_gives_the_same_where_a_window_has_the_same_keys(kind, dtype, segment_len, context):
    """In one layer the memory holds embeddings: nothing that was computed with more than the window has."""
    model = model_of(kind, dtype, n_layer=1)
    tokens = text_of(model)
    expected = memory(model, tokens, segment_len, context)
    by_segment = windows(model, tokens, context + segment_len, segment_len)
    torch.testing.assert_close(by_segment, expected, rtol=0, atol=CLOSE[dtype])
    for place in (0, 1, 2, 17, 29, 46):  # and so does a window of its own for a token
        inside = place % segment_len
        alone = windows(model, tokens[:, : place + 2], context + inside + 1, 1, first=place)
        torch.testing.assert_close(alone, expected[:, place : place + 1], rtol=0, atol=CLOSE[dtype])


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("kind", RELATIVE)
def test_all_layers_agree_while_memory_and_window_hold_the_whole_text(kind, dtype):
    model = model_of(kind, dtype)
    tokens = text_of(model, 24)
    with torch.no_grad():
        whole = token_loss(model.read(model.embed(tokens[:, :-1])).output_logits, tokens[:, 1:])
    for segment_len in (1, 5, 7):
        torch.testing.assert_close(memory(model, tokens, segment_len, 23), whole, rtol=0, atol=10 * CLOSE[dtype])
    for stride in (1, 5, 23):
        torch.testing.assert_close(windows(model, tokens, 23 + stride, stride), whole, rtol=0, atol=10 * CLOSE[dtype])


@pytest.mark.parametrize("kind", RELATIVE)
def test_memory_reaches_as_many_times_further_back_as_there_are_layers(kind):
    """With segments of one token: n_layer * context tokens back, and a window context tokens back, to the token."""
    model, context = model_of(kind), 5
    n_layer, tokens = len(model.layers), text_of(model, 30)
    last = tokens.shape[1] - 2
    ways = {
        "memory": (lambda text: memory(model, text, 1, context)[:, -1], n_layer * context),
        "window": (lambda text: windows(model, text, context + 1, 1, first=last)[:, -1], context),
    }
    for way, (loss, reach) in ways.items():
        for distance, matters in ((reach, True), (reach + 1, False)):
            changed = tokens.clone()
            changed[:, last - distance] = (changed[:, last - distance] + 1) % model.config.n_token
            assert bool((loss(changed) - loss(tokens)).abs().max() > 1e-12) == matters, (way, distance)


@pytest.mark.parametrize("kind", RELATIVE)
def test_more_layers_differ_under_the_same_keys(kind):
    model = model_of(kind)
    tokens = text_of(model)
    with_memory, by_window = memory(model, tokens, 3, 5), windows(model, tokens, 8, 3)
    torch.testing.assert_close(by_window[:, :6], with_memory[:, :6], rtol=0, atol=1e-9)  # the text begins here
    assert (by_window - with_memory)[:, 12:].abs().max() > 1e-4


def test_absolute_places_collide_in_a_memory_and_not_in_a_window():
    """Already one layer differs, except in the first segment; a window counts its places from its own start."""
    model = model_of("absolute", n_layer=1)
    tokens = text_of(model, 24)
    with_memory, by_window = memory(model, tokens, 5, 7), windows(model, tokens, 12, 5)
    torch.testing.assert_close(by_window[:, :5], with_memory[:, :5])
    assert (by_window - with_memory)[:, 5:].abs().min() > 1e-6
    with torch.no_grad():
        read = model(tokens[:, 10:17]).output_logits[:, -2:]
    torch.testing.assert_close(windows(model, tokens[:, 10:18], 7, 2, first=5), token_loss(read, tokens[:, 16:18]))


def test_a_window_at_the_ends_of_a_text():
    model = model_of("learned")
    tokens = text_of(model, 12)
    steps = [step for step in window_losses(model, tokens, 5, 3, first=1) if step[2] is not None]
    assert [step[:2] for step in steps] == [(1, 4), (4, 7), (7, 10), (10, 11)]
    one_by_one = windows(model, tokens[:, :5], 5, 1, first=1)
    torch.testing.assert_close(steps[0][2], one_by_one)
    for stride in (0, 6):
        with pytest.raises(ValueError, match="a window of 5 tokens moves by 1 to 5 tokens"):
            next(window_losses(model, tokens, 5, stride))


# Measuring -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["learned", "absolute", "txl_official"])
def test_what_is_measured_are_these_losses(kind):
    model = model_of(kind, torch.float32)
    tokens = text_of(model, 40)[:1]
    steps = list(measure_recurrence(model, tokens, 7, 5, rounds=3))
    done, results = [step for step, _result in steps], [result for _step, result in steps if result]
    assert done == sorted(done) and done[-1] == pytest.approx(1) and lead_of(7, 5) == 10
    assert [len(result.seconds["memory"]) for result in results] == [1, 2, 3]
    last = results[-1]
    assert set(last.seconds) == set(WAYS) and all((values > 0).all() for values in last.seconds.values())
    expected = memory(model, tokens[:, :26], 5, 7)[0, 10:].reshape(3, 5)
    np.testing.assert_allclose(last.losses["memory"], expected, rtol=1e-5)
    expected = windows(model, tokens[:, :26], 12, 5, first=10)[0].reshape(3, 5)
    np.testing.assert_allclose(last.losses["strided"], expected, rtol=1e-5)


def test_what_was_measured_is_summed_up_round_by_round():
    seconds = {"memory": np.array([1.0, 2, 4]), "window": np.array([30.0, 20, 80]), "strided": np.array([2.0, 4, 4])}
    losses = {"memory": np.ones((3, 2), np.float32), "strided": np.array([[1, 2], [1, 1], [1, 3]], np.float32)}
    it = Measured(7, 2, seconds, losses)
    assert it.ms("memory") == 2000 and it.ratio("window") == 20 and it.ratio("strided") == 2
    assert it.loss == {"memory": 1, "strided": 1.5}
    assert it.difference == pytest.approx((0.5, 0.5 / 3**0.5))
    one = Measured(7, 2, seconds, {way: values[:1] for way, values in losses.items()})
    assert np.isnan(one.difference[1])


def test_what_can_not_be_measured_is_refused():
    model = tiny_model()
    tokens = text_of(model, 20)[:1]
    for sizes in ((0, 5, 1), (5, 0, 1), (5, 5, 0), (5, 5, 1, 3), (5, 5, 1, 7)):
        with pytest.raises((ValueError, ZeroDivisionError)):
            next(measure_recurrence(model, tokens, *sizes))
    with pytest.raises(ValueError, match="one text of 21 tokens is needed for 2 segments after the first 10"):
        next(measure_recurrence(model, tokens, 7, 5, 2))
    with pytest.raises(ValueError, match="predicts no token"):
        next(measure_recurrence(foreign("nemo").model, tokens, 5, 5, 1))


@pytest.mark.parametrize("kind", ["learned", "sinusoid", "absolute", "txl_official", "txl_learned"])
@pytest.mark.parametrize("query_len, mem_len", [(7, 0), (5, 11), (1, 3)])
def test_multiplications_are_those_that_torch_counts(kind, query_len, mem_len):
    model = model_of(kind, torch.float32)
    with torch.no_grad():
        x = model.embed(text_of(model, query_len)[:1])
    mems = [torch.randn(1, mem_len, *x.shape[2:]) for _layer in model.layers]
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model.read(x, mems)
    assert multiplications(model, query_len, mem_len + query_len) == counter.get_total_flops() // 2


def test_the_cost_of_a_token_is_counted_over_its_pieces():
    model = tiny_model(n_layer=1)
    counted = counted_cost(model, 7, 5)
    assert counted["memory"] == multiplications(model, 5, 12) / 5
    assert counted["window"] == multiplications(model, 7, 7)
    assert counted["strided"] == multiplications(model, 12, 12) / 5
    long = counted_cost(model, 4096, 128)
    assert long["window"] / long["memory"] > long["strided"] / long["memory"] > 1


# Figures -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True])
def test_figures_hold_the_numbers(dark):
    measured = {"one": Ratios([2, 4], [10, 30]), "two": Ratios([2], [12])}
    paper = Ratios(list(PAPER), list(PAPER.values()))
    figure = speedup_figure(measured, Ratios([2, 4], [11, 29]), Ratios([2, 4], [1.5, 2]), 3, paper, dark)
    assert [list(trace.y) for trace in figure.data[:4]] == [[10, 30], [12], [11, 29], [1.5, 2]]
    assert list(figure.data[4].y) == [363, 773, 1409, 1874] and figure.data[3].name == "a window every 3 tokens"
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert list(figure.layout.xaxis.tickvals) == [2, 4]
    figure = ways_figure({"with memory": 0.5, "window": 50.0}, dark)
    dots = figure.data[0]
    assert list(dots.x) == [0.5, 50] and list(dots.y) == ["with memory", "window"]
    assert list(dots.text) == ["0.5 ms", "50 ms"] and figure.layout.xaxis.type == "log"
