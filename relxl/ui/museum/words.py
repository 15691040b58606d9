"""What the exhibits of the page "Bug museum" say about biases, memory, precision and files."""

from dataclasses import dataclass

from relxl.language import _


@dataclass(frozen=True)
class Words:
    """Hold the words of one exhibit; `says` is the sentence that its numbers are put into."""

    title: str
    text: str
    wild: str
    repair: str
    says: str


def bias_words() -> dict[str, Words]:
    return {
        "unfilled": Words(
            _("u never initialised"),
            _(
                "A parameter made by torch.empty holds what lay in memory: often nothing, sometimes NaN, sometimes "
                "one huge number. Here u is 300 in one dimension, and all queries want the same few keys."
            ),
            _("Losses that differ from run to run, or are NaN at the first step; the init function skipped the name."),
            _("Give u and v their values where they are made."),
            _(
                "|u| reaches **{u_wrong}** and was {u_right} at most; the favourite key gets {top_wrong} of all "
                "attention, and got {top_right}."
            ),
        ),
        "swapped": Words(
            _("u and v swapped"),
            _(
                "r_w_bias, r_r_bias, pos_bias_u, query_pos_bias: the names do not tell which goes with content and "
                "which with position. Both have one shape, so swapped they load."
            ),
            _("Asked of the original: which is which? A well-known tutorial has u under the name of v."),
            _("r_w_bias is u and makes (c), r_r_bias is v and makes (d)."),
            _("The biases, (c) and (d), carry **{biases_wrong}** of the score and carried {biases_right}."),
        ),
        "tied": Words(
            _("One layer’s u and v everywhere"),
            _(
                "Some implementations share u and v between layers, others have one pair a layer. Read as if they "
                "were shared, one layer’s pair goes into all of them, here that of another layer."
            ),
            _("A port to another library had to find out that the weights that were released are not tied."),
            _("Load one pair a layer; equal pairs in all layers are a sign."),
            _("u differs from its own layer’s by up to **{apart}**; its largest number is {size}."),
        ),
        "wide_scale": Words(
            _("√d_model for √d_head"),
            _(
                "The scores are divided by the root of the model’s width and not of one head’s, so they are smaller "
                "by √n_head, and attention is flatter."
            ),
            _("Copied from one repository to the next, and found in tutorials of plain attention too."),
            _("Divide by √d_head, once."),
            _(
                "Scores are smaller by **{factor}**; the mean entropy of a row rises from {entropy_right} to "
                "{entropy_wrong} nats, and {even} would be no choice at all."
            ),
        ),
        "unscaled": Words(
            _("Scaled before the biases"),
            _(
                "(q + u) scaled is one model, q scaled and then + u another. Ported from one to the other, (c) and "
                "(d) are off by √d_head and (a) and (b) are not."
            ),
            _("A genomics model adds its biases after scaling the query; others scale both."),
            _("Scale what the training scaled."),
            _(
                "(c) and (d) are **{factor} times** too large; they carry {biases_wrong} of the score and carried "
                "{biases_right}."
            ),
        ),
    }


def memory_words() -> dict[str, Words]:
    return {
        "zeros": Words(
            _("Memory that nobody wrote"),
            _(
                "The first segment starts with a memory of zeros that no mask hides. A vector of zeros still has a "
                "key, by its bias or by its distance, and gets its part of the softmax."
            ),
            _("Two ports disagreed on the first segment alone; empty memory is not the same as none."),
            _("Start without memory, or hide slots until they are written."),
            _("{slots} slots that hold nothing get **{mass}** of the attention."),
        ),
        "fed_twice": Words(
            _("The prompt read twice"),
            _(
                "The memory holds the prompt already, and the whole prompt is fed again: every key stands there "
                "twice, the second time {slots} places away."
            ),
            _("Texts that repeat themselves, and no gain in speed from the memory."),
            _("Feed only what the memory does not hold yet."),
            _("The copies get **{mass}** of the attention."),
        ),
        "not_carried": Words(
            _("Memory not carried on"),
            _(
                "The memory of the last segment is not handed to the next one. Nothing fails, but the first tokens of "
                "every segment have hardly anything to read."
            ),
            _("A reported perplexity that nobody could reach, and 35, 24 or 20 for the same weights."),
            _("Hand the memory on, and state segment and memory length with every perplexity."),
            _("The {slots} keys of the memory had **{mass}** of the attention."),
        ),
        "stale": Words(
            _("A stale mask"),
            _(
                "A mask made at the first call, without memory, is kept and used again with one. It compares i with j "
                "where the key stands at m + i, and shuts most of the segment."
            ),
            _("Tables and masks that are cached by the length alone: right at the first call, wrong at the next."),
            _("Key a cache by all that it depends on: query length, memory, dtype, device."),
            _("**{shut} of {cells}** allowed cells are shut."),
        ),
    }


def file_words() -> dict[str, Words]:
    return {
        "half_fill": Words(
            _("A fill that half precision does not have"),
            _(
                "−1e30 is a large number in float32 and −∞ in float16. A padded row has then nothing else, and becomes "
                "NaN, in mixed precision alone."
            ),
            _("NaN losses in half precision, in XLNet’s −1e30 and in a −1e8 elsewhere."),
            _("The lowest number of the dtype that the scores have."),
            _("Row **{row}** is NaN in every cell; repaired, no row is."),
        ),
        "half_phases": Words(
            _("Sinusoid in half precision"),
            _(
                "Phases computed in bfloat16 lose their last bits, and from 257 on not even every whole number "
                "exists. Near distances hardly change, far ones are read somewhere else."
            ),
            _(
                "Reported as the cause of garbage in half precision. That report was later explained in another way; "
                "the error of the phases is real."
            ),
            _("Compute positions and phases in float32, and round the finished table."),
            _(
                "p_d is off by up to **{error}** for distances up to {near}, and by {far_error} up to {far}; its "
                "largest number is {size}."
            ),
        ),
        "transposed": Words(
            _("A kernel transposed"),
            _(
                "TensorFlow stores a kernel as [in out], PyTorch as [out in]. Where both are equal no shape complains, "
                "and W x becomes Wᵀ x."
            ),
            _("Weights converted from one framework to the other, and a strict=False that hides the rest."),
            _("Compare scores with a captured run, and not shapes."),
            _("W_q is {n} × {n}, and fits either way."),
        ),
        "not_loaded": Words(
            _("Weights not loaded"),
            _(
                "A model is built from its config and the file is never read, or its names do not match and strict is "
                "off. Here W_q and W_k are as they were drawn, of std 0.02."
            ),
            _("Nonsense that is another one in every run, and no error message."),
            _("Count the tensors that came from the file, and refuse when one of the attention is missing."),
            _(
                "The mean entropy of a row goes from {entropy_right} to **{entropy_wrong}** nats; {even} would be no "
                "choice at all."
            ),
        ),
    }
