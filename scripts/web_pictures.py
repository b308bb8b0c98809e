"""Takes the pictures of the web page: a real server, scripted agents, the Chromium of this machine.

`make pictures` runs it after the pictures of the terminal. The runs and the sessions that the page
shows are made up. No key and no network is needed. `python scripts/web_pictures.py run cost` takes
only those that are named.
"""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import sync_playwright

from nightrook.testing import install_agent
from nightrook.testing.histories import month_of_work, write

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
ROOK = Path(sys.executable).with_name("rook")
DESKTOP, PHONE = (1280, 800), (390, 780)
FLAGS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
ENDED = (
    ("Add a --json flag to the list command", "--script-say=Done."),
    ("Find out why CI is slow", "--script-limit=4320"),
    ("Write the migration for the billing table", "--script-say=Done."),
    ("Update the dependencies", "--script-no-result"),
    ("Explain the memory leak in the worker", "--script-say=Done."),
    ("Port the parser to msgspec", "--script-error-result"),
    ("Fix the failing tests in the shop", "--script-speed=40"),
)
"""Prompts, and what the agent does about each."""

SESSIONS = (
    ("shop", ("Why are the checkout tests flaky?", "The tests share one clock: `freeze()` leaks "
     "into the next test. I gave each test its own, and all 214 tests pass 50 times in a row.")),
    ("billing", ("Add tests for refunds across a month boundary", "I added six tests; the one for "
     "31 January showed that refunds were booked into March.")),
    ("worker", ("The tests pass here but time out in CI", "CI has two cores: the pool waits for a "
     "third worker that never starts. The tests now use as many workers as there are cores.")),
)  # fmt: skip
"""Projects, and what was said in a session there."""


SESSION_ID = "5a035b45"
SESSION = ROOT / "tests/agents/claude/transcripts/s08c_subagent_background-2.1.325"
"""A recorded session of Claude Code with a subagent."""


class Picture(NamedTuple):
    """What a picture shows, and where on the page."""

    route: str
    wait: str
    """What must be in sight."""

    unfold: str = ""
    """The tool whose first call is unfolded and brought into sight."""

    click: str = ""
    """What is clicked first."""


TAKEN = {
    "web-now": Picture("/", "a.run-row"),
    "web-run": Picture("/runs/{run}", ".k-tool .body .diff", unfold="Edit"),
    "web-question": Picture("/questions", ".question .primary:not(:disabled)"),
    "web-empty": Picture("/", ".page.empty"),
    "web-cost": Picture("/cost?by=model&since=", ".plot canvas"),
    "web-loops": Picture("/loops", ".group .step-row", click=".group summary"),
    "web-search": Picture("/search?words=tests", ".search-view:not(:has(.indexing)) .found mark"),
}


