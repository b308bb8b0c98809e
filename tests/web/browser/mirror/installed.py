"""Installs the mirror in a home, and runs it there: as it was, live, or asking."""

import shutil
import sys
from pathlib import Path

from tests.warm import ROOK
from tests.web.browser.harness import Home

_MODULE = Path(__file__).parent / "nightrook_mirror.py"
_PROGRAM = """
import os, sys, time
rate, start = float(os.environ.get("MIRROR_RATE", "1e9")), time.monotonic()
with open(os.environ["MIRROR"], "rb") as file:
    for number, line in enumerate(file):
        time.sleep(max(0.0, start + number / rate - time.monotonic()))
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
if "MIRROR_RATE" not in os.environ:
    sys.stdin.read()  # until its questions are answered
"""


def install(home: Home) -> None:
    """Make the agent known to every `rook` of a home."""
    packages = home.folder / "packages"
    info = packages / "mirror-1.dist-info"
    info.mkdir(parents=True)
    shutil.copy(_MODULE, packages)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mirror\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[nightrook.agents]\nmirror = nightrook_mirror:AGENT\n")
    script = packages / "program.py"
    script.write_text(_PROGRAM)
    program = home.programs / "mirror"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {script} "$@"\n')
    program.chmod(0o755)
    home.environment["PYTHONPATH"] = str(packages)


def ask(home: Home, lines: list[bytes], prompt: str) -> str:
    """Run it in the background with these questions, and return the name of its run."""
    path = _written(home, "asks", lines)
    words = ("run", "--detach", "--agent", "mirror", "--permission", "ask", prompt)
    return home.rook(*words, MIRROR=str(path)).split()[0]


def live(home: Home, lines: list[bytes], rate: float) -> str:
    """Start it, so that it writes so many of these lines a second; return the name of its run."""
    known = set(home.names())
    path = _written(home, "live", lines)
    command = (str(ROOK), "exec", "-q", "--", str(home.programs / "mirror"))
    home.start(*command, MIRROR=str(path), MIRROR_RATE=str(rate))
    while not (found := set(home.names()) - known):
        pass
    return found.pop()


def _written(home: Home, name: str, lines: list[bytes]) -> Path:
    path = home.folder / f"{name}.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path
