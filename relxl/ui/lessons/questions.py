"""The questions of the lessons by their names: options and right answer are computed from the model on screen.

A question whose answer this model does not have is a sentence that says why. Options stand in an order of their own
(numbers ascend, terms as in the equation), never with the right one at a fixed place.
"""

import math

import numpy as np

from relxl import style
from relxl.experiments.max_len import distance_range, index_rows, own_wall
from relxl.language import _
from relxl.lesson import one_of, some_of, whole
from relxl.reading import Reading, can_flip
from relxl.ui.lessons import questions_model as model
from relxl.ui.lessons.asking import Question, best_head, compared, listed, pick, spread_out
from relxl.ui.lessons.charts import best_keys
from relxl.ui.lessons.figures import INIT, SHIFT, SIZES
from relxl.ui.lessons.view import ROW, RULE, Entry, Settings, lacking, needs_words, row_of, rule_of
from relxl.ui.loss import cached_reading_loss
from relxl.ui.max_len.table import cached_use
from relxl.ui.shift.tables import signed
from relxl.ui.show import code
from relxl.ui.view import View

LOOKS_BACK = 0.4  # of a head's attention on the token before
FILL_LADDER = (-1.0, -3.0, -10.0, -30.0, -100.0, -1000.0)


def asked(view: View, name: str, settings: Settings) -> Question | str:
    """Ask a question of the model on screen, or say in a sentence why it has no answer there."""
    entry = QUESTIONS[name]
    if need := lacking(view, entry.needs):
        return _("This question needs {what}: the model on screen has no answer to it.").format(
            what=needs_words()[need]
        )
    return entry.make(view, settings)


# The score -----------------------------------------------------------------------------------------------------------


def same_row(view: View, settings: Settings) -> Question | str:
    """Ask which cell reads the same row of the position table as another."""
    m, query = view.mem_len, min(3, view.trace.query_len - 3)
    key = m + query - 2
    if key < 2:
        return _("The text is too short for this question.")
    cells = [(query, key - 1), (query + 1, key), (query + 2, key + 2), (query + 2, key - 2)]
    read = [view.trace.read_by(view.layer, *cell)[1] for cell in [(query, key), *cells]]
    if read[1:].count(read[0]) != 1:
        return _("In this model several of these cells read one distance, so the question has no single answer.")
    name = lambda cell: _("query {query}, key {key}").format(query=cell[0], key=cell[1])  # noqa: E731
    text = _("Query {query} looks at key {key}. Which of these cells reads the same row of the table?")
    labels = [name(cell) for cell in cells]
    because = _("Distance m + i − j of the cell itself: **{distance}**; of the others:").format(distance=read[0])
    because += " " + listed(labels, map(signed, read[1:]))
    return Question(text.format(query=query, key=key), tuple(labels), read[1:].index(read[0]), because)


def term_name(view: View, name: str) -> str:
    return f"({view.looks[name].letter}) {name}".replace("_", r"\_")


def largest_term(view: View, settings: Settings) -> Question | str:
    """Ask which term carries most of a row."""
    query = row_of(view, settings)
    shares = {name: float(share[query]) for name, share in view.shares[1].items()}
    if any(math.isnan(share) for share in shares.values()):
        return _("All keys of row {query} have the same score, so no term tells them apart.").format(query=query)
    right = max(shares, key=shares.get)
    options = [term_name(view, name) for name in shares]
    text = _("Which term carries most of row {query} {token} in {head}?").format(
        query=query, token=code(view.tokens[view.mem_len + query]), head=view.label
    )
    because = _("Shares of what tells the keys of the row apart:")
    because += " " + listed(options, map(style.percent, shares.values()))
    return Question(text, tuple(options), list(shares).index(right), because)


def looks_back(view: View, settings: Settings) -> Question | str:
    """Ask which head looks one token back."""
    measured = np.nan_to_num(view.measures["previous_token"])
    if measured.max() < LOOKS_BACK:
        words = _("No head here looks back one token: the most is {share}.")
        return words.format(share=style.percent(float(measured.max())))
    return best_head(_("Which head looks one token back?"), measured, _("Attention to the token before, on average:"))


