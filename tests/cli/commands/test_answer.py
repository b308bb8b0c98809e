"""`rook answer` and `rook attach` ask here what agents of other processes wait for."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from tests.cli.desk import Desk
from tests.process.recording import wait_for
from tests.runs.asking.asking_agent import command, first_question, install
from tests.terminals import Terminal
from tests.warm import ROOK

from nightrook.model.questions import Decision, OpenQuestion
from nightrook.runs.asking import client
from nightrook.store.run_folder import RunFolder

KEYS = "[y] once  [a] always in this run  [n] no  [e] no, and say why"


class AskingDesk(Desk):
    """A desk at which the agent asks."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.programs / "claude").unlink()
        install(self.programs)
        self.name = ""

    def detach(self, *steps: dict[str, Any], options: tuple[str, ...] = ()) -> str:
        """Start a run in the background, and return its name."""
        (self.home / "steps.json").write_text(json.dumps(steps))
        done = self.rook(
            *("run", "--detach", "--permission", "ask", *options, "Clean up"),
            STEPS=str(self.home / "steps.json"),
        )
        assert done.returncode == 0, done.stderr
        self.name = done.stdout.strip()
        return self.name

    @property
    def folder(self) -> RunFolder:
        """The folder of the only run."""
        wait_for(lambda: [*self.home.glob("runs-home/runs/*/run.json")])
        (path,) = self.home.glob("runs-home/runs/*")
        self.name = path.name
        return RunFolder(path)

    def run_at_terminal(self, *steps: dict[str, Any]) -> Terminal:
        """Run the agent at a terminal."""
        (self.home / "steps.json").write_text(json.dumps(steps))
        variables = self.environment(STEPS=str(self.home / "steps.json"))
        words: list[str | Path] = [ROOK, "run", "--permission", "ask", "Clean up"]
        return Terminal(words, variables, cwd=self.project, columns=120, rows=60)

    def run_without_terminal(self, *steps: dict[str, Any]) -> CompletedProcess[str]:
        """Run the agent to its end."""
        (self.home / "steps.json").write_text(json.dumps(steps))
        done = self.rook(
            *("run", "--permission", "ask", "Clean up"), STEPS=str(self.home / "steps.json")
        )
        assert self.folder.verdict() is not None
        return done

    def terminal(self, *words: str) -> Terminal:
        return Terminal([ROOK, *words], self.environment(), cwd=self.project, columns=120, rows=60)

    def decisions(self) -> list[dict[str, Any]]:
        path = self.folder.path / "decisions.jsonl"
        return [json.loads(line)["decision"] for line in path.read_text().splitlines()]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[AskingDesk]:
    desk = AskingDesk(tmp_path)
    yield desk
    if desk.name:
        desk.rook("stop", desk.name)


def asked(desk: AskingDesk) -> OpenQuestion:
    """Wait until the run has asked something."""
    return asyncio.run(first_question(desk.folder))


def test_a_run_in_the_background_waits_and_is_answered_at_a_terminal(desk: AskingDesk) -> None:
    name = desk.detach(command())
    asked(desk)
    listed = desk.rook("answer", "--list").stdout
    assert "Bash: rm -r build" in listed
    assert name in listed
    with desk.terminal("answer") as terminal:
        terminal.until(KEYS)
        assert "│ rm -r build" in terminal.text
        terminal.type("y")
        assert terminal.finish() == 0
    assert "yes, once" in terminal.text
    assert desk.rook("attach", name).returncode == 0
    assert desk.decisions() == [{"allow": True, "by": "person", "through": "terminal"}]
    assert desk.rook("answer").stdout == "nothing is asked\n"


def test_attach_asks_at_its_terminal_too(desk: AskingDesk) -> None:
    name = desk.detach(command(), command("make clean"))
    with desk.terminal("attach", name) as terminal:
        terminal.until("│ rm -r build")
        terminal.until(KEYS)
        terminal.type("y")
        terminal.until("│ make clean")
        terminal.until(KEYS, times=2)
        terminal.type("n")
        assert terminal.finish() == 4
    assert [one["allow"] for one in desk.decisions()] == [True, False]


def test_a_question_leaves_the_terminal_when_it_is_answered_in_the_browser(
    desk: AskingDesk,
) -> None:
    desk.detach(command(), command("make clean"))
    with desk.terminal("answer") as terminal:
        terminal.until(KEYS)
        web = Decision(allow=False, by="person", through="web", reason="not now")
        question = asked(desk)
        assert asyncio.run(client.decide(desk.folder, question.id, web)).counts
        terminal.until("no: not now (answered in rook web)")
        assert terminal.finish() == 0


