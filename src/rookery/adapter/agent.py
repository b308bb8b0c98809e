"""What outsiders may know of an agent: its name, how to call it, how to read it."""

import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from rookery.model.events import Event, ToolStarted
from rookery.model.questions import Ask, Decision
from rookery.model.records import Decoder

Permission = Literal["ask", "edit", "all", "plan", "agent"]
"""What an agent may do unasked: edit files, everything, only plan, or what its own settings say.

With `ask` its settings decide too, and whatever they leave open is asked for.
"""


PERMIT_EDITS = "--permission edit"
"""The `fix` of a call that was denied and that no rule lets pass, but the permission to edit."""

PERMIT_ALL = "--permission all"
"""The `fix` of a call that was denied and that no rule is known to let pass."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is asked to do, in words no agent owns."""

    prompt: str
    model: str | None = None
    permission: Permission = "agent"
    allow: tuple[str, ...] = ()
    max_cost: float | None = None
    max_turns: int | None = None
    resume: str | None = None
    """The session to go on with."""

    stream: bool = True
    """Whether it shall write messages for machines; else the plain text of its answer."""

    partial: bool = False
    """Whether somebody watches, or a budget needs to know, before a message is whole."""

    via: str | None = None
    """Which of the ways that the agent has to be run in; None is its usual one."""

    args: tuple[str, ...] = ()
    """Further arguments, passed on as they are."""


Told = Literal["yes", "no", "partly"]
"""Whether an agent tells a thing in its stream."""


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """One of several ways to run an agent."""

    name: str
    asks: bool = False
    """Whether it can ask when it is run so."""

    usage: Told
    """Whether it tells all that it uses while it works."""

    notes: tuple[str, ...] = ()
    """What differs from its usual way, a sentence each."""


def _says_nothing(event: Event, line: Callable[[], bytes]) -> bytes:
    """Have nothing to say but answers."""
    return b""


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent talks with whoever started it."""

    read: Callable[[bytes], Ask | None]
    """Tells what a line that it wrote asks; None if that is nothing that can be answered."""

    answer: Callable[[bytes, Decision], bytes]
    """Makes the answer to such a line, to be written to its standard input."""

    interrupt: Callable[[], bytes]
    """Makes what to write there to have it break off and tell its result."""

    hear: Callable[[Event, Callable[[], bytes]], bytes] = _says_nothing
    """Takes what it told, and how to get the line; makes what to write there without being asked.

    For an agent that must be led through a protocol.
    """


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """How to call an agent: its command line, what it reads, and how to ask it to end."""

    command: tuple[str, ...]
    stdin: bytes | None = None
    """What to write to its standard input; None closes it."""

    stays_open: bool = False
    """Whether its standard input stays open after that, for answers to what it asks."""

    asking: Asking | None = None
    """How it talks when it is called so, if not as the agent always does."""

    ask_signal: int = signal.SIGTERM
    """The signal that makes it end in order."""

    environment: Mapping[str, str] = {}
    """Variables that it needs beside those it inherits."""


class Replacement(msgspec.Struct, frozen=True):
    """A piece of text that an edit puts in place of another; of a new file the old is empty."""

    before: str
    after: str


def no_replacements(started: ToolStarted) -> tuple[Replacement, ...]:
    """What an agent gives whose edits do not tell their text."""
    return ()


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent tells of itself, so that what it keeps to itself is never shown as 0."""

    deltas: Told
    """Pieces of a text before it is whole."""

    thinking: Told
    subagents: Told
    """What its subagents do, not only that they were called."""

    usage: Told
    cost: Told
    denials: Told
    exit_codes: Told
    """How the commands that it ran ended."""

    resume: Told
    """Whether a session can be gone on with."""

    end_event: Told
    """Whether a message says that the turn is over, and how it went."""

    calls: Told = "yes"
    """That a tool was called, while it is at work."""

    notes: tuple[str, ...] = ()
    """What a user should know of the above, a sentence each."""


def _begins(command: Sequence[str]) -> bool:
    """Know no session that could be gone on with."""
    return False


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """One coding agent. Everything else about it stays in its own folder."""

    name: str
    programs: tuple[str, ...]
    """What its command is called, without folder and `.exe`."""

    install: str
    """The command that installs it."""

    output_flags: tuple[str, ...]
    """The flags that make it write messages for machines."""

    checked_versions: tuple[str, ...]
    """The versions whose every message was looked at."""

    capabilities: Capabilities
    """What its stream tells."""

    evidence: Literal["recordings", "documentation"]
    """What our knowledge of its stream comes from."""

    decoder: Callable[..., Decoder]
    """Makes a decoder for one stream; takes `cap`, the longest line in bytes."""

    recognises: Callable[[Mapping[str, Any]], bool]
    """Tells whether a message looks like one of its own."""

    invoke: Callable[[Task], Invocation]
    """Makes the command line for a task; the program is its first name, found on PATH."""

    with_output_flags: Callable[[Sequence[str]], list[str] | None]
    """Adds to a headless prompt that the user typed what makes it write messages, if it is missing.

    None if the user asks for an output that is no messages, or if the command is no such prompt:
    nothing may turn it into one.
    """

    keeps_variable: Callable[[str], bool]
    """Tells whether a variable of our environment is good for it: some confuse a nested agent."""

    continues: Callable[[Sequence[str]], bool] = _begins
    """Tells whether a command line goes on with a session, whose cumulative counters go on, too."""

    replacements: Callable[[ToolStarted], tuple[Replacement, ...]] = no_replacements
    """Reads from a tool call what text it replaces, so that a page can show the difference."""

    chatter: tuple[str, ...] = ()
    """How lines on its standard error begin that tell nothing to who runs it so.

    They are kept like all that it writes, but not shown while it works.
    """

    limit_codes: Mapping[int, str] = {}
    """The exit codes by which alone it tells that it reached a limit of its own, and which."""

    asking: Asking | None = None
    """How it asks while it works; None if it cannot, at least not in its usual way."""

    ways: tuple[Way, ...] = ()
    """The ways to run it, the usual one first; empty if there is but one."""
