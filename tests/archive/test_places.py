"""Which homes are searched."""

from pathlib import Path

import pytest

from rookery.archive.places import user_homes
from rookery.config.files import user_folder


def test_the_setting_archive_roots_adds_homes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    user_folder().mkdir(parents=True)
    (user_folder() / "rookery.toml").write_text('[archive]\nroots = ["/old/home"]\n')
    assert user_homes() == (tmp_path, Path("/old/home"))
