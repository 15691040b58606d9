"""What the exhibits of the page "Bug museum" say: title, what goes wrong, what happened in the wild, what repairs it.

What they do is in `relxl.museum`. A sentence has the names of its numbers in braces.
"""

from relxl.language import _
from relxl.ui.museum.words import Words, bias_words, file_words, memory_words


def group_names() -> dict[str, str]:
    return {
        "shift": _("Shift and table"),
        "masks": _("Masks"),
        "biases": _("Biases and scale"),
        "memory": _("Memory"),
        "precision": _("Precision"),
        "files": _("Files"),
    }


def needs_words() -> dict[str, str]:
    """Name what an exhibit needs of the model on screen."""
    return {
        "relative": _("relative positions"),
        "text": _("a text of some tokens"),
        "right_map": _("positions that are read by m + i − j"),
        "sinusoid": _("a sinusoid"),
        "future": _("rows for distances of the future"),
        "v": _("a v by itself"),
        "layers": _("u and v that differ from layer to layer"),
        "square": _("a square query projection"),
    }


def exhibit_words() -> dict[str, Words]:
    """Give the words of every exhibit by its name."""
    return shift_words() | mask_words() | bias_words() | memory_words() | file_words()


def shift_words() -> dict[str, Words]:
    return {
        "wrapped": Words(
            _("Wrapped-around cells"),
            _(
                "Pad and view needs a row of the table for every distance that is seen. An encoder sees the future "
                "too; with T rows it finds there what is left over of the next query’s row."
            ),
            _(
                "Speech encoders copied the shift of a language model, whose mask had hidden these cells. Training "
                "runs, nothing is reported, accuracy is somewhat lower."
            ),
            _("A table of 2T − 1 rows, or a causal mask."),
            _("**{foreign} of {cells} cells** read a position that is not theirs."),
        ),
        "legacy": Words(
            _("Same names, another class"),
            _(
                "An old position class reads the last rows of one reversed table of 5,000, the repaired one counts "
                "from the query. Their parameters have the same names and shapes, so a file fits either."
            ),
            _(
                "After an update of the toolkit old models did worse, without any warning. The class became a "
                "setting, and where it is missing the old one is meant."
            ),
            _("Ask which class a file was trained with; the tensors can not tell."),
            _(
                "With {n} keys a query reads itself at distance **{row}**, and with one key more at {longer}: the "
                "same pair of tokens gets another vector in every text."
            ),
        ),
        "no_shift": Words(
            _("The shift taken out"),
            _(
                "Row p of the table meets key p, whoever asks. The term now says where a key stands and not how far "
                "away it is: stripes down in the place of diagonals."
            ),
            _(
                "The call was commented out as useless for speech, and everything kept running. Somebody who put real "
                "relative positions back gained about one per cent."
            ),
            _("Put the shift back, and give it a table that goes with it."),
            _(
                "The index of the key explains **{by_key}** of (d) v_bias, the distance {by_distance}; in the right "
                "picture the distance explains all of it."
            ),
        ),
        "upside_down": Words(
            _("Table upside down"),
            _(
                "A shift makes distances only of a table that descends. With the rows 0, 1, 2, … near and far are "
                "exchanged, and each query reads another stretch of the table."
            ),
            _(
                "People ask why the original counts down, turn it round, and the head that should look one token back "
                "looks at the far end."
            ),
            _("A table from m + q − 1 downwards."),
            _(
                "The last query reads itself at distance **{own}** and the first key at {first}; right is 0 for itself "
                "and {far} for the first key."
            ),
        ),
        "flipped": Words(
            _("Direction flipped"),
            _(
                "j − i where i − j is meant: distance d reads the row of −d. The index matrix is only transposed, but "
                "the scores are not: what was past is read as future."
            ),
            _(
                "Gathering and transposing each turn the sign once; a port that does one of the two differs "
                "everywhere off the diagonal, and the model is only a little worse."
            ),
            _("Count as m + i − j: positive is the past."),
            _("The distance that (d) v_bias likes best was {right} and is now **{wrong}**."),
        ),
        "sign": Words(
            _("Sign of the distance lost"),
            _(
                "The future half of the table is filled with sin(+p) instead of sin(−p). The cosines hide half of "
                "the error, but rows +d and −d are now one, and left can not be told from right."
            ),
            _("Found in a toolkit for speech: with a constant input a non-causal row is symmetric around its query."),
            _("Fill the future half with sin(−p)."),
            _(
                "The rows of +d and −d differ by at most **{apart_wrong}** in this head; right are differences up to "
                "{apart_right}."
            ),
        ),
        "memory_forgotten": Words(
            _("Memory forgotten in the distance"),
            _(
                "i − j where m + i − j is meant. Without memory nothing is wrong, which is how it is tested; with m "
                "keys of memory every distance is m too small."
            ),
            _(
                "A library’s position bias did so, and so do streaming encoders that do not count their cache: fine "
                "at the first chunk, worse from the second on."
            ),
            _("Count from the first key of the memory: m + i − j. Test with q ≠ k."),
            _(
                "A query reads itself at distance **{own}** and not at 0, and {ahead} of {cells} visible cells read a "
                "distance of the future."
            ),
        ),
        "short": Words(
            _("Table too short"),
            _(
                "The table is made once, for a length. What lies beyond it is an error in one implementation and the "
                "last row over and over in another; a third slices from a negative start and reads other rows."
            ),
            _("Long audio ends in an assertion, or in a wrong text without one."),
            _("Make the table for the input that is there, and never slice from a negative start."),
            _(
                "**{beyond} of {cells}** visible cells lie beyond distance {reach}, where this table ends, and all of "
                "them read its last row."
            ),
        ),
        "clamp": Words(
            _("clamp_len lost"),
            _(
                "Suppose a training that clamped distances at {reach}: all farther ones shared a row. Evaluated "
                "without the clamp, they read rows that this training never used."
            ),
            _("The evaluation settings of the original are in its scripts alone, and a checkpoint does not have them."),
            _("Keep clamp_len with the weights, and set it at evaluation."),
            _("**{beyond} of {cells}** visible cells read a row that such a training never used."),
        ),
        "layout": Words(
            _("Sines and cosines in another order"),
            _(
                "All sines and then all cosines here, sine, cosine, sine, cosine there. For a model that is trained "
                "with it the order does not matter; for weights that are ported W_kR meets the wrong rows."
            ),
            _("Asked again and again about the original, and answered rightly: it is the same, until one ports."),
            _("Put the rows of W_kR in the order of the table, or the table in theirs."),
            _("The positional scores of the visible cells correlate by **{correlation}** with the right ones."),
        ),
    }


