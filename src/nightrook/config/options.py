"""The table of options: each is one field, with its type, its default, its help and its group.

The command line, the settings of `rook.toml`, `ROOK_…` variables, shell completion, the man page,
the table in docs/configuration.md and the keywords of `nightrook.run` and `nightrook.loop` derive
from it. Each struct is what one or several commands receive as one value. Here are those of the
commands that start an agent; `command_options`, `archive_options` and `fleet_options` have the
others, and `settings` what is a setting and no option.

    AgentOptions ─┬─ PortableOptions ── RunOptions     run, exec, tasks of a batch; jobs of a fleet
                  └─ LoopOptions                       loop        contain their PortableOptions
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from nightrook.config.fleet_options import CredentialsOption
from nightrook.config.option import (
    Bytes,
    Count,
    Dollars,
    File,
    Flag,
    Folder,
    Name,
    Rules,
    Seconds,
    Share,
    Text,
    Texts,
)
from nightrook.model.limits import Amounts, Limits
from nightrook.model.permissions import Permission

Format = Literal["text", "jsonl", "raw"]
"""Lines for people, records for programs, or the agent's own bytes."""

FeedMode = Literal["append", "prepend", "replace", "none"]
"""Place of the output of failed checks in the next prompt of a loop."""

StdinMode = Literal["auto", "wait", "ignore"]
"""Waiting for piped input: for a few seconds, until it ends, or not at all."""

OnStuck = Literal["warn", "stop", "retry"]
OnLimit = Annotated[
    str, Meta(pattern=r"^(wait|stop|switch:.+)$", title="wait, stop or switch:AGENT")
]

_RUN = ("run",)
_WITH_AGENT = ("run", "loop")

WorkingFolder = Annotated[
    Folder,
    Flag(
        "The folder to work in.",
        group="Prompt and folder",
        metavar="DIRECTORY",
        completes="folders",
    ),
]
Worktree = Annotated[
    bool,
    Flag(
        "Work in a separate git worktree, on a new branch.",
        group="Prompt and folder",
        commands=_WITH_AGENT,
    ),
]
StdinOption = Annotated[
    StdinMode,
    Flag(
        "Add what is piped to rook: if it begins within 3 seconds (auto), however long it takes "
        "(wait), or never (ignore).",
        group="Prompt and folder",
        words=("--stdin",),
    ),
]

RetryLostOption = Annotated[
    Count | None,
    Flag("On a fleet: try a {run} that was lost N more times.", group="Fleet", metavar="N"),
]
FilesOption = Annotated[
    Texts,
    Flag(
        "With --repo: also bring back files that git ignores, by a pattern such as 'build/**'; "
        "rook apply --files unpacks them. Can be repeated.",
        group="Fleet",
        metavar="PATTERN",
    ),
]

LIMIT_OPTIONS = Limits(time="timeout", cost="max_cost", tokens="max_tokens", turns="max_turns")
"""The option of a run for each thing that can be limited."""


class AgentOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The agent, its permissions and its limits."""

    agent: Annotated[
        Name,
        Flag(
            "The agent to run. `rook agents` lists them.",
            group="Agent",
            commands=_WITH_AGENT,
            metavar="NAME",
            setting=True,
            completes="agents",
        ),
    ] = "claude"
    via: Annotated[
        Name | None,
        Flag(
            "How to run the agent, if there are several ways. `rook agents` lists them.",
            group="Agent",
            commands=_WITH_AGENT,
            metavar="WAY",
            completes="ways",
        ),
    ] = None
    model: Annotated[
        Name | None,
        Flag(
            "The model to use.", group="Agent", commands=_WITH_AGENT, metavar="NAME", setting=True
        ),
    ] = None
    permission: Annotated[
        Permission | None,
        Flag(
            "What the agent may do: ask you first, edit files, all, only plan, or what its "
            "own settings allow (agent).",
            group="Agent",
            commands=_WITH_AGENT,
            default="ask on a terminal, otherwise agent",
            setting=True,
            strict=("plan", "ask"),
        ),
    ] = None
    allow: Annotated[
        Rules,
        Flag(
            "Allow a tool call, by one of the agent's rules. Can be repeated.",
            group="Agent",
            commands=_WITH_AGENT,
            metavar="RULE",
            setting=True,
        ),
    ] = ()
    max_cost: Annotated[
        Dollars | None,
        Flag(
            "Stop the {run} when it has cost more than this.",
            group="Limits",
            metavar="USD",
            setting=True,
            loosens="higher",
        ),
    ] = None
    max_cost_unchecked: Annotated[
        bool,
        Flag(
            "Run even if --max-cost cannot stop the {run}, because its cost is not known in time.",
            group="Limits",
            setting=True,
            strict=(False,),
        ),
    ] = False
    max_tokens: Annotated[
        Count | None,
        Flag(
            "Stop the {run} when it has used more than N tokens.",
            group="Limits",
            metavar="N",
            setting=True,
            loosens="higher",
        ),
    ] = None
    max_turns: Annotated[
        Count | None,
        Flag(
            "Stop the {run} after N turns of the model.",
            group="Limits",
            metavar="N",
            setting=True,
            loosens="higher",
        ),
    ] = None
    timeout: Annotated[
        Seconds | None,
        Flag("Stop the {run} after this long.", group="Limits", setting=True, loosens="higher"),
    ] = None
    idle_timeout: Annotated[
        Seconds | None,
        Flag(
            "Treat the run as stuck after this long without output, and stop it.",
            group="Limits",
            setting=True,
            loosens="higher",
        ),
    ] = None


class PortableOptions(AgentOptions, frozen=True, kw_only=True):
    """Options of a task that hold on any machine: a job of a fleet contains them."""

    ask_timeout: Annotated[
        Seconds | None,
        Flag(
            "Deny a tool call that you don't answer within this time.",
            group="Agent",
            commands=_RUN,
            setting=True,
            loosens="never",
        ),
    ] = 300.0
    allow_denials: Annotated[
        bool,
        Flag(
            "Count the run as a success even if tool calls were denied.",
            group="Agent",
            setting=True,
            strict=(False,),
        ),
    ] = False
    max_log_size: Annotated[
        Bytes | None,
        Flag(
            "Record at most this much of the agent's output; the agent continues.",
            group="Limits",
            metavar="SIZE",
            setting=True,
        ),
    ] = 10_000_000_000
    prompt: str | None = None
    stdin: str | None = None
    """Text to add to the prompt, as the agent itself adds what is piped to it."""

    args: tuple[str, ...] = ()
    """Further arguments for the agent, passed on as they are."""

    partial: bool | None = None
    """Whether to ask for messages in pieces; None means only if a budget needs it."""

    @property
    def limits(self) -> Amounts:
        """The limits of time, cost, tokens and turns."""
        return LIMIT_OPTIONS.map(lambda name: getattr(self, name))

    def with_limits(self, limits: Amounts) -> Self:
        """The same options with other limits."""
        return replace(self, **dict(LIMIT_OPTIONS.pairs(limits).values()))


class RunOptions(PortableOptions, frozen=True, kw_only=True):
    """All options of a run, from the command line or a program to the recorder."""

    stream: Annotated[
        bool,
        Flag(
            "Show messages as they arrive, or only the agent's plain text.",
            group="Agent",
            commands=_RUN,
            setting=True,
            strict=(True,),
        ),
    ] = True
    resume: Annotated[
        Name | None,
        Flag(
            "Continue the session of an earlier run with the same agent: the name of the run, "
            "last (the newest in this folder), or the agent's own id of the session.",
            group="Agent",
            commands=_RUN,
            metavar="RUN",
            completes="resumable",
        ),
    ] = None
    cwd: WorkingFolder = "."
    worktree: Worktree = False
    env: dict[str, str] = {}
    """Variables to add to our own environment."""

    program: tuple[str, ...] | None = None
    """What to call instead of the agent found on PATH."""

    called: str | None = None
    """The name that the user gave that program."""

    home: str | None = None
    """The folder that holds all runs; None means the user's."""

    loop: tuple[str, int] | None = None
    """The loop or batch that asks for the run, and which of its runs it is."""

    grace: float = 10.0
    """Seconds an agent may stay silent after its last result before it is ended."""

    @property
    def portable(self) -> PortableOptions:
        """The options that mean the same on another machine."""
        names = PortableOptions.__struct_fields__
        return PortableOptions(**{name: getattr(self, name) for name in names})


class StartOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for starting a run with `rook run` and `rook exec`."""

    prompt_file: Annotated[
        File | None,
        Flag(
            "Read the prompt from FILE; - is standard input.",
            group="Prompt and folder",
            commands=_RUN,
            metavar="FILE",
            completes="files",
        ),
    ] = None
    stdin_mode: StdinOption = "auto"
    detach: Annotated[
        bool,
        Flag(
            "Run in the background and print the run's name.",
            group="Background",
            words=("--detach", "-d"),
        ),
    ] = False
    web: Annotated[
        bool,
        Flag("Open the page of the run in the browser, too.", group="Background", commands=_RUN),
    ] = False


class ViewOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for showing a run."""

    format: Annotated[
        Format,
        Flag(
            "Print lines for people, records as JSON lines, or the agent's own bytes.",
            group="Output",
            commands=("run", "exec", "replay"),
        ),
    ] = "text"
    json: Annotated[
        bool,
        Flag(
            "Print one JSON object at the end, and nothing else.",
            group="Output",
            commands=("run", "exec", "attach", "rook"),
        ),
    ] = False
    quiet: Annotated[
        bool,
        Flag(
            "Print only the final answer.",
            group="Output",
            commands=("run", "exec", "attach", "rook"),
            words=("--quiet", "-q"),
            setting=True,
            strict=(False,),
            yields_to=("verbose", "json", "format"),
        ),
    ] = False
    verbose: Annotated[
        bool,
        Flag(
            "Show every text whole, tool outputs, durations and notices.",
            group="Output",
            words=("--verbose", "-v"),
            setting=True,
            loosens="never",
            yields_to=("quiet",),
        ),
    ] = False
    no_text: Annotated[
        bool,
        Flag(
            "Leave out the agent's messages.",
            group="Output",
            commands=("run", "exec", "attach", "replay", "rook"),
            setting=True,
            strict=(False,),
        ),
    ] = False

    no_answer: Annotated[
        bool,
        Flag(
            "Leave out the final answer at the end.",
            group="Output",
            commands=("run", "exec", "attach", "replay", "show", "rook"),
            setting=True,
            strict=(False,),
        ),
    ] = False

    @property
    def text(self) -> bool:
        """True if the agent's messages are shown."""
        return not self.no_text

    @property
    def lively(self) -> bool:
        """True if lines for people are shown during the run."""
        return self.format == "text" and not self.quiet and not self.json


class EndOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for commands, notifications and CI reports at the end of a run, a loop or a batch."""

    on_end: Annotated[
        Text | None,
        Flag(
            "Run a shell command once at the end; ROOK_STATUS and so on say how it ended.",
            group="At the end",
            metavar="CMD",
            setting=True,
        ),
    ] = None
    notify: Annotated[
        Texts,
        Flag(
            "Send a message to this address of apprise at the end. Can be repeated.",
            group="At the end",
            metavar="URL",
            setting=True,
            secret=True,
        ),
    ] = ()
    desktop_after: Annotated[
        Seconds,
        Flag(
            "On a terminal, show a desktop notification if it took at least this long.",
            group="At the end",
            setting=True,
            loosens="never",
        ),
    ] = 60.0
    no_desktop: Annotated[
        bool,
        Flag("Show no desktop notification.", group="At the end", setting=True, strict=(False,)),
    ] = False
    no_ci: Annotated[
        bool,
        Flag(
            "In CI, write no groups, annotations, summary and outputs for the service.",
            group="At the end",
            setting=True,
            strict=(False,),
        ),
    ] = False


class PipeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `agent … | rook`."""

    agent: Annotated[
        Name | None,
        Flag(
            "The agent that writes the stream (detected by default).",
            metavar="NAME",
            completes="agents",
        ),
    ] = None
    tee: Annotated[bool, Flag("Copy the stream to stdout and show the run on stderr.")] = False
    no_record: Annotated[bool, Flag("Don't record the stream as a run.")] = False


