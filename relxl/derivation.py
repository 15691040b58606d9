"""From an absolute score to the relative one, one replacement at a time, on one head of a first layer, in float64.

    0  (W_q (e_i + p_i)) . (W_k (e_j + p_j))            one product
    1  W_q e_i . W_k e_j + W_q e_i . W_k p_j            (a) + (b)
       + W_q p_i . W_k e_j + W_q p_i . W_k p_j          (c) + (d)
    2  p_j -> R_{i-j}       in (b) and (d)
    3  W_q p_i -> u         in (c)
    4  W_q p_i -> v         in (d)
    5  W_k -> W_kE, W_kR    in (a) and (c), in (b) and (d)
    6  the same formula with what a model learned for it

A step is a function of the places at which the tokens stand. To move a text by s is to add s to every place, so what
changes when it is moved is measured, not argued. Source: Dai et al. 2019, "Transformer-XL", section 3.3.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from relxl.masking import masked_softmax
from relxl.positions import sinusoid_rows
from relxl.relative import PairMap, score_terms
from relxl.weights_only import position_keys

ROUNDING = 1e-12  # of the largest score: what changes less does not change
Terms = dict[str, Tensor]  # the name of a term -> [query key], scaled


@dataclass(frozen=True)
class AbsoluteHead:
    """Hold what one head of an absolute first layer computes with. The projections' biases belong to the content."""

    query: Tensor  # [token d_head] W_q e_i
    key: Tensor  # [token d_head] W_k e_j
    w_q: Tensor  # [d_head d_model]
    w_k: Tensor
    scale: float
    places: int  # that training had: 0 to places - 1

    def positions(self, place: Tensor) -> tuple[Tensor, Tensor]:
        """Project the position vectors of both sides, W_q p_i and W_k p_j: [token] -> two of [token d_head]."""
        return sinusoid(place, self.w_q) @ self.w_q.T, sinusoid(place, self.w_k) @ self.w_k.T


@dataclass(frozen=True)
class RelativeHead:
    """Hold what one head of a relative first layer computes with."""

    query: Tensor  # [token d_head] W_q e_i
    key: Tensor  # [token d_head] W_kE e_j
    u: Tensor  # [d_head]
    v: Tensor | None  # [d_head]; None where v_bias is learned as a curve
    position_key: Callable[[Tensor], Tensor]  # [distance] -> [distance d_head], W_kR R_d
    v_curve: Callable[[Tensor], Tensor | None]  # [distance] -> [distance], unscaled
    scale: float

    def terms(self, place: Tensor) -> Terms:
        """Split the score by the core, which is told distances only: place [token] -> four of [query key]."""
        pairs = pairs_at(place)
        curve = self.v_curve(pairs.distances)
        terms = score_terms(
            query=self.query[None, None],
            key=self.key[None, None],
            position_key=self.position_key(pairs.distances)[None],
            u=self.u[None],
            v=None if self.v is None else self.v[None],
            pairs=pairs,
            scale=self.scale,
            v_curve=None if curve is None else curve[None],
        )
        return {name: term[0, 0] for name, term in terms.dense().items()}


@dataclass(frozen=True)
class Step:
    """Hold one step of the derivation: its terms in LaTeX, what was replaced in a box, and as numbers."""

    formulas: dict[str, str]
    terms: Callable[[Tensor], Terms]  # place [token] -> a matrix a term


@dataclass(frozen=True)
class ShiftTest:
    """Say what moving a text changes: the largest |change| of a visible cell, an array [shift] each."""

    shifts: tuple[int, ...]
    terms: dict[str, np.ndarray]
    score: np.ndarray
    probs: np.ndarray
    size: float  # the largest |score| of a visible cell of the text that is not moved

    def still(self, change: float) -> bool:
        """Say whether a change is rounding alone."""
        return bool(change <= ROUNDING * max(self.size, 1))


def absolute_head(attn: nn.Module, embedded: Tensor, head: int, places: int) -> AbsoluteHead:
    """Take one head of an absolute layer, and embedded tokens e [token d_model] without their positions."""
    attn, rows, e = doubled(attn), head_rows(attn, head), embedded.detach().double()
    w_q, w_k = attn.w_q.weight[rows], attn.w_k.weight[rows]
    return AbsoluteHead(attn.w_q(e)[:, rows], attn.w_k(e)[:, rows], w_q, w_k, attn.scale, places)


def relative_head(attn: object, hidden: Tensor, head: int, clamp_len: int | None = None) -> RelativeHead:
    """Take one head of a relative layer of any family, and the layer's input hidden [token d_model]."""
    attn, rows, x = doubled(attn), head_rows(attn, head), hidden.detach().double()
    x = attn.normed(x) if hasattr(attn, "normed") else x

    def v_curve(distance: Tensor) -> Tensor | None:
        curve = attn.positions.curve(distance, clamp_len) if hasattr(attn, "positions") else None
        return None if curve is None else curve[head]

    return RelativeHead(
        query=attn.w_q(x)[:, rows],
        key=attn.w_k(x)[:, rows],
        u=attn.u[head],
        v=None if attn.v is None else attn.v[head],
        position_key=lambda distance: position_keys(attn, distance, clamp_len)[head],
        v_curve=v_curve,
        scale=attn.scale,
    )


def untrained_head(head: AbsoluteHead) -> RelativeHead:
    """Give an absolute head what training never made for it: u = v = the mean of W_q p_i, W_kE = W_kR = W_k."""
    mean = (sinusoid(torch.arange(head.places), head.w_q) @ head.w_q.T).mean(0)
    return RelativeHead(
        query=head.query,
        key=head.key,
        u=mean,
        v=mean,
        position_key=lambda distance: sinusoid(distance, head.w_k) @ head.w_k.T,
        v_curve=lambda distance: None,
        scale=head.scale,
    )


