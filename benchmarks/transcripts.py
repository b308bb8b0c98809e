"""A corpus of stored sessions of Claude Code: most bytes are results of tools, few have usage."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_MODELS = ("claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101", "claude-haiku-4-5-20251001")
_WORDS = (Path(__file__).with_name("bench.py").read_text() * 4).split(" ")
_START = 1_790_000_000
_SESSIONS_IN_A_FOLDER = 40


def write_transcripts(home: Path, size: int, *, files: int, seed: int = 3) -> int:
    """Write sessions below a home until about so many bytes are there; give the bytes."""
    made = random.Random(seed)
    written = 0
    for number in range(files):
        project = f"-home-dev-project{number // _SESSIONS_IN_A_FOLDER}"
        folder = home / ".claude" / "projects" / project
        folder.mkdir(parents=True, exist_ok=True)
        session = f"{number:08x}-0000-4000-8000-{made.getrandbits(48):012x}"
        with (folder / f"{session}.jsonl").open("wb") as file:
            for line in session_lines(made, session, size // files, _START + 600 * number):
                written += file.write(line)
    return written


def session_lines(made: random.Random, session: str, size: int, at: float) -> Iterator[bytes]:
    """Give the lines of one session until about so many bytes were given."""
    given = 0
    model = made.choice(_MODELS)
    while given < size:
        at += made.uniform(2, 40)
        for message in _exchange(made, session, model, at):
            line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
            given += len(line)
            yield line


def _exchange(made: random.Random, session: str, model: str, at: float) -> Iterator[dict[str, Any]]:
    """A message in two lines with a call each, and the results of the calls."""
    id = f"msg_{made.getrandbits(96):024x}"
    stored = made.randint(100, 4000)
    usage = {
        "input_tokens": made.randint(1, 40),
        "cache_creation_input_tokens": stored,
        "cache_read_input_tokens": made.randint(9000, 150_000),
        "cache_creation": {"ephemeral_5m_input_tokens": stored, "ephemeral_1h_input_tokens": 0},
        "output_tokens": made.randint(30, 900),
        "service_tier": "standard",
    }
    for _ in range(2):
        call = {"type": "tool_use", "id": f"toolu_{made.getrandbits(64):016x}", "name": "Bash"}
        message = {"model": model, "id": id, "type": "message", "role": "assistant"}
        content = [{**call, "input": {"command": _text(made, 300)}}]
        head = {"parentUuid": _id(made), "isSidechain": False, "userType": "external"}
        about = {"uuid": _id(made), "timestamp": _time(at), "cwd": "/home/dev/project"}
        about |= {"sessionId": session, "version": "2.1.325", "gitBranch": "main"}
        whole = {**message, "content": content, "stop_reason": None, "usage": usage}
        request = {"requestId": f"req_{id[4:]}", "type": "assistant"}
        yield {**head, "message": whole, **request, **about}
        result = {"tool_use_id": call["id"], "type": "tool_result", "content": _text(made, 4000)}
        user = {"role": "user", "content": [result]}
        output = {"stdout": result["content"], "stderr": "", "interrupted": False}
        yield {**head, "type": "user", "message": user, **about, "toolUseResult": output}


def _text(made: random.Random, about: int) -> str:
    start = made.randrange(len(_WORDS) // 2)
    return " ".join(_WORDS[start : start + made.randint(about // 12, about // 4)])


def _id(made: random.Random) -> str:
    return f"{made.getrandbits(128):032x}"


def _time(at: float) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
