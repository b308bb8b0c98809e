"""A slow, plain reading of whole homes, to check imports against; shares no code with them.

Every file is read from its start with `json`, every call kept in a dict under its identity.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Counts = tuple[int, int, int, int]
"""Input without the cache, output, read from the cache, written to it."""


@dataclass(frozen=True)
class Used:
    """One call."""

    agent: str
    model: str | None
    at: float
    counts: Counts


Totals = dict[tuple[str, str | None, str], tuple[int, Counts]]
"""The number of calls and their tokens, by agent, model and UTC day."""


def totals_of(homes: Iterable[Path]) -> Totals:
    """Read some homes as one."""
    whole = list(homes)
    calls = [
        *_claude(whole), *_codex(whole), *_gemini(whole), *_qwen(whole), *_opencode(whole),
    ]  # fmt: skip
    found: Totals = {}
    for call in calls:
        day = datetime.fromtimestamp(call.at, UTC).date().isoformat()
        key = call.agent, call.model, day
        number, counts = found.get(key, (0, (0, 0, 0, 0)))
        a, b = counts, call.counts
        found[key] = number + 1, (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])
    return found


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    *whole, _ = path.read_bytes().split(b"\n")  # what follows the last newline is not finished
    for line in whole:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict):
            yield message


def _time(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _add(calls: dict[str, Used], id: str, call: Used) -> None:
    """Keep the greatest output and the earliest time of a call."""
    known = calls.get(id)
    if known is None:
        calls[id] = call
        return
    better = call if call.counts[1] > known.counts[1] else known
    calls[id] = replace(better, at=min(known.at, call.at))


def _files(homes: list[Path], *places: str) -> Iterator[Path]:
    for home in homes:
        for place in places:
            yield from sorted(home.glob(place))


def _claude(homes: list[Path]) -> Iterator[Used]:
    calls: dict[str, Used] = {}
    for path in _files(homes, ".claude/projects/**/*.jsonl", ".config/claude/projects/**/*.jsonl"):
        for line in _objects(path):
            message: dict[str, Any] = line.get("message", {})
            if line.get("type") != "assistant" or message["model"] == "<synthetic>":
                continue
            usage = message["usage"]
            counts = (
                usage["input_tokens"],
                usage["output_tokens"],
                usage["cache_read_input_tokens"],
                usage["cache_creation_input_tokens"],
            )
            at = _time(line["timestamp"])
            _add(calls, message["id"], Used("claude", message["model"], at, counts))
    yield from calls.values()


def _codex(homes: list[Path]) -> Iterator[Used]:
    calls: dict[str, Used] = {}
    for path in _files(homes, ".codex/sessions/**/*.jsonl", ".codex/archived_sessions/*.jsonl"):
        model = None
        for line in _objects(path):
            payload = line["payload"]
            if line["type"] == "turn_context":
                model = payload["model"]
            if line["type"] == "token_usage_record":
                usage = payload["usage"]
                read, written = usage["cached_input_tokens"], usage["cache_write_input_tokens"]
                fresh = usage["input_tokens"] - read - written
                counts = fresh, usage["output_tokens"], read, written
                at = _time(line["timestamp"])
                _add(calls, payload["response_id"], Used("codex", model, at, counts))
    yield from calls.values()


def _gemini(homes: list[Path]) -> Iterator[Used]:
    calls: dict[str, Used] = {}
    for path in _files(homes, ".gemini/tmp/*/chats/**/*.jsonl"):
        for line in _objects(path):
            for message in [line, *line.get("$set", {}).get("messages", [])]:
                if message.get("type") != "gemini":
                    continue
                tokens = message["tokens"]
                fresh = tokens["input"] - tokens["cached"] + tokens["tool"]
                counts = fresh, tokens["output"] + tokens["thoughts"], tokens["cached"], 0
                at = _time(message["timestamp"])
                _add(calls, message["id"], Used("gemini", message["model"], at, counts))
    yield from calls.values()


def _qwen(homes: list[Path]) -> Iterator[Used]:
    calls: dict[str, Used] = {}
    for path in _files(homes, ".qwen/projects/*/chats/*.jsonl"):
        for line in _objects(path):
            event = line.get("systemPayload", {}).get("uiEvent", {})
            if event.get("event.name") != "qwen-code.api_response":
                continue
            read = event["cached_content_token_count"]
            counts = event["input_token_count"] - read, event["output_token_count"], read, 0
            at = _time(line["timestamp"])
            _add(calls, event["response_id"], Used("qwen", event["model"], at, counts))
    yield from calls.values()


def _opencode(homes: list[Path]) -> Iterator[Used]:
    calls: dict[str, Used] = {}
    for path in _files(homes, ".local/share/opencode/opencode.db"):
        messages: dict[str, dict[str, Any]] = {}
        steps: dict[str, list[dict[str, Any]]] = defaultdict(list)
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            for id, data in database.execute("SELECT id, data FROM message"):
                messages[id] = json.loads(data)
            for id, data in database.execute("SELECT message_id, data FROM part ORDER BY id"):
                if (part := json.loads(data))["type"] == "step-finish":
                    steps[id].append(part)
        for id, message in messages.items():
            time = message["time"]
            for number, step in enumerate(steps[id]):
                tokens = step["tokens"]
                cache = tokens["cache"]
                output = tokens["output"] + tokens["reasoning"]
                counts = tokens["input"], output, cache["read"], cache["write"]
                identity = [time, message["modelID"], counts, number]
                call = Used("opencode", message["modelID"], time["created"] / 1000, counts)
                _add(calls, json.dumps(identity), call)
    yield from calls.values()
