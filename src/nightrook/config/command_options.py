"""The part of the table of options that belongs to the commands that start no agent."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from nightrook.config.option import (
    Bytes,
    Count,
    File,
    Flag,
    Folder,
    Name,
    Seconds,
    Texts,
)
from nightrook.model.status import ListedStatus

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
            "copy into rook.toml. Nothing is run.",
            metavar="FILE",
            completes="files",
        ),
    ] = None


class DiffOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook diff`."""

    stat: Annotated[bool, Flag(help="Print the changed files with how much of them changed.")] = (
        False
    )
    name_only: Annotated[bool, Flag(help="Print only the names of the changed files.")] = False
    no_pager: Annotated[bool, Flag(help="Print to the terminal instead of opening a pager.")] = (
        False
    )


class ApplyOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook apply`."""

    commit: Annotated[bool, Flag(help="Commit what was applied, and nothing else.")] = False
    branch: Annotated[
        Name | None,
        Flag(
            help="Make a new branch with the commits of the run instead; no file is changed.",
            metavar="NAME",
        ),
    ] = None
    files: Annotated[
        bool,
        Flag(
            help="Unpack the files outside of git that a fleet run brought back instead, into a "
            "new folder with the name of the run."
        ),
    ] = False


class AnswerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook answer`."""

    list: Annotated[bool, Flag(help="Only list what is asked.")] = False
    json: Annotated[bool, Flag(help="Print one JSON object for each question.")] = False


class AttachOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook attach`."""

    from_now: Annotated[bool, Flag(help="Leave out what happened before.")] = False
    stop: Annotated[bool, Flag(help="Stop the run, and show how it ends.")] = False


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


class ShowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook show`."""

    full: Annotated[bool, Flag(help="Show everything: texts, inputs, outputs and diffs.")] = False
    no_pager: Annotated[bool, Flag(help="Print to the terminal instead of a pager.")] = False
    html: Annotated[
        File | None,
        Flag(
            help="Write a run or session to FILE as one HTML page without scripts.", metavar="FILE"
        ),
    ] = None
    md: Annotated[bool, Flag(help="Print a run or session as Markdown.")] = False
    json: Annotated[
        bool,
        Flag(help="Print one JSON object: the steps of a run or session and what each turn used."),
    ] = False


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
