"""What a family is, and how it takes its tensors and its settings from what a file holds.

A family says three things: by which names its files are known, what the weights cannot tell (asked for, with a default
that is shown as assumed), and how its tensors become the canonical form. Everything else is shared.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional as F

from relxl.canonical import Linear, Norm
from relxl.config import LARGEST

Shapes = Mapping[str, tuple[int, ...]]  # what a file holds, by name
MASKS = {"mask", "mask_keep", "attention_mask", "key_padding_mask", "attn_mask"}
PAIR_MASKS = {"mask_keep", "attn_mask"}  # two axes of these are query and key, of the others batch and key
LONGEST_LIST = 6  # names that a sentence lists
COPIES = re.compile(r"(^|[._])(ema|avg|average|teacher|momentum|decoder)[._]")  # stacks that are not a file's first
ACTIVATIONS = {
    "gelu": F.gelu,
    "gelu_new": lambda x: F.gelu(x, approximate="tanh"),
    "relu": F.relu,
    "silu": F.silu,
    "swish": F.silu,
}


class FamilyError(ValueError):
    """Say in one sentence what came, what was expected and what to do; `ask` names a question to be answered first."""

    def __init__(self, message: str, ask: str | None = None):
        super().__init__(message)
        self.ask = ask


@dataclass(frozen=True)
class Ask:
    """Name something that weights cannot tell: its default, what it may be, and the other names that configs give it.

    A whole number is at least `least`; `options` are all that the answer may be. A default of None means that there is
    none: the file cannot be read before it is answered.
    """

    name: str
    default: object
    options: tuple = ()
    least: int = 0
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    """Hold an answer and where it comes from: the "file", or "chosen" by a person, or "assumed"."""

    ask: Ask
    value: object
    origin: str


@dataclass(frozen=True)
class Family:
    """Hold all that is known of a family. `known_by` gives the evidence as a sentence, or None."""

    name: str
    title: str
    source: str
    known_by: Callable[[Shapes], str | None]
    build: Callable[["Reader", dict[str, object]], object]  # to a CanonicalModel, from the answers by name
    asks: tuple[Ask, ...] = ()
    plain_config: Callable[[dict], dict] = dict  # brings the family's own config to the names of `asks`
    mask_marks: str = "keep"  # what true means in a mask that the family's own code takes: "keep" or "hide"

    def visible(self, given: Mapping[str, Tensor], batch: int, query_len: int) -> Tensor | None:
        """Read the masks that the family's own code takes, by their names: bool, broadcast to [batch head query key].

        [batch key], [batch query key] or [batch 1 key], [batch*head query key], [batch head query key]; `PAIR_MASKS`
        may be [query key]. None if none is given.
        """
        keep = None
        for name in MASKS & set(given):
            mask = given[name].bool()
            mask = mask if self.mask_marks == "keep" else ~mask
            if mask.dim() == 2:
                pairs = name in PAIR_MASKS and len(mask) == query_len
                mask = mask[None, None] if pairs else mask[:, None, None]
            elif mask.dim() == 3:
                mask = mask[:, None] if len(mask) == batch else mask.unflatten(0, (batch, -1))
            keep = mask if keep is None else keep & mask
        return keep


def answers(family: Family, config: dict, chosen: Mapping[str, object]) -> tuple[Setting, ...]:
    """Answer every question of a family: by what a person chose, else by its config, else by the default.

    Raises FamilyError for an answer that is none.
    """
    plain = family.plain_config(config)
    if unknown := sorted(set(chosen) - {ask.name for ask in family.asks}):
        known = ", ".join(ask.name for ask in family.asks) or "nothing"
        raise FamilyError(f"{family.name} has nothing called {unknown[0][:40]!r} to choose: it asks for {known}")
    found = []
    for ask in family.asks:
        values = [plain[name] for name in (ask.name, *ask.aliases) if plain.get(name) is not None]
        if ask.name in chosen:
            found.append(Setting(ask, checked(ask, chosen[ask.name], "the choice"), "chosen"))
        elif values:
            found.append(Setting(ask, checked(ask, values[0], "the config"), "file"))
        else:
            found.append(Setting(ask, ask.default, "assumed"))
    return tuple(found)


def checked(ask: Ask, value: object, who: str) -> object:
    """Refuse an answer that is not of the question's kind. Raises FamilyError."""
    if isinstance(ask.default, tuple) or ask.default is None:
        wanted, fits = "a list of rising whole numbers", isinstance(value, list | tuple) and rising(value)
        value = tuple(value) if fits else value
    elif ask.options:
        wanted, fits = "one of " + ", ".join(map(repr, ask.options)), value in ask.options
    elif isinstance(ask.default, bool):
        wanted, fits = "true or false", isinstance(value, bool)
    elif isinstance(ask.default, float):
        wanted, fits = "a number above 0 and below 1", type(value) in (int, float) and 0 < value < 1
    else:
        wanted, fits = f"a whole number from {ask.least} to {1 << 20}", type(value) is int
        fits = fits and ask.least <= value <= 1 << 20
    if not fits:
        raise FamilyError(f"{who} says {ask.name}={str(value)[:40]!r}, but it must be {wanted}: correct it")
    return value


