"""An agent's files on disk: `History` reads their usage for the ledger, `Transcript` their events.

Both are descriptions, and pure: the archive finds and opens the files and passes lines, documents
or rows to them. They are listed for every report, so they load their readers only when a file has
to be read.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from nightrook.model.events import Event, Usage, UsageReported
from nightrook.model.records import Decoder


class Call(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One request to a model. Calls of an agent with the same `id` are one, wherever they are read.

    Of the lines of one call, the one with the greatest output has its usage, and the earliest time
    is its time.
    """

    id: str
    """The id of the call, unique among all calls of the agent."""

    session: str
    at: float | None = None
    """Seconds since 1970; None means the time of the last message of its session."""

    model: str | None = None
    input: int = 0
    """Input that the cache did not serve or store."""

    output: int = 0
    """All output, reasoning included."""

    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    reasoning: int = 0
    web_searches: int = 0
    cost_usd: float | None = None
    """The cost reported by the agent; None if it does not report one."""

    fast: bool = False
    """True if it was served at the provider's fast, more expensive speed."""

    summed: bool = False
    """True if it is the sum of several calls, whose single durations are unknown."""

    subagent: str | None = None
    """The subagent that made the call; None is the main thread."""

    project: str | None = None
    """The folder that the agent worked in."""

    branch: str | None = None
    copied: bool = False
    """True if this line is known to be a copy, as at the beginning of a fork."""

    lineage: bool = False
    """True if `id` is unique only among its session and the sessions that it forks.

    Equal ids of other sessions are different calls.
    """

    fallback: bool = False
    """True if it counts only when its session has no call that is not a fallback."""


CallRow = tuple[str, float, int, int, int, int, int, int]
"""The fields of one call in `Calls`: its id, its time, and its tokens in the order of `Call`."""


