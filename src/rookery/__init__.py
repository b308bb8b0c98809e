"""Rookery runs coding agents headless and shows, records and accounts for everything they do.

for record in rookery.decode("session.jsonl"):
    print(record.seq, record.event)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rookery.core.version import __version__

if TYPE_CHECKING:
    from rookery.agents import decoder, output_flags, parser_for
    from rookery.core.agent import Agent
    from rookery.core.asking import Ask, Decision
    from rookery.core.decoder import Decoder
    from rookery.core.errors import (
        RookeryError,
        UndetectedAgentError,
        UnknownAgentError,
        UnreadableSourceError,
    )
    from rookery.core.events import Event
    from rookery.core.records import Record, dump, load, schema
    from rookery.folder.answers import final_text, is_complete
    from rookery.folder.async_streams import decode_async
    from rookery.folder.streams import decode
    from rookery.loop.start import loop
    from rookery.run.start import run, run_sync

_HOMES = {
    "Agent": "rookery.core.agent",
    "Ask": "rookery.core.asking",
    "Decision": "rookery.core.asking",
    "Decoder": "rookery.core.decoder",
    "Event": "rookery.core.events",
    "Record": "rookery.core.records",
    "RookeryError": "rookery.core.errors",
    "UndetectedAgentError": "rookery.core.errors",
    "UnknownAgentError": "rookery.core.errors",
    "UnreadableSourceError": "rookery.core.errors",
    "decode": "rookery.folder.streams",
    "decode_async": "rookery.folder.async_streams",
    "decoder": "rookery.agents",
    "dump": "rookery.core.records",
    "final_text": "rookery.folder.answers",
    "is_complete": "rookery.folder.answers",
    "load": "rookery.core.records",
    "output_flags": "rookery.agents",
    "parser_for": "rookery.agents",
    "run_sync": "rookery.run.start",
    "schema": "rookery.core.records",
}
"""Where each public name lives; it is imported when it is first used."""

__all__ = [
    "Agent",
    "Ask",
    "Decision",
    "Decoder",
    "Event",
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
    if name in ("loop", "run"):
        return import_module(f"rookery.{name}")  # packages that can be called
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
