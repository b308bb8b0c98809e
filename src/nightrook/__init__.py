"""Nightrook runs coding agents headless and shows, records and accounts for everything they do.

run = nightrook.run_sync("claude", "Fix the failing tests", max_cost=2)
print(run.verdict, run.text, run.cost)

docs/library.md describes what is here. `nightrook.events`, `nightrook.adapter` and
`nightrook.testing` are public too; every other module may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nightrook.version import __version__

if TYPE_CHECKING:
    from nightrook.adapter.agent import Agent
    from nightrook.agents import decoder, output_flags, parser_for
    from nightrook.archive.cost import cost
    from nightrook.archive.report.figures import CostReport, CostRow
    from nightrook.keywords import LoopKeywords, RunKeywords
    from nightrook.loop_api import loop
    from nightrook.loops.loop import Loop
    from nightrook.loops.start import BadPlanError
    from nightrook.model.errors import (
        AmbiguousRunError,
        BadRunNameError,
        ConfigError,
        DamagedRunError,
        NewerRunError,
        NightrookError,
        OptionError,
        RunFolderError,
        UndetectedAgentError,
        UnknownAgentError,
        UnknownRunError,
        UnreadableSourceError,
        UnsafeRunError,
        UnsupportedError,
    )
    from nightrook.model.events import Event
    from nightrook.model.questions import Ask, Decision
    from nightrook.model.records import Decoder, Record, dump, load, schema
    from nightrook.model.snapshot import Snapshot
    from nightrook.model.verdict import Verdict
    from nightrook.run_api import run, run_sync
    from nightrook.runs.listing import list_runs
    from nightrook.runs.resume import NoSessionError
    from nightrook.runs.run import Run
    from nightrook.runs.start import CannotAskError
    from nightrook.story.decode import decode
    from nightrook.story.decode_async import decode_async
    from nightrook.story.final_answer import final_text, is_complete

_HOMES = {
    "Agent": "nightrook.adapter.agent",
    "AmbiguousRunError": "nightrook.model.errors",
    "Ask": "nightrook.model.questions",
    "BadPlanError": "nightrook.loops.start",
    "BadRunNameError": "nightrook.model.errors",
    "CannotAskError": "nightrook.runs.start",
    "ConfigError": "nightrook.model.errors",
    "CostReport": "nightrook.archive.report.figures",
    "CostRow": "nightrook.archive.report.figures",
    "DamagedRunError": "nightrook.model.errors",
    "Decision": "nightrook.model.questions",
    "Decoder": "nightrook.model.records",
    "Event": "nightrook.model.events",
    "Loop": "nightrook.loops.loop",
    "LoopKeywords": "nightrook.keywords",
    "NewerRunError": "nightrook.model.errors",
    "NoSessionError": "nightrook.runs.resume",
    "OptionError": "nightrook.model.errors",
    "Record": "nightrook.model.records",
    "NightrookError": "nightrook.model.errors",
    "Run": "nightrook.runs.run",
    "Row": "nightrook.store.list",
    "RunKeywords": "nightrook.keywords",
    "RunFolderError": "nightrook.model.errors",
    "Snapshot": "nightrook.model.snapshot",
    "UndetectedAgentError": "nightrook.model.errors",
    "UnknownAgentError": "nightrook.model.errors",
    "UnknownRunError": "nightrook.model.errors",
    "UnreadableSourceError": "nightrook.model.errors",
    "UnsafeRunError": "nightrook.model.errors",
    "UnsupportedError": "nightrook.model.errors",
    "Verdict": "nightrook.model.verdict",
    "cost": "nightrook.archive.cost",
    "decode": "nightrook.story.decode",
    "decode_async": "nightrook.story.decode_async",
    "decoder": "nightrook.agents",
    "dump": "nightrook.model.records",
    "final_text": "nightrook.story.final_answer",
    "is_complete": "nightrook.story.final_answer",
    "list_runs": "nightrook.runs.listing",
    "load": "nightrook.model.records",
    "loop": "nightrook.loop_api",
    "output_flags": "nightrook.agents",
    "parser_for": "nightrook.agents",
    "run": "nightrook.run_api",
    "run_sync": "nightrook.run_api",
    "schema": "nightrook.model.records",
}
"""The module of each public name; it is imported when the name is first used."""

__all__ = [
    "Agent",
    "AmbiguousRunError",
    "Ask",
    "BadPlanError",
    "BadRunNameError",
    "CannotAskError",
    "ConfigError",
    "CostReport",
    "CostRow",
    "DamagedRunError",
    "Decision",
    "Decoder",
    "Event",
    "Loop",
    "LoopKeywords",
    "NewerRunError",
    "NightrookError",
    "NoSessionError",
    "OptionError",
    "Record",
    "Row",
    "Run",
    "RunFolderError",
    "RunKeywords",
    "Snapshot",
    "UndetectedAgentError",
    "UnknownAgentError",
    "UnknownRunError",
    "UnreadableSourceError",
    "UnsafeRunError",
    "UnsupportedError",
    "Verdict",
    "__version__",
    "cost",
    "decode",
    "decode_async",
    "decoder",
    "dump",
    "final_text",
    "is_complete",
    "list_runs",
    "load",
    "loop",
    "output_flags",
    "parser_for",
    "run",
    "run_sync",
    "schema",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
