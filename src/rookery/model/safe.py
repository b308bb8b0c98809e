"""Makes agent text safe to show: no escape sequence or control character reaches a terminal."""

import re

# C0 and C1 controls, DEL, and what reorders or hides text: bidirectional controls, line and
# paragraph separators, lone surrogates, tags. Zero-width joiners stay: emoji and Indic need them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_KEPT = {"\n": "\n", "\t": "\t"}


def safe(text: str) -> str:
    """Replace every control character with a visible one.

    Newlines and tabs stay; a C0 control becomes its symbol (`ESC` is `␛`), others U+FFFD.
    """
    return _UNSAFE.sub(_visible, text)


def uncoloured(text: str) -> str:
    """Remove the escape sequences for colours."""
    return _COLOUR.sub("", text)


def safe_line(text: str) -> str:
    """Make text safe as `safe` does, and keep it on one line."""
    return safe(text).replace("\n", " ").replace("\t", " ")


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    if character in _KEPT:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"
