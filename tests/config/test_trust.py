"""Which files are trusted, and which values need it."""

import stat
from pathlib import Path
from typing import Any

import pytest

from nightrook.config import trust
from nightrook.config.files import File, read
from nightrook.config.option import Flag
from nightrook.config.settings import SETTINGS


def made(path: Path, text: str) -> File:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    file = read(path)
    assert file is not None
    return file


def test_a_content_is_trusted_until_it_is_revoked(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "trusted"
    first = made(tmp_path / "a" / "rook.toml", "quiet = true")
    assert not trust.is_trusted(folder, first)
    assert trust.paths(folder) == []
    trust.add(folder, first)
    trust.add(folder, first)
    second = made(first.path, "quiet = false")
    assert [trust.is_trusted(folder, file) for file in (first, second)] == [True, False]
    trust.add(folder, second)
    other = made(tmp_path / "b" / "rook.toml", "quiet = true")
    assert not trust.is_trusted(folder, other)
    trust.add(folder, other)
    assert trust.paths(folder) == [first.path, other.path]
    assert trust.revoke(folder, first.path) == 2
    assert [trust.is_trusted(folder, file) for file in (first, second, other)] == [
        False,
        False,
        True,
    ]
    assert trust.revoke(folder, first.path) == 0


def test_what_is_trusted_is_for_the_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "trusted"
    trust.add(folder, made(tmp_path / "rook.toml", ""))
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())]
    assert modes == [0o700, 0o600]


def test_a_link_to_a_file_is_the_file(tmp_path: Path) -> None:
    file = made(tmp_path / "real" / "rook.toml", "")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    trust.add(tmp_path / "trusted", file)
    linked = read(tmp_path / "link" / "rook.toml")
    assert linked is not None
    assert trust.is_trusted(tmp_path / "trusted", linked)
    assert trust.revoke(tmp_path / "trusted", linked.path) == 1


def test_an_option_that_does_not_say_so_loosens() -> None:
    assert (Flag(help="x").loosens, Flag(help="x").strict) == ("always", ())


@pytest.mark.parametrize(
    ("name", "value", "usual", "loosens"),
    [
        ("model", "opus", None, True),
        ("model", "opus", "opus", False),
        ("agent", "claude", "claude", False),
        ("permission", "edit", None, True),
        ("permission", "agent", None, True),
        ("permission", "plan", None, False),
        ("permission", "plan", "ask", False),
        ("permission", "ask", "plan", True),
        ("permission", "ask", "edit", False),
        ("allow", ("Read",), (), True),
        ("allow", ("Read",), ("Edit", "Read"), False),
        ("allow", (), ("Read",), False),
        ("stream", False, True, True),
        ("stream", True, False, False),
        ("quiet", True, False, True),
        ("quiet", False, True, False),
        ("no_text", True, False, True),
        ("allow_denials", True, False, True),
        ("max_cost", 3.0, 2.0, True),
        ("max_cost", 2.0, 3.0, False),
        ("max_cost", 2.0, None, False),
        ("verbose", True, False, False),
        ("ask_timeout", 900.0, 300.0, False),
    ],
)
def test_a_value_loosens_if_it_allows_costs_or_hides_more(
    name: str, value: Any, usual: Any, *, loosens: bool
) -> None:
    assert trust.loosens(SETTINGS[name], value, usual) is loosens
