"""Tensors by themselves: numbers that are none, zeros, what still looks as it was drawn, what stands there twice."""

import hashlib
import math
import re

import torch
from torch import Tensor

from relxl.doctor.case import Case
from relxl.doctor.finding import Finding, Kind

HUGE = 1e3  # the largest number of the bundled models is 1.3, of the fixtures 12; batch norms and outliers reach 100
DENORMAL_SHARE = 0.01  # the bundled models have none; memory that nobody filled is full of them
SMALLEST = 256  # numbers below which no law can be told from another
STRUCTURE = 1.05  # largest singular value over that of noise: fixtures (noise) 0.78 to 1.05 at 256 numbers or more
# and 1.00 at 128 x 128; the least of the bundled models 1.06 (out_proj), the median 2.2
SURE = 5.0  # standard errors of a standard deviation or kurtosis; the bundled models miss every law by 7 or more
KURTOSIS = {"normal": 3.0, "uniform": 1.8}
KURTOSIS_ERROR = {"normal": math.sqrt(24.0), "uniform": math.sqrt(1.05)}  # over the root of the count
MOST_ROWS = 2048  # rows of a large matrix that stand for all of it
PIECE = 1 << 20  # numbers measured at once
MOST_OF = 0.5  # share of matrices that look as drawn from which on the whole model does
FEWEST = 3
LISTED = 6
BIAS = re.compile(r"(^|[._])(u|v|r_[wrs]_bias|r_bias|pos_bias_[uv]|query_pos_bias|key_pos_bias)$")  # see biases.py
TIED = re.compile(r"emb|out_layers|out_projs|lm_loss|decoder|lookup|bias")

NOT_FINITE = Kind(
    "weights.not_finite",
    "error",
    "{tensor} holds {nan} NaN and {infinite} infinite numbers among {n}.",
    "Go back to the last checkpoint without them; look for a parameter nobody initialises, or a loss that overflows.",
    "facebookresearch/fairseq#4622",
    "checkpoint",
)
EXTREME = Kind(
    "weights.extreme",
    "warning",
    "{tensor} holds numbers up to {largest:.3g}, beyond {limit:g}: far from any weight that was trained or drawn.",
    "Look at how it is initialised and whether its gradient is clipped.",
    "facebookresearch/fairseq#4622",
    "checkpoint",
)
DENORMAL = Kind(
    "weights.denormal",
    "error",
    "{share:.0%} of {tensor} is denormal, below {least:.2g}: what stands in memory that nobody has filled.",
    "Find who should initialise it: torch.empty or torch.Tensor(...) without values is the usual cause.",
    "facebookresearch/fairseq#4622",
    "checkpoint",
)
ZERO = Kind(
    "weights.zero",
    "error",
    "All {n} numbers of {tensor} are exactly 0.",
    "Find out whether it was loaded and whether the optimiser has it; a zero matrix passes nothing on.",
    "jason9693/MusicTransformer-pytorch",
    "checkpoint",
)
AS_DRAWN = Kind(
    "weights.as_drawn",
    "warning",
    "{tensor} still looks as it was drawn, {law}: mean {mean:.4f}, standard deviation {std:.4f}, "
    "kurtosis {kurtosis:.2f}, no structure.",
    "Look whether its name was matched at loading (strict=False hides a miss) and whether the optimiser has it.",
    "huggingface/transformers#846",
    "checkpoint",
)
ALL_AS_DRAWN = Kind(
    "weights.untrained",
    "warning",
    "{found} of {tested} matrices still look as they were drawn: these weights were never trained, or never loaded.",
    "Build the model from the checkpoint and not from its config alone; print what load_state_dict returns.",
    "huggingface/transformers#846",
    "checkpoint",
)
TWICE = Kind(
    "weights.duplicate",
    "warning",
    "{tensor} is bit for bit the same as {other}.",
    "Look at how the layers were copied: a list that holds one module several times shares its weights.",
    "huggingface/transformers#8145",
    "checkpoint",
)


def floats(case: Case) -> dict[str, Tensor]:
    tensors = case.checkpoint.weights.tensors
    return {name: value for name, value in tensors.items() if value.is_floating_point() and value.numel()}


def matrices(case: Case) -> dict[str, Tensor]:
    """Give what has two axes or more, as a matrix [out in]."""
    return {name: value.flatten(1) for name, value in floats(case).items() if value.squeeze().dim() > 1}


def check_numbers(case: Case) -> list[Finding]:
    """Find NaN, infinite, huge and denormal numbers. Cannot see: a number that is wrong and of a usual size."""
    found = []
    for name, value in floats(case).items():
        nan, infinite = int(value.isnan().sum()), int(value.isinf().sum())
        n = value.numel()
        if nan or infinite:
            cells = (~value.isfinite()).nonzero()[:LISTED].tolist()
            found.append(NOT_FINITE.at(tensor=name, nan=nan, infinite=infinite, n=n, evidence={"first": cells}))
            continue
        largest, least = float(value.abs().max()), denormal_below(value.dtype)
        if largest > HUGE:
            cells = (value.abs() > HUGE).nonzero()[:LISTED].tolist()
            found.append(EXTREME.at(tensor=name, largest=largest, limit=HUGE, evidence={"first": cells}))
        share = sum(int(((piece != 0) & (piece.abs() < least)).sum()) for piece in value.flatten().split(PIECE)) / n
        if share > DENORMAL_SHARE:
            found.append(DENORMAL.at(tensor=name, share=share, least=least, evidence={"count": round(share * n)}))
    return found


