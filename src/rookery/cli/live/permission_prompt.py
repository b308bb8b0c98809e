"""Asks the user at the terminal for permission: a key decides, and no answer means no."""

import asyncio
import os
import shutil
import termios
from collections.abc import Iterable
from functools import partial

from rookery.cli.live.keys import Keys, terminal_look, write
from rookery.cli.live.screen_turns import Turns
from rookery.display.asking import Words, chosen, outcome
from rookery.model.questions import Ask, Decision


class TerminalAsker:
    """Lets the user at a terminal decide what an agent asks for, one request at a time."""

    def __init__(
        self, path: str, agent: str, turns: Turns, *, cwd: str, limit_s: float | None
    ) -> None:
        self._path = path
        self._agent = agent
        self._turns = turns
        self._cwd = cwd
        self._limit_s = limit_s
        self._home = os.path.expanduser("~")
        self._one = asyncio.Lock()

    async def __call__(self, ask: Ask) -> Decision:
        """Ask, and return the decision; if it is no longer needed, say so."""
        words = Words(
            self._agent,
            ask,
            cwd=self._cwd,
            home=self._home,
            limit_s=self._limit_s,
            paint=terminal_look(self._path).paint(),
        )
        async with self._one, self._turns.paused(ask.seq):
            try:
                decision = await self._within_limit(ask, words)
            except asyncio.CancelledError:
                await write(self._path, f"{words.line('no longer asked')}\n")
                raise
            await write(self._path, f"{words.line(outcome(ask.about, decision))}\n")
        return decision

    async def _within_limit(self, ask: Ask, words: Words) -> Decision:
        try:
            async with asyncio.timeout(self._limit_s) as timer:
                keys = Keys(self._path, heard=partial(self._wind, timer))
                if ask.about == "questions":
                    return await _answers(keys, words, ask)
                return await _permission(keys, words, ask)
        except TimeoutError:
            return Decision(allow=False, by="timeout")
        except (OSError, termios.error):  # the terminal is gone
            return Decision(allow=False, by="nobody")

    def _wind(self, timer: asyncio.Timeout) -> None:
        """Restart the time limit, because the user pressed a key."""
        if self._limit_s is not None and not timer.expired():
            timer.reschedule(asyncio.get_running_loop().time() + self._limit_s)


async def _permission(keys: Keys, words: Words, ask: Ask) -> Decision:
    async with keys.showing(_page([*words.lines(), words.keys(_columns())])):
        while True:
            match (await keys.key()).lower():
                case "y":
                    return Decision(allow=True, by="person")
                case "a" if ask.always:
                    return Decision(allow=True, always=True, by="person")
                case "n":
                    return Decision(allow=False, by="person")
                case "e":
                    why = await keys.line(words.line("why not: "))
                    if why is not None:
                        return Decision(allow=False, reason=why.strip() or None, by="person")
                    await keys.say(_page([words.keys(_columns())]))
                case "v" if words.is_cut:
                    await keys.say(_page([*words.lines(whole=True), words.keys(_columns())]))


async def _answers(keys: Keys, words: Words, ask: Ask) -> Decision:
    answers: dict[str, str] = {}
    for question in ask.questions:
        async with keys.showing(_page(words.question(question))):
            while (answer := chosen(question, await keys.line(words.line("> ")) or "")) is None:
                await keys.say(_page([words.line(f"choose from 1 to {len(question.options)}")]))
        if answer:
            answers[question.text] = answer
    if not answers:
        return Decision(allow=False, reason="there is no answer to this", by="person")
    return Decision(allow=True, answers=answers, by="person")


def _page(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _columns() -> int:
    return shutil.get_terminal_size().columns
