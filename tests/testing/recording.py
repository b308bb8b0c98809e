"""Runs the real Claude Code against our own API and cleans what it wrote. No test: it needs it."""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from nightrook.testing import Answer, ScriptedMessagesApi

Json = dict[str, Any]
Model = Callable[[Json], Answer]

MODEL = "claude-sonnet-4-5-20250929"
SESSION = "5c7197ed-0000-4000-8000-000000000000"
FLAGS = ("-p", "--output-format", "stream-json", "--verbose", "--model", MODEL)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@contextmanager
def folders(files: Mapping[str, str]) -> Iterator[tuple[Path, Path]]:
    """A project with these files, and a home."""
    with tempfile.TemporaryDirectory() as folder:
        project, home = Path(folder, "project"), Path(folder, "home")
        home.mkdir()
        for name, text in {**files, "README.md": "A project.\n"}.items():
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        yield project, home


def record(
    claude: str,
    model: Model,
    *flags: str,
    project: Path,
    home: Path,
    drive: Callable[["subprocess.Popen[bytes]"], bytes] | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[Json]:
    """Run the program against a scripted model, and give its messages."""
    key = {"ANTHROPIC_API_KEY": "made-up"} if environment is None else environment
    with ScriptedMessagesApi(model) as api:
        variables = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ANTHROPIC_BASE_URL": api.url,
            "DISABLE_TELEMETRY": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **key,
        }
        with subprocess.Popen(
            [claude, *FLAGS, *flags],
            cwd=project,
            env=variables,
            stdin=subprocess.DEVNULL if drive is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as child:
            written = drive(child) if drive else b""
            written += pipe(child.stdout).read()
    return _cleaned(written.decode(), project, home)


def pipe(end: IO[bytes] | None) -> IO[bytes]:
    """The end of a pipe that is there."""
    assert end is not None
    return end


def write(path: Path, messages: list[Json]) -> None:
    """Write messages as the program does."""
    lines = [json.dumps(m, ensure_ascii=False, separators=(",", ":")) + "\n" for m in messages]
    path.write_text("".join(lines), encoding="utf-8")


def _cleaned(text: str, project: Path, home: Path) -> list[Json]:
    """Take out what tells of this machine."""
    text = text.replace(re.sub("[^a-zA-Z0-9]", "-", str(project)), "-home-dev-project")
    text = text.replace(str(project), "/home/dev/project").replace(str(home), "/home/dev")
    text = re.sub(r"/tmp/claude-\d+/", "/tmp/claude-1000/", text)
    text = re.sub(r"/cc-socks/\d+\.sock", "/cc-socks/4203.sock", text)
    text = re.sub(r"passed in \d+\.\d+s", "passed in 0.04s", text)
    made = random.Random(1)
    session = re.search(r'"session_id":"([^"]+)"', text)
    for id in dict.fromkeys(_UUID.findall(text)):
        own = session is not None and id == session[1]
        new = SESSION if own else str(uuid.UUID(int=made.getrandbits(128), version=4))
        text = text.replace(id, new)
    messages: list[Json] = [json.loads(line) for line in text.split("\n")[:-1]]
    _mend_inputs(messages, project)
    return messages


def _mend_inputs(messages: list[Json], project: Path) -> None:
    """Clean the inputs of tools that come in pieces, where a path may be cut anywhere."""
    inputs: dict[tuple[str, int], list[Json]] = {}
    for message in messages:
        delta = message.get("event", {}).get("delta", {})
        if delta.get("partial_json"):
            key = message["api_message_id"], message["event"]["index"]
            inputs.setdefault(key, []).append(delta)
    for deltas in inputs.values():
        whole = "".join(delta["partial_json"] for delta in deltas)
        whole = whole.replace(str(project), "/home/dev/project")
        size = -(-len(whole) // len(deltas))
        for number, delta in enumerate(deltas):
            delta["partial_json"] = whole[number * size : (number + 1) * size]
