"""The page of a run that `rook run --web` opens, by a server in the background."""

import subprocess
import sys
import threading
import time
from importlib.util import find_spec

import click

from nightrook.cli.terminal.output import guarded, say
from nightrook.model.errors import NightrookError
from nightrook.runs.run import Run

_NEEDED = ("starlette", "uvicorn")
_INSTALL = "the web page needs two more packages: pip install 'nightrook[web]'"
_PATIENCE_S = 60.0
_LOOK_S = 0.05


def check_installed() -> None:
    """Refuse to go on without the packages of the extra `web`."""
    if any(find_spec(name) is None for name in _NEEDED):
        raise NightrookError(_INSTALL)


def show_on_page(run: Run, *, detached: bool) -> None:
    """Open the page of a run as soon as it has a name; of a detached one, the list of runs.

    The server is a process that is not below this one, whose runs it may answer for only then.
    """
    check_installed()
    started = subprocess.run(
        [sys.executable, "-m", "nightrook", "web", "--detach", "--no-open"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    url = started.stdout.strip()
    if not url:
        say(f"WARNING: there is no page: {started.stderr.strip().removeprefix('[rook] ')}")
        return
    sys.stderr.flush()
    errors = guarded(sys.stderr).exact  # its token is a secret that the reader of this line needs
    errors.write(f"[rook] page: {url}\n".encode())
    errors.flush()
    if detached:
        click.launch(url)
    else:
        threading.Thread(target=_open_later, args=(run, url), daemon=True).start()


def _open_later(run: Run, url: str) -> None:
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        try:
            click.launch(f"{url}&to=/runs/{run.name}")
            return
        except RuntimeError:  # it has no name yet
            time.sleep(_LOOK_S)
