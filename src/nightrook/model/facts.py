"""The facts that decide how a run ended, in four structs: one for each of their origins.

- `ProcessFacts`, from the operating system: was the program started, how did it exit?
- `StreamFacts`, from the agent: what did it write on stdout, on stderr and in its own log?
- `PersonFacts`, from the user, and from rook in the user's name: answers, limits, stops.
- `RecorderFacts`, from the recorder: what of the output is saved, and is it unchanged?

The origins can't contradict each other, because none of them says how the run ended: that is what
`nightrook.model.verdict` concludes from all four. A fact that is unknown has its default value, so
that a verdict can be judged from any part of them, for example of a pipe, which has no process.

`verdict.json` has them as one flat object, which people read; `flat` and `read` convert it. No two
structs have a field of the same name.
"""

from collections.abc import Mapping
from typing import Any, Literal, Self

import msgspec

from nightrook.model.limits import LimitKind
from nightrook.model.stuck_detection import Suspicion

StopReason = Literal["interrupted", "timed_out", "over_budget", "limited", "stuck", "finished"]
OWN_LIMITS: dict[str | None, LimitKind] = {"max_turns": "turns", "max_budget": "cost"}
"""The reasons an agent reports when it stopped at one of its own limits."""

PARTIAL_ANSWERS = frozenset({"cut", "paused", "context_window"})
"""The reasons for which only a part of an answer arrived."""


class PassedLimit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A limit on money, tokens, turns or time that the run passed, and who enforced it."""

    kind: LimitKind
    by: Literal["rook", "agent"] = "rook"
    used: float | None = None
    allowed: float | None = None

    @property
    def is_unknown(self) -> bool:
        """True if the run was stopped because its cost cannot be known."""
        return self.kind == "cost" and self.by == "rook" and self.used is None


class ProcessFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The start and the exit of the program."""

    agent: str | None = None
    """The name of the agent in sentences."""

    started: bool = True
    complaint: str | None = None
    """The reason why the program could not be started."""

    missing_program: str | None = None
    """The program that is not installed."""

    agent_exit_code: int | None = None
    signal: int | None = None
    left_behind: tuple[str, ...] = ()
    """The names of the processes that the agent left running when it exited, and rook ended."""


class StreamFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Facts from what the agent wrote: its messages, stderr, and its own log of the session."""

    has_stream: bool = True
    """False for a command that no adapter knows: only its exit code counts."""

    heard: bool = False
    """True if it wrote a message."""

    text_only: bool = False
    """True if it wrote text but no message."""

    plain_text: str | None = None
    """The beginning of that text."""

    finished: bool = False
    """True if every turn has its result."""

    ok: bool | None = None
    """True if the last turn's result is good; None without one."""

    reason: str | None = None
    """The reason why the last turn failed, as a word."""

    message: str | None = None
    """The agent's message about why the last turn failed."""

    failure: str | None = None
    """The reason why it failed, if only stderr reports it."""

    results: int = 0
    no_answer: bool = False
    """True if the last turn succeeded without an answer: neither text nor structured output."""

    broken_answer: bool = False
    """True if the agent's own log shows that the model broke off an answer it reports as whole."""

    truncated: bool = False
    """True if the stream ends in the middle of a line."""

    cut_tasks: int = 0
    """Background tasks that were cut off when the agent ended."""

    open_tool: str | None = None
    """The last tool call that never finished."""

    open_at_result: bool = False
    """True if a call of the main agent never ended, although the last turn's result is good."""

    asked: str | None = None
    """The tool that it asked to use, without an answer."""

    denials: int = 0
    refusals: tuple[str, ...] = ()
    """The reasons of refused calls that only stderr reports."""

    refusal_fix: str | None = None
    """The option that would allow them."""

    ended_by_refusal: bool = False
    """True if the agent ends without a result after such a refusal."""

    limited: bool = False
    """True if it reported that a limit of the provider is used up."""

    window: str | None = None
    """The name of that limit."""

    resets_at: float | None = None
    """The time at which that limit resets."""

    quota_message: str | None = None
    """The provider's own words about it."""


class PersonFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Decisions of the user, and acts of rook in the user's name: answers, limits and stops."""

    stopped_for: StopReason | None = None
    """The reason why rook stopped the run, if any; `finished` after a result and a grace period."""

    stopped_by: str | None = None
    """The cause of its interruption: the name of the signal that rook got, or `rook stop`."""

    passed_limit: PassedLimit | None = None
    suspicion: Suspicion | None = None
    """The reason why rook considers it stuck, with the evidence."""

    allow_denials: bool = False
    """True if a run that finished although tools were denied counts as a success."""

    denied_by_person: tuple[str, ...] = ()
    """The ids of the denied calls to which a person said no."""

    refused: tuple[str, ...] = ()
    """The ids of all calls that were denied on request; not every agent reports them."""

    @property
    def was_stopped(self) -> bool:
        """True if rook ended the run before it had finished."""
        return self.stopped_for not in (None, "finished")


class RecorderFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of the saved output: whether it is complete and unchanged."""

    recorder_died: bool = False
    """True if the recorder or the runner died, so that the process's end was not recorded."""

    recorder_stopped: bool = False
    """True if something stopped the recorder with a signal, and the runner continued it."""

    lost_worker: str | None = None
    """The worker of a fleet that was lost; the real end of the run is unknown."""

    lost_bytes: int | None = 0
    """The number of bytes that were not recorded; None if the recorder died, and it is unknown."""

    log_limit: int | None = None
    """The `max_log_size`, if that is why; otherwise the disk was full."""

    tampered: str | None = None
    """The difference between its saved logs and what the recorder wrote."""

    unsaved: str | None = None
    """The reason why the verdict is not in the run folder."""


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All facts that decide a verdict, by origin."""

    process: ProcessFacts = ProcessFacts()
    stream: StreamFacts = StreamFacts()
    person: PersonFacts = PersonFacts()
    recorder: RecorderFacts = RecorderFacts()

    @property
    def has_whole_result(self) -> bool:
        """True if the last turn ended well, and nothing of the agent's was cut off.

        The exit code of a command that no adapter knows may come of being stopped.
        """
        stream = self.stream
        cut_off = stream.truncated or stream.cut_tasks > 0 or stream.broken_answer
        cut_off = cut_off or stream.open_at_result or self.was_killed
        return stream.has_stream and stream.finished and stream.ok is True and not cut_off

    @property
    def was_killed(self) -> bool:
        """True if a signal ended the agent that neither rook nor its recorder sent."""
        by_us = self.person.stopped_for is not None or self.recorder.recorder_died
        return self.process.signal is not None and not by_us

    @property
    def is_code_doubtful(self) -> bool:
        """True if the agent ended by itself with an exit code that its good result contradicts."""
        ended = self.person.stopped_for is None and not self.recorder.recorder_died
        return ended and self.has_whole_result and self.process.agent_exit_code not in (None, 0)

    def flat(self) -> dict[str, Any]:
        """Return the facts that are not defaults as one object, as `verdict.json` has them."""
        flat: dict[str, Any] = {}
        for part in (self.process, self.stream, self.person, self.recorder):
            flat |= msgspec.to_builtins(part)
        return flat

    @classmethod
    def read(cls, flat: Mapping[str, Any]) -> Self:
        """Read what `flat` returned; raises msgspec.ValidationError if a type is wrong."""
        return cls(
            process=msgspec.convert(flat, ProcessFacts),
            stream=msgspec.convert(flat, StreamFacts),
            person=msgspec.convert(flat, PersonFacts),
            recorder=msgspec.convert(flat, RecorderFacts),
        )


NOTHING_KNOWN = Facts()
