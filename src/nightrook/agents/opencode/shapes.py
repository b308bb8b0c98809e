"""The shapes of messages, stored rows and documents, with the fields that are used."""

from typing import Annotated

import msgspec
from msgspec import field

from nightrook.adapter.shapes import NOTHING, Count, ExitCode, Milliseconds, Shape

Dollars = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class _Message(Shape, tag_field="type"):
    """One line; every line names its session."""

    sessionID: str | None = None


class StepStartPart(Shape):
    id: str | None = None
    messageID: str | None = None


class StepStart(_Message, tag="step_start"):
    part: StepStartPart = field(default_factory=StepStartPart)


class TextMetadata(Shape):
    compaction_continue: bool | None = None


class TextPart(Shape):
    id: str | None = None
    text: str | None = None
    synthetic: bool | None = None
    metadata: TextMetadata = field(default_factory=TextMetadata)


class Text(_Message, tag="text"):
    part: TextPart = field(default_factory=TextPart)


class ReasoningPart(Shape):
    id: str | None = None
    text: str | None = None


class Reasoning(_Message, tag="reasoning"):
    part: ReasoningPart = field(default_factory=ReasoningPart)


class FileDiff(Shape):
    file: str | None = None
    additions: Count | None = None
    deletions: Count | None = None


class PatchedFile(Shape):
    filePath: str | None = None
    relativePath: str | None = None
    movePath: str | None = None
    type: str | None = None
    additions: Count | None = None
    deletions: Count | None = None


class Todo(Shape):
    content: str | None = None
    status: str | None = None


class WrittenInput(Shape):
    content: str | None = None


class ToolMetadata(Shape):
    """Results of tools besides their output: exit code, files, the plan, a subagent's session."""

    exit: ExitCode | msgspec.UnsetType | None = msgspec.UNSET
    interrupted: bool | None = None
    filediff: FileDiff | None = None
    filepath: str | None = None
    exists: bool | None = None
    files: list[PatchedFile] | None = None
    todos: list[Todo] | None = None
    sessionId: str | None = None


class ToolState(Shape):
    status: str | None = None
    input: msgspec.Raw = NOTHING
    output: str | None = None
    metadata: ToolMetadata = field(default_factory=ToolMetadata)
    title: str | None = None
    error: str | None = None


class ToolPart(Shape):
    tool: str | None = None
    state: ToolState = field(default_factory=ToolState)
    id: str | None = None


class ToolUse(_Message, tag="tool_use"):
    part: ToolPart = field(default_factory=ToolPart)


class Cache(Shape):
    read: Count | None = None
    write: Count | None = None


class Tokens(Shape):
    total: Count | None = None
    input: Count | None = None
    output: Count | None = None
    reasoning: Count | None = None
    cache: Cache = field(default_factory=Cache)


class StepFinishPart(Shape):
    type: str | None = None
    id: str | None = None
    messageID: str | None = None
    reason: str | None = None
    tokens: Tokens = field(default_factory=Tokens)
    cost: Dollars | None = None


class StepFinish(_Message, tag="step_finish"):
    part: StepFinishPart = field(default_factory=StepFinishPart)


class ErrorData(Shape):
    message: str | None = None
    statusCode: Count | None = None
    isRetryable: bool | None = None
    responseBody: str | None = None


class ErrorInfo(Shape):
    name: str | None = None
    data: ErrorData = field(default_factory=ErrorData)


class Error(_Message, tag="error"):
    error: ErrorInfo | str = field(default_factory=ErrorInfo)


# Stored sessions


class Session(_Message, tag="session"):
    """The first line of a session."""

    directory: str | None = None
    version: str | None = None


class Prompt(_Message, tag="prompt"):
    """A text of the user."""

    part: TextPart = field(default_factory=TextPart)


class Timed(Shape):
    """The times at which a stored part was written."""

    timestamp: int | None = None


class Times(Shape):
    created: Milliseconds | None = None
    completed: Milliseconds | None = None
    updated: Milliseconds | None = None


class Model(Shape):
    id: str | None = None
    providerID: str | None = None


class Folder(Shape):
    cwd: str | None = None


class Answer(Shape):
    """A message of a model; its tokens are those of its last step, or of its only one."""

    id: str | None = None
    sessionID: str | None = None
    role: str | None = None
    time: Times = field(default_factory=Times)
    modelID: str | None = None
    providerID: str | None = None
    model: Model | None = None
    agent: str | None = None
    mode: str | None = None
    cost: float | None = None
    tokens: Tokens = field(default_factory=Tokens)
    path: Folder = field(default_factory=Folder)


class Document(Answer):
    """A message or a session, as versions before 1.2 stored them."""

    parentID: str | None = None
    directory: str | None = None
    title: str | None = None
    version: str | None = None
