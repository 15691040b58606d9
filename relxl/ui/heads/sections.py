"""The sections of the page "Heads"."""

from functools import partial

import numpy as np
import streamlit as st

from relxl import diagnostics, style
from relxl.diagnostics import HeadScores
from relxl.figures import heads as figures
from relxl.figures.shift import grouped
from relxl.language import _
from relxl.ui.heads.look import Look, choose_head
from relxl.ui.jobs import show_job
from relxl.ui.show import escape, plain, show
from relxl.ui.state import chips, keep
from relxl.ui.view import View

SCORE_TERMS = "pages/1_Score_terms.py"
LEAST = {"previous_token": 0.4, "first_token": 0.3, "repeat": 0.3, "by_distance": 0.7}  # what a preset must hold
FAR = 1.5  # times the median head's distance, for the head that looks furthest
ALIKE = 6


def picture(view: View, look: Look) -> None:
    """Draw one measure of every head as a grid, and beside it every head between content, position and global."""
    grid, triangle = st.columns([4, 3], gap="medium")
    here = view.layer, view.head
    with grid:
        controls(look)
        shown, mean, spread = look.shown, look.scores.mean[look.measure], look.scores.spread[look.measure]
        title, ticks = (f"{shown.what}, %", ".0%") if shown.unit == "share" else (shown.what, "")
        figure = figures.grid_figure(mean, spread, here, title, shown.short, ticks, view.dark)
        numbers = {"layer": [f"L{layer}" for layer in range(len(mean))]}
        numbers |= {f"H{head}": mean[:, head] for head in range(mean.shape[1])}
        show(figure, key="heads_grid", alt=finding(view, look), table=lambda: numbers, on_pick=choose_head)
    with triangle:
        parts = diagnostics.simplex(look.scores.mean)
        shares = np.stack([look.scores.mean[name] for name in view.looks if name in look.scores.mean])
        corners = corner_names(view)
        figure = figures.simplex_figure(parts, (shares < 0).any(0), here, corners, view.dark)
        table = {"head": names_of(parts)} | {name: parts[..., i].ravel() for i, name in enumerate(corners)}
        show(figure, key="heads_simplex", alt=triangle_words(view, parts), table=lambda: table, on_pick=choose_head)


def controls(look: Look) -> None:
    """Draw the control for the measure and, once many windows were read, the one for whose numbers are shown."""
    measure, numbers = st.columns([3, 2], vertical_alignment="bottom")
    label = lambda name: look.measures[name].name  # noqa: E731
    with measure:
        kept = keep("hm", look.measure, look.measures)
        st.selectbox(_("Measure"), list(look.measures), format_func=label, **kept.widget)
    if look.averaged:
        windows = _("{n} windows, {text}")
        names = {
            place: windows.format(n=found.windows, text=look.averages[place].short)
            for place, found in look.averaged.items()
        }
        names["window"] = _("this window")
        with numbers:
            st.selectbox(_("Numbers of"), list(names), format_func=names.get, key="heads_from")


def names_of(values: np.ndarray) -> list[str]:
    return [f"L{layer}H{head}" for layer, head in np.ndindex(values.shape[:2])]


def corner_names(view: View) -> list[str]:
    """Name the corners by what they are and the letters of their terms."""
    letters = [[look.letter for name, look in view.looks.items() if diagnostics.SIMPLEX[name] == i] for i in range(3)]
    names = (_("content"), _("position"), _("global"))
    return [f"{name} {' '.join(f'({it})' for it in sorted(its))}" for name, its in zip(names, letters, strict=True)]


def triangle_words(view: View, parts: np.ndarray) -> str:
    """Say for those who can not see the triangle how many heads are nearest to each corner."""
    known = np.isfinite(parts).all(-1)
    nearest = np.bincount(parts[known].argmax(-1), minlength=3)
    counts = ", ".join(f"{name}: {n}" for name, n in zip(corner_names(view), nearest, strict=True))
    mine = ", ".join(style.percent(part) for part in parts[view.layer, view.head])
    words = _("Heads by the corner they are nearest to: {counts}. {head} has {mine}.")
    return words.format(counts=counts, head=view.label, mine=mine)


def finding(view: View, look: Look) -> str:
    """Say who leads in the measure that is shown, and where the chosen head stands; markdown."""
    mean = look.scores.mean[look.measure]
    if not np.isfinite(mean).any():
        return _("No head of this model has a number here: its scores are not finite.")
    own, shown = mean[view.layer, view.head], look.shown
    rank = int((mean[np.isfinite(mean)] > own).sum()) + 1 if np.isfinite(own) else mean.size
    if rank == 1:
        words = _("{leader}; it is the chosen head. The median head has {median}.")
    else:
        words = _("{leader}; the median head has {median}, and {head} has {own}, place {rank} of {n}.")
    return words.format(
        leader=leading(look.scores, look),
        median=shown.write(float(np.nanmedian(mean))),
        head=view.label,
        own=shown.write(own) if np.isfinite(own) else "–",
        rank=rank,
        n=mean.size,
    )


