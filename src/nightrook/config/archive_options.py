"""The part of the table of options that belongs to the commands of the archive."""

from typing import Annotated, Literal

import msgspec

from nightrook.config.option import (
    Bytes,
    Count,
    Dollars,
    File,
    Flag,
    Name,
    Seconds,
    Text,
)
from nightrook.model.provider_limits import USUAL_WINDOWS


class CostOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook cost`."""

    by: Annotated[
        Text,
        Flag(
            "Group by hour, day, week, month, agent, model, project, branch, session, "
            "subagent, run or loop; several are separated by commas.",
            metavar="KEYS",
            completes="cost_keys",
        ),
    ] = "day"
    since: Annotated[
        Text | None,
        Flag(
            "Count calls from this time on: 7d, today, 2026-11, 2026-11-02 or 2026-11-02T14:00.",
            metavar="TIME",
        ),
    ] = None
    until: Annotated[
        Text | None,
        Flag("Count calls before this time; a day or month is included.", metavar="TIME"),
    ] = None
    agent: Annotated[
        Name | None,
        Flag("Count calls of this agent.", metavar="NAME", completes="histories"),
    ] = None
    project: Annotated[
        Text | None,
        Flag("Count calls in this folder: a path or the last part of one.", metavar="DIR"),
    ] = None
    model: Annotated[
        Text | None,
        Flag("Count calls of this model; * stands for any characters.", metavar="NAME"),
    ] = None
    timezone: Annotated[
        Text | None,
        Flag(
            "The time zone of hours and days, such as Europe/Berlin.",
            metavar="ZONE",
            default="the system's",
        ),
    ] = None
    csv: Annotated[bool, Flag("Print the rows as CSV.")] = False
    json: Annotated[bool, Flag("Print one JSON object.")] = False
    check: Annotated[
        Dollars | None,
        Flag("Exit with code 1 if the total is more than this many dollars.", metavar="USD"),
    ] = None
    limits: Annotated[
        bool,
        Flag(f"Show instead how much is left of the providers' {USUAL_WINDOWS} limits."),
    ] = False
    html: Annotated[
        File | None, Flag("Write the report with a chart to FILE, as a page.", metavar="FILE")
    ] = None


class ExportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook export`."""

    jsonl: Annotated[
        File | None, Flag("Write JSON lines to FILE; - is standard output.", metavar="FILE")
    ] = None
    csv: Annotated[
        File | None, Flag("Write CSV to FILE; - is standard output.", metavar="FILE")
    ] = None
    parquet: Annotated[
        File | None, Flag("Write Parquet to FILE (needs pyarrow).", metavar="FILE")
    ] = None
    raw: Annotated[bool, Flag("Don't redact secrets.")] = False


class ImportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook import`."""

    agent: Annotated[
        Name | None,
        Flag(
            "Read only the sessions of this agent (found by the content of files by default).",
            metavar="NAME",
            completes="histories",
        ),
    ] = None


class IndexOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook index`."""

    rebuild: Annotated[
        bool, Flag("Read all sessions again; keep the calls whose files are gone.")
    ] = False


class GcOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook gc`."""

    older_than: Annotated[
        Seconds,
        Flag("Compress the logs of runs that have not changed for this long.", default="7d"),
    ] = 604_800.0
    keep: Annotated[
        Count | None,
        Flag("Leave the logs of the N runs that changed last as they are.", metavar="N"),
    ] = None
    text_older_than: Annotated[
        Seconds | None,
        Flag("Forget the texts and copies of sessions that rook search keeps after this long."),
    ] = None
    max_text: Annotated[
        Bytes | None,
        Flag(
            "Forget the oldest until the texts, and the copies, take at most this size.",
            metavar="SIZE",
        ),
    ] = None
    restore: Annotated[
        bool, Flag("Write compressed logs as they were; all of them if no run is named.")
    ] = False
    pin: Annotated[bool, Flag("Have the named runs neither compressed nor removed.")] = False
    unpin: Annotated[bool, Flag("Let the named runs be compressed and removed again.")] = False
    yes: Annotated[
        bool,
        Flag("Do it; without this, what would be done is listed.", words=("--yes", "-y")),
    ] = False


class SessionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Filter of stored sessions and their content, for `rook search` and `rook export`."""

    agent: Annotated[
        Name | None,
        Flag("Take sessions of this agent.", metavar="NAME", completes="histories"),
    ] = None
    project: Annotated[
        Text | None,
        Flag("Take sessions in this folder: a path or the last part of one.", metavar="DIR"),
    ] = None
    since: Annotated[
        Text | None,
        Flag("Take what is from this time or later: 7d, today, 2026-11.", metavar="TIME"),
    ] = None
    until: Annotated[
        Text | None,
        Flag("Take what is from before this time; a day or month is included.", metavar="TIME"),
    ] = None
    kind: Annotated[
        Literal["prompt", "answer", "thinking", "command", "path", "output"] | None,
        Flag("Take only prompts, answers, thinking, commands, paths or outputs of tools."),
    ] = None
    tool: Annotated[Text | None, Flag("Take calls and outputs of this tool.", metavar="NAME")] = (
        None
    )
    status: Annotated[
        Literal["ok", "error", "denied", "cancelled", "timed_out", "orphaned"] | None,
        Flag("Take outputs of calls that ended like this."),
    ] = None
    session: Annotated[
        Text | None,
        Flag("Take the session whose id begins like this.", metavar="ID", completes="sessions"),
    ] = None


class SearchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for showing the results of `rook search`."""

    all: Annotated[
        bool,
        Flag("Show every hit, not only the best one of a session.", words=("--all", "-a")),
    ] = False
    limit: Annotated[
        Count,
        Flag("Show at most N sessions, or hits with --all.", words=("--limit", "-n"), metavar="N"),
    ] = 20
    json: Annotated[bool, Flag("Print one JSON object, after everything is indexed.")] = False


class WatchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook watch`."""

    agent: Annotated[
        Name | None, Flag("Show only this agent.", metavar="NAME", completes="agents")
    ] = None
    project: Annotated[
        Text | None,
        Flag("Show only what works in this folder: a path or the last part of one.", metavar="DIR"),
    ] = None
    since: Annotated[
        Seconds,
        Flag("Show a session for this long after it was written to.", default="10m"),
    ] = 600.0
    quiet: Annotated[
        bool,
        Flag("Show only the table, without a line for each event.", words=("--quiet", "-q")),
    ] = False
    json: Annotated[bool, Flag("Print JSON: one object for each event.")] = False
