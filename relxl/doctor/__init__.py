"""The doctor: what is wrong with this checkpoint, where, with what evidence, and what to try."""

from relxl.doctor.capture import Reference, read_reference
from relxl.doctor.case import sample_trace, stand_in
from relxl.doctor.finding import Finding
from relxl.doctor.registry import CHECKS, Check, examine

__all__ = ["CHECKS", "Check", "Finding", "Reference", "examine", "read_reference", "sample_trace", "stand_in"]
