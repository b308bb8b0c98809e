"""Reads stored sessions as the archive does, and damages them, for the tests of all histories."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from nightrook.adapter.history import Call, Calls, Facts, Finding, History, Place
from nightrook.archive.ledger.calls import CallId, MergedCall
from tests.adapter.mutations import mutate, mutate_stream

HERE = Path(__file__).parent

COUNTS = (
    *("input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "reasoning"),
    "web_searches",
)
"""The fields of a call that are counts."""


def transcripts(agent: str) -> Iterator[tuple[str, bytes]]:
    """The path below the home and the content of every stored file in the agent's test folder.

    A transcript is a folder `transcripts/<name>` that looks like the home of a user.
    """
    for file in sorted((HERE / agent / "transcripts").glob("*/**/*")):
        if file.is_file():
            parts = file.relative_to(HERE / agent / "transcripts").parts[1:]
            yield "/".join(parts), file.read_bytes()


def transcript(agent: str, name: str) -> dict[str, bytes]:
    """The files of one transcript, by their path below the home."""
    home = HERE / agent / "transcripts" / name
    assert home.is_dir(), home
    return {
        file.relative_to(home).as_posix(): file.read_bytes()
        for file in sorted(home.glob("**/*"))
        if file.is_file()
    }


def place_of(history: History, path: str) -> Place | None:
    """The place of the agent that a path below the user's home is in; None if it isn't read."""
    for place in history.places:
        folder = "/".join(part for part in (place.home, place.below) if part) + "/"
        if path.startswith(folder) and re.fullmatch(place.files, path.removeprefix(folder)):
            return place
    return None


def read(history: History, path: str, data: bytes, *, pauses: bool = False) -> list[Finding]:
    """All findings of a file, which may be stored and loaded between its lines (`pauses`)."""
    place = place_of(history, path)
    if place is None:
        return []
    reader = history.stored()
    memory = reader.begin(path.split("/"))
    if place.kind == "document":
        return single(reader.findings(history.lines(data), memory))
    lines = [line for line in data.split(b"\n") if any(map(line.__contains__, reader.needles))]
    if not pauses:
        return single(reader.findings(lines, memory))
    findings: list[Finding] = []
    for line in lines:
        findings += single(reader.findings([line], memory))
        memory = _stored_and_loaded(memory, reader.facts)
    return findings


def single(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, with each call as one of its own."""
    parts = (
        map(found.call, found.rows) if isinstance(found, Calls) else (found,) for found in findings
    )
    return list(chain.from_iterable(parts))


def read_all(history: History, files: dict[str, bytes]) -> list[Finding]:
    """All findings of a home."""
    return [finding for path, data in files.items() for finding in read(history, path, data)]


def counted(findings: list[Finding]) -> list[Call]:
    """The calls that count, each once: a simple form of what the ledger does."""
    merged: dict[str, Call] = {}
    for call in findings:
        if not isinstance(call, Call):
            continue
        other = merged.get(call.id, call)
        best = max(other, call, key=lambda each: [getattr(each, name) for name in COUNTS[1::-1]])
        times = [each.at for each in (other, call) if each.at is not None]
        merged[call.id] = msgspec.structs.replace(best, at=min(times, default=None))
    exact = {call.session for call in merged.values() if not call.fallback}
    return [call for call in merged.values() if not call.fallback or call.session not in exact]


def tokens(findings: list[Finding]) -> dict[str, int]:
    """The sums of the calls that count, without those that are 0, and the number of calls."""
    calls = counted(findings)
    sums = {name: sum(getattr(call, name) for call in calls) for name in COUNTS}
    return {"calls": len(calls)} | {name: count for name, count in sums.items() if count}


def check(finding: Finding) -> None:
    """Check that a finding has the types of its fields, so that a ledger can store it."""
    json = msgspec.json.encode(finding)
    assert msgspec.json.decode(json, type=type(finding)) == finding
    if isinstance(finding, Call):
        assert finding.id
        assert finding.session
        assert all(0 <= getattr(finding, name) < 2**62 for name in COUNTS)


def check_reading(history: History, path: str, data: bytes) -> None:
    """Check that bytes can be read without an error, and that reading can resume after any line."""
    findings = read(history, path, data)
    for finding in findings:
        check(finding)
    assert _merged(read(history, path, data, pauses=True)) == _merged(findings)
    history.recognises(data[:4096])


def _merged(findings: list[Finding]) -> tuple[dict[CallId, MergedCall], list[Finding]]:
    """What the ledger keeps: a line of a call that reports nothing new makes no difference."""
    calls: dict[CallId, MergedCall] = {}
    for line in findings:
        if isinstance(line, Call):
            key = (line.id, line.session) if line.lineage else line.id
            calls.setdefault(key, MergedCall.of(line, "")).add(line, "")
    return calls, [finding for finding in findings if not isinstance(finding, Call)]


def damaged(data: bytes, path: str, seed: int) -> bytes:
    """A file with harm that depends on the seed."""
    random = Random(seed)
    if path.endswith(".json"):
        for _ in range(random.randint(1, 3)):
            _, data = mutate(data, random)
        return data
    data, _ = mutate_stream(data.split(b"\n"), random)
    return data[: random.randint(0, len(data))] if random.random() < 0.3 else data


def _stored_and_loaded(memory: Any, facts: type[Facts]) -> Any:
    return msgspec.json.decode(msgspec.json.encode(memory), type=facts)
