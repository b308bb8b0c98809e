"""Reads single keys from the terminal, and restores its modes after each question.

A key counts if it was meant for what is on the screen: nothing was typed for `QUIET_S` before it,
nothing follows it at once, and the terminal does not mark it as pasted.
"""

import asyncio
import codecs
import os
import re
import signal
import sys
import termios
import tty
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from nightrook.display.console import Look, look_of
from nightrook.display.prompt import Size
from nightrook.model.safe import safe_line

QUIET_S = 0.5
"""Keys count when nothing was typed for so long: earlier ones were meant for something else."""

_BURST_S = 0.05  # a person's next key comes later
_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
_PASTE_START, _PASTE_END = "\x1b[200~", "\x1b[201~"
_FRONT_S = 0.2  # between two looks whether we are in the foreground
_USUAL_SIZE = Size(80, 24)
_LONGEST = 4000
_ENTER, _ESCAPE, _END, _ALL = ("\r", "\n"), "\x1b", "\x04", "\x15"
_BACK = ("\x7f", "\x08")
_SEQUENCE = re.compile(r"\x1b(?:[\[O][0-9;?]*[@-~]|.)")  # an arrow, or the like
_LINE_BREAKS = re.compile(r"[\r\n]+")


def terminal_path() -> str | None:
    """The terminal at which a user can be asked; None if there is none."""
    # macOS cannot report that a key was pressed on /dev/tty, only on the terminal itself.
    streams = [sys.stdin] if sys.platform == "linux" else [sys.stdin, sys.stderr, sys.stdout]
    try:
        terminals = (os.ttyname(one.fileno()) for one in streams if one and one.isatty())
        path = next(terminals, "/dev/tty")
        os.close(os.open(path, os.O_RDWR | os.O_NOCTTY))
    except (OSError, ValueError):
        return None
    return path


