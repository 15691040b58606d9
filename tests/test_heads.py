"""What heads do, on attention that was made by hand, and by identities: merging, shares, least squares."""

import numpy as np
import pytest
import torch

from relxl import diagnostics
from relxl.atlas import atlas, entries_atlas, repeat_scores, trace_scores, windows_of
from relxl.diagnostics.additive import additive_fit, diagonal_sums, explained_squares
from relxl.diagnostics.heads import NEAREST_KEYS, attended_distance, induction_cells, row_entropy
from relxl.diagnostics.terms import centre_rows
from relxl.masking import causal_mask
from relxl.trace import run, run_hidden
from tests.conftest import tiny_model
from tests.foreign import foreign, input_of

QUERY, KEY, MEM = 5, 7, 2
NAMES = ("content", "content_position", "u_bias", "v_bias")


def distance_of(query_len=QUERY, key_len=KEY):
    return key_len - query_len + np.arange(query_len)[:, None] - np.arange(key_len)


def score(probs, tokens=None, mem_len=MEM, zero_keys=None, logits=None, mask=None):
    """Measure heads whose attention is given, [head query key]."""
    distance = distance_of(*probs.shape[-2:])
    mask = distance >= 0 if mask is None else mask
    logits = np.zeros_like(probs) if logits is None else logits
    terms = dict.fromkeys(NAMES, logits / 4)
    return diagnostics.window_scores(terms, logits, probs, mask, distance, mem_len, tokens, zero_keys).mean


def one_key(pick, query_len=QUERY, key_len=KEY):
    """Make a head that gives everything to the key that `pick` names for each query, counted over all keys."""
    probs = np.zeros((1, query_len, key_len))
    for row in range(query_len):
        probs[0, row, pick(key_len - query_len + row)] = 1
    return probs


# Patterns made by hand -----------------------------------------------------------------------------------------------


def test_all_on_the_token_before():
    found = score(one_key(lambda place: place - 1))
    assert found["previous_token"] == [1] and found["mean_distance"] == [1]
    assert found["entropy"] == [0] and found["relative_entropy"] == [0]
    assert found["first_token"] == [0]  # query 0 stands at 2, so key 1 is the first that is read
    assert found["memory_mass"] == [1 / 5]  # of the five queries the first one reads memory
    square = score(one_key(lambda place: max(place - 1, 0), 4, 4), mem_len=0)
    assert square["previous_token"] == [1] and square["mean_distance"] == [3 / 4]  # the first has none before it
    assert square["first_token"] == [1 / 3] and np.isnan(square["memory_mass"])


def test_all_on_the_first_token():
    found = score(one_key(lambda place: 0))
    assert found["first_token"] == [1] and found["memory_mass"] == [1] and found["entropy"] == [0]
    assert found["mean_distance"] == [(2 + 3 + 4 + 5 + 6) / 5] and found["previous_token"] == [0]
    square = score(one_key(lambda place: 0, 4, 4), mem_len=0)
    assert square["previous_token"] == [1 / 3] and square["first_token"] == [1]


def test_uniform_attention():
    mask = distance_of() >= 0
    found = score((mask / mask.sum(-1, keepdims=True))[None])
    seen = np.array([3, 4, 5, 6, 7])
    assert found["relative_entropy"] == pytest.approx([1], abs=1e-15)
    assert found["entropy"] == pytest.approx([np.log(seen).mean()], abs=1e-15)
    assert found["mean_distance"] == pytest.approx([(1 + 1.5 + 2 + 2.5 + 3) / 5], abs=1e-15)
    for name in ("previous_token", "first_token"):
        assert found[name] == pytest.approx([(1 / seen).mean()], abs=1e-15)
    assert found["memory_mass"] == pytest.approx([(2 / seen).mean()], abs=1e-15)


def test_induction_on_a_repeated_sequence():
    tokens = diagnostics.repeated_sequence(11, 7, seed=3)
    assert len(set(tokens[:7])) == 7 and tokens[:7].tolist() == tokens[7:].tolist()
    ahead = score(one_key(lambda place: place - 6, 7, 14), tokens, mem_len=7)
    assert ahead["induction"] == [1] and ahead["memory_mass"] == [6 / 7]
    copy = score(one_key(lambda place: place - 7, 7, 14), tokens, mem_len=7)
    assert copy["induction"] == [0] and copy["memory_mass"] == [1]
    half = (one_key(lambda place: place - 6, 7, 14) + one_key(lambda place: place, 7, 14)) / 2
    assert score(half, tokens, mem_len=7)["induction"] == [1 / 2]