def leading(scores: HeadScores, look: Look) -> str:
    """Name the head that leads in the measure that is shown, with its number; markdown."""
    mean, spread = scores.mean[look.measure], scores.spread[look.measure]
    layer, head = np.unravel_index(np.nan_to_num(mean, nan=-np.inf).argmax(), mean.shape)
    value = look.shown.write(float(mean[layer, head]))
    if np.isfinite(spread[layer, head]):
        value += f" ± {look.shown.write(float(spread[layer, head]))}"
    words = _("**L{layer}H{head}** leads with **{value}** ({what})")
    return words.format(layer=layer, head=head, value=value, what=look.shown.what.replace("_", r"\_"))


def presets(look: Look) -> None:
    """Draw chips that lead to the head that does most of something; one whose claim does not hold is not drawn."""
    mean = look.scores.mean
    labels = {
        "previous_token": _("One token back"),
        "first_token": _("The first key"),
        "repeat": _("Induction"),
        "by_distance": _("Position alone"),
        "mean_distance": _("Furthest back"),
    }
    far = np.nan_to_num(mean["mean_distance"])
    least = LEAST | {"mean_distance": max(FAR * float(np.median(far)), 1e-9)}
    heads = {
        f"{labels[name]} · L{layer}H{head}": {"l": layer, "h": head, "hm": name}
        for name, (layer, head) in diagnostics.leading_heads(mean, least).items()
    }
    if heads:
        chips(_("Try this:"), heads, "heads_preset")


def open_head(view: View) -> None:
    st.page_link(
        SCORE_TERMS, label=_("Open {head} on Score terms").format(head=view.label), icon=":material/arrow_forward:"
    )


def average(view: View, look: Look) -> None:
    """Offer to average over the windows of a text; what comes out takes the place of the single window's numbers."""
    st.markdown("##### " + _("Average over many windows"))
    if not look.averages:
        words = _("The text is a single window. Give a longer one, and its windows are averaged here.")
        st.caption(words if view.checkpoint.config.n_token else _("There is one input, and it is what is shown."))
        return
    for it in look.averages.values():
        show_job(it.key, it.title, it.work, partial(draw_average, look=look))


def draw_average(scores: HeadScores, look: Look) -> None:
    """Say what a job has found so far."""
    words = _("{windows} windows, {rows} queries: {leader}. The number after ± is the standard deviation over windows.")
    leader = leading(scores, look)
    st.caption(words.format(windows=scores.windows, rows=grouped(scores.rows), leader=plain(leader)))


def alike(view: View, look: Look) -> None:
    """Name the heads that differ least from the chosen one in all measures, as chips that choose them."""
    st.markdown("##### " + _("Heads like {head}").format(head=view.label))
    mean = {name: look.scores.mean[name] for name in look.measures}
    nearest = diagnostics.similar_heads(mean, view.layer, view.head)
    if nearest.empty:
        st.caption(_("The model has no other head."))
        return
    heads = {
        f"L{it.layer}H{it.head} · {style.number(it.difference)}": {"l": int(it.layer), "h": int(it.head)}
        for it in nearest.head(ALIKE).itertuples()
    }
    chips(_("Most alike:"), heads, "heads_alike")
    words = _(
        "The number is how far apart two heads are in all measures, in standard deviations over the heads; the head "
        "that is least like it, L{layer}H{head}, is {difference} away."
    )
    last = nearest.iloc[-1]
    st.caption(words.format(layer=int(last.layer), head=int(last["head"]), difference=style.number(last.difference)))


def how(look: Look) -> None:
    """Say how the numbers are computed: definitions, and the names of the functions."""
    with st.expander(_("How this is computed")):
        st.latex(
            r"\text{share}_t=\frac{\sum_{ij}(t_{ij}-\bar t_i)(s_{ij}-\bar s_i)}{\sum_{ij}(s_{ij}-\bar s_i)^2},\qquad "
            r"s_{ij}\approx r_i+f(m+i-j)+g(j)"
        )
        lines = "\n".join(f"- **{escape(it.name)}**: {escape(it.what)}" for it in look.measures.values())
        st.markdown(lines)
        st.markdown(
            _(
                "`relxl.diagnostics.window_scores` measures one window. A share is taken over all rows of a head at "
                "once. By distance, by key and by both are least squares over the visible cells with a constant a row "
                "(`relxl.diagnostics.additive`), exact, and of a long window over its last 384 keys. Attention to the "
                "token before, to the first key and after a copy is the mean over the queries that have such a key; "
                "with a memory the first key in view is its oldest. `relxl.atlas.atlas` reads window after window, "
                "each with its own memory of the tokens before it, and at most the last 256 queries of each; windows "
                "merge exactly, weighted by rows or by variance. In the triangle content is (a), position is (b), "
                "what the query asks of the place, and global is what does not depend on what the query holds, (c) "
                "and (d); a head with a share below 0 is drawn open, on the edge."
            )
        )
