"""Every known rel_shift against cells written down by hand, and the naming of shifts that are handed in."""

import warnings

import pytest
import torch
from torch.nn import functional

import relxl
from relxl.positions import learned_rows, project_positions
from relxl.relative import PairMap, relative_pairs, score_terms
from relxl.shift import SHIFTS, foreign_cells, identify_shift, pair_map, tagged_steps
from tests.test_relative import BATCH, make_inputs

# cells as "query row:distance", P for the pad
EXACT_MEMORY = """
0:2 0:1 0:0 0:-1 0:-2
1:3 1:2 1:1 1:0 1:-1
2:4 2:3 2:2 2:1 2:0
"""
EXACT_SQUARE = """
0:0 0:-1 0:-2 0:-3
1:1 1:0 1:-1 1:-2
2:2 2:1 2:0 2:-1
3:3 3:2 3:1 3:0
"""
MEMORY = {  # 3 queries, 5 keys, 2 of them memory
    "exact": EXACT_MEMORY,
    "slice": EXACT_MEMORY,
    "pad_and_view": """
        0:2 0:1 0:0 P 1:4
        1:3 1:2 1:1 1:0 P
        2:4 2:3 2:2 2:1 2:0
    """,
    "xlnet_bi": EXACT_MEMORY,
    "xlnet_uni": """
        0:2 0:1 0:0 1:5 1:4
        1:3 1:2 1:1 1:0 2:5
        2:4 2:3 2:2 2:1 2:0
    """,
    "legacy": """
        0:4997 0:4996 0:4995 P 1:4999
        1:4998 1:4997 1:4996 1:4995 P
        2:4999 2:4998 2:4997 2:4996 2:4995
    """,
    "labml": EXACT_MEMORY,
    "absolute": """
        0:0 0:1 0:2 0:3 0:4
        1:0 1:1 1:2 1:3 1:4
        2:0 2:1 2:2 2:3 2:4
    """,
    "ascending": """
        0:2 0:3 0:4 P 1:0
        1:1 1:2 1:3 1:4 P
        2:0 2:1 2:2 2:3 2:4
    """,
    "memory_forgotten": """
        0:0 0:-1 0:-2 0:-3 0:-4
        1:1 1:0 1:-1 1:-2 1:-3
        2:2 2:1 2:0 2:-1 2:-2
    """,
}
SQUARE = {  # 4 queries, 4 keys
    "exact": EXACT_SQUARE,
    "slice": EXACT_SQUARE,
    "pad_and_view": """
        0:0 P 1:3 1:2
        1:1 1:0 P 2:3
        2:2 2:1 2:0 P
        3:3 3:2 3:1 3:0
    """,
    "xlnet_bi": EXACT_SQUARE,
    "xlnet_uni": """
        0:0 1:4 1:3 1:2
        1:1 1:0 2:4 2:3
        2:2 2:1 2:0 3:4
        3:3 3:2 3:1 3:0
    """,
    "legacy": """
        0:4996 P 1:4999 1:4998
        1:4997 1:4996 P 2:4999
        2:4998 2:4997 2:4996 P
        3:4999 3:4998 3:4997 3:4996
    """,
    "labml": EXACT_SQUARE,
    "absolute": """
        0:0 0:1 0:2 0:3
        1:0 1:1 1:2 1:3
        2:0 2:1 2:2 2:3
        3:0 3:1 3:2 3:3
    """,
    "ascending": """
        0:3 P 1:0 1:1
        1:2 1:3 P 2:0
        2:1 2:2 2:3 P
        3:0 3:1 3:2 3:3
    """,
    "memory_forgotten": EXACT_SQUARE,  # there is none to forget
}
LABELS = {  # distances of the columns for 3 queries and 5 keys
    "exact": [4, 3, 2, 1, 0, -1, -2],
    "slice": [4, 3, 2, 1, 0, -1, -2],
    "pad_and_view": [4, 3, 2, 1, 0],
    "xlnet_bi": [5, 4, 3, 2, 1, 0, -1, -2],
    "xlnet_uni": [5, 4, 3, 2, 1, 0],
    "legacy": [4999, 4998, 4997, 4996, 4995],
    "labml": [5, 4, 3, 2, 1, 0, -1, -2],
    "absolute": [0, 1, 2, 3, 4],
    "ascending": [0, 1, 2, 3, 4],
    "memory_forgotten": [4, 3, 2, 1, 0, -1, -2, -3, -4],
}
STEPS = {
    "exact": "product as_strided",
    "slice": "product pad view drop view slice",
    "pad_and_view": "product pad view drop view",
    "xlnet_bi": "product view drop view slice",
    "xlnet_uni": "product view drop view slice",
    "legacy": "product pad view drop view",
    "labml": "product pad view drop view slice",
    "absolute": "product",
    "ascending": "product pad view drop view",
    "memory_forgotten": "product gather",
}
EVERY_CELL = [(i, j) for i in range(3) for j in range(5)]