def test_the_prompt_of_a_run_leaves_its_terminal_when_another_process_answers(
    desk: AskingDesk,
) -> None:
    with desk.run_at_terminal(command(), command("make clean")) as terminal:
        terminal.until(KEYS)
        web = Decision(allow=True, by="person", through="web")
        question = asked(desk)
        assert asyncio.run(client.decide(desk.folder, question.id, web)).counts
        terminal.until("yes, once (answered in rook web)")
        terminal.until(KEYS, times=2)
        question = asked(desk)
        terminal.type("y")
        assert terminal.finish() == 0
    told = [(one["allow"], one["through"]) for one in desk.decisions()]
    assert told == [(True, "web"), (True, "terminal")]


def test_an_answer_that_comes_after_the_terminals_is_told_so(desk: AskingDesk) -> None:
    with desk.run_at_terminal(command(), command("make clean")) as terminal:
        terminal.until(KEYS)
        question = asked(desk)
        terminal.type("y")
        terminal.until(KEYS, times=2)
        no = Decision(allow=False, by="person", through="web")
        outcome = asyncio.run(client.decide(desk.folder, question.id, no))
        assert not outcome.counts
        assert outcome.question is not None
        at_terminal = Decision(allow=True, by="person", through="terminal")
        assert outcome.question.decision == at_terminal
        terminal.type("n")
        terminal.finish()


def test_without_a_terminal_and_a_viewer_it_says_how_to_answer(desk: AskingDesk) -> None:
    done = desk.run_without_terminal(command())
    assert "there is no terminal to ask on" in done.stderr
    assert "rook web" in done.stderr
    assert "--detach" in done.stderr
    assert [one["by"] for one in desk.decisions()] == ["nobody"]


def test_a_run_that_is_over_is_named_with_what_to_do(desk: AskingDesk) -> None:
    desk.run_without_terminal(command())
    done = desk.rook("answer", desk.name)
    assert done.returncode == 2
    assert f"run '{desk.name}' does not ask: it is over" in done.stderr


def test_questions_are_listed_as_json(desk: AskingDesk) -> None:
    name = desk.detach(command())
    question = asked(desk)
    (line,) = desk.rook("answer", "--json").stdout.splitlines()
    told = json.loads(line)
    assert (told["run"], told["question"]["id"]) == (name, question.id)
    assert told["question"]["ask"]["title"] == "rm -r build"


def test_an_agent_cannot_use_the_command(desk: AskingDesk) -> None:
    words = f"env -i ROOK_HOME={desk.home}/runs-home HOME={desk.home} {ROOK} answer --list"
    step = {**command(), "meanwhile": ["sh", "-c", f"{words} > {desk.home}/out 2>&1"]}
    desk.detach(step)
    asked(desk)
    wait_for(lambda: "an agent cannot answer" in (desk.home / "out").read_text())


def test_a_loop_asks_and_waits_for_an_answer(desk: AskingDesk) -> None:
    (desk.home / "steps.json").write_text(json.dumps([command()]))
    started = desk.rook(
        *("loop", "--detach", "--permission", "ask", "--until", "Done.", "Clean up"),
        STEPS=str(desk.home / "steps.json"),
    )
    assert started.returncode == 0, started.stderr
    web = Decision(allow=True, by="person", through="web")
    assert asyncio.run(client.decide(desk.folder, asked(desk).id, web)).counts
    assert desk.rook("attach", started.stdout.strip()).returncode == 0
    assert desk.decisions() == [{"allow": True, "by": "person", "through": "web"}]


def test_a_task_of_a_batch_asks_and_waits_for_an_answer(desk: AskingDesk) -> None:
    (desk.home / "steps.json").write_text(json.dumps([command()]))
    tasks = desk.project / "tasks.jsonl"
    tasks.write_text(json.dumps({"prompt": "Clean up", "permission": "ask"}) + "\n")
    started = desk.rook("batch", "--detach", str(tasks), STEPS=str(desk.home / "steps.json"))
    assert started.returncode == 0, started.stderr
    web = Decision(allow=False, by="person", through="web")
    assert asyncio.run(client.decide(desk.folder, asked(desk).id, web)).counts
    desk.rook("attach", started.stdout.strip())
    assert desk.decisions() == [{"allow": False, "by": "person", "through": "web"}]
