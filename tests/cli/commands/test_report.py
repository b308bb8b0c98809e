"""`rook report`: a run, a loop or a batch as Markdown, JUnit, JSON, or for GitHub Actions."""

import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from tests.ci.payloads import PAYLOADS
from tests.ci.test_github import read_command, read_outputs
from tests.cli.desk import Desk
from tests.cli.terminal.test_safe_output import ENVIRON, SECRETS, assert_clean, install, session

FORMATS = ("markdown", "github", "junit", "json")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_run_in_every_format(desk: Desk) -> None:
    assert desk.rook("run", "Say done").returncode == 0
    page = desk.rook("report").stdout
    assert page.startswith("### rook run `")
    assert "```text\nDone.\n```\n" in page
    whole = json.loads(desk.rook("report", "--format", "json").stdout)
    assert (whole["kind"], whole["status"], whole["exit_code"]) == ("run", "success", 0)
    assert Path(whole["answer_file"]).read_text() == whole["answer"] == "Done."
    (case,) = fromstring(desk.rook("report", whole["name"], "--format", "junit").stdout)[0]
    assert (case.get("name"), case.findtext("system-out")) == ("Say done", "Done.")


def test_a_report_of_a_failure_prints_annotations_and_fills_the_files_of_a_step(
    desk: Desk,
) -> None:
    assert desk.rook("exec", "--", "sh", "-c", "exit 3").returncode == 1
    files = {name: str(desk.home / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    done = desk.rook("report", "--format", "github", GITHUB_ACTIONS="true", **files)
    assert done.returncode == 0
    (line,) = done.stdout.split("\n")[:-1]
    name, properties, _ = read_command(line)
    assert name == "error"
    assert properties["title"].endswith(": failed")
    assert Path(files["GITHUB_STEP_SUMMARY"]).read_text().startswith("### rook run `")
    outputs = read_outputs(Path(files["GITHUB_OUTPUT"]).read_text())
    assert (outputs["status"], outputs["exit_code"]) == ("failed", "1")


def test_a_loop_and_a_batch(desk: Desk) -> None:
    desk.rook("loop", "Say done", "--check", "false", "--max-iterations", "1")
    (loop,) = map(json.loads, desk.rook("loops", "--json").stdout.strip().split("\n"))
    report = json.loads(desk.rook("report", loop["loop"], "--format", "json").stdout)
    assert (report["kind"], report["ok"], report["exit_code"]) == ("loop", False, 5)
    assert [check["command"] for check in report["parts"][0]["checks"]] == ["false"]
    assert "#### Failed check `false`" in desk.rook("report", loop["loop"]).stdout

    (desk.project / "tasks.jsonl").write_text('{"prompt": "One", "id": "one"}\n')
    desk.rook("batch", "tasks.jsonl")
    (batch,) = (desk.home / "runs-home" / "batches").iterdir()
    report = json.loads(desk.rook("report", batch.name, "--format", "json").stdout)
    assert (report["kind"], report["ok"], report["exit_code"]) == ("batch", True, 0)
    assert report["sentence"] == "1 of 1 task done, 0 failed"
    assert report["parts"][0]["name"] == "one"


def test_no_report_has_a_secret(desk: Desk) -> None:
    install(desk, session(*SECRETS))
    desk.rook("run", "x", **ENVIRON)
    for name in FORMATS:
        assert_clean(desk.rook("report", "--format", name, **ENVIRON).stdout)


def test_no_report_has_a_command_of_the_agent(desk: Desk) -> None:
    install(desk, session(*(text.encode("utf-8", "replace").decode() for text in PAYLOADS)))
    desk.rook("run", "x")
    for name in FORMATS:
        for line in desk.rook("report", "--format", name, GITHUB_ACTIONS="true").stdout.split("\n"):
            if line.lstrip().startswith("::"):
                assert read_command(line)[0] in ("error", "warning")
            assert "section_start:" not in line
            assert "##[" not in line
