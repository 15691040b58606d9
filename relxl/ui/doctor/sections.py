"""The sections of the page "Doctor": what is wrong, the worst first, and what was looked at and could not be seen."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from relxl.doctor import Check, Finding, Reference, read_reference
from relxl.doctor.finding import SEVERITIES
from relxl.doctor.registry import compare, examine_each
from relxl.doctor.report import Report, as_html, as_json, as_junit
from relxl.language import _, translated
from relxl.trace import Trace
from relxl.ui.chooser import default_text, text_key
from relxl.ui.demo import no_uploads
from relxl.ui.doctor.evidence import open_place, show_evidence
from relxl.ui.library import HIDDEN, places, store
from relxl.ui.show import escape, plain, said, shown
from relxl.ui.speak import in_english
from relxl.ui.state import chips, kept_values, pick
from relxl.ui.view import Source, View, cached_checkpoint, cached_trace
from relxl.vocab import IdVocab

Checked = tuple[tuple[Check, list[Finding] | None], ...]
MOST_FINDINGS = 60  # on the page; a report has all
LONGEST_SENTENCE = 600
MARKS = {"error": ("red", "error"), "warning": ("orange", "warning"), "note": ("blue", "info")}  # colour, icon
ALL = "all"


@dataclass(frozen=True)
class Examined:
    """Hold what came of every check, and the run that they read."""

    report: Report
    trace: Trace
    about: str  # why a captured run was not compared, if it was not

    @property
    def findings(self) -> list[Finding]:
        """Give what the captured run says first, then the rest; each with its worst first."""
        every = self.report.findings
        captured = [finding for finding in every if finding.id.startswith("reference.")]
        return captured + [finding for finding in every if finding not in captured]


def examined(view: View) -> Examined:
    """Run every check on what is looked at, or find what came of them."""
    source, noise = view.source._replace(mix=None), is_noise(view)
    about, found = "", None
    with st.spinner(_("Examining {name}").format(name=escape(view.checkpoint.name)), show_time=True):
        checks = cached_checks(source, noise)
        if "reference" in st.session_state:
            try:
                found = cached_comparison(source.checkpoint, *st.session_state.reference)
            except (ValueError, OSError) as error:
                about = said(error)
    checks = tuple((check, found if check.needs == "reference" else its) for check, its in checks)
    checkpoint, trace = view.checkpoint, cached_trace(source)
    read = in_english(read_words, view, trace, noise)
    return Examined(
        Report(checkpoint.name, checkpoint.opened.family.name, checkpoint.digest, read, checks), trace, about
    )


@st.cache_resource(max_entries=24, show_spinner=False)
def cached_checks(source: Source, noise: bool) -> Checked:
    return tuple(examine_each(cached_checkpoint(source.checkpoint), cached_trace(source), None, noise))


@st.cache_resource(max_entries=8, show_spinner=False)
def cached_reference(path: str) -> Reference:
    return read_reference(Path(path))


@st.cache_resource(max_entries=8, show_spinner=False)
def cached_comparison(source: Source, path: str, label: str) -> list[Finding]:
    return compare(cached_checkpoint(source), cached_reference(path))


def is_noise(view: View) -> bool:
    """Say whether the run read nothing that anybody wrote: random frames, or random tokens where none are known."""
    checkpoint = view.checkpoint
    if not checkpoint.config.n_token:
        return not view.source.hidden
    if "sample" in checkpoint.training and not isinstance(checkpoint.vocab, IdVocab):
        return False
    return kept_values().get(text_key(checkpoint)) == default_text(checkpoint)


def read_words(view: View, trace: Trace, noise: bool) -> str:
    """Say what the model was run on, as the reports have it."""
    tokens = view.checkpoint.config.n_token
    if noise:
        text = _("{n} random tokens") if tokens else _("{n} random frames")
        return text.format(n=trace.key_len) + _(", which tell nothing of heads and losses")
    text = _("{n} tokens of the text, {memory} of them memory") if tokens else _("{n} frames, {memory} of them memory")
    return text.format(n=trace.key_len, memory=trace.mem_len)


# The findings --------------------------------------------------------------------------------------------------------


def counted(severity: str, n: int) -> str:
    """Count findings in words."""
    one = {"error": _("1 error"), "warning": _("1 warning"), "note": _("1 note")}
    many = {"error": _("{n} errors"), "warning": _("{n} warnings"), "note": _("{n} notes")}
    return one[severity] if n == 1 else many[severity].format(n=n)


def finding_line(found: Examined) -> str:
    """Say in one sentence how it stands: the counts and the worst, or that nothing is wrong and how many checks ran."""
    counts, ran = found.report.counts, sum(findings is not None for _check, findings in found.report.checks)
    told = _(", ").join(counted(name, n) for name, n in counts.items() if n)
    if counts["error"]:
        worst = next(finding for finding in found.findings if finding.severity == "error")
        return f"**{told}{_(':')}** {sentence(worst)}"
    healthy = _("**{n} checks ran and found no error.**").format(n=ran)
    return healthy + (f" {told}{_('.')}" if told else "")


def sentence(finding: Finding) -> str:
    """Give a finding's sentence as a line of markdown; names in it come from a file."""
    values = {name: translated(value) if isinstance(value, str) else value for name, value in finding.values.items()}
    return shown(_(finding.template).format(**values), LONGEST_SENTENCE)


def mark(severity: str) -> str:
    """Show how bad a finding is: by a word, a colour and an icon."""
    names = {"error": _("error"), "warning": _("warning"), "note": _("note")}
    colour, icon = MARKS[severity]
    return f":{colour}-badge[:material/{icon}: {names[severity]}]"


