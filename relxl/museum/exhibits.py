"""The exhibits: a class of failure each, by groups. B1 to B45 are the entries of docs/doctor.md."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from relxl.doctor.hypotheses import interleaved, mirrored, transposed, without_positions
from relxl.masking import MaskRule
from relxl.museum import breaks, measures
from relxl.museum import scene as scenes
from relxl.museum.measures import Numbers
from relxl.museum.scene import Change, Scene

GROUPS = ("shift", "masks", "biases", "memory", "precision", "files")


@dataclass(frozen=True)
class Exhibit:
    """Hold a failure: the scene, how it breaks, what is shown and measured, who reported it and what finds it.

    shown    "positions", what (b) and (d) add to the score, or "probability"
    reports  public reports, owner/repository#number; `code`: where it was only read, in which repository
    finds    findings of the doctor that name it in a checkpoint or a captured run
    page     the page that shows it, and by the keys of a link what is to be chosen there
    """

    name: str
    entry: str
    group: str
    shown: str
    breaks: Change
    numbers: Callable[[Scene, Scene], Numbers]
    reports: tuple[str, ...]
    finds: tuple[str, ...]
    page: str
    scene: Change = scenes.as_it_is
    link: Mapping[str, object] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    code: str = ""

    def play(self, scene: Scene) -> tuple[Scene, Scene]:
        """Give the scene wrong, and right."""
        right = self.scene(scene)
        return self.breaks(right), right


def of_class(name: str) -> Exhibit:
    return next(exhibit for exhibit in EXHIBITS if exhibit.name == name)


def at_shift(s: str, sm: int = 0, sc: int = 0) -> dict[str, object]:
    return {"s": s, "sq": 4, "sm": sm, "sc": sc, "st": "scores"}


def at_mask(mo: str = "after", mf: str = "-inf", mx: str = "none", md: str = "model", mw: int = 0) -> dict[str, object]:
    return {"mo": mo, "mf": mf, "mx": mx, "md": md, "mw": mw, "ml": "all"}


SHIFT = (
    Exhibit(
        "wrapped", "B1, B9", "shift", "positions", breaks.shifted("pad_and_view"), measures.foreign,
        ("espnet/espnet#2684", "espnet/espnet#2816", "sooftware/conformer#30", "TensorSpeech/TensorFlowASR#161"),
        ("shift.foreign",), "shift", scenes.encoder, at_shift("pad_and_view"), ("future",),
    ),
    Exhibit(
        "legacy", "B2", "shift", "positions", breaks.shifted("legacy"), measures.legacy,
        ("espnet/espnet#3068", "espnet/espnet#3005"), ("config.assumed", "reference.setting"), "shift",
        scenes.alone, at_shift("legacy"), ("sinusoid",),
    ),
    Exhibit(
        "no_shift", "B3", "shift", "positions", breaks.shifted("absolute"), measures.key_or_distance,
        ("wenet-e2e/wenet#1612", "wenet-e2e/wenet#435"), ("shift.absolute",), "shift",
        scenes.alone, at_shift("absolute"),
    ),
    Exhibit(
        "upside_down", "B4", "shift", "positions", breaks.shifted("ascending"), measures.ends,
        ("kimiyoung/transformer-xl#111", "sooftware/conformer#55"), ("shift.foreign",), "shift",
        scenes.alone, at_shift("ascending"),
    ),
    Exhibit(
        "flipped", "B42", "shift", "positions", breaks.in_attention(breaks.flipped), measures.favourite,
        ("microsoft/DeBERTa#47", "nntrainer/nntrainer#3982"), ("loss.direction", "reference.direction"), "max_len",
        scenes.causal, {"xd": "j-i"}, ("future",),
    ),
    Exhibit(
        "sign", "B5", "shift", "positions", breaks.in_attention(mirrored), measures.sign,
        ("speechbrain/speechbrain#3070", "speechbrain/speechbrain#3073"), ("positions.mirrored",), "distance",
        scenes.encoder, {}, ("sinusoid",),
    ),
    Exhibit(
        "memory_forgotten", "B6, B44", "shift", "positions", breaks.shifted("memory_forgotten"),
        measures.off_by_memory, ("lucidrains/x-transformers#103", "k2-fsa/icefall#89"), ("shift.foreign",), "shift",
        scenes.with_memory, at_shift("memory_forgotten", 3, 1),
    ),
    Exhibit(
        "short", "B7", "shift", "positions", scenes.cut_table, measures.beyond,
        ("ASLP-lab/OSUM#7", "index-tts/index-tts#159", "NVIDIA/TensorRT-Model-Connect#1060"), ("positions.short",),
        "max_len", scenes.causal, {"xr": 8},
    ),
    Exhibit(
        "clamp", "B33", "shift", "positions", breaks.unclamped, measures.beyond,
        ("keitakurita/Practical_NLP_in_PyTorch#17",), ("positions.beyond_training", "loss.clamp"), "max_len",
        scenes.clamped, {"xr": 8},
    ),
    Exhibit(
        "layout", "7.2", "shift", "positions", breaks.in_attention(interleaved), measures.alike,
        ("kimiyoung/transformer-xl#119",), ("reference.layout",), "distance",
        scenes.causal, {}, ("sinusoid",),
    ),
)  # fmt: skip
MASKS = (
    Exhibit(
        "before_shift", "B10", "masks", "probability", breaks.masked(order="before_shift"), measures.leaked,
        ("kimiyoung/transformer-xl#138", "magenta/magenta#1486"), ("masks.leak", "loss.knows_future"), "masking",
        scenes.causal, at_mask("before_shift"),
    ),
    Exhibit(
        "empty_row", "B11", "masks", "probability", breaks.ruled(MaskRule()), measures.dead_rows,
        ("NVIDIA-NeMo/Speech#9590", "kimiyoung/transformer-xl#104", "wenet-e2e/wenet#2419"), ("masks.empty_rows",),
        "masking", scenes.hidden_row, at_mask(mx="misses_itself"),
    ),
    Exhibit(
        "window", "B12", "masks", "probability", breaks.masked(fault="window_short"), measures.window,
        ("kimiyoung/transformer-xl#86", "huggingface/transformers#14832"), ("masks.window", "masks.shut"), "masking",
        scenes.windowed, at_mask(mx="window_short", mw=12),
    ),
    Exhibit(
        "inverted", "B13", "masks", "probability", breaks.masked(fault="inverted", fill=-1e4), measures.leaked,
        ("huggingface/transformers#48817", "huggingface/transformers#48818"), ("masks.leak",), "masking",
        scenes.causal, at_mask(mf="-10000", mx="inverted"),
    ),
    Exhibit(
        "bias_as_bool", "B14", "masks", "positions", breaks.in_attention(without_positions),
        measures.position_share, ("huggingface/transformers#48843",), ("positions.dead", "reference.lost_positions"),
        "score_terms", scenes.causal, {"fb": 0.0, "fd": 0.0},
    ),
    Exhibit(
        "thrown_away", "B15", "masks", "probability", breaks.masked(fault="no_mask"), measures.leaked,
        ("opendilab/DI-engine#333", "kimiyoung/transformer-xl#115"), ("masks.leak",), "masking",
        scenes.causal, at_mask(mx="no_mask"),
    ),
    Exhibit(
        "weak_fill", "B16", "masks", "probability", breaks.masked(fill=1e-9), measures.leaked,
        ("huggingface/transformers#17306",), ("masks.fill_beaten", "masks.leak"), "masking",
        scenes.causal, at_mask(mf="1e-09"),
    ),
)  # fmt: skip
BIASES = (
    Exhibit(
        "unfilled", "B18", "biases", "probability", breaks.in_attention(breaks.unfilled), measures.one_key,
        ("facebookresearch/fairseq#4622", "huggingface/transformers#18368", "dhruvramani/Transformers-RL#3"),
        ("biases.uninitialised",), "checkpoint", scenes.causal,
    ),
    Exhibit(
        "swapped", "B19", "biases", "probability", breaks.in_attention(breaks.swapped), measures.bias_shares,
        ("kimiyoung/transformer-xl#46",), ("loss.swapped_biases", "reference.swapped_biases"), "score_terms",
        scenes.causal, {}, ("v",),
    ),
    Exhibit(
        "tied", "B20", "biases", "probability", breaks.tied, measures.biases_apart,
        ("huggingface/transformers#200",), ("biases.tied", "reference.tied_biases"), "checkpoint",
        scenes.causal, {}, ("v", "layers"),
    ),
    Exhibit(
        "wide_scale", "B21", "biases", "probability", breaks.in_attention(breaks.wide_scale), measures.entropies,
        ("sooftware/conformer#55", "Jinbo-Hu/PSELDNets#3"), ("loss.scale", "heads.uniform"), "heads", scenes.causal,
    ),
    Exhibit(
        "unscaled", "B22", "biases", "probability", breaks.in_attention(breaks.unscaled), measures.bias_shares,
        (), ("reference.biases_unscaled",), "score_terms", scenes.causal, {}, ("v",),
        code="google-deepmind/deepmind-research",
    ),
)  # fmt: skip
MEMORY = (
    Exhibit(
        "zeros", "B26", "memory", "probability", breaks.shown_memory, measures.on_memory,
        ("huggingface/transformers#200", "lucidrains/x-transformers#223"), ("memory.unwritten",), "memory",
        scenes.unwritten_memory,
    ),
    Exhibit(
        "fed_twice", "B27", "memory", "probability", breaks.shown_memory, measures.on_memory,
        ("huggingface/transformers#4752", "huggingface/transformers#4826"), ("memory.repeated",), "memory",
        scenes.fed_twice,
    ),
    Exhibit(
        "not_carried", "B32", "memory", "probability", breaks.lost_memory, measures.on_memory,
        ("huggingface/transformers#4459", "kimiyoung/transformer-xl#112"), ("loss.memory", "loss.memory_missing"),
        "memory", scenes.with_memory,
    ),
    Exhibit(
        "stale", "B8", "memory", "probability", breaks.masked(fault="memory_forgotten"), measures.leaked,
        ("espnet/espnet#2144",), ("masks.shut",), "masking",
        scenes.with_memory, at_mask(mx="memory_forgotten") | {"m": 1},
    ),
)  # fmt: skip
PRECISION = (
    Exhibit(
        "half_fill", "B17", "precision", "probability", breaks.ruled(MaskRule(fill=-1e30, dtype="float16")),
        measures.dead_rows, ("huggingface/transformers#17306", "facebookresearch/fairseq#3575"),
        ("precision.not_finite",), "masking", scenes.padded_half, at_mask(mf="-1e+30", md="float16"),
    ),
    Exhibit(
        "half_phases", "B40", "precision", "positions", breaks.half_phases, measures.phases,
        ("vllm-project/vllm#54620", "espnet/espnet#4340"), ("positions.half_precision",), "distance",
        scenes.causal, {}, ("sinusoid",),
    ),
)  # fmt: skip
FILES = (
    Exhibit(
        "transposed", "B36", "files", "probability",
        breaks.in_attention(lambda attn: transposed(attn, "w_q")), measures.square,
        ("huggingface/transformers#298", "kimiyoung/transformer-xl#49"), ("loss.transposed", "reference.transposed"),
        "compare", scenes.causal, {}, ("square",),
    ),
    Exhibit(
        "not_loaded", "B34, B36", "files", "probability", breaks.in_attention(breaks.redrawn), measures.entropies,
        ("huggingface/transformers#846", "NVIDIA-NeMo/Speech#3347"), ("weights.as_drawn", "weights.untrained"),
        "checkpoint", scenes.causal,
    ),
)  # fmt: skip
EXHIBITS = (*SHIFT, *MASKS, *BIASES, *MEMORY, *PRECISION, *FILES)
