"""The fault bench: which check finds which fault, under the right name, and what the doctor says of healthy models."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from relxl.bench.doctor_faults import HEADS, LOSSES, MASKS, POSITIONS, WEIGHTS, Fault
from relxl.bench.doctor_references import REFERENCES
from relxl.bench.doctor_subjects import FIXTURES, healthy, healthy_names
from relxl.doctor import Finding

FAULTS: tuple[Fault, ...] = (*WEIGHTS, *POSITIONS, *MASKS, *HEADS, *LOSSES, *REFERENCES)


@dataclass(frozen=True)
class Row:
    """Hold what came of one fault, or of a healthy model."""

    name: str
    entry: str
    base: str
    wanted: str
    findings: tuple[Finding, ...]
    named: bool
    seconds: float

    @property
    def found(self) -> list[str]:
        """Give the ids of errors and warnings, and of the finding that was wanted, in their order."""
        ids = [finding.id for finding in self.findings if finding.severity != "note" or finding.id == self.wanted]
        return list(dict.fromkeys(ids))


def try_fault(fault: Fault) -> Row:
    """Inject a fault and examine what comes of it."""
    began = time.monotonic()
    findings = fault.subject().examined()
    named = any(
        finding.id == fault.finds and all(value_of(finding, name) == value for name, value in fault.detail.items())
        for finding in findings
    )
    seconds = time.monotonic() - began
    return Row(fault.name, fault.entry, fault.base, fault.finds, tuple(findings), named, seconds)


def value_of(finding: Finding, name: str) -> object:
    """Give a value of the sentence, or the place of a finding."""
    return finding.values[name] if name in finding.values else getattr(finding, name, None)


def try_healthy(name: str) -> Row:
    began = time.monotonic()
    findings = healthy(name).examined()
    errors = [finding for finding in findings if finding.severity == "error"]
    return Row("healthy", "", name, "", tuple(findings), not errors, time.monotonic() - began)


def rows(faults: tuple[Fault, ...] = FAULTS) -> Iterator[Row]:
    for fault in faults:
        yield try_fault(fault)
    for name in healthy_names():
        yield try_healthy(name)


def table_line(row: Row, widths: tuple[int, int, int]) -> str:
    mark = "ok  " if row.named else "MISS"
    others = [name for name in row.found if name != row.wanted]
    also = f"  also {', '.join(others)}" if others and row.wanted else ", ".join(others)
    name, base, wanted = (
        f"{text:{width}}" for text, width in zip((row.name, row.base, row.wanted), widths, strict=True)
    )
    return f"{mark} {row.entry:4} {name}  {base}  {wanted}{also}".rstrip()


def bench_doctor(path: Path | None = None) -> int:
    """Print the confusion table. Exit code 1 where a fault is missed or misnamed, or a healthy model has an error."""
    if not FIXTURES.is_dir():
        raise ValueError(f"{FIXTURES} is not there: the bench runs from a clone of the repository")
    torch.set_num_threads(1)  # the models are small: threads only wait for one another
    names = healthy_names()
    widths = tuple(
        max(map(len, column))
        for column in (
            [fault.name for fault in FAULTS],
            [*names, *(fault.base for fault in FAULTS)],
            [fault.finds for fault in FAULTS],
        )
    )
    done = []
    for row in rows():
        print(table_line(row, widths), flush=True)
        done.append(row)
    injected, well = [row for row in done if row.wanted], [row for row in done if not row.wanted]
    errors = sum(finding.severity == "error" for row in well for finding in row.findings)
    good = sum(row.named for row in injected)
    print(f"{good} of {len(injected)} faults found and named, {errors} errors on healthy models ({len(well)})")
    if path:
        path.write_text(json.dumps([as_dict(row) for row in done], indent=1), encoding="utf-8")
        print(f"wrote {path}")
    return 0 if good == len(injected) and not errors else 1


def as_dict(row: Row) -> dict:
    findings = [finding.as_dict() for finding in row.findings]
    parts = {name: getattr(row, name) for name in ("name", "entry", "base", "wanted", "named", "seconds")}
    return parts | {"findings": findings}