def mask_words() -> dict[str, Words]:
    return {
        "before_shift": Words(
            _("Mask before the shift"),
            _(
                "The triangle is laid on q · p, and then the shift moves the rows, triangle and all. It lands "
                "elsewhere: allowed cells are shut, cells of the future are open."
            ),
            _("The loss falls faster than it can; people look for where the causal mask of the relative term is."),
            _("Mask once, after the sum of all terms."),
            _("Keys of the future get **{leak}** of the attention, and {shut} of {cells} allowed cells get nothing."),
        ),
        "empty_row": Words(
            _("A row without a key"),
            _(
                "A padded query may attend to nothing: −∞ in every column, and the softmax of that is 0/0. Every layer "
                "above reads the row’s NaN, and one bad row spoils the batch."
            ),
            _("NaN from one padded query on, after attention was moved to a fused kernel with the same mask."),
            _("A finite fill, and the probabilities of forbidden keys set to 0 after the softmax."),
            _("Row **{row}** is NaN in every cell; repaired, no row is."),
        ),
        "window": Words(
            _("Window short by one"),
            _(
                "same_length lets every query see as many keys. Is that mem_len of them, or mem_len + 1 with itself? "
                "Two ports of one model answered differently."
            ),
            _("PyTorch and TensorFlow gave other numbers for the same weights, and the oldest slot was never read."),
            _("Agree on the window, and count the keys of a row."),
            _(
                "The last row sees **{keys} keys** where {right} are meant; the one that is shut had up to {mass} of a "
                "row."
            ),
        ),
        "inverted": Words(
            _("Mask upside down"),
            _(
                "A bool mask says true where a query may look, an additive one 0. A not on the wrong one of the two "
                "turns the meaning round: all of the future, nothing of the past."
            ),
            _("Two ways through one library, fused and eager, disagreed wildly: each had its own kind of mask."),
            _("Look at dtype and values of a mask, and at the share that it allows, before it is used."),
            _("Keys of the future get **{leak}** of the attention, and {shut} of {cells} allowed cells get nothing."),
        ),
        "bias_as_bool": Words(
            _("A bias taken for a mask"),
            _(
                "The position scores are handed over as an additive mask, and the backend makes it bool. Every number "
                "but 0 is true, so nothing is masked and the numbers are gone."
            ),
            _("Transcripts became worse on one kind of device alone."),
            _("A mask that holds many finite values is a bias: add it to the scores."),
            _("Position carried **{share}** of what tells the keys of this head apart, and now it is 0 in every cell."),
        ),
        "thrown_away": Words(
            _("The mask’s result thrown away"),
            _(
                "masked_fill without the underscore gives a new tensor, and nobody takes it. There is no warning: the "
                "probabilities still add up to 1."
            ),
            _("An agent’s attention ran without its mask; elsewhere a mask of bytes met a bitwise not."),
            _("Take the result, and test that scores changed: a mask that changes nothing is none."),
            _("Keys of the future get **{leak}** of the attention."),
        ),
        "weak_fill": Words(
            _("A fill that is no fill"),
            _(
                "+1e-9 was written where −1e9 is meant, and that is 0: a score like any other. Even −1e4 holds only "
                "as long as no score comes near it."
            ),
            _("One library replaced −1e4 by the lowest number of the dtype."),
            _("−∞, or the lowest number of the dtype, after the sum."),
            _("Keys of the future get **{leak}** of the attention."),
        ),
    }
