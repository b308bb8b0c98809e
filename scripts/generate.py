"""Writes what is generated.

docs/events.md, the shipped JSON Schema, the tables of docs/money.md and docs/configuration.md, the
walk in docs/architecture.md, the outline of the commands that completion reads, the man page, the
known fields of each agent, the keywords of the library.

Run by `make docs`; the tests fail when a file is not what this writes.
"""

import inspect
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import keywords
import known_fields
import manual
import msgspec
import walk
from money_table import table

from nightrook import agents
from nightrook.archive.report import query
from nightrook.cli import main as command_line
from nightrook.cli.commands import config
from nightrook.cli.complete import outline
from nightrook.config.option import Flag
from nightrook.config.settings import SETTINGS
from nightrook.model import events
from nightrook.model.records import schema

ROOT = Path(__file__).parent.parent
EVENTS_PAGE = ROOT / "docs" / "events.md"
MONEY_PAGE = ROOT / "docs" / "money.md"
SETTINGS_PAGE = ROOT / "docs" / "configuration.md"
ARCHITECTURE_PAGE = ROOT / "docs" / "architecture.md"
MAN_PAGE = ROOT / "man" / "rook.1"
OUTLINE_FILE = outline.FILE
FIELDS_FILE = ROOT / "src" / "nightrook" / "agents" / "known_fields.py"
PROGRAMS_FILE = ROOT / "src" / "nightrook" / "agents" / "known_programs.py"
KEYWORDS_FILE = ROOT / "src" / "nightrook" / "keywords.py"
SCHEMA_FILE = ROOT / "src" / "nightrook" / "record.schema.json"

_HEAD = f"""\
# Events

*Generated from `src/nightrook/model/events.py` by `make docs`; do not edit. Format version
{events.FORMAT_VERSION}.*

An event says what happened, in the same terms for all agents. If a field is absent (`None` in
Python), the agent did not report it; unknown is never 0 or "". A **record** is an event with its
position in the stream:

| field | type | meaning |
| --- | --- | --- |
| `seq` | int | number in the stream, from 0, without gaps |
| `at` | float or absent | when the line's last byte arrived, if that is known |
| `offset`, `length` | int | where the line is in the raw bytes, without its newline |
| `event` | one of those below | in JSON, its fields are next to these, and `type` is its name |

`rook decode FILE` prints one record per line; `rook schema` prints their JSON Schema;
`nightrook.decode(path)` yields them in Python.
"""


def events_page() -> str:
    """The reference of all events and their parts."""
    shown = [_section(event) for event in get_args(events.Event)]
    parts = [_section(part) for part in _parts()]
    return "\n".join([_HEAD, "## The events\n", *shown, "## Parts of events\n", *parts])


def schema_text() -> str:
    """The JSON Schema of a record, as it is shipped."""
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode() + "\n"


def money_page() -> str:
    """The page on money as it is, with its table updated."""
    return _with_table(MONEY_PAGE, table())


def settings_page() -> str:
    """The page on configuration as it is, with its table updated."""
    rows = "".join(
        f"| `{setting.name}` | {setting.takes} | {_default(config.default(setting))} | "
        f"{_trust(setting.flag)} | {setting.flag.help} |\n"
        for setting in SETTINGS.values()
    )
    head = (
        "| setting | takes | default | needs trust | meaning |\n| --- | --- | --- | --- | --- |\n"
    )
    return _with_table(SETTINGS_PAGE, head + rows)


def architecture_page() -> str:
    """The page on architecture as it is, with the modules that a line passes now."""
    return _with_table(ARCHITECTURE_PAGE, walk.table("terminal"))


def _trust(flag: Flag) -> str:
    """When a project's value needs trust."""
    if flag.strict:
        return f"unless {' or '.join(f'`{json.dumps(value)}`' for value in flag.strict)}"
    return {"always": "yes", "higher": "if higher", "never": "no"}[flag.loosens]


