"""A place where `rook` runs a real agent: a project, a home, and nothing of this machine's."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nightrook.testing import Script, ScriptedApi

ROOK = Path(sys.executable).with_name("rook")
PATIENCE_S = 240


class Outcome(NamedTuple):
    """How a call of rook ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """What it told of the agent, without the agent's name."""
        told = (line.partition("] ") for line in self.out.split("\n"))
        return [words for name, _, words in told if name.startswith("[") and name != "[rook"]

    @property
    def told(self) -> dict[str, Any]:
        """The one JSON object that `--json` gives."""
        found: dict[str, Any] = json.loads(self.out)
        return found


class Bench:
    """A folder to work in, a home, and an environment with nothing but what the agent needs.

    `prepare` is told the home and the address of the scripted model, sets the agent up there, and
    gives the variables that it needs. `command` is what is called for rook.
    """

    def __init__(
        self,
        folder: Path,
        program: str,
        api: Callable[[Script], ScriptedApi],
        prepare: Callable[[Path, str], Mapping[str, str]],
        *,
        command: Sequence[str | Path] = (ROOK,),
    ) -> None:
        self.project = folder / "project"
        self.home = folder / "home"
        self.project.mkdir()
        self.home.mkdir()
        self.asked: list[dict[str, Any]] = []
        """What the model was asked in the last call of rook."""
        self._path = os.pathsep.join([str(Path(program).parent), os.environ["PATH"]])
        self._api = api
        self._prepare = prepare
        self._command = command

    def rook(self, script: Script, *words: str) -> Outcome:
        """Call rook while the script is served, and wait for its end."""
        with self._api(script) as api, self._start(api.url, words) as process:
            out, err = process.communicate(timeout=PATIENCE_S)
            self.asked = api.requests
        return Outcome(process.returncode, out, err)

    def interrupt(self, script: Script, *words: str, at: str | Path) -> Outcome:
        """Call rook, and press Ctrl-C when it tells a line that begins so, or a file has come."""
        with self._api(script) as api, self._start(api.url, words) as process:
            assert process.stdout is not None
            seen = []
            if isinstance(at, Path):
                wait_for(at)
            else:
                for line in process.stdout:
                    seen.append(line)
                    if line.partition("] ")[2].startswith(at):
                        break
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE_S)
        return Outcome(process.returncode, "".join(seen) + out, err)

    def last_run(self) -> str:
        """The name of the run that was begun last."""
        name: str = self.last_row()["name"]
        return name

    def last_row(self) -> dict[str, Any]:
        """What the list of runs tells of the one that was begun last."""
        row: dict[str, Any] = json.loads(self.rook([], "runs", "--json").out.split("\n")[0])
        return row

    def environment(self, url: str) -> Mapping[str, str]:
        """Set the agent up for a model at that address; give all variables that there are."""
        return {
            "PATH": self._path,
            "HOME": str(self.home),
            "ROOK_HOME": str(self.home / "nightrook"),
            **self._prepare(self.home, url),
        }

    def _start(self, url: str, words: tuple[str, ...]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._command, *words],
            cwd=self.project,
            env=self.environment(url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def wait_for(path: Path) -> str:
    """Wait until a file has something to say."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text().strip()):
            return text
        time.sleep(0.05)
    raise TimeoutError(f"{path.name} never came")
