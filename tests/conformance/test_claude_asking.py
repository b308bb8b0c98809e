"""The real Claude Code asks, and a person on a real terminal answers: every key, and silence.

As in test_claude.py, its model is scripted and on loopback; without ROOK_TEST_CLAUDE these are
skipped.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from nightrook.testing import Answer, Reply, Script, ScriptedMessagesApi
from tests.conformance.bench import ROOK, Bench
from tests.conformance.test_claude import CLAUDE, prepare
from tests.terminals import Terminal

pytestmark = pytest.mark.skipif(not CLAUDE, reason="ROOK_TEST_CLAUDE is not set")


class Seat:
    """A place at a terminal, in front of a run."""

    def __init__(self, folder: Path) -> None:
        self._bench = Bench(folder, CLAUDE, ScriptedMessagesApi, prepare)
        self.project = self._bench.project

    def run(
        self,
        script: Script,
        *keys: tuple[str, str],
        options: tuple[str, ...] = (),
        words: tuple[str, ...] = (),
    ) -> int:
        """Run to the end; each key is pressed when its words have come once more."""
        with ScriptedMessagesApi(script) as api:
            environment = self._bench.environment(api.url)
            command: list[str | Path] = [ROOK, "run", *options, "Go", *words]
            seen: dict[str, int] = {}
            with Terminal(command, environment, cwd=self.project, columns=120, rows=60) as terminal:
                for shown, key in keys:
                    seen[shown] = seen.get(shown, 0) + 1
                    terminal.until(shown, times=seen[shown])
                    terminal.type(key)
                code = terminal.finish()
            self.text = terminal.text
            self.requests = api.requests
        return code

    def results(self) -> list[str]:
        """What the model was told of its tool calls."""
        said = self.requests[-1]["messages"]
        blocks = [b for m in said if isinstance(m["content"], list) for b in m["content"]]
        return [str(block["content"]) for block in blocks if block["type"] == "tool_result"]

    def decisions(self) -> list[dict[str, Any]]:
        """What was decided, as the run keeps it."""
        (path,) = self.project.parent.glob("home/nightrook/runs/*/decisions.jsonl")
        return [json.loads(line)["decision"] for line in path.read_text().split("\n") if line]


@pytest.fixture
def seat(tmp_path: Path) -> Seat:
    return Seat(tmp_path)


def bash(command: str, **more: Any) -> Reply:
    return Reply(tools=[("Bash", {"command": command, "description": "do it", **more})])


DONE = Reply(text="Done.")


def test_once_is_asked_again(seat: Seat) -> None:
    script = [bash("touch one.txt"), bash("touch one.txt"), DONE]
    code = seat.run(script, ("[y] once", "y"), ("[y] once", "n"))
    assert code == 4, seat.text
    assert (seat.project / "one.txt").exists()
    assert "\n         │ touch one.txt\n         [y] once" in seat.text
    assert "because: do it" in seat.text
    assert seat.decisions() == [
        {"allow": True, "by": "person", "through": "terminal"},
        {"allow": False, "by": "person", "through": "terminal"},
    ]


def test_always_is_not_asked_again(seat: Seat) -> None:
    script = [bash("touch one.txt"), bash("touch one.txt"), DONE]
    assert seat.run(script, ("[y] once", "a")) == 0, seat.text
    assert len(seat.decisions()) == 1
    assert not (seat.project / ".claude").exists()  # it was for this run


def test_always_holds_for_what_the_program_would_ask_again(seat: Seat) -> None:
    command = "cd .. && touch seat | cat; python3 -c 'print(1)'"
    assert seat.run([bash(command), bash(command), DONE], ("[y] once", "a")) == 0, seat.text
    assert seat.decisions() == [
        {"allow": True, "always": True, "by": "person", "through": "terminal"},
        {"allow": True, "by": "rule"},
    ]


def test_always_for_an_edit_is_every_change_in_this_folder(seat: Seat) -> None:
    path = str(seat.project / "a.txt")
    change = {"file_path": path, "old_string": "one\n", "new_string": "two\n"}
    script = [
        Reply(tools=[("Write", {"file_path": path, "content": "one\nand more\n"})]),
        Reply(tools=[("Edit", change)]),
        bash("mv a.txt b.txt"),
        DONE,
    ]
    assert (
        seat.run(
            script, ("[a] always in this run: all file changes in this folder, rm and mv too", "a")
        )
        == 0
    )
    assert "wants to edit  Write\n" in seat.text
    assert "\n         │ +one\n         │ +and more\n" in seat.text
    assert (seat.project / "b.txt").read_text() == "two\nand more\n"
    assert len(seat.decisions()) == 1


def test_an_edit_is_shown_as_the_lines_that_go_and_come(seat: Seat) -> None:
    path = seat.project / "a.txt"
    path.write_text("keep\nold\nend\n")
    change = {"file_path": str(path), "old_string": "keep\nold", "new_string": "keep\nnew"}
    script = [
        Reply(tools=[("Read", {"file_path": str(path)})]),
        Reply(tools=[("Edit", change)]),
        DONE,
    ]
    assert seat.run(script, ("[y] once", "y")) == 0, seat.text
    assert "\n         │ -old\n         │ +new\n         [y] once" in seat.text


def test_no_with_a_reason_tells_the_model_why(seat: Seat) -> None:
    code = seat.run(
        [bash("touch one.txt"), DONE], ("[e] no, and", "e"), ("why not:", "use make instead\r")
    )
    assert code == 4, seat.text
    assert seat.results() == ["The user denied this: use make instead"]
    assert not (seat.project / "one.txt").exists()
    assert "[claude] DENIED: Bash: touch one.txt" in seat.text


def test_silence_means_no(seat: Seat) -> None:
    code = seat.run([bash("touch one.txt"), DONE], options=("--ask-timeout", "0.5"))
    assert code == 4, seat.text
    assert seat.results() == ["The user did not answer in time, so this is denied."]
    assert seat.decisions() == [{"allow": False, "by": "timeout"}]


@pytest.mark.parametrize(("key", "code"), [("y", 0), ("n", 4)])
def test_a_plan_is_shown_and_approved_or_not(seat: Seat, key: str, code: int) -> None:
    def answer(request: dict[str, Any]) -> Answer:
        match sum(message["role"] == "assistant" for message in request["messages"]):
            case 0:
                return Reply(tools=[("EnterPlanMode", {})])
            case 1:
                (path, *_) = re.findall(r'/[^ "\\]*/plans/[^ "\\]*\.md', json.dumps(request))
                plan = {"file_path": path, "content": "# Plan\n1. Do it\n"}
                return Reply(tools=[("Write", plan)])
            case 2:
                return Reply(tools=[("ExitPlanMode", {})])
        return DONE

    assert seat.run(answer, ("[y] yes, continue", key)) == code, seat.text
    assert "[claude] has a plan:\n         │ # Plan\n         │ 1. Do it\n" in seat.text
    assert ("approved your plan" in seat.results()[-1]) == (key == "y")


def test_questions_are_answered_by_number_or_in_own_words(seat: Seat) -> None:
    options = [{"label": "SQLite", "description": "small"}, {"label": "Postgres"}]
    asked = [
        ("Which database?", False, options),
        ("Which extras?", True, [{"label": "tui"}, {"label": "web"}, {"label": "otel"}]),
        ("Which name?", False, options),
    ]
    questions = [
        {
            "question": text,
            "header": "H",
            "multiSelect": several,
            "options": [{"description": "", **option} for option in offered],
        }
        for text, several, offered in asked
    ]
    code = seat.run(
        [Reply(tools=[("AskUserQuestion", {"questions": questions})]), DONE],
        (answer := "then no answer)\n         >", "7\r"),
        ("choose from 1 to 2\n         >", "2\r"),
        (answer, "1,3\r"),
        (answer, "call it rook\r"),
    )
    assert code == 0, seat.text
    assert "[1] SQLite: small" in seat.text
    (told,) = seat.results()
    assert '"Which database?"="Postgres"' in told
    assert '"Which extras?"="tui, otel"' in told
    assert '"Which name?"="call it rook"' in told


def test_what_a_background_task_wakes_can_still_ask(seat: Seat) -> None:
    def answer(request: dict[str, Any]) -> Answer:
        said = json.dumps(request["messages"])
        if "task-notification" in said or "task_notification" in said:
            return DONE if "touch later" in said else bash("touch later.txt")
        return Reply(text="Launched.") if "tool_result" in said else launch

    launch = bash("sleep 1; echo end", run_in_background=True)
    assert seat.run(answer, ("│ touch later.txt\n         [y] once", "y")) == 0, seat.text
    assert (seat.project / "later.txt").exists()
    assert seat.text.count("[claude] Complete") == 2


def test_ctrl_c_while_it_asks_is_an_interruption_with_a_result(seat: Seat) -> None:
    assert seat.run([bash("touch one.txt"), DONE], ("[y] once", "\x03")) == 130, seat.text
    assert "no longer asked" in seat.text
    assert "[rook] interrupted" in seat.text
    (stdout,) = seat.project.parent.glob("home/nightrook/runs/*/stdout.raw")
    assert '"terminal_reason":"aborted_tools"' in stdout.read_text()


SERVER = """
import json, sys
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "forms", "version": "1"}
        about = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        send(id=id, result=about)
    elif method == "tools/list":
        send(id=id, result={"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        called = id
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        asked = {"message": "Your name?", "requestedSchema": schema}
        send(id=99, method="elicitation/create", params=asked)
    elif id == 99:
        text = json.dumps(message.get("result"))
        send(id=called, result={"content": [{"type": "text", "text": text}]})
"""


def test_a_form_that_we_cannot_fill_in_is_refused_and_holds_nobody_up(seat: Seat) -> None:
    server = {"command": sys.executable, "args": ["-c", SERVER]}
    code = seat.run(
        [Reply(tools=[("mcp__forms__ask", {})]), DONE],
        ("[y] once", "y"),
        words=("--", "--mcp-config", json.dumps({"mcpServers": {"forms": server}})),
    )
    assert code == 0, seat.text
    assert "cancel" in seat.results()[0]
    assert seat.decisions() == [
        {"allow": True, "by": "person", "through": "terminal"},
        {"allow": False, "by": "nobody"},
    ]
