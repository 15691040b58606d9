"""The initialisation lab: formula and measurement agree, an item is the same anywhere, and no process is left."""

import json
import logging
import math
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from relxl import sweeps
from relxl.cli import main
from relxl.config import TrainConfig
from relxl.experiments.init_scale import (
    PARAMETERS,
    InitMeasures,
    InitSettings,
    draw_attention,
    measure_init,
    normalised_entropy,
    predicted_std,
    rescale_init,
    score_gradient,
    std_formulas,
    unit_input,
)
from relxl.experiments.init_sweep import one_thread, sweep_item, sweep_rows
from relxl.experiments.init_training import falling_fit, halve_it, oscillation_score, train_scales
from relxl.masking import causal_mask, masked_softmax
from relxl.model import INIT_STD, TransformerXL
from relxl.sweeps import local_executor, run_items
from relxl.training import start, train_steps
from tests.conftest import ROOT, tiny_config

TERMS = ("content", "content_position", "u_bias", "v_bias")
STDS = {"std_table": 0.05, "std_w_k_pos": 0.03, "std_u": 0.07, "std_v": 0.04, "std_qk": 0.06}  # none can be another
SMALL = InitSettings(**STDS, d_model=14, n_head=7, length=11)


@pytest.fixture(autouse=True)
def threads():
    """Compute on one thread: matrices so small gain nothing from two, and lose much on a busy machine."""
    with one_thread():
        yield


# By formula and as drawn ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("positions, d_model, n_head, length", [
    ("learned", 187, 11, 67), ("learned", 143, 13, 101), ("learned", 128, 8, 128),
    ("sinusoid", 182, 13, 61), ("sinusoid", 66, 11, 101), ("sinusoid", 128, 8, 128),
])  # fmt: skip
def test_the_formula_of_every_term_holds(positions, d_model, n_head, length):
    ratios = {term: [] for term in TERMS}
    for seed in range(32):
        settings = InitSettings(**STDS, d_model=d_model, n_head=n_head, length=length, seed=seed, positions=positions)
        measures = measure_init(settings, unit_input(settings) * 1.7)
        for term in TERMS:
            ratios[term].append(measures.std[term] / measures.predicted[term])
    for term in TERMS:  # the formula expects variances
        assert np.mean(np.square(ratios[term])) ** 0.5 == pytest.approx(1, abs=0.05), term


def test_a_sinusoid_hardly_moves_in_its_slow_waves_and_the_formula_knows():
    settings = replace(InitSettings(**STDS), positions="sinusoid")
    rms = STDS["std_v"] * STDS["std_w_k_pos"] * (settings.d_model / 2) ** 0.5
    assert 0.5 * rms < predicted_std(settings, 1.0)["v_bias"] < 0.8 * rms


def test_rows_that_have_something_in_common_spread_less_than_the_formula_says():
    x = unit_input(SMALL)
    alike = measure_init(SMALL, x + 3 * x[:, :1])
    for term in ("content", "u_bias"):
        assert alike.std[term].mean() < 0.7 * alike.predicted[term]
    assert alike.mean_square > 4


def test_the_mean_square_stands_in_the_formula():
    one, nine = predicted_std(SMALL, 1.0), predicted_std(SMALL, 9.0)
    powers = {"content": 9, "content_position": 3, "u_bias": 3, "v_bias": 1}
    assert nine == pytest.approx({term: one[term] * power for term, power in powers.items()})


def test_every_term_has_a_formula_to_read():
    learned, sinusoid = std_formulas("learned"), std_formulas("sinusoid")
    assert tuple(learned) == tuple(sinusoid) == TERMS
    assert r"\sigma_R" in learned["v_bias"] and r"\sigma_R" not in "".join(sinusoid.values())
    assert all(text.count("{") == text.count("}") for text in (*learned.values(), *sinusoid.values()))


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_what_is_measured_is_what_the_terms_of_a_head_show(positions):
    settings = replace(SMALL, positions=positions, std_qk=0.5)
    measures = measure_init(settings, head=5)
    terms, mask = measures.terms.terms, measures.terms.mask
    assert tuple(terms) == TERMS and mask.sum() == 66
    for term in TERMS:
        assert measures.std[term].shape == (7,)
        assert measures.std[term][5] == pytest.approx(terms[term][mask].std(), rel=1e-5)
    rows = [measures.terms.probs[i, : i + 1] for i in range(1, 11)]
    expected = np.mean([-(row * np.log(row)).sum() / math.log(len(row)) for row in rows])
    assert measures.entropy[5] == pytest.approx(expected, rel=1e-5)
    assert not measures.entropy.flags.writeable and measure_init(settings).terms is None


