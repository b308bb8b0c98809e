"""GitHub Actions: what its runner reads of what we write, by the rules of the runner itself."""

import os
import re
from pathlib import Path

from nightrook.ci.github import OUTPUT, SUMMARY, GitHub, output_lines
from nightrook.display.reports.markdown_report import markdown_report
from nightrook.display.reports.report import Report, with_answer
from tests.ci.payloads import PAYLOADS
from tests.ci.samples import everywhere
from tests.rules import each

DONE = Report(
    kind="run",
    name="k7f3",
    status="success",
    ok=True,
    exit_code=0,
    spent_usd=0.015,
    answer="Done.\nAll of it.",
    answer_file="/runs/k7f3/output.md",
)


def read_outputs(text: str) -> dict[str, str]:
    """Read `$GITHUB_OUTPUT` as the runner does: NAME=VALUE, or NAME<<END, lines and END."""
    lines, values = iter(text.split("\n")), {}
    for line in lines:
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        if heredoc >= 0 and (equals < 0 or heredoc < equals):
            name, end = line.split("<<", 1)
            value: list[str] = []
            while (more := next(lines)) != end:
                value.append(more)
            values[name] = "\n".join(value)
        else:
            name, values[name] = line.split("=", 1)
    return values


def read_command(line: str) -> tuple[str, dict[str, str], str]:
    """Read a workflow command as the runner does."""
    head, _, data = line.removeprefix("::").partition("::")
    name, _, rest = head.partition(" ")
    pairs = (pair.split("=", 1) for pair in rest.split(",") if "=" in pair)
    return name, {key: _unescaped(value) for key, value in pairs}, _unescaped(data)


def _unescaped(text: str) -> str:
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ",")):
        text = text.replace(escape, character)
    return text.replace("%25", "%")


def test_the_summary_and_the_outputs_are_appended(tmp_path: Path) -> None:
    summary, output = tmp_path / "summary", tmp_path / "output"
    summary.write_text("before\n")
    output.write_text("mine=1")  # without a newline
    assert GitHub({SUMMARY: str(summary), OUTPUT: str(output)}).save(DONE) == []
    assert summary.read_text() == f"before\n{markdown_report(DONE)}\n"
    assert read_outputs(output.read_text()) == {
        "mine": "1",
        "status": "success",
        "exit_code": "0",
        "kind": "run",
        "name": "k7f3",
        "cost_usd": "0.015000",
        "answer_file": "/runs/k7f3/output.md",
        "answer": "Done.\nAll of it.",
    }


@each("payload", PAYLOADS)
def test_no_output_sets_another_one(payload: str) -> None:
    values = with_answer(everywhere(payload))
    assert read_outputs(output_lines(values)) == values


def test_every_value_has_its_own_random_delimiter() -> None:
    text = output_lines({"a": "1", "b": "2"}) + output_lines({"a": "1"})
    ends = re.findall(r"<<(rook_[0-9a-f]{32})\n", text)
    assert len(set(ends)) == 3


@each("payload", PAYLOADS)
def test_an_annotation_is_one_command_with_a_title(payload: str) -> None:
    lines = GitHub({}).annotations(everywhere(payload))
    assert 3 <= len(lines) <= 10
    for line in lines:
        assert "\n" not in line
        name, properties, data = read_command(line)
        assert name in ("error", "warning")
        assert list(properties) == ["title"]
        assert data
        assert line.startswith(f"::{name} title=")


@each("payload", PAYLOADS)
def test_a_group_is_one_line(payload: str) -> None:
    line = GitHub({}).open_group(payload)
    assert read_command(line)[0] == "group"
    assert "\n" not in line
    assert "\r" not in line


def test_files_that_are_not_plain_are_reported_and_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "target").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    service = GitHub({SUMMARY: str(tmp_path / "fifo"), OUTPUT: str(tmp_path / "link")})
    problems = service.save(DONE)
    assert [problem.split()[0] for problem in problems] == [f"${SUMMARY}", f"${OUTPUT}"]
    assert (tmp_path / "target").read_text() == ""


def test_a_summary_that_is_full_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    path.write_bytes(b"x" * 1024 * 1024)
    assert "is full" in GitHub({SUMMARY: str(path)}).save(DONE)[0]
    assert path.stat().st_size == 1024 * 1024


def test_without_files_nothing_is_written() -> None:
    assert GitHub({}).save(DONE) == []
