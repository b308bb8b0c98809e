"""Adds turns to a stored session whose prompt, answer, command and output are a given text."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def say(file: Path, texts: Iterable[str]) -> None:
    """Append a turn for each text to a session's file."""
    lines = file.read_text(encoding="utf-8").splitlines()
    known = [json.loads(line) for line in lines if '"type":"user"' in line]
    prompt = next(line for line in known if isinstance(line["message"]["content"], str))
    with file.open("a", encoding="utf-8") as out:
        for number, text in enumerate(texts):
            out.writelines(f"{json.dumps(line)}\n" for line in _turn(prompt, number, text))


def _turn(prompt: dict[str, Any], number: int, text: str) -> Iterator[dict[str, Any]]:
    call = {"type": "tool_use", "id": f"call{number}", "name": "Bash"}
    content = [{"type": "text", "text": text}, {**call, "input": {"command": f"echo '{text}'"}}]
    answer = {"role": "assistant", "id": f"msg{number}", "model": "m", "type": "message"}
    result = {"type": "tool_result", "tool_use_id": f"call{number}", "content": text}
    yield {**prompt, "uuid": f"p{number}", "message": _user(text)}
    yield {
        **prompt,
        "type": "assistant",
        "uuid": f"a{number}",
        "message": {**answer, "content": content},
    }
    yield {**prompt, "uuid": f"r{number}", "message": _user([result])}


def _user(content: object) -> dict[str, object]:
    return {"role": "user", "content": content}
