"""The man page: whole, valid, and where `man` finds it."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import click
import pytest

from nightrook.cli.main import cli
from nightrook.config.settings import SETTINGS
from nightrook.model.status import EXIT_CODES
from tests.programs import program


@pytest.fixture
def page(root: Path) -> Path:
    return root / "man" / "rook.1"


def rendered(page: Path) -> str:
    """The page as a reader sees it, with every warning of the renderer an error."""
    groff = program("groff", "groff-base")
    done = subprocess.run(
        [groff, "-man", "-Tutf8", "-ww", "-k", "-P-cbou", "-rLL=200n", str(page)],
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout.decode()


def test_it_has_the_parts_of_a_man_page_in_order(page: Path) -> None:
    heads = re.findall(r"^\.SH (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    usual = "NAME SYNOPSIS DESCRIPTION OPTIONS COMMANDS SETTINGS ENVIRONMENT FILES EXIT STATUS"
    assert " ".join(heads) == usual


def test_it_shows_every_command_option_setting_and_exit_code(page: Path) -> None:
    text = rendered(page)
    ctx = click.Context(cli)
    for name in cli.list_commands(ctx):
        command = cli.get_command(ctx, name)
        assert command is not None
        assert f"rook {name}" in text
        for param in command.params:
            if isinstance(param, click.Option):
                assert param.opts[0] in text
    for setting in SETTINGS.values():
        assert setting.name in text
        assert setting.variable in text
    for status, code in EXIT_CODES.items():
        assert re.search(rf"^ +{code} +{status.replace('_', ' ')}:", text, flags=re.MULTILINE)


def test_examples_are_shown_as_they_are_typed(page: Path) -> None:
    text = rendered(page)
    assert '\n         rook run "Fix the failing tests"\n' in text
    assert "--output-format stream-json --verbose | rook decode -" in text


def test_man_shows_it(page: Path) -> None:
    done = subprocess.run(
        [program("man", "man-db"), "-P", "cat", "-l", str(page)],
        env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    if not done.stdout.strip():
        pytest.skip("this man shows nothing: its pages were left out of the system")
    assert "Run coding agents headless" in done.stdout


def test_it_is_shipped_where_man_looks(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared == {"man/rook.1": "share/man/man1/rook.1"}