def terminal_look(path: str) -> Look:
    """The capabilities of the terminal of that path."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_NOCTTY), "w") as terminal:
            return look_of(terminal, os.environ)
    except OSError:  # it is gone
        return Look()


def terminal_size(path: str) -> Size:
    """The size of the terminal of that path; the usual one if it is not known."""
    try:
        terminal = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            columns, rows = os.get_terminal_size(terminal)
        finally:
            os.close(terminal)
    except OSError:  # it is gone
        return _USUAL_SIZE
    return Size(columns, rows) if columns and rows else _USUAL_SIZE


class View(NamedTuple):
    """A question on the screen: text, and below it the keys, which appear when they work."""

    text: str
    keys: str = ""


class _Typed(NamedTuple):
    """What a read from the terminal returned."""

    text: str
    is_pasted: bool


class Keys:
    """Reads keys from a terminal and writes to it; `heard` is called for each key.

    Ctrl-C and the like are still signals. Ctrl-Z restores the terminal first; when rook is
    continued in the foreground, the view is shown again and reading continues. It is also shown
    again when the terminal gets another size.
    """

    def __init__(
        self,
        path: str,
        *,
        heard: Callable[[], None],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._path = path
        self._heard = heard
        self._sleep = sleep
        self._chunks: asyncio.Queue[_Typed | None] = asyncio.Queue()
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._before: list[Any] | None = None
        self._fd = -1
        self._view: Callable[[], View] = lambda: View("")
        self._in_line = False
        self._is_quiet = False
        self._marks_pastes = False  # the terminal was told to
        self._in_paste = False
        self._tail = ""  # the last characters, which may begin the mark of a paste

    @asynccontextmanager
    async def showing(self, view: Callable[[], View]) -> AsyncIterator[None]:
        """Show a view and read keys while the block lasts; earlier input is discarded.

        The first key that counts comes after it was there for `QUIET_S` without any key.
        """
        self._view = view
        self._chunks = asyncio.Queue()
        self._fd = os.open(self._path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        for number in (signal.SIGCONT, signal.SIGWINCH):
            loop.add_signal_handler(number, self._chunks.put_nowait, None)
        try:
            await self._grab()
            yield
        finally:
            for number in (signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH):
                loop.remove_signal_handler(number)
            self._give_back()
            os.close(self._fd)
            if self._marks_pastes:  # the terminal was stalled
                await self.say(_PASTE_OFF)
            if self._in_line:
                await self._end_line()

    async def key(self) -> str:
        """Wait for a single key after a quiet time; a burst of them or a paste is ignored."""
        while True:
            if not self._is_quiet:
                await self._quiet()  # guards: quiet-again
            typed = await self._chunk()
            if typed is None:
                continue
            self._is_quiet = False
            await self._sleep(_BURST_S)
            is_burst = self._drop_typed() or len(typed.text) > 1
            if not is_burst and not typed.is_pasted:  # guards: burst-ignored
                return typed.text

    async def line(self, prompt: str) -> str | None:
        """Read a line; None if the user left it with Esc or Ctrl-D."""
        text = ""
        self._in_line = True
        await self.say(prompt)
        while True:
            chunk = await self._chunk()
            self._is_quiet = False
            if chunk is None:
                await self.say(prompt + text)
            elif chunk.text == _ESCAPE or (chunk.text == _END and not text):
                await self._end_line()
                return None
            else:
                keys = _SEQUENCE.sub("", chunk.text)
                if chunk.is_pasted:
                    keys = _LINE_BREAKS.sub(" ", keys.strip("\r\n"))  # guards: pasted-enter
                typed, ended = _before_enter(keys)
                new = _edited(text, typed)
                await self.say(_redrawn(text, new))
                text = new
                if ended:
                    await self._end_line()
                    return text

    async def say(self, words: str) -> None:
        """Write to the terminal."""
        await write(self._path, words)

    async def show(self) -> None:
        """Show the view, as it is now, and its keys when nothing was typed for a while."""
        text, keys = self._view()
        await self.say(text)
        await self._quiet()  # guards: quiet-first
        if self._is_ours():  # else it is shown again
            await self.say(keys)

    async def _quiet(self) -> None:
        """Wait until nothing is typed for `QUIET_S`; what is typed meanwhile is discarded."""
        while True:
            await self._sleep(QUIET_S)
            if not self._drop_typed():  # guards: early-keys-dropped
                break
        self._is_quiet = True

    def _drop_typed(self) -> bool:
        """Discard what was typed and not returned yet; return whether there was anything."""
        if self._is_ours():
            self._read()
        waiting = [self._chunks.get_nowait() for _ in range(self._chunks.qsize())]
        typed = [chunk for chunk in waiting if chunk is not None]
        for _ in typed:
            self._heard()
        if len(typed) < len(waiting):
            self._chunks.put_nowait(None)
        return bool(typed)

    async def _end_line(self) -> None:
        self._in_line = False
        await self.say("\n")

    async def _chunk(self) -> _Typed | None:
        """What was typed, or None after the view had to be shown again."""
        chunk = await self._chunks.get()
        if chunk is None:
            await self._grab()
        self._heard()
        return chunk

    async def _grab(self) -> None:
        """Wait until rook is in the foreground, show the view, and start reading keys.

        What was typed before the keys of the view appear is discarded.
        """
        while not self._chunks.empty():
            self._chunks.get_nowait()
        if not self._in_front():
            await self.say("".join(self._view()))
        while not self._in_front():
            await asyncio.sleep(_FRONT_S)
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._fd)
        if self._before is None:
            self._before = termios.tcgetattr(self._fd)
        tty.setcbreak(self._fd, termios.TCSANOW)
        self._mark_pastes(True)  # guards: pastes-marked
        termios.tcflush(self._fd, termios.TCIFLUSH)
        self._in_paste, self._tail = False, ""
        loop.add_reader(self._fd, self._read)
        await self.show()

    def _mark_pastes(self, on: bool) -> None:
        """Have the terminal mark what is pasted, or no longer; one that is stalled is left."""
        if on and os.environ.get("TERM", "dumb") == "dumb":
            return
        with suppress(OSError):
            os.write(self._fd, (_PASTE_ON if on else _PASTE_OFF).encode())
            self._marks_pastes = on

    def _give_back(self) -> None:
        asyncio.get_running_loop().remove_reader(self._fd)
        if self._before is not None and self._in_front():
            if self._marks_pastes:
                self._mark_pastes(False)  # guards: pastes-unmarked
            with suppress(termios.error):  # the terminal may be gone
                termios.tcflush(self._fd, termios.TCIFLUSH)
                termios.tcsetattr(self._fd, termios.TCSANOW, self._before)
        self._before = None

    def _suspend(self) -> None:
        self._give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._heard()  # rook was stopped: the time limit starts again

    def _is_ours(self) -> bool:
        """True while keys are read: the mode of the terminal was set, and it is ours."""
        return self._before is not None and self._in_front()

    def _in_front(self) -> bool:
        """True while the terminal is ours: touching it from the background would stop us."""
        try:
            return os.tcgetpgrp(self._fd) == os.getpgrp()
        except OSError:
            return True  # not our controlling terminal: touching it does not stop us

    def _read(self) -> None:
        try:
            data = os.read(self._fd, 4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:  # hung up: no more keys will come
            asyncio.get_running_loop().remove_reader(self._fd)
        elif text := self._text.decode(data):
            self._chunks.put_nowait(_Typed(text, self._is_pasted(text)))

    def _is_pasted(self, text: str) -> bool:
        """True for text of which a part was pasted, as the marks of the terminal around it say."""
        joined = self._tail + text
        start, end = joined.rfind(_PASTE_START), joined.rfind(_PASTE_END)
        is_pasted = self._in_paste or start >= 0
        if start != end:
            self._in_paste = start > end
        self._tail = joined[1 - len(_PASTE_START) :]
        return is_pasted


async def write(path: str, words: str) -> None:
    """Write to a terminal, apart from the loop: it may be stalled, or gone."""
    await asyncio.to_thread(_write, path, words)


def _write(path: str, words: str) -> None:
    view = memoryview(words.encode())
    with suppress(OSError):
        terminal = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            while view:
                view = view[os.write(terminal, view) :]
        finally:
            os.close(terminal)


def _before_enter(chunk: str) -> tuple[str, bool]:
    """The text typed before Enter, and whether Enter was pressed."""
    ends = [chunk.index(enter) for enter in _ENTER if enter in chunk]
    return (chunk[: min(ends)], True) if ends else (chunk, False)


def _edited(text: str, typed: str) -> str:
    """A line after some keys; those that mean nothing here are left out."""
    for key in typed:
        if key in _BACK:
            text = text[:-1]
        elif key == _ALL:
            text = ""
        elif safe_line(key) == key and len(text) < _LONGEST:
            text += key
    return text


def _redrawn(old: str, new: str) -> str:
    """The sequence that changes the end of a line from one text to another."""
    pairs = enumerate(zip(old, new, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(old), len(new)))
    return "\b \b" * sum(map(_width, old[same:])) + new[same:]


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
