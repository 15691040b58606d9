"""Losses beyond the training length: in pieces what whole segments give, on the same characters, and stoppable."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from relxl.checkpoint import save_checkpoint
from relxl.cli import main
from relxl.experiments import max_len_losses
from relxl.experiments.max_len_losses import (
    cell_losses,
    length_losses,
    loss_rows,
    loss_table,
    mean_and_error,
    spread_streams,
)
from relxl.experiments.max_len_variants import Variant, home_variants, variant_of
from relxl.masking import MaskRule
from relxl.model import TransformerXL
from relxl.reading import Reading
from relxl.training import token_loss
from relxl.vocab import Vocab
from tests.conftest import tiny_config, tiny_model
from tests.foreign import foreign

TOKENS = torch.randint(11, (3, 48), generator=torch.Generator().manual_seed(7))


def measured(model, lengths, memories, variants=("as_trained",), lead=None, tokens=TOKENS):
    return [row for _, row in length_losses(model, tokens, lengths, memories, variants, lead) if row]


def whole_segments(model, segment_len, mem_len, clamp_len=None):
    """Read the streams segment by segment with the model's own memory: [stream character]."""
    own = TransformerXL(tiny_config(model.config.positions, mem_len=mem_len)).to(torch.float64).eval()
    own.load_state_dict(model.state_dict())
    losses, mems = [], None
    for begin in range(0, TOKENS.shape[1] - 1, segment_len):
        targets = TOKENS[:, begin + 1 : begin + segment_len + 1]
        output = own(TOKENS[:, begin : begin + targets.shape[1]], mems if mem_len else None, clamp_len)
        mems = output.mems
        losses.append(token_loss(output.output_logits, targets))
    return torch.cat(losses, dim=1).detach().numpy()


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
@pytest.mark.parametrize("segment_len, mem_len", [(7, 0), (7, 5), (19, 3), (5, 23), (60, 11)])
@pytest.mark.parametrize("piece_cells", [1 << 19, 3 * 140])  # as it is; and pieces of one to three tokens
def test_pieces_give_what_whole_segments_give(positions, segment_len, mem_len, piece_cells, monkeypatch):
    monkeypatch.setattr(max_len_losses, "PIECE_CELLS", piece_cells)
    model = tiny_model(positions)
    (row,) = measured(model, [segment_len], [mem_len], lead=0)
    np.testing.assert_allclose(row.losses, whole_segments(model, segment_len, mem_len), rtol=1e-5)
    assert row.position.tolist() == [character % segment_len for character in range(47)]


def test_a_clamp_of_the_losses_is_the_clamp_of_a_call():
    model = tiny_model("sinusoid")
    (row,) = measured(model, [19], [3], ["clamp:4"], lead=0)
    np.testing.assert_allclose(row.losses, whole_segments(model, 19, 3, clamp_len=4), rtol=1e-5)


def test_every_cell_scores_the_same_characters_and_the_lead_is_left_out():
    model = tiny_model()
    rows = measured(model, [7, 14], [0, 21])
    assert [(row.segment_len, row.mem_len, row.lead) for row in rows] == [
        (7, 0, 21),
        (7, 21, 21),
        (14, 0, 21),
        (14, 21, 21),
    ]
    assert all(row.losses.shape == (3, 26) and not row.losses.flags.writeable for row in rows)
    (all_of_it,) = measured(model, [7], [21], lead=0)
    assert np.array_equal(rows[1].losses, all_of_it.losses[:, 21:])
    assert rows[1].position.tolist()[:8] == [0, 1, 2, 3, 4, 5, 6, 0]
    (later,) = measured(model, [7], [21], lead=10)
    assert later.position.tolist()[:5] == [3, 4, 5, 6, 0]
    assert np.array_equal(later.losses, all_of_it.losses[:, 10:])


