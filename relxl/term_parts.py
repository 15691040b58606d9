"""What a term of the score is made of: the parameters of one head that it multiplies, and the line that computes it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

import relxl
from relxl.canonical import LearnedPositions, RelativeAttention
from relxl.canonical.attention import Segments
from relxl.model import AbsoluteMultiheadAttention, RelMultiheadAttention
from relxl.relative import score_terms

SYMBOLS = {  # what each relative term multiplies; an absolute one multiplies W_q and W_k
    "content": ("W_q", "W_k"),
    "content_position": ("W_q", "W_kR"),
    "u_bias": ("u", "W_k"),
    "v_bias": ("v", "W_kR"),
    "segment_content": ("W_q", "g"),
    "segment_bias": ("r_s", "g"),
}
Attention = RelMultiheadAttention | AbsoluteMultiheadAttention | RelativeAttention


@dataclass(frozen=True)
class Part:
    """Hold one parameter of one head: its symbol, how it lies in memory, its Frobenius norm."""

    symbol: str
    shape: tuple[int, ...]
    norm: float


@dataclass(frozen=True)
class CodeLine:
    """Hold a line of relxl: its file below the repository, its number, what stands there."""

    file: str
    number: int
    text: str


def term_parts(attn: Attention, term: str, head: int) -> list[Part]:
    """List the parameters that a term of a head multiplies; what the family learns in their place stands for them."""
    curve = getattr(getattr(attn, "positions", None), "v_curve", None)
    if term == "v_bias" and curve is not None:
        parts = [("v·p", curve[head])]
    else:
        symbols = ("W_q", "W_k") if isinstance(attn, AbsoluteMultiheadAttention) else SYMBOLS[term]
        parts = [(symbol, parameter(attn, symbol, head)) for symbol in symbols]
    return [Part(symbol, tuple(x.shape), float(x.detach().double().norm())) for symbol, x in parts]


def parameter(attn: Attention, symbol: str, head: int) -> Tensor:
    """Give one parameter of a head: W [d_head d_model], W_kR [d_pos d_head], u and v [d_head].

    A canonical learned table is kept projected: there W_kR R itself, [row d_head], stands for W_kR.
    """
    if symbol in ("W_q", "W_k"):
        return (attn.w_q if symbol == "W_q" else attn.w_k).weight.unflatten(0, (attn.n_heads, -1))[head]
    if symbol in ("u", "v"):
        return getattr(attn, symbol)[head]
    if symbol == "r_s":
        return attn.segments.bias[head]
    if symbol == "g":
        return attn.segments.embedding[:, head]
    if isinstance(attn, RelMultiheadAttention):
        return attn.w_k_pos[head]
    return attn.positions.rows[head] if isinstance(attn.positions, LearnedPositions) else attn.positions.w_k_pos[head]


def code_line(attn: Attention, term: str) -> CodeLine:
    """Find the line of relxl that computes a term of such an attention."""
    if term in ("segment_content", "segment_bias"):
        return line_with(Segments.terms, "content = [" if term == "segment_content" else "biases = [")
    if isinstance(attn, AbsoluteMultiheadAttention):
        return line_with(AbsoluteMultiheadAttention.terms, f"{term}=")
    return line_with(score_terms, "v_curve = (v" if term == "v_bias" else f"{term}=")


def line_with(function: Callable, begin: str) -> CodeLine:
    """Find the first line of a function that begins so. Raises ValueError where there is none."""
    file, first = Path(function.__code__.co_filename), function.__code__.co_firstlineno
    lines = file.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines[first - 1 :], start=first):
        if line.strip().startswith(begin):
            return CodeLine(str(file.relative_to(Path(relxl.__file__).parents[1])), number, line.strip())
    raise ValueError(f"{function.__qualname__} has no line that begins with {begin!r}: it was changed, change this too")
