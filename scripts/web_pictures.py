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

from rookery.testing import install_agent
from rookery.testing.histories import month_of_work, write

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


class Picture(NamedTuple):
    """What a picture shows, and where on the page."""

    route: str
    wait: str
    """What must be in sight."""

    unfold: str = ""
    """The tool whose first call is unfolded and brought into sight."""


TAKEN = {
    "web-now": Picture("/", "a.run-row"),
    "web-run": Picture("/runs/{run}", ".k-tool .body .diff", unfold="Edit"),
    "web-question": Picture("/questions", ".question .primary:not(:disabled)"),
    "web-empty": Picture("/", ".page.empty"),
    "web-cost": Picture("/cost?by=model&since=", ".plot canvas"),
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
            "ROOKERY_HOME": str(folder / "runs"),
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
        install_agent(self._programs, "--script-speed=0.2")
        self.rook("run", "--detach", "--agent", "claude", "--permission", "agent", "Make it quick")
        install_agent(self._programs, "--script-ask-permission=rm -rf build/ && npm run build")
        self.rook("run", "--detach", "--agent", "claude", "--permission", "ask", "Build the shop")
        return name

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


def main(names: Sequence[str]) -> None:
    """Write all pictures, or those that are named."""
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