def rising(values: list | tuple) -> bool:
    numbers = all(type(value) is int and 0 < value <= 1 << 30 for value in values)
    return numbers and all(a < b for a, b in pairwise(values))


@dataclass
class Reader:
    """Take tensors out of a file, each held to its shape, and remember which were taken and which were not there.

    A tensor that is missing is stood in for by one without memory, so that all that are missing can be named at once.
    """

    tensors: Mapping[str, Tensor]
    dtype: torch.dtype
    config: dict = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)

    @property
    def shapes(self) -> Shapes:
        return shapes_of(self.tensors)

    def take(self, name: str, *shape: int | None) -> Tensor:
        """Take a tensor of a shape, None for a size that it says itself. Raises FamilyError for another shape."""
        if name not in self.tensors:
            self.missing.append(name)
            return torch.empty([1 if size is None else size for size in shape], dtype=self.dtype, device="meta")
        tensor = self.tensors[name]
        fits = len(tensor.shape) == len(shape) and all(b in (None, a) for a, b in zip(tensor.shape, shape, strict=True))
        if not fits or not tensor.is_floating_point():
            wanted = " ".join("?" if size is None else str(size) for size in shape)
            raise FamilyError(
                f"{name[:80]} is {str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}, but floats of "
                f"[{wanted}] are needed beside the other tensors: the file is damaged, or not of this family"
            )
        self.taken.add(name)
        return tensor.to(self.dtype)

    def optional(self, name: str, *shape: int | None) -> Tensor | None:
        return self.take(name, *shape) if name in self.tensors else None

    def tied(self, name: str, other: Tensor, may_be_tied: bool) -> Tensor:
        """Take a tensor that may share the numbers of `other`, and is then not stored once more."""
        return self.take(name, *other.shape) if name in self.tensors or not may_be_tied else other

    def linear(self, name: str, n_out: int | None, n_in: int | None, bias: bool = True) -> Linear:
        """Take `name`.weight [out in] and, unless the family has none there, `name`.bias [out]."""
        weight = self.take(f"{name}.weight", n_out, n_in)
        return Linear(weight, self.take(f"{name}.bias", len(weight)) if bias else None)

    def has(self, *endings: str) -> bool:
        """Say whether any name ends so: "linear_q.bias" is there under a prefix too."""
        return any(f".{name}".endswith(tuple(f".{ending}" for ending in endings)) for name in self.tensors)

    def norm(self, name: str, size: int, eps: float = 1e-5) -> Norm:
        return Norm(self.take(f"{name}.weight", size), self.take(f"{name}.bias", size), eps)

    def ignore(self, *names: str) -> None:
        """Count buffers and copies as taken, whose values follow from the rest."""
        self.taken |= {name for name in names if name in self.tensors}

    def size(self, name: str, axis: int) -> int:
        """Give one size of a tensor that must be there. Raises FamilyError for one that is not, or has no such axis."""
        shape = tuple(self.tensors[name].shape) if name in self.tensors else None
        if shape is None or not -len(shape) <= axis < len(shape) or shape[axis] < 1:
            came = "is not there" if shape is None else f"has shape {list(shape)}"
            raise FamilyError(f"{name[:80]} {came}, but its axis {axis} says a size of the model: the file is damaged")
        return shape[axis]

    def agree(self, *names: str, found: int) -> None:
        """Hold a size that the tensors say to the one in the config, whatever of `names` it has there.

        Raises FamilyError that names both.
        """
        for name in names:
            told = self.config.get(name)
            if told is not None and told != found:
                raise FamilyError(
                    f"the config says {name}={str(told)[:40]}, but the tensors say {found}: the two belong to "
                    "different models"
                )


