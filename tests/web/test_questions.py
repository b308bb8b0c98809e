"""Questions on the page: listed, decided once, recorded, and never by the agent itself."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from nightrook.store import decisions
from nightrook.store.list import find_run
from nightrook.store.run_folder import RunFolder
from tests.runs.asking.asking_agent import command, install
from tests.warm import ROOK
from tests.web.served import Served, environment

_QUESTION = {
    "tool_name": "AskUserQuestion",
    "input": {
        "questions": [
            {
                "question": "Which?",
                "header": "Which",
                "options": [{"label": "A", "description": "one"}, {"label": "B"}],
                "multiSelect": False,
            }
        ]
    },
}


_SUGGESTIONS = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "rm:*"}],
        "behavior": "allow",
        "destination": "session",
    }
]


def start(folder: Path, *steps: dict[str, Any], agent_is: str = "ask") -> RunFolder:
    """Start an agent that asks, in the background: no process of the test is its runner."""
    install(folder)
    home = folder / "home"
    (folder / "steps.json").write_text(json.dumps(steps))
    variables = {"STEPS": str(folder / "steps.json"), "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(
        [ROOK, "run", "--detach", "--quiet", "--permission", agent_is, "Clean up"],
        env=environment(home, **variables),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return find_run(home, done.stdout.strip())


def waiting(server: Served, number: int = 1) -> list[dict[str, Any]]:
    """The open questions, once there are so many."""
    found = server.until("/api/questions", lambda found: len(found["questions"]) == number)
    questions: list[dict[str, Any]] = found["questions"]
    return questions


def path_of(question: dict[str, Any]) -> str:
    return f"/api/runs/{question['run']}/questions/{question['id']}"


def allow_the_next(server: Served, question: dict[str, Any]) -> None:
    """Allow what is asked after a question."""
    found = server.until("/api/questions", lambda found: found["questions"][:1] != [question])
    [second] = found["questions"] or waiting(server)
    assert server.post(path_of(second), {"allow": True}).status == 200


def ended(server: Served, folder: RunFolder) -> dict[str, Any]:
    """The run, once it has ended."""
    found: dict[str, Any] = server.until(f"/api/runs/{folder.name}", lambda run: run["complete"])
    return found


def made(folder: RunFolder) -> list[tuple[bool, str, str | None]]:
    """The recorded decisions: whether it was allowed, by whom, and through what."""
    found = decisions.read(folder).values()
    return [(one.decision.allow, one.decision.by, one.decision.through) for one in found]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    """A server beside the runs of a test."""
    with Served(tmp_path / "home") as server:
        yield server


def test_a_question_is_shown_whole_and_allowed_once(server: Served, tmp_path: Path) -> None:
    run = start(tmp_path, command())
    [question] = waiting(server)
    assert (question["run"], question["about"], question["name"]) == (run.name, "tool", "Bash")
    assert question["title"] == "rm -r build"
    assert question["asked_at"] > 0
    answer = server.post(path_of(question), {"allow": True})
    assert answer.status == 200
    decided = answer.json["decided"]
    assert (decided["allow"], decided["by"], decided["through"]) == (True, "person", "web")
    assert ended(server, run)["status"] == "success"
    assert made(run) == [(True, "person", "web")]
    assert waiting(server, 0) == []


def test_a_denial_has_its_reason(server: Served, tmp_path: Path) -> None:
    run = start(tmp_path, command())
    [question] = waiting(server)
    assert server.post(path_of(question), {"allow": False, "reason": "not today"}).status == 200
    ended(server, run)
    assert made(run) == [(False, "person", "web")]
    assert "not today" in (run.path / "stdout.raw").read_text()


def test_what_is_always_allowed_is_not_asked_again(server: Served, tmp_path: Path) -> None:
    request = {**command(), "permission_suggestions": _SUGGESTIONS}
    run = start(tmp_path, request)
    [question] = waiting(server)
    assert question["always"]
    assert server.post(path_of(question), {"allow": True, "always": True}).status == 200
    ended(server, run)
    [decided] = decisions.read(run).values()
    assert decided.rule == question["always"]


def test_a_question_with_choices_gets_its_answer(server: Served, tmp_path: Path) -> None:
    run = start(tmp_path, _QUESTION)
    [question] = waiting(server)
    assert question["about"] == "questions"
    assert [each["label"] for each in question["questions"][0]["options"]] == ["A", "B"]
    other = server.post(path_of(question), {"allow": True, "answers": {"Other?": "A"}})
    assert other.status == 400
    assert server.post(path_of(question), {"allow": True, "answers": {"Which?": "A"}}).status == 200
    ended(server, run)
    assert '"Which?":"A"' in (run.path / "stdin.raw").read_text().replace(" ", "")


def test_of_two_browsers_the_first_one_counts_and_the_other_is_told_who_answered(
    server: Served, tmp_path: Path
) -> None:
    run = start(tmp_path, command(), command("rm -r dist"))  # it lives when the other comes
    [question] = waiting(server)
    with ThreadPoolExecutor(2) as pool:
        both = [
            pool.submit(server.alone, "POST", path_of(question), {"allow": allow})
            for allow in (True, False)
        ]
        answers = [each.result() for each in both]
    assert sorted(answer.status for answer in answers) == [200, 409]
    late = next(answer for answer in answers if answer.status == 409)
    assert "answered before" in late.error
    assert late.json["decided"]["through"] == "web"
    allow_the_next(server, question)
    ended(server, run)
    assert len(made(run)) == 2


def test_the_bell_says_which_questions_open_and_close(server: Served, tmp_path: Path) -> None:
    with server.bell() as bell:
        run = start(tmp_path, command())
        _, data = bell.until(lambda kind, data: kind != "run" and data.get("questions"))
        [question] = data["questions"]
        assert question["run"] == run.name
        assert server.post(path_of(question), {"allow": True}).status == 200
        bell.until(lambda kind, data: kind == "questions" and not data["questions"])
    ended(server, run)


def test_a_bell_begins_with_the_questions_that_are_open(server: Served, tmp_path: Path) -> None:
    run = start(tmp_path, command())
    [question] = waiting(server)
    with server.bell() as bell:
        kind, state = bell.next()
        assert (kind, state["questions"]) == ("state", [{"run": run.name, "id": question["id"]}])
        assert server.json("/api/questions")["questions"] == [question]
    assert server.post(path_of(question), {"allow": False}).status == 200
    ended(server, run)


def test_a_server_that_is_killed_meanwhile_changes_nothing_about_a_question(
    server: Served, tmp_path: Path
) -> None:
    run = start(tmp_path, command(), command("rm -r dist"))
    [question] = waiting(server)
    server.end(signal.SIGKILL)
    with Served(tmp_path / "home") as again:
        assert waiting(again) == [question]
        assert again.post(path_of(question), {"allow": True}).status == 200
        assert again.post(path_of(question), {"allow": False}).status == 409
        allow_the_next(again, question)
        ended(again, run)
    assert made(run) == [(True, "person", "web")] * 2


def test_a_question_is_shown_whole_where_it_can_be_decided_and_else_without_secrets(
    tmp_path: Path,
) -> None:
    line = f"bash ghp_{'aB3dE5fG7hJ9' * 3}"
    start(tmp_path, command(line))
    with Served(tmp_path / "home") as server:
        [question] = waiting(server)
        assert question["title"] == line
    with Served(tmp_path / "home", "--read-only") as server:
        [question] = waiting(server)
        assert question["title"] == "bash [redacted: GitHub token]"
    with Served(tmp_path / "home") as server:
        assert server.post(path_of(question), {"allow": False}).status == 200


def test_a_server_that_is_read_only_decides_nothing(tmp_path: Path) -> None:
    with Served(tmp_path / "home", "--read-only") as server:
        run = start(tmp_path, command())
        [question] = waiting(server)
        for path in (path_of(question), f"/api/runs/{run.name}/stop"):
            refused = server.post(path, {"allow": True})
            assert (refused.status, "read-only" in refused.error) == (403, True)
        assert made(run) == []
    with Served(tmp_path / "home") as server:
        assert server.post(f"/api/runs/{run.name}/stop", {}).status == 202
        assert ended(server, run)["status"] == "interrupted"


_ATTACK = """
import http.client, json, sys
host, port, token, path = sys.argv[1:]
connection = http.client.HTTPConnection(host, int(port))
origin = f"http://{host}:{port}"
headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json",
    "Authorization": f"Bearer {token}"}
connection.request("POST", path, body=json.dumps({"allow": True}), headers=headers)
response = connection.getresponse()
print("ANSWER", response.status, response.read().decode())
"""


def test_an_agent_that_has_the_token_cannot_answer_for_itself(
    server: Served, tmp_path: Path
) -> None:
    path = "/api/runs/any/questions/1"
    attack = [sys.executable, "-c", _ATTACK, "127.0.0.1", str(server.port), server.token, path]
    run = start(tmp_path, {"run": attack}, {"run": ["env", "-i", *attack]})
    ended(server, run)
    said = (run.path / "stdout.raw").read_text()
    assert said.count("ANSWER 403") == 2, said
    assert "an agent cannot answer" in said
    assert server.post(path, {"allow": True}).status == 404
