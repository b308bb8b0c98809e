"""The one table of options: each is a field here, with its type, default and help.

Command-line options, the settings of `rookery.toml`, `ROOKERY_…` variables, shell completion and
the man page all derive from it.
"""

from typing import Annotated

import msgspec

from rookery.adapter.agent import Permission
from rookery.config.option import Count, Dollars, Flag, Folder, Name, Rules, Seconds

_RUN = ("run",)


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a run was asked for, from the command line or a program to the recorder."""

    agent: Annotated[
        Name,
        Flag(
            help="The agent to run; `rook agents` lists them.",
            commands=_RUN,
            metavar="NAME",
            setting=True,
            completes="agents",
        ),
    ] = "claude"
    via: Annotated[
        Name | None,
        Flag(
            help="How to run the agent, if there are several ways; `rook agents` lists them.",
            commands=_RUN,
            metavar="WAY",
        ),
    ] = None
    model: Annotated[
        Name | None,
        Flag(help="The model to use.", commands=_RUN, metavar="NAME", setting=True),
    ] = None
    permission: Annotated[
        Permission | None,
        Flag(
            help="What the agent may do without asking: ask you, edit files, all, only plan, or "
            "what its own settings say.",
            commands=_RUN,
            default="ask on a terminal if the agent can ask, else agent",
            setting=True,
        ),
    ] = None
    ask_timeout: Annotated[
        Seconds | None,
        Flag(
            help="Deny a tool call if you don't answer within this time.",
            commands=_RUN,
            setting=True,
        ),
    ] = 300.0
    allow: Annotated[
        Rules,
        Flag(
            help="Allow a tool, by a rule of the agent. Can be repeated.",
            commands=_RUN,
            metavar="RULE",
            setting=True,
        ),
    ] = ()
    max_turns: Annotated[
        Count | None,
        Flag(
            help="Stop the run after N turns of the model.",
            metavar="N",
            setting=True,
        ),
    ] = None
    stream: Annotated[
        bool,
        Flag(
            help="Show messages as they arrive, or only the agent's plain text.",
            commands=_RUN,
            words=("--stream/--no-stream",),
            setting=True,
        ),
    ] = True
    resume: Annotated[
        Name | None,
        Flag(
            help="Continue the session of an earlier run, with the same agent.",
            commands=_RUN,
            metavar="RUN",
            completes="runs",
        ),
    ] = None
    cwd: Annotated[
        Folder, Flag(help="The folder to work in.", completes="folders", metavar="DIRECTORY")
    ] = "."
    max_cost: Annotated[
        Dollars | None,
        Flag(help="Stop the run when it has cost more than this.", metavar="USD", setting=True),
    ] = None
    max_tokens: Annotated[
        Count | None,
        Flag(help="Stop the run when it has used more than N tokens.", metavar="N", setting=True),
    ] = None
    timeout: Annotated[Seconds | None, Flag(help="Stop the run after this long.", setting=True)] = (
        None
    )
    idle_timeout: Annotated[
        Seconds | None,
        Flag(help="Stop the run after this long without any sign of life.", setting=True),
    ] = None

    prompt: str | None = None
    args: tuple[str, ...] = ()
    """Further arguments for the agent, passed on as they are."""

    env: dict[str, str] = {}
    """Variables to add to our own environment."""

    partial: bool | None = None
    """Whether to ask for messages in pieces; None: if a budget needs it."""

    program: tuple[str, ...] | None = None
    """What to call instead of the agent found on PATH."""

    called: str | None = None
    """The name that the user gave that program."""

    home: str | None = None
    """The folder that holds all runs; None: the user's."""

    loop: tuple[str, int] | None = None
    """The loop or batch that asks for the run, and which of its runs it is."""

    allow_denials: bool = False
    """Whether a run counts as a success even if tool calls were denied."""

    grace: float = 10.0
    """How many seconds an agent may stay silent after its last result before it is ended."""
