"""The report of one run, from its verdict and its folded stream."""

from collections.abc import Collection

from nightrook.display.ending import warnings
from nightrook.display.event_lines import allowing_option
from nightrook.display.reports.report import (
    RUNNING,
    Report,
    ReportedDenial,
    ReportedFile,
)
from nightrook.model.ending import Ending
from nightrook.model.state import RunState
from nightrook.model.status import Outcome
from nightrook.model.text import relative


def run_report(
    name: str,
    ending: Ending[Outcome] | None,
    *,
    state: RunState,
    agent: str | None = None,
    prompt: str | None = None,
    answer: str | None = None,
    answer_file: str | None = None,
) -> Report:
    """Report a run; without an ending it is running. `prompt` may be the command of a program."""
    ledger = state.ledger
    return Report(
        kind="run",
        name=name,
        status=ending.status if ending else RUNNING,
        ok=ending is not None and ending.ok,
        exit_code=ending.exit_code if ending else None,
        sentence=ending.sentence if ending else "",
        prompt=prompt,
        agent=agent,
        model=state.model,
        duration_s=ending.duration_s if ending else None,
        spent_usd=ledger.spent_usd,
        cost_source=ledger.cost.source,
        cost_at_least=ledger.cost.at_least,
        tokens=ledger.tokens.total if ledger.has_usage else None,
        turns=state.steps,
        tools=state.tool_counts,
        files=reported_files(state),
        denials=_denials(state, ending.facts.person.denied_by_person if ending else ()),
        errors=tuple(error.message or error.kind for error in state.errors),
        warnings=tuple(warnings(ending)) if ending else (),
        answer=answer,
        answer_file=answer_file,
    )


def reported_files(state: RunState) -> tuple[ReportedFile, ...]:
    """The files that an agent reported as changed."""
    return tuple(
        ReportedFile(path=relative(path, state.cwd), added=file.added, removed=file.removed)
        for path, file in state.files.items()
    )


def _denials(state: RunState, by_person: Collection[str]) -> tuple[ReportedDenial, ...]:
    """The denied calls; one that was denied several times, once."""
    fixes = (
        (denial.name or "a tool", None if id in by_person else denial.fix)
        for id, denial in state.denials.items()
    )
    denials = (
        ReportedDenial(tool=tool, allow=allowing_option(fix) if fix else None)
        for tool, fix in fixes
    )
    return tuple(dict.fromkeys(denials))
