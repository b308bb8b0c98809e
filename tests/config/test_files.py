"""Which files are looked for, and what is said of one that cannot be read."""

import os
import re
from pathlib import Path

import pytest

from nightrook.config.files import project_file, read
from nightrook.model.errors import ConfigError
from tests.rights import ordinary_rights


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def test_the_nearest_file_is_the_projects(home: Path) -> None:
    inner = home / "project" / "part"
    inner.mkdir(parents=True)
    assert project_file(inner, home) is None
    (home / "rook.toml").touch()
    assert project_file(inner, home) == home / "rook.toml"
    (home / "project" / "rook.toml").touch()
    assert project_file(inner, home) == home / "project" / "rook.toml"
    (inner / "rook.toml").touch()
    assert project_file(inner, home) == inner / "rook.toml"


@pytest.mark.parametrize("kind", ["folder", "file"])  # a worktree has a file
def test_the_way_up_ends_at_the_root_of_the_repository(home: Path, kind: str) -> None:
    inner = home / "project" / "part"
    inner.mkdir(parents=True)
    (home / "rook.toml").touch()
    mark = home / "project" / ".git"
    mark.mkdir() if kind == "folder" else mark.touch()
    assert project_file(inner, home) is None
    (home / "project" / "rook.toml").touch()
    assert project_file(inner, home) == home / "project" / "rook.toml"


def test_the_way_up_ends_at_home(home: Path) -> None:
    (home.parent / "rook.toml").touch()
    assert project_file(home, home) is None


def test_without_repository_or_home_above_only_the_folder_itself_counts(
    tmp_path: Path, home: Path
) -> None:
    inner = tmp_path / "shared" / "mine"
    inner.mkdir(parents=True)
    (tmp_path / "shared" / "rook.toml").touch()  # as anybody could put it into /tmp
    assert project_file(inner, home) is None
    (inner / "rook.toml").touch()
    assert project_file(inner, home) == inner / "rook.toml"


def test_a_folder_that_may_not_be_looked_into_has_no_file(home: Path) -> None:
    inner = home / "closed" / "inner"
    inner.mkdir(parents=True)
    inner.parent.chmod(0)
    try:
        with ordinary_rights():
            assert project_file(inner, home) is None
    finally:
        inner.parent.chmod(0o700)


def test_a_folder_of_that_name_is_no_file(home: Path) -> None:
    (home / "rook.toml").mkdir()
    assert project_file(home, home) is None


def test_a_file_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert read(tmp_path / "rook.toml") is None
    (tmp_path / "file").touch()
    assert read(tmp_path / "file" / "rook.toml") is None


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "rook.toml"
    path.write_bytes(b'\xef\xbb\xbfmodel = "opus"\r\n')
    found = read(path)
    assert found is not None
    assert found.table == {"model": "opus"}


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b"model = 'a'\nmax_cost == 2\n", 2, "is not TOML: Invalid value"),
        (b"a = 1\na = 2\n", 2, "is not TOML: Cannot overwrite a value"),
        (b"a = 1\n[x", 2, "is not TOML: Expected ']'"),
        (b"a = 1\n\nb = '\xff'\n", 3, "is not UTF-8"),
    ],
)
def test_what_is_no_toml_is_told_with_its_line(
    tmp_path: Path, data: bytes, line: int, reason: str
) -> None:
    path = tmp_path / "rook.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=re.escape(f"{path}:{line}: {reason}")):
        read(path)


def test_nesting_without_end_and_a_huge_file_are_told(tmp_path: Path) -> None:
    path = tmp_path / "rook.toml"
    path.write_text("a = " + "[" * 100_000)
    with pytest.raises(ConfigError, match=r"nested too deep|no TOML"):
        read(path)
    path.write_text(f"max_cost = {'9' * 5000}")
    with pytest.raises(ConfigError, match="has a number with too many digits"):
        read(path)
    path.write_text("# long\n" * 200_000)
    with pytest.raises(ConfigError, match="too large"):
        read(path)


def test_a_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "rook.toml"
    path.touch(mode=0)
    with ordinary_rights(), pytest.raises(ConfigError, match="cannot be read: Permission denied"):
        read(path)


def test_a_pipe_is_refused_and_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / "rook.toml"
    os.mkfifo(path)
    with pytest.raises(ConfigError, match="is a pipe, not a file"):
        read(path)