def test_entropy_of_rows_that_are_known():
    mask = causal_mask(4, 4)
    plain = mask / mask.sum(-1, keepdim=True)
    one_key = torch.eye(4)
    two_of_four = one_key.clone()
    two_of_four[3] = torch.tensor([0.5, 0, 0, 0.5])
    assert normalised_entropy(torch.stack([plain, one_key, two_of_four]), mask).tolist() == pytest.approx(
        [1, 0, 0.5 / 3]
    )
    assert normalised_entropy(plain[None, 2:], mask[2:]).item() == pytest.approx(1)  # with memory no row is left out


def test_heads_are_too_peaked_or_too_flat_by_the_thresholds():
    entropy = np.array([0.0, 0.49, 0.5, 0.999, 0.9991, 1.0])
    measures = InitMeasures({}, {}, 1.0, entropy, entropy, None)
    assert measures.peaked.tolist() == [True, True, False, False, False, False]
    assert measures.flat.tolist() == [False, False, False, False, True, True]
    assert measures.degenerate_share == 4 / 6
    scales = {scale: measure_init(InitSettings(std_qk=scale, length=31)) for scale in (0.002, 0.07, 0.5)}
    assert scales[0.002].flat.all() and scales[0.5].peaked.all() and scales[0.07].degenerate_share == 0


def test_the_gradient_is_that_of_the_loss_that_is_stated():
    settings = replace(SMALL, std_qk=0.5)
    attn, x, mask = draw_attention(settings).double(), unit_input(settings).double(), causal_mask(11, 11)
    logits = attn.terms(x, x).logits()
    gradient = score_gradient(attn, x, logits, mask)
    direction = torch.randn(14, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def loss(logits):
        return (attn.attend(masked_softmax(logits, mask), x) @ (direction / direction.norm())).mean()

    for cell in ((0, 3, 7, 2), (0, 6, 10, 10), (0, 0, 1, 0)):
        step = torch.zeros_like(logits)
        step[cell] = 1e-4
        numeric = (loss(logits + step) - loss(logits - step)) / 2e-4
        assert gradient[cell].item() == pytest.approx(numeric.item(), rel=1e-5, abs=1e-12)
    assert (gradient[:, :, ~mask] == 0).all()
    norms = gradient[0].flatten(1).norm(dim=-1).numpy()
    assert measure_init(settings).gradient_norm == pytest.approx(norms, rel=1e-4)


@pytest.mark.parametrize("change, message", [
    ({"std_u": -0.1}, "std_u must be a finite number"), ({"std_qk": math.nan}, "std_qk"), ({"length": 1}, "length"),
    ({"n_head": 5}, "d_model=14 and n_head=5"), ({"positions": "absolute"}, "positions must be one of learned"),
    ({"positions": "sinusoid", "d_model": 7}, "even d_model"), ({"seed": -1}, "seed"),
])  # fmt: skip
def test_settings_that_can_not_be_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **change)


def test_an_input_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"x has shape \[1, 5, 14\], but length=11"):
        measure_init(SMALL, torch.zeros(1, 5, 14))


# Rescaled ---------------------------------------------------------------------------------------------------------


def fresh_model(positions="learned", **changes):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return TransformerXL(tiny_config(positions, **changes))


GROUPS = {"table": "pos_enc.pos_table", "w_k_pos": "w_k_pos", "u": "u", "v": "v", "qk": ("w_q.weight", "w_k.weight")}


@pytest.mark.parametrize("name", PARAMETERS)
def test_only_what_is_named_is_rescaled(name):
    model, before = fresh_model(), fresh_model().state_dict()
    rescaled = rescale_init(model, {name: 3 * INIT_STD}).state_dict()
    for key, value in before.items():
        mine = ".attn." in key and key.split(".attn.")[1] in np.atleast_1d(GROUPS[name])
        assert torch.equal(rescaled[key], value * 3 if mine else value), key
        assert torch.equal(model.state_dict()[key], value)  # the model itself is left


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_the_scale_that_a_model_has_is_the_model_bit_by_bit(positions):
    model = fresh_model(positions)
    rescaled = rescale_init(model, dict.fromkeys(PARAMETERS, INIT_STD)).state_dict()
    assert all(torch.equal(rescaled[key], value) for key, value in model.state_dict().items())


