"""The command line as a whole: its commands, and how errors become exit codes."""

import gc
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from keyword import iskeyword
from typing import Any

import click
from click.core import ParameterSource

from nightrook.model.errors import NightrookError
from nightrook.version import __version__

_INTERRUPTED = 130
_WRONG_USAGE = 2
_CANNOT_WRITE = 1
_BROKEN_PIPE = 141  # as shells report a program that SIGPIPE ended
_HELP_COLUMNS = (50, 78)  # the narrowest and the widest, as click has them

COMMANDS = {
    "agents": "List the agents, their versions and what they report.",
    "answer": "Answer what agents in the background ask.",
    "apply": "Apply what a run changed elsewhere to your files.",
    "attach": "Show a run, loop or batch that another process runs.",
    "batch": "Run many tasks side by side.",
    "batches": "List the batches.",
    "completion": "Print the completion script of a shell.",
    "config": "Show each setting and where it comes from.",
    "cost": "Report the tokens and the money that agents used.",
    "decode": "Turn a recorded agent stream into events.",
    "demo": "See rook work with a scripted agent: no key, no network.",
    "diff": "Show what a run changed in a repository.",
    "exec": "Run any command line as it is.",
    "export": "Export stored sessions as JSON lines, CSV or Parquet.",
    "fleet": "Make a fleet of machines; add and remove them.",
    "gc": "Compress the logs of old runs, and drop old texts.",
    "import": "Read the sessions that agents keep on disk.",
    "index": "Show or rebuild the ledger of all calls.",
    "loop": "Run an agent repeatedly until the work is done.",
    "loops": "List the loops.",
    "replay": "Replay a finished run as it happened.",
    "report": "Report a run, loop or batch as Markdown, JUnit or JSON.",
    "rm": "Remove runs, loops and batches.",
    "run": "Run an agent on a prompt and show what it does.",
    "runs": "List the runs.",
    "schema": "Print the JSON Schema of a record.",
    "search": "Find sessions of all agents by the words in them.",
    "show": "Show what a run did and how it ended.",
    "stop": "Stop a run, a loop or a batch.",
    "trust": "Let a project's rook.toml loosen settings.",
    "watch": "Show what all agents on this machine do now.",
    "web": "Show runs live in the browser, and answer agents there.",
    "worker": "Take jobs of a fleet on this machine.",
}
"""The commands; each is `command` in the module of its name in `commands`."""


