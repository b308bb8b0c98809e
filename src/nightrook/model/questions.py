"""Requests for approval and questions of an agent, and the decisions about them."""

from typing import Literal

import msgspec

from nightrook.model.events import ToolKind

About = Literal["tool", "plan", "questions", "other"]
"""The subject of a question: approval of a tool call or a plan, answers to questions, or something
else. `other` must be refused, otherwise the agent waits forever."""

By = Literal["person", "program", "rule", "timeout", "nobody"]
"""The source of a decision: a user, the caller's code, an earlier decision, a timeout, or none."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One of the suggested answers to a question."""

    label: str
    description: str | None = None


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question with suggested answers; any other text is an answer, too."""

    text: str
    options: tuple[Option, ...] = ()
    several: bool = False
    """True if more than one option may be chosen."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A question that an agent waits for before it continues."""

    id: str
    """The id that the answer must include."""

    seq: int | None = None
    """The number of the record that reports it, if it is part of a run."""

    about: About = "tool"
    name: str | None = None
    """The tool."""

    kind: ToolKind = "other"
    title: str | None = None
    """The title of the call in full length: the command, path, URL or the whole input."""

    cwd: str | None = None
    """The folder that a command runs in, if the agent names one; else it is the run's."""

    notes: tuple[str, ...] = ()
    """Further facts for the decision, one per line, such as `outside its sandbox`."""

    detail: tuple[str, ...] = ()
    """More lines to decide by: those that a change adds (`+`) and removes (`-`), or the plan."""

    purpose: str | None = None
    """The agent's description of the call."""

    reason: str | None = None
    """The reason why the call needs approval."""

    always: str | None = None
    """The rule that can be allowed for the rest of the run; None if there is none."""

    scope: str | None = None
    """A description of what that rule allows; None if the rule itself says it."""

    remembers: bool = False
    """True if the agent itself remembers what is always allowed."""

    questions: tuple[Question, ...] = ()


class Decision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The decision about an `Ask`."""

    allow: bool
    always: bool = False
    """True if `Ask.always` is allowed for the rest of the run."""

    reason: str | None = None
    """The reason for a denial, for the agent."""

    answers: dict[str, str] = {}
    """The answer to each question, by its text."""

    by: By = "program"
    through: str | None = None
    """The interface it was made in, such as `terminal` or `web`; None in the runner's process."""


class OpenQuestion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A question of a run that is not decided yet."""

    id: str
    """Unique in its run, unlike the id of the `Ask`, which the agent chooses."""

    ask: Ask
    tool_id: str | None = None
    """The call that it is about."""

    opened_at: float
    """In seconds since 1970."""

    until: float | None = None
    """The time at which it is denied without an answer; None if that is not known."""


class ClosedQuestion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A question that has been decided, or that the agent no longer asks."""

    id: str
    decision: Decision | None = None
    """None if the agent no longer asks."""

    closed_at: float
