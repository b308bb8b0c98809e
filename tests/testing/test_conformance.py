"""The suite for authors of agents: it finds what is wrong, and nothing wrong with our own."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from rookery.adapter.agent import Agent, Invocation, Task
from rookery.agents import agent
from rookery.model.errors import RookeryError
from rookery.model.events import ToolStarted, TurnFinished
from rookery.model.records import Record
from rookery.testing.conformance import Case, cases_in, check
from tests.recorded import cases, facts, name_of

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


def test_it_finds_nothing_wrong_with_our_own() -> None:
    assert check(OPENCODE, CASES) == []


def test_claude_passes_it_too() -> None:
    told = facts("claude")["verdicts"]
    names = {name: status for status, words in told.items() for name in words.split()}
    chosen = [path for path in cases("claude") if name_of(path)[0] == "s"][::9]
    streams = [Case(name_of(p), p.read_bytes(), names.get(name_of(p))) for p in chosen]
    assert check(agent("claude"), streams) == []


def test_an_agent_without_cases_is_not_believed() -> None:
    assert check(OPENCODE, []) == ["there are no cases: record what the agent really writes"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (raising, "it raises KeyError('tool')"),
        (unended, "a tool_started does not end exactly once"),
        (without_results, "records are not numbered without gap"),
        (by_piece, "fed byte by byte it gives other records"),
        (by_piece, "the stream does not end with one stream_closed"),
    ],
)
def test_a_faulty_decoder_is_found_out(fault: Any, words: str) -> None:
    found = check(faulty(fault), CASES)
    assert any(words in failure for failure in found), found


def lost(task: Task) -> Invocation:
    return Invocation(command=("opencode", "run"))


def stranger(task: Task) -> Invocation:
    return Invocation(command=("sh", "-c", task.prompt), stdin=None)


def deaf(task: Task) -> Invocation:
    return Invocation(command=("opencode",), stdin=task.prompt.encode())


def crashing(task: Task) -> Invocation:
    raise KeyError(task.permission)


def refusing(task: Task) -> Invocation:
    raise RookeryError("not today")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"invoke": lost}, "the prompt is neither an argument nor on standard input"),
        ({"invoke": stranger}, "it calls 'sh', which is none of its programs"),
        ({"invoke": stranger}, "an argument is longer than Linux takes"),
        ({"invoke": deaf}, "task.model is passed over"),
        ({"invoke": deaf}, "task.resume is passed over"),
        ({"invoke": deaf}, "task.allow is passed over"),
        ({"invoke": deaf}, "task.args is passed over"),
        ({"invoke": crashing}, "it raises KeyError('edit')"),
        ({"recognises": lambda _: True}, "it takes {} for a message of its own"),
        ({"recognises": lambda _: False}, "none of its messages is recognised"),
        ({"recognises": lambda m: m["type"] == "text"}, "it raises KeyError('type')"),
        ({"name": "open-code"}, "the name 'open-code' is no lower-case word"),
        ({"name": "goose"}, "its decoder says that it reads 'opencode'"),
        ({"name": "goose"}, "it is taken for opencode"),
        ({"programs": ()}, "no program is named"),
        (
            {"with_output_flags": lambda command: [*command, "--json"]},
            "with_output_flags adds its flags again",
        ),
    ],
)
def test_a_faulty_record_is_found_out(changed: dict[str, Any], words: str) -> None:
    found = check(msgspec.structs.replace(OPENCODE, **changed), CASES[:2])
    assert any(words in failure for failure in found), found


def test_who_cannot_go_on_with_a_session_need_not_say_so_twice() -> None:
    tells = msgspec.structs.replace(OPENCODE.capabilities, resume="no")
    found = check(msgspec.structs.replace(OPENCODE, invoke=deaf, capabilities=tells), CASES[:2])
    assert any("task.model" in failure for failure in found)
    assert not any("task.resume" in failure for failure in found)


def test_a_clear_refusal_is_no_fault() -> None:
    assert check(msgspec.structs.replace(OPENCODE, invoke=refusing), CASES[:2]) == []


def test_another_judgement_than_a_person_s_is_told() -> None:
    wrong = Case("wrong", CASES[0].wire, "failed")
    assert check(OPENCODE, [wrong]) == ["wrong: it is judged as denied, a person says failed"]


def test_messages_that_nobody_knows_are_told() -> None:
    strange = Case("strange", CASES[0].wire + b'{"type":"news","sessionID":"s","part":{}}\n')
    assert check(OPENCODE, [strange]) == ["strange: messages are unknown: ['news']"]


def test_cases_are_folders(tmp_path: Any) -> None:
    for name, status in (("a", "success\n"), ("b", None)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "wire.jsonl").write_bytes(b"{}\n")
        if status:
            (tmp_path / name / "status").write_text(status)
    assert cases_in(tmp_path) == [Case("a", b"{}\n", "success"), Case("b", b"{}\n")]
