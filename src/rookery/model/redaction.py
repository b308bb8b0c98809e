"""Replaces secrets in text for people and programs: token shapes and values of the environment."""

import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import NamedTuple

_WORD, _ALNUM, _HEX = rb"[A-Za-z0-9_-]", rb"[A-Za-z0-9]", rb"[a-f0-9]"
# Not inside of a word; what ends an escape of JSON or a colour code is no part of one.
_ALONE = rb"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=[0-9]m))"
_CUT = rb"(?=\.\.\.|\xe2\x80\xa6)"  # what a display that cuts long text ends it with
_LENGTH_OF_CUT, _LEAST_OF_CUT = 3, 8


class Shape(NamedTuple):
    """What a kind of token looks like: how it starts, as nothing else does, and its characters."""

    name: str
    starts: str
    body: bytes
    least: int
    """How many characters of the body make a token; fewer do where text was cut."""

    before: bytes = b""
    after: bytes = b""


SHAPES = (
    Shape("Anthropic key", "sk-ant-", _WORD, 16),
    Shape("OpenAI key", "sk-proj- sk-svcacct- sk-admin-", _WORD, 16),
    Shape("OpenRouter key", "sk-or-v1- sk-or-", _ALNUM, 20),
    Shape("API key", "sk-", _ALNUM, 20, _ALONE),
    Shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM, 30),
    Shape("GitHub token", "github_pat_", rb"\w", 20),
    Shape("GitLab token", "glpat- gldt- glrt- glcbt- glptt- glft- glagent- glsoat-", _WORD, 16),
    Shape("AWS key", "AKIA ASIA ABIA ACCA", rb"[A-Z0-9]", 16, _ALONE),
    Shape("Slack token", "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", _WORD, 16),
    Shape("Google key", "AIza", _WORD, 30),
    Shape("Google token", "ya29.", _WORD, 20),
    Shape("Google client secret", "GOCSPX-", _WORD, 20),
    Shape("JSON web token", "eyJ", _WORD, 8, after=rb"\.eyJ[\w-]{8,}(?:\.[\w-]*)?"),
    Shape("npm token", "npm_", _ALNUM, 30),
    Shape("PyPI token", "pypi-AgE", _WORD, 30),
    Shape("Hugging Face token", "hf_", _ALNUM, 30),
    Shape("Stripe key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ whsec_", _ALNUM, 16),
    Shape("SendGrid key", "SG.", _WORD, 16, _ALONE, rb"\.[\w-]{16,}"),
    Shape("Groq key", "gsk_", _ALNUM, 32),
    Shape("xAI key", "xai-", _ALNUM, 32),
    Shape("DigitalOcean token", "doo_v1_ dop_v1_ dor_v1_", _HEX, 32),
    Shape("Docker token", "dckr_pat_ dckr_oat_", _WORD, 16),
    Shape("Shopify token", "shpat_ shpca_ shppa_ shpss_", _HEX, 32),
    Shape("Vault token", "hvs. hvb.", _WORD, 20),
    Shape("Linear key", "lin_api_", _ALNUM, 32),
    Shape("Notion token", "ntn_", _ALNUM, 40),
    Shape("Tailscale key", "tskey-", _WORD, 20),
    Shape("age key", "AGE-SECRET-KEY-1", rb"[A-Z0-9]", 50),
    Shape("Databricks token", "dapi", _HEX, 32, _ALONE),
    Shape("Telegram token", ":AA", _WORD, 32, rb"[0-9]{8,10}"),
)
"""Tokens that their first characters give away."""

_STARTS = tuple(start for shape in SHAPES for start in shape.starts.split())
_TABLE = bytes(
    97 if chr(n).isascii() and (chr(n).isalnum() or n in b"_-") else 32 for n in range(256)
)
_RUN = b"a" * 12  # every token has so many characters of a word in a row, even one that was cut
_BEFORE_RUN = 12  # the most that comes before it: the number of a Telegram token

