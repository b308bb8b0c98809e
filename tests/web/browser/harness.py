"""A real browser on the page of a real server: homes, runs, tabs."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.programs import browser as chromium
from tests.runs.asking.asking_agent import install
from tests.warm import ROOK

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "src" / "nightrook" / "web" / "page"
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--enable-precise-memory-info"),
    "--js-flags=--expose-gc",
]
PATIENCE_S = 30.0
SESSION = "5c7197ed-0000-4000-8000-000000000000"


class Home:
    """A home with runs in it, and servers of its page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "home"
        self.project = folder / "project"
        self.programs = folder / "bin"
        runtime = folder / "run"
        for path in (self.project, self.programs, self.runs):
            path.mkdir(parents=True)
        runtime.mkdir(mode=0o700)
        install(self.programs)
        self.environment = {
            "HOME": str(folder),
            "PATH": os.pathsep.join([str(self.programs), str(ROOK.parent), "/usr/bin", "/bin"]),
            "ROOK_HOME": str(self.runs),
            "XDG_RUNTIME_DIR": str(runtime),
            "TZ": "UTC",
        }
        self._started: list[subprocess.Popen[str]] = []

    def rook(self, *words: str, stdin: bytes = b"", **variables: str) -> str:
        """Call `rook`, and return what it printed."""
        done = subprocess.run(
            [ROOK, *words],
            cwd=self.project,
            env={**self.environment, **variables},
            input=stdin,
            capture_output=True,
            check=False,
            timeout=300,
        )
        return done.stdout.decode()

    def record(self, *messages: dict[str, Any]) -> str:
        """Record a stream as a run, and return its name."""
        data = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
        self.rook("-q", stdin=data)
        return self.names()[0]

    def names(self) -> list[str]:
        """The names of all runs, the newest first."""
        lines = self.rook("runs", "--json").split("\n")  # and at no other character of a text
        return [json.loads(line)["name"] for line in lines if line]

    def ask(self, *steps: dict[str, Any], **options: str) -> str:
        """Start an agent in the background that asks, and return the name of its run."""
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        script = self.folder / "steps.json"
        script.write_text(json.dumps(steps))
        printed = self.rook(
            *("run", "--detach", "--agent", "claude", "--permission", "ask", *flags, "Clean up"),
            STEPS=str(script),
        )
        return printed.split()[0]

    def start(self, *command: str, **variables: str) -> subprocess.Popen[str]:
        """Start a program; it is ended with the home."""
        process = subprocess.Popen(
            command,
            cwd=self.project,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def serve(self, *options: str) -> "Server":
        """Start `rook web`."""
        process = self.start(str(ROOK), "web", "--no-open", *options)
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert "#token=" in address, f"rook web printed {address!r}"
        return Server(process, address)

    def close(self) -> None:
        """End everything that was started."""
        for name in self.names():
            if (self.runs / "runs" / name / "verdict.json").exists():
                continue
            self.rook("stop", name)
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


class Server:
    """A running `rook web`."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.base, _, self.token = address.partition("/#token=")

    def address(self, route: str = "/") -> str:
        """The address that opens a view."""
        return f"{self.base}/#token={self.token}&to={route}"

    def kill(self) -> None:
        """End it without warning."""
        self.process.kill()
        self.process.wait()


class Tab:
    """A tab of a browser, which notes everything that goes wrong in it."""

    def __init__(self, context: "BrowserContext", server: Server) -> None:
        self.page: Page = context.new_page()
        self.server = server
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("console", self._said)
        self.page.on("dialog", self._asked)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, route: str = "/") -> "Tab":
        """Open a view."""
        self.page.goto(self.server.address(route))
        return self

    def see(self, selector: str) -> None:
        """Wait until something is in sight."""
        self.page.wait_for_selector(selector, timeout=PATIENCE_S * 1000)

    def until(self, expression: str) -> None:
        """Wait until an expression of JavaScript is true; the page itself looks, frame by frame."""
        held = self.page.evaluate(
            f"""async () => {{
                const end = performance.now() + {PATIENCE_S * 1000};
                while (!({expression}) && performance.now() < end)
                    await new Promise(requestAnimationFrame);
                return Boolean({expression});
            }}"""
        )
        assert held, expression

    @property
    def elsewhere(self) -> list[str]:
        """The requests that went to other places than the server."""
        own = (self.server.base + "/", "data:")
        return [url for url in self.requests if not url.startswith(own)]

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.type}: {message.text}")

    def _asked(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@contextmanager
def launched(*flags: str) -> "Iterator[Browser]":
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS, *flags])
        try:
            yield browser
        finally:
            browser.close()


Open = Callable[..., Tab]
"""Opens a tab in a browser of its own: `open(server, route)`."""


def init(**more: Any) -> dict[str, Any]:
    """The first message of an agent."""
    return {
        "type": "system",
        "subtype": "init",
        "session_id": SESSION,
        "cwd": "/work/project",
        "model": "claude-sonnet-4-5",
        "claude_code_version": "2.1.325",
        "tools": [],
        **more,
    }


def said(number: int, text: str) -> dict[str, Any]:
    """A text of the agent."""
    return _message(number, {"type": "text", "text": text})


def call(number: int, name: str = "Bash", **input: Any) -> dict[str, Any]:
    """A tool call."""
    return _message(number, {"type": "tool_use", "id": f"t{number}", "name": name, "input": input})


def _message(number: int, part: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 3, "output_tokens": 5}
    message = {"id": f"m{number}", "role": "assistant", "content": [part], "usage": usage}
    model = {"model": "claude-sonnet-4-5"}
    return {"type": "assistant", "session_id": SESSION, "message": {**message, **model}}


def returned(number: int, output: str, *, ok: bool = True) -> dict[str, Any]:
    """What a tool call returned."""
    part = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output}
    content = [{**part, "is_error": not ok}]
    return {"type": "user", "session_id": SESSION, "message": {"role": "user", "content": content}}


def result(text: str = "Done.", **more: Any) -> dict[str, Any]:
    """The last message of an agent."""
    return {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": text,
        "session_id": SESSION,
        "total_cost_usd": 0.1,
        "num_turns": 3,
        "duration_ms": 1,
        **more,
    }


LIVE = f"""
import json, sys, time
count, rate = map(float, sys.argv[-1].split(":"))
def say(**message): print(json.dumps(message), flush=True)
say(**{init()!r})
start = time.monotonic()
for number in range(int(count)):
    time.sleep(max(0.0, start + number / rate - time.monotonic()))
    text = f"line {{number}} at {{time.time() * 1000:.1f}}"
    content = [{{"type": "text", "text": text}}]
    say(type="assistant", message={{"id": f"m{{number}}", "role": "assistant", "content": content}})
say(**{result()!r})
"""


def live(home: Home, count: int, rate: float) -> str:
    """Start an agent that writes so many texts a second, and return the name of its run."""
    folder = home.folder / "live"
    folder.mkdir(exist_ok=True)
    (folder / "live.py").write_text(LIVE)
    program = folder / "claude"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {folder}/live.py "$@"\n')
    program.chmod(0o755)
    known = set(home.names())
    flags = ("-p", "--output-format", "stream-json", "--verbose", f"{count}:{rate}")
    home.start(str(ROOK), "exec", "-q", "--", str(program), *flags)
    while not (found := set(home.names()) - known):
        pass
    return found.pop()


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of some sorted values are."""
    return values[min(len(values) - 1, int(len(values) * share))]