def test_induction_on_any_text_counts_every_earlier_copy_but_not_the_query_itself():
    #                    a  b  a  a  c  b
    tokens = np.array([0, 1, 0, 0, 2, 1])
    cells = induction_cells(tokens, 6)
    assert [np.flatnonzero(row).tolist() for row in cells] == [[], [], [1], [1], [], [2]]
    probs = np.broadcast_to(np.tril(np.ones((6, 6))) / np.arange(1, 7)[:, None], (1, 6, 6))
    assert score(probs, tokens, mem_len=0)["induction"] == pytest.approx([(1 / 3 + 1 / 4 + 1 / 6) / 3], abs=1e-15)
    assert not induction_cells(np.full(5, -1), 5).any()  # frames and zeros have no copies


def test_the_mass_on_zeros_and_the_first_key_behind_them():
    zeros = np.array([True, True, False, False, False, False, False])
    mask = distance_of() >= 0
    uniform = (mask / mask.sum(-1, keepdims=True))[None]
    seen = np.array([3, 4, 5, 6, 7])
    assert score(uniform, zero_keys=zeros)["zero_mass"] == pytest.approx([(2 / seen).mean()], abs=1e-15)
    assert score(one_key(lambda place: 2), zero_keys=zeros)["first_token"] == [1]
    assert np.isnan(score(uniform)["zero_mass"])


def test_where_both_sides_are_seen_the_distance_has_no_sign():
    probs = one_key(lambda place: min(place + 2, 4), 5, 5)
    found = score(probs, mem_len=0, mask=np.ones((5, 5), bool))
    assert found["mean_distance"] == [(2 + 2 + 2 + 1 + 0) / 5] and found["first_token"] == [0]


def test_rows_are_measured_as_their_definitions_say():
    probs = np.random.default_rng(0).dirichlet(np.ones(7), (2, 3, 5))
    np.testing.assert_allclose(row_entropy(probs), -(probs * np.log(probs)).sum(-1), rtol=1e-12)
    np.testing.assert_allclose(attended_distance(probs, distance_of()), (probs * np.abs(distance_of())).sum(-1))


def test_a_period_that_the_vocabulary_can_not_fill_is_refused():
    with pytest.raises(ValueError, match="period must be from 1 to n_token=5"):
        diagnostics.repeated_sequence(5, 6)


# What distance and key explain ---------------------------------------------------------------------------------------


def masks():
    distance = distance_of(6, 11)
    window, padded = (distance >= 0) & (distance < 4), np.ones((6, 11), bool)
    padded[:, [0, 3]] = False
    return {"causal": distance >= 0, "window": window, "both": np.ones((6, 11), bool), "padded": padded}


@pytest.mark.parametrize("kind", masks())
def test_the_fit_is_least_squares(kind):
    mask = masks()[kind]
    logits = np.random.default_rng(1).normal(size=(2, 6, 11))
    row, key = np.nonzero(mask)
    designs = {"rows": np.eye(6)[row], "distance": np.eye(16)[row - key + 10], "key": np.eye(11)[key]}

    def left(values, *names):
        matrix = np.concatenate([designs[name] for name in names], axis=1)
        return ((values - matrix @ np.linalg.lstsq(matrix, values, rcond=None)[0]) ** 2).sum()

    found = explained_squares(additive_fit(mask), centre_rows(logits, mask))
    for head, values in enumerate(logits[:, mask]):
        total = left(values, "rows")
        assert found["total"][head] == pytest.approx(total)
        assert found["distance"][head] == pytest.approx(total - left(values, "rows", "distance"), abs=1e-10)
        assert found["key"][head] == pytest.approx(total - left(values, "rows", "key"), abs=1e-10)
        assert found["both"][head] == pytest.approx(total - left(values, "rows", "distance", "key"), abs=1e-10)