class LoopOptions(AgentOptions, frozen=True, kw_only=True):
    """The options of `rook loop`: those of each of its runs, and how often they are repeated.

    Limits are those of the whole loop, but for `timeout` and `idle_timeout`.
    """

    permission: Annotated[
        Permission,
        Flag(
            "What the agent may do: ask you first (in rook attach, rook answer or rook web), "
            "edit files, all, only plan, or what its own settings allow (agent).",
            default="agent",
            not_by_setting=("ask",),
        ),
    ] = "agent"
    max_cost: Dollars = 10.0
    max_tokens: Count = 50_000_000
    max_turns: Count = 1000
    timeout: Annotated[Seconds | None, Flag("Stop one iteration after this long.")] = None
    idle_timeout: Annotated[
        Seconds, Flag("Treat the run as stuck after this long without output.")
    ] = 600.0
    cwd: WorkingFolder = "."
    worktree: Worktree = False
    until: Annotated[
        Text | None,
        Flag(
            "The loop is done when this is the agent's whole answer.", group="Goal", metavar="TEXT"
        ),
    ] = None
    signals: Annotated[
        Texts,
        Flag(
            "The loop is done when the agent prints this line. Can be repeated.",
            group="Goal",
            words=("--signal",),
            metavar="WORD",
        ),
    ] = ()
    ask_done: Annotated[
        bool,
        Flag(
            "The loop is done when the agent answers with a one-time completion word, which "
            "each prompt asks for. This is the default without --until, --signal and --check.",
            group="Goal",
        ),
    ] = False
    checks: Annotated[
        Texts,
        Flag(
            "A shell command that must pass before the loop is done. Can be repeated.",
            group="Goal",
            words=("--check",),
            metavar="CMD",
        ),
    ] = ()
    check_timeout: Annotated[Seconds, Flag("Stop a check after this long.", group="Goal")] = 600.0
    check_first: Annotated[
        bool,
        Flag(
            "Run the checks before the first iteration, and start none if the work is done.",
            group="Goal",
            words=("--check-first/--no-check-first",),
        ),
    ] = True
    feed: Annotated[
        FeedMode, Flag("Where a failed check's output goes in the next prompt.", group="Goal")
    ] = "append"
    feed_bytes: Annotated[
        Count, Flag("Pass on at most N bytes of a check's output.", group="Goal", metavar="N")
    ] = 8000
    max_iterations: Annotated[
        Count, Flag("Stop after N iterations (waits don't count).", group="Limits", metavar="N")
    ] = 20
    max_time: Annotated[Seconds, Flag("Stop the loop after this long.", group="Limits")] = (
        8 * 3600.0
    )
    on_stuck: Annotated[OnStuck, Flag("What to do when the run is stuck.", group="Iterations")] = (
        "stop"
    )
    on_limit: Annotated[
        OnLimit,
        Flag(
            "What to do when the provider's limit is reached.",
            group="Iterations",
            metavar="wait|stop|switch:AGENT",
        ),
    ] = "wait"
    max_quota: Annotated[
        Share | None,
        Flag(
            "Start no iteration when this share of a quota is used.",
            group="Iterations",
            metavar="SHARE",
        ),
    ] = None
    continue_session: Annotated[
        bool,
        Flag("Continue the session instead of starting a new one each time.", group="Iterations"),
    ] = False
    commit: Annotated[bool, Flag("Commit what each iteration changed.", group="Iterations")] = False
    prompt_file: Annotated[
        File | None,
        Flag(
            "Read the prompt from FILE before every iteration; - is standard input.",
            group="Prompt and folder",
            metavar="FILE",
            completes="files",
        ),
    ] = None
    stdin_mode: StdinOption = "auto"
    resume: Annotated[
        Name | None,
        Flag(
            "Continue a loop that stopped.", group="Iterations", metavar="LOOP", completes="loops"
        ),
    ] = None
    detach: Annotated[
        bool,
        Flag(
            "Run in the background and print the loop's name.",
            group="Background",
            words=("--detach", "-d"),
        ),
    ] = False
    format: Annotated[
        Literal["text", "jsonl"],
        Flag("Print lines for people, or the loop's events as JSON lines.", group="Output"),
    ] = "text"
    quiet: Annotated[
        bool,
        Flag(
            "Print only the table at the end.",
            group="Output",
            setting=True,
            words=("--quiet", "-q"),
            yields_to=("verbose", "format"),
        ),
    ] = False


class RemoteOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook run` for a run on a fleet, or one that a fleet can watch."""

    on: Annotated[
        Name | None,
        Flag(
            "Run on a machine of your fleet instead of here; after a colon, one that has "
            "this label.",
            group="Fleet",
            metavar="fleet[:LABEL]",
        ),
    ] = None
    retry_lost: RetryLostOption = None
    lease: Annotated[
        Seconds | None,
        Flag(
            "On a fleet: how long a machine may be silent before its run is lost.",
            group="Fleet",
            default="15s",
        ),
    ] = None
    repo: Annotated[
        bool,
        Flag(
            "On a fleet: work on a copy of this repository; rook diff shows what changed.",
            group="Fleet",
        ),
    ] = False
    files: FilesOption = ()
    sink: Annotated[
        Text | None,
        Flag(
            "Run here, and send all of it to a fleet: its address, or your credentials.",
            group="Fleet",
            metavar="URL|FILE",
        ),
    ] = None
    credentials: CredentialsOption = None


class BatchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook batch`; None means not given. Those of its tasks are in its file."""

    jobs: Annotated[
        Count | None, Flag("Run up to N tasks at once.", group="Tasks", metavar="N", default="2")
    ] = None
    budget: Annotated[
        Dollars | None,
        Flag(
            "Stop when all tasks together have cost this much.",
            group="Limits",
            words=("--max-cost",),
            metavar="USD",
        ),
    ] = None
    max_cost_unchecked: Annotated[
        bool,
        Flag(
            "Run even if --max-cost cannot stop a task, because its cost is not known in time.",
            group="Limits",
        ),
    ] = False
    resume: Annotated[
        Name | None,
        Flag(
            "Continue a batch with the tasks that have no result yet.",
            group="Tasks",
            metavar="BATCH",
            completes="batches",
        ),
    ] = None
    worktree: Annotated[
        bool, Flag("Run each task in a separate git worktree, on a new branch.", group="Tasks")
    ] = False
    detach: Annotated[
        bool,
        Flag(
            "Run in the background and print the batch's name.",
            group="Background",
            words=("--detach", "-d"),
        ),
    ] = False
    fleet: Annotated[
        bool, Flag("Run the tasks on the machines of your fleet instead of here.", group="Fleet")
    ] = False
    repo: Annotated[
        bool,
        Flag(
            "On a fleet: each task works on a copy of the repository of its folder; rook diff "
            "shows what its run changed.",
            group="Fleet",
        ),
    ] = False
    files: FilesOption = ()
    retry_lost: RetryLostOption = None
    credentials: CredentialsOption = None
    json: Annotated[bool, Flag("Print each result as a JSON line.", group="Output")] = False


_Struct = TypeVar("_Struct", bound=msgspec.Struct)


def with_run(struct: type[_Struct], fields: Mapping[str, Any]) -> _Struct:
    """Make a struct that has its options in `run`; a msgspec.ValidationError if one is wrong."""
    own = struct.__struct_encode_fields__
    run = {name: value for name, value in fields.items() if name not in own}
    rest = {name: value for name, value in fields.items() if name in own}
    return msgspec.convert({**rest, "run": run}, struct)


def flat(value: msgspec.Struct, run: RunOptions, always: Iterable[str]) -> dict[str, Any]:
    """Combine the fields of a struct and of its `run` in one object.

    Fields of `run` that are not in `always` are left out if they have their default.
    """
    names = frozenset(always)
    options, default = msgspec.to_builtins(run), msgspec.to_builtins(RunOptions())
    fields = {
        name: option for name, option in options.items() if name in names or option != default[name]
    }
    rest = msgspec.to_builtins(value)
    del rest["run"]
    return {**fields, **rest}
