"""The doctor's report: as text, JSON, a page of HTML, JUnit XML for a build server, and a test for a repository."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import fill
from xml.etree import ElementTree

from relxl.doctor.finding import SEVERITIES, Finding, ranked
from relxl.doctor.registry import Check

WIDTH = 110
LONGEST = 400  # characters of an evidence line


@dataclass(frozen=True)
class Report:
    """Hold what was examined and what came of every check; None for one that could not be run."""

    name: str
    family: str
    sha256: str
    read: str  # what the model was run on, in words
    checks: tuple[tuple[Check, list[Finding] | None], ...]

    @property
    def findings(self) -> list[Finding]:
        return ranked([finding for _, findings in self.checks for finding in findings or ()])

    def at_least(self, severity: str) -> list[Finding]:
        """Give the findings that are as bad as that, or worse."""
        worst = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return [finding for finding in self.findings if finding.severity in worst]

    @property
    def counts(self) -> dict[str, int]:
        return {name: sum(finding.severity == name for finding in self.findings) for name in SEVERITIES}


def as_json(report: Report) -> dict[str, object]:
    """Give the report as plain values."""
    return {
        "checkpoint": report.name,
        "family": report.family,
        "sha256": report.sha256,
        "read": report.read,
        "counts": report.counts,
        "findings": [finding.as_dict() for finding in report.findings],
        "not_run": [
            {"check": check.name, "needs": check.needs} for check, findings in report.checks if findings is None
        ],
    }


def as_text(report: Report) -> str:
    """Give the report as a person reads it in a terminal."""
    counts = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for name, count in report.counts.items())
    lines = [f"{report.name} ({report.family}) on {report.read}: {counts}", ""]
    for finding in report.findings:
        head = f"{finding.severity:8}{finding.id}" + (f"  at {finding.where}" if finding.where else "")
        lines += [head, indented(finding.sentence)]
        if finding.evidence:
            lines.append(indented("evidence: " + evidence_line(finding)))
        if finding.severity != "note":
            lines.append(indented("try: " + finding.advice))
            if finding.report:
                lines.append(indented("reported as: " + finding.report))
        lines.append("")
    skipped = {}
    for check, findings in report.checks:
        if findings is None:
            skipped.setdefault(check.needs, []).append(check.name)
    for needs, names in skipped.items():
        lines.append(fill(f"not run, for want of a {needs}: {', '.join(names)}", WIDTH))
    return "\n".join(lines).rstrip() + "\n"


def indented(text: str) -> str:
    return fill(text, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 10)


def evidence_line(finding: Finding) -> str:
    parts = [f"{name} {plain(value)}" for name, value in finding.evidence.items()]
    line = "; ".join(parts)
    return line if len(line) <= LONGEST else line[:LONGEST] + " ..."


def plain(value: object) -> str:
    """Put a value of the evidence into words: numbers short, lists in brackets."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return ", ".join(f"{name}={plain(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(plain, value)) + "]"
    return str(value)


STYLE = """
:root {color-scheme: light dark; --ink: #1b1f27; --faint: #5c6470; --line: #e3e6ea; --page: #fff;
       --error: #a3172b; --warning: #8a4b00; --note: #0b5a94}
@media (prefers-color-scheme: dark) {
  :root {--ink: #e8eaee; --faint: #a3abb8; --line: #2b313c; --page: #0f1218;
         --error: #ff8a94; --warning: #ffb35c; --note: #7cc0f5}
}
body {font: 16px/1.5 Inter, system-ui, sans-serif; color: var(--ink); background: var(--page);
      max-width: 52rem; margin: 2.5rem auto; padding: 0 1.5rem; overflow-wrap: anywhere}
h1 {font-size: 1.5rem; margin: 0} .faint {color: var(--faint); margin: .2rem 0}
article {border-top: 1px solid var(--line); padding: 1rem 0} article p {margin: .3rem 0}
.mark {font-weight: 600} .error {color: var(--error)} .warning {color: var(--warning)} .note {color: var(--note)}
table {border-collapse: collapse; width: 100%; font-size: .875rem; margin-top: .5rem}
td, th {text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-top: 1px solid var(--line)}
td:first-child {color: var(--faint); width: 34%} th {font-weight: 600}
"""
MARKS = {"error": "✕", "warning": "▲", "note": "●"}  # beside the word and the colour
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def as_html(report: Report) -> str:
    """Give the report as one HTML file that loads nothing and runs nothing; it follows the reader's light or dark."""
    counts = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for name, count in report.counts.items())
    checks = "".join(
        f"<tr><td>{escape(check.name)}</td><td>{'not run' if findings is None else len(findings)}</td>"
        f"<td>{escape(check.blind_spot)}</td></tr>"
        for check, findings in report.checks
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width">'
        f"<title>{escape(report.name)}: {counts}</title><style>{STYLE}</style></head><body>\n"
        f"<h1>{escape(report.name)}: {counts}</h1>"
        f'<p class="faint">{escape(report.family)}, on {escape(report.read)}</p>'
        f'<p class="faint">sha256 {escape(report.sha256)}</p>\n'
        + "\n".join(map(article, report.findings))
        + f"\n<article><p class=mark>What was checked, and what each check cannot see</p>"
        f"<table><tr><th>check<th>findings<th>cannot see</tr>{checks}</table></article></body></html>\n"
    )


