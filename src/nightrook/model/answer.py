"""The answer of an agent: its final text, and words by which it says that the work is done."""

import re
from collections.abc import Iterable

from nightrook.model.fold import fold
from nightrook.model.records import Record
from nightrook.model.state import RunState

_TAG = re.compile("<(/?)response>", re.IGNORECASE)


def final_text(stream: Iterable[Record] | RunState) -> str | None:
    """The agent's answer; None if there is none.

    That is the text of the last result without an error, or without any result the text of the
    main agent. A stream whose results are all errors has no answer.
    """
    state = _state(stream)
    for result in reversed(state.results):
        if result.ok:
            return result.text if result.text is not None else _whole_text(state)
    return None if state.results else _whole_text(state)


def response_in(text: str) -> str | None:
    """The content of the last pair of `<response>` tags in a text; None if there is none."""
    begin, answer = None, None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            begin = tag.end()
        elif begin is not None:
            begin, answer = None, slice(begin, tag.start())
    return None if answer is None else text[answer]


def is_complete(output: Iterable[Record] | RunState | str, expected: str) -> bool:
    """True if the answer is the expected one, ignoring surrounding white space and case.

    The answer of a stream is its final text; that of a text is in its `<response>` tags.
    """
    answer = response_in(output) if isinstance(output, str) else final_text(output)
    return answer is not None and _plain(answer) == _plain(expected)


def signals(state: RunState, words: Iterable[str]) -> list[str]:
    """The words that are alone on a line of the main agent's own text.

    Tool output, text of subagents and the echo of the prompt are not the agent's own text.
    """
    lines = {line.strip() for text in _own_texts(state) for line in text.split("\n")}
    return [word for word in words if word.strip() and word.strip() in lines]


def _own_texts(state: RunState) -> list[str]:
    """The model's texts; the text of a result that failed or took no turn is not the model's."""
    answers = [result.text for result in state.results if result.ok and result.turns != 0]
    return [*state.texts, *(answer for answer in answers if answer)]


def _state(stream: Iterable[Record] | RunState) -> RunState:
    return stream if isinstance(stream, RunState) else fold(stream)


def _whole_text(state: RunState) -> str | None:
    return "".join(state.texts) if state.texts else None


def _plain(text: str) -> str:
    return text.strip().casefold()
