"""The report of a run, a loop, a batch or a session: one value for every format and place."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from nightrook.model.ledger import Money, Source
from nightrook.model.safe import safe
from nightrook.model.snapshot import ToolCounts
from nightrook.model.text import cut

Kind = Literal["run", "loop", "batch", "session"]

RUNNING = "running"
"""The status of a run, loop or batch that has not ended."""


class ReportedDenial(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call that was denied."""

    tool: str
    allow: str | None = None
    """The option of `rook run` that would allow it."""


class ReportedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that the agent reported as changed."""

    path: str
    added: int | None = None
    removed: int | None = None


class ReportedCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A check of a loop."""

    command: str
    ok: bool
    duration_s: float = 0.0
    output: str = ""


class ReportedPart(msgspec.Struct, frozen=True, kw_only=True):
    """An iteration of a loop, or a task of a batch."""

    name: str
    status: str
    ok: bool
    sentence: str = ""
    run: str | None = None
    loop: str | None = None
    duration_s: float | None = None
    spent_usd: float | None = None
    cost_source: Source = "unknown"
    checks: tuple[ReportedCheck, ...] = ()
    answer: str | None = None

    @property
    def cost(self) -> Money:
        """Cost, and how certain it is."""
        return Money(self.spent_usd, self.cost_source)


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run, a loop, a batch or a stored session. Unknown fields are None."""

    kind: Kind
    name: str
    status: str
    ok: bool
    exit_code: int | None = None
    """The exit code of the command; None while it is running."""

    sentence: str = ""
    prompt: str | None = None
    agent: str | None = None
    model: str | None = None
    duration_s: float | None = None
    spent_usd: float | None = None
    cost_source: Source = "unknown"
    cost_at_least: bool = False
    unknown_costs: int = 0
    """The number of its parts that reported no cost."""

    tokens: int | None = None
    turns: int | None = None
    tools: ToolCounts | None = None
    files: tuple[ReportedFile, ...] = ()
    denials: tuple[ReportedDenial, ...] = ()
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    parts: tuple[ReportedPart, ...] = ()
    planned: int | None = None
    """The number of planned parts; None if it is not known before the end."""

    answer: str | None = None
    answer_file: str | None = None

    @property
    def is_running(self) -> bool:
        """True until it has ended."""
        return self.status == RUNNING

    @property
    def has_started(self) -> bool:
        """True if it, or one of its parts, has run, so that it can have cost something."""
        statuses = [part.status for part in self.parts] or [self.status]
        return any(status != "not_started" for status in statuses)

    @property
    def cost(self) -> Money:
        """Cost, and how certain it is."""
        return Money(self.spent_usd, self.cost_source, self.cost_at_least)


def cleaned(report: Report, redact: Callable[[str], str]) -> Report:
    """Remove secrets and control characters from all texts of a report.

    Secrets are replaced first: text that is cut later may end in the middle of one.
    """

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return safe(redact(value))  # guards: report-redacted, report-no-control-characters
        if isinstance(value, dict):
            return {key: clean(each) for key, each in value.items()}
        return tuple(map(clean, value)) if isinstance(value, tuple) else value

    return msgspec.convert(clean(msgspec.to_builtins(report)), Report)


_LONGEST_ANSWER = 60_000  # characters; the outputs of a job on GitHub may have 1 MB

ENDED = "ROOK_ENDED"
"""Set for commands called at the end: a rook that they start calls none at its own end."""


def values(report: Report) -> dict[str, str]:
    """Return the values by name; unknown ones are empty."""
    cost = report.spent_usd
    return {
        "status": report.status,
        "exit_code": "" if report.exit_code is None else str(report.exit_code),
        "kind": report.kind,
        "name": report.name,
        "cost_usd": "" if cost is None else f"{cost:.6f}",
        "answer_file": report.answer_file or "",
    }


def with_answer(report: Report) -> dict[str, str]:
    """The values and the answer, which may have many lines."""
    return {**values(report), "answer": cut(report.answer or "", _LONGEST_ANSWER)}


def variables(report: Report) -> dict[str, str]:
    """The values as environment variables: `ROOK_STATUS` and so on."""
    return {f"ROOK_{name.upper()}": value for name, value in values(report).items()}
