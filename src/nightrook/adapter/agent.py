"""`Agent`, the description of one coding agent: how to start it, read it and talk to it."""

import re
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from nightrook.model.events import Event, ToolStarted
from nightrook.model.permissions import Permission
from nightrook.model.questions import Ask, Decision
from nightrook.model.records import Decoder


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A task for an agent, in agent-neutral terms."""

    prompt: str
    model: str | None = None
    permission: Permission = "agent"
    allow: tuple[str, ...] = ()
    max_cost: float | None = None
    max_turns: int | None = None
    resume: str | None = None
    """The session to resume."""

    stream: bool = True
    """True if it should write JSON messages; otherwise it writes its answer as plain text."""

    partial: bool = False
    """True if a viewer or a budget needs partial messages."""

    via: str | None = None
    """The name of one of the agent's `ways`; None means the default."""

    cwd: str | None = None
    """The folder it works in, an absolute path; None if that is not known yet."""

    args: tuple[str, ...] = ()
    """Additional arguments, passed unchanged."""


class PromptLimit(msgspec.Struct, frozen=True):
    """The longest prompt that an agent takes, with everything that is piped to it."""

    most: int = 10 * 1024 * 1024
    unit: Literal["bytes", "characters"] = "bytes"

    def size_of(self, prompt: str) -> int:
        """The size of a prompt in this unit."""
        return len(prompt) if self.unit == "characters" else len(prompt.encode())


def prompt_before_stdin(prompt: str, data: str) -> str:
    """Join a prompt and piped text: the prompt on its own line comes first."""
    return f"{prompt}\n{data}"


def stdin_before_prompt(prompt: str, data: str) -> str:
    """Join a prompt and piped text: the prompt comes last, after a blank line."""
    return f"{data}\n\n{prompt}"


class SessionLog(msgspec.Struct, frozen=True, kw_only=True):
    """The agent's own session files, to look up what its stream does not report."""

    folder: Callable[[Mapping[str, str]], str | None]
    """Returns the folder of all logs in an environment; None if it is not known."""

    pattern: Callable[[str], str | None]
    """Returns the pattern of a session's log in that folder; None if the id isn't the agent's."""

    model: Callable[[bytes], str | None] | None = None
    """Returns the model that a line of the log names."""

    broke_off: Callable[[bytes], bool | None] | None = None
    """Returns whether an answer of the model broke off; None if a line does not report one."""


Support = Literal["yes", "no", "partly"]
"""The degree to which an agent's stream reports something."""


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """One of several ways to run an agent."""

    name: str
    asks: bool = False
    """True if the agent can ask for approval when run this way."""

    usage: Support
    """The support for reporting all token usage while it works."""

    unbudgeted: str | None = None
    """The reason why a limit on the cost cannot hold, if it cannot."""

    install: str | None = None
    """The command that installs what it runs, if that is not the agent's own program."""

    notes: tuple[str, ...] = ()
    """The differences from the other ways, one sentence each."""


def _nothing_to_send(event: Event, line: Callable[[], bytes]) -> bytes:
    """Write nothing: the agent accepts only answers on stdin."""
    return b""


def _nothing_to_reply(data: bytes) -> bytes:
    """Write nothing: the agent needs no replies but answers to its questions."""
    return b""


def _permits_nothing(ask: Ask) -> bool:
    """Return False: every question is passed on."""
    return False


class ControlChannel(msgspec.Struct, frozen=True, kw_only=True):
    """The messages between rook and a running agent: approvals, interrupts and its own protocol."""

    read: Callable[[bytes], Ask | None]
    """Reads the question in a line of the agent's output; None if there isn't one to answer."""

    answer: Callable[[bytes, Decision], bytes]
    """Returns the answer to such a line, to write to the agent's stdin."""

    interrupt: Callable[[], bytes]
    """Returns the bytes for stdin that make the agent stop and report its result."""

    on_event: Callable[[Event, Callable[[], bytes]], bytes] = _nothing_to_send
    """Returns the bytes to write to stdin after an event; the second argument reads its line.

    For agents that must be led through a protocol.
    """

    on_output: Callable[[bytes], bytes] = _nothing_to_reply
    """Returns the bytes to write to stdin after the next bytes of the agent's output.

    For a protocol with messages that have no event. The bytes may end anywhere in a line.
    """

    permits: Callable[[Ask], bool] = _permits_nothing
    """Returns whether the run's permission already allows the requested call."""


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """A command line that starts an agent, with its stdin, environment and stop signal."""

    command: tuple[str, ...]
    typed: tuple[str, ...] | None = None
    """The command as a person would type it, for display; None if `command` is that.

    Every user of the machine can see a command line, so a prompt belongs on stdin and here.
    """

    stdin: bytes | None = None
    """The bytes to write to its stdin; None closes it."""

    stdin_is_pipe: bool = False
    """True if its stdin has to be a pipe: some agents do not read a file there."""

    keep_stdin_open: bool = False
    """True if stdin stays open after that, for answers to the agent's questions."""

    control: ControlChannel | None = None
    """The control channel of this invocation, if it differs from that of the agent."""

    stop_signal: int = signal.SIGTERM
    """The signal that makes it stop cleanly."""

    environment: Mapping[str, str] = {}
    """Environment variables to set in addition to the inherited ones."""


class Replacement(msgspec.Struct, frozen=True):
    """Text that an edit replaces with other text; for a new file, `before` is empty."""

    before: str
    after: str


