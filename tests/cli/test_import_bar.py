"""The bar of an import: only on a terminal, only after a while, and gone afterwards."""

import io

import pytest

from nightrook.cli.import_bar import ImportBar, bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def played(out: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    times = iter((0.0, 0.9, 1.1, 1.11, 1.3))
    monkeypatch.setattr("nightrook.cli.import_bar.time.monotonic", lambda: next(times))
    with ImportBar(out, {"TERM": "xterm"}) as shown:
        for done in (1, 2, 3, 4):
            shown(done * 1_000_000, 4_000_000)
    return out.getvalue()


def test_a_terminal_shows_it_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = played(Terminal(), monkeypatch).split("\r\x1b[K")
    assert [line.rpartition(" ")[0].split("█ ")[-1].split("░ ")[-1] for line in drawn] == [
        "",
        "50 % of 4.0",
        "100 % of 4.0",
        "",
    ]


def test_a_pipe_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert played(io.StringIO(), monkeypatch) == ""


@pytest.mark.parametrize("width", [1, 20, 40, 200])
def test_it_is_narrower_than_the_screen(width: int) -> None:
    assert len(bar(50, 100, width)) < width
    assert len(bar(0, 0, width)) < width