class Calls(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Calls with only the usual fields, as a faster form of as many `Call`s.

    They have a session, a model, a project and a branch in common, and all times are known.
    """

    session: str
    model: str
    project: str
    branch: str
    rows: list[CallRow] = []

    def call(self, row: CallRow) -> Call:
        """Return one of them as a `Call`."""
        id, at, input, output, cache_read, cache_write_5m, cache_write_1h, reasoning = row
        return Call(
            id=id,
            session=self.session,
            at=at,
            model=self.model,
            input=input,
            output=output,
            cache_read=cache_read,
            cache_write_5m=cache_write_5m,
            cache_write_1h=cache_write_1h,
            reasoning=reasoning,
            project=self.project,
            branch=self.branch,
        )


class Session(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Facts about a session; None means that this line does not report it."""

    id: str
    at: float | None = None
    project: str | None = None
    branch: str | None = None
    title: str | None = None
    version: str | None = None
    """The version of the agent."""

    parent: str | None = None
    """The session that started this one as its subagent."""

    forked_from: str | None = None
    """The session whose conversation this one continues."""


class Limit(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The used part of a provider's limit at a time."""

    at: float
    window: str
    """Its name or length, as `five_hour`, `weekly`."""

    used: float | None = None
    """The used part, from 0 to 1."""

    resets_at: float | None = None
    plan: str | None = None


Finding = Call | Calls | Session | Limit
"""A value that is read from a store."""


class Used(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The usage of a request, with what only the ledger needs: `call_of` makes a `Call` of it.

    The fields that are not here are known of the session: they are `Facts`.
    """

    report: UsageReported
    is_event: bool = True
    """True if it is an event of the session; False for a line that only the ledger needs."""

    id: str | None = None
    """The id of the call, if it isn't the report's `message_id`."""

    session: str | None = None
    """The session of the call, if it is not that of the file."""

    subagent: str | None = None
    fast: bool = False
    summed: bool = False
    copied: bool = False
    lineage: bool = False
    fallback: bool = False


Noted = Event | Used | Call | Session | Limit
"""The result of reading a stored line: an event, or a value that only the ledger needs."""


class Facts(msgspec.Struct, omit_defaults=True):
    """The ledger's state between the lines of a file: plain data that JSON can hold.

    An agent derives its own from it. Whatever decides about a call is in here, because reading may
    resume in the middle of the file with nothing else.
    """

    session: str = ""
    at: float | None = None
    """The time of the last line."""

    model: str | None = None
    project: str | None = None
    branch: str | None = None
    subagent: str | None = None
    """The name of the subagent that the file belongs to."""


def call_of(used: Used, facts: Facts) -> Call:
    """Make a call of a usage; fields that its line does not report come from the session."""
    report = used.report
    return make_call(
        report,
        facts,
        id=used.id or report.message_id or "",
        session=used.session,
        model=report.model,
        cost_usd=report.cost_usd,
        fast=used.fast,
        summed=used.summed,
        subagent=used.subagent,
        copied=used.copied,
        lineage=used.lineage,
        fallback=used.fallback,
    )


def make_call(
    usage: Usage | UsageReported,
    facts: Facts,
    *,
    id: str,
    session: str | None = None,
    model: str | None = None,
    cost_usd: float | None = None,
    fast: bool = False,
    summed: bool = False,
    subagent: str | None = None,
    copied: bool = False,
    lineage: bool = False,
    fallback: bool = False,
) -> Call:
    """Make the call of a usage that no event reports, which takes half the time of `call_of`."""
    return Call(
        id=id,
        session=session or facts.session,
        at=facts.at,
        model=model or facts.model,
        input=usage.input or 0,
        output=usage.output or 0,
        cache_read=usage.cache_read or 0,
        cache_write_5m=usage.cache_write_5m or 0,
        cache_write_1h=usage.cache_write_1h or 0,
        reasoning=usage.reasoning or 0,
        web_searches=usage.web_searches or 0,
        cost_usd=cost_usd,
        fast=fast,
        summed=summed,
        subagent=subagent or facts.subagent,
        project=facts.project,
        branch=facts.branch,
        copied=copied,
        lineage=lineage,
        fallback=fallback,
    )


class CountingReader(Protocol):
    """Reads the lines of an agent for the ledger: a `Stored`, or a quicker `Counting`."""

    @property
    def needles(self) -> tuple[bytes, ...]:
        """A line that contains none of these is not read."""

    @property
    def time(self) -> str | None:
        """The field with the time of a line, if lines without a needle have it as well."""

    @property
    def facts(self) -> type[Facts]:
        """The type of the state between the lines of a file."""

    @property
    def begin(self) -> Callable[[Sequence[str]], Facts]:
        """Returns the facts of a file that is read from its start, given the parts of its path."""

    @property
    def findings(self) -> Callable[[Sequence[bytes], Any], Sequence[Finding]]:
        """Reads lines that follow each other; never raises. The facts change with them."""


class Counting(msgspec.Struct, frozen=True, kw_only=True):
    """The functions that read an agent's lines for the ledger faster than its table does.

    The fields are those of `CountingReader`.
    """

    needles: tuple[bytes, ...]
    time: str | None = None
    facts: type[Facts]
    begin: Callable[[Sequence[str]], Facts]
    findings: Callable[[Sequence[bytes], Any], Sequence[Finding]]


def _no_lines() -> CountingReader:
    """Return the reader of an agent that keeps only a SQLite store."""
    return Counting(
        needles=(),
        facts=Facts,
        begin=lambda _: Facts(),
        findings=lambda _, __: (),
    )


Kind = Literal["lines", "document", "sqlite"]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The location of an agent's sessions: files below a folder of the user's home."""

    home: str
    """The agent's folder below the user's home, as `.local/share`."""

    variable: str | None = None
    """The environment variable that names another folder instead of it."""

    below: str = ""
    """The folder in it that is searched, as `projects`."""

    files: str
    """A regular expression that matches the paths of its files below that folder, with `/`."""

    kind: Kind = "lines"


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions of a SQLite store; each is read again when it has changed."""

    changes: str
    """Selects the key of every session, and a mark that changes whenever its rows do.

    A time alone does not do: clocks are set back, and an agent may write without changing it.
    """

    rows: str
    """Selects the rows of the session `:key`."""

    read: Callable[[Sequence[tuple[Any, ...]]], Sequence[Finding]]
    """Reads the rows of a session; never raises on what an agent may have written there."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The description of one agent's files on disk, for the ledger."""

    agent: str
    places: tuple[Place, ...]

    recognises: Callable[[bytes], bool]
    """Returns whether the first bytes of a file look like this agent's sessions.

    For SQLite stores it is called with the text of the schema.
    """

    stored: Callable[[], CountingReader] = _no_lines
    """Loads the reader of its lines.

    Histories are listed for every report, but their readers are needed only when a file is new.
    """

    bulk: tuple[bytes, bytes] | None = None
    """Text in the first part of a line that is bulk without usage, as `"message":{`, and the text
    that follows it there, as `"role":"user"`: such a line is not searched for needles."""

    lines: Callable[[bytes], Sequence[bytes]] = lambda document: (document,)
    """Cuts a file that is one document into the lines that are read; never raises."""

    queries: tuple[Query, ...] = ()
    """The queries of a SQLite store; those whose tables or columns it lacks are left out."""

    notes: tuple[str, ...] = ()
    """The gaps in the agent's reports, one sentence each, for people who read a total."""


def _has_id(parts: Sequence[str], session: str) -> bool:
    """Return whether the path has the id of the session in it."""
    return any(session in part for part in parts)


def _not_named(parts: Sequence[str]) -> str | None:
    """Return None: only the lines of a file say which session it is."""
    return None


def _not_of_a_task(parts: Sequence[str]) -> str | None:
    """Return None: every file is a session of its own."""
    return None


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """The description of how one agent's stored sessions are read as events."""

    agent: str
    recognises: Callable[[Mapping[str, Any]], bool]
    """Returns whether a line is one of this agent's stored sessions, and not of its stream."""

    decoder: Callable[..., Decoder]
    """Returns a decoder for the lines of one stored session; takes `cap`, the longest line."""

    task_of: Callable[[Sequence[str]], str | None] = _not_of_a_task
    """Returns the task whose events a file has, given the parts of its path.

    None if the file is a session of its own. A session's main file has a `task_started` with that
    id, which says in which call the task happened, or the id is that of the call.
    """

    session_of: Callable[[Sequence[str]], str | None] = _not_named
    """Returns the id of the session that a file belongs to, if its path says it."""

    is_of: Callable[[Sequence[str], str], bool] = _has_id
    """Returns whether a file belongs to a session, given the parts of its path and the id."""

    resume: Callable[[str], Sequence[str]] | None = None
    """Returns the command that resumes a session, to be typed in its folder; None if none does."""

    lines: Callable[[bytes], Sequence[bytes]] | None = None
    """Cuts a file that is one document into lines of JSON; never raises."""

    query: str | None = None
    """Selects the lines of the session `:key` of a SQLite store, each a row with one JSON text."""

    changes: str | None = None
    """Selects the sessions of a store, each with a mark that differs when it has changed.

    None if the first query of the agent's history selects all sessions that have events.
    """


_NUMBERED = re.compile(r"chatcmpl-\d+")


def call_id(response: str | None, line: str | None) -> str | None:
    """The identity of a call, by the id of its response and the id of the line that reports it.

    The id of a response is enough, except for servers that only number their responses, as Ollama
    does from 0 to 998: they use it again. There, copies of a line are known by the line's id.
    """
    if response and line and _NUMBERED.fullmatch(response):
        return f"{response}/{line}"
    return response or line or None