def text(pairs: PairMap) -> list[list[str]]:
    cells = zip(pairs.query_row.tolist(), pairs.distance.tolist(), strict=True)
    names = {-1: "P", -2: "?"}
    return [[names.get(i, f"{i}:{d}") for i, d in zip(*row, strict=True)] for row in cells]


def written(cells: str) -> list[list[str]]:
    return [line.split() for line in cells.strip().splitlines()]


@pytest.mark.parametrize("name", SHIFTS)
def test_each_cell_reads_what_was_worked_out_by_hand(name):
    assert text(pair_map(name, query_len=3, mem_len=2)) == written(MEMORY[name])
    assert text(pair_map(name, query_len=4, mem_len=0)) == written(SQUARE[name])


def test_the_columns_belong_to_these_distances():
    for name, shift in SHIFTS.items():
        assert shift.distances(3, 2).tolist() == LABELS[name]
        assert shift.columns(3, 2) == len(LABELS[name])
        assert pair_map(name, 3, 2).distances.tolist() == sorted(LABELS[name], reverse=True)
    assert SHIFTS["legacy"].distances(100, 0)[-1] == 4900  # which d = 0 reads
    assert SHIFTS["legacy"].distances(6000, 0)[[0, -1]].tolist() == [5999, 0]


@pytest.mark.parametrize("lengths", [(3, 2), (4, 0), (1, 4), (5, 6), (1, 0), (7, 1)])
@pytest.mark.parametrize("name", SHIFTS)
def test_the_steps_of_a_product_are_the_map(name, lengths):
    query_len, mem_len = lengths
    shift, pairs = SHIFTS[name], pair_map(name, *lengths)
    product = torch.randn(2, 3, query_len, shift.columns(*lengths), dtype=torch.float64)
    steps = shift.steps(product, query_len + mem_len)
    assert " ".join(step for step, _ in steps) == STEPS[name]
    by_distance = product[..., shift.distances(*lengths).argsort(descending=True)]
    assert torch.equal(steps[-1][1], pairs.read(by_distance))


@pytest.mark.parametrize("name", SHIFTS)
def test_the_tags_of_a_step_say_what_the_step_of_a_product_holds(name):
    product = torch.randn(3, SHIFTS[name].columns(3, 2))
    column = {distance: c for c, distance in enumerate(LABELS[name])}
    for (step, values), tagged in zip(SHIFTS[name].steps(product, 5), tagged_steps(name, 3, 2), strict=True):
        assert step == tagged.name and values.shape == tagged.query_row.shape == tagged.distance.shape
        rows, distances = tagged.query_row.flatten().tolist(), tagged.distance.flatten().tolist()
        for value, row, distance in zip(values.flatten(), rows, distances, strict=True):
            assert value == (0 if row == -1 else product[row, column[distance]])


def test_a_pad_is_the_only_thing_that_reads_nothing():
    rows = tagged_steps("pad_and_view", 3, 2)[1].query_row
    assert rows.tolist() == [[-1] + [i] * 5 for i in range(3)]
    rows = tagged_steps("labml", 3, 2)[1].query_row
    assert rows.tolist() == [[i] * 8 + [-1] for i in range(3)]
    assert all(step.query_row.min() >= 0 for step in tagged_steps("xlnet_uni", 3, 2))


