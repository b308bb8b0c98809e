"""Secrets that their name marks: `DB_PASSWORD=…`, `"client_secret": "…"`, `--token …`, `Cookie: …`.

A name alone decides nothing, or `password: str` and `token = next(tokens)` would be hidden: the
value has to look like something that was made up. Plain words, versions, variables, paths and
calls of functions stay. Of what is hidden, the name and the quotes stay.

Names are found by a plain search for each word they end in, which costs next to nothing in text
that has none. No pattern here repeats anything without a bound: the time is linear in the text.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

_LONGEST_VALUE = 512
_VALUE = re.compile(
    rb'"(?P<double>(?:[^\s"\\),]|\\[^\n])(?:[^"\\\n]|\\[^\n]){0,511})'
    rb"|'(?P<single>(?:[^\s'\\),]|\\[^\n])(?:[^'\\\n]|\\[^\n]){0,511})"
    rb"|\\{1,8}[\"'](?P<escaped>[^\s\"'\\),][^\"'\\\n]{0,511})"
    rb"|(?P<bare>[^\s\"'`,;&|<>(){}\[\]\\]{1,512})"
)
"""A value in quotes, in the escaped quotes of JSON within JSON, or without."""

_SHORTEST_PASSWORD, _SHORTEST_SECRET, _SHORTEST_LONG_SECRET = 4, 8, 20
_FEWEST_DIGITS, _FEWEST_CHARACTERS = 6, 4
_REDACTED = b"[redacted: "
_SHORT = 256  # in a text that is no longer, one pattern is quicker than a search for each word
_MOST_BLANKS = 4  # more are in sentences only
_VARIABLE = (b"$", b"-", b"<", b"{", b"%", b"*")
_PLAIN = re.compile(
    rb"(?:[A-Za-z]{1,24}|[A-Z]{0,6}[a-z]*(?:[A-Z]{1,6}[a-z]+)*)(?:[-_./ :=]+[A-Za-z]*)*[.!?]*"
)
"""Words, also in camelCase and with separators: `newPassword`, `from_env`, `string = None`."""

_USUAL = (
    _PLAIN,
    re.compile(rb"[a-z_]+(?::[\w,.]+)?(?:\|[a-z_]+(?::[\w,.]+)?)+"),  # required|min:8
    re.compile(rb"[\^~>=<v]*[0-9]+(?:\.[0-9x*]+)+(?:[-+.][A-Za-z0-9.]{1,16})?"),  # ^4.24.5
    re.compile(rb"[A-Za-z_]+[0-9]?(?:\??\.[A-Za-z_]+[0-9]?)+!?"),  # settings.key2
    re.compile(rb"(?:/|~/|\.{1,2}/|[A-Za-z]:\\|[a-z]{2,12}://).*|[\w.-]+/[\w./-]+\.[a-z]{1,5}"),
    re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}.*"),
    re.compile(
        rb"(?i)argon2(?:id|i|d)?|(?:scram-|hmac-?)?sha-?[0-9]{1,3}|md5|base64|utf-?[0-9]+|oauth2?"
        rb"|[ehpr]s(?:256|384|512)|rsa-?[0-9]+|x?ed?25519|u?int[0-9]+|[fiu][0-9]{1,2}"
    ),
)
"""Other values that follow such names in programs, settings and prose."""

_NUMBER = re.compile(rb"[0-9.,:+x/-]+[a-zA-Z%]?")
_WORDY = re.compile(rb"[A-Za-z]+[0-9]{0,2}(?:[-_./ :][A-Za-z]*[0-9]{0,2})*")


def _is_given(value: bytes) -> bool:
    """True if a value is not a variable, where only a secret can stand."""
    return not value.startswith(_VARIABLE)


def _is_made_up(value: bytes) -> bool:
    if value.startswith(_VARIABLE) or _REDACTED in value:
        return False
    if len(set(value)) < _FEWEST_CHARACTERS or value.count(b" ") > _MOST_BLANKS:
        return False
    return not any(pattern.fullmatch(value) for pattern in _USUAL)


def _is_password(value: bytes) -> bool:
    if len(value) < _SHORTEST_PASSWORD or not _is_made_up(value):
        return False
    return len(value) >= _FEWEST_DIGITS if value.isdigit() else not _NUMBER.fullmatch(value)


def _is_secret(value: bytes) -> bool:
    if len(value) < _SHORTEST_SECRET or _WORDY.fullmatch(value) or _NUMBER.fullmatch(value):
        return False
    return _is_made_up(value)


def _is_long_secret(value: bytes) -> bool:
    return len(value) >= _SHORTEST_LONG_SECRET and _is_secret(value)


def _is_encoded(value: bytes) -> bool:
    """True if a value may be a name and a password in base64, which may be letters alone."""
    return _is_given(value) and not re.fullmatch(rb"[A-Z]?[a-z]+|[A-Z]+", value)


class _Name(NamedTuple):
    """The word that a name ends in, and which values of such a name are secret."""

    word: bytes
    """The word in lower case; in capitals, it matches only capitals."""

    title: bytes
    hides: Callable[[bytes], bool]
    more: bytes = b""
    """A pattern for the rest of the name, after the word."""

    before: tuple[bytes, ...] = ()
    """One of these is before the word, with `-`, `_` or nothing between."""

    quick: bytes = b""
    """A part of such a name, to search for first if the word alone is too frequent."""


_KEYS = (
    *(b"api", b"app", b"access", b"account", b"admin", b"auth", b"bot", b"client", b"deploy"),
    *(b"encryption", b"license", b"master", b"private", b"preshared", b"secret", b"service"),
    *(b"shared", b"sign", b"signing", b"storage", b"subscription"),
)
"""Words before `key` whose values are secret; the key of a cache or of a table is not."""

_NAMES = (
    _Name(b"pass", b"password", _is_password, rb"(?:wor[dt]|wd|phrase|code)"),
    _Name(b"_pass", b"password", _is_password),
    _Name(b"pwd", b"password", _is_password),
    _Name(b"secret", b"secret", _is_secret, rb"(?:[_-]?(?:key|token|value|id))?(?:_base)?"),
    _Name(b"token", b"secret", _is_secret, rb"(?:[_-]?(?:secret|value))?"),
    _Name(b"key", b"secret", _is_secret, rb"(?:[_-]?(?:id|data|base64|value))?", _KEYS),
    _Name(b"credential", b"secret", _is_secret, b"s?"),
    _Name(b"auth", b"secret", _is_secret, rb"(?:[_-]?data)?"),
    _Name(b"_pat", b"secret", _is_secret),
    _Name(b"string", b"secret", _is_secret, b"", (b"connection",), b"onnection"),
    _Name(b"_KEY", b"secret", _is_long_secret),
)
_SIGN = rb"""(?:\\{0,8}["'`])?\]?[ \t]{0,16}(?:=>|:=|(?<!:)[:=](?![:=]))[ \t]{0,16}"""
_GAP = rb"""(?:\\{0,8}["'])?,?[ \t]{1,16}"""
_OPTION = re.compile(rb"(?:^|[^\w-])--?(?:[a-z0-9]{1,16}-){0,3}\Z")
"""The beginning of an option before the word; its value may follow without a sign."""

_LONGEST_OPTION, _LONGEST_BEFORE = 56, 13


class _Phrase(NamedTuple):
    """The words before a secret that has no name of its own."""

    needles: tuple[bytes, ...]
    title: bytes
    hides: Callable[[bytes], bool]
    before: bytes
    """A pattern for them, in lower case."""

    quick: bytes = b""
    """What all of them have, which is looked for first."""


_ARGUMENTS = rb"[ \t][^\n|;&]{0,160}?(?<=[ \t])"
_PHRASES = (
    _Phrase(
        (b"curl", b"wget", b"mysql", b"mariadb", b"sshpass", b"redis-cli", b"docker", b"htpasswd"),
        b"password",
        _is_given,
        rb"(?:curl|wget)%b(?:-u[ \t]*|--(?:proxy-)?user[ \t=])\\{0,8}[\"']?[\w.@%%+-]{1,64}:"
        rb"|(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)%b-p(?=\S)"
        rb"|sshpass[ \t]+-p[ \t]*"
        rb"|redis-cli%b(?:-a|--pass)[ \t]+"
        rb"|docker[ \t]+login%b-p[ \t]+"
        rb"|htpasswd[ \t]+-[a-z]{0,4}b[a-z]{0,4}[ \t]+(?:\S{1,120}[ \t]+){1,3}"
        rb"(?=\S+[ \t]*(?:$|[\n;&|\\\"']))" % ((_ARGUMENTS,) * 4),
        quick=b" -",
    ),
    _Phrase(
        (b"-passin ", b"-passout "),
        b"password",
        _is_given,
        rb"-pass(?:in|out)[ \t]+pass:",
        quick=b" -",
    ),
    _Phrase(
        (b" -u",),
        b"password",
        _is_password,
        rb"(?<=[ \t])-u[ \t]*\\{0,8}[\"']?[\w.@%+-]{1,64}:",
        quick=b" -",
    ),
    _Phrase(
        (b"authorization",),
        b"credential",
        _is_encoded,
        rb"authorization\\{0,8}[\"']?[ \t]*[:=][ \t]*\\{0,8}[\"']?"
        rb"(?:basic|bearer|token|digest|apikey)[ \t]+",
    ),
    _Phrase(
        (b"key=", b"sig=", b"signature="),
        b"secret",
        _is_secret,
        rb"[?&](?:key|sig|signature)=",
        quick=b"=",
    ),
    _Phrase(
        (b"login",),
        b"password",
        _is_given,
        rb"(?:machine(?:\s|\\{1,8}n){1,8}\S{1,128}|default)(?:\s|\\{1,8}n){1,8}login(?:\s|\\{1,8}n){1,8}[^\s\\]{1,128}"
        rb"(?:\s|\\{1,8}n){1,8}password(?:\s|\\{1,8}n){1,8}",
    ),
)
_COOKIES = re.compile(
    rb"(?:cookie\\{0,8}[\"']?[ \t]*:[ \t]*|--cookie[ \t=])\\{0,8}[\"']?"
    rb"(?P<line>[^\n\"'\\]{1,4096})",
    re.IGNORECASE,
)
_COOKIE = re.compile(rb"([\w.$-]{1,64}=)([^;\s`]{1,4096})")


def without_named(data: bytes) -> bytes:
    """Return text without the values that a name before them says are secret."""
    lower = data.lower()
    if len(data) < _SHORT and not _hint().search(lower):
        return data  # as most lines
    secrets = list(_secrets(data, lower))
    if not secrets:
        return data
    parts: list[bytes] = []
    done = 0
    for start, end, title in sorted(secrets):
        if start >= done:
            parts += (data[done:start], b"[redacted: %b]" % title)
            done = end
    return b"".join((*parts, data[done:]))


def unfinished(data: bytes) -> int:
    """Return the number of bytes at the end that may belong to an incomplete secret value."""
    tail = data[-_LONGEST_VALUE:]
    starts = [start for start, _, _ in _values(tail, tail.lower())]
    most = 0
    for start in starts:
        value = _VALUE.match(tail, start)
        if value is None or value.end() == len(tail):
            most = max(most, len(tail) - start)
    return most


def _secrets(data: bytes, lower: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the start, the end and the title of each secret."""
    for at, title, hides in _values(data, lower):
        value = _VALUE.match(data, at)
        if value is None or data.endswith(_REDACTED, 0, at):
            continue
        group = value.lastgroup or ""
        is_call = group == "bare" and data[value.end() : value.end() + 1] in (b"(", b"[", b"{")
        if not is_call and hides(value[group]):
            yield *value.span(group), title
    if b"cookie" in lower:
        for cookies in _COOKIES.finditer(data):
            for cookie in _COOKIE.finditer(data, *cookies.span("line")):
                if _is_password(cookie[2]):
                    yield *cookie.span(2), b"cookie"


def _values(data: bytes, lower: bytes) -> Iterator[tuple[int, bytes, Callable[[bytes], bool]]]:
    """Yield where each value starts that may be secret, with its title and its test."""
    for name, behind, behind_option in _names():
        if name.quick and name.quick not in lower:
            continue
        text = data if name.word.isupper() else lower
        at = text.find(name.word)
        while at >= 0:
            end = at + len(name.word)
            if not name.before or _ends_in(lower[max(0, at - _LONGEST_BEFORE) : at], name.before):
                found = behind.match(lower, end)
                if found is None:
                    found = behind_option.match(lower, end)
                    if found and not _OPTION.search(lower[max(0, at - _LONGEST_OPTION) : at]):
                        found = None
                if found is not None:
                    yield found.end(), name.title, name.hides
            at = text.find(name.word, end)
    if len(lower) < _SHORT and not _phrase_hint().search(lower):
        return
    for phrase, pattern in _phrases():
        if phrase.quick in lower and any(needle in lower for needle in phrase.needles):
            for found in pattern.finditer(lower):
                yield found.end(), phrase.title, phrase.hides


def _ends_in(text: bytes, words: tuple[bytes, ...]) -> bool:
    return text.endswith(words) or (text.endswith((b"_", b"-", b" ")) and text[:-1].endswith(words))


@cache
def _names() -> list[tuple[_Name, re.Pattern[bytes], re.Pattern[bytes]]]:
    return [(name, re.compile(name.more + _SIGN), re.compile(name.more + _GAP)) for name in _NAMES]


@cache
def _hint() -> re.Pattern[bytes]:
    """Return a pattern for the words that a name ends in or a phrase has."""
    words = {name.quick or name.word.lower() for name in _NAMES}
    words.update(needle for phrase in _PHRASES for needle in phrase.needles)
    return re.compile(b"|".join(map(re.escape, sorted(words | {b"cookie"}))))


@cache
def _phrase_hint() -> re.Pattern[bytes]:
    """Return a pattern for the words that a phrase has."""
    needles = {needle for phrase in _PHRASES for needle in phrase.needles}
    return re.compile(b"|".join(map(re.escape, sorted(needles))))


@cache
def _phrases() -> list[tuple[_Phrase, re.Pattern[bytes]]]:
    return [(phrase, re.compile(phrase.before)) for phrase in _PHRASES]