@pytest.mark.parametrize("kind", masks())
def test_logits_of_distance_and_of_keys_are_explained_wholly(kind):
    mask, distance = masks()[kind], distance_of(6, 11)
    generator = np.random.default_rng(2)
    by_distance, by_key = generator.normal(size=16)[distance + 5], np.broadcast_to(generator.normal(size=11), (6, 11))
    rows = generator.normal(size=(6, 1)) * 100
    logits = np.stack([by_distance, by_key, by_distance + by_key]) + rows
    probs = np.where(mask, 1, 0) / mask.sum(-1, keepdims=True) + np.zeros((3, 1, 1))
    found = score(probs, logits=logits, mask=mask)
    assert found["by_distance"][0] == pytest.approx(1) and found["by_key"][1] == pytest.approx(1)
    assert found["additive"] == pytest.approx([1, 1, 1])
    assert found["by_distance"][2] < 0.999 and found["by_key"][2] < 0.999
    assert (found["by_distance"] <= found["additive"] + 1e-9).all()


def test_equal_logits_have_nothing_to_explain_and_no_shares():
    mask = distance_of() >= 0
    found = score((mask / mask.sum(-1, keepdims=True))[None], logits=np.full((1, QUERY, KEY), 3.0))
    assert all(np.isnan(found[name]) for name in ("additive", "by_distance", "by_key", *NAMES))


def test_of_a_long_window_the_last_keys_are_fitted():
    query_len, key_len = 3, NEAREST_KEYS + 5
    distance = distance_of(query_len, key_len)
    logits = np.sin(distance * 0.7)[None].copy()
    logits[..., :5] = np.random.default_rng(0).normal(size=(1, query_len, 5)) * 9
    probs = np.full((1, query_len, key_len), 1 / key_len)
    assert score(probs, logits=logits)["by_distance"] == pytest.approx([1])


def test_diagonals_are_summed_from_the_future_to_the_past():
    cells = np.random.default_rng(3).normal(size=(2, 3, 5))
    expected = [[np.trace(head, offset=4 - i) for i in range(7)] for head in cells]
    np.testing.assert_allclose(diagonal_sums(cells), expected)


# Windows -------------------------------------------------------------------------------------------------------------


def random_window(seed, heads=3, query_len=QUERY, key_len=KEY):
    generator = np.random.default_rng(seed)
    mask = causal_mask(query_len, key_len, key_len - query_len).numpy()
    terms = {name: generator.normal(size=(heads, query_len, key_len)) * (1 + seed) for name in NAMES}
    logits = sum(terms.values())
    probs = np.where(mask, np.exp(logits), 0)
    tokens = generator.integers(4, size=key_len)
    return terms, logits, probs / probs.sum(-1, keepdims=True), tokens


def scores_of(windows):
    """Measure windows as one batch."""
    terms = {name: np.stack([window[0][name] for window in windows]) for name in NAMES}
    logits, probs, tokens = (np.stack([window[i] for window in windows]) for i in (1, 2, 3))
    return diagnostics.window_scores(terms, logits, probs, distance_of() >= 0, distance_of(), MEM, tokens)


def test_merged_windows_are_one_pass_over_all_of_them():
    windows = [random_window(seed) for seed in range(5)]
    whole, merged = scores_of(windows), scores_of(windows[:1])
    for window in windows[1:]:
        merged = diagnostics.merge(merged, scores_of([window]))
    halves = diagnostics.merge(scores_of(windows[:2]), scores_of(windows[2:]))
    single = [scores_of([window]) for window in windows]
    assert whole.windows == merged.windows == halves.windows == 5 and whole.rows == merged.rows == 25
    for name in whole.mean:
        for other in (merged, halves):
            np.testing.assert_allclose(other.mean[name], whole.mean[name], atol=1e-12)
            np.testing.assert_allclose(other.spread[name], whole.spread[name], atol=1e-12)
            np.testing.assert_allclose(other.weight[name], whole.weight[name])
        weights, values = (np.stack([getattr(one, part)[name] for one in single]) for part in ("weight", "mean"))
        mean = (weights * np.nan_to_num(values)).sum(0) / np.where(weights.sum(0), weights.sum(0), np.nan)
        np.testing.assert_allclose(whole.mean[name], mean, atol=1e-12)
        spread = np.sqrt(
            (weights * (np.nan_to_num(values) - mean) ** 2).sum(0) / np.where(mean == mean, weights.sum(0), 1)
        )
        np.testing.assert_allclose(whole.spread[name], spread, atol=1e-12)
        assert np.isnan(single[0].spread[name]).all()


