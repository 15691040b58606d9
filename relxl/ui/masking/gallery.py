"""The gallery of the page "Masking": ways to mask, right and wrong, and where the wrong ones happened."""

import math
from dataclasses import dataclass, replace

from relxl.language import _
from relxl.masking import RIGHT_RULE, MaskRule


@dataclass(frozen=True)
class Preset:
    """Hold one exhibit: the rule, its short name, what goes wrong (or why not), and where that happened."""

    rule: MaskRule
    name: str
    text: str
    where: str


def gallery(base: MaskRule = RIGHT_RULE) -> dict[str, Preset]:
    """Give every exhibit, laid on a model whose own way is `base`: that first, if it is not the right way itself."""
    shown = {} if base == RIGHT_RULE else {"own": own_way(base)}
    for name, preset in exhibits().items():
        window = base.window if preset.rule.window is None else preset.rule.window
        shown[name] = replace(preset, rule=replace(preset.rule, window=window, zero=base.zero))
    return shown


def own_way(base: MaskRule) -> Preset:
    """Make an exhibit of what the code of a model's family does."""
    fill = {"min": _("the lowest number of the dtype"), "-inf": "−∞"}.get(fill_text(base.fill), f"{base.fill}")
    text = [_("After the sum of the terms a forbidden key gets {fill}.").format(fill=fill.replace("-", "−"))]
    if base.zero:
        text.append(_("After the softmax its probability is set to 0, so that a row without a key gets nothing."))
    if base.window is not None:
        text.append(_("A query sees {n} keys, itself among them.").format(n=base.window))
    return Preset(base, _("This model’s way"), " ".join(text), _("the code that it was trained with"))


def exhibits() -> dict[str, Preset]:
    """Give every exhibit as it is for a plain causal model."""
    return {
        "right": Preset(
            MaskRule(),
            _("The right way"),
            _(
                "−∞ goes in after the sum of the terms. Its exponential is exactly 0, so no key of the future gets "
                "anything, not even a rounding error."
            ),
            _("Transformer-XL and every family after it"),
        ),
        "early_inf": Preset(
            MaskRule("before"),
            _("Early, but −∞"),
            _(
                "The content score is masked first and the position scores are added to it. Nothing leaks: −∞ plus any "
                "finite number is −∞."
            ),
            _("often called a bug, and it is none"),
        ),
        "multiply": Preset(
            MaskRule("before", "multiply"),
            _("Content times mask"),
            _(
                "The content score of a forbidden key becomes 0, and then the position scores are added. A distance of "
                "−1 is now open to every query, and position alone decides how much of the next token comes in."
            ),
            _("the bundled model shakespeare-leaky was trained this way"),
        ),
        "weak": Preset(
            MaskRule(fill=-10.0),
            _("A fill of −10"),
            _(
                "The fill is a score like any other, and scores of −10 are common. Each forbidden key gets little, but "
                "there are many of them."
            ),
            _("any fill that was chosen by eye"),
        ),
        "slipped": Preset(
            MaskRule(fill=1e-9),
            _("A slipped sign"),
            _(
                "−1e9 became 1e-9, which is 0. A forbidden key now gets as much as any key of score 0, and training "
                "looks wonderful."
            ),
            _("a public Transformer-XL file fills its padding with +1e-9"),
        ),
        "beaten": Preset(
            MaskRule(fill=-1e4),
            _("−1e4"),
            _(
                "It holds as long as scores stay far above −10 000: the margin says how far. A model that is trained "
                "with it may learn to push them below."
            ),
            "huggingface/transformers#17306",
        ),
        "half": Preset(
            MaskRule("before", "min", "float16"),
            _("The lowest float16"),
            _(
                "−65 504 plus a score below −16 is −∞ in float16, so the sum is not finite any more. Here the future "
                "stays shut; a row that is all padding would become NaN."
            ),
            "huggingface/transformers#17306",
        ),
        "before_shift": Preset(
            MaskRule("before_shift"),
            _("Before the shift"),
            _(
                "A triangle is laid on q · p, and then the shift moves the rows. It lands elsewhere: allowed cells are "
                "shut, and forbidden ones are open."
            ),
            _("people ask about it in kimiyoung/transformer-xl#138"),
        ),
        "sees_next": Preset(
            MaskRule(fault="sees_next"),
            _("One too many"),
            _(
                "The diagonal is off by one, so each query sees the next token, which is the answer. One layer leaks "
                "one token, n layers leak n."
            ),
            _("triu with diagonal 2 in the place of 1"),
        ),
        "misses_itself": Preset(
            MaskRule(fault="misses_itself"),
            _("One too few"),
            _(
                "A query does not see itself. Without memory the first row has no key at all, the softmax of nothing "
                "is NaN, and the next layer spreads it over the whole text."
            ),
            "NVIDIA-NeMo/Speech#9590",
        ),
        "memory_forgotten": Preset(
            MaskRule(fault="memory_forgotten"),
            _("Memory forgotten"),
            _(
                "The mask compares i with j where the key stands at m + i. Nothing leaks, but most of the segment is "
                "shut: switch memory on to see it."
            ),
            _("the same slip in a position bias: lucidrains/x-transformers#103"),
        ),
        "inverted": Preset(
            MaskRule(fault="inverted", fill=-1e4),
            _("Inverted"),
            _(
                "True meant masked in one library and allowed in the other. Every query sees the future and nothing "
                "else, and the last row, which has no key left, sees all of them."
            ),
            "huggingface/transformers#48817",
        ),
        "no_mask": Preset(
            MaskRule(fault="no_mask"),
            _("No mask"),
            _("The result of masked_fill was thrown away. Nothing warns: the probabilities still add up to 1."),
            "opendilab/DI-engine#333",
        ),
        "window": Preset(
            MaskRule(window=16, fault="window_short"),
            _("Window short by one"),
            _(
                "Each query should see 16 keys, itself among them, and sees 15. The oldest place is never read, and "
                "two ports of one model differ."
            ),
            "kimiyoung/transformer-xl#86",
        ),
    }


def fill_text(fill: float | str) -> str:
    """Write a fill as the control and the link write it."""
    if isinstance(fill, str):
        return fill
    return "-inf" if fill == -math.inf else f"{fill:g}"
