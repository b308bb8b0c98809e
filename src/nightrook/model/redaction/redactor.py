"""Replaces secrets in text for people and programs, and finds those that are not complete."""

import re
from collections.abc import Mapping
from functools import cache

from nightrook.model.redaction import named
from nightrook.model.redaction.shapes import (
    LONG_WORD,
    has_start,
    marked_words,
    unfinished_form,
    without_forms,
    without_tokens,
)
from nightrook.model.redaction.variables import secret_values

# Each has a long word itself, or is before one.
_CONTEXTS = (b"earer ", b"EARER ", b"uthorization", b"secret_access_key", b"SECRET_ACCESS_KEY")
_WEBHOOKS = (b"hooks.slack.com/", b"com/api/webhooks/")
_KEY = b"PRIVATE KEY"
# A line of a diff begins with a sign, a quoted one with `>`, a listed one with its number.
_KEY_BREAK = (
    rb"(?:\s|\\+[nr])*"
    rb"(?:(?:[0-9]{1,6}(?:[ \t|:]|\xe2\x86\x92)*)?(?:[+>|]|-(?!-)|\xe2\x94\x82)[ \t]*"
    rb"|[0-9]{1,6}(?:[\t|:]|\xe2\x86\x92)[ \t]*)?"
)
_KEY_LINE = _KEY_BREAK + (
    rb"(?:[A-Za-z0-9+/=]{20,}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [\w.,() -]*)"
)
_KEY_LAST_LINE = _KEY_BREAK + rb"(?=[a-z0-9/]*[A-Z+=])[A-Za-z0-9+/=]+"
_KEY_END = re.compile(r"-----END [A-Z ]*-----")
_KEY_PART = re.compile(r"\s*+[+>|-]?\s*+(?:[A-Za-z0-9+/=]*|[A-Z][A-Za-z-]+: .*+)\s*")
_KEY_MARK = b"[redacted: private key]"
_BEFORE_HEADER = (
    rb"((?i:bearer[ \t]+(?=\S*[0-9])|authorization[\"']?:[ \t]*[\"']?basic[ \t]+"
    rb"|aws_secret_access_key[\"']?\s*[=:]\s*[\"']?))"
)
_FEW = 4  # characters of a value, which give nothing away
_LONGEST_NAMED = 1024
_LONGEST_CONTEXT = 64  # characters before a secret that say that it is one


class Redactor:
    """Replaces secrets by `[redacted: …]`, in text and in JSON lines.

    `environ` is where values of secrets come from: those of variables whose name says so.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._values = secret_values(environ or {})

    def text(self, text: str) -> str:
        """Return text without its secrets."""
        data = text.encode("utf-8", "surrogatepass")
        redacted = self.data(data)
        return text if redacted is data else redacted.decode("utf-8", "surrogatepass")

    def data(self, data: bytes) -> bytes:
        """Return UTF-8 text, such as JSON lines, without its secrets; often the same object."""
        if _KEY in data:
            data = _private_key().sub(_KEY_MARK, data)
        return named.without_named(self._replaced(data))

    def _replaced(self, data: bytes) -> bytes:
        for value in self._values:
            if value.head in data:
                data = value.pattern.sub(value.mark, data)
        if b"://" in data and b"@" in data:
            data = _credentials().sub(rb"\1[redacted: password]@", data)
        marks = marked_words(data)
        if LONG_WORD not in marks:
            return data  # as most lines
        if any(place in data for place in _WEBHOOKS):
            data, marks = _webhook().sub(rb"\1[redacted: webhook]", data), b""
        for context in _CONTEXTS:
            if context in data:
                data, marks = _headers().sub(rb"\1[redacted: credential]", data), b""
                break
        marks = marks or marked_words(data)
        without = without_forms(data, marks)
        return without_tokens(without, marks if without is data else marked_words(without))

    def unfinished(self, text: str) -> int:
        """Count the characters at the end of text that may belong to a secret that continues."""
        key = text.rfind("-----BEGIN ")
        if key >= 0 and _KEY.decode() in text[key:] and not _KEY_END.search(text, key):
            return len(text) - key
        word = "" if not text or text[-1].isspace() else text.rsplit(None, 1)[-1]
        before = text[: len(text) - len(word)][-_LONGEST_CONTEXT:]
        if word and (_before_secret().search(before) or _has_start(word)):
            return len(word)
        overlaps = (_overlap(text, value.text) for value in self._values)
        return max(unfinished_form(text), _unfinished_value(text), *overlaps, 0)


class RedactedLines:
    """Redacts text that comes in pieces, each of whole lines: a private key may span several."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._in_key = False

    def __call__(self, text: str) -> str:
        """Return the next piece without its secrets."""
        rest, before = text, ""
        if self._in_key:
            before, rest = self._after_key(text)
        redacted = self._redactor.text(rest)
        if redacted is not rest:
            is_last = redacted.rstrip().endswith(_KEY_MARK.decode())
            self._in_key = is_last and not _KEY_END.search(rest, rest.rfind("-----BEGIN "))
        return before + redacted

    def _after_key(self, text: str) -> tuple[str, str]:
        """Split text that follows the start of a private key: the key's end, and what follows."""
        lines = text.split("\n")
        for number, line in enumerate(lines):
            if "-----END " in line:
                self._in_key = False
                return "\n".join([_KEY_MARK.decode(), ""]), "\n".join(lines[number + 1 :])
            if not _KEY_PART.fullmatch(line):
                self._in_key = False
                kept = "\n".join(lines[number:])
                return (f"{_KEY_MARK.decode()}\n" if number else ""), kept
        return (f"{_KEY_MARK.decode()}\n" if text.strip() else text), ""


def _has_start(word: str) -> bool:
    """True if a token or an address with a password may start in a word."""
    return bool(
        has_start(word)
        or any(place.decode() in word for place in _WEBHOOKS)
        or re.search(r"://[^/@]*:[^/@]*$", word)
    )


def _unfinished_value(text: str) -> int:
    """Return the number of characters at the end that may belong to a value with a secret name."""
    data = text[-_LONGEST_NAMED:].encode("utf-8", "surrogatepass")
    size = named.unfinished(data)
    return len(data[len(data) - size :].decode("utf-8", "surrogatepass")) if size else 0


def _overlap(text: str, value: str) -> int:
    """Return the length of the end of text that starts a value, if it isn't too short."""
    most = min(len(text), len(value) - 1)
    return next((n for n in range(most, _FEW - 1, -1) if text.endswith(value[:n])), 0)


@cache
def _before_secret() -> re.Pattern[str]:
    return re.compile(
        r"(?:bearer|authorization:|basic|aws_secret_access_key\S*)\s+\Z", re.IGNORECASE
    )


@cache
def _private_key() -> re.Pattern[bytes]:
    """Return a pattern for a private key, with or without its end."""
    return re.compile(
        rb"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?:%b)*+(?:%b)?+"
        rb"(?:%b-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----)?"
        % (_KEY_LINE, _KEY_LAST_LINE, _KEY_BREAK)
    )


@cache
def _credentials() -> re.Pattern[bytes]:
    """Return a pattern for the password in an address; it never hides what a shell would run."""
    return re.compile(rb"(://[^\s/?#@:\"'<>\\]*:)[^\s/?#@\"'<>`$;|&()\\]+@")


@cache
def _webhook() -> re.Pattern[bytes]:
    return re.compile(
        rb"(hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/[0-9]{1,24}/)"
        rb"[\w/-]{16,}"
    )


@cache
def _headers() -> re.Pattern[bytes]:
    return re.compile(_BEFORE_HEADER + rb"[\w.~+/=-]{16,}")
