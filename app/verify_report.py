"""What ``gemma-local verify`` found out, as facts, as JSON and as a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from gemma_local.app.exactness_record import MINIMUM_ROWS, Finding
from gemma_local.app.terminal import table
from gemma_local.engine.messages import Verified


@dataclass(frozen=True, slots=True)
class Comparison:
    """All prompts at one draft length in one mode: (prompt's name, what the engine found)."""

    draft: int
    results: tuple[tuple[str, Verified], ...]

    @property
    def finding(self) -> Finding:
        """The sums, as they are recorded."""
        found = [result for _, result in self.results]
        return Finding(
            draft=self.draft,
            rows=sum(result.rows for result in found),
            differing_rows=sum(result.differing_rows for result in found),
            equal_texts=all(result.equal_text for result in found),
        )

    @property
    def equal_share(self) -> float:
        """Share of prompts whose texts are equal, 0 to 1."""
        return sum(result.equal_text for _, result in self.results) / len(self.results)

    @property
    def acceptance(self) -> float | None:
        """Accepted over drafted: nothing is shown where nothing was drafted."""
        drafted = sum(result.drafted for _, result in self.results)
        return sum(result.accepted for _, result in self.results) / drafted if drafted else None

    @property
    def first(self) -> tuple[str, Verified] | None:
        """The first prompt whose text differs."""
        return next(((name, r) for name, r in self.results if not r.equal_text), None)


@dataclass(slots=True)
class ModeReport:
    """What one mode showed. ``skipped`` names prompts that were refused, with the reason."""

    mode: str
    caveats: tuple[str, ...]
    comparisons: list[Comparison] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def differs(self) -> bool:
        """Something is not the same."""
        findings = [comparison.finding for comparison in self.comparisons]
        return any(found.differing_rows or not found.equal_texts for found in findings)

    @property
    def is_proof(self) -> bool:
        """Nothing differs, at any length, and enough was compared."""
        return bool(self.comparisons) and all(c.finding.is_proof for c in self.comparisons)


def as_json(report: ModeReport) -> dict[str, object]:
    """One mode, as ``--json`` prints it."""
    return {
        "mode": report.mode,
        "differs": report.differs,
        "exact": report.mode == "exact" and report.is_proof,
        "caveats": list(report.caveats),
        "skipped": report.skipped,
        "lengths": [
            {
                **asdict(comparison.finding),
                "equal_share": comparison.equal_share,
                "acceptance": comparison.acceptance,
                "prompts": [{**asdict(result), "id": name} for name, result in comparison.results],
            }
            for comparison in report.comparisons
        ],
    }


def as_text(report: ModeReport) -> str:
    """One mode, as a person reads it."""
    header = (
        *("draft", "texts equal", "rows", "differing", "largest difference"),
        *("first at", "margin"),
    )
    rows = []
    for comparison in report.comparisons:
        finding, first = comparison.finding, comparison.first
        largest = max(result.largest_difference for _, result in comparison.results)
        at = f"{first[0]}, token {first[1].first_difference}" if first else "-"
        margin = first[1].margin if first else None
        rows.append(
            (
                str(comparison.draft),
                f"{comparison.equal_share:.0%}",
                str(finding.rows),
                str(finding.differing_rows),
                f"{largest:.3g}" if finding.differing_rows else "-",
                at,
                "-" if margin is None else f"{margin:.3g}",
            )
        )
    lines = [f"{report.mode} mode: {_verdict(report)}", table(header, rows)]
    lines += [f"note: {caveat}" for caveat in report.caveats]
    lines += [f"left out: {name}: {reason}" for name, reason in report.skipped.items()]
    return "\n".join(lines)


def _verdict(report: ModeReport) -> str:
    if report.differs:
        hint = "" if report.mode == "exact" else "; where that matters, see the exact mode"
        return f"drafting changes something{hint}"
    if not report.comparisons:
        return "nothing was compared"
    if not report.is_proof:
        return f"no difference, but fewer than {MINIMUM_ROWS} rows a length prove nothing"
    return f"no difference{'; answers may be called exact' if report.mode == 'exact' else ''}"
