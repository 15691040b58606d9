"""What a check finds: a kind of defect, written down once, and the place and numbers of one finding of it."""

from dataclasses import dataclass, field, replace

SEVERITIES = ("error", "warning", "note")  # the worst first


@dataclass(frozen=True)
class Finding:
    """Hold one defect at one place: what is wrong, the evidence, what to try, who met it before."""

    id: str
    severity: str  # "error", "warning" or "note"
    template: str  # the sentence before its values are put in, so that a page can translate it
    values: dict[str, object]
    advice: str
    layer: int | None = None
    head: int | None = None
    tensor: str | None = None
    evidence: dict[str, object] = field(default_factory=dict)  # numbers, and short lists of cells or rows
    report: str = ""  # a public report of the same, "kimiyoung/transformer-xl#104"
    page: str | None = None  # the page that shows it, by its name in `ui.frame`
    link: dict[str, int | str] = field(default_factory=dict)  # what to choose there, by the keys of a link

    @property
    def sentence(self) -> str:
        return self.template.format(**self.values)

    @property
    def where(self) -> str:
        """Name the place: "L3H7", "L3 u_bias", a tensor, or nothing."""
        layer = "" if self.layer is None else f"L{self.layer}"
        head = "" if self.head is None else f"H{self.head}"
        return " ".join(part for part in (layer + head, self.tensor or "") if part)

    def as_dict(self) -> dict[str, object]:
        """Give what fits into JSON."""
        return {
            "id": self.id,
            "severity": self.severity,
            "layer": self.layer,
            "head": self.head,
            "tensor": self.tensor,
            "sentence": self.sentence,
            "evidence": self.evidence,
            "advice": self.advice,
            "report": self.report,
            "page": self.page,
            "link": self.link,
        }


@dataclass(frozen=True)
class Kind:
    """Hold what all findings of one defect share."""

    id: str
    severity: str
    template: str
    advice: str
    report: str = ""
    page: str | None = None

    def at(
        self,
        layer: int | None = None,
        head: int | None = None,
        tensor: str | None = None,
        evidence: dict[str, object] | None = None,
        severity: str | None = None,
        link: dict[str, int | str] | None = None,
        **values: object,
    ) -> Finding:
        """Make a finding of this kind at a place, which the sentence may name as {layer}, {head} and {tensor}.

        `severity` replaces the kind's own where a family means it so.
        """
        named = {"layer": layer, "head": head, "tensor": tensor}
        place = {key: named[name] for key, name in (("l", "layer"), ("h", "head")) if named[name] is not None}
        return Finding(
            self.id,
            severity or self.severity,
            self.template,
            {name: value for name, value in named.items() if value is not None} | values,
            self.advice,
            layer,
            head,
            tensor,
            evidence or {},
            self.report,
            self.page,
            place | (link or {}) if self.page else {},
        )


def joined(findings: list[Finding]) -> list[Finding]:
    """Let findings that say the same of several layers stand once, at the first; the others are in its evidence."""
    kept: dict[tuple, Finding] = {}
    for finding in findings:
        said = {name: value for name, value in finding.values.items() if name not in ("layer", "head")}
        key = finding.id, finding.severity, finding.template, tuple(sorted((k, str(v)) for k, v in said.items()))
        first = kept.setdefault(key, finding)
        if first is not finding and finding.layer is not None:
            others = [*first.evidence.get("also in layers", []), finding.layer]
            kept[key] = replace(first, evidence=first.evidence | {"also in layers": others})
    return list(kept.values())


def ranked(findings: list[Finding]) -> list[Finding]:
    """Sort by severity, then by layer and head; what belongs to no place comes first."""
    first = -1

    def rank(finding: Finding) -> tuple:
        layer = first if finding.layer is None else finding.layer
        head = first if finding.head is None else finding.head
        return SEVERITIES.index(finding.severity), layer, head

    return sorted(findings, key=rank)
