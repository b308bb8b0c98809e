"""Follows one line of an agent through the program and prints the modules that it passes.

`python scripts/walk.py [WAY ...]` walks these ways, or those that are named:

- terminal: a tool call of a running agent until `rook run` shows it on a terminal, with the status
  line that follows from it
- log: the same call until it is a plain line, as in a pipe or in CI
- page: the same call until a client of `rook web` has its item
- cost: a call to a model in a stored session until `rook cost` has printed its row
- search: a word of a stored session until `rook search` has printed its hit
- exec: not a walk; the modules of ours that `rook exec` imports

The command runs in a process of its own whose calls are traced: a module is passed when one of
its functions is called; importing it does not count, nor what is called for that. A live line is
followed several times, with the agent waiting in between, and only modules that each of these walks
passes count: so a timer that happens to fire is left out. A scripted agent writes the lines;
nothing needs a network.
"""

import argparse
import ast
import http.client
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
PACKAGE = "nightrook"
ROUNDS = 7
PATIENCE_S = 60.0
QUIET_S = 0.15
"""How long nothing is asked before a line is followed, so that earlier work is over."""

WAYS = ("terminal", "log", "page", "cost", "search")
MODEL = "claude-sonnet-4-5"
SESSION = "5c7197ed-0000-4000-8000-000000000000"
WORD = "quincunx"

# Writes a call, then waits for a file before it writes the next one.
_AGENT = """\
import json, os, sys, time
def put(**message):
    print(json.dumps({**message, "session_id": "walk"}), flush=True)
put(type="system", subtype="init", model="claude-sonnet-4-5", cwd=os.getcwd(), tools=["Bash"])
for number in range(int(os.environ["WALK_ROUNDS"]) + 1):
    while not os.path.exists(f"{os.environ['WALK_GO']}{number}"):
        time.sleep(0.005)
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash",
            "input": {"command": f"echo step-{number}-"}}
    usage = {"input_tokens": 3, "output_tokens": 9}
    put(type="assistant", parent_tool_use_id=None, message={"id": f"msg_{number}",
        "role": "assistant", "model": "claude-sonnet-4-5", "content": [call], "usage": usage})
while not os.path.exists(f"{os.environ['WALK_GO']}end"):
    time.sleep(0.005)
put(type="result", subtype="success", is_error=False, result="Done.", num_turns=1,
    total_cost_usd=0.01, usage={"input_tokens": 3, "output_tokens": 9})
"""


class _Thread(threading.local):
    importing = 0
    """How many modules are being imported, one by another: their classes are bodies that run."""


class Trace:
    """Notes which modules of the package have a function called, in the order of the first call.

    SIGUSR1 starts a new walk and SIGUSR2 ends it; without signals all calls are one walk.
    """

    def __init__(self, file: str, *, by_signal: bool) -> None:
        self._file = file
        self._walks: list[dict[str, int]] = [] if by_signal else [{}]
        self._now: dict[str, int] | None = None if by_signal else self._walks[0]
        if by_signal:
            signal.signal(signal.SIGUSR1, self._begin)
            signal.signal(signal.SIGUSR2, self._end)
        self._thread = _Thread()
        threading.setprofile(self._called)
        sys.setprofile(self._called)

    def write(self) -> None:
        """Write the walks, and the modules that were imported."""
        sys.setprofile(None)
        imported = [name for name in sys.modules if name.split(".")[0] == PACKAGE]
        Path(self._file).write_text(json.dumps({"walks": self._walks, "imported": imported}))

    def _begin(self, *_: object) -> None:
        self._now = {}

    def _end(self, *_: object) -> None:
        if self._now is not None:
            self._walks.append(self._now)
        self._now = None
        Path(f"{self._file}.{len(self._walks)}").touch()

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        if frame.f_code.co_name == "<module>":
            self._thread.importing += {"call": 1, "return": -1}.get(event, 0)
            return
        now = self._now
        if now is None or event != "call" or self._thread.importing:
            return
        name = frame.f_globals.get("__name__", "")
        if name.startswith(f"{PACKAGE}."):
            now[name] = now.get(name, 0) + 1


def traced(file: str, arguments: Sequence[str], *, by_signal: bool) -> None:
    """Run `rook` with arguments in this process and trace it."""
    from nightrook.cli.main import main as rook

    trace = Trace(file, by_signal=by_signal)
    sys.argv = ["rook", *arguments]
    try:
        rook()
    finally:
        trace.write()