def test_parameters_get_the_standard_deviations_that_are_asked_for():
    model = fresh_model(d_model=96, n_head=2, max_len=128)
    attn = rescale_init(model, dict(zip(PARAMETERS, STDS.values(), strict=True))).layers[1].attn
    large = {"table": attn.pos_enc.pos_table, "w_k_pos": attn.w_k_pos, "qk": attn.w_k.weight}
    asked = dict(zip(PARAMETERS, STDS.values(), strict=True))
    for name, parameter in large.items():
        assert parameter.std().item() == pytest.approx(asked[name], rel=0.03)
    for name, parameter in (("u", attn.u), ("v", attn.v)):  # 96 draws
        assert parameter.std().item() == pytest.approx(asked[name], rel=0.25)
    assert attn.w_v.weight.std().item() == pytest.approx(INIT_STD, rel=0.03)


def test_an_absolute_model_has_nothing_to_rescale():
    with pytest.raises(ValueError, match="this TransformerXL has none"):
        rescale_init(fresh_model("absolute"), {"u": 0.1})


# The same anywhere --------------------------------------------------------------------------------------------------

SWEEP = {"scales": (0.002, 0.02, 0.2), "seeds": (0, 1), "lengths": (67, 61)}
SIZES = {"d_model": 70, "n_head": 7, "positions": "sinusoid"}
ITEMS = sweep_rows(InitSettings(**SIZES), **SWEEP)
ARGUMENTS = [f"--{name}={','.join(map(str, values))}" for name, values in SWEEP.items()]
ARGUMENTS += [f"--{name.replace('_', '-')}={value}" for name, value in SIZES.items()]


@pytest.fixture(scope="module")
def rows():
    """Give the rows of the sweep, measured one after another in this process."""
    return [sweep_item(item) for item in ITEMS]


def as_table(parts):
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


def test_a_sweep_lists_every_combination_and_a_row_says_what_it_is(rows):
    settings = [(item.scale, item.settings.seed, item.settings.length) for item in ITEMS]
    assert settings == [(s, seed, n) for s in SWEEP["scales"] for seed in (0, 1) for n in (67, 61)]
    assert ITEMS[-1].settings.stds == pytest.approx(dict.fromkeys(PARAMETERS, 0.2))
    assert ITEMS[4].settings.stds == dict.fromkeys(PARAMETERS, INIT_STD)
    names = ["scale", "seed", "length", "positions", "d_model", "n_head", "scaled", "head"]
    names += [f"{kind}_{term}" for kind in ("std", "predicted") for term in TERMS]
    assert list(rows[0]) == [*names, "entropy", "peaked", "flat", "gradient_norm"]
    assert {name: values[6] for name, values in list(rows[1].items())[:8]} == {
        "scale": 0.002, "seed": 0, "length": 61, "positions": "sinusoid", "d_model": 70, "n_head": 7,
        "scaled": "table w_k_pos u v qk", "head": 6,
    }  # fmt: skip


def test_a_subset_is_scaled_and_the_rest_keeps_its_own():
    item = sweep_rows(SMALL, [0.04], [5], [11], ("u", "qk"))[0]
    assert item.settings.stds == pytest.approx(SMALL.stds | {"u": 0.14, "qk": 0.12})
    assert item.settings.seed == 5 and item.scaled == ("u", "qk")
    with pytest.raises(ValueError, match="only table, w_k_pos, u, v, qk can be scaled, got 'w'"):
        sweep_rows(SMALL, [0.04], [5], [11], ("w",))


def test_an_item_depends_on_nothing_around_it_and_leaves_nothing(rows):
    torch.set_num_threads(3)
    generator = torch.get_rng_state()
    with ThreadPoolExecutor(4) as executor:
        assert list(executor.map(sweep_item, ITEMS)) == rows
    assert torch.equal(torch.get_rng_state(), generator) and torch.get_num_threads() == 3
    torch.manual_seed(77)
    assert sweep_item(ITEMS[3]) == rows[3]
    json.dumps(rows)  # plain numbers and texts


