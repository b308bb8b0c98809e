"""Real agents over the Agent Client Protocol, against scripted models on loopback.

`make conformance` installs them into .cache and names their programs in ROOK_TEST_….
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import nightrook
from nightrook.model.events import (
    Event,
    FileChanged,
    PermissionDenied,
    SessionStarted,
    StreamClosed,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from nightrook.testing import Answer, Failure, Reply, Script
from tests.conformance.acp import drive
from tests.conformance.acp.speakers import SPEAKERS, Speaker
from tests.conformance.bench import ROOK, Bench, Outcome
from tests.conformance.scenarios import acp_scenario
from tests.terminals import Terminal

pytestmark = pytest.mark.conformance

ANSWER = "All done: Grüße, 日本, 👩‍👧 \u2028 \u0085 end."
PROMPT = "Look at hello.txt – Grüße"
SLEEP = "touch running; sleep 1000"

CALLS_FAILURE_COMPLETED = {"gemini", "vibe"}
UNNAMED = {"copilot", "droid"}
CALLS_CANCELLED_COMPLETED = {"gemini", "opencode", "kilo"}


class Played:
    """What came of a run: how it ended, what it asked, and its events."""

    def __init__(self, outcome: Outcome) -> None:
        assert outcome.code == 0, outcome.err
        self.told: dict[str, Any] = outcome.told
        self.code: int = self.told["code"]
        self.events: list[Event] = [r.event for r in nightrook.decode(self.told["folder"])]

    def of(self, kind: Any) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def asked(self) -> list[str]:
        """What decides, of each question."""
        return [" ".join([a["title"] or "", *a["detail"]]) for a in self.told["asks"]]

    def call(self, words: str) -> ToolFinished:
        """The end of the call whose title contains these words."""
        (start,) = (e for e in self.of(ToolStarted) if words in f"{e.title} {e.input}")
        (end,) = (e for e in self.of(ToolFinished) if e.id == start.id)
        assert isinstance(end, ToolFinished)
        return end

    @property
    def answer(self) -> str | None:
        """The answer of the last turn."""
        turns = self.of(TurnFinished)
        return turns[-1].text if turns else None


class Stage:
    """One agent in a place of its own."""

    def __init__(self, speaker: Speaker, folder: Path) -> None:
        self.speaker = speaker
        self.bench = Bench(
            folder,
            speaker.program,
            speaker.api,
            lambda home, url: speaker.prepare(home, self.project, url),
            command=(sys.executable, drive.__file__),
        )
        self.project = self.bench.project
        subprocess.run(["git", "init", "-q", self.project], check=True)
        (self.project / "hello.txt").write_text("one\ntwo\n")
        (self.project / "calc.py").write_text("def add(a, b):\n    return a - b\n")

    def play(self, *answers: Answer, **options: Any) -> Played:
        """Run the agent with these answers of the model; it asks, and drive.py decides."""
        return self.play_script(self.speaker.script(*answers), **options)

    def play_script(self, script: Script, **options: Any) -> Played:
        usual = {"cwd": str(self.project), "permission": "ask", "timeout": "150s"}
        named = {"via": self.speaker.via, "model": self.speaker.model}
        chosen = {name: value for name, value in named.items() if value is not None}
        words = (self.speaker.name, PROMPT, json.dumps({**usual, **chosen, **options}))
        return Played(self.bench.rook(script, *words))


def is_missing(speaker: Speaker) -> str | None:
    """Why an agent cannot be tried."""
    if not speaker.program:
        return f"{speaker.variable} is not set"
    if not os.access(speaker.program, os.X_OK):
        needs = "needs Python 3.12" if speaker.name == "vibe" else "is not installed"
        return f"{speaker.name} {needs}: {speaker.program} is missing"
    return None


@pytest.fixture(params=list(SPEAKERS))
def speaker(request: pytest.FixtureRequest) -> Speaker:
    found = SPEAKERS[request.param]
    if reason := is_missing(found):
        pytest.skip(reason)
    return found


@pytest.fixture
def stage(speaker: Speaker, tmp_path: Path) -> Stage:
    return Stage(speaker, tmp_path)


_MAIN: dict[str, tuple[Stage, Played]] = {}


@pytest.fixture
def main(speaker: Speaker, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """One long turn, which several scenarios look at; a refusal comes last."""
    if speaker.name not in _MAIN:
        stage = Stage(speaker, tmp_path_factory.mktemp(speaker.name))
        calc = stage.project / "calc.py"
        played = stage.play(
            Reply(
                thinking="I weigh it.",
                text="I will read.",
                tools=[speaker.read(stage.project / "hello.txt")],
            ),
            Reply(text="Running.", tools=[speaker.shell("echo out; exit 3")]),
            Reply(tools=[speaker.read(calc)]),
            Reply(text="Editing.", tools=[speaker.edit(calc, *_lines(speaker))]),
            Reply(tools=[speaker.shell("touch allowed.txt")]),
            Reply(tools=[speaker.shell("touch forbidden.txt")]),
            Reply(text=ANSWER),
        )
        _MAIN[speaker.name] = stage, played
    return _MAIN[speaker.name][1]


def _lines(speaker: Speaker) -> tuple[str, str]:
    """The text to replace, whole lines for a patch."""
    pair = ("return a - b", "return a + b")
    return ("    " + pair[0], "    " + pair[1]) if speaker.name == "codex" else pair


def test_every_call_starts_and_ends_once_and_nothing_is_unreadable(main: Played) -> None:
    starts, ends = main.of(ToolStarted), main.of(ToolFinished)
    assert sorted(e.id for e in starts) == sorted({e.id for e in ends})
    assert len(ends) == len(starts)
    (closed,) = main.of(StreamClosed)
    assert (closed.results, closed.open_tools, closed.truncated) == (1, 0, False)
    (session,) = main.of(SessionStarted)
    assert session.version


@acp_scenario("text")
def test_text(stage: Stage) -> None:
    played = stage.play(Reply(text="Hello there."))
    assert (played.code, played.answer) == (0, "Hello there."), played.told


@acp_scenario("thinking")
def test_thinking(main: Played) -> None:
    assert "I weigh it." in "".join(event.text or "" for event in main.of(Thinking))


@acp_scenario("read")
def test_a_file_that_is_read(main: Played) -> None:
    assert main.call("hello.txt").status == "ok"


@acp_scenario("failing command")
def test_a_command_that_fails(speaker: Speaker, main: Played) -> None:
    expected = "ok" if speaker.name in CALLS_FAILURE_COMPLETED else "error"
    assert main.call("exit 3").status == expected


@acp_scenario("edit")
def test_an_edit(speaker: Speaker, main: Played) -> None:
    assert all(event.status == "ok" for event in main.of(ToolFinished) if event.kind == "edit")
    calc = _MAIN[speaker.name][0].project / "calc.py"
    assert calc.read_text().endswith("return a + b\n")
    changes = [(e.path, e.added, e.removed) for e in main.of(FileChanged)]
    assert changes == ([] if speaker.name == "goose" else [(str(calc), 1, 1)])


@acp_scenario("ask-allow")
def test_what_is_allowed_is_done(speaker: Speaker, main: Played) -> None:
    assert any("touch allowed.txt" in asked for asked in main.asked), main.asked
    assert (_MAIN[speaker.name][0].project / "allowed.txt").exists()


@acp_scenario("ask-deny")
def test_what_is_denied_is_not_done(speaker: Speaker, main: Played) -> None:
    assert any("touch forbidden.txt" in asked for asked in main.asked), main.asked
    assert not (_MAIN[speaker.name][0].project / "forbidden.txt").exists()
    assert main.call("touch forbidden.txt").status == "denied"
    assert len(main.of(PermissionDenied)) == 1
    assert main.code == 4, main.told


@acp_scenario("unicode")
def test_unicode(speaker: Speaker, stage: Stage) -> None:
    seen: list[str] = []

    def model(request: dict[str, Any]) -> Answer:
        seen.append(json.dumps(request, ensure_ascii=False))
        return script(request)

    script = speaker.script(Reply(text=ANSWER))
    played = stage.play_script(model)
    assert (played.code, played.answer) == (0, ANSWER), played.told
    assert any(PROMPT in request for request in seen)


@acp_scenario("always")
def test_what_is_always_allowed_is_asked_once(speaker: Speaker, stage: Stage) -> None:
    again = Reply(tools=[speaker.shell("echo x >> always.txt")])
    played = stage.play(again, again, Reply(text="Done."))
    assert (played.code, played.answer) == (0, "Done."), played.told
    assert len(played.asked) == 1, played.asked
    assert (stage.project / "always.txt").read_text() == "x\nx\n"


@acp_scenario("cancel")
def test_a_cancel(speaker: Speaker, stage: Stage) -> None:
    played = stage.play(Reply(tools=[speaker.shell(SLEEP)]), Reply(text="No."), at_tool="stop")
    assert played.code == 130, played.told
    if speaker.name not in CALLS_CANCELLED_COMPLETED:
        assert all(event.status != "ok" for event in played.of(ToolFinished))


@acp_scenario("kill")
def test_an_agent_that_is_killed(speaker: Speaker, stage: Stage) -> None:
    played = stage.play(Reply(tools=[speaker.shell(SLEEP)]), Reply(text="No."), at_tool="kill")
    assert played.code == 3, played.told
    assert all(event.status != "ok" for event in played.of(ToolFinished))


@acp_scenario("resume")
def test_a_session_is_resumed(speaker: Speaker, stage: Stage) -> None:
    first = stage.play(Reply(text="One."))
    for log in stage.bench.home.glob(".gemini/tmp/*/chats/session-*"):
        log.rename(
            log.with_name(f"session-2026-01-01T00-00{log.name[-14:]}")
        )  # as if a minute passed
    seen: list[str] = []
    script = speaker.script(Reply(text="Two."))

    def model(request: dict[str, Any]) -> Answer:
        seen.append(json.dumps(request))
        return script(request)

    played = stage.play_script(model, resume=first.told["name"])
    assert (played.code, played.answer) == (0, "Two."), played.told
    assert any("One." in request for request in seen)
    assert [event.text for event in played.of(Text)] == ["Two."]


@acp_scenario("401")
def test_a_wrong_key_is_no_success(speaker: Speaker, stage: Stage) -> None:
    played = stage.play_script(lambda _: Failure(401), timeout="60s")
    assert played.code in (1, 9, 124), played.told


@acp_scenario("500 then success")
def test_a_retry_that_succeeds(speaker: Speaker, stage: Stage) -> None:
    played = stage.play(Failure(500), Reply(text="Recovered."))
    assert (played.code, played.answer) == (0, "Recovered."), played.told


@acp_scenario("huge output")
def test_huge_output(speaker: Speaker, stage: Stage) -> None:
    flood = speaker.shell("yes 0123456789 | head -c 400000")
    played = stage.play(Reply(tools=[flood]), Reply(text="Ok."))
    assert (played.code, played.answer) == (0, "Ok."), played.told


@acp_scenario("subagent")
def test_a_subagent(speaker: Speaker, stage: Stage) -> None:
    if speaker.subagent is None:
        pytest.skip("it offers its model no tool for subagents")
    played = stage.play(
        Reply(tools=[speaker.subagent("Look at hello.txt")]),
        Reply(tools=[speaker.read(stage.project / "hello.txt")]),
        Reply(text="Two lines."),
        Reply(text="It says two lines."),
    )
    denied = speaker.name == "gemini"  # by its own policy
    assert played.code == (4 if denied else 0), played.told
    first = played.of(ToolStarted)[0]
    assert first.kind == ("other" if speaker.name in UNNAMED else "subagent"), first
    inner = [event for event in played.of(ToolStarted) if event.parent == first.id]
    assert bool(inner) == (speaker.name == "claude")


# On a terminal, as a person would.


@pytest.fixture
def at_terminal(speaker: Speaker, stage: Stage) -> Stage:
    if speaker.name not in ("vibe", "gemini"):
        pytest.skip("two agents stand for all here")
    return stage


def test_a_person_is_asked_on_the_terminal(speaker: Speaker, at_terminal: Stage) -> None:
    script = speaker.script(
        Reply(tools=[speaker.shell("touch allowed.txt")]),
        Reply(tools=[speaker.shell("touch refused.txt")]),
        Reply(text="Done."),
    )
    with speaker.api(script) as api:
        environment = at_terminal.bench.environment(api.url)
        words = ["run", "--agent", speaker.name, "--permission", "ask", "Go"]
        project = at_terminal.project
        with Terminal([ROOK, *words], environment, cwd=project, columns=120, rows=50) as terminal:
            terminal.until("touch allowed.txt")
            terminal.until("[y]")
            terminal.type("y")
            terminal.until("touch refused.txt")
            terminal.until("[y]", times=2)
            terminal.type("n")
            code = terminal.finish()
    assert code == 4, terminal.text
    assert (project / "allowed.txt").exists()
    assert not (project / "refused.txt").exists()
