"""Finds the answer in an agent's output, JSON messages or plain text."""

from collections.abc import Iterator
from pathlib import Path

from nightrook import agents
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.model import answer
from nightrook.model.fold import fold
from nightrook.model.state import RunState
from nightrook.story.decode import CHUNK, decode
from nightrook.story.tail import last_bytes

_END = 1024 * 1024  # the answer of plain text is in this many last bytes
_HEAD = 1024 * 1024  # messages must start in this many first bytes: large text is not searched


def final_text(output: str | bytes) -> str | None:
    """The agent's answer: that of its messages, otherwise the text in `<response>` tags.

    None if there is none. Messages are known by a line that begins in the first MiB.
    """
    state = _messages(output)
    return answer.response_in(_text(output)) if state is None else answer.final_text(state)


def run_answer(folder: Path, state: RunState | None) -> str | None:
    """The answer of a run; without a state, the one at the end of the plain text that it wrote."""
    if state is not None:
        return answer.final_text(state)
    return answer.response_in(_text(last_bytes(folder, "stdout", _END)))


def is_complete(output: str | bytes, expected: str) -> bool:
    """True if the answer is the expected one, ignoring white space and case."""
    state = _messages(output)
    return answer.is_complete(_text(output) if state is None else state, expected)


def _messages(output: str | bytes) -> RunState | None:
    """Fold the messages of an agent; None if no agent recognises the output."""
    data = output.encode("utf-8", "surrogatepass") if isinstance(output, str) else output
    agent = agents.detect(_first_lines(data))
    return None if agent is None else fold(decode(_chunks(data), agent.name))


def _first_lines(data: bytes) -> bytes:
    """The lines that begin in the head, whole but for one that is too long for a message."""
    end = data.find(b"\n", _HEAD, _HEAD + DEFAULT_CAP)
    return data[: end if end >= 0 else _HEAD + DEFAULT_CAP]


def _chunks(data: bytes) -> Iterator[bytes]:
    for begin in range(0, len(data), CHUNK):
        yield data[begin : begin + CHUNK]


def _text(output: str | bytes) -> str:
    return output if isinstance(output, str) else output.decode("utf-8", "replace")
