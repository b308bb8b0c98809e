"""The one table of options: each is a field here, with its type, its default and its help.

Commands that start no agent have theirs in `command_options.py`, those of the archive in
`archive/options.py`, `rook batch` in `batch_options.py`.

Command-line options, the settings of `rook.toml`, `ROOK_…` variables, shell completion and
the man page derive from it. Each struct is what one or several commands receive as one value.
"""

from typing import Annotated, Literal, Self

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from nightrook.adapter.agent import Permission
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

Format = Literal["text", "jsonl", "raw"]
"""Lines for people, records for programs, or the agent's own bytes."""

FeedMode = Literal["append", "prepend", "replace", "none"]
"""Where the output of failed checks goes in the next prompt of a loop."""

StdinMode = Literal["auto", "wait", "ignore"]
"""Whether to wait for what is piped to rook: for a few seconds, until it ends, or not at all."""

STDIN_HELP = (
    "Add what is piped to rook: if it begins within 3 seconds (auto), however long it takes (wait),"
    " or never (ignore)."
)

OnStuck = Literal["warn", "stop", "retry"]
LoopPermission = Literal["ask", "edit", "all", "plan", "agent"]
"""What an agent may do in a loop or a batch; with `ask`, other processes answer."""

OnLimit = Annotated[
    str, Meta(pattern=r"^(wait|stop|switch:.+)$", title="wait, stop or switch:AGENT")
]

_RUN = ("run",)

LIMIT_OPTIONS = Limits(time="timeout", cost="max_cost", tokens="max_tokens", turns="max_turns")
"""The option of a run for each thing that can be limited."""


class AgentOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which agent works, what it may do, and what it may use."""

    agent: Annotated[
        Name,
        Flag(
            help="The agent to run. `rook agents` lists them.",
            commands=_RUN,
            metavar="NAME",
            setting=True,
            completes="agents",
        ),
    ] = "claude"
    via: Annotated[
        Name | None,
        Flag(
            help="How to run the agent, if there are several ways. `rook agents` lists them.",
            commands=_RUN,
            metavar="WAY",
            completes="ways",
        ),
    ] = None
    model: Annotated[
        Name | None, Flag(help="The model to use.", commands=_RUN, metavar="NAME", setting=True)
    ] = None
    permission: Annotated[
        Permission | None,
        Flag(
            help="What the agent may do: ask you first, edit files, all, only plan, or what its "
            "own settings allow (agent).",
            commands=_RUN,
            default="ask on a terminal, otherwise agent",
            setting=True,
            strict=("plan", "ask"),
        ),
    ] = None
    allow: Annotated[
        Rules,
        Flag(
            help="Allow a tool call, by one of the agent's rules. Can be repeated.",
            commands=_RUN,
            metavar="RULE",
            setting=True,
        ),
    ] = ()
    max_cost: Annotated[
        Dollars | None,
        Flag(
            help="Stop the run when it has cost more than this.",
            metavar="USD",
            setting=True,
            loosens="higher",
        ),
    ] = None
    max_cost_unchecked: Annotated[
        bool,
        Flag(
            help="Run even if --max-cost cannot stop the run, because its cost is not known in "
            "time.",
            setting=True,
            strict=(False,),
        ),
    ] = False
    max_tokens: Annotated[
        Count | None,
        Flag(
            help="Stop the run when it has used more than N tokens.",
            metavar="N",
            setting=True,
            loosens="higher",
        ),
    ] = None
    max_turns: Annotated[
        Count | None,
        Flag(
            help="Stop the run after N turns of the model.",
            metavar="N",
            setting=True,
            loosens="higher",
        ),
    ] = None
    timeout: Annotated[
        Seconds | None,
        Flag(help="Stop the run after this long.", setting=True, loosens="higher"),
    ] = None
    idle_timeout: Annotated[
        Seconds | None,
        Flag(
            help="Treat the run as stuck after this long without output, and stop it.",
            setting=True,
            loosens="higher",
        ),
    ] = None


class PortableOptions(AgentOptions, frozen=True, kw_only=True):
    """What an agent is asked to do, wherever it runs: a job of a fleet contains it."""

    ask_timeout: Annotated[
        Seconds | None,
        Flag(
            help="Deny a tool call that you don't answer within this time.",
            commands=_RUN,
            setting=True,
            loosens="never",
        ),
    ] = 300.0
    allow_denials: Annotated[
        bool,
        Flag(
            help="Count the run as a success even if tool calls were denied.",
            setting=True,
            strict=(False,),
        ),
    ] = False
    max_log_size: Annotated[
        Bytes | None,
        Flag(
            help="Record at most this much of the agent's output; the agent continues.",
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
        """What it may use."""
        return LIMIT_OPTIONS.map(lambda name: getattr(self, name))

    def with_limits(self, limits: Amounts) -> Self:
        """The same options with other limits."""
        return replace(self, **dict(LIMIT_OPTIONS.pairs(limits).values()))


class RunOptions(PortableOptions, frozen=True, kw_only=True):
    """Everything that a run was asked for, from the command line or a program to the recorder."""

    stream: Annotated[
        bool,
        Flag(
            help="Show messages as they arrive, or only the agent's plain text.",
            commands=_RUN,
            setting=True,
            strict=(True,),
        ),
    ] = True
    resume: Annotated[
        Name | None,
        Flag(
            help="Continue the session of an earlier run with the same agent: the name of the run, "
            "last (the newest in this folder), or the agent's own id of the session.",
            commands=_RUN,
            metavar="RUN",
            completes="resumable",
        ),
    ] = None
    cwd: Annotated[
        Folder, Flag(help="The folder to work in.", metavar="DIRECTORY", completes="folders")
    ] = "."
    worktree: Annotated[
        bool, Flag(help="Work in a separate git worktree, on a new branch.", commands=_RUN)
    ] = False
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
    """How many seconds an agent may stay silent after its last result before it is ended."""

    @property
    def portable(self) -> PortableOptions:
        """Those that mean the same on another machine."""
        names = PortableOptions.__struct_fields__
        return PortableOptions(**{name: getattr(self, name) for name in names})


class StartOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How `rook run` and `rook exec` start a run."""

    prompt_file: Annotated[
        File | None,
        Flag(
            help="Read the prompt from FILE; - is standard input.",
            commands=_RUN,
            metavar="FILE",
            completes="files",
        ),
    ] = None
    stdin_mode: Annotated[StdinMode, Flag(help=STDIN_HELP, words=("--stdin",))] = "auto"
    detach: Annotated[
        bool,
        Flag(help="Run in the background and print the run's name.", words=("--detach", "-d")),
    ] = False
    web: Annotated[
        bool, Flag(help="Open the page of the run in the browser, too.", commands=_RUN)
    ] = False


class ViewOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is shown."""

    format: Annotated[
        Format,
        Flag(
            help="Print lines for people, records as JSON lines, or the agent's own bytes.",
            commands=("run", "exec", "replay"),
        ),
    ] = "text"
    json: Annotated[
        bool,
        Flag(
            help="Print one JSON object at the end, and nothing else.",
            commands=("run", "exec", "attach", "rook"),
        ),
    ] = False
    quiet: Annotated[
        bool,
        Flag(
            help="Print only the final answer.",
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
            help="Show every text whole, tool outputs, durations and notices.",
            words=("--verbose", "-v"),
            setting=True,
            loosens="never",
            yields_to=("quiet",),
        ),
    ] = False
    no_text: Annotated[
        bool,
        Flag(
            help="Leave out the agent's messages.",
            commands=("run", "exec", "attach", "replay", "rook"),
            setting=True,
            strict=(False,),
        ),
    ] = False

    no_answer: Annotated[
        bool,
        Flag(
            help="Leave out the final answer at the end.",
            commands=("run", "exec", "attach", "replay", "show", "rook"),
            setting=True,
            strict=(False,),
        ),
    ] = False

    @property
    def text(self) -> bool:
        """Whether the agent's messages are shown."""
        return not self.no_text

    @property
    def lively(self) -> bool:
        """Whether lines for people are shown during the run."""
        return self.format == "text" and not self.quiet and not self.json


class PipeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `agent … | rook`."""

    agent: Annotated[
        Name | None,
        Flag(
            help="The agent that writes the stream (detected by default).",
            metavar="NAME",
            completes="agents",
        ),
    ] = None
    tee: Annotated[bool, Flag(help="Copy the stream to stdout and show the run on stderr.")] = False
    no_record: Annotated[bool, Flag(help="Don't record the stream as a run.")] = False


class LoopOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook loop`."""

    agent: Annotated[
        Name,
        Flag(
            setting=True,
            help="The agent to run. `rook agents` lists them.",
            metavar="NAME",
            completes="agents",
        ),
    ] = "claude"
    via: Annotated[
        Name | None, Flag(help="How to run the agent, if there are several ways.", metavar="WAY")
    ] = None
    model: Annotated[Name | None, Flag(setting=True, help="The model to use.", metavar="NAME")] = (
        None
    )
    cwd: Annotated[
        Folder, Flag(help="The folder to work in.", metavar="DIRECTORY", completes="folders")
    ] = "."
    permission: Annotated[
        LoopPermission,
        Flag(
            setting=True,
            help="What the agent may do: ask you first (in rook attach, rook answer or rook web), "
            "edit files, all, only plan, or what its own settings allow (agent).",
            not_by_setting=("ask",),
        ),
    ] = "agent"
    allow: Annotated[
        Rules,
        Flag(
            setting=True,
            help="Allow a tool call, by one of the agent's rules. Can be repeated.",
            metavar="RULE",
        ),
    ] = ()
    until: Annotated[
        Text | None,
        Flag(help="The loop is done when this is the agent's whole answer.", metavar="TEXT"),
    ] = None
    signals: Annotated[
        Texts,
        Flag(
            help="The loop is done when the agent prints this line. Can be repeated.",
            words=("--signal",),
            metavar="WORD",
        ),
    ] = ()
    ask_done: Annotated[
        bool,
        Flag(
            help="The loop is done when the agent answers with a one-time completion word, which "
            "each prompt asks for. This is the default without --until, --signal and --check."
        ),
    ] = False
    checks: Annotated[
        Texts,
        Flag(
            help="A shell command that must pass before the loop is done. Can be repeated.",
            words=("--check",),
            metavar="CMD",
        ),
    ] = ()
    check_timeout: Annotated[Seconds, Flag(help="Stop a check after this long.")] = 600.0
    check_first: Annotated[
        bool,
        Flag(
            help="Run the checks before the first iteration, and start none if the work is done.",
            words=("--check-first/--no-check-first",),
        ),
    ] = True
    feed: Annotated[
        FeedMode, Flag(help="Where a failed check's output goes in the next prompt.")
    ] = "append"
    feed_bytes: Annotated[
        Count, Flag(help="Pass on at most N bytes of a check's output.", metavar="N")
    ] = 8000
    max_iterations: Annotated[
        Count, Flag(help="Stop after N iterations (waits don't count).", metavar="N")
    ] = 20
    max_time: Annotated[Seconds, Flag(help="Stop the loop after this long.")] = 8 * 3600.0
    max_cost: Annotated[
        Dollars, Flag(setting=True, help="Stop the loop when it has cost this much.", metavar="USD")
    ] = 10.0
    max_cost_unchecked: Annotated[
        bool,
        Flag(
            setting=True,
            help="Run even if --max-cost cannot stop an iteration, because its cost is not known "
            "in time.",
        ),
    ] = False
    max_tokens: Annotated[
        Count, Flag(setting=True, help="Stop the loop when it has used N tokens.", metavar="N")
    ] = 50_000_000
    max_turns: Annotated[
        Count, Flag(setting=True, help="Stop the loop after N turns of the model.", metavar="N")
    ] = 1000
    timeout: Annotated[
        Seconds | None, Flag(setting=True, help="Stop one iteration after this long.")
    ] = None
    idle_timeout: Annotated[
        Seconds, Flag(setting=True, help="Treat the run as stuck after this long without output.")
    ] = 600.0
    on_stuck: Annotated[OnStuck, Flag(help="What to do when the run is stuck.")] = "stop"
    on_limit: Annotated[
        OnLimit,
        Flag(
            help="What to do when the provider's limit is reached.",
            metavar="wait|stop|switch:AGENT",
        ),
    ] = "wait"
    max_quota: Annotated[
        Share | None,
        Flag(help="Start no iteration when this share of a quota is used.", metavar="SHARE"),
    ] = None
    continue_session: Annotated[
        bool, Flag(help="Continue the session instead of starting a new one each time.")
    ] = False
    commit: Annotated[bool, Flag(help="Commit what each iteration changed.")] = False
    worktree: Annotated[bool, Flag(help="Work in a separate git worktree.")] = False
    prompt_file: Annotated[
        File | None,
        Flag(
            help="Read the prompt from FILE before every iteration; - is standard input.",
            metavar="FILE",
            completes="files",
        ),
    ] = None
    stdin_mode: Annotated[StdinMode, Flag(help=STDIN_HELP, words=("--stdin",))] = "auto"
    resume: Annotated[
        Name | None,
        Flag(help="Continue a loop that stopped.", metavar="LOOP", completes="loops"),
    ] = None
    detach: Annotated[
        bool,
        Flag(help="Run in the background and print the loop's name.", words=("--detach", "-d")),
    ] = False
    format: Annotated[
        Literal["text", "jsonl"],
        Flag(help="Print lines for people, or the loop's events as JSON lines."),
    ] = "text"
    quiet: Annotated[
        bool,
        Flag(
            setting=True,
            help="Print only the table at the end.",
            words=("--quiet", "-q"),
            yields_to=("verbose", "format"),
        ),
    ] = False
