"""What `rook run`, `loop` and `batch` write for the CI service that runs them."""

import json
import re
from pathlib import Path

import pytest
from tests.ci.payloads import PAYLOADS
from tests.ci.test_github import read_command, read_outputs
from tests.cli.desk import Desk
from tests.cli.terminal.test_safe_output import ENVIRON, SECRETS, assert_clean, install, session


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


class Step:
    """A step of a job on GitHub Actions."""

    def __init__(self, desk: Desk) -> None:
        self.summary, self.output = desk.home / "summary", desk.home / "output"
        self.environ = {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(self.output),
        }

    @property
    def outputs(self) -> dict[str, str]:
        return read_outputs(self.output.read_text())


def commands(text: str) -> list[str]:
    """The names of the workflow commands that the runner finds in a log."""
    lines = (line.lstrip() for line in re.split("[\r\n]", text))
    return [read_command(line)[0] for line in lines if line.startswith("::")]


def test_a_run_on_github_has_a_group_a_summary_and_outputs(desk: Desk) -> None:
    step = Step(desk)
    done = desk.rook("run", "Say done", **step.environ)
    lines = done.stdout.split("\n")
    assert lines[0] == "::group::claude: Say done"
    assert lines[1].startswith("[rook] Agent command: ")
    end = lines.index("::endgroup::")
    assert lines[end - 1].startswith("[claude] Complete")
    assert commands(done.stdout + done.stderr) == ["group", "endgroup"]
    assert step.summary.read_text().startswith("### rook run `")
    assert (step.outputs["status"], step.outputs["answer"]) == ("success", "Done.")
    assert Path(step.outputs["answer_file"]).read_text() == "Done."


def test_a_failure_on_github_is_annotated(desk: Desk) -> None:
    step = Step(desk)
    done = desk.rook("exec", "--", "sh", "-c", "exit 3", **step.environ)
    assert done.returncode == 1
    assert commands(done.stderr) == ["error"]
    assert step.outputs["status"] == "failed"


def test_with_no_ci_nothing_is_written(desk: Desk) -> None:
    step = Step(desk)
    done = desk.rook("run", "--no-ci", "Say done", **step.environ)
    assert commands(done.stdout + done.stderr) == []
    assert not step.summary.exists()
    assert not step.output.exists()


def test_a_rook_that_an_agent_calls_writes_nothing(desk: Desk) -> None:
    step = Step(desk)
    desk.rook("run", "Say done", ROOK_RUN_DIR=str(desk.home), **step.environ)
    assert not step.summary.exists()


@pytest.mark.parametrize("option", ["--quiet", "--json", "--format=jsonl", "--format=raw"])
def test_what_a_program_reads_has_no_group(desk: Desk, option: str) -> None:
    step = Step(desk)
    done = desk.rook("run", option, "Say done", **step.environ)
    assert commands(done.stdout + done.stderr) == []
    assert step.outputs["status"] == "success"


def test_a_loop_has_a_group_for_each_iteration_and_one_summary(desk: Desk) -> None:
    step = Step(desk)
    done = desk.rook(
        *("loop", "Say done", "--check", "false", "--max-iterations", "2"), **step.environ
    )
    names = commands(done.stdout)
    assert names == ["group", "endgroup"] * 2
    assert "::group::iteration 2: claude" in done.stdout
    assert step.summary.read_text().count("### rook ") == 1
    assert (step.outputs["kind"], step.outputs["exit_code"]) == ("loop", "5")
    assert "error" in commands(done.stderr)


def test_a_batch_has_one_summary_and_its_failed_tasks_are_annotated(desk: Desk) -> None:
    step = Step(desk)
    tasks = [{"prompt": "x", "id": "a"}, {"prompt": "x", "id": "b", "agent": "nobody"}]
    (desk.project / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    done = desk.rook("batch", "tasks.jsonl", **step.environ)
    assert done.returncode == 1
    assert commands(done.stderr) == ["error", "error"]
    assert step.summary.read_text().count("### rook ") == 1
    assert (step.outputs["kind"], step.outputs["status"]) == ("batch", "failed")


def test_nothing_that_an_agent_writes_is_run_or_hidden(desk: Desk) -> None:
    step = Step(desk)
    texts = [text.encode("utf-8", "replace").decode() for text in PAYLOADS]
    install(desk, session(*texts), "\n".join(texts))
    done = desk.rook("run", "-v", "x", **step.environ)
    assert set(commands(done.stdout + done.stderr)) <= {"group", "endgroup", "error", "warning"}
    assert commands(done.stdout) == ["group", "endgroup"]
    assert set(step.outputs) == {
        *("status", "exit_code", "kind", "name", "cost_usd", "answer_file", "answer")
    }


def test_no_secret_gets_into_a_summary_or_an_output(desk: Desk) -> None:
    step = Step(desk)
    install(desk, session(*SECRETS), "\n".join(SECRETS))
    done = desk.rook("run", f"Use {SECRETS[0]}", **step.environ, **ENVIRON)
    for text in (done.stdout, done.stderr, step.summary.read_text(), step.output.read_text()):
        assert_clean(text)


def test_a_run_on_gitlab_has_a_section_and_a_report(desk: Desk) -> None:
    environ = {"CI": "true", "GITLAB_CI": "true", "CI_PROJECT_DIR": str(desk.project)}
    done = desk.rook("run", "Say done", **environ)
    assert re.findall("section_(start|end):", done.stdout) == ["start", "end"]
    names = sorted(
        path.suffix or path.name for path in (desk.project / "nightrook-report").iterdir()
    )
    assert names == [".env", ".gitignore", ".md", ".xml"]


def test_a_run_on_buildkite_has_groups_and_an_annotation(desk: Desk) -> None:
    desk.program("buildkite-agent", f'echo "$1 $2" >> {desk.home}/calls')
    done = desk.rook("run", "Say done", CI="true", BUILDKITE="true")
    headings = [line for line in done.stdout.split("\n") if line.startswith(("--- ", "+++ "))]
    assert headings == ["--- claude: Say done", "+++ rook"]
    assert (desk.home / "calls").read_text().startswith("annotate ### rook run")