def derivation(start: AbsoluteHead, end: RelativeHead) -> tuple[Step, ...]:
    """Give the seven steps from the head of an absolute model to that of a relative one."""
    untrained = untrained_head(start)

    def product(place: Tensor) -> Terms:
        query, key = start.positions(place)
        return {"product": (start.query + query) @ (start.key + key).T * start.scale}

    def multiplied_out(place: Tensor) -> Terms:
        query, key = start.positions(place)
        return {
            "content": start.query @ start.key.T * start.scale,
            "content_position": start.query @ key.T * start.scale,
            "position_content": query @ start.key.T * start.scale,
            "position_position": query @ key.T * start.scale,
        }

    def key_by_distance(place: Tensor) -> Terms:
        pairs, (query, _key) = pairs_at(place), start.positions(place)
        position_key = untrained.position_key(pairs.distances)
        return multiplied_out(place) | {
            "content_position": pairs.read(start.query @ position_key.T * start.scale),
            "position_position": pairs.read(query @ position_key.T * start.scale),
        }

    def u_for_query(place: Tensor) -> Terms:
        terms = key_by_distance(place)
        terms["position_content"] = untrained.terms(place)["u_bias"]
        return {"u_bias" if name == "position_content" else name: term for name, term in terms.items()}

    absolute, relative = ("position_content", "position_position"), ("u_bias", "v_bias")
    p_i, e_j, r = "W_q p_i", "W_k e_j", r"W_k R_{i-j}"
    split = r"W_{kE}\, e_j", r"W_{kR}\, R_{i-j}"
    return (
        Step({"product": r"\bigl(W_q (e_i + p_i)\bigr) \cdot \bigl(W_k (e_j + p_j)\bigr)"}, product),
        Step(formulas(absolute, p_i, p_i, e_j, "W_k p_j"), multiplied_out),
        Step(formulas(absolute, p_i, p_i, e_j, r"W_k \boxed{R_{i-j}}"), key_by_distance),
        Step(formulas(("u_bias", "position_position"), r"\boxed{u}", p_i, e_j, r), u_for_query),
        Step(formulas(relative, "u", r"\boxed{v}", e_j, r), untrained.terms),
        Step(formulas(relative, "u", "v", r"\boxed{W_{kE}}\, e_j", r"\boxed{W_{kR}}\, R_{i-j}"), untrained.terms),
        Step(formulas(relative, "u", "v", *split), end.terms),
    )


def formulas(names: tuple[str, str], c: str, d: str, content_key: str, position_key: str) -> dict[str, str]:
    """Write four products: W_q e_i with both keys are (a) and (b), `c` and `d` with one each the others; LaTeX."""
    queries = {"content": "W_q e_i", "content_position": "W_q e_i", names[0]: c, names[1]: d}
    keys = content_key, position_key, content_key, position_key
    return {name: rf"{query} \cdot {key}" for (name, query), key in zip(queries.items(), keys, strict=True)}


def shift_test(step: Step, mask: Tensor, shifts: Sequence[int]) -> ShiftTest:
    """Move a text by each shift, and measure what changes in its visible cells; mask [query key] bool."""
    place = torch.arange(len(mask))
    terms = step.terms(place)
    rows = [changes(terms, step.terms(place + shift), mask) for shift in shifts]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    size = float(sum(terms.values())[mask].abs().max())
    return ShiftTest(tuple(shifts), {name: columns[name] for name in terms}, columns["score"], columns["probs"], size)


def changes(before: Terms, after: Terms, mask: Tensor) -> dict[str, float]:
    """Give the largest |change| of a visible cell: of each term that both have, of the score, of the probabilities."""
    found = {name: after[name] - before[name] for name in before if name in after}
    one, other = sum(before.values()), sum(after.values())
    found |= {"score": other - one, "probs": masked_softmax(other, mask) - masked_softmax(one, mask)}
    return {name: float(change[mask].abs().max()) for name, change in found.items()}


def bare_change(d_model: int, n_token: int, shift: int) -> float:
    """Say how much p_i . p_j = sum_k cos((i - j) f_k) changes when the text is moved: it knows i - j only."""
    place = torch.arange(n_token)
    p, moved = (sinusoid_rows(places, d_model, dtype=torch.float64) for places in (place, place + shift))
    return float((moved @ moved.T - p @ p.T).abs().max())


def pairs_at(place: Tensor) -> PairMap:
    """Give the map of tokens that stand at `place` [token]: cell (i, j) reads row i at place_i - place_j."""
    distance = place[:, None] - place
    row = torch.arange(len(place))[:, None].expand_as(distance)
    return PairMap(row, distance, torch.arange(int(distance.max()), int(distance.min()) - 1, -1))


def sinusoid(place: Tensor, weight: Tensor) -> Tensor:
    """Compute the position vectors that a projection [d_head d_model] takes: [place] -> [place d_model], float64."""
    return sinusoid_rows(place, weight.shape[1], dtype=torch.float64)


def head_rows(attn: object, head: int) -> slice:
    d_head = len(attn.w_q.weight) // attn.n_heads
    return slice(head * d_head, (head + 1) * d_head)


def doubled(part: object) -> object:
    """Copy a layer, module or data, with every tensor in float64."""
    if isinstance(part, nn.Module):
        return copy.deepcopy(part).double().requires_grad_(False)
    if isinstance(part, Tensor):
        return part.detach().double()
    if is_dataclass(part):
        return replace(part, **{field.name: doubled(getattr(part, field.name)) for field in fields(part)})
    return part