def test_processes_measure_the_same_rows(rows, capsys):
    with local_executor(2) as executor:
        assert [part for _, part in sorted(run_items(executor, sweep_item, ITEMS))] == rows
    assert f"{len(ITEMS)}/{len(ITEMS)} measured" in capsys.readouterr().err


def local_cluster(n_workers):
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=2,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",  # no bokeh, no dashboard; without an address it would take port 8787
        silence_logs=logging.CRITICAL,
    )


def test_a_cluster_measures_the_same_rows(rows, tmp_path):
    pytest.importorskip("distributed")
    with local_cluster(2) as cluster:
        out = tmp_path / "new" / "rows.parquet"
        assert (
            main(["sweep", "init-scale", *ARGUMENTS, "--scheduler", cluster.scheduler_address, "--out", str(out)]) == 0
        )
    assert pd.read_parquet(out).to_dict("list") == as_table(rows)


def test_a_cluster_without_workers_is_one_sentence(tmp_path, monkeypatch, capsys):
    pytest.importorskip("distributed")
    monkeypatch.setattr(sweeps, "ANSWER_SECONDS", 1)
    with local_cluster(0) as cluster:
        out = ["--out", str(tmp_path / "rows.csv")]
        assert main(["sweep", "init-scale", *ARGUMENTS, "--scheduler", cluster.scheduler_address, *out]) == 2
    error = capsys.readouterr().err
    assert "its workers must be running" in error and error.count("\n") == 1 and not any(tmp_path.iterdir())


# The command ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_is_read_back_as_it_was_measured(suffix, rows, tmp_path):
    out = tmp_path / f"rows{suffix}"
    assert sweeps.write_table(out, rows) == len(ITEMS) * 7
    table = pd.read_csv(out) if suffix == ".csv" else pd.read_parquet(out)
    assert table.to_dict("list") == as_table(rows) and [path.name for path in tmp_path.iterdir()] == [out.name]


def test_the_command_writes_the_rows_of_its_items(rows, tmp_path, capsys):
    out = tmp_path / "rows.csv"
    assert main(["sweep", "init-scale", *ARGUMENTS, "--workers", "1", "--out", str(out)]) == 0
    assert pd.read_csv(out).to_dict("list") == as_table(rows)
    printed = capsys.readouterr()
    assert printed.out == f"{out}: 84 rows, 12 measurements of 7 heads\n" and "12/12 measured" in printed.err