def test_foreign_cells_are_counted_by_what_the_causal_mask_shows():
    found = foreign_cells(pair_map("pad_and_view", 4, 0), mem_len=0)
    assert [int(cells.sum()) for cells in found] == [6, 0, 6]
    assert found.hidden.tolist() == torch.ones(4, 4).triu(1).bool().tolist()
    counts = {
        "exact": (0, 0, 0),
        "slice": (0, 0, 0),
        "pad_and_view": (3, 0, 3),
        "xlnet_bi": (0, 0, 0),
        "xlnet_uni": (3, 0, 3),
        "legacy": (15, 12, 3),
        "labml": (0, 0, 0),
        "absolute": (13, 10, 3),  # key 1 of query 0 and key 2 of query 2 are as far away as their number
        "ascending": (12, 9, 3),  # one cell of each query lies halfway
        "memory_forgotten": (15, 12, 3),
    }
    for name, expected in counts.items():
        assert tuple(int(cells.sum()) for cells in foreign_cells(pair_map(name, 3, 2), mem_len=2)) == expected
    assert not foreign_cells(relative_pairs(3, 5, 2), mem_len=2).foreign.any()
    assert foreign_cells(relative_pairs(3, 5, 0), mem_len=2).foreign.all()


@pytest.mark.parametrize("name", SHIFTS)
def test_scores_split_by_a_wrong_map_differ_in_the_position_terms_alone(name):
    x, pairs = make_inputs(3, 5), pair_map(name, 3, 2)
    position_key = project_positions(learned_rows(x["table"], pairs.distances), x["w_k_pos"])
    terms = score_terms(x["query"], x["key"], position_key, x["u"], x["v"], pairs, scale=0.31)
    expected = 0.31 * (x["query"] + x["u"][:, None]) @ x["key"].mT
    for i, row in enumerate(text(pairs)):
        for j, cell in enumerate(row):
            if cell != "P":
                source, distance = map(int, cell.split(":"))
                p = position_key[:, pairs.distances.tolist().index(distance)]
                expected[:, :, i, j] += 0.31 * ((x["query"][:, :, source] + x["v"]) * p).sum(-1)
    torch.testing.assert_close(terms.logits(), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(sum(terms.dense().values()), expected, rtol=0, atol=1e-12)
    content = score_terms(x["query"], x["key"], position_key, x["u"], x["v"], pairs, scale=0.31).content
    assert torch.equal(content, 0.31 * x["query"] @ x["key"].mT) and len(content) == BATCH


# naming: short writings of public functions, made for this test


def transformer_xl(x):  # [query column batch head]
    zero = torch.zeros(x.size(0), 1, *x.shape[2:], dtype=x.dtype)
    rolled = torch.cat([zero, x], dim=1).view(x.size(1) + 1, x.size(0), *x.shape[2:])
    return rolled[1:].view_as(x)


def xlnet(key_len):  # [query column batch head]
    def rel_shift(x):
        q, n = x.shape[:2]
        x = x.reshape(n, q, *x.shape[2:])[1:].reshape(q, n - 1, *x.shape[2:])
        return x.index_select(1, torch.arange(key_len))

    return rel_shift


def speech(x):  # [batch head query column], only the square case of 2T - 1 columns
    zero = torch.zeros(*x.shape[:3], 1)
    rolled = torch.cat([zero, x], dim=-1).view(*x.shape[:2], x.size(3) + 1, x.size(2))
    return rolled[:, :, 1:].view_as(x)[..., : x.size(-1) // 2 + 1]


def streaming_speech(x):  # [batch head query column], all columns are given back
    b, h, q, n = x.size()
    return functional.pad(x, (1, 0)).view(b, h, -1, q)[:, :, 1:].view(b, h, q, n)


def strided(mem_len):  # [batch head query column]
    def rel_shift(x):
        b, h, q, n = x.shape
        assert n == mem_len + 2 * q - 1
        s = x.stride()
        return x.as_strided((b, h, q, mem_len + q), (s[0], s[1], s[2] - s[3], s[3]), s[3] * (q - 1))

    return rel_shift


def annotated(x):  # [query column batch head], all columns are given back
    zero = x.new_zeros(x.shape[0], 1, *x.shape[2:])
    return torch.cat([x, zero], dim=1).view(x.shape[1] + 1, x.shape[0], *x.shape[2:])[:-1].view_as(x)


def no_shift(x):
    return x


def gathered(distance_0, mem_len):  # [... query column]
    def rel_shift(x):
        q, k = x.shape[-2], x.shape[-2] + 2
        distance = mem_len + torch.arange(q)[:, None] - torch.arange(k)
        return x.gather(-1, (distance_0 - distance).expand(*x.shape[:-1], k))

    return rel_shift


LENGTH_FIRST = "query column batch head"
SAME_AS_PAPER = ("pad_and_view", "legacy", "ascending")
MEMORY_FUNCTIONS = {  # q = 3, k = 5: function, layout, columns that are given, same, columns that are found
    "Transformer-XL": (transformer_xl, LENGTH_FIRST, None, SAME_AS_PAPER, 5),
    "XLNet, both ways": (xlnet(5), LENGTH_FIRST, 8, ("xlnet_bi", "labml"), 8),
    "XLNet, one way": (xlnet(5), LENGTH_FIRST, None, ("xlnet_uni",), 6),
    "NeMo, without its slice": (streaming_speech, "query column", 7, ("exact", "slice"), 7),
    "NeMo, with the table of its cache": (streaming_speech, "batch head query column", 9, ("exact", "slice"), 9),
    "icefall": (strided(2), "query column", None, ("exact", "slice"), 7),
    "labml, without its slice": (annotated, LENGTH_FIRST, None, ("labml",), 8),
    "labml": (lambda x: annotated(x)[:, -5:], LENGTH_FIRST, 8, ("xlnet_bi", "labml"), 8),
    "no shift": (no_shift, "query column", None, ("absolute",), 5),
    "gather": (gathered(4, mem_len=2), "query column", 7, ("exact", "slice"), 7),
    "gather without memory": (gathered(4, mem_len=0), "query column", None, ("memory_forgotten",), 9),
    "a table that goes on": (streaming_speech, "query column", 11, ("exact", "slice"), 11),
    "a table that is turned round": (lambda x: transformer_xl(x.flip(1)), LENGTH_FIRST, None, ("ascending",), 5),
}


def foreign_list(name, mem_len):
    return [tuple(cell) for cell in foreign_cells(pair_map(name, 3, 2), mem_len).foreign.nonzero().tolist()]


@pytest.mark.parametrize("case", MEMORY_FUNCTIONS)
def test_public_functions_are_named(case):
    function, layout, columns, same, found = MEMORY_FUNCTIONS[case]
    identity = identify_shift(function, query_len=3, key_len=5, layout=layout, columns=columns)
    name, wrong_cells = identity[:2]
    assert (name, identity.same, identity.columns) == (same[0], same, found)
    assert text(identity.pairs) == written(MEMORY[name]) and list(wrong_cells) == foreign_list(name, 2)


def test_the_square_speech_shift_is_named():
    for function in (speech, strided(0)):
        identity = identify_shift(function, query_len=4, key_len=4)
        assert identity[:4] == ("exact", (), ("exact", "slice", "memory_forgotten"), 7)
        assert text(identity.pairs) == written(EXACT_SQUARE)
    assert identify_shift(transformer_xl, query_len=4, key_len=4, layout=LENGTH_FIRST).wrong_cells == (
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)
    )  # fmt: skip


@pytest.mark.parametrize("query_len, mem_len", [(q, m) for q in (1, 2, 3, 5) for m in (0, 1, 2, 4, 5)])
def test_each_shift_is_named_from_its_own_steps(query_len, mem_len):
    key_len = query_len + mem_len
    for name, shift in SHIFTS.items():
        identity = identify_shift(
            lambda product, shift=shift: shift.steps(product, key_len)[-1][1],
            query_len=query_len,
            key_len=key_len,
            columns=shift.columns(query_len, mem_len),
        )
        assert name in identity.same and identity.name == identity.same[0]
        assert bool(identity.wrong_cells) == foreign_cells(identity.pairs, mem_len).foreign.any()
        if name in ("exact", "slice", "xlnet_bi", "labml"):
            assert not identity.wrong_cells


def test_a_function_may_take_fewer_axes_or_others():
    def of_two_axes(x):
        q, n = x.shape
        return transformer_xl(x[:, :, None, None]).view(q, n)

    def of_three_axes(x):
        b, q, n = x.shape
        return functional.pad(x, (1, 0)).view(b, n + 1, q)[:, 1:].view(b, q, n)

    for function, layout in [
        (of_two_axes, "query column"),
        (of_three_axes, "query column"),
        (of_three_axes, "head query column"),
        (lambda x: of_two_axes(x.T).T, "column query"),
        (lambda x: transformer_xl(x.permute(2, 1, 0, 3)).permute(2, 1, 0, 3), "batch column query head"),
    ]:
        identity = identify_shift(function, query_len=3, key_len=5, layout=layout)
        assert identity.same == SAME_AS_PAPER and identity.wrong_cells == ((0, 3), (0, 4), (1, 4))


def test_another_memory_changes_what_is_wrong_and_not_what_it_is():
    exact = identify_shift(strided(2), query_len=3, key_len=5, mem_len=0)
    assert exact[:2] == ("exact", ()) and text(exact.pairs)[0] == ["0:0", "0:-1", "0:-2", "0:-3", "0:-4"]
    paper = identify_shift(transformer_xl, query_len=3, key_len=5, mem_len=0, layout=LENGTH_FIRST)
    assert paper.name == "pad_and_view" and list(paper.wrong_cells) == EVERY_CELL == foreign_list("pad_and_view", 0)
    forgotten = identify_shift(gathered(4, mem_len=0), query_len=3, key_len=5, mem_len=0, columns=9)
    assert forgotten[:2] == ("memory_forgotten", ())  # without a memory before the keys it is right
    cross = identify_shift(relative_pairs(5, 2).read, query_len=5, key_len=2, mem_len=0)
    assert cross[:2] == ("exact", ())


def test_lengths_that_are_too_short_to_tell_shifts_apart_name_them_all():
    one_query = identify_shift(no_shift, query_len=1, key_len=3)
    assert one_query.same == ("exact", "slice", "pad_and_view", "legacy", "absolute", "ascending")
    one_memory = identify_shift(xlnet(4), query_len=3, key_len=4, layout=LENGTH_FIRST, columns=7)
    assert one_memory.same == ("xlnet_bi", "labml", "memory_forgotten") and one_memory.wrong_cells == ()


# functions that are wrong, and where

exact = relative_pairs(3, 5, 2).read


def mixed(x):
    y = exact(x).clone()
    y[1, 0, 2, 3] = y[0, 0, 2, 3]
    return y


def masked_early(x):
    return exact(x).masked_fill(torch.ones(3, 5).triu(3).bool(), -torch.inf)


def not_a_number(x):
    return exact(x).index_fill(-1, torch.tensor([4]), torch.nan)


def one_pad_only_in_one_batch(x):
    y = exact(x).clone()
    y[1, :, 0, 0] = 0
    return y


WRONG = {  # function, columns, wrong cells, cells that hold no tag of their own
    "one key off": (lambda x: exact(x).roll(1, -1), 7, EVERY_CELL, []),
    "one query off": (lambda x: exact(x).roll(1, -2), 7, EVERY_CELL, []),
    "two rows swapped": (lambda x: exact(x)[..., [1, 0, 2], :], 7, EVERY_CELL[:10], []),
    "batches swapped": (lambda x: exact(x).roll(1, 0), 7, EVERY_CELL, EVERY_CELL),
    "heads swapped": (lambda x: exact(x).roll(1, 1), 7, EVERY_CELL, EVERY_CELL),
    "one cell of another batch": (mixed, 7, [(2, 3)], [(2, 3)]),
    "one cell of one batch padded": (one_pad_only_in_one_batch, 7, [(0, 0)], [(0, 0)]),
    "masked": (masked_early, 7, [(0, 3), (0, 4), (1, 4)], [(0, 3), (0, 4), (1, 4)]),
    "not a number": (not_a_number, 7, [(0, 4), (1, 4), (2, 4)], [(0, 4), (1, 4), (2, 4)]),
    "scaled": (lambda x: exact(x) / 8**0.5, 7, EVERY_CELL, EVERY_CELL),
    "future zeroed": (lambda x: exact(x) * torch.ones(3, 5).tril(2), 7, [(0, 3), (0, 4), (1, 4)], []),
    "one column off": (lambda x: exact(x[..., 1:].contiguous()), 11, EVERY_CELL, []),
    "XLNet with a swap": (lambda x: SHIFTS["xlnet_bi"].steps(x, 5)[-1][1][..., [0, 2, 1], :], 8, EVERY_CELL[5:], []),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_function_is_wrong_in_exactly_its_cells(case):
    function, columns, wrong_cells, strangers = WRONG[case]
    identity = identify_shift(function, query_len=3, key_len=5, columns=columns)
    assert identity[:4] == ("wrong", tuple(wrong_cells), (), columns)
    assert [tuple(cell) for cell in (identity.pairs.query_row == -2).nonzero().tolist()] == strangers


def test_the_last_row_dropped_in_place_of_the_first_is_wrong():
    def rel_shift(x):
        return functional.pad(x, (1, 0)).view(*x.shape[:-2], 6, 3)[..., :-1, :].reshape(x.shape)

    identity = identify_shift(rel_shift, query_len=3, key_len=5, columns=5)
    assert text(identity.pairs) == written("""
        P 0:4 0:3 0:2 0:1
        0:0 P 1:4 1:3 1:2
        1:1 1:0 P 2:4 2:3
    """)
    assert identity.name == "wrong" and list(identity.wrong_cells) == EVERY_CELL


def test_without_a_number_of_columns_a_wrong_function_is_told_by_the_first_that_it_takes():
    assert identify_shift(lambda x: x.flip(-2), query_len=3, key_len=5)[::3] == ("wrong", 5)

    def takes_seven(x):
        assert x.shape[-1] == 7
        return exact(x).flip(-1)

    assert identify_shift(takes_seven, query_len=3, key_len=5)[::3] == ("wrong", 7)


def test_prints_warnings_and_changes_of_the_input_do_not_matter():
    def noisy(x):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        print("shape", x.shape)
        y = exact(x).clone()
        x.zero_()
        return y.float().requires_grad_()

    assert identify_shift(noisy, query_len=3, key_len=5, columns=7)[:2] == ("exact", ())


def fails(x):
    raise RuntimeError("no such\n   kernel")


BAD = {
    "no query": ({"query_len": 0}, "got query_len=0, key_len=5"),
    "a negative memory": ({"key_len": 2}, "no negative memory, got query_len=3, key_len=2, mem_len=-1"),
    "an unknown axis": ({"layout": "query key"}, "layout 'query key' must name query and column"),
    "an axis twice": ({"layout": "query column query"}, "each once"),
    "a function that fails": (
        {"function": fails},
        "no scores of 3 queries and 5 keys for 5 or 6 or 7 or 8 or 9 columns in the layout 'query column': say its "
        "axes by layout=.*last error was RuntimeError: no such kernel",
    ),
    "too few keys": (
        {"function": lambda x: x[..., :4], "columns": 7},
        r"for 7 columns .*ValueError: it gave the shape \[3, 4\], not \[3, 5\] or more keys",
    ),
    "a lost axis": ({"function": lambda x: x.sum(), "layout": LENGTH_FIRST}, r"the shape \[\], not \[3, 5, 2, 3\]"),
    "another axis order": ({"function": lambda x: x.mT}, r"not \[3, 5\] or more keys"),
    "no tensor": ({"function": lambda x: x.tolist()}, "TypeError: it gave list, not a tensor"),
    "no columns": ({"function": no_shift, "columns": 0}, "for 0 columns"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_input_gets_one_sentence(case):
    changed, message = BAD[case]
    arguments = {"function": no_shift, "query_len": 3, "key_len": 5, **changed}
    with pytest.raises(ValueError, match=message) as caught:
        identify_shift(arguments.pop("function"), **arguments)
    assert "\n" not in str(caught.value)


def test_an_unknown_shift_and_lengths_that_are_none_are_refused():
    with pytest.raises(ValueError, match="no shift 'rolled': take one of exact, slice"):
        pair_map("rolled", 3, 2)
    for lengths in [(0, 3), (3, -1)]:
        with pytest.raises(ValueError, match=f"got query_len={lengths[0]}"):
            tagged_steps("exact", *lengths)


def test_relxl_gives_identify_shift_and_nothing_that_it_has_not():
    assert relxl.identify_shift is identify_shift
    with pytest.raises(AttributeError, match="no attribute 'identify_shifts'"):
        relxl.identify_shifts  # noqa: B018