def shapes_of(tensors: Mapping[str, Tensor]) -> Shapes:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def prefixes(names: Shapes, anchor: str) -> list[str]:
    """Give what stands before `anchor` in every name that ends in it, in the order of the layers' numbers."""
    found = [name.removesuffix(anchor) for name in names if name.endswith(anchor)]
    whole = [prefix for prefix in found if not prefix or prefix.endswith(".")]

    def by_number(prefix: str) -> list:
        parts = re.split(r"([0-9]{1,9})", prefix)
        return [int(part) if i % 2 else part for i, part in enumerate(parts)]

    return sorted(whole, key=by_number)


def layer_prefixes(names: Shapes, anchor: str) -> list[str]:
    """Do the same for the layers of one stack, gaps filled: if layer 1 of 3 lacks the anchor, it is to be missed.

    A file may hold several stacks, such as an encoder, a decoder and the encoder's running average: the longest one
    that is no copy counts, and the others stay unmatched. A layer by itself may have any number.
    """
    stacks = defaultdict(list)
    for prefix in prefixes(names, anchor):
        parts = re.fullmatch(r"(.*?)([0-9]{1,9})(\.[^0-9]*)", prefix)
        stacks[(parts[1], parts[3]) if parts else (prefix, "")].append(int(parts[2]) if parts else -1)
    if not stacks:
        return []
    (stem, tail), numbers = min(stacks.items(), key=lambda item: (bool(COPIES.search(item[0][0])), -len(item[1])))
    if not tail:
        return [stem]
    inside = re.compile(rf"{re.escape(stem)}([0-9]{{1,9}})({re.escape(tail)})?")
    parts = [found for name in names if (found := inside.match(name))]
    last = max(int(found[1]) for found in parts if found[2])
    alone = len({int(found[1]) for found in parts}) == 1
    return [f"{stem}{i}{tail}" for i in (numbers if alone or last >= LARGEST["n_layer"] else range(last + 1))]


def stem_of(layer: str) -> str:
    """Give what stands before the layers, from the name of one: "model.layers.3.attn." -> "model."."""
    return re.sub(r"[^.]*\.[0-9]+\.[^0-9]*$", "", layer)


def heads_first(weight: Tensor, n_head: int) -> Tensor:
    """Turn a projection of positions [head*d_head d_pos] into W_kR: [head d_pos d_head]."""
    return weight.unflatten(0, (n_head, -1)).transpose(1, 2)


def sines_first(w_k_pos: Tensor) -> Tensor:
    """Bring the rows of W_kR [head d_pos d_head] from sine, cosine, sine, cosine to all sines, then all cosines."""
    return torch.cat([w_k_pos[:, 0::2], w_k_pos[:, 1::2]], dim=1)


def listed(names: list[str]) -> str:
    """List names in a sentence: the first few and how many more there are."""
    shown = ", ".join(name[:80] for name in names[:LONGEST_LIST])
    return shown + (f" and {len(names) - LONGEST_LIST} more" if len(names) > LONGEST_LIST else "")