BAD = {
    "scales": (["--scales", "0.02,a"], "--scales '0.02,a': give numbers"),
    "no scale": (["--scales", ""], "give numbers"),
    "nan": (["--scales", "nan"], "must be a finite number"),
    "negative": (["--scales=-0.1"], "must be a finite number"),
    "seeds": (["--seeds", "1.5"], "--seeds '1.5': give whole numbers"),
    "length": (["--lengths", "64,1"], "length must be 2 or more"),
    "heads": (["--n-head", "3"], "d_model=128 and n_head=3"),
    "sinusoid": (["--positions", "sinusoid", "--d-model", "15", "--n-head", "5"], "even d_model"),
    "scaled": (["--scaled", "u,w_q"], "can be scaled, got 'w_q'"),
    "workers": (["--workers", "0"], "--workers must be 1 or more"),
    "out": (["--out", "rows.xlsx"], "--out rows.xlsx: give a file that ends in .parquet or .csv"),
    "folder": (["--out", "/dev/null/rows.csv"], "/dev/null"),
    "address": (["--scheduler", "nonsense"], "--scheduler nonsense: no Dask scheduler answers there"),
    "nobody": (["--scheduler", "tcp://127.0.0.1:9"], "no Dask scheduler answers there"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_can_not_be_done_is_one_sentence_and_exit_2(case, tmp_path, monkeypatch, capsys):
    if case in ("address", "nobody"):
        pytest.importorskip("distributed")
        monkeypatch.setattr(sweeps, "ANSWER_SECONDS", 1)
    arguments, message = BAD[case]
    assert main(["sweep", "init-scale", "--scales", "0.02", "--out", str(tmp_path / "rows.csv"), *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and not any(tmp_path.iterdir())


def test_without_dask_a_scheduler_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    command = ["sweep", "init-scale", "--scales", "0.02", "--scheduler", "tcp://127.0.0.1:9"]
    assert main([*command, "--out", str(tmp_path / "rows.csv")]) == 2
    assert capsys.readouterr().err == (
        "relxl: --scheduler needs Dask, which is not installed: pip install 'dask[distributed]'\n"
    )


def of_session(leader):
    """Give the ids of the living processes of a session."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has just ended
            continue
        if int(session) == leader and state != "Z":
            found.add(int(stat.parent.name))
    return found


@pytest.fixture
def long_sweep(tmp_path):
    """Start a sweep of minutes in a session of its own, whose processes can so be told from all others."""
    seeds = ",".join(map(str, range(500)))
    command = [sys.executable, "-m", "relxl", "sweep", "init-scale", "--scales", "0.02", "--lengths", "512"]
    command += ["--seeds", seeds, "--workers", "2", "--out", str(tmp_path / "rows.csv")]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True) as sweep:
        yield sweep
        for process in of_session(sweep.pid):
            os.kill(process, signal.SIGKILL)


def wait_until(reached, seconds=30):
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the processes are counted in /proc")
@pytest.mark.parametrize("how", ["Ctrl-C at once", "Ctrl-C", "kill", "worker"])
def test_no_process_is_left_however_a_sweep_ends(how, long_sweep, tmp_path):
    wait_until(lambda: len(of_session(long_sweep.pid)) >= 4)  # with its two workers and Python's resource tracker
    if how != "Ctrl-C at once":
        while long_sweep.stderr.read(1) != "2":
            assert long_sweep.poll() is None
    if how.startswith("Ctrl-C"):
        os.killpg(long_sweep.pid, signal.SIGINT)  # as a terminal does: to the whole group
    elif how == "kill":
        long_sweep.kill()
    else:
        workers = [p for p in of_session(long_sweep.pid) if b"spawn_main" in Path(f"/proc/{p}/cmdline").read_bytes()]
        os.kill(workers[0], signal.SIGKILL)
    error = long_sweep.stderr.read()
    code = {"Ctrl-C at once": 130, "Ctrl-C": 130, "kill": -signal.SIGKILL, "worker": 2}[how]
    assert long_sweep.wait() == code and "Traceback" not in error
    assert {130: "relxl: stopped", 2: "try fewer --workers"}.get(code, "") in error
    wait_until(lambda: not of_session(long_sweep.pid))
    assert not any(tmp_path.iterdir())


# Side by side ---------------------------------------------------------------------------------------------------------

TOKENS = torch.randint(11, (200,), generator=torch.Generator().manual_seed(1))
TRAIN = TrainConfig(steps=9, batch=3, lr=1e-2, warmup=3, seed=5)


def curves(scales, **changes):
    return list(train_scales(tiny_config(**{"dropout": 0.3, **changes}), TRAIN, TOKENS, scales))[-1].losses


def test_scales_take_turns_and_tell_after_every_step():
    seen = list(train_scales(tiny_config(), TRAIN, TOKENS, [0.02, 0.3, 0.1]))
    assert [(told.step, told.scale) for told in seen] == [(n, s) for n in range(1, 10) for s in (0.02, 0.3, 0.1)]
    assert [len(losses) for losses in seen[4].losses.values()] == [2, 2, 1]
    assert all(seen[-1].losses[scale][:2] == seen[4].losses[scale] for scale in (0.02, 0.3))
    finals = [losses[-1] for losses in seen[-1].losses.values()]
    assert len(set(finals)) == 3


@pytest.mark.parametrize("positions", ["learned", "sinusoid"])
def test_a_curve_is_the_one_of_its_scale_alone_and_of_relxl_train(positions):
    torch.manual_seed(1)
    generator = torch.get_rng_state()
    three = curves([0.3, 0.02, 0.1], positions=positions)
    assert torch.equal(torch.get_rng_state(), generator)
    torch.rand(9)
    assert curves([0.02, 0.3], positions=positions) == {0.02: three[0.02], 0.3: three[0.3]}
    state = start(tiny_config(positions, dropout=0.3), TRAIN)
    for _ in train_steps(state, TOKENS, TRAIN):
        pass
    assert tuple(state.losses) == three[0.02]


@pytest.mark.parametrize("scales, changes, message", [
    ([0.02], {}, "2 to 6 different scales"), ([0.02, 0.02], {}, "different"), ([1, 2, 3, 4, 5, 6, 7], {}, "2 to 6"),
    ([0.02, 0.0], {}, "above 0, got 0.0"), ([0.02, math.inf], {}, "above 0"),
    ([0.02, 0.01], {"positions": "absolute"}, "belongs to relative attention"),
])  # fmt: skip
def test_trainings_that_can_not_be_are_refused_at_once(scales, changes, message):
    with pytest.raises(ValueError, match=message):
        train_scales(tiny_config(**changes), TRAIN, TOKENS, scales)


def test_a_start_is_no_whole_training():
    with pytest.raises(ValueError, match="at most 2000 steps"):
        train_scales(tiny_config(), replace(TRAIN, steps=2001), TOKENS, [0.02, 0.01])


# Oscillation ----------------------------------------------------------------------------------------------------------

STEP = np.arange(600)
FALLING = 2 + 2 * np.exp(-STEP / 80)


def test_a_loss_that_only_falls_does_not_oscillate():
    for curve in (FALLING, 4 - STEP / 600, np.repeat([4.0, 3.0, 1.0], 200)):
        assert oscillation_score(curve) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("period", [2, 17, 101])
def test_a_swing_counts_by_its_size_whatever_its_period(period):
    swing = np.sin(2 * np.pi * (STEP + 0.5) / period)
    scores = [oscillation_score(FALLING + size * swing) for size in (0.1, 0.2, 0.4)]
    rms = np.sqrt(np.mean(np.square(swing)))
    assert scores == pytest.approx([0.1 * rms / 2, 0.2 * rms / 2, 0.4 * rms / 2], rel=0.5)
    assert scores[0] < scores[1] < scores[2]


def test_the_score_knows_neither_unit_nor_zero():
    curve = FALLING + 0.3 * np.random.default_rng(0).normal(size=600)
    assert oscillation_score(7 * curve - 3) == pytest.approx(oscillation_score(curve))
    assert oscillation_score(list(curve)) == oscillation_score(curve)


def test_a_spike_counts():
    spike = FALLING + 1.0 * ((STEP >= 300) & (STEP < 330))
    assert oscillation_score(spike) > 0.05


def test_what_does_not_fall_is_infinite_and_what_is_too_short_unknown():
    assert oscillation_score(STEP) == oscillation_score([4.0, 4.0, 4.0]) == math.inf
    assert oscillation_score([4.0, 3.0, math.nan]) == oscillation_score([4.0, 3.0, math.inf]) == math.inf
    assert math.isnan(oscillation_score([4.0, 3.0]))


@pytest.mark.parametrize("seed", range(5))
def test_the_fit_is_the_nearest_curve_that_does_not_rise(seed):
    losses = np.random.default_rng(seed).normal(size=97) - np.linspace(0, 2, 97)
    fit = falling_fit(losses)
    rest = np.cumsum(losses - fit)
    assert (np.diff(fit) <= 0).all() and rest[-1] == pytest.approx(0, abs=1e-9) and (rest <= 1e-9).all()
    assert rest[:-1][np.diff(fit) < 0] == pytest.approx(0, abs=1e-9)  # so no non-increasing curve is nearer


def test_halving_is_judged_on_the_steps_that_both_have():
    wild, calm = FALLING + 0.4 * (-1.0) ** STEP, FALLING + 0.1 * (-1.0) ** STEP
    losses = {0.2: wild, 0.1: calm[:300], 0.05: wild}
    halving = halve_it(losses, 0.2)
    assert halving.score == oscillation_score(wild[:300]) and halving.half_score == oscillation_score(calm[:300])
    assert halving.lowered and halving.by == pytest.approx(0.75, abs=0.1)
    assert not halve_it(losses, 0.1).lowered and halve_it(losses, 0.1).by < -1
    hardly = {0.2: FALLING + 0.1 * (-1.0) ** STEP, 0.1: FALLING + 0.099 * (-1.0) ** STEP}
    assert not halve_it(hardly, 0.2).lowered and 0 < halve_it(hardly, 0.2).by < 0.02
    with pytest.raises(ValueError, match=r"scale 0.025 are not there, only those of \[0.05, 0.1, 0.2\]"):
        halve_it(losses, 0.05)


def test_halving_can_save_a_training_that_diverged():
    rising = 2 + STEP / 100
    saved = halve_it({0.2: rising, 0.1: FALLING}, 0.2)
    assert saved.lowered and saved.by == 1
    lost = halve_it({0.2: rising, 0.1: rising}, 0.2)
    assert not lost.lowered and math.isnan(lost.by)
