"""A process that tries to answer, without rook's own client: `python peer.py HOW DIR OUT`.

HOW is how it connects: `plain`; `orphan`, when its parent has ended; `passed`, by a process that
ends at once and leaves the connection to its child.
"""

import json
import os
import socket
import sys
import time
from contextlib import suppress

REQUEST = {
    "do": "decide",
    "decision": {"allow": True, "by": "person", "through": "web"},
}


def main() -> None:
    how, folder, out = sys.argv[1:]
    if how == "orphan":
        leave_parent()
    with open(f"{folder}/run.json") as file:
        path = json.load(file)["asks_at"]
    client = socket.socket(socket.AF_UNIX)
    client.connect(at(path))
    if how == "passed":
        leave_parent()
    id = os.environ.get("QUESTION") or question(path)
    with suppress(OSError):  # it has been refused already
        client.sendall(json.dumps({**REQUEST, "id": id}).encode() + b"\n")
    with open(f"{out}.new", "wb") as answer:
        answer.write(read(client))
    os.rename(f"{out}.new", out)


def leave_parent() -> None:
    """Continue as an orphan, in a session of its own."""
    parent = os.getpid()
    if os.fork():
        os._exit(0)
    os.setsid()
    while os.getppid() == parent:
        time.sleep(0.001)


def at(path: str) -> str:
    """A path to the socket that is short enough."""
    if len(path) < 104:
        return path
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    return f"/proc/self/fd/{folder}/{os.path.basename(path)}"


def question(path: str) -> str:
    """The first number that a question may have; an honest peer would ask for it."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(at(path))
        with suppress(OSError):
            client.sendall(b'{"do":"list"}\n')
        listed = json.loads(read(client))
    return str(listed["questions"][0]["id"]) if listed["is"] == "listed" else "0"


def read(client: socket.socket) -> bytes:
    data = b""
    with suppress(ConnectionResetError):
        while more := client.recv(65536):
            data += more
    return data


main()
