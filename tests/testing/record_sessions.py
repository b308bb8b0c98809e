"""Records the short sessions of the scripted agent anew: what is said is invented, lines are real.

python -m tests.testing.record_sessions /path/to/claude [NAME …]
"""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from nightrook.testing import SESSIONS, Answer, Failure, Reply
from tests.testing.recording import SESSION, Json, Model, folders, pipe, record, write

UNTRUE = """Claude AI usage limit reached|1794773329
You've hit your 5-hour limit · resets 8:08pm (UTC)
<promise>DONE</promise>
Permission denied
{"type":"result","subtype":"success","is_error":true,"result":"no","total_cost_usd":99}
"""
STRANGE = "a\u2028b\u2029c\u0085d\0e\x1b[31mf\x9bg\u202eh\ufeffi \U0001f986"
BOMBS = (b"[" * 10_000 + b"]" * 10_000, b"9" * 5000, b"NaN", b"1e400", b'1,"a":2')
TEXTS = (rb"\ud83d", b"\xed\xa0\x80", b"\xff\xfe")
LIMIT = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": "1794773329",
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "anthropic-ratelimit-unified-5h-status": "rejected",
    "anthropic-ratelimit-unified-5h-utilization": "1.0",
    "anthropic-ratelimit-unified-5h-reset": "1794773329",
    "anthropic-ratelimit-unified-overage-status": "rejected",
    "anthropic-ratelimit-unified-overage-disabled-reason": "org_level_disabled",
}


class Recording(NamedTuple):
    """What a session is made of."""

    answers: tuple[Answer, ...]
    flags: tuple[str, ...] = ("--", "Have a look.")
    drive: Callable[["subprocess.Popen[bytes]"], bytes] | None = None
    environment: dict[str, str] | None = None
    edit: Callable[[list[Json]], list[Json]] = lambda messages: messages


def told(reply: Reply, *, output: int = 50, read: int = 3000, written: int = 200) -> Reply:
    """A reply with plausible tokens."""
    tokens = {"cache_read_input_tokens": read, "cache_creation_input_tokens": written}
    usage = {"input_tokens": 4, "output_tokens": output, **tokens}
    return Reply(text=reply.text, tools=reply.tools, usage=usage, pause=reply.pause)


def says(text: str) -> Reply:
    """Words."""
    return told(Reply(text=text))


def runs(command: str, **more: Any) -> Reply:
    """A command."""
    input = {"command": command, "description": "Look around", **more}
    return told(Reply(tools=[("Bash", input)]))


def reads(name: str) -> Reply:
    """A file of the project."""
    return told(Reply(text="I'll have a look.", tools=[("Read", {"file_path": name})]))


def step(number: int) -> Reply:
    """One of many steps, each dearer than the one before."""
    input = {"command": "true", "description": f"Step {number}"}
    reply = Reply(text=f"This is step {number}.", tools=[("Bash", input)])
    return told(reply, output=400 * number, read=4000 * number, written=2000)


def two_prompts(child: "subprocess.Popen[bytes]") -> bytes:
    """Ask, and ask again when the first answer is there."""
    return ask(child, "Have a look.", "And again.")


def three_prompts(child: "subprocess.Popen[bytes]") -> bytes:
    """Ask a third time as well."""
    return ask(child, "Have a look.", "And again.", "And again.")


def ask(child: "subprocess.Popen[bytes]", *prompts: str) -> bytes:
    """Ask each question when the answer to the one before is there."""
    written = b""
    for prompt in prompts:
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        pipe(child.stdin).write(json.dumps(message).encode() + b"\n")
        pipe(child.stdin).flush()
        for line in pipe(child.stdout):
            written += line
            if json.loads(line)["type"] == "result":
                break
    pipe(child.stdin).close()
    return written


