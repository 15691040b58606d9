"""The doctor: what is wrong with this checkpoint, where, with what evidence, and what to try.

A check is a function from a `Case` (a checkpoint, perhaps a run of it and a captured reference) to findings; the kinds
of findings stand at the top of each file, the checks and what each cannot see in `registry.py`. docs/doctor.md says
which public report is found by which.
"""

from relxl.doctor.capture import Reference, read_reference
from relxl.doctor.case import sample_trace, stand_in
from relxl.doctor.finding import Finding
from relxl.doctor.registry import CHECKS, Check, examine

__all__ = ["CHECKS", "Check", "Finding", "Reference", "examine", "read_reference", "sample_trace", "stand_in"]