def outline_text() -> str:
    """The outline of the commands, as completion reads it."""
    ours = (*agents.NAMES, *agents.speaker_names())
    ways = (way.name for name in ours for way in agents.agent(name).ways)
    words: dict[str, Iterable[str]] = {
        "agents": ours,
        "cost_keys": query.KEYS,
        "histories": dict.fromkeys((*ours, *agents.HISTORIES)),
        "ways": dict.fromkeys(ways),
    }
    made = outline.outline(command_line.cli, words, command_line.COMMANDS)
    return json.dumps(made, indent=1) + "\n"


_PROGRAMS_HEAD = '''\
"""The agent that each program is: a command is recognised without loading every agent.

Generated from the `programs` and `forks` of the agents by `make docs`; do not edit.
"""

from collections.abc import Mapping

KNOWN_PROGRAMS: Mapping[str, str] = {
'''


def programs_module() -> str:
    """The table of programs, as a module."""
    found: dict[str, str] = {}
    for agent in agents.own_agents():
        for program in (*agent.programs, *agent.forks):
            found.setdefault(program, agent.name)
    return "".join(
        (_PROGRAMS_HEAD, *(f'    "{key}": "{found[key]}",\n' for key in sorted(found)), "}\n")
    )


def man_page() -> str:
    """The man page."""
    return manual.page(exit_codes=_exit_codes())


def main() -> None:
    """Write all files."""
    EVENTS_PAGE.write_text(events_page(), encoding="utf-8")
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
    KEYWORDS_FILE.write_text(keywords.module(), encoding="utf-8")
    FIELDS_FILE.write_text(known_fields.module(), encoding="utf-8")
    PROGRAMS_FILE.write_text(programs_module(), encoding="utf-8")
    MONEY_PAGE.write_text(money_page(), encoding="utf-8")
    SETTINGS_PAGE.write_text(settings_page(), encoding="utf-8")
    ARCHITECTURE_PAGE.write_text(architecture_page(), encoding="utf-8")
    OUTLINE_FILE.write_text(outline_text(), encoding="utf-8")
    MAN_PAGE.write_text(man_page(), encoding="utf-8")


def _with_table(path: Path, rows: str) -> str:
    """A page as it is, with another table between its marks."""
    page = path.read_text(encoding="utf-8")
    marks = r"(<!-- table: [^\n]*-->\n).*(<!-- end of table -->)"
    return re.sub(marks, lambda m: f"{m[1]}\n{rows}\n{m[2]}", page, flags=re.DOTALL)


def _default(value: object) -> str:
    return "" if value is None else f"`{json.dumps(value)}`"


def _exit_codes() -> list[tuple[str, str]]:
    """The table of exit codes, read from its page."""
    page = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([0-9 ·]+) \| ([^|]+) \| ([^|]+) \|$", page, flags=re.MULTILINE)
    return [
        (code, meaning if status == "–" else f"{status}: {meaning}")
        for codes, statuses, meanings in rows
        for code, status, meaning in zip(
            codes.split(" · "), statuses.split(" · "), meanings.split(" · "), strict=True
        )
    ]


def _parts() -> list[type[msgspec.Struct]]:
    return [
        value
        for value in vars(events).values()
        if inspect.isclass(value)
        and issubclass(value, msgspec.Struct)
        and value.__struct_config__.tag is None
        and not value.__name__.startswith("_")
    ]


def _section(struct: type[msgspec.Struct]) -> str:
    name = struct.__struct_config__.tag or struct.__name__
    rows = "".join(f"| `{f.name}` | {_type(f)} |\n" for f in msgspec.structs.fields(struct))
    table = f"\n| field | type |\n| --- | --- |\n{rows}" if rows else ""
    return f"### `{name}`\n\n{inspect.getdoc(struct)}\n{table}"


def _type(field: msgspec.structs.FieldInfo) -> str:
    """A field's type as Python writes it, short and safe inside a table."""
    words = str(field.type) if not inspect.isclass(field.type) else field.type.__name__
    for old, new in (
        ("nightrook.model.events.", ""),
        ("typing.", ""),
        ("msgspec.", ""),
        ("Raw", "JSON"),
        (" | None", ""),
        ("|", "\\|"),
    ):
        words = words.replace(old, new)
    required = field.default is msgspec.NODEFAULT and field.default_factory is msgspec.NODEFAULT
    return f"{words}, always there" if required else words


if __name__ == "__main__":
    main()
