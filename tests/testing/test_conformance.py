"""The conformance suite reports every kind of faulty agent; tests/agents runs it on our own."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from nightrook.adapter.agent import Agent, Invocation, Task
from nightrook.agents import agent
from nightrook.model.errors import NightrookError
from nightrook.model.events import ToolStarted, TurnFinished
from nightrook.model.records import Record
from nightrook.testing.conformance import Case, cases_in, check
from tests.recorded import cases, facts, name_of
from tests.rules import each

OPENCODE = agent("opencode")
STATUS = {
    name: status
    for status, names in facts("opencode")["verdicts"].items()
    for name in names.split()
}
CASES = [
    Case(name_of(path), path.read_bytes(), STATUS[name_of(path)])
    for path in cases("opencode")
    if name_of(path) != "noise-and-news"
]


class Faulty:
    """OpenCode's decoder with a fault."""

    def __init__(self, fault: Callable[[list[Record]], list[Record]]) -> None:
        self.agent = "opencode"
        self._real = OPENCODE.decoder()
        self._fault = fault

    def feed(self, data: bytes, at: float | None = None) -> list[Record]:
        return self._fault(self._real.feed(data, at))

    def close(self) -> list[Record]:
        return self._fault(self._real.close())


def faulty(fault: Callable[[list[Record]], list[Record]]) -> Agent:
    return msgspec.structs.replace(OPENCODE, decoder=lambda **_: Faulty(fault))


def raising(records: list[Record]) -> list[Record]:
    if any(isinstance(record.event, ToolStarted) for record in records):
        raise KeyError("tool")
    return records


def unended(records: list[Record]) -> list[Record]:
    return [r for r in records if type(r.event).__name__ != "ToolFinished"]


def without_results(records: list[Record]) -> list[Record]:
    return [r for r in records if not isinstance(r.event, TurnFinished)]


def by_piece(records: list[Record]) -> list[Record]:
    return records[:1]


def test_an_agent_needs_cases() -> None:
    assert check(OPENCODE, []) == ["there are no cases: record what the agent really writes"]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (raising, "the agent raises KeyError('tool')"),
        (unended, "a tool_started does not end exactly once"),
        (without_results, "the numbers of the records have gaps"),
        (by_piece, "decoding byte by byte returns other records"),
        (by_piece, "the stream does not end with one stream_closed"),
    ],
)
def test_a_faulty_decoder_is_reported(fault: Any, message: str) -> None:
    failures = check(faulty(fault), CASES)
    assert any(message in failure for failure in failures), failures


def lost(task: Task) -> Invocation:
    return Invocation(command=("opencode", "run"))


def other_program(task: Task) -> Invocation:
    return Invocation(command=("sh", "-c", task.prompt), stdin=None)


def ignoring(task: Task) -> Invocation:
    return Invocation(command=("opencode",), stdin=task.prompt.encode())


def crashing(task: Task) -> Invocation:
    raise KeyError(task.permission)


def refusing(task: Task) -> Invocation:
    raise NightrookError("not today")


@each(
    ("changed", "message"),
    [
        ({"invoke": lost}, "the exact prompt is neither an argument nor on stdin"),
        ({"invoke": other_program}, "invoke() runs 'sh', which is not in programs"),
        ({"invoke": other_program}, "an argument is longer than Linux allows"),
        ({"invoke": ignoring}, "task.model is ignored"),
        ({"invoke": ignoring}, "task.resume is ignored"),
        ({"invoke": ignoring}, "task.allow is ignored"),
        ({"invoke": ignoring}, "task.args is ignored"),
        ({"invoke": crashing}, "the agent raises KeyError('edit')"),
        ({"recognises": lambda _: True}, "recognises() accepts {}"),
        ({"recognises": lambda _: False}, "recognises() accepts none of the messages"),
        ({"recognises": lambda m: m["type"] == "text"}, "the agent raises KeyError('type')"),
        ({"name": "open-code"}, "the name 'open-code' is not a lower-case word"),
        ({"name": "goose"}, "the decoder is for another agent: 'opencode'"),
        ({"name": "goose"}, "the stream is detected as opencode"),
        ({"programs": ()}, "programs is empty"),
        (
            {"with_output_flags": lambda command: [*command, "--json"]},
            "with_output_flags() adds flags that the command already has",
        ),
    ],
)
def test_a_faulty_description_is_reported(changed: dict[str, Any], message: str) -> None:
    failures = check(msgspec.structs.replace(OPENCODE, **changed), CASES[:2])
    assert any(message in failure for failure in failures), failures


def test_an_agent_without_resume_may_ignore_it() -> None:
    capabilities = msgspec.structs.replace(OPENCODE.capabilities, resume="no")
    failures = check(
        msgspec.structs.replace(OPENCODE, invoke=ignoring, capabilities=capabilities), CASES[:2]
    )
    assert any("task.model" in failure for failure in failures)
    assert not any("task.resume" in failure for failure in failures)


def test_an_agent_may_refuse_a_task() -> None:
    assert check(msgspec.structs.replace(OPENCODE, invoke=refusing), CASES[:2]) == []


def test_a_verdict_that_differs_from_the_case_is_reported() -> None:
    wrong = Case("wrong", CASES[0].wire, "failed")
    assert check(OPENCODE, [wrong]) == ["wrong: the verdict is denied, but the case says failed"]


def test_unknown_messages_are_reported() -> None:
    strange = Case("strange", CASES[0].wire + b'{"type":"news","sessionID":"s","part":{}}\n')
    assert check(OPENCODE, [strange]) == ["strange: unknown messages: ['news']"]


def test_cases_are_folders(tmp_path: Any) -> None:
    for name, status in (("a", "success\n"), ("b", None)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "wire.jsonl").write_bytes(b"{}\n")
        if status:
            (tmp_path / name / "status").write_text(status)
    assert cases_in(tmp_path) == [Case("a", b"{}\n", "success"), Case("b", b"{}\n")]
