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

    json: Annotated[bool, Flag("Print one JSON object for each agent.")] = False
    check: Annotated[bool, Flag("Exit with code 1 if an installed version was not checked.")] = (
        False
    )
    registry: Annotated[
        File | None,
        Flag(
            "Show the agents of an ACP registry (registry.json or agent.json) as sections to "
            "copy into rook.toml. Nothing is run.",
            metavar="FILE",
            completes="files",
        ),
    ] = None


class DiffOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook diff`."""

    stat: Annotated[bool, Flag("Print the changed files with how much of them changed.")] = False
    name_only: Annotated[bool, Flag("Print only the names of the changed files.")] = False
    no_pager: Annotated[bool, Flag("Print to the terminal instead of opening a pager.")] = False


class ApplyOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook apply`."""

    commit: Annotated[bool, Flag("Commit what was applied, and nothing else.")] = False
    branch: Annotated[
        Name | None,
        Flag(
            "Make a new branch with the commits of the run instead; no file is changed.",
            metavar="NAME",
        ),
    ] = None
    files: Annotated[
        bool,
        Flag(
            "Unpack the files outside of git that a fleet run brought back instead, into a "
            "new folder with the name of the run."
        ),
    ] = False


class AnswerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook answer`."""

    list: Annotated[bool, Flag("Only list what is asked.")] = False
    json: Annotated[bool, Flag("Print one JSON object for each question.")] = False


class AttachOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook attach`."""

    from_now: Annotated[bool, Flag("Leave out what happened before.")] = False
    stop: Annotated[bool, Flag("Stop the run, and show how it ends.")] = False


class DecodeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook decode`."""

    agent: Annotated[
        Name | None,
        Flag(
            "The agent that wrote the stream (detected by default).",
            metavar="NAME",
            completes="agents",
        ),
    ] = None
    format: Annotated[
        Literal["jsonl", "text"], Flag("Print JSON lines for programs, or text for people.")
    ] = "jsonl"
    summary: Annotated[
        bool, Flag("Print one JSON object for each file: what happened, and what it cost.")
    ] = False
    verbose: Annotated[
        bool,
        Flag(
            "With --format text, show tool outputs, retries, limits and notices too.",
            words=("--verbose", "-v"),
        ),
    ] = False


class RemoveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook rm`."""

    older_than: Annotated[
        Seconds | None, Flag("Remove what has not changed for this long, such as 30d.")
    ] = None
    keep: Annotated[
        Count | None,
        Flag("Remove all but the N runs, N loops and N batches that changed last.", metavar="N"),
    ] = None
    max_size: Annotated[
        Bytes | None,
        Flag("Remove the oldest until everything takes at most this size, such as 5G."),
    ] = None
    dry_run: Annotated[
        bool,
        Flag("List what would be removed, and remove nothing.", words=("--dry-run", "-n")),
    ] = False
    yes: Annotated[bool, Flag("Remove several things without asking.", words=("--yes", "-y"))] = (
        False
    )

    @property
    def chooses(self) -> bool:
        """True if a rule of age, number or size chooses what to remove."""
        return any(each is not None for each in (self.older_than, self.keep, self.max_size))


class ReplayOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Playing speed of `rook replay` and `rook demo`."""

    speed: Annotated[Speed, Flag("Play this many times as fast.", metavar="FACTOR")] = 1.0
    instant: Annotated[bool, Flag("Play without pauses.", commands=("replay",))] = False


class DemoOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Views that `rook demo` can show instead of a run."""

    history: Annotated[
        bool,
        Flag("Make a home with a month of made-up sessions of five agents, for `rook cost`."),
    ] = False


class ReportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook report`."""

    format: Annotated[
        Literal["markdown", "github", "junit", "json"],
        Flag(
            "Print Markdown, annotations for GitHub Actions (and write the step's summary and "
            "outputs there), JUnit XML, or one JSON object."
        ),
    ] = "markdown"


class ShowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook show`."""

    full: Annotated[bool, Flag("Show everything: texts, inputs, outputs and diffs.")] = False
    no_pager: Annotated[bool, Flag("Print to the terminal instead of a pager.")] = False
    html: Annotated[
        File | None,
        Flag("Write a run or session to FILE as one HTML page without scripts.", metavar="FILE"),
    ] = None
    md: Annotated[bool, Flag("Print a run or session as Markdown.")] = False
    json: Annotated[
        bool,
        Flag("Print one JSON object: the steps of a run or session and what each turn used."),
    ] = False


class ListOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook loops`, `rook batches` and `rook config`."""

    json: Annotated[bool, Flag("Print JSON: one object on each line.")] = False


class RunsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook runs`."""

    json: Annotated[bool, Flag("Print JSON: one object on each line.")] = False
    limit: Annotated[Count, Flag("List at most N runs.", words=("--limit", "-n"), metavar="N")] = 20
    all: Annotated[bool, Flag("List all runs.", words=("--all", "-a"))] = False
    agent: Annotated[
        Name | None, Flag("List runs of this agent.", metavar="NAME", completes="agents")
    ] = None
    status: Annotated[
        ListedStatus | None, Flag("List runs with this status.", metavar="STATUS")
    ] = None
    cwd: Annotated[
        Folder | None,
        Flag("List runs in this folder and below it.", metavar="DIR", completes="folders"),
    ] = None
    since: Annotated[
        Seconds | None, Flag("List runs that started within this time, such as 7d.")
    ] = None
    sessions: Annotated[
        bool,
        Flag("List loops, and the sessions that you had with agents without rook, too."),
    ] = False


class WebOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook web`."""

    port: Annotated[
        Port | None,
        Flag("Listen on this port.", metavar="N", default="a random one, again after a restart"),
    ] = None
    no_open: Annotated[bool, Flag("Print the address without opening a browser.")] = False
    detach: Annotated[
        bool,
        Flag(
            "Serve in the background, until no page has been open and no run alive for half "
            "an hour.",
            words=("--detach", "-d"),
        ),
    ] = False
    read_only: Annotated[bool, Flag("Show everything, but answer no question and stop no run.")] = (
        False
    )
    demo: Annotated[
        bool, Flag("Play scripted runs, one with a question, in a home of their own.")
    ] = False
    listen: Annotated[
        Name | None,
        Flag(
            "Listen on this address instead of 127.0.0.1; needs --cert and --key, or "
            "--insecure-http.",
            metavar="ADDRESS",
        ),
    ] = None
    cert: Annotated[
        File | None,
        Flag("Serve HTTPS with this certificate.", metavar="FILE", completes="files"),
    ] = None
    key: Annotated[
        File | None,
        Flag("The private key of the certificate.", metavar="FILE", completes="files"),
    ] = None
    insecure_http: Annotated[
        bool,
        Flag(
            "Serve another address without HTTPS: everyone on the way can read the token and "
            "all runs, and answer for you."
        ),
    ] = False
    allow_host: Annotated[
        Texts,
        Flag(
            "A name, with its port, by which browsers reach the server, such as that of a "
            "proxy. Can be repeated.",
            metavar="NAME[:PORT]",
        ),
    ] = ()


class TrustOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook trust`."""

    yes: Annotated[bool, Flag("Trust the file without a question.", words=("--yes", "-y"))] = False
    list: Annotated[bool, Flag("List the files that you trust.")] = False
    revoke: Annotated[bool, Flag("Stop trusting the project's file.")] = False