def walk(way: str) -> dict[str, int]:
    """The modules that a line passes on its way, in order, and how often each is called."""
    with tempfile.TemporaryDirectory(prefix="rook-walk-") as place:
        walks = _WALKS[way](Path(place))
    return {
        name: count for name, count in walks[0].items() if all(name in other for other in walks)
    }


def imported_by_exec() -> list[str]:
    """The modules of ours that `rook exec` has imported at its end."""
    with tempfile.TemporaryDirectory(prefix="rook-walk-") as place:
        folder = Path(place)
        (folder / "go").mkdir()
        for name in (*range(ROUNDS + 1), "end"):
            (folder / "go" / str(name)).touch()
        agent = _install_agent(folder)
        command = [*_python("once", folder / "trace"), "exec", "--", str(agent), "-p", "Walk"]
        subprocess.run(command, env=_environment(folder), capture_output=True, check=True)
        imported: list[str] = json.loads((folder / "trace").read_text())["imported"]
        return imported


def first_line(module: str) -> str:
    """What a module says that it is: the first line of its docstring."""
    path = SOURCE.joinpath(*module.split("."))
    file = path / "__init__.py" if (path / "__init__.py").exists() else path.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    return (docstring or "").partition("\n")[0]


def table(way: str) -> str:
    """The modules of a walk as a table for the docs."""
    rows = []
    for number, name in enumerate(walk(way), 1):
        path = name.removeprefix(f"{PACKAGE}.").replace(".", "/")
        rows.append(f"| {number} | `{path}` | {first_line(name)} |")
    return "\n".join(["| | module | what it is |", "| --- | --- | --- |", *rows]) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Print the walks that are asked for."""
    if arguments[:1] == ["--traced"]:
        how, file, *rest = arguments[1:]
        traced(file, rest, by_signal=how == "live")
        return
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ways", nargs="*", metavar="WAY", help=f"{', '.join(WAYS)} or exec")
    ways = parser.parse_args(arguments).ways or [*WAYS, "exec"]
    if unknown := set(ways) - {*WAYS, "exec"}:
        parser.error(f"there is no way {', '.join(sorted(unknown))}: {', '.join(WAYS)}, exec")
    for way in ways:
        if way == "exec":
            print(f"exec: rook exec imports {len(imported_by_exec())} of our modules\n")
            continue
        passed = walk(way)
        print(f"{way}: {len(passed)} modules, {sum(passed.values())} calls")
        for number, name in enumerate(passed, 1):
            short = name.removeprefix(f"{PACKAGE}.")
            print(f"{number:>4}  {short:<40} {passed[name]:>5}  {first_line(name)}")
        print()


def _to_the_terminal(folder: Path) -> list[dict[str, int]]:
    """Follow a call from the agent to a terminal of 120 columns."""
    reader, screen = pty.openpty()
    return _to_an_output(folder, reader, screen, {"stdin": screen, "stderr": screen})


def _to_a_log(folder: Path) -> list[dict[str, int]]:
    """Follow a call from the agent to a pipe."""
    reader, pipe = os.pipe()
    nothing = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return _to_an_output(folder, reader, pipe, nothing)


def _to_an_output(
    folder: Path, reader: int, output: int, others: dict[str, int]
) -> list[dict[str, int]]:
    (folder / "go").mkdir()
    _install_agent(folder)
    words = ["run", "--permission", "agent", "Walk"]
    with _process(folder, "live", words, stdout=output, **others) as process:
        os.close(output)
        shown = b""

        def show(number: int) -> None:
            nonlocal shown
            while b"step-%d-" % number not in shown:
                shown += os.read(reader, 65536)

        _follow(folder, process, show)
        (folder / "go" / "end").touch()
        draining = threading.Thread(target=_drain, args=(reader,))
        draining.start()
        process.wait(PATIENCE_S)
        draining.join(PATIENCE_S)
    os.close(reader)
    return _walks(folder)


def _to_the_page(folder: Path) -> list[dict[str, int]]:
    """Follow a call from the log of a run to a client of the page's server."""
    (folder / "go").mkdir()
    _install_agent(folder)
    run = subprocess.Popen(
        [sys.executable, "-m", PACKAGE, "run", "--quiet", "--permission", "agent", "Walk"],
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with _process(folder, "live", ["web", "--no-open"], **streams) as server:
            assert server.stdout is not None
            client = _Client(server.stdout.readline().decode().strip())
            _follow(folder, server, client.show)
            server.send_signal(signal.SIGINT)
            server.wait(PATIENCE_S)
        return _walks(folder)
    finally:
        (folder / "go" / "end").touch()
        run.wait(PATIENCE_S)


def _stored(*words: str) -> Callable[[Path], list[dict[str, int]]]:
    """Follow a line of a stored session through a command that reads it for the first time."""

    def follow(folder: Path) -> list[dict[str, int]]:
        path = folder / ".claude" / "projects" / "-shop" / f"{SESSION}.jsonl"
        path.parent.mkdir(parents=True)
        common = {"sessionId": SESSION, "cwd": "/shop", "timestamp": "2026-01-02T03:04:05.000Z"}
        message = {
            "id": "msg_1",
            "role": "assistant",
            "model": MODEL,
            "content": [{"type": "text", "text": f"A {WORD} of trees."}],
            "usage": {"input_tokens": 3, "output_tokens": 9},
        }
        line = {"type": "assistant", "uuid": "1", "requestId": "req_1", "message": message}
        path.write_text(json.dumps({**line, **common}) + "\n")
        command = [*_python("once", folder / "trace"), *words]
        environment = _environment(folder)
        done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
        assert (WORD in done.stdout) == (WORD in words), done.stdout + done.stderr
        return _walks(folder)

    return follow


_WALKS: dict[str, Callable[[Path], list[dict[str, int]]]] = {
    "terminal": _to_the_terminal,
    "log": _to_a_log,
    "page": _to_the_page,
    "cost": _stored("cost"),
    "search": _stored("search", WORD),
}


class _Client:
    """Does what the page does: waits for the bell, then asks for what has changed."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._port = parts.port or 0
        self._headers = {"Authorization": f"Bearer {parts.fragment.removeprefix('token=')}"}
        self._bell = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
        self._bell.request("GET", "/api/bell", headers=self._headers)
        self._events = self._bell.getresponse()
        self._asking = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
        self._run = self._name()
        self._revision = 0

    def show(self, number: int) -> None:
        """Wait for the bell and ask for new items, until a call is among them."""
        items = self._new_items() if number == 0 else ""
        while f"step-{number}-" not in items:
            while not self._events.readline().startswith(b"data:"):
                pass
            items = self._new_items()

    def _name(self) -> str:
        while not (runs := json.loads(self._get("/api/runs"))["runs"]):
            time.sleep(0.02)
        return str(runs[0]["name"])

    def _new_items(self) -> str:
        found = self._get(f"/api/runs/{self._run}/items?after={self._revision}&limit=5000")
        self._revision = json.loads(found)["revision"]
        return found

    def _get(self, path: str) -> str:
        self._asking.request("GET", path, headers=self._headers)
        return self._asking.getresponse().read().decode()


def _follow(folder: Path, process: "subprocess.Popen[bytes]", show: Callable[[int], None]) -> None:
    """Let the agent write one call after another, and trace what each sets off."""
    (folder / "go" / "0").touch()
    show(0)
    for number in range(1, ROUNDS + 1):
        time.sleep(QUIET_S)
        process.send_signal(signal.SIGUSR1)
        (folder / "go" / str(number)).touch()
        show(number)
        process.send_signal(signal.SIGUSR2)
        ended = time.monotonic() + PATIENCE_S
        while not (folder / f"trace.{number}").exists():
            if time.monotonic() > ended:
                raise TimeoutError(f"the traced process did not end walk {number}")
            time.sleep(0.005)


def _install_agent(folder: Path) -> Path:
    program = folder / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable} -IS\n{_AGENT}")
    program.chmod(0o755)
    return program


def _environment(folder: Path) -> dict[str, str]:
    return {
        "HOME": str(folder),
        "PATH": f"{folder / 'bin'}:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "ROOK_HOME": str(folder / "home"),
        "XDG_RUNTIME_DIR": str(folder),
        "TERM": "xterm-256color",
        "COLUMNS": "120",
        "WALK_GO": f"{folder / 'go'}/",
        "WALK_ROUNDS": str(ROUNDS),
    }


def _python(how: str, file: Path) -> list[str]:
    return [sys.executable, str(Path(__file__)), "--traced", how, str(file)]


@contextmanager
def _process(
    folder: Path, how: str, words: Sequence[str], **streams: Any
) -> Iterator["subprocess.Popen[bytes]"]:
    """A traced `rook` that is ended in any case."""
    command = [*_python(how, folder / "trace"), *words]
    process = subprocess.Popen(command, env=_environment(folder), cwd=folder, **streams)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def _drain(terminal: int) -> None:
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass  # the other end is closed


def _walks(folder: Path) -> list[dict[str, int]]:
    walks: list[dict[str, int]] = json.loads((folder / "trace").read_text())["walks"]
    return walks


if __name__ == "__main__":
    main(sys.argv[1:])