def summary(view: View, found: Examined) -> None:
    """Draw the line that says how it stands, and what it was read on."""
    st.markdown(finding_line(found))
    read = read_words(view, found.trace, is_noise(view))
    st.caption(_("Examined: {name}, on {read}.").format(name=shown(view.checkpoint.name), read=read))
    if found.about:
        st.warning(escape(found.about))


def presets() -> None:
    """Offer a checkpoint with a defect, and one without."""
    offered = {
        _("Trained to see the future"): {"ck": "shakespeare-leaky", "a": "", "ds": ALL},
        _("A sound one"): {"ck": "shakespeare-learned", "a": "", "ds": ALL},
        _("Absolute positions"): {"ck": "shakespeare-absolute", "a": "", "ds": ALL},
    }
    there = places()
    if offered := {name: values for name, values in offered.items() if values["ck"] in there}:
        chips(_("Try this:"), offered, "doctor_preset")


def findings(view: View, found: Examined) -> None:
    """Draw the findings, the worst first, each with its evidence behind a click; the first is open."""
    counts = found.report.counts
    names = {ALL: _("All")} | {name: counted(name, n) for name, n in counts.items()}
    severity = pick("ds", _("Severity"), [ALL, *SEVERITIES], names)
    listed = [finding for finding in found.findings if severity in (ALL, finding.severity)]
    if not listed:
        st.markdown(_("None of this severity.") if found.findings else _("Nothing was found."))
    for place, finding in enumerate(listed[:MOST_FINDINGS]):
        draw_finding(view, found, finding, place)
    if len(listed) > MOST_FINDINGS:
        message = _("The first {n} of {all}; the reports below have them all.")
        st.caption(message.format(n=MOST_FINDINGS, all=len(listed)))


def draw_finding(view: View, found: Examined, finding: Finding, place: int) -> None:
    """Draw one finding: its mark, where, what, what to try, who met it before, and its evidence."""
    said = finding.sentence.startswith(finding.where)  # the sentence begins with the place itself
    where = "" if said else f" **{shown(finding.where)}** ·"
    key = re.sub(r"\W", "_", f"{view.checkpoint.digest[:8]}_{finding.id}_{finding.where}_{place}")
    with st.container(gap="small"):
        st.markdown(f"{mark(finding.severity)}{where} {sentence(finding)}")
        advice = _("Try: {advice}").format(advice=shown(_(finding.advice), LONGEST_SENTENCE))
        reported = _("Reported as {report}").format(report=shown(finding.report)) if finding.report else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(" · ".join(part for part in (advice, reported) if part))
            open_place(finding, key)
        label = _("Evidence of {id}").format(id=shown(finding.id))
        box = st.expander(label, expanded=place == 0, key=f"evidence_{key}", on_change="rerun")
        if box.open:  # what is closed is not drawn
            with box:
                show_evidence(view, found.trace, finding, key)


# What stands below them ----------------------------------------------------------------------------------------------


def checks(found: Examined) -> None:
    """List every check: what came of it, and what it can not see."""
    lines = [f"| {_('check')} | {_('found')} | {_('looks at')} | {_('cannot see')} |", "|---|---|---|---|"]
    for check, its in found.report.checks:
        came = _("not run") if its is None else str(len(its)) if its else "–"
        cells = [check.name, came, _(check.sees), _(check.blind_spot)]
        lines.append("| " + " | ".join(shown(plain(cell), LONGEST_SENTENCE) for cell in cells) + " |")
    with st.expander(_("What was checked, and what each check cannot see")):
        st.markdown("\n".join(lines))


def reference_box() -> None:
    """Take a captured run of a person's own code, and compare with it from now on; what is wrong is one sentence."""
    if no_uploads():
        return
    turn = st.session_state.setdefault("reference_turn", 0)
    help = _(
        "An .npz or .safetensors of your own run: `probs.{layer}` or `logits.{layer}` [batch head query key], and what "
        "went in, `tokens` or `hidden`. The first tensor that disagrees is named, and what makes it agree."
    )
    types = [name[1:] for name in HIDDEN]
    file = st.file_uploader(_("Compare with a run of your own"), type=types, key=f"reference_{turn}", help=help)
    if file is not None:
        st.session_state.reference_turn += 1
        suffix = Path(file.name).suffix.lower()
        path = None
        try:
            path = store().put([(f"reference{suffix if suffix in HIDDEN else '.npz'}", file.getvalue())])
            kept = str(next(path.iterdir()))
            cached_reference(kept)
            st.session_state.reference = (kept, file.name[:80])
            st.session_state.pop("reference_error", None)
        except (ValueError, OSError) as error:
            if path is not None:
                store().remove(path)
            st.session_state.reference_error = said(error)
        st.rerun()
    if "reference_error" in st.session_state:
        st.error(escape(st.session_state.reference_error))
    if "reference" in st.session_state:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(_("Compared with {name}").format(name=shown(st.session_state.reference[1])), width="content")
            if st.button(_("Leave it out")):
                del st.session_state.reference
                st.rerun()


def downloads(found: Examined) -> None:
    """Offer the report for a person, for a program and for a build server."""
    report = found.report
    name = f"relxl_doctor_{report.sha256[:16]}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button("HTML", lambda: as_html(report), f"{name}.html", "text/html", on_click="ignore")
        text = lambda: json.dumps(as_json(report), ensure_ascii=False, indent=1)  # noqa: E731
        st.download_button(_("JSON"), text, f"{name}.json", "application/json", on_click="ignore")
        junit = lambda: as_junit(report, "error")  # noqa: E731
        st.download_button(_("JUnit"), junit, f"{name}.xml", "application/xml", on_click="ignore")
        st.caption(_("The whole report: one page that needs no network, plain values, or a test case a check."))
