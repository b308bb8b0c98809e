"""Makes the parameters of commands from the table of options."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, get_args

import click
import msgspec
from click.core import ParameterSource

from nightrook.config.option import FOR_AGENT, Completion, Group, Option, rows
from nightrook.config.units import written, written_size
from nightrook.model.safe import safe_line


class TableOption(click.Option):
    """An option of the table, on a command line."""

    def __init__(self, row: Option) -> None:
        self.row = row
        super().__init__(
            [row.name, *_words(row)],
            type=None if row.type is bool else _type(row),
            is_flag=row.type is bool,
            multiple=row.is_list,
            default=row.default,
            metavar=row.flag.metavar,
            help=row.flag.help,
            callback=_yield_to_others if row.flag.yields_to else None,
        )

    @property
    def completes(self) -> Completion | None:
        """The kind of value that a shell completes."""
        return self.row.flag.completes

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Show the default as people write it."""
        extra = super().get_help_extra(ctx)
        if self.row.flag.default is not None:
            extra["default"] = self.row.flag.default
        elif self.row.type is not bool and self.row.default not in (None, (), "."):
            value = self.row.default
            number = f"{value:g}" if isinstance(value, float) else str(value)
            number = written_size(value) if self.row.is_size else number
            extra["default"] = written(value) if self.row.is_time else number
        return extra


_WIDEST_WORDS = 30  # what is longer has its help on the next line, as click has it
_OTHER = "Other options"


class GroupedCommand(click.Command):
    """A command whose help lists its options under the headings of their groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each group under its heading, all in the same columns; that of fleets is last."""
        *headings, last = get_args(Group)
        groups: dict[str, list[tuple[str, str]]] = {
            heading: [] for heading in (*headings, _OTHER, last)
        }
        for param in self.get_params(ctx):
            group = param.row.flag.group if isinstance(param, TableOption) else None
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                groups[group or _OTHER].append(record)
        lengths = (len(words) for records in groups.values() for words, _ in records)
        width = min(max(lengths), _WIDEST_WORDS)
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl([(words.ljust(width), text) for words, text in records])


_NOUNS = {"loop": "loop", "batch": "task"}
"""Noun in a command's help for the thing it runs."""

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class NamedArgument(click.Argument):
    """An argument of which a shell can offer the values."""

    def __init__(self, *words: Any, completes: Completion | None = None, **settings: Any) -> None:
        self.completes = completes
        super().__init__(*words, **settings)


def argument(name: str, *, completes: Completion | None = None, **settings: Any) -> _Decorator:
    """Add an argument to a command."""
    return click.argument(name, cls=NamedArgument, completes=completes, **settings)


def takes(command: str, *structs: type[msgspec.Struct]) -> _Decorator:
    """Add the options of a command to its function, which receives one value for each struct."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        options = [(struct, parameters(command, struct)) for struct in structs]

        @wraps(function)
        def with_values(**given: Any) -> Any:
            values = [
                struct(**{str(option.name): given.pop(str(option.name)) for option in params})
                for struct, params in options
            ]
            return function(*values, **given)

        arguments: list[click.Parameter] = getattr(function, "__click_params__", [])
        every: list[click.Parameter] = [option for _, params in options for option in params]
        has_profile = any(one.name == "profile" for one in arguments)  # by `defaults.profile`
        if not has_profile and any(
            isinstance(one, TableOption) and one.row.flag.setting for one in every
        ):
            from nightrook.cli.options.defaults import profile_option  # so that lists stay quick

            every.append(profile_option())
        with_values.__click_params__ = [*arguments, *reversed(every)]  # type: ignore[attr-defined]
        return with_values

    return decorate


def parameters(command: str, struct: type[msgspec.Struct]) -> list[TableOption]:
    """The options among the fields of a struct that a command has."""
    return [
        TableOption(row)
        for row in rows(struct, _NOUNS.get(command, "run"))
        if not row.flag.commands or command in row.flag.commands
    ]


def _yield_to_others(ctx: click.Context, option: click.Parameter, value: Any) -> Any:
    from nightrook.cli.options.defaults import yield_to_others  # so that lists stay quick

    return yield_to_others(ctx, option, value)


def _words(row: Option) -> Sequence[str]:
    """Return the spellings of an option; a flag that is also a setting can be turned off too."""
    words = list(row.flag.words) or [f"--{row.name.replace('_', '-')}"]
    if row.type is bool and row.flag.setting:
        long = words[0]
        off = long.replace("--no-", "--") if long.startswith("--no-") else f"--no-{long[2:]}"
        words[0] = f"{long}/{off}"
    return words


def _type(row: Option) -> click.ParamType[Any]:
    if row.choices:
        return OneOf(row.choices, not_by_setting=row.flag.not_by_setting)
    if row.flag.completes == "folders":
        return click.Path(file_okay=False, exists=True)
    if row.flag.completes == "files":
        return click.Path(dir_okay=False, exists=True, allow_dash=True)
    return _Value(row)


class _Value(click.ParamType[Any]):
    """Reads the values of an option by its row in the table."""

    def __init__(self, row: Option) -> None:
        self.row = row
        self.name = "duration" if row.is_time else row.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a word of the command line; a setting has been read before."""
        if not isinstance(value, str):
            return value
        try:
            return self.row.element.read_word(value)
        except ValueError:
            if self.row.is_like_option(value):
                self.fail(f"{value!r} begins with '-': {FOR_AGENT}.", param, ctx)
            self.fail(f"{value!r} is not {self.row.element.takes}.", param, ctx)


class OneOf(click.Choice[str]):
    """One of a few words; a typo is answered with the nearest."""

    def __init__(self, words: Sequence[str], *, not_by_setting: Sequence[str] = ()) -> None:
        super().__init__(words)
        self._not_by_setting = not_by_setting

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take a word that was given; a setting that this command doesn't take is reported."""
        source = ctx.get_parameter_source(str(param.name)) if ctx and param else None
        is_set = param is not None and source is ParameterSource.DEFAULT_MAP
        if param is None or not is_set or self._is_setting(value):
            return super().convert(value, param, ctx)
        usual = str(param.default)
        command = ctx.command_path if ctx else "this command"
        message = (
            f'your settings have {param.name} = "{value}", which {command} does not '
            f"support: using {usual!r}; choose another with {param.opts[0]}"
        )
        click.echo(f"[rook] {safe_line(message)}", err=True)
        return usual

    def _is_setting(self, value: Any) -> bool:
        return value in self.choices and value not in self._not_by_setting

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Name the words, and the one that was probably meant."""
        from difflib import get_close_matches  # only a typo needs it

        near = get_close_matches(str(value), self.choices, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        return super().get_invalid_choice_message(value, ctx) + hint
