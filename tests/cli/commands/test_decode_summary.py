"""`rook decode --summary` as a user calls it: one JSON object a file."""

import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.recorded import CASES, folded, name_of
from tests.warm import rook_bytes

from nightrook.prices import PriceBook
from nightrook.runs.run_result import summarise

KEYS = [
    "file",
    "agent",
    "version",
    "model",
    "ok",
    "status",
    "text",
    "turns",
    "cost_usd",
    "spent_usd",
    "cost_source",
    "tokens",
    "tools",
    "lines",
    "unknown",
    "unreadable",
    "truncated",
]


def rook(*words: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return rook_bytes("decode", "--summary", *words, stdin=stdin)


def objects(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.split(b"\n")[:-1]]


def case(name: str) -> Path:
    return next(path for path in CASES if name_of(path) == name)


def test_every_recorded_case_gives_one_object_on_one_line() -> None:
    done = rook("--agent", "claude", *CASES)
    assert (done.returncode, done.stderr) == (0, b"")
    book = PriceBook()
    expected = [
        msgspec.json.encode(summarise(folded(path, book), file=str(path), agent="claude"))
        for path in CASES
    ]
    assert done.stdout.split(b"\n")[:-1] == expected
    for told in objects(done):
        assert list(told) == KEYS
        assert list(told["tokens"]) == ["input", "output", "cache_read", "cache_write"]
        assert list(told["tools"]) == ["started", "finished", "failed", "denied", "orphaned"]


@pytest.mark.parametrize(
    ("name", "ok", "status", "text"),
    [
        ("s02_read_edit_bash-2.1.197", True, "success", "Edited and ran."),
        ("s05_permission_denied-2.1.325", True, "denied", "I could not."),
        ("s11a_fail_500-2.1.197", False, "failed", None),
        ("s12_max_turns-1.0.128", False, "over_budget", None),
        ("s15_rate_limit_event-2.1.325", False, "limited", None),
        ("s23b_sigterm_text-2.1.197", False, "incomplete", "word " * 15),
        ("s23i_interrupt_control-2.1.197", True, "success", "after interrupt"),
        ("s27c_background_never_ends-2.1.197", True, "incomplete", "Server is up."),
        ("cut-last-line", False, "incomplete", "I will read the file.Edited and ran."),
    ],
)
def test_how_a_run_ended(name: str, ok: bool, status: str, text: str | None) -> None:
    (told,) = objects(rook(case(name)))
    assert (told["ok"], told["status"], told["text"]) == (ok, status, text)


def test_the_agent_is_detected_and_standard_input_is_a_dash(session: Path) -> None:
    (told,) = objects(rook("-", stdin=session.read_bytes()))
    (same,) = objects(rook(session))
    assert told == same | {"file": "-"}
    assert (told["agent"], told["version"]) == ("claude", "2.1.325")


def test_a_cost_the_agent_did_not_tell_is_estimated() -> None:
    (told,) = objects(rook(case("s23d_sigterm_tool-2.1.325")))
    assert told["cost_source"] == "estimated"
    assert told["cost_usd"] == told["spent_usd"] > 0


def test_a_cost_that_nobody_knows_is_null() -> None:
    line = (
        b'{"type":"assistant","session_id":"s","message":{"id":"m","model":"strange-1",'
        b'"content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":1,"output_tokens":1}}}\n'
    )
    (told,) = objects(rook("-", stdin=line))
    assert (told["cost_usd"], told["spent_usd"], told["cost_source"]) == (None, None, "unknown")
    assert told["tokens"] == {"input": 1, "output": 1, "cache_read": 0, "cache_write": 0}


def test_a_resumed_session_s_old_total_is_told_apart_from_what_this_run_spent() -> None:
    (told,) = objects(rook(case("s24_resume__2_resume-2.1.325")))
    assert 0 < told["spent_usd"] < told["cost_usd"]


def test_messages_are_unknown_not_fields() -> None:
    (told,) = objects(rook(case("unknown-type")))
    assert (told["unknown"], told["unreadable"]) == (6, 0)
    (told,) = objects(rook(case("noise-on-stdout")))
    assert (told["unknown"], told["unreadable"]) == (0, 24)


def test_a_bad_file_gives_a_line_on_stderr_and_the_others_are_still_summed_up(
    session: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    done = rook(tmp_path / "missing", session, empty)
    assert done.returncode == 2
    assert [told["file"] for told in objects(done)] == [str(session)]
    assert done.stderr.decode().split("\n") == [
        f"[rook] {tmp_path}/missing: no such file",
        f"[rook] {tmp_path}/empty: is empty",
        "",
    ]
