"""Rookery runs coding agents headless and shows, records and accounts for everything they do.

for record in rookery.decode("session.jsonl"):
    print(record.seq, record.event)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rookery.adapter.agent import Agent
    from rookery.agents import decoder, output_flags, parser_for
    from rookery.api import run, run_sync
    from rookery.feed.answers import final_text, is_complete
    from rookery.feed.decode import decode
    from rookery.feed.decode_async import decode_async
    from rookery.loop_api import loop
    from rookery.model.errors import (
        OptionError,
        RookeryError,
        UndetectedAgentError,
        UnknownAgentError,
        UnreadableSourceError,
    )
    from rookery.model.events import Event
    from rookery.model.questions import Ask, Decision
    from rookery.model.records import Decoder, Record, dump, load, schema

_HOMES = {
    "Agent": "rookery.adapter.agent",
    "Ask": "rookery.model.questions",
    "Decision": "rookery.model.questions",
    "Decoder": "rookery.model.records",
    "Event": "rookery.model.events",
    "OptionError": "rookery.model.errors",
    "Record": "rookery.model.records",
    "RookeryError": "rookery.model.errors",
    "UndetectedAgentError": "rookery.model.errors",
    "UnknownAgentError": "rookery.model.errors",
    "UnreadableSourceError": "rookery.model.errors",
    "decode": "rookery.feed.decode",
    "decode_async": "rookery.feed.decode_async",
    "decoder": "rookery.agents",
    "dump": "rookery.model.records",
    "final_text": "rookery.feed.answers",
    "is_complete": "rookery.feed.answers",
    "load": "rookery.model.records",
    "loop": "rookery.loop_api",
    "output_flags": "rookery.agents",
    "parser_for": "rookery.agents",
    "run": "rookery.api",
    "run_sync": "rookery.api",
    "schema": "rookery.model.records",
}
"""Where each public name lives; it is imported when it is first used."""

__all__ = [
    "Agent",
    "Ask",
    "Decision",
    "Decoder",
    "Event",
    "OptionError",
    "Record",
    "RookeryError",
    "UndetectedAgentError",
    "UnknownAgentError",
    "UnreadableSourceError",
    "__version__",
    "decode",
    "decode_async",
    "decoder",
    "dump",
    "final_text",
    "is_complete",
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