class _Commands(click.Group):
    """Imports a command only when it is called, so that --help stays quick."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; Ctrl-C and a closed pipe end it without a message."""
        from nightrook.user_folders import rename_commands  # --help needs none of it

        _guard_outputs()  # guards: output-guarded
        for line in rename_commands():
            click.echo(f"[rook] renamed to Nightrook; to keep what you have: {line}", err=True)
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise click.exceptions.Exit(_INTERRUPTED) from None
        except BrokenPipeError:
            # Whatever is still buffered must not be written at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(_BROKEN_PIPE) from None
        except click.ClickException as error:
            raise _safe(error) from None
        except NightrookError as error:
            from nightrook.model.safe import safe_line  # so that --help stays quick

            click.echo(f"[rook] {safe_line(str(error))}", err=True)
            raise click.exceptions.Exit(_WRONG_USAGE) from error
        except OSError as error:  # commands report by themselves what they cannot read
            raise click.exceptions.Exit(_cannot_write(error)) from None
        return code

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Read the command line; an error quotes it without control characters."""
        try:
            return super().make_context(*args, **options)
        except click.ClickException as error:
            raise _safe(error) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first word names; for a typo, suggest the nearest."""
        typed = bool(args) and not ctx.resilient_parsing
        if typed and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches  # only a typo needs it

            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            ctx.fail(f"there is no command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        if ctx.resilient_parsing:  # a shell asks for completions, which must be quick
            outlined: click.Command | None = import_module(
                "nightrook.cli.complete.outline"
            ).command(cmd_name)
            return outlined
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command: click.Command = import_module(f"nightrook.cli.commands.{module}").command
        if command.epilog and not command.epilog.startswith("\b"):
            command.epilog = f"\b\n{command.epilog}"  # keep the line breaks of examples
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


_EXAMPLES = """\b
Start with:
  rook run "Fix the failing tests"
  claude -p "Fix the tests" --output-format stream-json --verbose | rook
"""


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EXAMPLES,
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="rook", message="%(prog)s %(version)s")
@click.option("--agent", metavar="NAME", help="In a pipe: the agent (detected by default).")
@click.option("--tee", is_flag=True, help="In a pipe: copy the stream to stdout, show on stderr.")
@click.option("--no-record", is_flag=True, help="In a pipe: don't record the stream as a run.")
@click.option("--json", is_flag=True, help="In a pipe: print one JSON object at the end.")
@click.option("--quiet/--no-quiet", "-q", help="In a pipe: print only the final answer.")
@click.option("--verbose/--no-verbose", "-v", help="In a pipe: show whole texts and tool outputs.")
@click.option("--no-text/--text", help="In a pipe: leave out the agent's messages.")
@click.option("--no-answer/--answer", help="In a pipe: leave out the final answer at the end.")
@click.option("--profile", metavar="NAME", help="In a pipe: also use the settings of a profile.")
@click.pass_context
def cli(
    ctx: click.Context,
    agent: str | None,
    tee: bool,
    no_record: bool,
    json: bool,
    quiet: bool,
    verbose: bool,
    no_text: bool,
    no_answer: bool,
    profile: str | None,
) -> None:
    """Run coding agents headless; show, record and account for everything they do.

    With no command, rook reads an agent's JSON stream from stdin, displays it, records it as a run,
    and exits with a code that says how the agent ended. The first Ctrl-C waits for the agent to
    end, the second stops reading.
    """
    given = [name for name in ctx.params if _is_given(ctx, name)]
    if ctx.invoked_subcommand is not None:
        if given:
            ctx.fail(f"put the options of '{ctx.invoked_subcommand}' after it, not before it")
        return
    if sys.stdin is None or sys.stdin.isatty():
        if given:
            ctx.fail("nothing is piped to rook: agent … | rook, or name a command")
        _alone(ctx)
        return
    from nightrook.cli.options.defaults import with_settings  # so that --help stays quick
    from nightrook.cli.terminal.pipe import pipe
    from nightrook.config.options import PipeOptions, ViewOptions

    flags = {"json": json, "quiet": quiet, "verbose": verbose}
    flags |= {"no_text": no_text, "no_answer": no_answer}
    view_options = ViewOptions(**with_settings(ctx, flags, profile))
    ctx.exit(pipe(PipeOptions(agent=agent, tee=tee, no_record=no_record), view_options))


def _is_given(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _alone(ctx: click.Context) -> None:
    """Answer `rook` alone: on a terminal with what to try first."""
    if sys.stdin and sys.stdin.isatty() and sys.stdout.isatty():
        click.echo(import_module("nightrook.cli.welcome").first_steps())
        return
    click.echo(ctx.get_help(), err=True)
    raise click.exceptions.Exit(_WRONG_USAGE)


def main() -> None:
    """Run the command line; a character that a terminal cannot show never ends it."""
    # A stream that was closed before the start is None.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        cli.main(prog_name="rook", terminal_width=_help_width())
    except OSError as error:  # of --help, which is printed before a command is invoked
        sys.exit(_cannot_write(error))
    finally:
        gc.freeze()  # searching all modules for garbage takes a sixth of the time of `rook --help`


def _guard_outputs() -> None:
    """Keep secrets out of all that is printed from now on; the help has none."""
    from nightrook.cli.terminal.output import guard_outputs  # so that --help stays quick

    guard_outputs()


def _safe(error: click.ClickException) -> click.ClickException:
    """An error whose message, which may quote anything, is safe to print."""
    from nightrook.model.safe import safe  # so that --help stays quick

    _guard_outputs()
    vars(error)["message"] = safe(error.message)  # guards: errors-safe
    return error


def _help_width() -> int:
    """The width of help texts; click's own function imports `shutil`, which takes long."""
    try:
        columns = int(os.environ.get("COLUMNS", 0)) or os.get_terminal_size(1).columns
    except (OSError, ValueError):
        columns = 80
    narrowest, widest = _HELP_COLUMNS
    return max(min(columns - 2, widest), narrowest)


def _cannot_write(error: OSError) -> int:
    # Whatever is still buffered must not be written at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    click.echo(f"[rook] cannot write: {error.strerror or error}", err=True)
    return _CANNOT_WRITE
