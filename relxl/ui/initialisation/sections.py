"""The sections of the page "Initialisation"."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st
import torch

from relxl import style
from relxl.config import ModelConfig, TrainConfig
from relxl.experiments.init_scale import (
    FLAT_ABOVE,
    PARAMETERS,
    PEAKED_BELOW,
    InitMeasures,
    InitSettings,
    measure_init,
    scale_settings,
    std_formulas,
)
from relxl.experiments.init_sweep import sweep_item, sweep_rows
from relxl.experiments.init_training import halve_it, oscillation_score, train_scales
from relxl.figures import init_scale as figures
from relxl.figures.curves import losses_figure
from relxl.figures.head import head_grid
from relxl.jobs import Progress
from relxl.language import _
from relxl.split import HeadTerms
from relxl.training import split_tokens
from relxl.ui.jobs import show_job
from relxl.ui.library import ROOT
from relxl.ui.matrix import matrix_view
from relxl.ui.show import plain, show
from relxl.ui.state import chips, keep
from relxl.ui.view import Source, View, cached_checkpoint
from relxl.vocab import Vocab

USUAL = 0.02
SCALES = tuple(float(f"{USUAL * 10 ** (step / 10):.3g}") for step in range(-20, 21))  # four decades
LENGTHS = (32, 64, 128, 256)
WIDTHS, HEADS = (64, 128, 256), (1, 2, 4, 8, 16)
SEEDS = 5
SWEEP_SCALES = SCALES[::2]
TRAIN_STEPS = (200, 500, 1000, 2000)
TEXT = "tinyshakespeare.txt"


class Lab(NamedTuple):
    """Hold what the page looks at: the settings, the scale if all five share one, and what the layer reads."""

    settings: InitSettings
    scale: float
    head: int
    ids: bytes | None  # of the text whose embeddings are read; None: unit normal


def kept_lab(view: View) -> Lab:
    """Read the settings off the controls."""
    config = view.checkpoint.config
    reads = keep("ii", "normal", inputs_of(view)).value
    d_model = config.d_model if reads == "text" else keep("id", 128, WIDTHS).value
    length = keep("il", 128, LENGTHS).value
    ids = None
    if reads == "text":
        length = min(length, view.key_len)
        ids = np.frombuffer(view.source.ids, np.int32)[-length:].tobytes()
        if length < 2:
            reads, ids, length = "normal", None, 2
    heads = heads_of(d_model)
    n_head = keep("ih", 8 if 8 in heads else heads[-1], heads).value
    scale = keep("is", USUAL, SCALES).value
    apart = keep("ia", 0, (0, 1)).value
    own = {name: keep(f"i{name[0]}", USUAL, SCALES).value for name in PARAMETERS}
    settings = InitSettings(
        d_model=d_model,
        n_head=n_head,
        length=length,
        seed=keep("ie", 0, range(100)).value,
        positions=keep("ip", "learned", kinds_of(d_model)).value,
        **({f"std_{name}": std for name, std in own.items()} if apart else {}),
    )
    settings = settings if apart else scale_settings(settings, scale)
    return Lab(settings, scale, min(keep("ig", 0, range(max(HEADS))).value, n_head - 1), ids)


def inputs_of(view: View) -> tuple[str, ...]:
    """Name what a fresh layer can read: the text, where the model has one."""
    return ("normal", "text") if view.checkpoint.config.n_token else ("normal",)


def heads_of(d_model: int) -> list[int]:
    """Name the numbers of heads that a width can be cut into."""
    return [n_head for n_head in HEADS if d_model % n_head == 0]


def kinds_of(d_model: int) -> tuple[str, ...]:
    """Name the positions that a width can have: a sinusoid comes in pairs."""
    return ("learned", "sinusoid") if d_model % 2 == 0 else ("learned",)


def presets() -> None:
    """Draw chips that each lead to a scale worth seeing."""
    usual = {"ip": "learned", "ia": 0}
    presets = {
        _("The article's 0.02"): usual | {"is": USUAL},
        _("Too small to matter"): usual | {"is": SCALES[5]},
        _("Ten times"): usual | {"is": SCALES[30]},
        _("Saturated"): usual | {"is": SCALES[37]},
        _("A sinusoid at 0.02"): usual | {"is": USUAL, "ip": "sinusoid"},
    }
    chips(_("Try this:"), presets, "init")


def measures(lab: Lab, view: View) -> InitMeasures:
    return cached_measures(lab, view.source.checkpoint)


@st.cache_resource(max_entries=32, show_spinner=False)
def cached_measures(lab: Lab, source: Source) -> InitMeasures:
    x = None
    if lab.ids is not None:
        model = cached_checkpoint(source).model
        x = model.embed(torch.tensor(np.frombuffer(lab.ids, np.int32)[None].copy()).long())
        x = x[:, :, 0] if x.dim() == 4 else x  # of absolute positions the content alone
    return measure_init(lab.settings, x, lab.head)


def picture(lab: Lab, measured: InitMeasures, view: View) -> None:
    """Show the terms, sum and probabilities of one head."""
    terms: HeadTerms = measured.terms
    tokens = view.tokens[-len(terms.mask) :] if lab.ids is not None else [str(i) for i in range(len(terms.mask))]
    grid = head_grid(terms, style.RELATIVE_TERMS, tokens, plain(finding(measured)), None)
    matrix_view(grid, key="init", dark=view.dark)


def controls(lab: Lab, view: View) -> None:
    """Draw the controls."""
    show_scale = style.number
    apart = keep("ia", 0, (0, 1))
    if not apart.value:
        scale = keep("is", USUAL, SCALES)
        st.select_slider(_("Standard deviation"), SCALES, format_func=show_scale, **scale.widget)
    names = {0: _("together"), 1: _("apart")}
    st.segmented_control(_("The five"), (0, 1), format_func=names.get, required=True, **apart.widget)
    if apart.value:
        labels = {"table": _("table"), "w_k_pos": "w_k_pos", "u": "u", "v": "v", "qk": "w_q, w_k"}
        for name in PARAMETERS:
            own = keep(f"i{name[0]}", USUAL, SCALES)
            st.select_slider(labels[name], SCALES, format_func=show_scale, **own.widget)
    reads = {"normal": _("unit normal"), "text": _("the text")}
    st.selectbox(_("Input"), inputs_of(view), format_func=reads.get, **keep("ii", "normal").widget)
    kinds = {"learned": _("learned table"), "sinusoid": _("sinusoid")}
    st.selectbox(_("Positions"), kinds_of(lab.settings.d_model), format_func=kinds.get, **keep("ip", "learned").widget)
    left, right = st.columns(2)
    left.selectbox(_("Length"), LENGTHS, **keep("il", 128).widget)
    right.selectbox("d_model", WIDTHS, disabled=lab.ids is not None, **keep("id", 128).widget)
    left, right = st.columns(2)
    left.selectbox(_("Heads"), heads_of(lab.settings.d_model), **keep("ih", 8).widget)
    right.number_input(_("Seed"), 0, 99, step=1, **keep("ie", 0).widget)
    st.number_input(_("Head shown"), 0, max(HEADS) - 1, step=1, **keep("ig", 0).widget)


def finding(measured: InitMeasures) -> str:
    """Say what the scale does, in numbers; markdown."""
    total = sum(float(std.mean()) ** 2 for std in measured.std.values()) ** 0.5
    entropy = float(np.mean(measured.entropy))
    peaked, flat = int(measured.peaked.sum()), int(measured.flat.sum())
    heads = len(measured.entropy)
    words = _("Scores spread by **{total}**, and the attention has **{entropy}** of the entropy that is possible.")
    text = words.format(total=style.number(total), entropy=style.percent(entropy))
    if flat:
        text += " " + _("{flat} of {heads} heads are flat: they average, whatever the scores say.").format(
            flat=flat, heads=heads
        )
    if peaked:
        text += " " + _("{peaked} of {heads} heads are peaked: nearly all of a row is on a few keys.").format(
            peaked=peaked, heads=heads
        )
    gradient = style.number(float(measured.gradient_norm.mean()))
    return text + " " + _("Of a gradient of the output, {gradient} reaches the scores.").format(gradient=gradient)


def spread_and_entropy(lab: Lab, measured: InitMeasures, view: View) -> None:
    """Show the spread of each term beside the formula, and the entropy of each head."""
    spread, entropy = st.columns(2, gap="large")
    with spread:
        st.markdown("##### " + _("How large is each term?"))
        worst = max(measured.std, key=lambda name: abs(np.log(ratio(measured, name))))
        alt = _("A dot is a head, a line the formula. The largest gap is that of {term}: {ratio} times the formula.")
        alt = alt.format(term=worst, ratio=style.number(ratio(measured, worst)))
        figure = figures.spread_figure(measured.std, measured.predicted, style.RELATIVE_TERMS, view.dark)
        table = {"head": np.arange(lab.settings.n_head)} | dict(measured.std)
        show(figure, key="spread", alt=alt, table=lambda: table)
        st.caption(alt.replace("_", r"\_"))
    with entropy:
        st.markdown("##### " + _("How sharp is each head?"))
        figure = figures.entropy_figure(measured.entropy, PEAKED_BELOW, FLAT_ABOVE, view.dark)
        alt = _("Entropy over its largest value, log of the number of visible keys, the mean over the rows.")
        numbers = {"head": np.arange(lab.settings.n_head), "entropy": measured.entropy}
        numbers |= {"gradient_norm": measured.gradient_norm}
        show(figure, key="entropy", alt=alt, table=lambda: numbers)
        st.caption(alt)


def ratio(measured: InitMeasures, name: str) -> float:
    return float(np.sqrt(np.mean(measured.std[name] ** 2))) / measured.predicted[name]


def sweep(lab: Lab, view: View) -> None:
    """Offer the sweep over four decades, and draw what it has measured so far."""
    st.markdown("##### " + _("Over four decades"))
    settings = InitSettings(d_model=lab.settings.d_model, n_head=lab.settings.n_head, positions=lab.settings.positions)
    lengths = (32, 128)
    title = _("{n} scales × {seeds} seeds × lengths {lengths}").format(
        n=len(SWEEP_SCALES), seeds=SEEDS, lengths=", ".join(map(str, lengths))
    )
    key = f"init_sweep {settings} {lengths}"
    draw = partial(draw_sweep, scale=lab.scale, dark=view.dark)
    show_job(key, title, partial(sweep_work, settings, lengths), draw)


def sweep_work(settings: InitSettings, lengths: Sequence[int]) -> Iterator[Progress]:
    """Measure item by item; the result is the columns so far, one row an item."""
    items = sweep_rows(settings, SWEEP_SCALES, range(SEEDS), lengths)
    rows = []
    for item in items:
        columns = sweep_item(item)
        degenerate = np.mean(np.logical_or(columns["peaked"], columns["flat"]))
        rows.append((item.scale, item.settings.length, item.settings.seed, np.mean(columns["entropy"]), degenerate))
        yield Progress(len(rows) / len(items), "Measuring", np.array(rows))


def draw_sweep(rows: np.ndarray, scale: float, dark: bool) -> None:
    """Draw entropy and degenerate heads against the scale, as far as all seeds of a scale are there."""
    lengths = sorted(set(rows[:, 1]))
    complete = [s for s in sorted(set(rows[:, 0])) if (rows[:, 0] == s).sum() == SEEDS * len(lengths)]
    if not complete:
        return
    marks = {"0.02": USUAL} | ({} if scale == USUAL else {_("chosen"): scale})
    titles = {3: _("entropy of the attention"), 4: _("share of degenerate heads")}
    for place, (column, title) in zip(st.columns(2, gap="large"), titles.items(), strict=True):
        curves = {}
        for length in lengths:
            of_length = rows[rows[:, 1] == length]
            values = [of_length[of_length[:, 0] == s][:, column] for s in complete]
            curves[int(length)] = np.stack(values, axis=1)
        with place:
            figure = figures.sweep_figure(np.array(complete), curves, marks, title, dark)
            table = {"scale": complete} | {f"length {n}": np.median(v, axis=0) for n, v in curves.items()}
            alt = _("{title} against the initial scale; the band is the range over {seeds} seeds.")
            show(figure, key=f"sweep_{column}", alt=alt.format(title=title, seeds=SEEDS), table=lambda t=table: t)


def training(lab: Lab, view: View) -> None:
    """Offer to train several scales side by side, and draw their losses as they come."""
    st.markdown("##### " + _("Train it"))
    left, middle, right = st.columns([3, 1, 1], vertical_alignment="bottom")
    scales = left.multiselect(
        _("Scales"), SCALES, default=[SCALES[20], SCALES[30], SCALES[27]], format_func=style.number, max_selections=6,
        key="init_scales", help=_("Two to six. Add half of one to check the advice to halve it."),
    )  # fmt: skip
    steps = middle.selectbox(_("Steps"), TRAIN_STEPS, key="init_steps")
    rate = right.selectbox(_("Learning rate"), (1e-3, 4e-3, 1e-2), index=1, key="init_rate", format_func=style.number)
    if len(scales) < 2:
        st.caption(_("Choose two scales or more."))
        return
    config = {"n_layer": 2, "n_head": 4, "d_model": 64, "d_inner": 128, "segment_len": 64, "mem_len": 0, "max_len": 64}
    config["positions"] = lab.settings.positions
    train = TrainConfig(steps=steps, batch=8, lr=rate, warmup=min(100, steps // 4))
    scales = sorted(scales)
    title = _("{n} models of 2 layers × 4 heads, d_model 64, on {text}, {steps} steps, the same batches").format(
        n=len(scales), text=TEXT, steps=steps
    )
    key = f"init_training {config} {train} {scales}"
    show_job(key, title, partial(train_work, config, train, scales), partial(draw_training, dark=view.dark))


def train_work(config: dict, train: TrainConfig, scales: Sequence[float]) -> Iterator[Progress]:
    """Train the scales in turn; the result is the losses so far, scale -> [step]."""
    text = (ROOT / "data" / TEXT).read_text(encoding="utf-8")
    vocab = Vocab.from_text(text)
    tokens, _validation = split_tokens(torch.tensor(vocab.encode(text).ids))
    whole = train.steps * len(scales)
    config = ModelConfig(len(vocab.tokens), dropout=0.0, **config)
    for count, progress in enumerate(train_scales(config, train, tokens, scales), 1):
        yield Progress(count / whole, "Training", progress.losses)


def draw_training(losses: Mapping[float, Sequence[float]], dark: bool) -> None:
    """Draw the losses, how much each oscillates, and whether halving a scale helped."""
    losses = {scale: values for scale, values in losses.items() if values}
    tenth = {scale: float(np.mean(values[-max(len(values) // 10, 1) :])) for scale, values in losses.items()}
    best = min(tenth, key=tenth.get)
    alt = _("Loss by step of each initial scale, in nats per token. Lowest at the end: {scale}, with {loss}.")
    alt = alt.format(scale=style.number(best), loss=style.number(tenth[best]))
    table = {
        _("scale"): list(losses),
        _("loss of the last tenth"): list(tenth.values()),
        _("oscillation"): [oscillation_score(values) for values in losses.values()],
    }
    named = {style.number(scale): values for scale, values in losses.items()}
    show(losses_figure(named, dark), key="init_losses", alt=alt)
    st.caption(alt)
    st.dataframe(table, hide_index=True)
    for scale in losses:
        try:
            halving = halve_it(losses, scale)
        except ValueError:
            continue
        words = _("Halving {scale} {did} the oscillation: {score} became {half}.")
        did = _("lowered") if halving.lowered else _("did not lower")
        numbers = {"score": style.number(halving.score), "half": style.number(halving.half_score)}
        st.markdown(words.format(scale=style.number(scale), did=did, **numbers))


def how(lab: Lab) -> None:
    """Say how the numbers are computed, with the formulas."""
    with st.expander(_("How this is computed")):
        for name, formula in std_formulas(lab.settings.positions).items():
            st.latex(
                rf"\mathrm{{std}}(\text{{{name}}}) = {formula}".replace("_position}", r"\_position}").replace(
                    "_bias}", r"\_bias}"
                )
            )
        st.markdown(
            _(
                "One attention layer as a fresh model has it, biases 0, m₂ the mean square of its input. The formulas "
                "take weights and rows of the input as independent: tokens that repeat have something in common, so "
                "with a text the measured terms stay below. `relxl.experiments.init_scale` measures; the same runs "
                "headless as `python -m relxl sweep init-scale`."
            )
        )
