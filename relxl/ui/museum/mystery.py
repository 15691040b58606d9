"""Spot the bug, of the page "Bug museum": a model with a fault from a seed is looked at everywhere, then named."""

from dataclasses import dataclass

import streamlit as st

from relxl import style
from relxl.checkpoint import list_checkpoints
from relxl.language import _
from relxl.mystery import FIRST_SEED, HEALTHY, LAST_SEED, Planted, Riddle, make_mystery, riddle, round_of, sample_loss
from relxl.ui.frame import all_pages
from relxl.ui.lessons.asking import marked, verdict
from relxl.ui.library import BUNDLED, open_mystery, places
from relxl.ui.speak import fragment
from relxl.ui.state import choose, keep, kept_values, write_link
from relxl.ui.view import Source, cached_checkpoint, source_of

LEFT = """<style>
.st-key-mystery_options {gap: .15rem}
.st-key-mystery_options button {justify-content: flex-start; text-align: left; min-height: 2.2rem; padding: .1rem .5rem}
</style>"""
LOOK_AT = ("score_terms", "distance", "max_len", "checkpoint")  # without asking the doctor


@dataclass(frozen=True)
class Answer:
    """Hold what a kind of fault is called, and the sentence with the numbers that prove it."""

    name: str
    because: str


def answers() -> dict[str, Answer]:
    """Name every fault that may be planted."""
    return {
        HEALTHY: Answer(_("Nothing is wrong"), _("No tensor and no setting was changed.")),
        "swapped": Answer(_("u and v are swapped"), _("In every layer u stands where v belongs, and v where u does.")),
        "tied": Answer(
            _("One layer’s u and v in all layers"), _("u and v of L0 stand in all {layers} layers, number for number.")
        ),
        "unfilled": Answer(
            _("u of a layer was never initialised"),
            _("u of L{layer} has {denormal} denormal numbers and one of {largest}."),
        ),
        "wide_scale": Answer(
            _("√d_model for √d_head"),
            _("Queries, u and v of every layer are smaller by {factor}, the root of the number of heads."),
        ),
        "transposed": Answer(
            _("A value projection is transposed"),
            _("W_v of L{layer} is {width} × {width}, fits either way, and stands transposed."),
        ),
        "not_loaded": Answer(
            _("A query projection was not loaded"),
            _("W_q of L{layer} has a standard deviation of {std}, as it was drawn; trained it had {was}."),
        ),
        "flipped": Answer(
            _("Distances are counted the other way"), _("In every layer distance d reads the row of −d.")
        ),
        "short": Answer(
            _("The position table is too short"),
            _("The tables end at distance {last}; all that is farther away shares one row."),
        ),
        "untrained_rows": Answer(
            _("Far rows of the table were never trained"),
            _("From distance {first} on the rows of every table are noise of std 0.02."),
        ),
        "clamp": Answer(
            _("A clamp that training did not have"), _("clamp_len is {clamp_len}, and in training there was none.")
        ),
        "no_memory": Answer(_("The memory is not used"), _("mem_len is 0, and in training it was {was}.")),
        "vocabulary": Answer(
            _("The vocabulary belongs to another model"),
            _("All {tokens} tokens stand in the reverse order, so every id means another character."),
        ),
    }


@st.cache_resource(max_entries=64, show_spinner=False)
def cached_planted(seed: int) -> Planted:
    return make_mystery(seed, BUNDLED).planted


@st.cache_resource(max_entries=64, show_spinner=False)
def cached_sample_loss(source: Source) -> tuple[float, float]:
    return sample_loss(cached_checkpoint(source))


def kept_answers() -> dict[int, str]:
    """Give the kinds that were answered, by seed."""
    return kept_values().setdefault("mystery_answers", {})


def spot_the_bug() -> None:
    """Draw the riddle of a seed: the way to its model, the options, and after an answer what it was."""
    st.markdown("##### " + _("Spot the bug"))
    if not {"shakespeare-learned", "shakespeare-sinusoid"} <= set(list_checkpoints(BUNDLED)):
        st.caption(_("The models that the faults are planted in are not here: run `make train`."))
        return
    played()


