"""Settings that hold for every caller come from the user's file or a variable."""

from pathlib import Path

import pytest

from nightrook.config.user_settings import archive_roots, prices_file
from nightrook.user_folders import settings_folder


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", "/home/dev")
    settings_folder().mkdir(parents=True)
    return settings_folder() / "rook.toml"


def test_without_settings_there_are_none(settings: Path) -> None:
    assert (prices_file(), archive_roots()) == (None, [])


def test_paths_are_relative_to_the_user_s_file(settings: Path) -> None:
    settings.write_text(
        'archive_roots = ["old", "~/laptop", "/srv/x"]\n[prices]\nfile = "p.toml"\n'
    )
    folder = settings.parent
    assert archive_roots() == [folder / "old", Path("/home/dev/laptop"), Path("/srv/x")]
    assert prices_file() == folder / "p.toml"


def test_a_variable_comes_first_and_is_relative_to_the_folder(
    settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.write_text('archive_roots = ["old"]\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROOK_ARCHIVE_ROOTS", "one\ntwo")
    assert archive_roots() == [tmp_path / "one", tmp_path / "two"]