def test_means_are_those_of_all_rows_and_shares_those_of_all_covariances():
    windows = [random_window(seed) for seed in range(3)]
    whole, mask = scores_of(windows), distance_of() >= 0
    entropy = np.concatenate([row_entropy(window[2]) for window in windows], axis=-1)
    np.testing.assert_allclose(whole.mean["entropy"], entropy.mean(-1))
    for head in range(3):
        rows = [diagnostics.row_covariances({n: t[head] for n, t in window[0].items()}, mask) for window in windows]
        shares = diagnostics.head_shares({name: np.concatenate([one[name] for one in rows]) for name in NAMES})
        for name, share in shares.items():
            assert whole.mean[name][head] == pytest.approx(share)


def test_shares_and_the_token_before_are_those_of_head_measures():
    terms, logits, probs, _tokens = random_window(4)
    mask, distance = distance_of() >= 0, distance_of()
    found = diagnostics.window_scores(terms, logits, probs, mask, distance).mean
    for name, values in diagnostics.head_measures(terms, probs, mask, distance).items():
        np.testing.assert_allclose(found[name], values)


def test_a_window_that_can_not_have_a_measure_does_not_count():
    some, none = random_window(0), random_window(1)
    none = (*none[:3], np.arange(KEY) + 10)  # no token comes twice
    merged = diagnostics.merge(scores_of([some]), scores_of([none]))
    np.testing.assert_allclose(merged.mean["induction"], scores_of([some]).mean["induction"])
    assert np.isnan(scores_of([none]).mean["induction"]).all()


def test_numbers_that_are_not_finite_stay_so_in_silence():
    terms, logits, probs, tokens = random_window(0)
    bad = diagnostics.window_scores(
        {name: term * np.nan for name, term in terms.items()}, logits * np.nan, probs * np.nan, distance_of() >= 0,
        distance_of(), MEM, tokens,
    )  # fmt: skip
    merged = diagnostics.merge(bad, scores_of([random_window(1)]))
    assert np.isnan(merged.mean["entropy"]).all() and np.isnan(merged.mean["content"]).all()


# Heads ---------------------------------------------------------------------------------------------------------------


def layered():
    windows = [random_window(seed) for seed in range(4)]
    return diagnostics.stack_layers([scores_of(windows[:2]), scores_of(windows[2:])])


