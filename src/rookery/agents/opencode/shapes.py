"""The parts of each message that the reader uses; what is not named here is skipped."""

from typing import Annotated

import msgspec
from msgspec import field

# Beyond 2**53 no JSON writer agrees with another; a token count never is.
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Dollars = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
ExitCode = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**32)]

NOTHING = msgspec.Raw()
"""A raw part that the message does not have."""


class _Shape(msgspec.Struct, gc=False):
    """A part of a message."""


class _Message(_Shape, tag_field="type"):
    """One line: all of them name their session."""

    sessionID: str | None = None


class StepStartPart(_Shape):
    id: str | None = None
    messageID: str | None = None


class StepStart(_Message, tag="step_start"):
    part: StepStartPart = field(default_factory=StepStartPart)


class TextMetadata(_Shape):
    compaction_continue: bool | None = None


class TextPart(_Shape):
    id: str | None = None
    text: str | None = None
    synthetic: bool | None = None
    metadata: TextMetadata = field(default_factory=TextMetadata)


class Text(_Message, tag="text"):
    part: TextPart = field(default_factory=TextPart)


class ReasoningPart(_Shape):
    id: str | None = None
    text: str | None = None


class Reasoning(_Message, tag="reasoning"):
    part: ReasoningPart = field(default_factory=ReasoningPart)


class FileDiff(_Shape):
    file: str | None = None
    additions: Count | None = None
    deletions: Count | None = None


class PatchedFile(_Shape):
    filePath: str | None = None
    relativePath: str | None = None
    movePath: str | None = None
    type: str | None = None
    additions: Count | None = None
    deletions: Count | None = None


class Todo(_Shape):
    content: str | None = None
    status: str | None = None


class TellingInput(_Shape):
    """The inputs that make a title; bulky ones (a file's content) are skipped."""

    command: str | None = None
    filePath: str | None = None
    pattern: str | None = None
    url: str | None = None
    query: str | None = None
    description: str | None = None
    path: str | None = None
    name: str | None = None

    @property
    def words(self) -> str | None:
        """The one that says best what a call is about."""
        what = self.command or self.filePath or self.pattern or self.url or self.query
        return what or self.description or self.path or self.name


class WrittenInput(_Shape):
    content: str | None = None


class ToolMetadata(_Shape):
    """What tools tell beside their output: a command's exit, files, the plan."""

    exit: ExitCode | msgspec.UnsetType | None = msgspec.UNSET
    interrupted: bool | None = None
    filediff: FileDiff | None = None
    filepath: str | None = None
    exists: bool | None = None
    files: list[PatchedFile] | None = None
    todos: list[Todo] | None = None


class ToolState(_Shape):
    status: str | None = None
    input: msgspec.Raw = NOTHING
    output: str | None = None
    metadata: ToolMetadata = field(default_factory=ToolMetadata)
    title: str | None = None
    error: str | None = None


class ToolPart(_Shape):
    tool: str | None = None
    state: ToolState = field(default_factory=ToolState)
    id: str | None = None


class ToolUse(_Message, tag="tool_use"):
    part: ToolPart = field(default_factory=ToolPart)


class Cache(_Shape):
    read: Count | None = None
    write: Count | None = None


class Tokens(_Shape):
    total: Count | None = None
    input: Count | None = None
    output: Count | None = None
    reasoning: Count | None = None
    cache: Cache = field(default_factory=Cache)


class StepFinishPart(_Shape):
    id: str | None = None
    messageID: str | None = None
    reason: str | None = None
    tokens: Tokens = field(default_factory=Tokens)
    cost: Dollars | None = None


class StepFinish(_Message, tag="step_finish"):
    part: StepFinishPart = field(default_factory=StepFinishPart)


class ErrorData(_Shape):
    message: str | None = None
    statusCode: Count | None = None
    isRetryable: bool | None = None
    responseBody: str | None = None


class ErrorInfo(_Shape):
    name: str | None = None
    data: ErrorData = field(default_factory=ErrorData)


class Error(_Message, tag="error"):
    error: ErrorInfo = field(default_factory=ErrorInfo)


Shapes = StepStart | Text | Reasoning | ToolUse | StepFinish | Error
"""Every type of message that OpenCode writes, by its `type`."""
