"""Breaks recorded lines in the ways agents, pipes and enemies do; the same seed, the same harm."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

Mutation = Callable[[bytes, Random], bytes]

BOM = b"\xef\xbb\xbf"

VALUES: tuple[bytes, ...] = (
    b"null",
    b"true",
    b"false",
    b"0",
    b"-1",
    b"%d" % 2**63,
    b"-%d" % 10**30,
    b"9" * 4300,
    b"9" * 5000,
    b"1.5",
    b"-0.0",
    b"1e-400",
    b"1e400",
    b"-1e400",
    b"NaN",
    b"-Infinity",
    b'""',
    b'"text"',
    b'"5"',
    b'"toolu_1"',
    b"[]",
    b"[null]",
    b'["a",1,{"type":"text","text":"b"}]',
    b"{}",
    b'{"type":"text"}',
    b'{"type":"dance"}',
    b'{"type":5}',
    b'{"a":{"b":{"c":[]}}}',
)
"""JSON values of every type, some of which few readers can hold."""

STRINGS: tuple[bytes, ...] = (
    rb"\ud800",
    rb"\udc00",
    rb"\udc00\ud83d",
    rb"\ud83d\ude00",
    rb"\u0000\u001b\u2028",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xf0\x9f\x98",
    b"\xc0\x80",
    b"\x00",
    b"\x1b[2J\x07",
    b"\x7f\x08\x0b\x0c",
    "\u2028\u2029\x85\ufeff".encode(),
    "\u202e\u2066".encode(),
)
"""What may come inside a string, escaped or raw, allowed or not."""

NOISE: tuple[bytes, ...] = (
    *STRINGS,
    BOM,
    b"\r",
    b"\x85",
    b"\\",
    b'"',
    b"{",
    b"}",
    b"[",
    b",",
    b":",
)

DEPTHS = (5, 60, 200, 20_000)

_HOLE = "@@hole@@"
_KEY = "@@key@@"


def mutate(line: bytes, random: Random) -> tuple[str, bytes]:
    """Break one line in one way, and name the way."""
    name = random.choice(NAMES)
    return name, MUTATIONS[name](line, random)


def mutate_stream(lines: Sequence[bytes], random: Random) -> tuple[bytes, Counter[str]]:
    """Break most lines of a stream, some of them twice, and their order here and there.

    Gives the broken bytes and what was done, with `lines` for how many lines it was done to.
    """
    broken: list[bytes] = []
    done: Counter[str] = Counter()
    for line in lines:
        times = random.choice((0, 1, 1, 1, 1, 2))
        for _ in range(times):
            name, line = mutate(line, random)
            done[name] += 1
        done["lines"] += times > 0
        broken.append(line)
    for name, disorder in DISORDERS.items():
        if len(broken) > 1 and random.random() < 0.3:
            disorder(broken, random)
            done[name] += 1
    end = random.choice((b"\n", b"\n", b"", b"\r\n", b"\n\n"))
    return (BOM if random.random() < 0.1 else b"") + b"\n".join(broken) + end, done


def pieces(data: bytes, random: Random) -> Iterator[bytes]:
    """Cut bytes anywhere."""
    most = random.choice((7, 100, 1000, 100_000))
    begin = 0
    while begin < len(data):
        end = begin + random.randint(0, most)
        yield data[begin:end]
        begin = end


# What happens to values: a field is chosen anywhere in the message.


def _edit(change: Callable[[Any, Any, Random], tuple[bytes, bytes] | None]) -> Mutation:
    """Make a mutation of a change to one place: `change(holder, key, random)`.

    It may leave holes in place of a value or a key, and tells what JSON text fills them.
    """

    def mutation(line: bytes, random: Random) -> bytes:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return _flip(line, random)
        places = list(_places(message))
        if not places:
            return _flip(line, random)
        # The outer fields are few and decide most: one time in three, one of them.
        if random.random() < 1 / 3:
            places = [place for place in places if place[0] is message]
        value, key = change(*random.choice(places), random) or (b"", b"")
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        raw = text.encode("utf-8", "surrogatepass")
        return raw.replace(f'"{_HOLE}"'.encode(), value).replace(f'"{_KEY}"'.encode(), key)

    return mutation


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield value, key
            yield from _places(item)


def _drop(holder: Any, key: Any, random: Random) -> None:
    del holder[key]


def _rename(holder: Any, key: Any, random: Random) -> tuple[bytes, bytes] | None:
    if not isinstance(holder, dict):
        return None
    holder[_KEY] = holder.pop(key)
    names = (key + "_", key.upper(), key[:-1], "", random.choice(list(holder)))
    escaped = json.dumps(random.choice(names)).encode()
    return b"", random.choice((escaped, escaped, b'"%b"' % random.choice(STRINGS)))


def _retype(holder: Any, key: Any, random: Random) -> tuple[bytes, bytes]:
    holder[key] = _HOLE
    return random.choice(VALUES), b""


def _strange_text(holder: Any, key: Any, random: Random) -> tuple[bytes, bytes]:
    before = json.dumps(holder[key])[1:-1].encode() if isinstance(holder[key], str) else b""
    holder[key] = _HOLE
    return b'"%b%b"' % (before, random.choice(STRINGS)), b""


def _nest(holder: Any, key: Any, random: Random) -> tuple[bytes, bytes]:
    inner = json.dumps(holder[key]).encode()
    holder[key] = _HOLE
    depth = random.choice(DEPTHS)
    opening, ending = random.choice(((b"[", b"]"), (b'{"content":', b"}"), (b'[{"a":', b"}]")))
    return opening * depth + inner + ending * depth, b""


def _repeat_value(holder: Any, key: Any, random: Random) -> None:
    if isinstance(holder, list):
        holder[key:key] = [holder[key]] * random.choice((1, 2, 100))
    else:
        holder[random.choice(list(holder))] = holder[key]


def _repeat_key(holder: Any, key: Any, random: Random) -> tuple[bytes, bytes] | None:
    if not isinstance(holder, dict):
        return None
    items = list(holder.items())
    items.insert(random.choice((0, len(items))), (_KEY, _HOLE))
    holder.clear()
    holder.update(items)
    return random.choice(VALUES), json.dumps(key).encode()


# What happens to bytes.


def _flip(line: bytes, random: Random) -> bytes:
    if not line:
        return b"\x00"
    broken = bytearray(line)
    for _ in range(random.choice((1, 1, 3))):
        broken[random.randrange(len(broken))] ^= 1 << random.randrange(8)
    return bytes(broken)


def _delete(line: bytes, random: Random) -> bytes:
    begin = random.randint(0, len(line))
    return line[:begin] + line[begin + random.choice((1, 1, 5, 50)) :]


def _insert(line: bytes, random: Random) -> bytes:
    place = random.randint(0, len(line))
    return line[:place] + random.choice(NOISE) + line[place:]


def _cut(line: bytes, random: Random) -> bytes:
    return line[: random.randint(0, len(line))]


def _copy_bytes(line: bytes, random: Random) -> bytes:
    begin, end = sorted((random.randint(0, len(line)), random.randint(0, len(line))))
    return line[:end] + line[begin:end] + line[end:]


def _interrupt(line: bytes, random: Random) -> bytes:
    place = random.randint(0, len(line))
    return line[:place] + b"\nnpm notice\n" + line[place:]


def _carriage_return(line: bytes, random: Random) -> bytes:
    return line + b"\r"


def _mark(line: bytes, random: Random) -> bytes:
    return BOM + line


def _wrap(line: bytes, random: Random) -> bytes:
    return random.choice((b"[%b]", b"[%b,{}]", b" %b\t", b'{"a":%b}', b"[%b,5]")) % line


MUTATIONS: Mapping[str, Mutation] = {
    "field dropped": _edit(_drop),
    "field renamed": _edit(_rename),
    "value retyped": _edit(_retype),
    "strange text": _edit(_strange_text),
    "value nested": _edit(_nest),
    "value repeated": _edit(_repeat_value),
    "key repeated": _edit(_repeat_key),
    "bits flipped": _flip,
    "bytes deleted": _delete,
    "bytes inserted": _insert,
    "bytes repeated": _copy_bytes,
    "line cut": _cut,
    "line interrupted": _interrupt,
    "carriage return": _carriage_return,
    "byte order mark": _mark,
    "line wrapped": _wrap,
}
NAMES = tuple(MUTATIONS)


# What happens to lines.


def _swap(lines: list[bytes], random: Random) -> None:
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]


def _double(lines: list[bytes], random: Random) -> None:
    lines.insert(random.randint(0, len(lines)), random.choice(lines))


def _lose(lines: list[bytes], random: Random) -> None:
    del lines[random.randrange(len(lines))]


def _join(lines: list[bytes], random: Random) -> None:
    place = random.randrange(len(lines) - 1)
    lines[place : place + 2] = [lines[place] + lines[place + 1]]


def _blank(lines: list[bytes], random: Random) -> None:
    lines.insert(random.randint(0, len(lines)), random.choice((b"", b" ", b"\r", BOM, b"\t\r")))


DISORDERS: Mapping[str, Callable[[list[bytes], Random], None]] = {
    "lines swapped": _swap,
    "line doubled": _double,
    "line lost": _lose,
    "lines joined": _join,
    "line blank": _blank,
}
