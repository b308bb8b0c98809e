"""What the web server costs: as a ratio to `rook attach`, and to itself, taken in one run.

Viewers are imitated: they listen to the bell and ask for what changed, as the page does.
"""

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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from timing import Row, dearer

from nightrook.process.liveness import start_ticks
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo, VerdictInfo

ROOK = Path(sys.executable).with_name("rook")
TICKS = os.sysconf("SC_CLK_TCK")
LINES_PER_S = 200


def cpu(pid: int) -> float:
    """The CPU time of a process so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def message(number: int) -> bytes:
    """A line that an agent writes: a text, a call or its result, in turn."""
    id, kind = f"toolu_{number // 3}", number % 3
    if kind == 0:
        block: dict[str, Any] = {"type": "text", "text": f"Step {number}: reading the next part."}
    elif kind == 1:
        tool = {"command": f"make test-{number}"}
        block = {"type": "tool_use", "id": id, "name": "Bash", "input": tool}
    else:
        block = {"type": "tool_result", "tool_use_id": id, "content": "ok\n" * 40}
    role = "user" if kind == 2 else "assistant"
    usage = {"input_tokens": 3, "output_tokens": 9}
    body = {"id": f"msg_{number}", "role": role, "content": [block], "usage": usage}
    return json.dumps({"type": role, "message": body, "session_id": "s"}).encode() + b"\n"


INIT = {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-sonnet-4-5"}


class Recorded:
    """A run that this process writes."""

    def __init__(self, home: Path, *, is_alive: bool) -> None:
        me = os.getpid() if is_alive else None
        ticks = start_ticks(me) if me else None
        info = RunInfo(agent="claude", command=["claude"], cwd="/", prompt="Work",
                       started_at=time.time(), runner_pid=me, runner_ticks=ticks)  # fmt: skip
        self.folder: RunFolder = create_run(home, info)
        self._log = self.folder.open_log("stdout")
        self._arrivals = self.folder.open_log("arrivals")
        self._size = 0
        self.write(json.dumps(INIT).encode() + b"\n")

    def write(self, data: bytes) -> None:
        """Append as the recorder does."""
        os.write(self._log, data)
        os.write(self._arrivals, f"{time.time():.6f} o {self._size} {len(data)}\n".encode())
        self._size += len(data)

    def end(self) -> None:
        """Write the verdict."""
        verdict = VerdictInfo(status="success", sentence="done", exit_code=0, ended_at=time.time())
        self.folder.write_verdict(verdict)

    def grow(self, seconds: float) -> None:
        """Write so many lines a second."""
        begun, number = time.monotonic(), 0
        while (now := time.monotonic() - begun) < seconds:
            while number < now * LINES_PER_S:
                self.write(message(number))
                number += 1
            time.sleep(0.002)


class Server:
    """A server process."""

    def __init__(self, home: Path) -> None:
        env = {**os.environ, "ROOK_HOME": str(home), "XDG_RUNTIME_DIR": str(home.parent)}
        self._process = subprocess.Popen(
            [ROOK, "web", "--no-open"], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdout is not None
        parts = urlsplit(self._process.stdout.readline().decode().strip())
        self.port, self.pid = parts.port or 0, self._process.pid
        self.headers = {"Authorization": f"Bearer {parts.fragment.removeprefix('token=')}"}

    def close(self) -> None:
        """End it."""
        self._process.send_signal(signal.SIGINT)
        self._process.communicate()

    def connection(self) -> http.client.HTTPConnection:
        """A connection to it."""
        return http.client.HTTPConnection("127.0.0.1", self.port)

    def get(self, connection: http.client.HTTPConnection, path: str) -> Any:
        """Read something."""
        connection.request("GET", path, headers=self.headers)
        return json.loads(connection.getresponse().read())

    def read_all(self, run: str) -> int:
        """Read all items by their changes; return how many there are."""
        connection, after, total = self.connection(), 0, 0
        while True:
            page = self.get(connection, f"/api/runs/{run}/items?after={after}&limit=1000")
            after, total = page["revision"], page["total"]
            if not page["more"]:
                connection.close()
                return int(total)

    def open_page(self, run: str) -> int:
        """Ask for what the page asks for: the run, its outline, and the items in sight."""
        connection, total = self.connection(), 0
        while not self.get(connection, f"/api/runs/{run}")["complete"]:
            time.sleep(0.05)
        total = self.get(connection, f"/api/runs/{run}/outline")["total"]
        for first in (0, 200, total // 400 * 200, (total - 1) // 200 * 200):
            self.get(connection, f"/api/runs/{run}/items?first={first}&limit=200")
        connection.close()
        return int(total)


class Viewer(threading.Thread):
    """Listens to the bell and asks for what changed."""

    def __init__(self, server: Server, run: str | None) -> None:
        super().__init__(daemon=True)
        self._server, self._run_name = server, run
        self.items = 0

    def run(self) -> None:
        """Listen until the server ends, perhaps in the middle of an answer."""
        with suppress(OSError, http.client.HTTPException):
            self._listen()

    def _listen(self) -> None:
        bell, data, after = self._server.connection(), self._server.connection(), 0
        bell.request("GET", "/api/bell", headers=self._server.headers)
        response = bell.getresponse()
        while line := response.readline():
            if self._run_name is None or not line.startswith(b"data: "):
                continue
            if json.loads(line[6:]).get("revision", after) > after:
                path = f"/api/runs/{self._run_name}/items?after={after}&limit=1000"
                page = self._server.get(data, path)
                after, self.items = page["revision"], self.items + len(page["items"])


@contextmanager
def place() -> Iterator[Path]:
    """A home that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o700)
        yield Path(folder) / "home"


