"""The answer in an agent's whole output: seed 000's ExtractFromJSON and IsComplete."""

import time
from pathlib import Path

import pytest

from nightrook import agents
from nightrook.adapter.agent import Agent
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.model import answer
from nightrook.story.final_answer import final_text, is_complete
from tests.recorded import ALL, folded, name_of

RESULT = '{"type":"result","subtype":"success","is_error":false,"result":"Done","session_id":"s"}'
ERROR = '{"type":"result","subtype":"success","is_error":true,"result":"done","session_id":"s"}'
MIB = 1024 * 1024


# Seed 000 step 8, TestExtractFromJSON.


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        pytest.param(
            '{"type":"system"}\n{"type":"result","result":"done","total_cost_usd":0.01}',
            "done",
            id="valid result",
        ),
        pytest.param(
            'line1\n{"type":"result","result":"complete"}\nline3', "complete", id="result in middle"
        ),
        pytest.param('{"type":"assistant"}\n{"type":"user"}', None, id="no result"),
        pytest.param('{not json}\n{"type":"result"', None, id="malformed json"),
        pytest.param("", None, id="empty output"),
    ],
)
def test_extract_from_json(output: str, answer: str | None) -> None:
    assert final_text(output) == answer
    assert final_text(output.encode()) == answer
    assert final_text(output.replace("\n", "\r\n")) == answer


# Seed 000 step 8, TestIsComplete_JSON and TestIsComplete_Fallback.


def test_is_complete_json() -> None:
    output = '{"type":"assistant"}\n{"type":"result","result":"done"}'
    assert is_complete(output, "done")
    assert not is_complete(output, "other")


def test_is_complete_fallback() -> None:
    assert is_complete("Some output\n<response>completed</response>", "completed")
    assert not is_complete("Some output\n<response>completed</response>", "other")
    assert not is_complete("Some output\ncompleted", "completed")


# Further.


@pytest.mark.parametrize(
    "output", [RESULT, "<response>\n Done </response>\n", f"{RESULT}\n{ERROR}"]
)
def test_white_space_and_case_do_not_matter(output: str) -> None:
    for expected in ("done", " DONE\n", "Done"):
        assert is_complete(output, expected)
        assert is_complete(output.encode(), expected)


def test_messages_win_over_tags() -> None:
    said = '{"type":"assistant","message":{"content":[{"type":"text","text":"<response>a"}]}}'
    assert final_text(f"<response>b</response>\n{said}\n{RESULT}\n<response>b</response>") == "Done"
    assert not is_complete(f"<response>b</response>\n{ERROR}\n", "b")


def test_an_error_is_not_complete_even_if_it_says_the_word() -> None:
    assert final_text(ERROR) is None
    assert not is_complete(ERROR, "done")


def test_the_text_of_text_mode_is_what_stands_in_the_tags() -> None:
    assert final_text("Thinking...\n<response>two\nlines</response>\nbye") == "two\nlines"
    assert final_text(b"\xff\xfe <response>\xc3\xa9</response>") == "é"
    assert final_text("no tags") is None


def test_json_that_no_agent_wrote_is_text() -> None:
    log = '{"level":"info","msg":"hi"}\n[1,2]\n<response>done</response>\n'
    assert final_text(log) == "done"


def test_lone_surrogates_and_a_byte_order_mark_do_no_harm() -> None:
    assert final_text("\ud800 <response>\udfff</response>") == "\udfff"
    assert final_text(RESULT.replace("Done", "\ud83d")) == "\ufffd" * 3
    assert final_text("\ufeff" + RESULT) == "Done"


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_a_recorded_output_gives_what_its_records_give(path: Path) -> None:
    data = path.read_bytes()
    expected = answer.final_text(folded(path))
    assert final_text(data) == expected
    if expected is not None:
        assert is_complete(data, expected)
        assert not is_complete(data, f"{expected}!")


# Large output.


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes were searched for messages, each time."""
    sizes: list[int] = []
    really = agents.detect

    def detect(head: bytes) -> Agent | None:
        sizes.append(len(head))
        return really(head)

    monkeypatch.setattr(agents, "detect", detect)
    return sizes


def test_noise_before_the_first_message_is_tolerated_up_to_a_mebibyte() -> None:
    noise = "npm warn deprecated\n"
    assert is_complete(noise * (MIB // len(noise)) + RESULT, "done")
    assert not is_complete(noise * (2 * MIB // len(noise)) + RESULT, "done")


def test_a_first_message_longer_than_the_head_is_read_whole() -> None:
    long = RESULT.replace("Done", "x" * 3 * MIB)
    assert final_text(long) == "x" * 3 * MIB
    assert final_text(f"{long}\n{RESULT}\n") == "Done"


@pytest.mark.parametrize(
    ("line", "size"),
    [
        ("lorem ipsum dolor sit amet, consectetur\n", 100_000_000),
        ("лорем ипсум ☃ долор\n", 20_000_000),
        ("x", 20_000_000),
        ("{", 20_000_000),
        ('{"a":1}\n', 20_000_000),
    ],
)
def test_a_hundred_megabytes_of_text_are_not_searched_for_messages(
    line: str, size: int, looked_at: list[int]
) -> None:
    text = line * (size // len(line)) + "<response>Done</response>\n"
    begin = time.process_time()
    assert is_complete(text, "done")
    assert time.process_time() - begin < 10  # a few tenths; line by line it would be minutes
    assert looked_at
    assert max(looked_at) <= MIB + DEFAULT_CAP


def test_a_large_stream_is_decoded_quickly(session: Path) -> None:
    data = session.read_bytes()
    begin = time.process_time()
    assert is_complete(data * (50_000_000 // len(data)), "edited and ran.")
    assert time.process_time() - begin < 20  # a third of a second on an idle machine
