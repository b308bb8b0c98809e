"""A user at a desk: a home, a project, programs on PATH, and `rook` to call."""

import os
import shutil
import subprocess
from pathlib import Path

from tests.terminals import Terminal
from tests.warm import ROOK, rook

from nightrook.testing import install_agent

_TOOLS = (
    "bash",
    "cat",
    "env",
    "grep",
    "ls",
    "mkdir",
    "rmdir",
    "seq",
    "sh",
    "sleep",
    "touch",
    "true",
    "wc",
)


class Desk:
    """A home of its own, with a project in it and the scripted agent on PATH."""

    def __init__(self, folder: Path) -> None:
        self.home = folder
        self.project = folder / "project"
        self.programs = folder / "bin"
        self.user_file = folder / ".config" / "nightrook" / "rook.toml"
        self.project_file = self.project / "rook.toml"
        for path in (self.project, self.programs, self.user_file.parent):
            path.mkdir(parents=True)
        tools = folder / "tools"  # not the system's folders: a real agent may be in one of them
        tools.mkdir()
        for name in _TOOLS:
            (tools / name).symlink_to(shutil.which(name) or name)
        self.path = os.pathsep.join(map(str, (self.programs, tools, ROOK.parent)))
        install_agent(self.programs, "--script-say=Done.")

    def environment(self, **variables: str) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": self.path,
            "ROOK_HOME": str(self.home / "runs-home"),
            "COLUMNS": "80",
            **variables,
        }

    def rook(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return rook(*words, env=self.environment(**variables), cwd=self.project)

    def trust(self) -> None:
        """Trust the project's file as it is now."""
        done = self.rook("trust", "--yes")
        assert done.returncode == 0, done.stderr

    def shell(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a script of bash, with `rook` on PATH."""
        return subprocess.run(
            ["bash", "--norc", "-c", script],
            cwd=self.project,
            env=self.environment(**variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def program(self, name: str, script: str) -> Path:
        """Put a shell script on PATH."""
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def on_terminal(self, *words: str, **variables: str) -> tuple[int, str]:
        """Call `rook` on a terminal of its own; give its exit code and what was shown."""
        with Terminal([ROOK, *words], self.environment(**variables), cwd=self.project) as terminal:
            code = terminal.finish()
        return code, terminal.raw.decode().replace("\r", "")
