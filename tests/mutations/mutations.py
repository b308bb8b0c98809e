"""Seeded damage to the files of a folder: what a bad disk, a crash or a curious user leaves."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

_NUMBERS = (
    "-1",
    "0",
    "1e308",
    "1e999",
    "-1e999",
    "NaN",
    "Infinity",
    str(2**31),
    str(2**63),
    str(2**64),
    "1" + "0" * 400,
    "9" * 5000,
    "0.1e-400",
)
_VALUES = (
    "null",
    "true",
    "[]",
    "{}",
    '""',
    '"\\ud800"',
    '"\\u0000"',
    '"' + "x" * 70_000 + '"',
    "[" * 100_000 + "]" * 100_000,
    '{"a":' * 2_000 + "1" + "}" * 2_000,
    '[1, "two", null]',
)
_NOT_UTF8 = (b"\xff", b"\xfe\xff", b"\xed\xa0\x80", b"\xc3", b"\xf5\x80\x80\x80", b"\0" * 300)
_NAMES = ("core", "run.json.bak", ".hidden", "a name", "x" * 200, "new\nline", "exit.json.part")
_NUMBER = re.compile(rb"-?\d+(\.\d+)?")
_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(\.\d+)?|true|false|null')


def mutate(folder: Path, random: Random) -> str:
    """Damage one to three files of a folder; return what was done."""
    return "; ".join(_mutate_once(folder, random) for _ in range(random.choice((1, 1, 1, 2, 3))))


def _mutate_once(folder: Path, random: Random) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        return "nothing is left"
    file, act = random.choice(files), random.choice(_ACTS)
    act(file, random)
    return f"{act.__name__.removeprefix('_')} {file.name!r}"


def _flip(file: Path, random: Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(random.choice((1, 2, 30))):
        if data:
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    file.write_bytes(data)


def _cut(file: Path, random: Random) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: random.randrange(len(data) + 1)])


def _cut_the_head(file: Path, random: Random) -> None:
    data = file.read_bytes()
    file.write_bytes(data[random.randrange(len(data) + 1) :])


def _insert(file: Path, random: Random) -> None:
    data = file.read_bytes()
    place = random.randrange(len(data) + 1)
    file.write_bytes(data[:place] + random.choice(_NOT_UTF8) + data[place:])


def _empty(file: Path, _: Random) -> None:
    file.write_bytes(b"")


def _fill(file: Path, random: Random) -> None:
    file.write_bytes(random.randbytes(random.choice((1, 100, 5_000))))


def _replace_number(file: Path, random: Random) -> None:
    _replace_match(file, random, _NUMBER, _NUMBERS)


def _replace_value(file: Path, random: Random) -> None:
    _replace_match(file, random, _VALUE, (*_VALUES, *_NUMBERS))


def _replace_match(
    file: Path, random: Random, pattern: re.Pattern[bytes], replacements: tuple[str, ...]
) -> None:
    data = file.read_bytes()
    matches = list(pattern.finditer(data))
    if matches:
        match = random.choice(matches)
        new = random.choice(replacements).encode()
        file.write_bytes(data[: match.start()] + new + data[match.end() :])


def _change_field(file: Path, random: Random) -> None:
    """Remove, add or replace a field of a JSON object, and leave valid JSON."""
    try:
        fields: Any = json.loads(file.read_bytes())
    except ValueError:
        return _replace_value(file, random)
    if isinstance(fields, dict) and fields:
        name = random.choice(sorted(fields))
        fields.pop(name)
        if random.random() < 0.7:
            new = random.choice((name, name.upper(), "format", "unheard_of"))
            fields[new] = random.choice((None, -1, 2**70, 1e308, "", "\0", [], {}, [[]], True))
        file.write_text(json.dumps(fields))
    return None


def _remove(file: Path, _: Random) -> None:
    file.unlink()


def _replace_by_folder(file: Path, _: Random) -> None:
    file.unlink()
    file.mkdir()


def _add_file(file: Path, random: Random) -> None:
    added = file.with_name(random.choice(_NAMES))
    if not added.exists():
        added.write_bytes(random.randbytes(64))


def _add_folder(file: Path, random: Random) -> None:
    file.with_name(random.choice(_NAMES)).mkdir(exist_ok=True)


def _swap(file: Path, random: Random) -> None:
    other = random.choice(sorted(path for path in file.parent.iterdir() if path.is_file()))
    data = file.read_bytes()
    file.write_bytes(other.read_bytes())
    other.write_bytes(data)


def _repeat(file: Path, random: Random) -> None:
    data = file.read_bytes()
    file.write_bytes(data * random.choice((2, 3)))


def _empty_folder(file: Path, _: Random) -> None:
    for path in file.parent.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


_ACTS: tuple[Callable[[Path, Random], None], ...] = (
    _flip,
    _flip,
    _cut,
    _cut,
    _cut_the_head,
    _insert,
    _insert,
    _empty,
    _fill,
    _replace_number,
    _replace_number,
    _replace_value,
    _replace_value,
    _change_field,
    _change_field,
    _remove,
    _remove,
    _replace_by_folder,
    _add_file,
    _add_folder,
    _swap,
    _repeat,
    _empty_folder,
)
