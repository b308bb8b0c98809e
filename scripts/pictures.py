"""Takes the pictures of the docs: real commands in a real terminal, drawn as they stand there.

`make pictures` writes all of them again, each on a dark and on a light background. The agent is the
scripted one; where a person is asked it is the real Claude Code, whose path is in
ROOK_TEST_CLAUDE, with a scripted model on loopback. The sessions that `rook cost` reports on are
made up. No key and no network is needed.
"""

import fcntl
import json
import os
import pty
import re
import select
import shlex
import struct
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matplotlib
import pyte
from PIL import Image, ImageDraw, ImageFont

import nightrook.testing
from nightrook.testing import Reply, ScriptedMessagesApi
from nightrook.testing.histories import month_of_work, write
from nightrook.testing.histories.sessions import StoredCall, StoredSession, timestamp

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
AGENT = Path(nightrook.testing.__file__).with_name("scripted_agent.py")
DEMO = AGENT.with_name("demo.jsonl")
ROOK = Path(sys.executable).with_name("rook")
FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
SIZE, PADDING = 22, 24
CLAUDE = os.environ.get("ROOK_TEST_CLAUDE", "")
QUESTION = "[n] no"
RUNNING = re.compile("(?m)^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Bash: .* [1-9]s ")
WATCHED = re.compile(r"(?s)Two tests fail.*NOW.* [3-9]s  Bash: pytest.*waiting for you")
GEMINI = "019a1c70-5f27-7d42-a8c1-0c7a5a9f3b11"
CLAUDE_SESSION = "7e1d4a52-0b1c-4d0e-9a57-0c7a5a9f3b11"
TESTS = """\
from pathlib import Path

import pytest


@pytest.mark.parametrize("part", ["lexer.py", "parser.py"])
def test_part(part):
    assert Path(part).exists()
"""
LOOP = [
    '{"say": "The tests want a lexer and a parser; neither is there yet."}',
    '{"say": "The lexer is done; the parser is next.", "write-file": "lexer.py"}',
    '{"say": "The parser is done, too.", "write-file": "parser.py"}',
]
"""What the agent does in each iteration until the tests pass."""

END_OF_HISTORY = 1785542400.0
"""The first of August 2026: with a fixed end, the made-up sessions are the same each time."""

DIM = re.compile(b"\x1b\\[2m")  # the emulator does not know it; grey is what it looks like


@dataclass(frozen=True)
class Theme:
    """The colours of a terminal, by the names that the emulator gives them."""

    name: str
    back: str
    colours: Mapping[str, str]


DARK = Theme(
    "dark",
    "#16191f",
    {
        "default": "#d7dce4",
        "black": "#3b4252",
        "red": "#f07178",
        "green": "#a5d86e",
        "brown": "#f2c55c",
        "blue": "#7aa2f7",
        "magenta": "#c792ea",
        "cyan": "#5ccfe6",
        "white": "#d7dce4",
        "brightblack": "#7a8494",
        "brightblue": "#9db9ff",
    },
)
LIGHT = Theme(
    "light",
    "#ffffff",
    {
        "default": "#24292f",
        "black": "#24292f",
        "red": "#cf222e",
        "green": "#1a7f37",
        "brown": "#9a6700",
        "blue": "#0969da",
        "magenta": "#8250df",
        "cyan": "#0b7285",
        "white": "#8c959f",
        "brightblack": "#6e7781",
        "brightblue": "#218bff",
    },
)


