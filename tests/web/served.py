"""A real server process of `rook web`, and a small client that speaks its protocol."""

import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

from tests.process.recording import PATIENCE_S
from tests.warm import ROOK

_LOOK_S = 0.01


class Answer(NamedTuple):
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        found = self.json["error"]
        assert isinstance(found, str)
        return found


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment in which nothing of the user is found."""
    runtime = home.parent / "runtime"
    runtime.mkdir(mode=0o700, exist_ok=True)
    return {
        "HOME": str(home.parent),
        "PATH": os.environ["PATH"],
        "ROOK_HOME": str(home),
        "XDG_RUNTIME_DIR": str(runtime),
        **more,
    }


class Page:
    """A client of a server."""

    def __init__(self, home: Path, url: str) -> None:
        self.home = home
        self.url = url
        parts = urlsplit(url)
        self.host = parts.netloc
        self.port = parts.port or 0
        self.token = parts.fragment.removeprefix("token=")
        self._connection: http.client.HTTPConnection | None = None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def request(
        self, method: str, path: str, headers: list[tuple[str, str]], body: bytes | None = None
    ) -> Answer:
        """Send a request with exactly these headers."""
        for attempt in (1, 2):
            connection = self._connection or http.client.HTTPConnection("127.0.0.1", self.port)
            self._connection = connection
            try:
                connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
                for name, value in headers:
                    connection.putheader(name, value)
                if body is not None:
                    connection.putheader("Content-Length", str(len(body)))
                connection.endheaders(body)
                response = connection.getresponse()
                named = {name.lower(): value for name, value in response.getheaders()}
                return Answer(response.status, named, response.read())
            except (http.client.HTTPException, OSError):
                connection.close()
                self._connection = None
                if attempt == 2:
                    raise
        raise AssertionError

    def get(self, path: str) -> Answer:
        """Read something, as a program does."""
        return self.request("GET", path, [("Host", self.host), self.bearer])

    def post(self, path: str, body: Any) -> Answer:
        """Change something, as the page does."""
        return self.request("POST", path, self.writing, json.dumps(body).encode())

    def alone(self, method: str, path: str, body: Any) -> Answer:
        """Change something by a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, json.dumps(body), dict(self.writing))
            response = connection.getresponse()
            return Answer(response.status, {}, response.read())
        finally:
            connection.close()

    @property
    def bearer(self) -> tuple[str, str]:
        return ("Authorization", f"Bearer {self.token}")

    @property
    def writing(self) -> list[tuple[str, str]]:
        """The headers with which a page changes something."""
        return [
            ("Host", self.host),
            ("Origin", f"http://{self.host}"),
            ("Sec-Fetch-Site", "same-origin"),
            ("Content-Type", "application/json"),
            self.bearer,
        ]

    def json(self, path: str) -> Any:
        """Read something that is there."""
        answer = self.get(path)
        assert answer.status == 200, (path, answer)
        return answer.json

    def until(self, path: str, fits: Any) -> Any:
        """Ask until an answer fits."""
        deadline = time.monotonic() + PATIENCE_S
        while not fits(found := self.json(path)):
            assert time.monotonic() < deadline, found
            time.sleep(_LOOK_S)
        return found

    def changes(self, run: str, after: int = 0, limit: int = 500) -> Iterator[dict[str, Any]]:
        """All items of a run that changed after a revision, page by page."""
        while True:
            page = self.json(f"/api/runs/{run}/items?after={after}&limit={limit}&snapshot=0")
            yield from page["items"]
            after = page["revision"]
            if not page["more"]:
                return

    @contextmanager
    def bell(self) -> Iterator["BellReader"]:
        """Listen to the bell while the block lasts."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        name, value = self.bearer
        connection.request("GET", "/api/bell", headers={name: value})
        response = connection.getresponse()
        try:
            yield BellReader(response)
        finally:
            connection.close()


class Served(Page):
    """A server process of a home; the block ends it."""

    def __init__(self, home: Path, *options: str, **variables: str) -> None:
        self._process = subprocess.Popen(
            [ROOK, "web", "--no-open", *options],
            env=environment(home, **variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        url = self._process.stdout.readline().strip()
        if not url:
            _, errors = self._process.communicate(timeout=PATIENCE_S)
            raise RuntimeError(errors)
        super().__init__(home, url)
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end(signal.SIGINT)

    def end(self, number: int) -> None:
        """Send a signal, and wait for the end."""
        self.close()
        if self._process.poll() is None:
            self._process.send_signal(number)
        self._process.communicate(timeout=PATIENCE_S)


_MOST_HEARTBEATS = 4  # one every 15 seconds


class BellReader:
    """Reads the events of a bell."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.response = response
        self.heartbeats = 0

    def next(self) -> tuple[str, Any]:
        """The next event: what it is, and its data."""
        fields: dict[str, str] = {}
        while (line := self.response.readline().decode().rstrip("\n")) or not fields:
            name, _, value = line.partition(":")
            if name:
                fields[name] = value.removeprefix(" ")
            elif line:
                self.heartbeats += 1
                assert self.heartbeats < _MOST_HEARTBEATS, "what was waited for did not come"
        return fields["event"], json.loads(fields["data"])

    def until(self, fits: Any) -> tuple[str, Any]:
        """The next event that fits."""
        while not fits(*(event := self.next())):
            pass
        return event

    def until_all(self, *fits: Any) -> None:
        """Read on until each of these was fitted by an event, in any order."""
        missing = list(fits)
        while missing:
            event = self.next()
            missing = [one for one in missing if not one(*event)]
