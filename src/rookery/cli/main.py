"""The command line as a whole: what commands there are, and how errors become exit codes."""

import os
import sys
from importlib import import_module

import click

from rookery import __version__

_COMMANDS = {
    "decode": ("rookery.cli.decode", "Turn a recorded agent stream into events."),
    "schema": ("rookery.cli.schema", "Print the JSON Schema of a record."),
}


class _Commands(click.Group):
    """Imports a command only when it is called, so that --help stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _ = _COMMANDS[cmd_name]
        command: click.Command = import_module(module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in sorted(_COMMANDS.items())])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with:  rook decode --format text session.jsonl",
)
@click.version_option(__version__, prog_name="rook", message="%(prog)s %(version)s")
def cli() -> None:
    """Run coding agents headless; show, record and account for everything they do."""


def main() -> None:
    """Run the command line; a reader that went away and Ctrl-C end it quietly."""
    try:
        code = cli.main(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        code = 130
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except BrokenPipeError:
        # Whatever is still buffered must not be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    sys.exit(code)