def test_a_window_never_looks_past_the_training_and_a_flip_reads_what_was_never_trained():
    model = tiny_model()
    rows = measured(model, [14], [12], ["as_trained", "window", "flip"], lead=0)
    assert len({row.loss for row in rows}) == 3
    changed = np.abs(rows[0].losses - rows[1].losses).max(0) > 0
    assert not changed[:12].any() and changed[12:].all()  # home is 7 + 5: the first that sees farther is character 12
    more = measured(model, [14], [11, 12, 30], ["window"], lead=30)
    assert more[0].losses is more[1].losses is more[2].losses  # 11 tokens of memory are all that a window of 12 sees
    uncut = torch.cat(
        [loss for _, _, loss in cell_losses(model, TOKENS, 14, 30, Variant(rule=MaskRule(window=12)))], dim=1
    )
    np.testing.assert_allclose(more[0].losses, uncut[:, 30:], rtol=1e-5)


def test_progress_goes_up_to_one_and_a_stop_leaves_nothing_behind():
    model = tiny_model()
    steps = list(length_losses(model, TOKENS, [7, 11], [0, 5], ["as_trained", "flip"], lead=11))
    done = [share for share, _ in steps]
    assert done == sorted(done) and done[0] > 0 and done[-1] == 1
    assert sum(row is not None for _, row in steps) == 8 and len(steps) > 30
    before = {name: value.clone() for name, value in model.state_dict().items()}
    losses = length_losses(model, TOKENS, [7], [5])
    next(losses)
    assert torch.is_grad_enabled()
    losses.close()
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_names_that_come_to_the_same_thing_are_measured_once():
    config = tiny_config()  # segment 7, memory 5, max_len 13: distances up to 11 are trained
    assert variant_of("clamp", config, 11) == variant_of("window", config, 11) == variant_of("clamp:12", config, 11)
    assert variant_of("interpolate", config, 12) == variant_of("interpolate:13", config, 50) == Variant()
    assert variant_of("clamp", config, 12) == Variant(Reading(clamp_len=11))
    assert variant_of("window", config, 12) == Variant(rule=MaskRule(window=12))
    assert variant_of("interpolate", config, 50) == variant_of("interpolate:51", config, 3)
    assert variant_of("interpolate_far", config, 50) == Variant(Reading(interpolate=51, near=3))
    assert variant_of("interpolate:26:2", config, 3) == Variant(Reading(interpolate=26, near=2))
    assert variant_of("truncate:4", config, 9).reading == Reading(truncate=4)
    names = ["as_trained", "clamp", "window", "interpolate"]
    steps = list(length_losses(tiny_model(), TOKENS, [7], [5], names, lead=7))
    assert sum(row is None for _, row in steps) == 7  # 47 tokens in segments of 7, once
    rows = [row for _, row in steps if row]
    assert [row.variant for row in rows] == names and all(row.losses is rows[0].losses for row in rows)


def test_what_is_compared_at_home_fits_the_model():
    stretched = [f"interpolate:{max_len}" for max_len in (14, 16, 19, 26, 52, 104)]
    near, cut = ["interpolate:26:1", "interpolate:26:2"], [f"truncate:{2**n}" for n in range(4)]
    assert home_variants(tiny_config()) == ("as_trained", "flip", *stretched, *near, *cut)
    clamps = [f"clamp:{reach}" for reach in (0, 1, 3, 7)]
    assert home_variants(tiny_config("sinusoid")) == ("as_trained", "flip", *clamps)
    assert home_variants(tiny_config("absolute")) == ("as_trained",)


