"""The commands in outline, as `outline.json` has them: enough to complete a command line.

A shell that completes asks at every key, and the commands themselves import all that they need. The
outline is made from them by `make docs`.
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

_VALUES = {
    "agent": "agents",
    "files": "files",
    "names": "agents",
    "profile": "profiles",
    "resume": "runs",
    "run": "runs",
}
"""What the parameters of these names take, in whatever command."""

_VALUES_OF = {
    ("batch", "resume"): "batches",
    ("loop", "resume"): "loops",
    ("show", "run"): "shown",
    ("stop", "run"): "running",
}
"""What they take in these commands instead."""

_ASKED = frozenset({"agents", "batches", "loops", "profiles", "running", "runs", "shown"})
"""What can only be known when it is asked."""


def command(name: str) -> click.Command | None:
    """The command of that name as far as completion needs it."""
    told = _outline()["commands"].get(name)
    if told is None:
        return None
    params = [_parameter(param) for param in told["params"]]
    return click.Command(name, params=params, short_help=told["summary"])


def outline(group: click.Group, agents: Iterable[str], summaries: Mapping[str, str]) -> Any:
    """Make the outline of all commands."""
    ctx = click.Context(group)
    commands = {}
    for name in group.list_commands(ctx):
        found = group.get_command(ctx, name)
        assert found is not None
        params = [_outlined(param, name) for param in found.params]
        commands[name] = {"summary": summaries[name], "params": params}
    return {"agents": list(agents), "commands": commands}


def _outlined(param: click.Parameter, command: str) -> dict[str, Any]:
    told: dict[str, Any] = {"names": [*param.opts], "values": _values_of(param, command)}
    if isinstance(param, click.Option):
        told |= {
            "off": [*param.secondary_opts],
            "flag": param.is_flag,
            "multiple": param.multiple,
            "help": param.help or "",
        }
    else:
        told["nargs"] = param.nargs
    return told


def _values_of(param: click.Parameter, command: str) -> str | list[str] | None:
    if isinstance(param.type, click.Choice):
        return list(param.type.choices)
    if isinstance(param.type, click.Path) and not param.type.file_okay:
        return "folders"
    if isinstance(param.type, (click.File, click.Path)):
        return "files"
    name = str(param.name)
    return _VALUES_OF.get((command, name)) or _VALUES.get(name)


@cache
def _outline() -> Any:
    return json.loads(FILE.read_bytes())


def _parameter(told: dict[str, Any]) -> click.Parameter:
    values = told["values"]
    if "nargs" in told:
        return click.Argument(
            told["names"], nargs=told["nargs"], type=_type(values), shell_complete=_asked(values)
        )
    if told["flag"]:
        words = [*told["names"]]
        if told["off"]:
            at = next(i for i, word in enumerate(words) if word.startswith("--"))
            words[at] = "/".join((words[at], *told["off"]))
        return click.Option(words, is_flag=True, help=told["help"])
    return click.Option(
        told["names"],
        multiple=told["multiple"],
        help=told["help"],
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
    """What completes the values that can only be known when it is asked."""
    if isinstance(values, list) or values not in _ASKED:
        return None

    def complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem[str]]:
        found = dict(_candidates(str(values)))  # one name in two files is one name
        return [CompletionItem(w, help=h) for w, h in found.items() if w.startswith(begun)]

    return complete


def _candidates(values: str) -> Iterator[tuple[str, str | None]]:
    candidates = import_module("rookery.cli.complete.candidates")
    if values == "agents":
        yield from ((name, None) for name in _outline()["agents"])
        yield from candidates.own_agents()
    else:
        yield from getattr(candidates, values)()
