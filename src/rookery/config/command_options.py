"""The part of the table of options that belongs to the commands that start no agent."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from rookery.config.option import (
    Bytes,
    Count,
    Dollars,
    File,
    Flag,
    Folder,
    Name,
    Seconds,
    Text,
    Texts,
)
from rookery.model.verdict import ListedStatus

Port = Annotated[int, Meta(ge=1, le=65535, title="a port from 1 to 65535")]
Speed = Annotated[float, Meta(gt=0, title="a number above 0")]


class AgentsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook agents`."""

    json: Annotated[bool, Flag(help="Print one JSON object for each agent.")] = False
    check: Annotated[
        bool, Flag(help="Exit with code 1 if an installed version was not checked.")
    ] = False
    registry: Annotated[
        File | None,
        Flag(
            help="Show the agents of an ACP registry (registry.json or agent.json) as sections to "
            "copy into rookery.toml. Nothing is run.",
            metavar="FILE",
            completes="files",
        ),
    ] = None


class AnswerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook answer`."""

    list: Annotated[bool, Flag(help="Only list what is asked.")] = False
    json: Annotated[bool, Flag(help="Print one JSON object for each question.")] = False


class AttachOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook attach`."""

    from_now: Annotated[bool, Flag(help="Leave out what happened before.")] = False
    stop: Annotated[bool, Flag(help="Stop the run, and show how it ends.")] = False


class CostOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook cost`."""

    by: Annotated[
        Text,
        Flag(
            help="Group by hour, day, week, month, agent, model, project, branch, session, "
            "subagent, run or loop; several are separated by commas.",
            metavar="KEYS",
            completes="cost_keys",
        ),
    ] = "day"
    since: Annotated[
        Text | None,
        Flag(
            help="Count calls from this time on: 7d, today, 2026-11, 2026-11-02 or "
            "2026-11-02T14:00.",
            metavar="TIME",
        ),
    ] = None
    until: Annotated[
        Text | None,
        Flag(help="Count calls before this time; a day or month is included.", metavar="TIME"),
    ] = None
    agent: Annotated[
        Name | None,
        Flag(help="Count calls of this agent.", metavar="NAME", completes="histories"),
    ] = None
    project: Annotated[
        Text | None,
        Flag(help="Count calls in this folder: a path or the last part of one.", metavar="DIR"),
    ] = None
    model: Annotated[
        Text | None,
        Flag(help="Count calls of this model; * stands for any characters.", metavar="NAME"),
    ] = None
    timezone: Annotated[
        Text | None,
        Flag(
            help="The time zone of hours and days, such as Europe/Berlin.",
            metavar="ZONE",
            default="the system's",
        ),
    ] = None
    csv: Annotated[bool, Flag(help="Print the rows as CSV.")] = False
    json: Annotated[bool, Flag(help="Print one JSON object.")] = False
    check: Annotated[
        Dollars | None,
        Flag(help="Exit with code 1 if the total is more than this many dollars.", metavar="USD"),
    ] = None
    limits: Annotated[
        bool,
        Flag(help="Show instead how much is left of the providers' 5-hour and weekly limits."),
    ] = False
    html: Annotated[
        File | None, Flag(help="Write the report with a chart to FILE, as a page.", metavar="FILE")
    ] = None


class DecodeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook decode`."""

    agent: Annotated[
        Name | None,
        Flag(
            help="The agent that wrote the stream (detected by default).",
            metavar="NAME",
            completes="agents",
        ),
    ] = None
    format: Annotated[
        Literal["jsonl", "text"], Flag(help="Print JSON lines for programs, or text for people.")
    ] = "jsonl"
    summary: Annotated[
        bool, Flag(help="Print one JSON object for each file: what happened, and what it cost.")
    ] = False
    verbose: Annotated[
        bool,
        Flag(
            help="With --format text, show tool outputs, retries, limits and notices too.",
            words=("--verbose", "-v"),
        ),
    ] = False


class ExportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook export`."""

    jsonl: Annotated[
        File | None, Flag(help="Write JSON lines to FILE; - is standard output.", metavar="FILE")
    ] = None
    csv: Annotated[
        File | None, Flag(help="Write CSV to FILE; - is standard output.", metavar="FILE")
    ] = None
    parquet: Annotated[
        File | None, Flag(help="Write Parquet to FILE (needs pyarrow).", metavar="FILE")
    ] = None
    raw: Annotated[bool, Flag(help="Don't redact secrets.")] = False


class ImportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook import`."""

    agent: Annotated[
        Name | None,
        Flag(
            help="Read only the sessions of this agent (found by the content of files by default).",
            metavar="NAME",
            completes="histories",
        ),
    ] = None


class IndexOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook index`."""

    rebuild: Annotated[
        bool, Flag(help="Read all sessions again; keep the calls whose files are gone.")
    ] = False


class RemoveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook rm`."""

    older_than: Annotated[
        Seconds | None, Flag(help="Remove what has not changed for this long, such as 30d.")
    ] = None
    keep: Annotated[
        Count | None,
        Flag(
            help="Remove all but the N runs, N loops and N batches that changed last.",
            metavar="N",
        ),
    ] = None
    max_size: Annotated[
        Bytes | None,
        Flag(help="Remove the oldest until everything takes at most this size, such as 5G."),
    ] = None
    dry_run: Annotated[
        bool,
        Flag(help="List what would be removed, and remove nothing.", words=("--dry-run", "-n")),
    ] = False
    yes: Annotated[
        bool, Flag(help="Remove several things without asking.", words=("--yes", "-y"))
    ] = False

    @property
    def chooses(self) -> bool:
        """Whether what to remove is chosen by its age or size."""
        return any(each is not None for each in (self.older_than, self.keep, self.max_size))


class ReplayOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How fast `rook replay` and `rook demo` play."""

    speed: Annotated[Speed, Flag(help="Play this many times as fast.", metavar="FACTOR")] = 1.0
    instant: Annotated[bool, Flag(help="Play without pauses.", commands=("replay",))] = False


class DemoOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `rook demo` shows instead of a run."""

    history: Annotated[
        bool,
        Flag(help="Make a home with a month of made-up sessions of five agents, for `rook cost`."),
    ] = False


class ReportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook report`."""

    format: Annotated[
        Literal["markdown", "github", "junit", "json"],
        Flag(
            help="Print Markdown, annotations for GitHub Actions (and write the step's summary and "
            "outputs there), JUnit XML, or one JSON object."
        ),
    ] = "markdown"


class SessionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which stored sessions, and what of them, `rook search` and `rook export` take."""

    agent: Annotated[
        Name | None,
        Flag(help="Take sessions of this agent.", metavar="NAME", completes="histories"),
    ] = None
    project: Annotated[
        Text | None,
        Flag(help="Take sessions in this folder: a path or the last part of one.", metavar="DIR"),
    ] = None
    since: Annotated[
        Text | None,
        Flag(help="Take what is from this time or later: 7d, today, 2026-11.", metavar="TIME"),
    ] = None
    until: Annotated[
        Text | None,
        Flag(
            help="Take what is from before this time; a day or month is included.", metavar="TIME"
        ),
    ] = None
    kind: Annotated[
        Literal["prompt", "answer", "thinking", "command", "path", "output"] | None,
        Flag(help="Take only prompts, answers, thinking, commands, paths or outputs of tools."),
    ] = None
    tool: Annotated[
        Text | None, Flag(help="Take calls and outputs of this tool.", metavar="NAME")
    ] = None
    status: Annotated[
        Literal["ok", "error", "denied", "cancelled", "timed_out", "orphaned"] | None,
        Flag(help="Take outputs of calls that ended like this."),
    ] = None
    session: Annotated[
        Text | None, Flag(help="Take the session whose id begins like this.", metavar="ID")
    ] = None


class SearchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How `rook search` shows what it finds."""

    all: Annotated[
        bool,
        Flag(help="Show every hit, not only the best one of a session.", words=("--all", "-a")),
    ] = False
    limit: Annotated[
        Count,
        Flag(
            help="Show at most N sessions, or hits with --all.",
            words=("--limit", "-n"),
            metavar="N",
        ),
    ] = 20
    json: Annotated[bool, Flag(help="Print one JSON object, after everything is indexed.")] = False


class ShowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook show`."""

    full: Annotated[bool, Flag(help="Show everything: texts, inputs, outputs and diffs.")] = False
    no_pager: Annotated[bool, Flag(help="Print to the terminal instead of a pager.")] = False
    html: Annotated[
        File | None,
        Flag(help="Write a run to FILE as one HTML page without scripts.", metavar="FILE"),
    ] = None
    md: Annotated[bool, Flag(help="Print a run as Markdown.")] = False


class ListOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook loops`, `rook batches` and `rook config`."""

    json: Annotated[bool, Flag(help="Print JSON: one object on each line.")] = False


class RunsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook runs`."""

    json: Annotated[bool, Flag(help="Print JSON: one object on each line.")] = False
    limit: Annotated[
        Count, Flag(help="List at most N runs.", words=("--limit", "-n"), metavar="N")
    ] = 20
    all: Annotated[bool, Flag(help="List all runs.", words=("--all", "-a"))] = False
    agent: Annotated[
        Name | None, Flag(help="List runs of this agent.", metavar="NAME", completes="agents")
    ] = None
    status: Annotated[
        ListedStatus | None, Flag(help="List runs with this status.", metavar="STATUS")
    ] = None
    cwd: Annotated[
        Folder | None,
        Flag(help="List runs in this folder and below it.", metavar="DIR", completes="folders"),
    ] = None
    since: Annotated[
        Seconds | None, Flag(help="List runs that started within this time, such as 7d.")
    ] = None
    sessions: Annotated[
        bool,
        Flag(help="List loops, and the sessions that you had with agents without rook, too."),
    ] = False


class WebOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook web`."""

    port: Annotated[
        Port | None,
        Flag(
            help="Listen on this port.", metavar="N", default="a random one, again after a restart"
        ),
    ] = None
    no_open: Annotated[bool, Flag(help="Print the address without opening a browser.")] = False
    detach: Annotated[
        bool,
        Flag(
            help="Serve in the background, until no page has been open and no run alive for half "
            "an hour.",
            words=("--detach", "-d"),
        ),
    ] = False
    read_only: Annotated[
        bool, Flag(help="Show everything, but answer no question and stop no run.")
    ] = False
    demo: Annotated[
        bool, Flag(help="Play scripted runs, one with a question, in a home of their own.")
    ] = False
    listen: Annotated[
        Name | None,
        Flag(
            help="Listen on this address instead of 127.0.0.1; needs --cert and --key, or "
            "--insecure-http.",
            metavar="ADDRESS",
        ),
    ] = None
    cert: Annotated[
        File | None,
        Flag(help="Serve HTTPS with this certificate.", metavar="FILE", completes="files"),
    ] = None
    key: Annotated[
        File | None,
        Flag(help="The private key of the certificate.", metavar="FILE", completes="files"),
    ] = None
    insecure_http: Annotated[
        bool,
        Flag(
            help="Serve another address without HTTPS: everyone on the way can read the token and "
            "all runs, and answer for you."
        ),
    ] = False
    allow_host: Annotated[
        Texts,
        Flag(
            help="A name, with its port, by which browsers reach the server, such as that of a "
            "proxy. Can be repeated.",
            metavar="NAME[:PORT]",
        ),
    ] = ()


class TrustOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook trust`."""

    yes: Annotated[bool, Flag(help="Trust the file without a question.", words=("--yes", "-y"))] = (
        False
    )
    list: Annotated[bool, Flag(help="List the files that you trust.")] = False
    revoke: Annotated[bool, Flag(help="Stop trusting the project's file.")] = False
