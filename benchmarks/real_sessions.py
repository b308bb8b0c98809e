"""Stored sessions of Claude Code whose text is real and distinct, in the proportions of daily work.

Most bytes are results of tools, which are stored twice: as the model gets them, and as the user
sees them. An edit stores the file as it was before.
"""

import json
import random
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from real_text import RealText

_MODEL = "claude-opus-4-5-20251101"
_START = 1_790_000_000
_DAY = 86_400
_SESSIONS_IN_A_FOLDER = 40
_EXCHANGES_IN_A_TURN = 12


def write_real_sessions(home: Path, size: int, *, files: int, seed: int = 3) -> int:
    """Write sessions below a home until about so many bytes are there; return the bytes."""
    text, made = RealText(seed), random.Random(seed)
    written = 0
    for number in range(files):
        project = f"-home-dev-project{number // _SESSIONS_IN_A_FOLDER}"
        folder = home / ".claude" / "projects" / project
        folder.mkdir(parents=True, exist_ok=True)
        session = f"{number:08x}-0000-4000-8000-{made.getrandbits(48):012x}"
        with (folder / f"{session}.jsonl").open("wb") as file:
            at = _START + _DAY * 180 * number / files
            for line in _Session(made, text, session, at).lines(size // files):
                written += file.write(line)
    return written


class _Session:
    """Makes the lines of one session."""

    def __init__(self, made: random.Random, text: RealText, session: str, at: float) -> None:
        self._made = made
        self._text = text
        self._session = session
        self._at = at

    def lines(self, size: int) -> Iterator[bytes]:
        """Give lines until about so many bytes were given."""
        given = number = 0
        while given < size:
            for message in self._exchange(number):
                line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(
                    "utf-8", "replace"
                )
                given += len(line) + 1
                yield line + b"\n"
            number += 1

    def _exchange(self, number: int) -> Iterator[dict[str, Any]]:
        if number % _EXCHANGES_IN_A_TURN == 0:
            yield self._line("user", {"role": "user", "content": self._some(400)})
        content: list[dict[str, Any]] = []
        if self._made.random() < 0.3:
            thought = self._some(800)
            signature = b64encode(self._made.randbytes(len(thought))).decode()
            content.append({"type": "thinking", "thinking": thought, "signature": signature})
        if self._made.random() < 0.5:
            content.append({"type": "text", "text": self._some(500)})
        id = f"toolu_{self._made.getrandbits(64):016x}"
        name, input, output, shown = self._call()
        content.append({"type": "tool_use", "id": id, "name": name, "input": input})
        yield self._line("assistant", self._answer(content), requestId=f"req_{id}")
        result = {"tool_use_id": id, "type": "tool_result", "content": output}
        yield self._line("user", {"role": "user", "content": [result]}, toolUseResult=shown)

    def _call(self) -> tuple[str, dict[str, Any], str, dict[str, Any]]:
        """A tool's name, its input, and its result as it is stored twice."""
        path = f"/home/dev/project/src/{self._made.getrandbits(24):06x}/module.py"
        chance = self._made.random()
        if chance < 0.45:
            content = self._long(6000)
            numbered = "\n".join(
                f"{number:>6}\t{line}" for number, line in enumerate(content.split("\n"), 1)
            )
            file = {"filePath": path, "content": content, "numLines": content.count("\n")}
            return "Read", {"file_path": path}, numbered, {"type": "text", "file": file}
        if chance < 0.8:
            output = self._long(2500)
            input = {"command": self._some(120), "description": self._some(40)}
            return "Bash", input, output, {"stdout": output, "stderr": "", "interrupted": False}
        before, old, new = self._long(9000), self._some(500), self._some(600)
        input = {"file_path": path, "old_string": old, "new_string": new}
        said = f"The file {path} has been updated successfully."
        lines = [*(f"-{line}" for line in old.split("\n")), *(f"+{x}" for x in new.split("\n"))]
        patch = [{"oldStart": 1, "oldLines": 9, "newStart": 1, "newLines": 9, "lines": lines}]
        return "Edit", input, said, {**input, "originalFile": before, "structuredPatch": patch}

    def _answer(self, content: list[dict[str, Any]]) -> dict[str, Any]:
        stored = self._made.randint(100, 4000)
        usage = {
            "input_tokens": self._made.randint(1, 40),
            "cache_creation_input_tokens": stored,
            "cache_read_input_tokens": self._made.randint(9000, 150_000),
            "cache_creation": {"ephemeral_5m_input_tokens": stored, "ephemeral_1h_input_tokens": 0},
            "output_tokens": self._made.randint(30, 900),
            "service_tier": "standard",
        }
        id = f"msg_{self._made.getrandbits(96):024x}"
        head = {"model": _MODEL, "id": id, "type": "message", "role": "assistant"}
        return {**head, "content": content, "stop_reason": None, "usage": usage}

    def _line(self, type: str, message: dict[str, Any], **more: object) -> dict[str, Any]:
        self._at += self._made.uniform(1, 20)
        moment = datetime.fromtimestamp(self._at, UTC).isoformat(timespec="milliseconds")
        head = {"parentUuid": self._id(), "isSidechain": False, "userType": "external"}
        about = {"cwd": "/home/dev/project", "sessionId": self._session, "version": "2.1.325"}
        ids = {"uuid": self._id(), "timestamp": moment.replace("+00:00", "Z")}
        return {
            **head,
            **about,
            "gitBranch": "main",
            "type": type,
            "message": message,
            **more,
            **ids,
        }

    def _some(self, about: int) -> str:
        return self._text.whole(int(about * self._made.uniform(0.3, 2)))

    def _long(self, median: int) -> str:
        """A text of a length as results have it: most are short, few are very long."""
        return self._text.take(min(200_000, int(median * self._made.lognormvariate(0, 0.9))))

    def _id(self) -> str:
        return f"{self._made.getrandbits(128):032x}"
