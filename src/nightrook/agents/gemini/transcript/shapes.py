"""The shapes of the lines of Gemini CLI's stored sessions, with the fields that are used."""

import msgspec

from nightrook.adapter.shapes import NOTHING, Count, Shape


class Part(Shape):
    text: str | None = None


class Response(Shape):
    output: str | None = None
    error: str | None = None


class FunctionResponse(Shape):
    response: Response | None = None


class Result(Shape):
    functionResponse: FunctionResponse | None = None


class Call(Shape):
    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = NOTHING
    result: list[Result] | None = None
    status: str | None = None
    resultDisplay: msgspec.Raw = NOTHING


class Thought(Shape):
    subject: str | None = None
    description: str | None = None


class Tokens(Shape):
    input: Count = 0
    output: Count = 0
    cached: Count = 0
    thoughts: Count = 0
    tool: Count = 0


class Message(Shape):
    id: str | None = None
    timestamp: str | None = None
    content: msgspec.Raw = NOTHING


class User(Message, tag="user"):
    """A prompt, what tools returned, or what the agent itself adds."""


class Gemini(Message, tag="gemini"):
    thoughts: list[Thought] | None = None
    tokens: Tokens | None = None
    model: str | None = None
    toolCalls: list[Call] | None = None


class Info(Message, tag="info"):
    """A notice."""


class Warning(Message, tag="warning"):
    """A warning."""


class Error(Message, tag="error"):
    """A failure of the agent."""


AnyMessage = User | Gemini | Info | Warning | Error


class Set(Shape):
    messages: list[msgspec.Raw] | None = None


class Facts(Shape):
    """A line without a type: facts about the session, or changes to it."""

    sessionId: str | None = None
    startTime: str | None = None
    directories: list[str] | None = None
    changed: Set | None = msgspec.field(default=None, name="$set")