@pytest.mark.parametrize("settings, sentence", [
    ({"variants": ["clamped"]}, "a variant is one of as_trained, clamp, .* got 'clamped'"),
    ({"variants": ["flip:3"]}, "a variant is one of"),
    ({"variants": ["clamp:-1"]}, "a variant is one of"),
    ({"variants": ["clamp:3:4"]}, "a variant is one of"),
    ({"variants": ["interpolate:30:13"]}, "near must be a distance that both tables have, 0 to 12, got 13"),
    ({"variants": ["interpolate:0"]}, "max_len must be 1 or more, got 0"),
    ({"lengths": [0]}, "segments have 1 token or more"),
    ({"memories": [-1]}, "memories 0 or more"),
    ({"lengths": [47]}, "streams of 47 characters leave nothing to score after the first 47"),
])  # fmt: skip
def test_what_can_not_be_measured_is_refused_before_anything_is(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        measured(tiny_model(), **({"lengths": [7], "memories": [0]} | settings))


def test_a_model_without_distances_has_one_variant():
    with pytest.raises(ValueError, match="absolute positions know no distance"):
        measured(tiny_model("absolute"), [7], [0], ["flip"])
    with pytest.raises(ValueError, match="only a learned table"):
        measured(tiny_model("sinusoid"), [7], [0], ["interpolate"])


def test_streams_are_spread_over_the_text():
    rows = spread_streams(torch.arange(1000), 80, streams=4)
    assert rows.shape == (4, 21) and rows[:, 0].tolist() == [0, 250, 500, 750]
    for characters in (3, 1000):
        with pytest.raises(ValueError, match=f"have 4 to 996 tokens to score, but {characters} were asked for"):
            spread_streams(torch.arange(1000), characters, streams=4)


def test_the_error_of_a_mean_comes_from_blocks():
    losses = np.random.default_rng(0).normal(size=(4, 8192)).astype(np.float32)
    mean, error = mean_and_error(losses)
    assert mean == pytest.approx(losses.mean(), abs=1e-6) and error == pytest.approx(1 / np.sqrt(losses.size), rel=0.4)
    blocks = np.repeat(np.random.default_rng(1).normal(size=(4, 8)), 1024, axis=1)
    assert mean_and_error(blocks)[1] == pytest.approx(blocks[:, ::1024].std(ddof=1) / np.sqrt(32))
    assert np.isnan(mean_and_error(losses[:1, :100])[1])


def test_the_table_has_a_row_for_a_cell_and_for_each_bin_of_positions():
    rows = measured(tiny_model(), [7, 14], [5], ["as_trained", "flip"])
    table = loss_table(rows, home=rows[0], bin_len=4)
    whole = table[(table["begin"] == 0) & (table["end"] == table["segment_len"])]
    assert len(whole) == 4 and (whole["characters"] == 3 * 33).all()
    assert whole["change"].tolist() == pytest.approx((whole["loss"] - rows[0].loss).tolist(), abs=1e-6)
    for (_, length), cell in table.groupby(["variant", "segment_len"], sort=False):
        bins = cell.iloc[1:]
        assert bins["begin"].tolist() == list(range(0, length, 4)) and bins["end"].iloc[-1] == length
        mean = (bins["loss"] * bins["characters"]).sum() / bins["characters"].sum()
        assert mean == pytest.approx(cell["loss"].iloc[0]) and bins["characters"].sum() == 3 * 33
    assert np.isnan(loss_rows(rows)[0]["change"])


@pytest.mark.parametrize("positions", ["learned", "sinusoid", "absolute"])
def test_the_command_writes_rows_and_how_they_came_about(positions, tmp_path, capsys):
    text = tmp_path / "text.txt"
    text.write_text("the quick brown fox\n" * 2000)
    vocab = Vocab.from_text(text.read_text())
    model = tiny_model(positions, torch.float32, n_token=len(vocab.tokens))
    save_checkpoint(tmp_path / "tiny", model, vocab, {})
    out = tmp_path / "new" / "max_len.csv"
    command = ["sweep", "max-len", str(tmp_path / "tiny"), "--text", str(text), "--out", str(out)]
    command += ["--characters", "2400", "--lengths", "7,64", "--memories", "0,5", "--threads", "1"]
    threads = torch.get_num_threads()
    try:
        assert main(command) == 0
    finally:
        torch.set_num_threads(threads)
    with out.open() as file:
        rows = list(csv.DictReader(file))
    how = json.loads(out.with_suffix(".json").read_text())
    assert rows[0]["variant"] == "as_trained" and (rows[0]["segment_len"], rows[0]["mem_len"]) == ("7", "5")
    assert float(rows[0]["change"]) == 0
    keys = [tuple(row[name] for name in ("variant", "segment_len", "mem_len", "begin", "end")) for row in rows]
    assert len(set(keys)) == len(keys)
    assert {(row["segment_len"], row["mem_len"]) for row in rows} == {("7", "0"), ("7", "5"), ("64", "0"), ("64", "5")}
    assert how["characters"] == {"streams": 4, "read": 2400, "scored": 4 * (600 - 64), "lead": 64}
    assert "max_len.csv: " in capsys.readouterr().out and {row["variant"] for row in how["small"]} >= {"as_trained"}


@pytest.mark.parametrize("change, sentence", [
    (["--characters", "100"], "leave nothing to score"),
    (["--characters", "1000000"], "were asked for"),
    (["--text", "data/songci.txt"], "does not know .* of the text's characters, such as"),
])  # fmt: skip
def test_a_command_that_can_not_be_run_says_why(change, sentence, tmp_path, capsys):
    command = ["sweep", "max-len", "checkpoints/shakespeare-absolute", "--out", str(tmp_path / "x.csv"), *change]
    assert main(command) == 2
    assert re.search(sentence, capsys.readouterr().err) and not (tmp_path / "x.csv").exists()


# Other families ------------------------------------------------------------------------------------------------------

LANGUAGE = ("txl_official", "txl_learned", "txl_same_length", "hf_transfoxl", "hf_same_length", "xlnet_uni")


@pytest.mark.parametrize("name", LANGUAGE)
@pytest.mark.parametrize("segment_len, mem_len", [(7, 6), (8, 0), (5, 11), (60, 7)])
@pytest.mark.parametrize("piece_cells", [1 << 19, 3 * 140])
def test_another_familys_losses_are_those_of_its_own_memory(name, segment_len, mem_len, piece_cells, monkeypatch):
    """Its zeros at the start, its window and its way to keep a memory included."""
    monkeypatch.setattr(max_len_losses, "PIECE_CELLS", piece_cells)
    model = foreign(name).model
    model = replace(model, config=replace(model.config, mem_len=mem_len))
    losses, mems = [], None
    for begin in range(0, TOKENS.shape[1] - 1, segment_len):
        targets = TOKENS[:, begin + 1 : begin + segment_len + 1]
        output = model(TOKENS[:, begin : begin + targets.shape[1]], mems if mem_len else None)
        mems = output.mems
        losses.append(token_loss(output.output_logits, targets))
    (row,) = measured(model, [segment_len], [mem_len], lead=0)
    np.testing.assert_allclose(row.losses, torch.cat(losses, dim=1).numpy(), rtol=1e-5)


@pytest.mark.parametrize("name", LANGUAGE)
def test_another_familys_readings_are_compared_as_ours(name):
    model = foreign(name).model
    model = replace(model, config=replace(model.config, segment_len=7, mem_len=6))
    kinds = ["as_trained", "clamp:3", "window"] + (["interpolate", "interpolate_far"] if name == "txl_learned" else [])
    rows = {row.variant: row for row in measured(model, [14], [12], kinds, lead=12)}
    assert all(np.isfinite(row.losses).all() for row in rows.values())
    same_length = name.endswith("same_length")
    same = np.array_equal(rows["window"].losses, rows["as_trained"].losses)
    assert same == same_length  # a window of its own is narrower than the training's reach
    assert not np.array_equal(rows["clamp:3"].losses, rows["as_trained"].losses)


@pytest.mark.parametrize("name, sentence", [
    ("labml", "reads hidden states and predicts no token"),
    ("wav2vec2_conformer", "reads hidden states and predicts no token"),
    ("xlnet_bi", "sees both sides, the token that it should predict too"),
])  # fmt: skip
def test_a_model_without_a_loss_is_refused(name, sentence):
    with pytest.raises(ValueError, match=sentence):
        next(length_losses(foreign(name).model, TOKENS, [7], [0]))
