"""The sections of the page "Shift": the shift microscope, the shift of your own, and how it is computed."""

from pathlib import Path

import streamlit as st

from relxl import shift_example
from relxl.figures.shift import STYLE, stage_html
from relxl.language import _
from relxl.shift import SHIFTS, tagged_steps
from relxl.ui.shift import words
from relxl.ui.shift.tables import Look, finding, legend, longest_label, scores_table, step_table, step_text
from relxl.ui.speak import fragment
from relxl.ui.state import Kept, choose, chosen, keep, write_link

SCORES = "scores"  # the last step, whatever its number
LONGEST_QUERY, LONGEST_MEMORY = 12, 12
FIRST = {"s": "pad_and_view", "sq": 4, "sm": 0, "sc": 0}  # of the controls


@fragment
def microscope(dark: bool) -> None:
    """Show what each cell reads, step by step, with the controls beside it; they redraw this section alone."""
    names = words.names()
    name, causal = keep("s", FIRST["s"], names), keep("sc", FIRST["sc"], (0, 1))
    query_len = keep("sq", FIRST["sq"], range(1, LONGEST_QUERY + 1))
    mem_len = keep("sm", FIRST["sm"], range(LONGEST_MEMORY + 1))
    st.html(STYLE)
    draw_presets({"s": name.value, "sq": query_len.value, "sm": mem_len.value, "sc": causal.value})
    steps = tagged_steps(name.value, query_len.value, mem_len.value)
    options = [*range(len(steps) - 1), SCORES]
    step = keep("st", SCORES, options)
    place = options.index(step.value)
    look = Look(name.value, query_len.value, mem_len.value, bool(causal.value), place, steps)
    picture, controls = st.columns([3, 1], gap="medium")
    with picture:
        draw_picture(look, dark)
        pick_step(look, options, step)
        say(look)
    with controls:
        st.selectbox(_("Shift"), list(names), format_func=names.get, **name.widget)
        st.caption(_("Found in {source}").format(source=words.source_links(SHIFTS[look.name].source)))
        left, right = st.columns(2)
        left.number_input(_("Queries"), 1, LONGEST_QUERY, step=1, **query_len.widget)
        right.number_input(_("Memory"), 0, LONGEST_MEMORY, step=1, **mem_len.widget)
        masks = {0: _("none"), 1: _("causal")}
        help = _("A language model has a causal mask; an encoder has none and sees everything.")
        st.segmented_control(_("Mask"), (0, 1), format_func=masks.get, required=True, help=help, **causal.widget)
    write_link()


def draw_presets(now: dict) -> None:
    """Draw the chips; the one that is on screen is marked."""
    presets = words.presets()
    st.session_state.preset = next((name for name, (_label, wanted) in presets.items() if wanted == now), None)
    labels = {name: label for name, (label, _wanted) in presets.items()}
    st.pills(
        _("Try this"),
        list(presets),
        format_func=labels.get,
        key="preset",
        on_change=take_preset,
        label_visibility="collapsed",
    )


def take_preset() -> None:
    name = st.session_state.preset
    if name:
        choose(**words.presets()[name][1], st=SCORES)


def pick_step(look: Look, options: list, step: Kept) -> None:
    """Draw the steps, between a button for the one before and one for the one after."""
    titles = [words.step_title(it.name) for it in look.steps[:-1]] + [_("scores")]
    labels = {option: f"{place + 1} {title}" for place, (option, title) in enumerate(zip(options, titles, strict=True))}

    def button(way: int, label: str) -> None:
        there = 0 <= look.place + way < len(options)
        to = {"st": options[look.place + way if there else look.place]}
        st.button(label, key=f"step_{way}", on_click=choose, kwargs=to, disabled=not there)

    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        button(-1, _("Back"))
        st.segmented_control(
            _("Step"),
            options,
            format_func=labels.get,
            required=True,
            label_visibility="collapsed",
            width="content",
            **step.widget,
        )
        button(1, _("Next"))


def draw_picture(look: Look, dark: bool) -> None:
    """Show the tables of the step and their legend; elements move here from where they were in the step before."""
    key = look[:3]
    was, place = chosen("shift_shown")[0] or (None, 0)
    before = look.steps[place] if was == key and abs(place - look.place) == 1 else None
    choose(shift_shown=(key, look.place))
    tables = [step_table(look, before)]
    if look.is_last:
        tables.append(scores_table(look, look.right, None, _("What it should read")))
    room = max(len(step.distance) for step in look.steps), 2 * look.key_len, longest_label(look)
    st.html(stage_html(tables, legend(look), room, dark))


def say(look: Look) -> None:
    """Say what the picture means: of a step what it did, of the scores how many cells are foreign and who has that."""
    if not look.is_last:
        st.markdown(step_text(look))
        return
    text, threads = words.story(look.name)
    st.markdown(f"**{finding(look)}** {text}")
    if threads:
        st.caption(_("Told in {threads}").format(threads=threads))


def which_is_mine() -> None:
    """Show how a shift of one's own is named, with the answers for a right one and a wrong one."""
    st.markdown("##### " + _("Which one is mine?"))
    st.markdown(
        _(
            "`relxl.identify_shift` feeds a function numbered elements and says which shift it does, and every cell "
            "that does not read its own row and distance. Run it beside your code: this page runs no code but its own."
        )
    )
    st.code(Path(shift_example.__file__).read_text(encoding="utf-8"), language="python")
    st.code(example_answer(), language=None)
    st.caption(
        _(
            "That is what it prints. The cells of the first are the future, which a causal mask hides; `wrong` is none "
            "of the {count} shifts of this page, by its numbers and not by its looks."
        ).format(count=len(SHIFTS))
    )


@st.cache_data(max_entries=1, show_spinner=False)
def example_answer() -> str:
    """Run what the code block runs."""
    return "\n".join(shift_example.name_it(shift) for shift in (shift_example.transformer_xl, shift_example.mine))


def how() -> None:
    """Say how the shift works, and with what functions this page computes it."""
    with st.expander(_("How this is computed")):
        st.markdown(
            _(
                "A product q · p is [query column], and the table gives each column its distance. *Pad* puts a zero "
                "before each row, so that a row is one longer than there are columns. *View* reads the same memory in "
                "rows of query_len. *Drop* takes the first row away, query_len elements. Read in rows of the old "
                "length again, row i has moved query_len − 1 − i columns to the left, which brings distance m + i − j "
                "under key j. What leaves a row on the left comes in on the right of the row above: the leftovers."
            )
        )
        st.markdown(
            _(
                "relxl needs none of it: `RelativePairs.read` takes the product [query, query_len + key_len − 1] and "
                "reads it with `as_strided`, strides (row − 1, 1) from column query_len − 1, as [query key]. "
                "`relxl.shift.tagged_steps` sends numbered elements through every step of a shift, "
                "`relxl.shift.foreign_cells` compares what arrives with (i, m + i − j), and `relxl.shift.pair_map` "
                "makes the same map for `relxl.relative.score_terms` to compute with."
            )
        )
