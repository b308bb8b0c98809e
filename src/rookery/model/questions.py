"""A question of an agent to a person, and what was decided, in words no agent owns."""

from typing import Literal

import msgspec

from rookery.model.events import ToolKind

About = Literal["tool", "plan", "questions", "other"]
"""What is asked for: leave to use a tool, leave to carry out a plan, answers, or what we cannot
give: `other` must be refused, lest the agent wait for ever."""

By = Literal["person", "program", "rule", "timeout", "nobody"]
"""Who decided: somebody at the keyboard, the caller's code, what was decided before, or no one."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One of the answers that a question offers."""

    label: str
    description: str | None = None


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question with the answers it offers; any other words are an answer too."""

    text: str
    options: tuple[Option, ...] = ()
    several: bool = False
    """Whether more than one of them may be chosen."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent waits for before it goes on."""

    id: str
    """What an answer must name."""

    seq: int | None = None
    """The record that told of it, if it came in a run."""

    about: About = "tool"
    name: str | None = None
    """The tool."""

    kind: ToolKind = "other"
    title: str | None = None
    """What the call is about, whole: the command, the path, the address, all that is given."""

    detail: tuple[str, ...] = ()
    """Lines to decide by: those that a change adds (`+`) and takes away (`-`), or the plan."""

    purpose: str | None = None
    """What the agent says the call is good for."""

    reason: str | None = None
    """Why it must ask."""

    always: str | None = None
    """What would be allowed for the rest of the run, not only this call; None if nothing can be."""

    remembers: bool = False
    """Whether the agent keeps in mind by itself what is always allowed."""

    questions: tuple[Question, ...] = ()


class Decision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was decided on an ask."""

    allow: bool
    always: bool = False
    """Whether what the ask calls `always` is allowed for the rest of the run."""

    reason: str | None = None
    """Why not, for the agent to read."""

    answers: dict[str, str] = {}
    """The answer to each question, by its text."""

    by: By = "program"
