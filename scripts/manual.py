"""Makes the man page from the commands themselves, for `generate.py`."""

import re
from collections.abc import Iterable, Iterator

import click

from nightrook import __version__
from nightrook.cli.main import cli
from nightrook.config.settings import SETTINGS

_FILES = [
    ("rook.toml", "The settings of a project: the nearest one, up to the repository's root."),
    ("~/.config/nightrook/rook.toml", "Your own settings."),
    ("~/.local/share/nightrook/runs/", "The runs, a folder each, unless ROOK_HOME is set."),
]
_VARIABLES = [
    ("ROOK_HOME", "The folder that holds all runs."),
    ("ROOK_PROFILE", "The profile to use, as --profile does."),
]


def page(*, exit_codes: Iterable[tuple[str, str]]) -> str:
    """The whole page."""
    return "\n".join(_lines(list(exit_codes))) + "\n"


def _lines(exit_codes: list[tuple[str, str]]) -> Iterator[str]:
    yield '.\\" Generated from the commands by `make docs`; do not edit.'
    yield f'.TH ROOK 1 "" "nightrook {__version__}" "User Commands"'
    yield ".SH NAME"
    yield rf"rook \- {_escape(_summary(cli.help))}"
    yield ".SH SYNOPSIS"
    yield r".B rook"
    yield r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGS\fR]..."
    yield ".SH DESCRIPTION"
    yield from _paragraph(
        "Nightrook starts a coding agent, shows what it does while it does it, keeps every byte "
        "that it writes, stops it for a budget, a deadline or silence, and exits with a code that "
        "says how the run really ended."
    )
    for paragraph in (cli.help or "").split("\n\n")[1:]:
        yield from _paragraph(paragraph)
    yield ".SH OPTIONS"
    ctx = click.Context(cli, info_name="rook")
    yield from _options(cli, ctx)
    yield ".SH COMMANDS"
    for name in cli.list_commands(ctx):
        command = cli.get_command(ctx, name)
        assert command is not None
        yield from _command(command, click.Context(command, info_name=name, parent=ctx))
    yield ".SH SETTINGS"
    yield from _paragraph(
        "Each is the default of the option of its name. From the weakest to the strongest: your "
        "own rook.toml, the project's, the tables [profile.NAME] of both, the environment, the "
        "option itself. rook config shows what applies."
    )
    yield from _list((s.name, f"{s.flag.help} Takes {s.takes}.") for s in SETTINGS.values())
    yield ".SH ENVIRONMENT"
    yield from _list(_VARIABLES)
    yield from _list((s.variable, f"The setting {s.name}.") for s in SETTINGS.values())
    yield ".SH FILES"
    yield from _list(_FILES)
    yield ".SH EXIT STATUS"
    yield from _paragraph("Of the commands that run an agent:")
    yield from _list(exit_codes)


def _command(command: click.Command, ctx: click.Context) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(ctx))
    yield f".SS {_escape(ctx.command_path)} {_escape(usage)}"
    for paragraph in (command.help or "").split("\n\n"):
        yield from _paragraph(paragraph)
    yield from _options(command, ctx)
    lines = (command.epilog or "").removeprefix("\b\n").rstrip().split("\n")
    yield ".PP"
    yield ".nf"
    yield from (_escape(line) for line in lines)
    yield ".fi"


def _options(command: click.Command, ctx: click.Context) -> Iterator[str]:
    return _list(
        record
        for param in command.params
        if isinstance(param, click.Option) and (record := param.get_help_record(ctx)) is not None
    )


def _summary(text: str | None) -> str:
    return (text or "").partition("\n")[0].rstrip(".")


def _paragraph(text: str) -> Iterator[str]:
    yield ".PP"
    yield _escape(re.sub(r"\s+", " ", text).strip())


def _list(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    for term, words in rows:
        yield ".TP"
        yield rf"\fB{_escape(term)}\fR"
        yield _escape(re.sub(r"\s+", " ", words))


def _escape(text: str) -> str:
    """Text that roff shows as it is, wherever it stands."""
    shown = text.replace("\\", r"\(rs").replace("-", r"\-")
    return rf"\&{shown}" if shown.startswith((".", "'")) else shown