def best_distance(view: View, settings: Settings) -> Question:
    """Ask which visible distance v likes best."""
    terms = view.terms
    seen = {int(d): float(v) for d, v in zip(terms.distances, terms.v_bias, strict=True) if d >= 0}
    order = sorted(seen, key=seen.get, reverse=True)
    shown = sorted({*spread_out(order), min(seen)})
    text = _("Which of these distances does v like best in {head}?").format(head=view.label)
    because = _("v_bias at distance").replace("_", r"\_")
    because += " " + listed(map(str, shown), (style.number(seen[distance]) for distance in shown))
    return pick(text, shown, order[0], because)


def best_key(view: View, settings: Settings) -> Question | str:
    """Ask which token u likes best; one that comes several times counts by its best key."""
    order = best_keys(view.terms.u_bias, view.tokens)
    if len(order) < 2:
        return _("The text has a single token, so there is nothing to prefer.")
    shown = sorted(spread_out(order))
    names = [code(view.tokens[key]) for key in shown]
    text = _("Which of these tokens does u like best in {head}, whoever asks?").format(head=view.label)
    because = _("u_bias of its best key:").replace("_", r"\_")
    because += " " + listed(names, (style.number(float(view.terms.u_bias[key])) for key in shown))
    return Question(text, tuple(names), shown.index(order[0]), because)


# Distances -----------------------------------------------------------------------------------------------------------


def rows_read(view: View, settings: Settings) -> Question:
    """Ask how many rows of a table a score matrix reads, of given sizes or of the run on screen."""
    of_run = view.trace.query_len, view.key_len, view.mem_len
    q, k, m = (int(settings.get(name, value)) for name, value in zip(("xq", "xk", "xm"), of_run, strict=True))
    low, high = distance_range(q, k, m)
    right = high - low + 1
    if q * k <= model.MOST_CELLS:
        right = len(np.unique(index_rows(q, k, m, max(-low, high) + 1)))
    text = _("How many different rows of a long enough table does a score matrix of {q} queries and {k} keys read?")
    if "xq" not in settings:
        text = _("On screen are {q} queries and {k} keys. How many different rows of a long enough table is that?")
    because = _("m + i − j runs from {low} to {high}: **{n}** distances, one for each diagonal of the matrix.")
    because = because.format(low=signed(low), high=signed(high), n=right)
    return pick(text.format(q=q, k=k), {q * k, max(q, k), 2 * max(q, k) - 1, right}, right, because)


def reading_changes(view: View, settings: Settings) -> Question | str:
    """Ask what a wall, or the other direction, does to the loss on the text."""
    flip, asked_wall = settings.get("xd") == "j-i", settings.get("xr")
    if flip and not can_flip(view.checkpoint.model):
        return _("The table of this model knows the past alone, so there is nothing to read at −d.")
    own = own_wall(view.checkpoint.model)
    before = cached_reading_loss(view.source, None)
    after = cached_reading_loss(view.source, Reading(clamp_len=asked_wall, flip=flip))
    text = _("Every layer reads row j − i in the place of i − j. What becomes of the loss on this text?")
    if not flip:
        text = _("Put the wall at {n}, so that all distances beyond share a row. What becomes of the loss on the text?")
    because = _("Loss on the text as it is: {before:.3f} nats per token; then: **{after:.3f}**.")
    if own is not None and asked_wall is not None and asked_wall >= own:
        because += " " + _("The model's own wall stands at {own} already.").format(own=own)
    return compared(text.format(n=asked_wall), before, after, because.format(before=before, after=after))


