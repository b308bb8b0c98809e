"""The shapes of the lines of Claude Code's stored sessions, with the fields that are used."""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, Milliseconds, Shape
from nightrook.agents.claude.shapes import Decision, Message, UseResult


class Entry(Shape):
    """What the lines of a conversation have."""

    timestamp: str | None = None
    sessionId: str | None = None
    version: str | None = None
    cwd: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None
    isSidechain: bool | None = None
    agentId: str | None = None


class Assistant(Entry, tag="assistant"):
    message: Message | None = None
    isApiErrorMessage: bool | None = None
    error: str | None = None
    apiError: str | None = None
    apiErrorType: str | None = None


class StoredResult(UseResult):
    """A tool's structured result; a command in the background is reported only here."""

    backgroundTaskId: str | None = None


class Origin(Shape):
    kind: str | None = None


class User(Entry, tag="user"):
    message: Message | None = None
    toolUseResult: StoredResult | str | list[msgspec.Raw] | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    permissionMode: str | None = None
    permissionDecision: Decision | None = None
    origin: Origin | None = None


class ApiError(Shape):
    message: str | None = None
    formatted: str | None = None
    status: Count | None = None


class CompactMetadata(Shape):
    trigger: str | None = None
    preTokens: Count | None = None
    postTokens: Count | None = None


class System(Entry, tag="system"):
    subtype: str | None = None
    content: str | None = None
    level: str | None = None
    error: ApiError | None = None
    retryAttempt: Count | None = None
    maxRetries: Count | None = None
    retryInMs: Milliseconds | None = None
    compactMetadata: CompactMetadata | None = None
    trigger: str | None = None
    originalModel: str | None = None
    fallbackModel: str | None = None
    apiRefusalCategory: str | None = None
    apiRefusalExplanation: str | None = None
    hookErrors: list[str] | None = None


class Attached(Shape):
    type: str = ""
    prompt: msgspec.Raw = NOTHING
    hookName: str | None = None
    stdout: str | None = None
    stderr: str | None = None


class Attachment(Entry, tag="attachment"):
    attachment: Attached | None = None


class QueueOperation(Shape, tag="queue-operation"):
    timestamp: str | None = None
