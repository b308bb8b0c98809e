"""The keyboard, a key at a time: what counts as a key, how a line is edited, whose turn it is."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

import pytest
from tests.cli.boards import Board, BoardAsker, at_once

from nightrook.cli.terminal.keys import QUIET_S, Keys, View, terminal_path
from nightrook.cli.terminal.permission_prompt import TerminalAsker
from nightrook.cli.terminal.shared_screen import SharedScreen
from nightrook.model.questions import Ask, Decision, Question


def read(board: Board, what: Callable[[Keys], Awaitable[str | None]], *typed: str) -> str | None:
    """Read something while keys are typed, each as soon as the one before was heard."""

    async def whole() -> str | None:
        keys = Keys(board.path, heard=board.hear, sleep=at_once)
        async with keys.showing(lambda: View("page\n")):
            reading = asyncio.ensure_future(what(keys))
            for number, chunk in enumerate(typed, 1):
                board.type(chunk)
                while board.heard < number and not reading.done():
                    await asyncio.sleep(0.001)
            return await asyncio.wait_for(reading, 30)

    return asyncio.run(whole())


@pytest.fixture
def board(monkeypatch: pytest.MonkeyPatch) -> Iterator[Board]:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")  # words are looked for among the bytes that are shown
    found = Board()
    yield found
    found.close()


def reason(keys: Keys) -> Awaitable[str | None]:
    return keys.line("> ")


def test_a_key_is_one_character_and_every_one_is_heard(board: Board) -> None:
    assert read(board, Keys.key, "\x1b[A", "yes", "ä") == "ä"
    assert board.heard == 3
    assert board.shown(0.05) == "page\r\n"


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        (["hello\r"], "hello"),
        (["hel", "lo\n"], "hello"),
        (["ab\x7fc\r"], "ac"),
        (["\x7f\x7fa\r"], "a"),
        (["wrong\x15right\r"], "right"),
        (["a\x1b[D\x1bOP\x1b[1;5Cb\r"], "ab"),
        (["tab\there\x07\r"], "tabhere"),
        (["one\rtwo\r"], "one"),
        (["\r"], ""),
        (["漢\x7f字\r"], "字"),
        (["a\x04\r"], "a"),
    ],
)
def test_a_line_can_be_edited(board: Board, typed: list[str], text: str) -> None:
    assert read(board, reason, *typed) == text


@pytest.mark.parametrize("key", ["\x1b", "\x04"])
def test_a_line_can_be_left(board: Board, key: str) -> None:
    assert read(board, reason, key) is None
    assert board.shown(0.05) == "page\r\n> \r\n"


def test_what_is_erased_is_gone_from_the_screen_whatever_its_width(board: Board) -> None:
    assert read(board, reason, "a漢e\u0301", "\x7f\x7f\x7f", "\r") == "a"
    assert board.shown(0.05) == "page\r\n> a漢e\u0301" + "\b \b" * 3 + "\r\n"


def test_a_line_has_an_end(board: Board) -> None:
    pieces = ["x" * 1000] * 5
    text = read(board, reason, *pieces, "\r")
    assert text == "x" * 4000


def test_the_terminal_echoes_before_and_after_and_not_meanwhile(board: Board) -> None:
    async def look(keys: Keys) -> str | None:
        return str(board.echoes())

    assert board.echoes()
    assert read(board, look) == "False"
    assert board.echoes()


def test_what_was_typed_before_is_forgotten(board: Board) -> None:
    board.type("y")
    assert read(board, Keys.key, "n") == "n"


def test_a_terminal_that_was_hung_up_gives_no_keys(board: Board) -> None:
    async def whole() -> None:
        keys = Keys(board.path, heard=lambda: None, sleep=at_once)
        async with keys.showing(lambda: View("page\n")):
            board.hang_up()
            async with asyncio.timeout(0.2):
                await keys.key()

    with pytest.raises(TimeoutError):
        asyncio.run(whole())


def test_the_terminal_of_standard_input_is_asked_at(
    monkeypatch: pytest.MonkeyPatch, board: Board
) -> None:
    with open(board.path) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        assert terminal_path() == board.path


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_where_dev_tty_gives_no_keys_the_terminal_of_another_stream_is_asked_at(
    monkeypatch: pytest.MonkeyPatch, board: Board, platform: str
) -> None:
    with open(board.path, "w") as terminal, open(os.devnull) as nothing:
        monkeypatch.setattr("sys.platform", platform)
        monkeypatch.setattr("sys.stdin", nothing)
        monkeypatch.setattr("sys.stdout", nothing)
        monkeypatch.setattr("sys.stderr", terminal)
        path = terminal_path()
    assert path == board.path if platform == "darwin" else path in (None, "/dev/tty")


class Screen:
    """A screen of which nothing is seen but when it was paused and resumed."""

    def __init__(self) -> None:
        self.order: list[str] = []
        note = self.order.append
        self.screen = SharedScreen()
        self.screen.share(partial(note, "pause"), partial(note, "resume"))


def test_one_thing_is_asked_at_a_time(board: Board) -> None:
    screen = Screen()

    async def whole() -> list[Decision]:
        asker = TerminalAsker(
            board.path, "claude", screen.screen, cwd="/", limit_s=30, sleep=at_once
        )
        asks = [Ask(id=id, name="Bash") for id in ("1", "2")]
        deciding = [asyncio.ensure_future(asker(ask)) for ask in asks]
        text = ""
        for times, key in enumerate("yn", 1):
            while text.count("[y] once") < times:
                await asyncio.sleep(0.001)
                text += board.shown(0.05)
            board.type(key)
        return list(await asyncio.gather(*deciding))

    assert asyncio.run(whole()) == [
        Decision(allow=True, by="person", through="terminal"),
        Decision(allow=False, by="person", through="terminal"),
    ]
    assert screen.order == ["pause", "resume"] * 2


class Typist:
    """Somebody who types during the quiet times: a string for each, nothing after the last."""

    def __init__(self, board: Board, *typed: str) -> None:
        self.board = board
        self.rows: list[str] = []
        """What was on the screen at the end of each quiet time."""
        self.bursts = 0
        self._typed = iter(typed)

    async def sleep(self, seconds: float) -> None:
        """Let time pass, in which keys are pressed."""
        if seconds != QUIET_S:
            self.bursts += 1
            return
        self.board.deliver(next(self._typed, ""))
        self.board.shown()
        self.rows.append("\n".join(self.board.rows()))

    def asker(self) -> TerminalAsker:
        return TerminalAsker(
            self.board.path, "c", Screen().screen, cwd="/", limit_s=30, sleep=self.sleep
        )

    async def decide(self, *typed: str) -> Decision:
        """Type these as soon as the keys are shown, then say no."""
        deciding = asyncio.ensure_future(self.asker()(Ask(id="1", name="Bash", title="ls")))
        await self.board.until(lambda: "[y] once" in "".join(self.board.rows()))
        for keys in typed:
            self.board.deliver(keys)
            await self.read()
        self.board.type("n")
        return await deciding

    async def read(self) -> None:
        """Wait until what was typed was read, and the quiet time after it is over."""
        before = len(self.rows)
        async with asyncio.timeout(60):
            while len(self.rows) == before:
                await asyncio.sleep(0.001)


NO = Decision(allow=False, by="person", through="terminal")


def test_keys_do_not_count_until_the_page_was_there_for_half_a_second(board: Board) -> None:
    typist = Typist(board, "y")  # the second half of a double tap
    assert asyncio.run(typist.decide()) == NO
    assert QUIET_S == 0.5
    assert "│ ls" in typist.rows[0]
    assert not [rows for rows in typist.rows[:2] if "[y] once" in rows]


def test_who_types_while_a_request_appears_starts_the_quiet_time_with_every_key(
    board: Board,
) -> None:
    typist = Typist(board, *"yes, yy", "y" * 30)
    assert asyncio.run(typist.decide()) == NO
    assert len(typist.rows) == 9
    assert not [rows for rows in typist.rows if "[y] once" in rows]


def test_a_key_that_means_nothing_starts_the_quiet_time_again(board: Board) -> None:
    typist = Typist(board, "", "y")  # at once after the x
    assert asyncio.run(typist.decide("x")) == NO


@pytest.mark.parametrize("rest", ["y", "y" * 3000])
def test_the_first_key_of_a_burst_does_not_count(board: Board, rest: str) -> None:
    class Paste(Typist):
        async def sleep(self, seconds: float) -> None:
            if seconds != QUIET_S and not self.bursts:
                board.deliver(rest)  # the first key has been read alone
            await super().sleep(seconds)

    typist = Paste(board)
    assert asyncio.run(typist.decide("y")) == NO
    assert typist.bursts == 2


@pytest.mark.parametrize(
    "parts",
    [
        ["\x1b[200~" + "y" * 3000 + "\x1b[201~"],
        ["\x1b[200~", "y", "y", "\x1b[201~"],  # each after a quiet time
        ["\x1b[20", "0~", "y", "\x1b[201~"],
        ["\x1b[200~y\x1b[201~\x1b[200~", "y", "\x1b[201~"],
    ],
)
def test_a_paste_never_counts_however_slowly_it_comes(board: Board, parts: list[str]) -> None:
    assert asyncio.run(Typist(board).decide(*parts)) == NO


def test_pastes_are_marked_while_a_request_is_shown_and_not_after(board: Board) -> None:
    async def look(keys: Keys) -> str | None:
        return str(board.marks_pastes())

    assert read(board, look) == "True"
    assert not board.marks_pastes()


def test_a_pasted_line_break_does_not_send_an_answer(board: Board) -> None:
    pasted = "\x1b[200~one\rtwo\r\x1b[201~"
    assert read(board, reason, pasted, " three\r") == "one two three"


def test_a_key_that_was_pressed_on_a_screen_of_another_size_does_not_count(board: Board) -> None:
    async def whole() -> Decision:
        asker = BoardAsker(board)
        ask = Ask(id="1", name="Bash", title="\n".join(map(str, range(18))))
        deciding = asyncio.ensure_future(asker(ask))
        await board.until(lambda: "[y] once" in "".join(board.rows()))
        board.resize(80, 12)  # not all of it is on the screen any more
        await board.press("y")
        await board.until(lambda: "[v] see the rest" in "".join(board.rows()))
        assert "page 1/" in "".join(board.rows())
        await board.press("y")
        await board.press("n")
        return await deciding

    assert asyncio.run(whole()) == Decision(allow=False, by="person", through="terminal")


def test_a_question_that_is_longer_than_the_screen_is_read_to_its_end(board: Board) -> None:
    text = "\n".join(map(str, range(30)))

    async def whole() -> Decision:
        asker = BoardAsker(board)
        question = Question(text=text)
        asking = Ask(id="1", about="questions", questions=(question,))
        deciding = asyncio.ensure_future(asker(asking))
        await board.until(lambda: "[v] see the rest" in "".join(board.rows()))
        await board.press("v")
        await board.until(lambda: "type your answer" in "".join(board.rows()))
        board.type("so\r")
        return await deciding

    assert asyncio.run(whole()) == Decision(
        allow=True, answers={text: "so"}, by="person", through="terminal"
    )


def test_a_key_gives_all_the_time_again(board: Board) -> None:
    async def whole() -> tuple[Decision, float]:
        loop = asyncio.get_running_loop()
        asker = TerminalAsker(board.path, "claude", Screen().screen, cwd="/", limit_s=1.5)
        begun = loop.time()
        deciding = asyncio.ensure_future(asker(Ask(id="1", name="Bash")))
        while loop.time() < begun + 2.0:
            board.type("x")
            await asyncio.sleep(0.01)
        return await deciding, loop.time() - begun

    decision, took = asyncio.run(whole())
    assert decision == Decision(allow=False, by="timeout")
    assert took > 3.4


def test_a_terminal_that_is_gone_is_nobody() -> None:
    async def whole() -> Decision:
        asker = TerminalAsker("/dev/pts/nowhere", "claude", Screen().screen, cwd="/", limit_s=30)
        return await asker(Ask(id="1", name="Bash"))

    assert asyncio.run(whole()) == Decision(allow=False, by="nobody")


def test_a_question_waits_for_no_record_that_nobody_shows() -> None:
    async def whole() -> None:
        async with asyncio.timeout(30), SharedScreen().paused(7):
            return

    asyncio.run(whole())


def test_a_question_comes_after_its_record() -> None:
    async def whole() -> list[str]:
        screen = Screen()

        async def asked() -> None:
            async with screen.screen.paused(3):
                screen.order.append("asked")

        asking = asyncio.ensure_future(asked())
        for seq in (2, 3):
            await asyncio.sleep(0)
            screen.order.append(f"shown {seq}")
            screen.screen.shown(seq)
            await asyncio.sleep(0)
        await asking
        return screen.order

    assert asyncio.run(whole()) == ["shown 2", "shown 3", "pause", "asked", "resume"]
