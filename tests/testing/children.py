"""Runs the scripted agent as a real process, talks to it and reads what it wrote."""

import json
import os
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import nightrook
from nightrook.model.fold import fold
from nightrook.model.records import Record
from nightrook.model.state import RunState
from nightrook.testing import agent_command

CASES = Path(__file__).parent.parent / "agents" / "claude" / "cases"
REAL_FLAGS = """
    -p --output-format stream-json --verbose --model claude-opus-5 --permission-mode acceptEdits
    --allowedTools Bash(git:*) Edit --max-budget-usd 2 --max-turns 9 --include-partial-messages
    --input-format stream-json --permission-prompt-tool stdio --resume 0-1-2
""".split()  # noqa: SIM905

Child = subprocess.Popen[bytes]


def environment(**more: str) -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | more


def play(*flags: str, stdin: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
    """Run the agent to its end."""
    return subprocess.run(
        agent_command(*flags),
        input=stdin,
        capture_output=True,
        check=False,
        timeout=30,
        env=environment(**more),
    )


@contextmanager
def started(*flags: str, **more: str) -> Iterator[Child]:
    """Run the agent with pipes at all ends; it is killed at the end of the block."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        agent_command(*flags), stdin=pipe, stdout=pipe, stderr=pipe, env=environment(**more)
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def out(child: Child) -> IO[bytes]:
    assert child.stdout is not None
    return child.stdout


def tell(child: Child, *messages: dict[str, Any]) -> None:
    assert child.stdin is not None
    child.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    child.stdin.flush()


def read_to(child: Child, type: str) -> dict[str, Any]:
    """Read up to the first message of a type."""
    for line in out(child):
        message: dict[str, Any] = json.loads(line)
        if message["type"] == type:
            return message
    raise AssertionError(f"it ended without a {type}")


def messages(written: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.split(b"\n") if line]


def types(written: bytes) -> list[str]:
    return [message["type"] for message in messages(written)]


def decoded(written: bytes) -> list[Record]:
    decoder = nightrook.decoder("claude")
    return decoder.feed(written) + decoder.close()


def folded(written: bytes) -> RunState:
    return fold(decoded(written))


def events(written: bytes, *kinds: type) -> list[Any]:
    return [record.event for record in decoded(written) if isinstance(record.event, kinds)]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def marked(mark: str) -> set[int]:
    """All living processes whose environment holds a mark."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                found.add(int(path.parent.name))
        except OSError:
            continue
    return found


@contextmanager
def mark() -> Iterator[str]:
    """A mark for the environment; whoever carries it is killed at the end of the block."""
    mark = f"mark-{uuid.uuid4()}"
    try:
        yield mark
    finally:
        until(lambda: is_cleared(mark))


def is_cleared(mark: str) -> bool:
    found = marked(mark)
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return not found


def is_ignored(pid: int, number: int) -> bool:
    found = re.search(r"SigIgn:\s*([0-9a-f]+)", Path(f"/proc/{pid}/status").read_text())
    return found is not None and bool(int(found[1], 16) >> (number - 1) & 1)


SHORT = ["system", "assistant", "assistant", "user", "assistant", "result"]
