"""What is special about Goose's stream: a banner, texts of its own, and totals of the session."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import nightrook
from nightrook.adapter.agent import Replacement
from nightrook.agents import agent, detect
from nightrook.agents.goose.adapter import recognises
from nightrook.agents.goose.errors import gives_up, read
from nightrook.model.answer import final_text
from nightrook.model.events import (
    Error,
    Event,
    SessionStarted,
    ToolStarted,
    TurnFinished,
    UsageReported,
)
from nightrook.model.fold import fold
from nightrook.model.verdict import judge
from tests.flat_facts import flat_facts
from tests.recorded import cases, folded, messages, name_of
from tests.rules import each

STREAMS = cases("goose")
OWN = '"metadata":{"userVisible":true}'
MODEL = '"metadata":{"inference":{"requestedModel":"m"}}'
END = b'{"type":"complete","total_tokens":5,"input_tokens":4,"output_tokens":1}'


def events(*lines: bytes) -> list[Event]:
    decoder = nightrook.decoder("goose")
    records = [record for line in lines for record in decoder.feed(line + b"\n")]
    return [record.event for record in records + decoder.close()]


def said(text: str, metadata: str = MODEL) -> bytes:
    content = f'[{{"type":"text","text":"{text}"}}]'
    message = f'{{"id":"a","role":"assistant","created":1,"content":{content},{metadata}}}'
    return f'{{"type":"message","message":{message}}}'.encode()


def totals(path: Path) -> list[dict[str, Any]]:
    return [message for message in messages(path) if message.get("type") == "complete"]


@each("path", [path for path in STREAMS if totals(path)], ids=name_of)
def test_the_tokens_are_the_agent_s_own_totals(path: Path) -> None:
    (total,) = totals(path)
    tokens = folded(path).ledger.tokens
    assert tokens.total == total["input_tokens"] + total["output_tokens"]
    assert tokens.cache_read == total["cache_read_input_tokens"]


def test_the_cost_is_the_agent_s_own_total_of_the_session() -> None:
    end = END.replace(b"}", b',"cost_usd":0.0105}')  # as 1.52.0 writes for a model it can price
    (used,) = [event for event in events(said("Hi"), end) if isinstance(event, UsageReported)]
    assert (used.semantics, used.cost_usd) == ("cumulative", 0.0105)


@each("path", STREAMS, ids=name_of)
def test_every_piece_of_the_model_is_in_a_text(path: Path) -> None:
    pieces = (
        [
            part["text"]
            for message in messages(path)
            if message.get("type") == "message" and message["message"]["role"] == "assistant"
            for part in message["message"]["content"]
            if part["type"] == "text" and not gives_up(part["text"])
        ]
        if name_of(path) != "noise-and-news"
        else ["One. ", "Two.", "Three."]
    )
    assert "".join(folded(path).texts) == "".join(pieces)


def test_the_banner_names_session_model_and_folder() -> None:
    (path,) = [path for path in cases("goose") if name_of(path).startswith("text-")]
    records = nightrook.decode(path, agent="goose")
    assert next(iter(records)).event == SessionStarted(
        session="20261115_1", model="fake-model", cwd="/home/dev/project"
    )


def test_a_text_of_the_model_may_begin_like_an_error_of_goose() -> None:
    text = "Ran into this error: it is fixed now."
    state = events(said(text), END)
    assert state[-2] == TurnFinished(ok=True, text=text)
    failed = events(said(text, OWN), END)[-2]
    assert failed == TurnFinished(ok=False, reason="api_error", errors=("it is fixed now.",))


def test_an_answer_after_an_error_makes_up_for_it() -> None:
    seen = events(said("Ran into this error: bad", OWN), said("Done."), END)
    assert seen[-2] == TurnFinished(ok=True, text="Done.")


def test_a_text_of_its_own_that_gives_up_nothing_is_an_answer() -> None:
    assert events(said("Goal cleared.", OWN), END)[-2] == TurnFinished(
        ok=True, text="Goal cleared."
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Ran into this error: Authentication error: no", "auth"),
        ("Ran into this error: Rate limit exceeded: slow down", "rate"),
        ("Ran into this error: Rate limit exceeded: your current quota", "quota"),
        ("Ran into this error: Server error: Server error (503 Service Unavailable)", "overload"),
        ("Ran into this error: Server error: Server error (500)", "internal"),
        ("Ran into this error: Request failed: Bad request (400): no", "config"),
        ("Ran into this error trying to compact: Failed to compact: no", "context"),
        ("Unable to continue: Context limit still exceeded after compaction.", "context"),
        ("Network error: gone\n\nPlease resend your message to try again.", "network"),
        ("something else", "internal"),
    ],
)
def test_the_text_of_an_error_tells_its_kind(text: str, kind: str) -> None:
    assert read(text).kind == kind


def test_an_error_is_reported_without_the_words_around_it() -> None:
    text = "Ran into this error: Bad.\n\nPlease retry if you think this is a transient error."
    assert read(text) == Error(kind="internal", message="Bad", retryable=True)


def test_a_run_that_needs_approval_is_denied_if_stderr_says_so() -> None:
    (path,) = [path for path in cases("goose") if name_of(path).startswith("perm_denied-")]
    known = flat_facts(
        refusals=("Tool approval required",), ended_by_refusal=True, agent_exit_code=1
    )
    verdict = judge(folded(path), known)
    assert (verdict.status, verdict.exit_code) == ("denied", 4)
    killed = judge(
        folded(path), flat_facts(refusals=known.stream.refusals, ended_by_refusal=True, signal=9)
    )
    assert killed.status == "incomplete"


def test_a_command_that_prints_the_words_of_a_refusal_was_not_refused() -> None:
    (path,) = [path for path in cases("goose") if name_of(path).startswith("shell_ok-")]
    words = b"The user has declined to run this tool."
    wire = path.read_bytes().replace(b'"text":"out-line', b'"text":"' + words)
    assert words in wire
    verdict = judge(fold(nightrook.decode([wire], agent="goose")))
    assert verdict.status == "success"


def test_the_answer_is_what_came_after_the_last_call() -> None:
    (path,) = [path for path in cases("goose") if name_of(path).startswith("subagent-")]
    assert final_text(folded(path)) == "The helper says three lines."


@each("path", [path for path in STREAMS if any(messages(path))], ids=name_of)
def test_a_stream_is_known_as_its_own(path: Path) -> None:
    found = detect(path.read_bytes())
    assert found is not None
    assert found.name == "goose"


@pytest.mark.parametrize(
    "message",
    [
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "message", "message": {"content": []}},
        {"type": "complete"},
        {"type": "error", "error": "no"},
        {"type": "notification", "message": "hi"},
    ],
)
def test_messages_of_others_are_not_its_own(message: dict[str, object]) -> None:
    assert not recognises(message)


def test_the_text_of_an_edit_is_read_from_its_call() -> None:
    found: dict[str, tuple[Replacement, ...]] = {}
    for path in cases("goose"):
        for record in nightrook.decode(path, agent="goose"):
            if isinstance(record.event, ToolStarted):
                found.setdefault(record.event.name, agent("goose").replacements(record.event))
    assert found["edit"] == (Replacement("return a - b", "return a + b"),)
    assert found["write"][0].before == ""
    assert found["shell"] == ()


@pytest.mark.slow
def test_its_stored_sessions_are_read_without_its_decoder() -> None:
    code = "import nightrook.agents.goose.history, sys; print(*sys.modules, sep='\\n')"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()
    assert "nightrook.agents.goose.history" in loaded
    assert not [name for name in loaded if name.startswith("nightrook.agents.goose.reader")]
