"""Text that wants to do more to a terminal than be read, and events that carry it everywhere."""

import random
from collections.abc import Iterator
from itertools import cycle

from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    FileChanged,
    LimitReported,
    ModelChanged,
    Notice,
    PermissionDenied,
    PermissionRequested,
    PlanChanged,
    PlanItem,
    Retrying,
    SessionStarted,
    Text,
    TextDelta,
    Thinking,
    ToolFinished,
    ToolKind,
    ToolStarted,
    TurnFinished,
    Unknown,
    Unreadable,
)

PAYLOADS = {
    "title": "\x1b]0;owned\x07",
    "title, ended by ST": "\x1b]2;owned\x1b\\",
    "icon name": "\x1b]1;owned\x07",
    "clipboard": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "link to elsewhere": "\x1b]8;;http://evil.example\x1b\\docs\x1b]8;;\x1b\\",
    "notification": "\x1b]9;update now\x07",
    "macro of a terminal": '\x1b]9;3;print("x")\x07',
    "notification of another": "\x1b]777;notify;a;b\x07",
    "file of a third": "\x1b]1337;File=name=eA==;inline=1:AAAA\x07",
    "palette": "\x1b]4;1;#000000\x07",
    "foreground like background": "\x1b]10;#000000\x07\x1b]11;#000000\x07",
    "clear": "\x1b[2J\x1b[H",
    "clear with history": "\x1b[3J",
    "cursor up to rewrite": "\x1b[1A\x1b[2K[rook] success",
    "cursor anywhere": "\x1b[1;1Hfake",
    "other screen": "\x1b[?1049h",
    "hidden cursor": "\x1b[?25l",
    "mouse": "\x1b[?1000h\x1b[?1006h",
    "bracketed paste off": "\x1b[?2004l",
    "answer typed for you": "\x1b[6n\x1b[c\x1b[21t",
    "answer by DCS": "\x1bP$q\nrm -rf ~\n\x1b\\",
    "graphics": "\x1b_Gf=100;AAAA\x1b\\",
    "sixel": "\x1bPq#0;2;0;0;0~\x1b\\",
    "reset": "\x1bc",
    "other letters": "\x0e\x1b(0lqqk\x0f",
    "one-byte controls": "\x9b2J\x9d0;owned\x9c\x90q\x9c",
    "rewritten by return": "[rook] failed\r[rook] success",
    "rewritten by backspace": "rm -rf /\x08\x08\x08\x08ls  ",
    "bell": "\x07" * 5,
    "hidden text": "\x1b[8mrm -rf /\x1b[0m",
    "text that runs backwards": "user\u202egpj.exe",
    "lines that are none": "a\u2028[rook] success\u2029b\x85c\x0bd\x0ce",
    "scrolling region": "\x1b[1;3r",
    "entities": "&#27;[2J &#x9b;2J &NewLine; user&#8238;gpj.exe &#x2066;",
    "lone surrogates": "\ud83d\udc00 \udfff",
    "tags": "\U000e0041\U000e0042\ufeff\ufff9",
}
_PIECES = [*PAYLOADS.values(), *map(chr, range(0x20)), "\x7f", *map(chr, range(0x80, 0xA0))]
_PIECES += ["\n", "\t", " ", "a", "[0m", "]0;", "\\", '"', "`", "**", "<!--", "&#27;", "|", "%"]
_PIECES += ["\u200d", "👩‍👩‍👧", "क्‍ष", "汉字", "e\u0301", "\u202e", "\u2066", "\ud800", "\U000e0001"]


def strings(count: int, seed: int) -> Iterator[str]:
    """So many hostile strings, the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield "".join(chance.choices(_PIECES, k=chance.randint(1, 6)))


def events(*texts: str) -> list[Event]:
    """Every event that a display tells, with these texts in turn wherever an agent's may stand."""
    say = cycle(texts).__next__
    kinds: tuple[ToolKind, ...] = ("read", "execute", "subagent", "edit", "other")
    calls = [
        ToolStarted(id=f"{n}{say()}", name=say(), kind=kind, title=say() or None, subagent=say())
        for n, kind in enumerate(kinds)
    ]
    inside = ToolStarted(id="i", name=say(), kind="list", title=f"/x/{say()}", parent=calls[2].id)
    return [
        SessionStarted(cwd="/x", model=say(), version=say()),
        TextDelta(id="t", text=say()),
        Text(id="1", text=f"x{say()}"),
        Thinking(id="2", text=f"x{say()}"),
        *calls,
        inside,
        PermissionRequested(tool_id=calls[1].id, name=say(), reason=say(), fix=say()),
        PermissionDenied(tool_id=calls[0].id, name=say(), fix=say()),
        PermissionDenied(name=say(), fix=say()[:20]),
        ToolFinished(id=calls[0].id, status="denied", error=say()),
        ToolFinished(id=calls[1].id, status="ok", output=f"x{say()}"),
        ToolFinished(id=inside.id, status="error", error=say(), parent=calls[2].id),
        ToolFinished(id=calls[3].id, status="ok", output=say()),
        FileChanged(path=f"/x/{say()}", added=1, removed=2, tool_id=calls[3].id),
        ToolFinished(id=calls[2].id, status="error", error=f"Exit\n{say()}", exit_code=1),
        ToolFinished(id=calls[4].id, status="orphaned"),
        ToolFinished(id="gone", status="cancelled", name=say()),
        PlanChanged(items=(PlanItem(text=say(), status="completed"), PlanItem(text=say()))),
        LimitReported(window=say(), status="rejected", used=0.5),
        ModelChanged(before=say(), after=say(), reason=say()),
        ContextCompacted(before_tokens=1, after_tokens=None),
        Notice(level="info", text=say()),
        Error(kind="network", message=say()),
        Unknown(name=say()),
        Unreadable(reason="not_json", preview=f"x{say()}"),
        TurnFinished(ok=False, errors=(f"x{say()}",)),
        TurnFinished(ok=False, reason=say()),
        Retrying(reason=say()),
        TurnFinished(ok=True, text=say()),
    ]