class Studio:
    """A home with runs in it, and a terminal to take pictures of."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._scripts, self._calls = folder / "scripts", folder / "calls"
        claude = folder / "bin" / "claude"
        claude.parent.mkdir()
        claude.write_text(
            "#!/bin/sh\n"
            f"echo >> {self._calls}\n"
            f'ROOK_SCRIPT=$(sed -n "$(wc -l < {self._calls})p" {self._scripts})\n'
            "export ROOK_SCRIPT\n"
            f'exec {sys.executable} -I -S {AGENT} "$@"\n'
        )
        claude.chmod(0o755)
        self.project = folder / "project"
        self.project.mkdir()
        (self.project / "test_parser.py").write_text(TESTS)

    def look(
        self,
        *words: str,
        scripts: Sequence[str] = (),
        columns: int = 96,
        until: Callable[[str], object] | None = None,
        answers: str = "",
        interrupt: bool = False,
        **variables: str,
    ) -> pyte.Screen:
        """Run a command until its end, or until what stands on the screen is as wanted.

        Each letter of `answers` is the key for the next question; `interrupt` ends the command when
        everything is seen. The agent plays one script after the other, and the demo when there is
        none.
        """
        self._calls.unlink(missing_ok=True)
        self._scripts.write_text("".join(f"{script}\n" for script in scripts))
        environment = {
            "PATH": f"{self._folder}/bin:{ROOK.parent}:/usr/bin:/bin",
            "HOME": str(self._folder),
            "ROOK_HOME": str(self._folder / "runs"),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "ROOK_PERMISSION": "agent",  # a scripted agent without a result would wait for more
            **variables,
        }
        pid, descriptor = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 80, columns, 0, 0))
            os.chdir(self.project)
            os.execve(ROOK, [str(ROOK), *words], environment)
        screen = pyte.Screen(columns, 80)
        stream = pyte.ByteStream(screen)
        kept: pyte.Screen | None = None
        asked = 0
        while data := _read(descriptor):
            stream.feed(DIM.sub(b"\x1b[90m", data))
            if until and kept is None and until("\n".join(screen.display)):
                kept = _copy(screen)
                if interrupt:
                    os.write(descriptor, b"\x03")
            if answers and "\n".join(screen.display).count(QUESTION) > asked:
                asked += 1
                os.write(descriptor, answers[:1].encode())
                answers = answers[1:]
        os.close(descriptor)
        os.waitpid(pid, 0)
        if until and kept is None:
            raise SystemExit(f"what is to be seen of {words} never came")
        return kept or screen


def _read(descriptor: int) -> bytes:
    select.select([descriptor], [], [])
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # the command has ended
        return b""


def _copy(screen: pyte.Screen) -> pyte.Screen:
    copy = pyte.Screen(screen.columns, screen.lines)
    for row, line in screen.buffer.items():
        for column, cell in line.items():
            copy.buffer[row][column] = cell
    return copy


def draw(screen: pyte.Screen, command: str, theme: Theme) -> Image.Image:
    """Draw what stands on a screen, below the command that was typed."""
    fonts = {
        (bold, braille): ImageFont.truetype(FONTS / _font(bold, braille), SIZE)
        for bold in (False, True)
        for braille in (False, True)
    }
    wide, high = round(fonts[False, False].getlength("x")), round(SIZE * 1.35)
    used = max((n for n, row in enumerate(screen.display) if row.strip()), default=0) + 1
    size = (2 * PADDING + wide * screen.columns, 2 * PADDING + high * (used + 1))
    picture = Image.new("RGB", size, theme.back)
    pen = ImageDraw.Draw(picture)
    pen.text((PADDING, PADDING), "$", fill=theme.colours["green"], font=fonts[True, False])
    default = theme.colours["default"]
    pen.text((PADDING + 2 * wide, PADDING), command, fill=default, font=fonts[True, False])
    for row in range(used):
        for column in range(screen.columns):
            cell = screen.buffer[row][column]
            if cell.data.strip():
                at = (PADDING + wide * column, PADDING + high * (row + 1))
                font = fonts[cell.bold, "\u2800" <= cell.data <= "\u28ff"]
                pen.text(at, cell.data, fill=theme.colours.get(cell.fg, default), font=font)
                if cell.underscore:
                    line = at[1] + round(SIZE * 1.15)
                    pen.line((at[0], line, at[0] + wide, line), theme.colours.get(cell.fg, default))
    return picture


def _font(bold: bool, braille: bool) -> str:
    if braille:  # the monospaced one lacks the letters of the spinner
        return "DejaVuSans.ttf"
    return "DejaVuSansMono-Bold.ttf" if bold else "DejaVuSansMono.ttf"


def take(studio: Studio, names: Sequence[str]) -> dict[str, tuple[str, pyte.Screen]]:
    """All pictures, or those that are named: the commands and what those show."""

    def working(text: str) -> bool:
        return "RETRY" in text and RUNNING.search(text) is not None

    asked = {
        "demo": ("demo", "--speed", "2"),
        "failed": ("run", "--no-text", "--permission", "edit", "Port the parser to msgspec"),
        "limited": ("run", "Make the whole test suite pass"),
        "loop": ("loop", "Make the tests pass", "--check", "pytest -q", "--max-cost", "2"),
        "end": ("demo", "--speed", "10"),
        "show": ("show", "--no-pager"),
        "runs": ("runs",),
        "help": ("--help",),
    }
    scripts = {
        "failed": [f"play={DEMO} no-result speed=12"],
        "limited": ["limit=4320"],
        "loop": LOOP,
    }
    pictures = {
        name: (
            f"rook {shlex.join(words)}",
            studio.look(
                *words, scripts=scripts.get(name, ()), until=working if name == "demo" else None
            ),
        )
        for name, words in asked.items()
        if not names or name in names
    }
    if not names or "cost" in names:
        pictures["cost"] = ("rook cost --by week,agent", _cost(studio))
    if not names or "search" in names:
        pictures["search"] = ("rook search retry backoff", _search(studio))
    if not names or "watch" in names:
        pictures["watch"] = ("rook watch", _watch(studio))
    if not names or "asking" in names:
        pictures["asking"] = ('rook run "Clean up"', _asking(studio))
    return pictures


def _cost(studio: Studio) -> pyte.Screen:
    """What the sessions in the home that `rook demo --history` makes cost."""
    home = studio.project.parent / "history"
    for session in month_of_work(until=END_OF_HISTORY):
        write(home, session)
    words = ("cost", "--by", "week,agent")
    return studio.look(*words, HOME=str(home), ROOK_HOME=str(home / "runs"), TZ="UTC")


SEARCHED = (
    (
        "claude",
        "5a035b45-e8d1-4713-8f00-0412774e642d",
        "/home/me/shop",
        "Uploads fail at night. Retry them with a backoff instead of giving up.",
        "Done: upload() retries five times; the backoff doubles from half a second.",
    ),
    (
        "codex",
        "019a1c70-5f27-7d42-a8c1-0c7a5a9f3b11",
        "/home/me/api",
        "Why does the worker stop after one error?",
        "It has no retry: a backoff as in shop/upload.py would fit here, too.",
    ),
    (
        "gemini",
        "7e1d4a52-0b1c-4d0e-9a57-0c7a5a9f3b11",
        "/home/me/docs",
        "Document how requests are repeated",
        "The page has a section on retry and backoff now, with both limits.",
    ),
)
"""The agent, id, folder, prompt and answer of each session that the search finds."""


def _search(studio: Studio) -> pyte.Screen:
    """Sessions of three agents in which the same words occur."""
    home = studio.project.parent / "searched"
    for number, (agent, id, project, prompt, text) in enumerate(SEARCHED):
        at = END_OF_HISTORY - number * 5 * 86_400
        call = StoredCall(
            id=f"c{number}",
            at=at,
            model="claude-opus-4-5",
            input=900,
            output=300,
            prompt=prompt,
            text=text,
        )
        write(home, StoredSession(agent=agent, id=id, project=project, calls=(call,)))
    words = ("search", "retry", "backoff")
    return studio.look(*words, HOME=str(home), ROOK_HOME=str(home / "runs"), TZ="UTC")


def _watch(studio: Studio) -> pyte.Screen:
    """A run, a session that works and one that waits, while the second goes on."""
    home = studio.project.parent
    calls = (
        StoredCall(
            id="c1",
            at=time.time() - 240,
            model="gemini-2.5-pro",
            input=61_000,
            output=1800,
            prompt="Why is the import slow?",
            text="It reads every file twice.",
        ),
    )
    write(home, StoredSession(agent="gemini", id=GEMINI, project="/home/me/shop", calls=calls))
    path = home / ".claude" / "projects" / "-home-me-api" / f"{CLAUDE_SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(_claude_line("user", "Make the tests pass"))
    look = partial(studio.look, ROOK_HOME=str(home / "watched"))
    look("run", "--detach", "Port the parser to msgspec", scripts=[f"play={DEMO} speed=2"])
    later = [
        {"type": "text", "text": "Two tests fail: the parser drops the last line."},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest -q"}},
    ]
    appending = threading.Timer(2.0, _append, (path, _claude_line("assistant", later)))
    appending.start()
    return look("watch", until=WATCHED.search, interrupt=True)


def _append(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(line)


def _claude_line(kind: str, content: object) -> str:
    message: dict[str, object] = {"role": kind, "content": content}
    if kind == "assistant":
        usage = {"input_tokens": 2100, "output_tokens": 420, "cache_read_input_tokens": 38_000}
        message |= {"id": "m1", "model": "claude-opus-4-5", "usage": usage}
    about = {"isSidechain": False, "cwd": "/home/me/api", "sessionId": CLAUDE_SESSION}
    line = {"type": kind, "timestamp": timestamp(time.time()), "version": "2.1.325", **about}
    return json.dumps({**line, "message": message}) + "\n"


def _asking(studio: Studio) -> pyte.Screen:
    """The real agent asks for a change, which is allowed, and then for a command."""
    if not CLAUDE:
        raise SystemExit("ROOK_TEST_CLAUDE does not say where the real agent is: make pictures")
    makefile = studio.project / "Makefile"
    makefile.write_text("build:\n\tpython -m build\n\nclean:\n\trm -f build/*.pyc\n")
    gone, come = "\trm -f build/*.pyc", "\trm -rf build dist"
    change = {"file_path": str(makefile), "old_string": gone, "new_string": come}
    command = {"command": "rm -rf build dist", "description": "Remove what was built before"}
    script = [
        Reply(tools=[("Read", {"file_path": str(makefile)})]),
        Reply(text="The clean target leaves most of it behind.", tools=[("Edit", change)]),
        Reply(tools=[("Bash", command)]),
        Reply(text="Done."),
    ]
    with ScriptedMessagesApi(script) as api:
        return studio.look(
            *("run", "Clean up"),
            until=lambda text: text.count(QUESTION) == 2,
            answers="yn",
            ROOK_PERMISSION="ask",
            PATH=os.pathsep.join((str(Path(CLAUDE).parent), os.environ["PATH"])),
            ANTHROPIC_BASE_URL=api.url,
            ANTHROPIC_API_KEY="made-up",
            DISABLE_TELEMETRY="1",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            IS_SANDBOX="1",
        )


def main(names: Sequence[str]) -> None:
    """Write all pictures, or those that are named."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        taken = take(Studio(Path(folder)), names)
    for name, (command, screen) in taken.items():
        for theme in (DARK, LIGHT):
            picture = draw(screen, command, theme)
            path = PICTURES / f"{name}-{theme.name}.png"
            small = picture.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            small.save(path, optimize=True)
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])