_CONTEXTS = (b"earer ", b"EARER ", b"uthorization", b"secret_access_key", b"SECRET_ACCESS_KEY")
_WEBHOOK = b"hooks.slack.com/"
_KEY = b"PRIVATE KEY"
_KEY_LINE = (
    rb"(?:\s|\\+[nr])*(?:[A-Za-z0-9+/=]{20,}|(?:Proc-Type|DEK-Info|Version|Comment): [\w.,() -]*)"
)
_KEY_LAST_LINE = rb"(?:\s|\\+[nr])*(?=[a-z0-9/]*[A-Z+=])[A-Za-z0-9+/=]+"
_KEY_END = re.compile(r"-----END [A-Z ]*-----")
_KEY_MARK = b"[redacted: private key]"

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
_FEW = 4  # characters of a value, which give nothing away
_LONGEST_CONTEXT = 64  # characters before a secret that say that it is one
_HEAD = 12  # of a value: what is left of it at least where it was cut


class Redactor:
    """Replaces secrets by `[redacted: …]`, in text and in JSON lines.

    `environ` is where values of secrets come from: those of variables whose name says so.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._values = [
            _Value(name, variant)
            for name, value in secrets_of(environ or {}).items()
            for variant in dict.fromkeys(_variants(value))
        ]
        self._values.sort(key=lambda value: -len(value.data))

    def text(self, text: str) -> str:
        """Return text without its secrets."""
        data = text.encode("utf-8", "surrogatepass")
        redacted = self.data(data)
        return text if redacted is data else redacted.decode("utf-8", "surrogatepass")

    def data(self, data: bytes) -> bytes:
        """Return UTF-8 text, such as JSON lines, without its secrets; often the same object."""
        for value in self._values:
            if value.head in data:
                data = value.pattern.sub(value.mark, data)
        if _KEY in data:
            data = private_key().sub(_KEY_MARK, data)
        if b"://" in data and b"@" in data:
            data = _credentials().sub(rb"\1[redacted: password]@", data)
        if _WEBHOOK in data:
            data = _webhook().sub(rb"\1[redacted: webhook]", data)
        for context in _CONTEXTS:
            if context in data:
                data = _headers().sub(rb"\1[redacted: credential]", data)
                break
        return _without_tokens(data)

    def unfinished(self, text: str) -> int:
        """How many characters at the end of text may belong to a secret that goes on."""
        key = text.rfind("-----BEGIN ")
        if key >= 0 and _KEY.decode() in text[key:] and not _KEY_END.search(text, key):
            return len(text) - key
        word = "" if not text or text[-1].isspace() else text.rsplit(None, 1)[-1]
        before = text[: len(text) - len(word)][-_LONGEST_CONTEXT:]
        if word and (_before_secret().search(before) or _has_start(word)):
            return len(word)
        return max((_overlap(text, value.text) for value in self._values), default=0)


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
            if not re.fullmatch(r"\s*(?:[A-Za-z0-9+/=]*|(?:Proc-Type|DEK-Info): .*)\s*", line):
                self._in_key = False
                kept = "\n".join(lines[number:])
                return (f"{_KEY_MARK.decode()}\n" if number else ""), kept
        return (f"{_KEY_MARK.decode()}\n" if text.strip() else text), ""


class _Value:
    """The value of a secret variable, as it may be written."""

    def __init__(self, name: str, data: bytes) -> None:
        self.data = data
        self.text = data.decode("utf-8", "surrogateescape")
        self.head = data[:_HEAD] if len(data) >= _HEAD + 4 else data
        self.mark = f"[redacted: ${name}]".encode().replace(b"\\", rb"\\")

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """What matches the value, also one that was cut."""
        whole, head = re.escape(self.data), re.escape(self.head)
        cut = rb"|%b\S{0,%d}?%b" % (head, len(self.data), _CUT) if head != whole else b""
        return re.compile(whole + cut)


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


def _has_start(word: str) -> bool:
    """Whether a token or an address with a password may start in a word."""
    return bool(
        _starts().search(word.encode("utf-8", "replace"))
        or _WEBHOOK.decode() in word
        or re.search(r"://[^/@]*:[^/@]*$", word)
    )


def _overlap(text: str, value: str) -> int:
    """How much of the end of text is the start of a value, if it is more than a few characters."""
    most = min(len(text), len(value) - 1)
    return next((n for n in range(most, _FEW - 1, -1) if text.endswith(value[:n])), 0)


def _without_tokens(data: bytes) -> bytes:
    """Replace tokens. Only words that are long and start like one are searched: it is quick."""
    marks = data.translate(_TABLE)
    parts, done, at = [], 0, marks.find(_RUN)
    while at >= 0:
        start, end = max(done, at - _BEFORE_RUN), _end(marks, at)
        if _starts().search(data, start, end):
            while data[end : end + 1] == b"." and marks[end + 1 : end + 2] == b"a":
                end = _end(marks, end + 1)
            rest = data[end : end + _LENGTH_OF_CUT]
            window = data[max(done, start - 1) : end] + rest
            redacted = _tokens().sub(_named, window)
            if redacted is not window and redacted != window:
                parts += [data[done : max(done, start - 1)], redacted.removesuffix(rest)]
                done = end
        at = marks.find(_RUN, end)
    return b"".join([*parts, data[done:]]) if parts else data


def _end(marks: bytes, at: int) -> int:
    """Where the word at a position ends."""
    end = marks.find(b" ", at)
    return len(marks) if end < 0 else end


def _named(match: re.Match[bytes]) -> bytes:
    return f"[redacted: {SHAPES[(match.lastindex or 1) - 1].name}]".encode()


@cache
def _starts() -> re.Pattern[bytes]:
    """What matches the start of a token; one branch for each first letter, which makes it quick."""
    rests: dict[str, list[str]] = {}
    for start in _STARTS:
        rests.setdefault(start[0], []).append(re.escape(start[1:]))
    # A word such as `risk-free` has no key.
    alone = r"k-(?:(?<![A-Za-z0-9]sk-)|(?<=\\[nrt]sk-)|(?<=[0-9]msk-))"
    rests["s"][rests["s"].index(re.escape("k-"))] = alone
    branches = (f"{first}(?:{'|'.join(parts)})" for first, parts in rests.items())
    return re.compile("|".join(branches).encode())


@cache
def _tokens() -> re.Pattern[bytes]:
    return re.compile(b"|".join(map(_token, SHAPES)))


def _token(shape: Shape) -> bytes:
    starts = b"|".join(re.escape(start.encode()) for start in shape.starts.split())
    whole = rb"%b{%d,}%b" % (shape.body, shape.least, shape.after)
    cut = rb"%b{%d,}(?:\.[\w-]+)?%b" % (shape.body, _LEAST_OF_CUT, _CUT)
    return b"(" + shape.before + b"(?:" + starts + b")(?:" + whole + b"|" + cut + b"))"


@cache
def _before_secret() -> re.Pattern[str]:
    return re.compile(
        r"(?:bearer|authorization:|basic|aws_secret_access_key\S*)\s+\Z", re.IGNORECASE
    )


@cache
def private_key() -> re.Pattern[bytes]:
    """What matches a private key, with or without its end."""
    return re.compile(
        rb"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?:%b)*+(?:%b)?+"
        rb"(?:(?:\s|\\+[nr])*-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----)?"
        % (_KEY_LINE, _KEY_LAST_LINE)
    )


@cache
def _credentials() -> re.Pattern[bytes]:
    """What matches the password in an address; it never hides what a shell would run."""
    return re.compile(rb"(://[^\s/?#@:\"'<>\\]*:)[^\s/?#@\"'<>`$;|&()\\]+@")


@cache
def _webhook() -> re.Pattern[bytes]:
    return re.compile(rb"(hooks\.slack\.com/(?:services|workflows)/)[\w/]{16,}")


@cache
def _headers() -> re.Pattern[bytes]:
    return re.compile(
        rb"((?i:bearer[ \t]+(?=\S*[0-9])|authorization[\"']?:[ \t]*[\"']?basic[ \t]+"
        rb"|aws_secret_access_key[\"']?\s*[=:]\s*[\"']?))[\w.~+/=-]{16,}"
    )
