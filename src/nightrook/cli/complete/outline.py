"""The commands in outline, as `outline.json` has them: enough to complete a command line.

A shell asks for completions at every key, and importing the commands themselves would take too
long. `make docs` writes the outline from them.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

FILE = Path(__file__).with_name("outline.json")

_ASKED = frozenset(
    (
        *("agents", "batches", "changed", "cost_keys", "histories", "loops", "profiles"),
        *("resumable", "running", "runs", "sessions", "shown", "stored", "ways"),
    )
)
"""Values that are looked up at the time of completion."""

_LISTS = ("cost_keys",)
"""Values that can be given several times, separated by commas."""


def command(name: str) -> click.Command | None:
    """The parts of a command that completion needs."""
    entry = _outline()["commands"].get(name)
    if entry is None:
        return None
    params = [_parameter(param) for param in entry["params"]]
    return click.Command(name, params=params, short_help=entry["summary"])


def outline(
    group: click.Group, words: Mapping[str, Iterable[str]], summaries: Mapping[str, str]
) -> Any:
    """Make the outline of all commands; `words` are offered without a look at the disk."""
    ctx = click.Context(group)
    commands = {}
    for name in group.list_commands(ctx):
        found = group.get_command(ctx, name)
        assert found is not None
        params = [_outlined(param) for param in found.params]
        commands[name] = {"summary": summaries[name], "params": params}
    return {**{kind: list(known) for kind, known in words.items()}, "commands": commands}


def _outlined(param: click.Parameter) -> dict[str, Any]:
    entry: dict[str, Any] = {"names": [*param.opts], "values": _values_of(param)}
    if isinstance(param, click.Option):
        entry |= {
            "off": [*param.secondary_opts],
            "flag": param.is_flag,
            "multiple": param.multiple,
            "help": param.help or "",
        }
    else:
        entry["nargs"] = param.nargs
    return entry


def _values_of(param: click.Parameter) -> str | list[str] | None:
    if isinstance(param.type, click.Choice):
        return list(param.type.choices)
    if isinstance(param.type, click.Path):
        return "files" if param.type.file_okay else "folders"
    completes: str | None = getattr(param, "completes", None)
    return completes


@cache
def _outline() -> Any:
    return json.loads(FILE.read_bytes())


def _parameter(entry: dict[str, Any]) -> click.Parameter:
    values = entry["values"]
    if "nargs" in entry:
        return click.Argument(
            entry["names"], nargs=entry["nargs"], type=_type(values), shell_complete=_asked(values)
        )
    if entry["flag"]:
        words = [*entry["names"]]
        if entry["off"]:
            at = next(i for i, word in enumerate(words) if word.startswith("--"))
            words[at] = "/".join((words[at], *entry["off"]))
        return click.Option(words, is_flag=True, help=entry["help"])
    return click.Option(
        entry["names"],
        multiple=entry["multiple"],
        help=entry["help"],
        type=_type(values),
        shell_complete=_asked(values),
    )


def _type(values: str | list[str] | None) -> click.ParamType[Any]:
    if isinstance(values, list):
        return click.Choice(values)
    if values in ("files", "folders"):
        return click.Path(file_okay=values == "files")
    return click.STRING


_Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]


def _asked(values: str | list[str] | None) -> _Completer | None:
    """The function that looks up the values at the time of completion, if there is one."""
    if isinstance(values, list) or values not in _ASKED:
        return None

    def complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem[str]]:
        found = dict(_candidates(str(values)))  # one name in two files is one name
        before, comma, last = begun.rpartition(",") if values in _LISTS else ("", "", begun)
        return [
            CompletionItem(f"{before}{comma}{word}", help=description)
            for word, description in found.items()
            if word.startswith(last) and not (comma and word in before.split(","))
        ]

    return complete


def _candidates(values: str) -> Iterator[tuple[str, str | None]]:
    if values in _outline():
        yield from ((name, None) for name in _outline()[values])
    if values in ("cost_keys", "histories", "ways"):
        return
    candidates = import_module("nightrook.cli.complete.candidates")
    yield from getattr(candidates, "own_agents" if values == "agents" else values)()
