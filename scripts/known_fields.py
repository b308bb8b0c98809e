"""Makes `agents/known_fields.py`: the fields that the checked versions of each agent wrote.

They come from the recorded streams in tests/agents that a real agent wrote. `fields.toml` beside
the streams has what these cannot say:

| key | meaning |
| --- | --- |
| `type` | the field that names the type of a message, if that isn't `type` |
| `otherwise` | the type of a message without that field; left out, such messages are skipped |
| `parts` | for some types, the field of the part that divides them: `type/part` |
| `streams` | the names of the streams, if the agent writes more than one format |
| `unread` | types without events, which are not checked |
| `open` | objects whose fields are named by tools, users or models: they are not checked |
| `documented` | fields that no recording has, by a pattern of types |

A second format of an agent is in `NAME_fields.toml` and is called `agent/NAME`.
"""

import json
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

_WIDTH = 100
AGENTS = Path(__file__).parent.parent / "tests" / "agents"

_HEAD = '''\
"""The fields that the checked versions of each agent wrote, by type of message, for `Drift`.

Generated from the recorded streams in tests/agents and the `fields.toml` there by `make docs`; do
not edit. It is a module because the agents, which use it, never open a file.
"""

from collections.abc import Mapping

KNOWN_FIELDS: Mapping[str, Mapping[str, str]] = {
'''


def module() -> str:
    """The text of the module."""
    made = [_HEAD]
    for file in sorted(AGENTS.glob("*/*fields.toml"), key=_name):
        made.append(f'    "{_name(file)}": {{\n')
        for type, fields in sorted(_fields(file).items()):
            text = " ".join(sorted(fields - _holders(fields)))
            line = f'        "{type}": "{text}",\n'
            if len(line) > _WIDTH:
                wrapped = textwrap.fill(text, _WIDTH - 12, break_on_hyphens=False)
                line = (
                    f'        "{type}": """\n{textwrap.indent(wrapped, " " * 12)}\n        """,\n'
                )
            made.append(line)
        made.append("    },\n")
    return "".join((*made, "}\n"))


def _holders(fields: set[str]) -> set[str]:
    """The objects and lists that have others of these fields."""
    return {field.rpartition(".")[0].removesuffix("[]") for field in fields}


def _name(file: Path) -> str:
    return "/".join(filter(None, (file.parent.name, file.stem.removesuffix("fields").strip("_"))))


def _fields(file: Path) -> dict[str, set[str]]:
    """The known fields of each type of one format."""
    facts = tomllib.loads(file.read_text(encoding="utf-8"))
    seen: dict[str, set[str]] = {}
    for stream in _streams(file.parent, facts.get("streams", "*")):
        for message in _messages(stream):
            type = _type(message, facts)
            if type is not None and type not in facts.get("unread", "").split():
                _walk(message, "", set(facts.get("open", "").split()), seen.setdefault(type, set()))
    documented: Mapping[str, str] = facts.get("documented", {})
    for pattern in documented:
        if not set("*?[") & set(pattern):
            seen.setdefault(pattern, set())
    for type, fields in seen.items():
        for pattern, more in documented.items():
            if fnmatchcase(type, pattern):
                fields.update(more.split())
    return seen


def _streams(folder: Path, pattern: str) -> Iterator[Path]:
    """The streams that a real agent wrote, untouched."""
    for about in sorted(folder.glob(f"cases/{pattern}/about.md")):
        if ", real" in about.read_text(encoding="utf-8"):
            yield about.with_name("wire.jsonl")
    yield from sorted(folder.glob(f"recordings/*/{pattern}.jsonl"))


def _messages(stream: Path) -> Iterator[Mapping[str, Any]]:
    for line in stream.read_bytes().split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        for message in value if isinstance(value, list) else [value]:
            if isinstance(message, dict):
                yield message


def _type(message: Mapping[str, Any], facts: Mapping[str, Any]) -> str | None:
    type = message.get(facts.get("type", "type"), facts.get("otherwise"))
    part: Any = message
    for key in filter(None, facts.get("parts", {}).get(type, "").split(".")):
        part = part[key]
    return type if part is message else f"{type}/{part}"


def _walk(value: object, path: str, opaque: set[str], fields: set[str]) -> None:
    """Add the paths of all fields of an object, as `Drift` names them."""
    if isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                _walk(item, f"{path}[]", opaque, fields)
    elif isinstance(value, dict) and path.removesuffix("[]") not in opaque:
        for key, item in value.items():
            inner = f"{path}.{key}" if path else key
            fields.add(inner)
            _walk(item, inner, opaque, fields)
