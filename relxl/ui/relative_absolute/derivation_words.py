"""The words of the derivation of relative positions: what each step does, what it changed, whose numbers they are."""

from relxl import style
from relxl.derivation import ShiftTest
from relxl.language import _
from relxl.ui.relative_absolute.derivation_run import FIRST_SHIFT, LOOKS, SHIFTS, TRAINED, Derived
from relxl.ui.show import code
from relxl.ui.view import Source, cached_checkpoint


def step_names() -> list[str]:
    """Name the steps, each by what it replaces."""
    names = [_("product"), _("four products"), "pⱼ → Rᵢ₋ⱼ", "pᵢ → u", "pᵢ → v"]
    return [*names, _("Wₖ split"), _("trained")]


def step_texts(name: str) -> list[str]:
    """Say what each step does, and why; markdown. `name` is the model of the last one."""
    return [
        _("A token carries its place in its embedding, $e + p$. The score is one product, and nothing is apart yet."),
        _(
            "Multiplied out: four products, and no score changes. Only (a) is free of places; the others depend on "
            "**where** the two tokens stand."
        ),
        _(
            "In (b) and (d) the key’s place $p_j$ becomes the distance $R_{i-j}$, the same sinusoid read at $i - j$. "
            "The query’s own place is still in (c) and (d)."
        ),
        _(
            "In (c) the query’s own place $W_q p_i$ becomes one vector $u$ for all queries: what a key offers no "
            "longer depends on where it is asked from."
        ),
        _(
            "In (d) it becomes another vector $v$, so that the two can be learned apart. What is left of (d) is one "
            "curve over distance: there is no place in the score any more."
        ),
        _(
            "Content and distance get matrices of their own, $W_{kE}$ and $W_{kR}$. Here both are still a copy of "
            "$W_k$, so no score changes; from now on training can tell them apart."
        ),
        _("The same formula with what {name} learned for it: the score of its layer 0.").replace("{name}", code(name)),
    ]


def letter_of(name: str) -> str:
    return f"({LOOKS[name].letter})" if name in LOOKS else _("score")


def finding(derived: Derived, step: int, shift: int) -> str:
    """Say what moving the text changes at a step, and what the step itself changed; markdown."""
    sentences = [shift_sentence(derived.tests[step], shift)]
    cost = derived.cost(step)
    if step == 1:
        text = _(
            "Without projections pᵢ · pⱼ would be a function of i − j already (moved by {n} places it changes by {x}): "
            "the projections between them make the place matter."
        )
        sentences.append(text.format(n=FIRST_SHIFT, x=style.number(derived.bare)))
    elif cost and not derived.tests[step].still(cost["score"]):
        text = _(
            "The replacement itself changes a score by up to {x} and a probability by up to {p}: a model has to be "
            "trained with it."
        )
        sentences.append(text.format(x=style.number(cost["score"]), p=style.number(cost["probs"])))
    return " ".join(sentences)


def shift_sentence(test: ShiftTest, shift: int) -> str:
    """Say which terms a move of the text leaves as they are, and by how much the others change; markdown."""
    place = SHIFTS.index(shift)
    changes = {name: float(change[place]) for name, change in test.terms.items()}
    still = [name for name, change in changes.items() if test.still(change)]
    moving = {name: change for name, change in changes.items() if name not in still}
    exact = not any(changes[name] for name in still)
    how = _("to the last bit") if exact else _("up to rounding")
    if not moving:
        text = _("Moved by {n} places, the text keeps **every term, every score and every probability** {how}.")
        return text.format(n=shift, how=how)
    score = {
        "n": shift,
        "size": style.number(test.size),
        "x": style.number(float(test.score[place])),
        "p": style.number(float(test.probs[place])),
    }
    if not still:
        text = _(
            "Moved by {n} places, the text changes a score ({size} at most) by up to **{x}** and a probability by up "
            "to **{p}**."
        )
        return text.format(**score)
    each = _("{term} changes by up to **{x}**")
    text = _(
        "Moved by {n} places, the text keeps **{terms}** {how}; {changes}. So a score ({size} at most) changes by up "
        "to **{x}**, a probability by up to **{p}**."
    )
    return text.format(
        terms=", ".join(map(letter_of, still)),
        how=how,
        changes=", ".join(each.format(term=letter_of(name), x=style.number(x)) for name, x in moving.items()),
        **score,
    )


def weights_sentence(derived: Derived, start: Source, end: Source, reason: str) -> str:
    """Say whose numbers are on screen at which step; markdown."""
    text = _(
        "Steps 0 to 5 are computed from the embeddings, $W_q$ and $W_k$ of {first}, layer 0, head {head}, in float64. "
        "Nothing in it was trained to be $u$, $v$ or $W_{kR}$, so $u = v$ = the mean of $W_q p_i$ over the {places} "
        "places of its training, and $W_{kE} = W_{kR} = W_k$. Step 6 is layer 0, head {last_head} of {last} as it was "
        "trained"
    )
    values = {"first": code(start.name), "head": derived.heads[0], "places": derived.places}
    values |= {"last_head": derived.heads[1], "last": code(end.name)}
    for name, value in values.items():  # the formulas have braces of their own
        text = text.replace(f"{{{name}}}", str(value))
    learned = cached_checkpoint(end.checkpoint).config.positions == "learned"
    text += _("; its R is a learned table.") if learned else _("; its R is a sinusoid.")
    if reason:
        text += " " + _("It stands in, since {reason}.").format(reason=reason)
    same = _(
        "Both ends are what the models themselves compute: step 1 differs from the split of the one by {first} at "
        "most, step 6 from that of the other by {last}, the rounding of their float32."
    )
    text += " " + same.format(first=style.number(derived.apart[0]), last=style.number(derived.apart[1]))
    if derived.tokens[0] != derived.tokens[TRAINED]:
        text += " " + _("The two models do not share their tokens, so each reads an input of its own.")
    return text