class Studio:
    """A home with runs, two of them alive, and a server of its page."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.project, self._programs = folder / "shop", folder / "bin"
        for path in (self.project, self._programs):
            path.mkdir()
        self._environment = {
            "PATH": os.pathsep.join([str(self._programs), str(ROOK.parent), "/usr/bin", "/bin"]),
            "HOME": str(folder),
            "ROOK_HOME": str(folder / "runs"),
            "XDG_RUNTIME_DIR": str(folder),
            "TZ": "UTC",
        }

    def rook(self, *words: str) -> str:
        """Call `rook`."""
        done = subprocess.run(
            [ROOK, *words], cwd=self.project, env=self._environment, capture_output=True, text=True
        )
        return done.stdout

    def names(self, *options: str) -> list[str]:
        """The names of the runs, the newest first."""
        lines = self.rook("runs", "--json", *options).splitlines()
        return [json.loads(line)["name"] for line in lines]

    def fill(self) -> str:
        """Make the runs and the sessions; returns the run to show."""
        for session in month_of_work(until=time.time()):
            write(self._folder, session)
        name = ""
        for prompt, *flags in ENDED:
            install_agent(self._programs, *flags)
            self.rook("run", "-q", "--agent", "claude", "--permission", "agent", prompt)
            name = self.names()[0]
        self._repeat()
        install_agent(self._programs, "--script-speed=0.2")
        self.rook("run", "--detach", "--agent", "claude", "--permission", "agent", "Make it quick")
        install_agent(self._programs, "--script-ask-permission=rm -rf build/ && npm run build")
        self.rook("run", "--detach", "--agent", "claude", "--permission", "ask", "Build the shop")
        return name

    def _repeat(self) -> None:
        """Make a loop and a batch, and sessions with words to look for."""
        install_agent(self._programs, "--script-say=DONE")
        check = "test $(ls | wc -l) -gt 2 || { mktemp step-XXXX; echo 1 failed; exit 1; }"
        self.rook("loop", "-q", "--until", "DONE", "--check", check, "Make the checkout tests pass")
        tasks = self._folder / "tasks.jsonl"
        prompts = ("Describe the cart module", "Describe the payment module")
        tasks.write_text("".join(json.dumps({"prompt": prompt}) + "\n" for prompt in prompts))
        self.rook("batch", str(tasks))
        for number, (project, text) in enumerate(SESSIONS):
            _write_session(self._folder, number, project, text)

    @contextmanager
    def served(self) -> Iterator[str]:
        """The address of a running `rook web`."""
        process = subprocess.Popen(
            [ROOK, "web", "--no-open"],
            cwd=self.project,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            for run in self.names("--status", "running"):
                self.rook("stop", run)
            process.send_signal(signal.SIGINT)
            process.communicate()


def _write_session(folder: Path, number: int, project: str, texts: Sequence[str]) -> None:
    """Store a session: a prompt, and what the agent answered."""
    id = f"{number + 3:08x}-5e1f-4000-8000-000000000000"
    path = folder / ".claude" / "projects" / project / f"{id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - 30_000 * (number + 1)))
    about = {"sessionId": id, "timestamp": at, "cwd": f"/home/me/{project}", "version": "2.1.325"}
    lines = []
    for turn, text in enumerate(texts):
        role = "assistant" if turn % 2 else "user"
        part = [{"type": "text", "text": text}] if turn % 2 else text
        message = {"id": f"m{turn}", "role": role, "content": part, "model": "claude-sonnet-5"}
        lines.append({**about, "type": role, "uuid": f"{id}{turn}", "message": message})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def save(name: str, data: bytes) -> None:
    """Write a picture, small."""
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    small = picture.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    path = PICTURES / f"{name}.png"
    small.save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")


def shots(address: str, run: str, names: Container[str]) -> Iterator[tuple[str, bytes]]:
    """The pictures, on a desktop and a phone, light and dark."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, picture in TAKEN.items():
            if name not in names:
                continue
            for device, (width, height) in (("", DESKTOP), ("-phone", PHONE)):
                for scheme in ("light", "dark"):
                    page = browser.new_page(
                        viewport={"width": width, "height": height},
                        device_scale_factor=2 if device else 1.5,
                        color_scheme=scheme,
                        reduced_motion="reduce",
                    )
                    _open(page, f"{address}&to={picture.route.format(run=run)}", picture)
                    yield f"{name}{device}-{scheme}", page.screenshot()
                    page.close()
        browser.close()


def _open(page: Any, address: str, picture: Picture) -> None:
    page.goto(address)
    if picture.click:
        page.click(picture.click)
    if picture.unfold:
        page.wait_for_selector(".timeline article", state="attached")
        page.evaluate(_UNFOLD, picture.unfold)
    page.wait_for_selector(picture.wait)


_UNFOLD = """async (tool) => {
    const main = document.getElementById("main");
    const frames = async (count) => {
        for (let times = 0; times < count; times += 1) await new Promise(requestAnimationFrame);
    };
    const isCall = (row) => row.querySelector("b")?.textContent === tool;
    for (let step = 0; step < 100; step += 1) {
        const row = [...document.querySelectorAll(".k-tool")].find(isCall);
        if (row) {
            row.querySelector("button").click();
            await frames(30);
            main.scrollTop += row.getBoundingClientRect().top - 300;
            return frames(30);
        }
        main.scrollTop += 200;
        await frames(3);
    }
}"""


def session_page(folder: Path) -> Iterator[tuple[str, bytes]]:
    """A stored session as `rook show --html` writes it; its subagent is unfolded."""
    home = folder / "home"
    shutil.copytree(SESSION, home)
    environment = {**os.environ, "HOME": str(home), "ROOK_HOME": str(folder / "runs")}
    page_file = folder / "session.html"
    command = [str(ROOK), "show", SESSION_ID, "--html", str(page_file)]
    subprocess.run(command, env={**environment, "TZ": "UTC"}, check=True, capture_output=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for scheme in ("dark", "light"):
            page = browser.new_page(viewport={"width": 1000, "height": 760}, color_scheme=scheme)
            page.goto(page_file.as_uri())
            page.locator("details.subagent > summary").first.click()
            yield f"session-{scheme}", page.screenshot()
        browser.close()


def main(names: Sequence[str]) -> None:
    """Write all pictures, or those that are named."""
    if not names or "session" in names:
        with tempfile.TemporaryDirectory(prefix="rook") as folder:
            for name, data in session_page(Path(folder)):
                save(name, data)
    with tempfile.TemporaryDirectory(prefix="rook") as folder:
        for place, wanted in (("full", set(TAKEN) - {"web-empty"}), ("empty", {"web-empty"})):
            wanted &= {f"web-{name}" for name in names} or set(TAKEN)
            if not wanted:
                continue
            (Path(folder) / place).mkdir()
            studio = Studio(Path(folder) / place)
            run = studio.fill() if place == "full" else ""
            with studio.served() as address:
                for name, data in shots(address, run, wanted):
                    save(name, data)


if __name__ == "__main__":
    main(sys.argv[1:])