def test_the_table_has_a_row_a_head_with_every_measure_and_its_spread():
    scores = layered()
    table = diagnostics.atlas_table(scores)
    assert table[["layer", "head"]].to_numpy().tolist() == [[i // 3, i % 3] for i in range(6)]
    assert list(table)[2:] == [f"{name}{end}" for name in scores.mean for end in ("", "_spread")]
    assert table["entropy"].tolist() == scores.mean["entropy"].ravel().tolist()
    assert table["entropy_spread"].tolist() == scores.spread["entropy"].ravel().tolist()
    single = diagnostics.stack_layers([scores_of([random_window(0)])])
    assert list(diagnostics.atlas_table(single))[2:] == list(single.mean)


def test_similar_heads_are_sorted_and_leave_out_what_says_nothing():
    mean = {
        "a": np.array([[0.0, 1, 4], [0, 0, 1]]),
        "b": np.array([[0.0, 0, 3], [0, 1, 0]]),
        "same": np.ones((2, 3)),
        "missing": np.array([[np.nan, 1, 2], [3, 4, 5]]),
    }
    table = diagnostics.similar_heads(mean, 0, 0)
    assert table[["layer", "head"]].to_numpy().tolist() == [[1, 0], [0, 1], [1, 2], [1, 1], [0, 2]]
    a, b = mean["a"].std(), mean["b"].std()
    expected = [0, 1 / a, 1 / a, 1 / b, np.hypot(4 / a, 3 / b)]
    np.testing.assert_allclose(table["difference"], np.array(expected) / np.sqrt(2))


def test_a_corner_of_the_simplex_is_a_kind_of_term():
    shares = {"content": 0.5, "content_position": 0.2, "u_bias": 0.4, "v_bias": -0.1}
    np.testing.assert_allclose(diagnostics.simplex({n: np.array(s) for n, s in shares.items()}), [0.5, 0.2, 0.3])
    below = {"content": 0.9, "content_position": 0.6, "u_bias": -0.4, "v_bias": -0.1}
    np.testing.assert_allclose(diagnostics.simplex({n: np.array(s) for n, s in below.items()}), [0.6, 0.4, 0])
    nothing = {name: np.array(np.nan) for name in NAMES}
    assert np.isnan(diagnostics.simplex(nothing)).all()


def test_a_leading_head_is_named_only_where_it_leads_by_enough():
    mean = {"a": np.array([[0.1, 0.7], [np.nan, 0.2]]), "b": np.array([[0.1, 0.2], [0.3, 0.1]])}
    assert diagnostics.leading_heads(mean, {"a": 0.5, "b": 0.5, "c": 0.1}) == {"a": (0, 1)}


# Models --------------------------------------------------------------------------------------------------------------


def test_windows_end_with_the_text_and_follow_each_other():
    assert windows_of(30, 7, 5) == ([4, 11, 18], 12, 5)
    assert windows_of(12, 7, 5) == ([0], 12, 5)
    assert windows_of(11, 7, 5) == ([0], 11, 5)  # as a page splits it: the last half are queries
    assert windows_of(1, 7, 5) == ([0], 1, 0)


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
def test_an_atlas_is_the_windows_one_by_one(positions, monkeypatch):
    model = tiny_model(positions)
    tokens = torch.randint(11, (33,), generator=torch.Generator().manual_seed(5))
    starts, key_len, mem_len = windows_of(33, 7, 5)
    expected = [trace_scores(run(model, tokens[None, s : s + key_len], mem_len)) for s in starts]
    merged = expected[0]
    for one in expected[1:]:
        merged = diagnostics.merge(merged, one)
    for cells in (1, 1 << 19):  # one window at a time, and all of them
        monkeypatch.setattr("relxl.atlas.BATCH_CELLS", cells)
        steps = list(atlas(model, tokens, 7, 5))
        done, found = steps[-1]
        assert done == 1 and [s.done for s in steps] == sorted(s.done for s in steps)
        assert found.windows == len(starts) == 4 and found.rows == 28
        for name in merged.mean:
            np.testing.assert_allclose(found.mean[name], merged.mean[name], atol=1e-12)
            np.testing.assert_allclose(found.spread[name], merged.spread[name], atol=1e-9)
        np.testing.assert_array_equal(found.mean["repeat"], repeat_scores(model).mean["induction"])
    assert len(steps) == 2 and steps[0].scores is None  # a layer at a time


def test_the_last_rows_of_a_window_can_be_enough():
    model, tokens = tiny_model(), torch.randint(11, (19,), generator=torch.Generator().manual_seed(5))
    (*_, last) = atlas(model, tokens, 7, 5, queries=3)
    trace = run(model, tokens[None, -12:], 5)
    assert last.scores.rows == 6
    probs = trace.terms(1, queries=3).probs[0]
    np.testing.assert_allclose(trace_scores(trace, 3).mean["entropy"][1], row_entropy(probs).mean(-1))


def test_the_atlas_refuses_what_it_can_not_read():
    with pytest.raises(ValueError, match="needs a text"):
        next(atlas(tiny_model(), torch.zeros(0, dtype=torch.long), 7))


@pytest.mark.parametrize("name", ["txl_official", "hf_transfoxl", "hf_same_length", "xlnet_uni", "xlnet_bi"])
def test_language_models_of_other_families_have_an_atlas(name):
    model = foreign(name).model
    tokens = torch.randint(model.config.n_token, (29,), generator=torch.Generator().manual_seed(1))
    (*_, last) = atlas(model, tokens, 5, 4)
    assert last.done == 1 and last.scores.windows == 5
    shares = np.sum([last.scores.mean[term] for term in NAMES], axis=0)
    np.testing.assert_allclose(shares, 1)
    assert ((last.scores.mean["repeat"] >= 0) & (last.scores.mean["repeat"] <= 1)).all()
    zeros = name.startswith("hf") and model.config.mem_len > 4  # as much as the memory given leaves
    assert np.isfinite(last.scores.mean["zero_mass"]).all() == zeros


@pytest.mark.parametrize(
    "name", ["wav2vec2_conformer", "labml", "espnet", "espnet_legacy", "nemo", "speechbrain", "article"]
)
def test_models_of_hidden_states_are_measured_on_their_inputs(name):
    checkpoint = foreign(name)
    x = input_of(
        checkpoint, length=min(9, checkpoint.config.max_len if checkpoint.config.positions == "learned" else 9), batch=2
    )
    trace = run_hidden(checkpoint.model, x)
    scores = trace_scores(trace)
    assert np.isfinite(scores.mean["entropy"]).all() and np.isnan(scores.mean["induction"]).all()
    *_, last = entries_atlas(trace)
    assert last.scores.windows == 2
    both = (scores.mean["entropy"] + trace_scores(trace, entry=1).mean["entropy"]) / 2
    np.testing.assert_allclose(last.scores.mean["entropy"], both)
