"""The families: whose checkpoint is this, and how does it become the canonical form? One file a family.

To add one: write `families/name.py` with a `FAMILY` (how it is known, what it asks, how it is built), and put it into
`FAMILIES` below. `tests/conformance.py` holds it to numbers of its own code.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from relxl.canonical import CanonicalModel
from relxl.families import (
    article,
    espnet,
    hf_transfoxl,
    labml,
    nemo,
    speechbrain,
    txl_official,
    wav2vec2_conformer,
    xlnet,
)
from relxl.families.family import Ask, Family, FamilyError, Reader, Setting, Shapes, answers, listed, shapes_of
from relxl.families.refused import LOOK_ALIKES, reason_to_refuse

FAMILIES: tuple[Family, ...] = (  # in the order of the questions: what is asked first is the more special
    txl_official.FAMILY,
    hf_transfoxl.FAMILY,
    xlnet.FAMILY,
    labml.FAMILY,
    article.FAMILY,
    speechbrain.FAMILY,
    wav2vec2_conformer.FAMILY,
    nemo.FAMILY,
    espnet.FAMILY,
)
BY_NAME = {family.name: family for family in FAMILIES}


@dataclass(frozen=True)
class Match:
    """Hold whose file it is and by what it was known. Several families are possible where their names are the same."""

    families: tuple[Family, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Opened:
    """Hold a model in the canonical form and how it came about."""

    model: CanonicalModel
    family: Family
    match: Match
    settings: tuple[Setting, ...]
    unmatched: tuple[str, ...]  # tensors of the file that play no part


def recognise(shapes: Shapes) -> Match:
    """Tell whose file it is from its names alone. Raises FamilyError with the reason if it is nobody's."""
    reason = reason_to_refuse(shapes, LOOK_ALIKES)
    known = [(family, evidence) for family in FAMILIES if (evidence := family.known_by(shapes))]
    if known and not reason:
        return Match(*map(tuple, zip(*known, strict=True)))
    if reason := reason or reason_to_refuse(shapes):
        raise FamilyError(f"this is {reason}: relxl opens {', '.join(BY_NAME)}")
    raise FamilyError(
        f"no family is known by these {len(shapes)} names ({listed(sorted(shapes))}): relxl opens {', '.join(BY_NAME)}"
    )


def open_tensors(
    tensors: Mapping[str, Tensor],
    config: dict,
    chosen: Mapping[str, object] | None = None,
    dtype: torch.dtype = torch.float32,
) -> Opened:
    """Bring the tensors of a file into the canonical form.

    `chosen` answers questions that the file leaves open, "family" among them. Raises FamilyError for a file of no
    family, a tensor that is missing or has another shape, a config that disagrees.
    """
    match = recognise(shapes_of(tensors))
    chosen = dict(chosen or {})
    name, origin = chosen.pop("family", None), "chosen"
    if name is None and config.get("family") in BY_NAME:
        name, origin = config["family"], "file"
    family = match.families[0] if name is None else BY_NAME.get(name)
    if family not in match.families:
        possible = " or ".join(family.name for family in match.families)
        raise FamilyError(f"family {str(name)[:40]!r} was chosen, but the names in this file are those of {possible}")
    settings = answers(family, config, chosen)
    if len(match.families) > 1:
        ask = Ask("family", match.families[0].name, tuple(family.name for family in match.families))
        settings = (Setting(ask, family.name, "assumed" if name is None else origin), *settings)
    reader = Reader(tensors, dtype, config)
    try:
        model = family.build(reader, {setting.ask.name: setting.value for setting in settings})
    except (ValueError, RuntimeError, NotImplementedError) as error:
        if not reader.missing:  # else it follows from a tensor that is not there
            if isinstance(error, FamilyError) or not isinstance(error, ValueError):
                raise
            raise FamilyError(f"this is a file of {family.name}, but {error}: the file is damaged") from None
    if reader.missing:
        raise FamilyError(
            f"this is a file of {family.name}, but it lacks {listed(reader.missing)}: give the whole checkpoint"
        )
    unmatched = tuple(name for name in tensors if name not in reader.taken)
    return Opened(model, family, match, settings, unmatched)
