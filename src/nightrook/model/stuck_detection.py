"""Decides whether a silent run is stuck: by evidence of its work, not by silence alone."""

import msgspec

from nightrook.model.durations import duration, elapsed_s
from nightrook.model.snapshot import Snapshot
from nightrook.model.text import one_line

_TOOL_PATIENCE = 6.0  # a tool may sleep or wait for a server this many times as long in silence
_BUSY_PATIENCE = 3.0
_BUSY_SHARE = 0.01  # of one core, since the last byte
_LONGEST_TITLE = 60
_STOPPED = frozenset("Tt")

WAITS_FOR_LOGIN = "waits for a login"
"""The reason for an agent that asked for a login."""


class Process(msgspec.Struct, frozen=True):
    """One process of the agent's tree: its state as the system reports it, and its CPU time."""

    pid: int
    state: str
    cpu_s: float


class OpenTool(msgspec.Struct, frozen=True):
    """A tool call that has not ended, and the time since its start."""

    name: str
    title: str | None
    open_s: float | None


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence about a run that writes nothing."""

    silent_s: float
    tools: tuple[OpenTool, ...] = ()
    tasks: int = 0
    retry_s: float | None = None
    """The agent's wait before it tries again, as it reported."""

    limited: bool = False
    """It waits for the provider's limit."""

    asked: str | None = None
    """The tool that it asked to use, without an answer."""

    processes: tuple[Process, ...] | None = None
    """Its process tree; None where the system does not show it."""

    cpu_s: float | None = None
    """The CPU time of the process tree since the last byte."""


class Suspicion(msgspec.Struct, frozen=True):
    """The reason why a run seems to be stuck, with the evidence."""

    reason: str
    evidence: tuple[str, ...]


def evidence_of(
    shot: Snapshot,
    *,
    now: float,
    silent_s: float,
    processes: tuple[Process, ...] | None,
    cpu_s: float | None,
) -> Evidence:
    """Collect the evidence in a snapshot of the run and one of its process tree."""
    tools = tuple(
        OpenTool(
            tool.name or "a tool",
            tool.title,
            elapsed_s(tool.started_at, now),
        )
        for tool in shot.open_tools
    )
    return Evidence(
        silent_s=silent_s,
        tools=tools,
        tasks=shot.tasks_open,
        retry_s=(shot.retry.delay_s or 0.0) if shot.retry else None,
        limited=any(quota.status == "rejected" for quota in shot.quotas),
        asked=(shot.questions[-1].name or "a tool") if shot.questions else None,
        processes=processes,
        cpu_s=cpu_s,
    )


def suspect(known: Evidence, *, idle_s: float) -> Suspicion | None:
    """Return why a run seems to be stuck; None while something explains its silence."""
    if known.silent_s <= idle_s:
        return None
    if known.asked is not None:
        return _because(known, f"no answer to the question whether it may use {known.asked}")
    if known.processes is not None:
        if not known.processes:
            return _because(known, "none of its processes is left")
        if all(process.state in _STOPPED for process in known.processes):
            return _because(known, "its processes are stopped")
    if known.silent_s <= idle_s * _patience(known):
        return None
    if known.tools:
        return _because(
            known, f"{_tool(known.tools[-1])} has not finished, and there is no activity"
        )
    return _because(known, "no sign of life")


def _patience(known: Evidence) -> float:
    """Return the multiple of the usual silence that the run's state explains."""
    if known.limited:
        return float("inf")
    patience = 1.0
    if _is_busy(known):
        patience = _BUSY_PATIENCE
    if known.tools or known.tasks:
        patience = _TOOL_PATIENCE * (2.0 if _is_busy(known) else 1.0)
    if known.retry_s is not None:
        patience = max(patience, 2.0 + known.retry_s / max(known.silent_s, 1.0))
    return patience


def _is_busy(known: Evidence) -> bool:
    return known.cpu_s is not None and known.cpu_s >= known.silent_s * _BUSY_SHARE


def _because(known: Evidence, reason: str) -> Suspicion:
    evidence = [f"no output for {duration(known.silent_s)}"]
    evidence += [f"open tool: {_tool(tool)}" for tool in known.tools]
    if known.tasks:
        evidence.append(f"background tasks: {known.tasks}")
    if known.retry_s is not None:
        evidence.append(f"the agent announced a retry in {duration(known.retry_s)}")
    if known.processes is not None:
        states = " ".join(sorted({process.state for process in known.processes})) or "none"
        evidence.append(f"processes: {len(known.processes)} ({states})")
    if known.cpu_s is not None:
        evidence.append(f"CPU time since then: {duration(known.cpu_s)}")
    return Suspicion(reason, tuple(evidence))


def _tool(tool: OpenTool) -> str:
    title = f": {one_line(tool.title, _LONGEST_TITLE)}" if tool.title else ""
    since = f" for {duration(tool.open_s)}" if tool.open_s is not None else ""
    return f"{tool.name}{title}{since}"