def untrained(view: View, settings: Settings) -> Question:
    """Ask how many rows of the past no gradient ever reached."""
    use = cached_use(view.source.checkpoint)
    past, future = (int((use.untrained & side).sum()) for side in (use.distance > 0, use.distance < 0))
    n = len(use.distance)
    text = _("The table has {n} rows. How many of them did training never touch?").format(n=n)
    because = _("Rows without a single gradient: **{past}** of the past and **{future}** of the future.")
    values = {0, past, future, past + future, n // 4, n}
    return pick(text, values, past + future, because.format(past=past, future=future))


# Masks ---------------------------------------------------------------------------------------------------------------


def future(view: View, settings: Settings) -> Question:
    """Ask how much of the future a query sees under a mask."""
    head = view.masked(rule_of(view, settings))
    query = min(row_of(view, settings), view.trace.query_len - 2)  # the last query has no future
    leak = float(head.leak[query])
    options = (_("no, exactly 0"), _("yes, below 1 %"), _("yes, 1 to 20 %"), _("yes, above 20 %"), _("the row is NaN"))
    right = 4 if math.isnan(leak) else int(np.searchsorted([0, 0.01, 0.2], leak, side="left"))
    order = {"after": _("after the sum"), "before": _("content only, before"), "before_shift": _("before the shift")}
    rule = rule_of(view, settings)
    fill = {-math.inf: "−∞", "multiply": _("multiply by mask"), "min": _("lowest of dtype")}.get(rule.fill)
    text = _("The mask: {order}, fill {fill}. Does query {query} of {head} see the future?").format(
        order=order[rule.order],
        fill=fill or style.number(float(rule.fill)),
        query=query,
        head=view.label,
    )
    because = _("Keys after query {query} get **{leak}** of its attention.").format(
        query=query, leak="NaN" if math.isnan(leak) else style.number(leak)
    )
    return Question(text, options, right, because)


def safe_fill(view: View, settings: Settings) -> Question:
    """Ask for the first fill of a ladder with which no row of the head leaks a millionth."""
    order = str(settings.get("mo", "after"))
    safe = float(view.frontier(order)[1][view.head])
    right = next((place for place, fill in enumerate(FILL_LADDER) if fill <= safe), len(FILL_LADDER))
    text = _("Laid after the sum: which fill is the first that leaves no row of {head} more than a millionth?")
    if order == "before":
        text = _(
            "Laid on the content alone: which fill is the first that leaves no row of {head} more than a millionth?"
        )
    options = (*(f"−{-fill:g}" for fill in FILL_LADDER), _("none of these"))
    because = _("The head is safe once the fill is below **{safe}**.").format(safe=style.number(safe))
    return Question(text.format(head=view.label), options, right, because)


QUESTIONS: dict[str, Entry] = {
    "same_row": Entry(same_row, ("text", "relative"), {}),
    "largest_term": Entry(largest_term, ("text",), ROW),
    "looks_back": Entry(looks_back, ("text",), {}),
    "best_distance": Entry(best_distance, ("text", "curve"), ROW),
    "best_key": Entry(best_key, ("text", "relative"), ROW),
    "rows_read": Entry(rows_read, ("text",), SIZES),
    "reading_changes": Entry(
        reading_changes, ("text", "relative", "loss"), {"xr": whole(0, 4095), "xd": one_of("i-j", "j-i")}
    ),
    "untrained": Entry(untrained, ("learned", "counts"), {}),
    "future": Entry(future, ("text",), ROW | RULE),
    "safe_fill": Entry(safe_fill, ("text",), ROW | {"mo": one_of("after", "before")}),
    "init_factor": Entry(model.init_factor, (), {"show": some_of(*style.RELATIVE_TERMS), "ip": INIT["ip"]}),
    "init_heads": Entry(model.init_heads, (), INIT),
    "explicit_size": Entry(model.explicit_size, (), {"length": whole(16, 4096)}),
    "forgotten": Entry(model.forgotten, ("text",), {}),
    "which_shift": Entry(model.which_shift, (), SHIFT),
    "memory_cut": Entry(model.memory_cut, ("text", "memory", "loss"), {}),
    "memory_head": Entry(model.memory_head, ("text", "memory"), {}),
    "best_reading": Entry(model.best_reading, ("text", "relative", "loss"), {}),
    "worst_finding": Entry(model.worst_finding, ("text",), {}),
}