@fragment
def played() -> None:
    """Draw what changes with the seed and the answer; it is redrawn by itself."""
    seed = keep("bs", FIRST_SEED, range(FIRST_SEED, LAST_SEED + 1)).value
    asked = riddle(seed)
    st.markdown(
        _(
            "**Mystery {n}** is a small trained model, in which one thing is wrong, or nothing. Open it and look at it "
            "on any page, then come back and say what it is. The page Doctor names it too: try without it first."
        ).format(n=seed)
    )
    left, right = st.columns([2, 3], gap="large")
    with left:
        controls(seed)
        score(seed)
    with right:
        question(asked)
    write_link()


def controls(seed: int) -> None:
    """Draw the seed, the button that opens its model, and the doors to where it can be looked at."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        help = _("A class that plays the same seeds plays the same models. The link has the seed.")
        st.number_input(_("Seed"), FIRST_SEED, LAST_SEED, step=1, width=130, help=help, **keep("bs", seed).widget)
        after = min(seed + 1, LAST_SEED)
        st.button(_("Next mystery"), key="mystery_next", on_click=choose, kwargs={"bs": after}, disabled=after == seed)
    on_screen = kept_values().get("ck") == f"mystery/{seed}"
    if st.button(_("Open Mystery {n}").format(n=seed), key="mystery_open", type="primary", disabled=on_screen):
        choose(ck=open_mystery(seed), a="")
        st.rerun(scope="app")
    if on_screen:
        st.caption(_("It is the model on screen now, on every page. Good places to look:"))
        doors = all_pages()
        with st.container(horizontal=True, gap="small"):
            for name in LOOK_AT:
                st.page_link(doors[name].file, label=doors[name].name, width="content")


def score(seed: int) -> None:
    """Show the round of five seeds that this one belongs to: answered rightly, wrongly, or not yet."""
    given, marks, right = kept_answers(), [], 0
    for its in round_of(seed):
        good = its in given and given[its] == riddle(its).fault.kind
        colour, icon = ("green", "check") if good else ("red", "close") if its in given else ("gray", "help")
        marks.append(f":{colour}-badge[:material/{icon}: {its}]")
        right += good
    done = sum(its in given for its in round_of(seed))
    st.markdown(" ".join(marks))
    st.caption(
        _("This round: {right} of {done} answered rightly, {n} in all.").format(right=right, done=done, n=len(marks))
    )


def question(asked: Riddle) -> None:
    """Ask what is wrong, and once it is answered say whether that was right, and what proves it."""
    names, choice = answers(), kept_answers().get(asked.seed)
    st.markdown("**" + _("What is wrong with it?") + "**")
    st.html(LEFT)
    box = st.container(key="mystery_options")
    for place, kind in enumerate(asked.options):
        label, icon = marked(names[kind].name, kind == asked.fault.kind, kind == choice, choice is not None)
        box.button(
            label, key=f"mystery_{asked.seed}_{place}", icon=icon, type="tertiary", wrap=True, on_click=take_answer,
            args=(asked.seed, kind), disabled=choice is not None,
        )  # fmt: skip
    if choice is not None:
        reveal(asked, choice)


def take_answer(seed: int, kind: str) -> None:
    kept_answers()[seed] = kind


def reveal(asked: Riddle, choice: str) -> None:
    """Say right or wrong, what was planted, and what the recorded sample loses now; offer the doctor."""
    answer = answers()[asked.fault.kind]
    st.markdown(f"{verdict(choice == asked.fault.kind)} **{answer.name}{_('.')}** {proof_of(asked)}")
    if st.button(_("What the doctor says"), key="mystery_doctor", icon=":material/arrow_forward:", type="tertiary"):
        choose(ck=open_mystery(asked.seed), a="")
        st.switch_page(all_pages()["doctor"].file)


def proof_of(asked: Riddle) -> str:
    """Give the numbers that prove what was planted; markdown."""
    planted = cached_planted(asked.seed)
    numbers = {name: number(value) for name, value in (planted.numbers or {}).items()}
    because = answers()[asked.fault.kind].because.format(layer=planted.layer, **numbers)
    name = open_mystery(asked.seed)
    place = places()[name]
    recorded, found = cached_sample_loss(source_of(place.path, place.label))
    losses = _("The recorded sample loses **{found}** nats a token; recorded were {recorded}.")
    return f"{because} {losses.format(found=f'{found:.3f}', recorded=f'{recorded:.3f}')}"


def number(value: float) -> str:
    return str(value) if isinstance(value, int) else style.number(value)
