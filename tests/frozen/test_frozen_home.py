"""Folders of runs, loops and batches: those on disk still open, new ones are written alike."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.frozen.desk import BATCHES, LOOPS, RUNS, Desk, copy_home, views
from tests.frozen.rook import HERE

HOME = HERE / "home"
NAMES: dict[str, dict[str, str]] = json.loads((HERE / "names.json").read_bytes())
PASSING = (".room", "exit.json.part")  # there while a run is recorded
VIEWS: dict[str, Any] = json.loads((HERE / "views.json").read_bytes())

WRITTEN = {
    "runs": ("success", "failed", "asked", "raw", "piped", "not_started", "detached", "resumed"),
    "loops": ("done",),
    "batches": ("three_tasks",),
}
"""What is written again, to be compared with the stored folders of these scenarios."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A copy of the stored home after `rook` has read it, and what it showed."""
    folder = tmp_path_factory.mktemp("opened")
    copy_home(HOME, folder / "home")
    return folder / "home", views(folder / "home", NAMES, folder)


Opened = tuple[Path, dict[str, Any]]
LISTS = ("runs --json --limit 100", "loops --json")


def test_the_folders_of_earlier_versions_are_shown_as_they_were(opened: Opened) -> None:
    _, now = opened
    changed = {
        words: (_told(stored), _told(now[words]))
        for words, stored in VIEWS.items()
        if words not in LISTS and _told(stored) != _told(now[words])
    }
    assert changed == {}


def _told(view: dict[str, Any]) -> list[str]:
    """The exit code and the lines without prose: that of `rook` itself, and headlines of tables."""
    lines = [line for line in view["stdout"] if not line.startswith("[rook]")]
    return [f"exit code {view['exit_code']}", *(line for line in lines if line != line.upper())]


@pytest.mark.parametrize("words", LISTS)
def test_the_runs_and_loops_of_earlier_versions_are_listed_as_they_were(
    words: str, opened: Opened
) -> None:
    stored = [json.loads(line) for line in VIEWS[words]["stdout"]]
    now = [json.loads(line) for line in opened[1][words]["stdout"]]
    assert opened[1][words]["exit_code"] == VIEWS[words]["exit_code"]
    assert [
        {key: row.get(key) for key in then} for row, then in zip(now, stored, strict=True)
    ] == stored


def test_reading_changes_nothing_that_was_kept(opened: Opened) -> None:
    kept = [path for path in HOME.rglob("*") if path.is_file() and path.name not in PASSING]
    changed = [
        path.relative_to(HOME)
        for path in kept
        if (opened[0] / path.relative_to(HOME)).read_bytes() != path.read_bytes()
    ]
    assert changed == []


@pytest.mark.parametrize("what", ["killed", "crashed"])
def test_a_run_that_was_killed_is_judged_when_it_is_read(what: str, opened: Opened) -> None:
    verdict = json.loads((opened[0] / "runs" / NAMES["runs"][what] / "verdict.json").read_bytes())
    assert (verdict["status"], verdict["exit_code"]) == ("incomplete", 3)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk with the stored home, as if it had been written there."""
    desk = Desk(tmp_path)
    copy_home(HOME, desk.home)
    for path in desk.home.rglob("*.json*"):
        path.write_bytes(path.read_bytes().replace(b"/home/developer", bytes(tmp_path)))
    return desk


def test_a_run_of_an_earlier_version_can_be_resumed(desk: Desk) -> None:
    earlier = NAMES["runs"]["success"]
    name = desk.made(
        "runs", lambda desk: desk.rook("run", "--resume", earlier, "Continue", script="say=More.")
    )
    info = json.loads((desk.home / "runs" / name / "run.json").read_bytes())
    stored = json.loads((HOME / "runs" / earlier / "verdict.json").read_bytes())
    assert info["resumed_from"] == earlier
    assert ["--resume", stored["session"]] == info["command"][-3:-1]


def test_a_loop_of_an_earlier_version_can_be_resumed(desk: Desk) -> None:
    name = NAMES["loops"]["ceiling"]
    words = ("loop", "--resume", name, "--max-iterations", "3")
    assert desk.rook(*words, plays=("say=PHASE_COMPLETE",)).returncode == 0
    state = json.loads((desk.home / "loops" / name / "state.json").read_bytes())
    assert [each["id"] for each in state["attempts"]] == [1, 2, 3]


def test_a_batch_of_an_earlier_version_can_be_resumed(desk: Desk) -> None:
    folder = desk.home / "batches" / NAMES["batches"]["three_tasks"]
    results = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "results.jsonl").write_bytes(b"".join(results[:1]))
    (folder / "tasks.jsonl").write_bytes(
        b"".join((folder / "tasks.jsonl").read_bytes().splitlines(keepends=True)[:2])
    )
    resumed = desk.rook("batch", "--resume", folder.name, "--json", script="say=Done.")
    rows = [json.loads(line) for line in resumed.stdout.splitlines()]
    assert [row["id"] for row in rows][-1:] == ["2"]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Desk, dict[str, dict[str, str]]]:
    """Folders that are written now, by kind and scenario."""
    desk = Desk(tmp_path_factory.mktemp("desk"))
    scenarios = {"runs": RUNS, "loops": LOOPS, "batches": BATCHES}
    names = {
        kind: {what: desk.made(kind, scenarios[kind][what]) for what in asked}
        for kind, asked in WRITTEN.items()
    }
    return desk, names


Written = tuple[Desk, dict[str, dict[str, str]]]
EACH = [(kind, what) for kind, asked in WRITTEN.items() for what in asked]


@pytest.mark.parametrize(("kind", "what"), EACH)
def test_a_new_folder_has_the_files_of_today(kind: str, what: str, written: Written) -> None:
    desk, names = written
    new, stored = desk.home / kind / names[kind][what], HOME / kind / NAMES[kind][what]
    assert _files(new) == _files(stored)


@pytest.mark.parametrize(("kind", "what"), EACH)
def test_a_new_folder_has_the_keys_of_today(kind: str, what: str, written: Written) -> None:
    desk, names = written
    new, stored = desk.home / kind / names[kind][what], HOME / kind / NAMES[kind][what]
    missing = {
        path.name: lost
        for path in stored.glob("*.json*")
        if (lost := _todays_keys(path) - _keys(new / path.name))
    }
    assert missing == {}


def test_new_folders_are_for_their_owner_alone(written: Written) -> None:
    desk, _ = written
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in _ours(desk.home)}
    wrong = [path for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)]
    assert wrong == []


def _ours(home: Path) -> Iterator[Path]:
    """The files and folders in a home, less what git writes in that of a loop."""
    yield home
    yield from (path for path in home.rglob("*") if "git" not in path.relative_to(home).parts)


def test_the_answer_is_in_output_md(written: Written) -> None:
    desk, names = written
    assert (desk.home / "runs" / names["runs"]["success"] / "output.md").read_text() == "Done."


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _todays_keys(path: Path) -> set[str]:
    """The keys of a stored file, by the project's name of today."""
    return {key.replace("rookery", "nightrook") for key in _keys(path)}


def _keys(path: Path) -> set[str]:
    """The paths of all keys in a file of JSON or JSON lines; events are told apart by type."""
    if path.suffix == ".json":
        return set(_paths(json.loads(path.read_bytes()), ""))
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return {key for line in lines for key in _paths(line, str(line.get("type", "")))}


def _paths(value: Any, above: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield f"{above}.{key}"
            yield from _paths(below, f"{above}.{key}")
    if isinstance(value, list):
        for below in value:
            yield from _paths(below, above)