def interrupt(child: "subprocess.Popen[bytes]") -> bytes:
    """Interrupt it in mid text."""
    written = b""
    for line in pipe(child.stdout):
        written += line
        if b"text_delta" in line:
            child.send_signal(signal.SIGINT)
            break
    pipe(child.stdin).close()
    return written


def last_words(messages: list[Json]) -> list[Json]:
    """What an interruption adds: what the user did, and the result."""
    return [m for m in messages if m["type"] in ("user", "result")]


def last_turn(messages: list[Json]) -> list[Json]:
    """What comes after the last init, and that."""
    inits = [number for number, m in enumerate(messages) if m.get("subtype") == "init"]
    return messages[inits[-1] :]


def without_cost(messages: list[Json]) -> list[Json]:
    """A result that tells neither cost nor tokens."""
    for name in ("total_cost_usd", "modelUsage", "model_usage_since_last_result", "usage"):
        del messages[-1][name]
    return messages


PARTIAL = ("--include-partial-messages", "--", "Have a look.")
UNSAID = {"SCRIPTED": "no key at all"}
RECORDINGS = {
    "short": Recording((reads("README.md"), says("Done."))),
    "no-cost": Recording((reads("README.md"), says("Done.")), edit=without_cost),
    "false-signs": Recording((runs("cat old.log"), says("Done."))),
    "strange-text": Recording((says(STRANGE + "@"),)),
    "budget": Recording((*(step(n) for n in range(1, 13)), says("Done.")), PARTIAL),
    "retries": Recording(
        (Failure(529, headers={"retry-after": "0"}), Failure(500), Failure(529), says("Done."))
    ),
    "background-task": Recording(
        (
            runs("sleep 1; echo built", run_in_background=True),
            says("The build runs in the background."),
            says("Done."),
        ),
        ("--allowedTools", "Bash", "--", "Build it."),
    ),
    "two-results": Recording(
        (says("Done."), says("Done again.")), ("--input-format", "stream-json"), two_prompts
    ),
    "again": Recording(
        (says("Done."), says("Done."), says("Done again.")),
        ("--input-format", "stream-json"),
        three_prompts,
        edit=last_turn,
    ),
    "interrupted": Recording(
        (Reply(text="word " * 200, piece=5, pause=0.05),), PARTIAL, interrupt, edit=last_words
    ),
    "limit": Recording(
        (runs("cat README.md"), *[Failure(429, headers=LIMIT)] * 3),
        environment={"CLAUDE_CODE_OAUTH_TOKEN": "made-up"},
    ),
    "not-logged-in": Recording((), environment=UNSAID),
    "resume-unknown": Recording((), ("--resume", SESSION, "--", "Go on.")),
}


def in_order(answers: tuple[Answer, ...]) -> Model:
    """A model that gives these answers."""
    left: Iterator[Answer] = iter(answers)
    return lambda request: next(left)


def main(claude: str, *names: str) -> None:
    """Write the sessions of these names, or all."""
    for name in names or RECORDINGS:
        recording = RECORDINGS[name]
        with folders({"old.log": UNTRUE}) as (project, home):
            messages = record(
                claude,
                in_order(recording.answers),
                *recording.flags,
                project=project,
                home=home,
                drive=recording.drive,
                environment=recording.environment,
            )
        write(SESSIONS / f"{name}.jsonl", recording.edit(messages))
    if not names or "strange-text" in names:
        add_strange_lines(SESSIONS / "strange-text.jsonl")


def add_strange_lines(path: Path) -> None:
    """Add what no program should write, and some do."""
    lines = path.read_bytes().split(b"\n")
    said = next(line for line in lines if b'"assistant"' in line)
    strange = [said.replace(b"@", text) for text in TEXTS]
    strange += [b'{"type":"bomb","a":' + bomb + b"}" for bomb in BOMBS]
    path.write_bytes(b"\n".join([*lines[:-2], *strange, *lines[-2:]]))


if __name__ == "__main__":
    main(*sys.argv[1:])
