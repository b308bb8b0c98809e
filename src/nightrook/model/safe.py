"""Makes agent text safe to show: no escape sequence or control character reaches a terminal."""

import re
from functools import cache

# C0 and C1 controls, DEL, and what reorders or hides text: bidirectional controls, line and
# paragraph separators, lone surrogates, tags. Zero-width joiners stay: emoji and Indic need them.
_UNSAFE = re.compile(  # guards: no-escape, no-reordering
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
# Each part ends at an escape character, so that the time is linear in the length of the text.
_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*+[ -/]*+[@-~]"  # CSI: colours, movements
    "|\x1b[\\]PX^_][^\x07\x1b\n]*+(?:\x07|\x1b\\\\)"  # titles, links
    "|\x1b[ -/]*+[0-OQ-WYZ\\\\`-~]"  # character sets, modes
)
_KEPT = {"\n": "\n", "\t": "\t"}


def safe(text: str) -> str:
    """Replace every control character with a visible one.

    Newlines and tabs stay; a C0 control becomes its symbol (`ESC` is `␛`), others U+FFFD.
    """
    return _UNSAFE.sub(_visible, text)


def uncoloured(text: str) -> str:
    """Remove the escape sequences for colours."""
    return _COLOUR.sub("", text)


def without_sequences(text: str) -> str:
    """Remove every whole terminal sequence, to compare the text that a person would read.

    Not for display: what a sequence hides from a terminal has to stay visible there.
    """
    return _SEQUENCE.sub("", text)


def safe_line(text: str) -> str:
    """Make text safe as `safe` does, and keep it on one line."""
    return safe(text).replace("\n", " ").replace("\t", " ")  # guards: one-line


def defused(text: str, *, headings: bool = False) -> str:
    """Break commands of CI services by a space: `::error::` becomes `: :error::`.

    `headings` is for a service that makes headings of lines that start with `---` or the like.
    """
    text = _ci_start().sub(r"\g<0> ", _ci_command().sub(r"\g<0> ", text))  # guards: no-ci-command
    return _ci_heading().sub(" ", text) if headings else text


def defused_json(text: str) -> str:
    """Break the same in JSON by an escape, which changes no value."""
    return _ci_command().sub(lambda match: match[0][:-1] + _escape(match[0][-1]), text)


def safe_json(text: str) -> str:
    """Escape in JSON what `safe` would replace; no value changes."""
    return _UNSAFE.sub(lambda match: _KEPT.get(match[0]) or _escape(match[0]), text)


@cache
def _ci_command() -> re.Pattern[str]:
    """Return a pattern for commands and folds of CI services, anywhere in a line."""
    return re.compile(
        r"#(?=#(?:vso|teamcity)?\[)"
        r"|:(?=:[A-Za-z][\w-]*(?:::|[ \t]))(?:(?<![\w:>]:)|(?<=\\[nrt]:))"
        r"|(?:section_(?:start|end)|travis_(?:fold|time))(?=:)",
        re.IGNORECASE,
    )


@cache
def _ci_start() -> re.Pattern[str]:
    """Return a pattern for the start of a line that may be a command."""
    return re.compile(r"^[^\S\n]*:(?=:)", re.MULTILINE)


@cache
def _ci_heading() -> re.Pattern[str]:
    return re.compile(r"^(?=(?:---|\+\+\+|~~~|\^\^\^)(?: |$))", re.MULTILINE)


def _escape(character: str) -> str:
    """Return a character as JSON escapes it; beyond the first plane as two halves."""
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    if character in _KEPT:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"
