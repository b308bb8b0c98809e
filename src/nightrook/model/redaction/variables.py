"""Finds the variables of an environment that hold a secret, and the ways to write their values."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from nightrook.model.redaction.shapes import CUT

_NAMES = frozenset(
    "KEY KEYS APIKEY TOKEN TOKENS SECRET SECRETS PASS PASSWORD PASSWD PASSPHRASE PWD "  # noqa: SIM905
    "PAT COOKIE CREDENTIAL CREDENTIALS CREDS".split()
)
_NAME_ENDS = ("APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD")
_PLACE_ENDS = ("FILE", "PATH", "DIR", "SOCK", "URL", "HOST")  # the value says where a secret is
_COMMON = frozenset(
    "administrator changeme disabled password placeholder postgres production "  # noqa: SIM905
    "development required undefined username localhost credentials test-key test-token".split()
)
_NO_NUMBER = dict.fromkeys(map(ord, "0123456789.,:-"))
_SHORTEST_VALUE, _FEWEST_CHARACTERS = 8, 5
_HEAD = 12  # of a value: what is left of it at least where it was cut


class SecretValue:
    """The value of a secret variable, as it may be written."""

    def __init__(self, name: str, data: bytes) -> None:
        self.data = data
        self.text = data.decode("utf-8", "surrogateescape")
        self.head = data[:_HEAD] if len(data) >= _HEAD + 4 else data
        self.mark = f"[redacted: ${name}]".encode().replace(b"\\", rb"\\")

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """The pattern that matches the value, also one that was cut."""
        whole, head = re.escape(self.data), re.escape(self.head)
        cut = rb"|%b\S{0,%d}?%b" % (head, len(self.data), CUT) if head != whole else b""
        return re.compile(whole + cut)


def secret_values(environ: Mapping[str, str]) -> list[SecretValue]:
    """The values of all variables that hold a secret, the longest first."""
    values = [
        SecretValue(name, variant)
        for name, value in secrets_of(environ).items()
        for variant in dict.fromkeys(_variants(value))
    ]
    return sorted(values, key=lambda value: -len(value.data))


def secrets_of(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that hold a secret, by their names; short and common values are left out."""
    return {name: value.strip() for name, value in environ.items() if _is_secret(name, value)}


def _is_secret(name: str, value: str) -> bool:
    words, value = name.upper().split("_"), value.strip()
    if words in (["PWD"], ["OLDPWD"]) or words[-1] in _PLACE_ENDS:
        return False
    if _NAMES.isdisjoint(words) and not words[-1].endswith(_NAME_ENDS):
        return False
    if len(value) < _SHORTEST_VALUE or len(set(value)) < _FEWEST_CHARACTERS:
        return False
    if value.lower() in _COMMON or value.translate(_NO_NUMBER) == "":
        return False
    # A variable such as SECRET_BACKEND has a plain word as its value.
    is_last = words[-1] in _NAMES or words[-1].endswith(_NAME_ENDS)
    return is_last or not (value.isalpha() and (value.islower() or value.isupper()))


def _variants(value: str) -> Iterator[bytes]:
    """A value as it is, in JSON, and in the quotes of a shell; of several lines, each."""
    parts = [value] if "\n" not in value else [v.strip() for v in value.split("\n")]
    for part in parts:
        if part is value or (len(part) >= 2 * _SHORTEST_VALUE and " " not in part):
            escaped = part.replace("\\", "\\\\").replace('"', '\\"')
            for variant in (part, escaped, part.replace("'", "'\"'\"'")):
                yield variant.encode("utf-8", "surrogateescape")
