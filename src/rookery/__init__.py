"""Rookery runs coding agents headless and shows, records and accounts for everything they do.

run = rookery.run_sync("claude", "Fix the failing tests", max_cost=2)
print(run.verdict, run.text, run.cost)

docs/library.md describes what is here. `rookery.events`, `rookery.adapter` and `rookery.testing`
are public too; every other module may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rookery.adapter.agent import Agent
    from rookery.agents import decoder, output_flags, parser_for
    from rookery.api import run, run_sync
    from rookery.archive.cost import cost
    from rookery.archive.report.figures import CostReport, CostRow
    from rookery.feed.answers import final_text, is_complete
    from rookery.feed.decode_async import decode_async
    from rookery.feed.decode_run import decode
    from rookery.loop_api import loop
    from rookery.loops.driver import Loop
    from rookery.loops.start import BadPlanError
    from rookery.model.errors import (
        AmbiguousRunError,
        BadRunNameError,
        ConfigError,
        DamagedRunError,
        NewerRunError,
        OptionError,
        RookeryError,
        RunFolderError,
        UndetectedAgentError,
        UnknownAgentError,
        UnknownRunError,
        UnreadableSourceError,
        UnsafeRunError,
        UnsupportedError,
    )
    from rookery.model.events import Event
    from rookery.model.questions import Ask, Decision
    from rookery.model.records import Decoder, Record, dump, load, schema
    from rookery.model.snapshot import Snapshot
    from rookery.model.verdict import Verdict
    from rookery.runs.listing import ListedRun, list_runs
    from rookery.runs.resume import NoSessionError
    from rookery.runs.run import Run
    from rookery.runs.start import CannotAskError

_HOMES = {
    "Agent": "rookery.adapter.agent",
    "AmbiguousRunError": "rookery.model.errors",
    "Ask": "rookery.model.questions",
    "BadPlanError": "rookery.loops.start",
    "BadRunNameError": "rookery.model.errors",
    "CannotAskError": "rookery.runs.start",
    "ConfigError": "rookery.model.errors",
    "CostReport": "rookery.archive.report.figures",
    "CostRow": "rookery.archive.report.figures",
    "DamagedRunError": "rookery.model.errors",
    "Decision": "rookery.model.questions",
    "Decoder": "rookery.model.records",
    "Event": "rookery.model.events",
    "ListedRun": "rookery.runs.listing",
    "Loop": "rookery.loops.driver",
    "NewerRunError": "rookery.model.errors",
    "NoSessionError": "rookery.runs.resume",
    "OptionError": "rookery.model.errors",
    "Record": "rookery.model.records",
    "RookeryError": "rookery.model.errors",
    "Run": "rookery.runs.run",
    "RunFolderError": "rookery.model.errors",
    "Snapshot": "rookery.model.snapshot",
    "UndetectedAgentError": "rookery.model.errors",
    "UnknownAgentError": "rookery.model.errors",
    "UnknownRunError": "rookery.model.errors",
    "UnreadableSourceError": "rookery.model.errors",
    "UnsafeRunError": "rookery.model.errors",
    "UnsupportedError": "rookery.model.errors",
    "Verdict": "rookery.model.verdict",
    "cost": "rookery.archive.cost",
    "decode": "rookery.feed.decode_run",
    "decode_async": "rookery.feed.decode_async",
    "decoder": "rookery.agents",
    "dump": "rookery.model.records",
    "final_text": "rookery.feed.answers",
    "is_complete": "rookery.feed.answers",
    "list_runs": "rookery.runs.listing",
    "load": "rookery.model.records",
    "loop": "rookery.loop_api",
    "output_flags": "rookery.agents",
    "parser_for": "rookery.agents",
    "run": "rookery.api",
    "run_sync": "rookery.api",
    "schema": "rookery.model.records",
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
    "ListedRun",
    "Loop",
    "NewerRunError",
    "NoSessionError",
    "OptionError",
    "Record",
    "RookeryError",
    "Run",
    "RunFolderError",
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