def opening(events: int, *, whole: bool) -> float:
    """The share of the CPU time of the first opening of a long run that the second one takes.

    As the page opens it, or reading every item.
    """
    with place() as home:
        long = Recorded(home, is_alive=False)
        long.write(b"".join(map(message, range(events))))
        long.end()
        small = Recorded(home, is_alive=False)
        small.end()
        server = Server(home)
        read = server.read_all if whole else server.open_page
        try:
            read(small.folder.name)  # what is imported at the first request
            time.sleep(2.0)
            spent = [cpu(server.pid)]
            for _ in range(2):
                read(long.folder.name)
                spent.append(cpu(server.pid))
            return (spent[2] - spent[1]) / (spent[1] - spent[0])
        finally:
            server.close()


def live(viewers: int, seconds: float) -> float:
    """The CPU time of a server with so many viewers of a run that grows, in seconds."""
    with place() as home:
        run = Recorded(home, is_alive=True)
        server = Server(home)
        try:
            every = [Viewer(server, run.folder.name) for _ in range(viewers)]
            for viewer in every:
                viewer.start()
            run.grow(2.0)
            before = cpu(server.pid)
            run.grow(seconds)
            spent = cpu(server.pid) - before
            assert all(viewer.items > seconds * LINES_PER_S / 3 for viewer in every)
            return spent
        finally:
            server.close()


def attached(seconds: float) -> float:
    """The CPU time of `rook attach` of the same run on a terminal, in seconds."""
    with place() as home:
        run = Recorded(home, is_alive=True)
        env = {**os.environ, "ROOK_HOME": str(home), "TERM": "xterm-256color"}
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [ROOK, "attach", run.folder.name], env=env, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        threading.Thread(target=_drain, args=(ours,), daemon=True).start()
        run.grow(2.0)
        before = cpu(process.pid)
        run.grow(seconds)
        spent = cpu(process.pid) - before
        process.kill()
        process.wait()
        return spent


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 1 << 16):
            pass
    except OSError:
        return


def idle(seconds: float) -> float:
    """The share of a core that a server uses while a page is open and nothing happens."""
    with place() as home:
        for _ in range(200):
            Recorded(home, is_alive=False).end()
        quiet = Recorded(home, is_alive=True)
        server = Server(home)
        try:
            Viewer(server, quiet.folder.name).start()
            time.sleep(3.0)
            before = cpu(server.pid)
            time.sleep(seconds)
            return (cpu(server.pid) - before) / seconds
        finally:
            server.close()


class Setting(Protocol):
    """What this needs to know."""

    @property
    def quick(self) -> bool:
        """Whether few events are enough."""


def web(setting: Setting) -> Iterator[Row]:
    """What the server of the page costs."""
    seconds, events = (4.0, 5_000) if setting.quick else (20.0, 50_000)
    again = "opening it first"
    yield dearer("page: open a long run again", again, opening(events, whole=False), 0.05)
    yield dearer("page: read every item again", again, opening(events, whole=True))
    share = idle(seconds)
    yield Row("page: server, idle", "a core", f"{100 * share:.2f} %", "≤ 0.50 %", share <= 0.005)
    attach, one, five = attached(seconds), live(1, seconds), live(5, seconds)
    lines = f"{LINES_PER_S} lines/s"
    yield dearer(f"page: server, {lines}, 1 viewer", "rook attach", one / attach, 3.0)
    further = (five - one) / 4 / one
    yield dearer(f"page: server, {lines}, each further viewer", "1 viewer", further, 0.15)
