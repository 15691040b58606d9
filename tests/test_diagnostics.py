"""Tables of a head, against numbers worked out by hand and by identities."""

import numpy as np
import pytest

from relxl import diagnostics
from relxl.masking import causal_mask


def random_terms(query_len=5, key_len=7):
    generator = np.random.default_rng(2)
    names = ("content", "content_position", "u_bias", "v_bias")
    mask = causal_mask(query_len, key_len, key_len - query_len).numpy()
    return {name: generator.normal(size=(query_len, key_len)) for name in names}, mask


def row_shares(terms, mask):
    return diagnostics.row_shares(diagnostics.row_covariances(terms, mask))


def head_shares(terms, mask):
    return diagnostics.head_shares(diagnostics.row_covariances(terms, mask))


def test_shares_of_a_row_add_up_to_one_and_ignore_constants_and_the_future():
    terms, mask = random_terms()
    shares = row_shares(terms, mask)
    np.testing.assert_allclose(sum(shares.values()), 1, atol=1e-12)
    moved = {name: np.where(mask, term + np.arange(5)[:, None] * 3, 1e6) for name, term in terms.items()}
    unseen = {name: np.where(mask, term, np.nan) for name, term in terms.items()}
    for name, share in shares.items():
        np.testing.assert_allclose(row_shares(moved, mask)[name], share, atol=1e-9)
        np.testing.assert_allclose(row_shares(unseen, mask)[name], share, atol=1e-12)


def test_a_share_is_covariance_over_variance():
    terms, mask = random_terms()
    row = 3
    visible = {name: term[row][mask[row]] for name, term in terms.items()}
    logits = sum(visible.values())
    expected = np.cov(visible["u_bias"], logits, ddof=0)[0, 1] / logits.var()
    assert row_shares(terms, mask)["u_bias"][row] == pytest.approx(expected)


def test_shares_of_a_head_add_up_and_are_one_for_a_lone_term():
    terms, mask = random_terms()
    assert sum(head_shares(terms, mask).values()) == pytest.approx(1)
    lone = {name: term * (name == "v_bias") for name, term in terms.items()}
    assert head_shares(lone, mask) == {
        "content": 0,
        "content_position": 0,
        "u_bias": 0,
        "v_bias": 1,
    }


def test_a_row_that_tells_no_keys_apart_has_no_shares():
    terms, _ = random_terms()
    only_one = np.eye(5, 7, dtype=bool)
    assert all(np.isnan(share).all() for share in row_shares(terms, only_one).values())
    assert all(np.isnan(share) for share in head_shares(terms, only_one).values())


def test_tables_of_a_row_and_a_cell_add_up():
    terms, mask = random_terms()
    logits, tokens = sum(terms.values()), list("abcabca")
    row = {name: term[2] for name, term in terms.items()}
    table = diagnostics.row_table(row, logits[2], logits[2] * 0, mask[2], 2 + 2 - np.arange(7), tokens)
    np.testing.assert_allclose(table[list(terms)].sum(axis=1), table["sum"])
    assert table["token"].tolist() == tokens and table["visible"].sum() == 5 and table["distance"].iloc[0] == 4

    cell = {name: np.array([1.0, -2.0, 4.0]) * (i + 1) for i, name in enumerate(terms)}
    numbers = diagnostics.cell_table(cell, scale=0.5)
    assert numbers.loc["sum", "scaled"] == 30 and numbers.loc["u_bias", "dot_product"] == 18
    dimensions = diagnostics.dimension_table(cell)
    assert dimensions.index.tolist() == [2, 1, 0] and dimensions["sum"].sum() == 30


def test_a_cell_of_every_head_is_put_into_numbers_as_it_is():
    terms, _mask = random_terms()
    layer = {name: np.stack([term, term * 2, -term]).astype(np.float32) for name, term in terms.items()}
    logits = sum(layer.values())
    table = diagnostics.heads_cell_table(layer, logits, logits * 0, query=3, key=5)
    assert table.columns.tolist() == ["head", *terms, "sum", "probability"] and table["head"].tolist() == [0, 1, 2]
    for name, values in (layer | {"sum": logits}).items():
        assert table[name].dtype == np.float32 and table[name].tolist() == values[:, 3, 5].tolist()


def test_heads_are_measured_and_the_notable_ones_named():
    terms, mask = random_terms()
    layer = {name: np.stack([term * (name == "content"), term]) for name, term in terms.items()}
    distance = 2 + np.arange(5)[:, None] - np.arange(7)
    probs = np.stack([(distance == 1) * 1.0, mask / mask.sum(-1, keepdims=True)])
    one = diagnostics.head_measures(layer, probs, mask, distance)
    assert one["content"][0] == 1 and one["previous_token"][0] == 1 and one["content"].shape == (2,)
    measures = {name: np.stack([values * 0, values]) for name, values in one.items()}
    found = diagnostics.notable_heads(measures)
    assert found["content"] == (1, 0) and found["previous_token"] == (1, 0)
    assert all(measures[name].max() < 0.3 for name in set(terms) - set(found))
    assert diagnostics.most_telling_head(measures, list(terms)) == (1, 1)
    assert diagnostics.heads_table(measures, layer=1)["content"].tolist() == one["content"].tolist()
    nothing = {name: values * np.nan for name, values in measures.items()}
    assert diagnostics.notable_heads(nothing) == {} and diagnostics.most_telling_head(nothing, list(terms)) == (0, 0)
