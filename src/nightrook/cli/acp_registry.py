"""Registry files of agents that speak the Agent Client Protocol, as sections for rook.toml.

Nothing in such a file is trusted or run: its entries are shown for the user to review and copy.
"""

import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from nightrook import agents
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
from nightrook.model.text import one_line, suggested

_LARGEST = 10 * 1024 * 1024
_LONGEST_COMMENT = 200
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MACHINES = {"arm64": "aarch64", "AMD64": "x86_64"}

_Id = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[^-\x00][^\x00]*$")]  # not an option of npx or uvx
_Word = Annotated[str, msgspec.Meta(min_length=1, pattern=r"^[^\x00]*$")]


class _Package(msgspec.Struct, frozen=True, kw_only=True):
    package: _Name
    cmd: _Name | None = None
    """The program of the package; None if there is only one."""

    args: tuple[_Word, ...] = ()
    env: Mapping[str, str] = {}


class _Binary(msgspec.Struct, frozen=True, kw_only=True):
    archive: str
    cmd: _Word
    sha256: str | None = None
    args: tuple[_Word, ...] = ()
    env: Mapping[str, str] = {}


class _Distribution(msgspec.Struct, frozen=True, kw_only=True):
    npx: _Package | None = None
    uvx: _Package | None = None
    binary: Mapping[str, _Binary] = {}


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One agent of a registry."""

    id: _Id
    name: str
    version: str | None = None
    description: str | None = None
    repository: str | None = None
    website: str | None = None
    distribution: _Distribution


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """The section of rook.toml for an entry."""

    id: str
    agent: str
    """The name of the section, which `rook run --agent` takes."""

    command: tuple[str, ...]
    """The command of the agent; replace its first word if there is something to download."""

    notes: tuple[str, ...]
    """Notes for the user, a line each."""


def read_registry(path: str) -> tuple[list[Entry], int]:
    """Read a registry, or the `agent.json` of one agent; also return how many entries are wrong."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise NightrookError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > _LARGEST:
        raise NightrookError(f"{path} is too large for a registry of agents")
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise NightrookError(
            f"{path} is not JSON: use a registry.json, or the agent.json of one agent"
        ) from error
    listed = value.get("agents", [value]) if isinstance(value, dict) else None
    if not isinstance(listed, list) or not listed or listed == [{}]:
        raise NightrookError(f"{path} is not a registry: it has no list of agents")
    found = [entry for one in listed if (entry := _entry(one)) is not None]
    if not found:
        raise NightrookError(f"{path} is not a registry: none of its entries describes an agent")
    return found, len(listed) - len(found)


def _entry(value: Any) -> Entry | None:
    try:
        return msgspec.convert(value, Entry)
    except msgspec.ValidationError:
        return None


def section_of(entry: Entry) -> Section:
    """Return the lines for rook.toml of an entry; a sketch if there is no way to start it."""
    notes = [_title(entry)]
    if place := entry.repository or entry.website:
        notes.append(_short(place))
    known = agents.is_known(entry.id)
    if known:
        run = suggested("run", "--agent", entry.id)
        notes.append(f"rook knows this agent without a section: {run}")
    command, more = _command(entry.distribution)
    return Section(
        id=entry.id,
        agent=f"{entry.id}-acp" if known else entry.id,
        command=command,
        notes=(*notes, *more),
    )


def toml_lines(section: Section) -> Iterator[str]:
    """The lines of a section for rook.toml."""
    yield from (f"# {note}" for note in section.notes)
    yield f"[agents.{section.agent}]"
    yield 'speaks = "acp"'
    yield f"command = [{', '.join(map(_quoted, section.command))}]"


def _command(how: _Distribution) -> tuple[tuple[str, ...], list[str]]:
    """The command of an agent and notes about it: of a package first, else of a program."""
    for runner, option, package in (
        (("npx", "--yes"), "--package", how.npx),
        (("uvx",), "--from", how.uvx),
    ):
        if package is not None:
            name = [option, package.package, package.cmd] if package.cmd else [package.package]
            words = (*runner, *name, *package.args)
            note = f"{runner[0]} downloads the package when it is not there yet: review it first"
            return _with_variables(package.env, words), [note]
    system, machine = platform.system().lower(), platform.machine()
    here = f"{system}-{_MACHINES.get(machine, machine)}"
    binary = how.binary.get(here)
    if binary is None:
        there = ", ".join(sorted(map(_short, how.binary))) or "nothing"
        return ("/path/to/the/agent",), [f"not distributed for {here}, but for: {there}"]
    program = f"/path/to/{binary.cmd.removeprefix('./').removeprefix('/')}"
    notes = [f"download and unpack it, and replace the path: {_short(binary.archive)}"]
    if binary.sha256:
        notes.append(f"sha256 {_short(binary.sha256)}")
    return _with_variables(binary.env, (program, *binary.args)), notes


def _with_variables(variables: Mapping[str, str], words: Sequence[str]) -> tuple[str, ...]:
    """A command with variables in front; one that cannot be a variable is left out."""
    settings = [f"{name}={value}" for name, value in variables.items() if _VARIABLE.fullmatch(name)]
    return ("env", *settings, *words) if settings else tuple(words)


def _title(entry: Entry) -> str:
    head = " ".join(filter(None, (entry.name, entry.version)))
    return _short(f"{head}: {entry.description}" if entry.description else head)


def _short(text: str) -> str:
    return safe_line(one_line(text, _LONGEST_COMMENT))


def _quoted(word: str) -> str:
    """A word as a string of TOML, with nothing in it that a terminal would obey."""
    text = msgspec.json.encode(word.encode("utf-8", "replace").decode()).decode()
    return re.sub(r"[^ -~]", lambda found: _escape(ord(found[0])), text)


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
