"""What the page "Shift" says: names of the shifts, what they mean in the wild, and what a step does."""

import re

from relxl.language import _
from relxl.shift import DROP_FIRST, DROP_LAST, GATHER, KEEP_FIRST, KEEP_LAST, PAD_LEFT, PAD_RIGHT, STRIDED, VIEW


def names() -> dict[str, str]:
    """Name every shift for people, in the order in which they are told."""
    return {
        "pad_and_view": _("Pad and view"),
        "slice": _("Pad and view, sliced"),
        "exact": _("Strided view"),
        "xlnet_bi": _("XLNet, both directions"),
        "xlnet_uni": _("XLNet, one direction"),
        "labml": _("Pad right, drop last"),
        "legacy": _("Reversed table of 5,000"),
        "ascending": _("Table upside down"),
        "absolute": _("No shift at all"),
        "memory_forgotten": _("Memory forgotten"),
    }


def presets() -> dict[str, tuple[str, dict]]:
    """Give the chips: label, and the controls that they set."""

    def look(s: str, sm: int, sc: int) -> dict:
        return {"s": s, "sq": 4, "sm": sm, "sc": sc}

    return {
        "language_model": (_("Right in a language model"), look("pad_and_view", 2, 1)),
        "encoder": (_("The same in an encoder"), look("pad_and_view", 0, 0)),
        "xlnet": (_("XLNet, one direction"), look("xlnet_uni", 2, 1)),
        "upside_down": (_("Table upside down"), look("ascending", 0, 0)),
        "no_shift": (_("No shift at all"), look("absolute", 0, 0)),
        "memory": (_("Memory forgotten"), look("memory_forgotten", 3, 1)),
    }


def story(name: str) -> tuple[str, str]:
    """Say who has a shift and what one notices, and link the public threads about it; markdown."""
    text, threads = {
        "pad_and_view": (
            _(
                "The original, made for a causal language model: what stands in the future is one zero and then the "
                "farthest distances of the next query, and the mask hides it. Encoders that copied it without the mask "
                "see it: training runs, nothing is reported, results are only somewhat worse."
            ),
            "kimiyoung/transformer-xl#132 ZhengkunTian/OpenTransformer#25 TensorSpeech/TensorFlowASR#161",
        ),
        "slice": (
            _(
                "The repair for encoders: a table of 2T − 1 rows, from the farthest past to the farthest future. The "
                "same pad and view is then right in every cell, for a product twice as wide."
            ),
            "espnet/espnet#2816 sooftware/conformer#55",
        ),
        "exact": (
            _(
                "The shortest way, and the one of relxl: the product is read where it lies, each row starting one "
                "element earlier. Every cell is right, with memory and in both directions, and nothing is copied."
            ),
            "",
        ),
        "xlnet_bi": (
            _(
                "The table starts one distance earlier, so that the element dropped takes the place of the pad. People "
                "ask why it begins at klen and differs from Transformer-XL; it is right in every cell."
            ),
            "zihangdai/xlnet#194 zihangdai/xlnet#97 zihangdai/xlnet#65",
        ),
        "xlnet_uni": (
            _(
                "Without the negative distances the future holds the farthest distances of the next query, and no "
                "zero stands between. It is right as long as a causal mask hides them."
            ),
            "zihangdai/xlnet#194 zihangdai/xlnet#97",
        ),
        "labml": (
            _(
                "Padded on the right, the last row dropped, the last columns kept, with a table that ascends in "
                "key − query. It was reported as a bug because it looks different, and it is right in every cell."
            ),
            "labmlai/annotated_deep_learning_paper_implementations#185",
        ),
        "legacy": (
            _(
                "The first T rows of one reversed table of 5,000: distance d reads 5,000 − T + d, another one for "
                "every length of the input, and the future holds leftovers. The repaired class has the same parameter "
                "names: a model loaded into the other class gives no warning, only more errors."
            ),
            "espnet/espnet#2684 espnet/espnet#2816 espnet/espnet#3068",
        ),
        "ascending": (
            _(
                "The shift gives distances only for a table that descends. With rows 0, 1, 2, … near and far are "
                "exchanged: a head that should look one token back looks at the far end, and an encoder sees the "
                "leftovers besides."
            ),
            "sooftware/conformer#30 sooftware/conformer#55 kimiyoung/transformer-xl#111",
        ),
        "absolute": (
            _(
                "Row p of the table meets key p whatever the query is: the term says where a key stands, not how far "
                "away it is. It trains and it streams; one report gained about 1 % from real distances."
            ),
            "wenet-e2e/wenet#435 wenet-e2e/wenet#1612 wenet-e2e/wenet#1611",
        ),
        "memory_forgotten": (
            _(
                "Indexed by i − j where m + i − j is meant. Without memory nothing is wrong; with m tokens of it every "
                "distance is m too small, and what is past counts as future."
            ),
            "lucidrains/x-transformers#103",
        ),
    }[name]
    unbroken = re.sub(r" ([+−]) ", "\u00a0\\1\u00a0", text)  # no line ends inside m + i − j
    return unbroken, ", ".join(map(thread, threads.split()))


def thread(name: str) -> str:
    """Link owner/repository#number; GitHub leads from issues to pull requests."""
    repository, number = name.split("#")
    return f"[{name}](https://github.com/{repository}/issues/{number})"


def source_links(source: str) -> str:
    """Link every owner/repository in the source of a shift."""
    return re.sub(r"[\w-]+/[\w-]+", lambda found: f"[{found[0]}](https://github.com/{found[0]})", source)


def step_title(name: str) -> str:
    return {
        "product": _("product"),
        "pad": _("pad"),
        "view": _("view"),
        "drop": _("drop"),
        "slice": _("slice"),
        "as_strided": _("strided view"),
        "gather": _("gather"),
    }[name]


def step_says(move: tuple | None, width: int) -> str:
    """Say what a move did to make a tensor with rows of `width`; None is the product itself."""
    texts = {
        None: _("Every query times every row of the table. A column belongs to one distance."),
        PAD_LEFT: _("A column of zeros is put in front of it."),
        PAD_RIGHT: _("A column of zeros is put behind it."),
        VIEW: _("Nothing moves in memory: the same numbers, one after the other, in rows of {width}."),
        DROP_FIRST: _("The first row is dropped, so everything that follows moves up."),
        DROP_LAST: _("The last row is dropped."),
        KEEP_FIRST: _("The first {width} columns are kept."),
        KEEP_LAST: _("The last {width} columns are kept."),
        STRIDED: _("Read where it lies: each row starts one element earlier. Nothing is copied."),
        GATHER: _("Each cell picks its element by the index i − j. The memory is not counted."),
    }
    return texts[move].format(width=width)
