"""GitLab CI: sections, and the files that its artifacts take."""

import re
from pathlib import Path
from xml.etree.ElementTree import fromstring

from nightrook.ci.gitlab import DOTENV, FOLDER, GitLab, dotenv
from nightrook.display.reports.markdown_report import markdown_report
from tests.ci.payloads import PAYLOADS
from tests.ci.samples import everywhere
from tests.ci.test_github import DONE
from tests.rules import each

MARKER = re.compile(r"section_(start|end):(\d+):([\w.-]+)(?:\[collapsed=true\])?\r\x1b\[0K")


def test_a_section_starts_and_ends_under_one_name() -> None:
    service = GitLab({})
    names = []
    for _ in range(2):
        start, end = (
            MARKER.search(service.open_group("Title")),
            MARKER.search(service.close_group()),
        )
        assert start is not None
        assert end is not None
        assert (start[1], end[1], start[3]) == ("start", "end", end[3])
        names.append(start[3])
    assert len(set(names)) == 2


@each("payload", PAYLOADS)
def test_a_title_stays_a_title(payload: str) -> None:
    line = GitLab({}).open_group(payload)
    assert line.count("section_start:") == 1
    assert "section_end:" not in line
    assert (line.count("\r"), line.count("\x1b"), line.count("\n")) == (1, 2, 0)


def test_the_report_is_in_a_folder_that_git_ignores(tmp_path: Path) -> None:
    assert GitLab({"CI_PROJECT_DIR": str(tmp_path)}).save(DONE) == []
    folder = tmp_path / FOLDER
    assert (folder / ".gitignore").read_text() == "*\n"
    assert (folder / "k7f3.md").read_text() == markdown_report(DONE)
    assert fromstring((folder / "k7f3.xml").read_text()).tag == "testsuites"
    assert (folder / DOTENV).read_text() == (
        "ROOK_STATUS=success\nROOK_EXIT_CODE=0\nROOK_KIND=run\nROOK_NAME=k7f3\n"
        "ROOK_COST_USD=0.015000\nROOK_ANSWER_FILE=/runs/k7f3/output.md\n"
    )


@each("payload", PAYLOADS)
def test_no_value_of_a_dotenv_file_sets_another_one(payload: str) -> None:
    names = [line.partition("=")[0] for line in dotenv(everywhere(payload)).split("\n")[:-1]]
    assert names == [line.partition("=")[0] for line in dotenv(DONE).split("\n")[:-1]]


def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / FOLDER).symlink_to(tmp_path / "elsewhere")
    (problem,) = GitLab({"CI_PROJECT_DIR": str(tmp_path)}).save(DONE)
    assert problem.startswith(FOLDER)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / "target").write_text("mine")
    (tmp_path / FOLDER / DOTENV).symlink_to(tmp_path / "target")
    assert GitLab({"CI_PROJECT_DIR": str(tmp_path)}).save(DONE) != []
    assert (tmp_path / "target").read_text() == "mine"


def test_without_a_project_nothing_is_written() -> None:
    assert GitLab({}).save(DONE) == []
    assert GitLab({}).annotations(DONE) == []
