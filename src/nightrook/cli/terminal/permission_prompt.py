"""Asks the user at the terminal for permission: a key decides, and no answer means no."""

import asyncio
import os
import termios
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol

import msgspec

from nightrook.cli.terminal.keys import QUIET_S, Keys, View, terminal_look, terminal_size, write
from nightrook.cli.terminal.shared_screen import SharedScreen
from nightrook.display.decisions import chosen, closed_elsewhere, outcome
from nightrook.display.prompt import Page, Prompt, Size
from nightrook.model.questions import Ask, ClosedQuestion, Decision, Question


class Settlement(Protocol):
    """Settles a request, which another process may settle at the same time."""

    def closing(self, seq: int | None) -> ClosedQuestion | None:
        """The end of a request, by the number of its record; None if it is open."""

    async def settle(self, seq: int | None, decision: Decision) -> ClosedQuestion | None:
        """Decide on a request; None if that counts, else how it was closed before."""


class _Alone:
    """Settles a request that only this terminal can settle."""

    def closing(self, _: int | None) -> ClosedQuestion | None:
        return None

    async def settle(self, _: int | None, __: Decision) -> ClosedQuestion | None:
        return None


class TerminalAsker:
    """Lets the user at a terminal decide on an agent's requests, one at a time.

    Secrets in a request are shown: a mark in their place could hide what would run.
    If somebody else was quicker, as `settlement` knows, it says so.
    """

    def __init__(
        self,
        path: str,
        agent: str,
        shared_screen: SharedScreen,
        *,
        cwd: str,
        limit_s: float | None,
        settlement: Settlement | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._path = path
        self._agent = agent
        self._shared_screen = shared_screen
        self._cwd = cwd
        self._limit_s = limit_s
        self._settlement = settlement or _Alone()
        self._sleep = sleep
        self._home = os.path.expanduser("~")
        self._one = asyncio.Lock()

    async def __call__(self, ask: Ask) -> Decision:
        """Ask, and return the decision; if it is no longer needed, show the reason."""
        prompt = Prompt(
            self._agent,
            ask,  # guards: request-shown-whole
            cwd=self._cwd,
            home=self._home,
            limit_s=self._limit_s,
            paint=terminal_look(self._path).paint(),
        )
        async with self._one, self._shared_screen.paused(ask.seq):
            try:
                decision = await self._within_limit(ask, prompt)
                closed = await self._settlement.settle(ask.seq, decision)
            except asyncio.CancelledError:
                closed = self._settlement.closing(ask.seq)
                await self._say(prompt, closed_elsewhere(ask.about, closed))
                raise
            if closed is None:
                await self._say(prompt, outcome(ask.about, decision))
            else:
                await self._say(prompt, closed_elsewhere(ask.about, closed))
        return decision

    async def _say(self, prompt: Prompt, words: str) -> None:
        rows = prompt.rows(terminal_size(self._path))
        await write(self._path, f"{rows.line(words)}\n")

    async def _within_limit(self, ask: Ask, prompt: Prompt) -> Decision:
        try:
            async with asyncio.timeout(self._longest_wait()) as timer:
                keys = Keys(self._path, heard=partial(self._wind, timer), sleep=self._sleep)
                asked = self._answers if ask.about == "questions" else self._permission
                decision = await asked(keys, prompt, ask)
                return msgspec.structs.replace(decision, through="terminal")
        except TimeoutError:
            return Decision(allow=False, by="timeout")
        except (OSError, termios.error):  # the terminal is gone
            return Decision(allow=False, by="nobody")

    def _longest_wait(self) -> float | None:
        """The time limit, which starts when keys count."""
        return None if self._limit_s is None else self._limit_s + QUIET_S

    def _wind(self, timer: asyncio.Timeout) -> None:
        """Restart the time limit, because the user pressed a key."""
        if self._limit_s is not None and not timer.expired():
            timer.reschedule(asyncio.get_running_loop().time() + self._limit_s)

    async def _permission(self, keys: Keys, prompt: Prompt, ask: Ask) -> Decision:
        screen = _Screen(self._path, prompt.pages)
        async with keys.showing(screen.view):
            while True:
                match await screen.key(keys):
                    case "y" if screen.page.decides:  # guards: last-page-allows
                        return Decision(allow=True, by="person")
                    case "a" if screen.page.decides and ask.always:  # guards: last-page-always
                        return Decision(allow=True, always=True, by="person")
                    case "n":
                        return Decision(allow=False, by="person")
                    case "e":
                        why = await keys.line(prompt.rows(screen.size).line("why not: "))
                        if why is not None:
                            return Decision(allow=False, reason=why.strip() or None, by="person")
                        await keys.show()
                    case "v" if screen.turn():
                        await keys.show()

    async def _answers(self, keys: Keys, prompt: Prompt, ask: Ask) -> Decision:
        answers: dict[str, str] = {}
        for question in ask.questions:
            screen = _Screen(self._path, partial(prompt.question_pages, question))
            async with keys.showing(screen.view):
                answer = await _answer(keys, prompt, question, screen)
            if answer:
                answers[question.text] = answer
        if not answers:
            return Decision(allow=False, reason="there is no answer to this", by="person")
        return Decision(allow=True, answers=answers, by="person")


class _Screen:
    """The page that is on the screen; with another size of the screen it is the first again."""

    def __init__(self, path: str, pages: Callable[[Size], Sequence[Page]]) -> None:
        self._path = path
        self._divided = pages
        self.size = terminal_size(path)
        self._pages = pages(self.size)
        self._at = 0

    @property
    def page(self) -> Page:
        return self._pages[self._at]

    def view(self) -> View:
        """The page as text, in the size that the screen has now."""
        self._has_moved()
        lines, keys, _ = self.page
        return View("".join(f"{line}\n" for line in lines), "".join(f"{key}\n" for key in keys))

    def turn(self) -> bool:
        """Turn to the next page, or from the last to the first; False if there is only one."""
        self._at = (self._at + 1) % len(self._pages)
        return len(self._pages) > 1

    async def key(self, keys: Keys) -> str:
        """Wait for a key; one that was pressed on a screen of another size does not count."""
        while True:
            key = (await keys.key()).lower()
            if not self._has_moved():  # guards: screen-unmoved
                return key
            await keys.show()

    def _has_moved(self) -> bool:
        """Divide into pages again if the screen has another size, and return whether it has."""
        size = terminal_size(self._path)
        if size == self.size:
            return False
        self.size, self._pages, self._at = size, self._divided(size), 0
        return True


async def _answer(keys: Keys, prompt: Prompt, question: Question, screen: _Screen) -> str:
    """Read the answer to a question when the last of its pages is on the screen."""
    while not screen.page.decides:
        match await screen.key(keys):
            case "n":
                return ""
            case "v" if screen.turn():
                await keys.show()
    rows = prompt.rows(screen.size)
    while (answer := chosen(question, await keys.line(rows.line("> ")) or "")) is None:
        await keys.say(f"{rows.line(f'choose from 1 to {len(question.options)}')}\n")
    return answer