def denormal_below(dtype: torch.dtype) -> float:
    """Give the least normal number; float16 trains well below its own, so float32's counts there too."""
    return torch.finfo(torch.float32 if dtype == torch.float16 else dtype).tiny


def check_zeros(case: Case) -> list[Finding]:
    """Find matrices, and scales of norms, that are exactly 0. Cannot see: a tensor that the file does not hold."""
    found = []
    for name, value in floats(case).items():
        matrix = value.squeeze().dim() > 1
        scale = value.dim() == 1 and name.endswith("weight")
        if (matrix or scale) and not value.any() and not BIAS.search(name):
            found.append(ZERO.at(tensor=name, n=value.numel(), evidence={"shape": list(value.shape)}))
    return found


def laws(rows: int, columns: int) -> dict[str, tuple[str, float]]:
    """Name the usual initial laws of a matrix [out in]: name -> (shape, standard deviation)."""
    both = math.sqrt(2 / (rows + columns))
    return {
        "normal of std 0.02": ("normal", 0.02),
        "Xavier normal": ("normal", both),
        "Xavier uniform": ("uniform", both),
        "uniform of torch.nn.Linear": ("uniform", 1 / math.sqrt(3 * columns)),
        "normal of std 1/sqrt(fan_in)": ("normal", 1 / math.sqrt(columns)),
        "He normal": ("normal", math.sqrt(2 / columns)),
        "normal of std 1": ("normal", 1.0),
    }


def law_of(matrix: Tensor) -> tuple[str, dict[str, float]] | None:
    """Name the initial law that a matrix cannot be told from, with its moments; None if it has left all of them.

    Its moments must be the law's within SURE standard errors, and its largest singular value that of noise:
    std (sqrt(rows) + sqrt(columns)), Bai and Yin 1988.
    """
    laws_of_all = laws(*matrix.shape)
    matrix = matrix[:: max(len(matrix) // MOST_ROWS, 1)]
    n = matrix.numel()
    rows, columns = matrix.shape
    if n < SMALLEST:
        return None
    values = matrix.double()
    mean, std = float(values.mean()), float(values.std())
    if not std > 0 or not math.isfinite(std) or abs(mean) > SURE * std / math.sqrt(n):
        return None
    kurtosis = float(((values - mean) / std).pow(4).mean())
    for name, (shape, wanted) in laws_of_all.items():
        std_error = math.sqrt((KURTOSIS[shape] - 1) / 4 / n)
        fits = abs(std / wanted - 1) < SURE * std_error
        if fits and abs(kurtosis - KURTOSIS[shape]) < SURE * KURTOSIS_ERROR[shape] / math.sqrt(n):
            noise = std * (math.sqrt(rows) + math.sqrt(columns))
            structure = float(torch.linalg.matrix_norm(matrix.float(), 2)) / noise
            if structure <= STRUCTURE:
                return name, {"mean": mean, "std": std, "kurtosis": kurtosis, "structure": structure}
    return None


def check_initial(case: Case) -> list[Finding]:
    """Find matrices that still look as drawn. Cannot see: a law that is not listed, or 255 numbers and less."""
    tested = {name: value for name, value in matrices(case).items() if value.numel() >= SMALLEST}
    drawn = {name: law for name, value in tested.items() if (law := law_of(value))}
    if len(drawn) >= FEWEST and len(drawn) > MOST_OF * len(tested):
        evidence = {"tensors": [[name, law] for name, (law, _) in list(drawn.items())[:LISTED]]}
        return [ALL_AS_DRAWN.at(found=len(drawn), tested=len(tested), evidence=evidence)]
    return [
        AS_DRAWN.at(tensor=name, law=law, evidence=moments, **{k: moments[k] for k in ("mean", "std", "kurtosis")})
        for name, (law, moments) in drawn.items()
    ]


def check_duplicates(case: Case) -> list[Finding]:
    """Find matrices that are the same bit for bit. Cannot see: a copy that was trained on for one step."""
    first: dict[bytes, str] = {}
    found = []
    for name, value in matrices(case).items():
        if value.numel() < SMALLEST // 4 or TIED.search(name) or not value.any():
            continue
        digest = hashlib.sha256(value.contiguous().view(torch.uint8).numpy()).digest()
        if digest in first:
            found.append(TWICE.at(tensor=name, other=first[digest], evidence={"shape": list(value.shape)}))
        first.setdefault(digest, name)
    return found