def article(finding: Finding) -> str:
    """Give one finding as HTML, with its evidence as a table."""
    mark = f"{MARKS[finding.severity]} {finding.severity}"
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(plain(value))}</td></tr>" for name, value in finding.evidence.items()
    )
    reported = f" · reported as {escape(finding.report)}" if finding.report else ""
    return (
        f'<article><p><span class="mark {finding.severity}">{mark}</span> <b>{escape(finding.where)}</b> '
        f'<span class="faint">{escape(finding.id)}</span></p><p>{escape(finding.sentence)}</p>'
        f'<p class="faint">Try: {escape(finding.advice)}{reported}</p>'
        + (f"<table>{rows}</table>" if rows else "")
        + "</article>"
    )


def as_junit(report: Report, fail_on: str) -> bytes:
    """Give the report as JUnit XML: a test case a check, which fails where a finding is as bad as `fail_on`."""
    bad = report.at_least(fail_on)
    suite = ElementTree.Element("testsuite", name="relxl doctor")
    failures = skipped = 0
    for check, findings in report.checks:
        case = ElementTree.SubElement(suite, "testcase", classname=f"relxl.doctor.{report.name}", name=check.name)
        if findings is None:
            ElementTree.SubElement(case, "skipped", message=f"needs a {check.needs}")
            skipped += 1
            continue
        failing = [finding for finding in findings if finding in bad]
        for finding in failing:
            failure = ElementTree.SubElement(case, "failure", message=printable(finding.sentence), type=finding.id)
            failure.text = printable(f"{finding.where}\n{evidence_line(finding)}\ntry: {finding.advice}")
        failures += bool(failing)
        others = [f"{finding.severity}: {finding.sentence}" for finding in findings if finding not in failing]
        if others:
            ElementTree.SubElement(case, "system-out").text = printable("\n".join(others))
    suite.attrib |= {"tests": str(len(report.checks)), "failures": str(failures), "skipped": str(skipped)}
    return ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)


def printable(text: str) -> str:
    """Leave out what XML 1.0 can not hold: names in a file may have any character."""
    return "".join(
        c for c in text if c in "\n\t" or (ord(c) >= 32 and not 0xD800 <= ord(c) < 0xE000 and ord(c) < 0xFFFE)
    )


TEST = '''"""Fails while relxl's doctor finds again what it found here. Written by `relxl doctor --emit-test`."""

import json
import subprocess
import sys

import pytest

COMMAND = {command}
FOUND = {found}


@pytest.fixture(scope="module")
def findings():
    done = subprocess.run([sys.executable, "-m", "relxl", "doctor", *COMMAND], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)["findings"]


@pytest.mark.parametrize("name", FOUND)
def test_the_doctor_does_not_find(findings, name):
    again = [finding for finding in findings if finding["id"] == name]
    assert not again, again[0]["sentence"]
{rest}'''
NOTHING = """

def test_the_doctor_finds_nothing_as_bad(findings):
    worse = [finding for finding in findings if finding["severity"] in {severities}]
    assert not worse, worse[0]["sentence"]
"""


def as_test(report: Report, command: Sequence[str], fail_on: str) -> str:
    """Write a test file that runs the doctor on the same files and fails on each finding of now.

    `command` is what follows `relxl doctor`. Where nothing is as bad as `fail_on`, the test is that nothing becomes so.
    """
    found = list(dict.fromkeys(finding.id for finding in report.at_least(fail_on)))
    severities = list(SEVERITIES[: SEVERITIES.index(fail_on) + 1])
    rest = "" if found else NOTHING.format(severities=json.dumps(severities))
    return TEST.format(command=json.dumps(list(command), ensure_ascii=False), found=json.dumps(found), rest=rest)
