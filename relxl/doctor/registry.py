"""Every check there is, what it needs, and what it cannot see."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from relxl.checkpoint import Checkpoint
from relxl.doctor import biases, config, heads, loss, masks, positions, precision, reference, shifts, weights
from relxl.doctor.capture import Reference
from relxl.doctor.case import Case
from relxl.doctor.finding import Finding, joined, ranked
from relxl.trace import Trace

NEEDS = ("weights", "trace", "text", "tokens", "sample", "reference")


@dataclass(frozen=True)
class Check:
    """Hold a check: what it looks at, and in one sentence what it cannot see."""

    name: str
    needs: str  # "weights"; "trace" (any run); "text" (a run on no noise); "tokens" (such a run, on tokens); "sample";
    # "reference"
    function: Callable[[Case], list[Finding]]

    @property
    def blind_spot(self) -> str:
        """Give what stands after "Cannot see:" in the docstring of the check."""
        return self.function.__doc__.split("Cannot see: ")[1].split("\n")[0]

    @property
    def sees(self) -> str:
        return self.function.__doc__.split(" Cannot see: ")[0]


CHECKS: tuple[Check, ...] = (
    Check("weights.numbers", "weights", weights.check_numbers),
    Check("weights.zeros", "weights", weights.check_zeros),
    Check("weights.initial", "weights", weights.check_initial),
    Check("weights.duplicates", "weights", weights.check_duplicates),
    Check("biases.values", "weights", biases.check_values),
    Check("biases.copies", "weights", biases.check_copies),
    Check("positions.untrained", "weights", positions.check_untrained),
    Check("positions.mirrored", "weights", positions.check_mirrored),
    Check("positions.plateau", "weights", positions.check_plateau),
    Check("positions.frequencies", "weights", positions.check_frequencies),
    Check("config.assumed", "weights", config.check_assumed),
    Check("config.unmatched", "weights", config.check_unmatched),
    Check("config.batch", "trace", config.check_batch),
    Check("positions.reach", "trace", positions.check_reach),
    Check("positions.dead", "trace", positions.check_dead),
    Check("shift.map", "trace", shifts.check_map),
    Check("shift.absolute", "trace", shifts.check_absolute),
    Check("masks.causality", "trace", masks.check_causality),
    Check("masks.fill", "trace", masks.check_fill),
    Check("masks.empty", "trace", masks.check_empty),
    Check("masks.window", "trace", masks.check_window),
    Check("memory.unwritten", "trace", masks.check_unwritten),
    Check("precision", "trace", precision.check_precision),
    Check("memory.repeated", "text", masks.check_repeated),
    Check("heads", "text", heads.check_heads),
    Check("loss.sample", "sample", loss.check_sample),
    Check("loss.future", "tokens", loss.check_future),
    Check("loss.memory", "tokens", loss.check_memory),
    Check("loss.sheet", "tokens", loss.check_sheet),
    Check("reference", "reference", reference.check_reference),
)


def available(case: Case, noise: bool = False) -> dict[str, bool]:
    """Say of each of NEEDS whether a case has it. A trace of noise is no text."""
    sample = case.checkpoint.training.get("sample")
    text = case.trace is not None and not noise
    return {
        "weights": True,
        "trace": case.trace is not None,
        "text": text,
        "tokens": text and case.tokens is not None,
        "sample": bool(sample) and case.checkpoint.vocab is not None,
        "reference": case.reference is not None,
    }


def examine(
    checkpoint: Checkpoint, trace: Trace | None = None, reference: Reference | None = None, noise: bool = False
) -> list[Finding]:
    """Run every check that has what it needs; the worst findings first.

    `trace` is a run of the checkpoint's model; `noise` says that it read no real text. A check that raises is a defect
    of ours and is not hidden.
    """
    found = examine_each(checkpoint, trace, reference, noise)
    return ranked([finding for _, findings in found for finding in findings or ()])


def examine_each(
    checkpoint: Checkpoint, trace: Trace | None = None, reference: Reference | None = None, noise: bool = False
) -> Iterator[tuple[Check, list[Finding] | None]]:
    """Run the checks one by one; None for one that lacks what it needs."""
    case = Case(checkpoint, trace, reference)
    has = available(case, noise)
    for check in CHECKS:
        yield check, joined(check.function(case)) if has[check.needs] else None


def compare(checkpoint: Checkpoint, captured: Reference) -> list[Finding]:
    """Run the checks that compare with a captured run, and no others. Raises ValueError for one of another model."""
    case = Case(checkpoint, None, captured)
    return ranked([found for check in CHECKS if check.needs == "reference" for found in joined(check.function(case))])