def no_replacements(started: ToolStarted) -> tuple[Replacement, ...]:
    """Return no replacements: the agent's edits don't include their text."""
    return ()


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of an agent's stream; a value that it leaves out is never shown as 0."""

    deltas: Support
    """Parts of a text before it is complete."""

    thinking: Support
    subagents: Support
    """The work of its subagents, not only their start."""

    usage: Support
    cost: Support
    denials: Support
    exit_codes: Support
    """The exit codes of the commands it ran."""

    resume: Support
    """Resuming a session."""

    end_event: Support
    """A message that the turn has ended, with its status."""

    calls: Support = "yes"
    """Tool calls, while they run."""

    notes: tuple[str, ...] = ()
    """Notes for the user about the above, one sentence each."""


def _never_resumes(command: Sequence[str]) -> bool:
    """Return False: the agent cannot resume sessions."""
    return False


def _always_serves(way: str, task: Task) -> bool:
    """Return True: every task can be done in every way."""
    return True


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """The complete description of one coding agent for the rest of the program."""

    name: str
    programs: tuple[str, ...]
    """The names of its command, without folder and `.exe`; none if the user names the program."""

    install: str
    """The command that installs it."""

    output_flags: tuple[str, ...]
    """The flags that make it write JSON messages."""

    checked_versions: tuple[str, ...]
    """The versions of which every message was checked."""

    capabilities: Capabilities
    """Its capabilities when it is run the preferred way; `ways` describes the differences."""

    evidence: Literal["recordings", "documentation"]
    """The source of what is known about its stream."""

    decoder: Callable[..., Decoder]
    """Returns a decoder for one stream; takes `cap`, the longest line in bytes."""

    recognises: Callable[[Mapping[str, Any]], bool]
    """Returns whether a message looks like one of this agent's."""

    invoke: Callable[[Task], Invocation]
    """Returns the command line for a task; its program is the first of `programs`."""

    with_output_flags: Callable[[Sequence[str]], list[str] | None]
    """Adds the flags for JSON messages to a headless command that the user typed.

    None if the user chose another output format, or if the command isn't a headless prompt.
    """

    keeps_variable: Callable[[str], bool]
    """Returns whether the agent may inherit this variable: some confuse a nested agent."""

    resumes: Callable[[Sequence[str]], bool] = _never_resumes
    """Returns whether a command line resumes a session, whose cumulative counters then continue."""

    replacements: Callable[[ToolStarted], tuple[Replacement, ...]] = no_replacements
    """Returns the text that a tool call replaces, so that a page can show a diff."""

    chatter: tuple[str, ...] = ()
    """The beginnings of lines on stderr that are of no use to a user.

    They are recorded like everything else, but not shown while the agent works.
    """

    complaints: tuple[str, ...] = ()
    """The beginnings of the only lines on stderr that are of use to a user; empty if all may be.

    For an agent that repeats there what its commands print.
    """

    forks: tuple[str, ...] = ()
    """Other programs that take the same flags and write the same messages, for `rook exec`."""

    resembles: tuple[str, ...] = ()
    """Agents that write the same messages: a stream that may be theirs is detected as theirs."""

    login: str | None = None
    """The command that logs in, which begins with its program."""

    login_codes: tuple[int, ...] = ()
    """The exit codes that report a missing login."""

    login_prompt: str | None = None
    """The beginning of a line on stdout after which the agent waits for a login, for ever."""

    unpermitted: str | None = None
    """The actions that the agent may not take without a permission, as a warning before the run."""

    unbudgeted: str | None = None
    """The reason why a limit on the cost of a run cannot hold, if it cannot."""

    refusals: re.Pattern[str] | None = None
    """Finds, in a line on stderr, the reason of a refusal that no message reports."""

    refusal_fixes: Mapping[str, str] = {}
    """The options that would allow such calls, by the beginnings of the reasons."""

    refusal_ends: bool = False
    """True if such a refusal ends the run, without a result."""

    failures: re.Pattern[str] | None = None
    """Finds, in a line on stderr, the reason of a failure that no message reports."""

    with_stdin: Callable[[str, str], str] = prompt_before_stdin
    """Joins a prompt and the text that is piped to it, as the agent itself does."""

    prompt_limit: PromptLimit = PromptLimit()
    """The longest prompt that it takes."""

    session_log: SessionLog | None = None
    """Its own session files, if its stream may not report the model or a broken answer."""

    limit_codes: Mapping[int, str] = {}
    """The exit codes that alone report a limit of its own, as `max_turns` or `max_budget`."""

    control: ControlChannel | None = None
    """The channel for approvals; None if it cannot ask, at least not when run the default way."""

    ways: tuple[Way, ...] = ()
    """The ways to run it, the preferred first; empty if there is only one."""

    serves: Callable[[str, Task], bool] = _always_serves
    """Returns whether a task can be done in the way of that name."""

    def way(self, name: str | None) -> Way | None:
        """The way of that name."""
        return next((way for way in self.ways if way.name == name), None)

    def install_for(self, via: str | None) -> str:
        """The command that installs what the way of that name runs."""
        way = self.way(via)
        return (way.install if way else None) or self.install

    def usual_way(self, task: Task) -> str | None:
        """The first way that can do a task; None if there is only one."""
        return next((way.name for way in self.ways if self.serves(way.name, task)), None)
