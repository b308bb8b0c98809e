"""A scripted agent that writes what `claude -p --output-format stream-json --verbose` would write.

    python -I -S scripted_agent.py [--script-FLAG …] [any arguments of claude]

It plays the demo, a recorded file (`--script-play`) or, with only flags for faults, a short
session; `--script-…` flags add faults. The variable ROOK_SCRIPT may contain the same flags,
separated by spaces (`no-result exit-code=3`) or as a JSON object. It needs no key, no network and
only the standard library, and it exits like the real one: with 1 if its last result is an error.
"""

import argparse
import json
import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from datetime import datetime
from itertools import chain, repeat
from signal import SIG_IGN, SIGHUP, SIGINT, SIGSTOP, SIGTERM, default_int_handler
from typing import Any, NamedTuple

Json = dict[str, Any]
Lines = Iterable[bytes]

DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "demo.jsonl")
SESSION_FOLDER = os.path.join(os.path.dirname(DEMO), "sessions")
VERSION = "2.1.325"
MODEL = "claude-sonnet-4-5-20250929"
# Placeholders in our own sessions for the values of this run.
CWD, SESSION, ANSWER = b"/home/dev/project", b"5c7197ed-0000-4000-8000-000000000000", b'"Done."'
EXIT_CODES = {SIGINT: 0, SIGTERM: 143, SIGHUP: 129}  # without a result
TIME = re.compile(rb'"timestamp":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})Z"')
LONGEST_LIFE = 30.0  # seconds after which every process that is left behind exits
FLOOD_LINE = 100_000


class Script:
    """The messages of one run, and the state that faults need."""

    def __init__(self, options: Json, arguments: list[str]) -> None:
        self.options = options
        self.arguments = arguments
        self.session: str = options["resume"] or SESSION.decode()
        self.exit_code = 0
        self.stdin = ""
        self.files: list[str] = []  # to be removed at the end
        self.denials: list[Json] = []
        self._made = 0

    def lines(self) -> Lines:
        """All lines of the output, each at the time when it should be written."""
        lines = self._session()
        for fault, value in self._asked("edit"):
            lines = fault.act(lines, value)
        return lines

    def line(self, type: str, **more: Any) -> bytes:
        """A generated message, as a line."""
        uuid = f"00000000-0000-4000-8000-{self.name('')[-12:]}"
        return _encode({"type": type, **more, "session_id": self.session, "uuid": uuid})

    def calls(self, tool: str, **input: Any) -> tuple[str, bytes]:
        """The id and the line of a tool call; it has no tokens, so that the totals stay right."""
        id = self.name("toolu")
        block = {"type": "tool_use", "id": id, "name": tool, "input": input}
        head = {"id": self.name("msg"), "type": "message", "role": "assistant", "model": MODEL}
        message = {**head, "content": [block], "stop_reason": None}
        return id, self.line("assistant", message=message, parent_tool_use_id=None)

    def returns(self, id: str, text: str, *, data: Any = None, error: str = "") -> bytes:
        """The result of a call, or why it failed; the error `reject` is a denial."""
        block = {"tool_use_id": id, "type": "tool_result", "content": text, "is_error": error != ""}
        decision = {"decision": error or "accept", "source": "config"}
        return self.line(
            "user",
            message={"role": "user", "content": [block]},
            parent_tool_use_id=None,
            tool_use_result=f"Error: {text}" if error else data or {"stdout": text, "stderr": ""},
            tool_result_meta=[{"id": id, "permission_decision": decision}],
        )

    def own(self, session: str) -> Lines:
        """The lines of one of our own sessions."""
        with open(_path_of(session), "rb") as file:
            yield from map(self._own, file)

    def name(self, prefix: str) -> str:
        """A unique name, the same in each run."""
        self._made += 1
        return f"{prefix}_script_{self._made:017d}"

    def read(self, request: str | None = None) -> Generator[bytes, None, Json | None]:
        """Read stdin up to a prompt, or the answer to a request; None at its end."""
        while line := sys.stdin.buffer.readline():
            try:
                message: Json = json.loads(line)
            except ValueError:
                sys.stderr.write(f"Error parsing streaming input line: {line!r}\n")
                sys.exit(1)  # as the real one does
            asked = message.get("response", {}).get("request_id", "")
            if message.get("type") == "user" if request is None else asked == request:
                return message
            if message.get("type") == "control_request":
                answer = {"subtype": "success", "request_id": message.get("request_id")}
                yield _encode({"type": "control_response", "response": {**answer, "response": {}}})
                if message.get("request", {}).get("subtype") == "interrupt":
                    raise KeyboardInterrupt
        return None

    def _session(self) -> Lines:
        yield from self._stage("start")
        streaming = self.options["input_format"] == "stream-json"
        if streaming and "--" not in self.arguments:
            yield from self.read()
        played = self._played()
        for line in played:
            yield line
            if _type(line) == "init":
                break
        yield from self._stage("middle")
        yield from played
        yield from self._stage("after")
        while streaming and (yield from self.read()):
            yield from self.own("again")

    def _stage(self, stage: str) -> Lines:
        for fault, value in self._asked(stage):
            done = fault.act(self, value)
            yield from done if isinstance(done, Iterator) else ()

    def _asked(self, stage: str) -> "list[tuple[Fault, Any]]":
        asked = [(fault, self.options[name]) for name, fault in FAULTS.items()]
        return [(fault, v) for fault, v in asked if v is not None and fault.stage == stage]

    def _played(self) -> Iterator[bytes]:
        path: str = self.options["play"]
        with open(path, "rb") as file:
            lines = list(file)
        own = os.path.dirname(path) == SESSION_FOLDER
        pauses = chain(_pauses(lines, self.options), repeat(0.0))
        for line, pause in zip(lines, pauses, strict=False):
            time.sleep(pause)
            yield self._settled(self._own(line) if own else line)

    def _own(self, line: bytes) -> bytes:
        line = line.replace(CWD, json.dumps(os.getcwd()).encode()[1:-1])
        line = line.replace(SESSION, self.session.encode())
        return line.replace(ANSWER, json.dumps(self.options["say"] or "Done.").encode())

    def _settled(self, line: bytes) -> bytes:
        """Set the exit code from a result, and add the denials to the result."""
        if _type(line) != "result":
            return line
        result = json.loads(line)
        aborted = str(result.get("terminal_reason")).startswith("aborted")
        self.exit_code = int(result.get("is_error") is True and not aborted)
        return _encode({**result, "permission_denials": self.denials}) if self.denials else line


def _type(line: bytes) -> str:
    """The type of a line: `init`, `result` or another."""
    try:
        message = json.loads(line) if b'"init"' in line or b'"result"' in line else {}
        return "init" if message.get("subtype") == "init" else str(message.get("type"))
    except (AttributeError, ValueError, RecursionError):
        return ""


def _encode(message: Json) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _path_of(session: str) -> str:
    return os.path.join(SESSION_FOLDER, f"{session}.jsonl")


def _pauses(lines: list[bytes], options: Json) -> Iterator[float]:
    """Seconds before each line: from a file of delays, else from the timestamps of the lines."""
    speed, delays = options["speed"], os.path.splitext(options["play"])[0] + ".delays"
    if not speed:
        return
    if os.path.exists(delays):
        with open(delays, encoding="ascii") as file:
            yield from (float(pause) / speed for pause in file)
        return
    before = None
    for line in lines:
        match = TIME.search(line)
        at = datetime.fromisoformat(match[1].decode()).timestamp() if match else before
        yield max(0.0, at - before) / speed if at and before else 0.0
        before = at


def _write_all(number: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(number, view) :]


def _hang(*_: Any) -> None:
    while True:
        signal.pause()


def _hang_in_tool(script: Script, _: bool) -> Lines:
    yield script.calls("Bash", command="npm run dev", description="Start the server")[1]
    _hang()


def _hold_pipe(script: Script, seconds: float) -> None:
    if os.fork() == 0:
        for number in EXIT_CODES:
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        time.sleep(min(seconds, LONGEST_LIFE))
        os._exit(0)


def _fork(script: Script, count: int) -> None:
    """Start processes that outlive the run and cannot be found by parent, group or session."""
    deadline = time.monotonic() + LONGEST_LIFE
    reading, writing = os.pipe()
    for _ in range(count):
        if os.fork() == 0:
            _run_away(writing, deadline)
        os.wait()
    os.close(writing)
    os.read(reading, 1)  # returns when all have started


def _run_away(started: int, deadline: float) -> None:
    """Move on to a new process four times a second; the old one exits a little later."""
    for number in EXIT_CODES:
        signal.signal(number, SIG_IGN)
    linger = 0.0
    while time.monotonic() < deadline:
        os.setsid()
        if os.fork():
            time.sleep(linger)
            os._exit(0)
        if not linger:
            os.close(started)
            linger = 0.3
        time.sleep(0.25)
    os._exit(0)


def _lock(script: Script, path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    script.files.append(path)


def _print_env(script: Script, path: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(dict(os.environ), file)


def _print_call(script: Script, path: str) -> None:
    call = {"arguments": script.arguments, "cwd": os.getcwd(), "stdin": script.stdin}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(call, file)


def _read_stdin(script: Script, _: bool) -> None:
    script.stdin = sys.stdin.buffer.read().decode(errors="replace")


def _bad_flag(*_: Any) -> None:
    sys.stderr.write("error: unknown option '--no-such-flag'\n")
    sys.exit(1)


def _long_line(script: Script, size: int) -> Lines:
    id, call = script.calls("Bash", command="cat huge")
    yield call
    line = script.returns(id, "@", data={"type": "text"})
    yield line.replace(b"@", b"x" * max(1, size - len(line) + 2))


def _flood(script: Script, size: int) -> Lines:
    id, call = script.calls("Bash", command="cat huge")
    result = script.returns(id, "x" * FLOOD_LINE, data={"type": "text"})
    for number in range(0, size, len(call) + len(result)):
        new = f"toolu_script_{number:017d}".encode()
        yield call.replace(id.encode(), new)
        yield result.replace(id.encode(), new)


def _ask(script: Script, command: str) -> Lines:
    input = {"command": command, "description": "Ask first"}
    id, call = script.calls("Bash", **input)
    yield call
    request, named = script.name("request"), {"subtype": "can_use_tool", "tool_name": "Bash"}
    asked = {**named, "input": input, "tool_use_id": id, "description": "Ask first"}
    yield _encode({"type": "control_request", "request_id": request, "request": asked})
    response = yield from script.read(request)
    answer = {} if response is None else response["response"].get("response") or {}
    if response is None:
        reason = "Tool permission stream closed before response received"
        yield script.returns(id, reason, error="accept")
    elif answer.get("behavior") == "allow":
        yield script.returns(id, f"ran: {(answer.get('updatedInput') or input)['command']}")
    else:
        script.denials.append({"tool_name": "Bash", "tool_use_id": id, "tool_input": input})
        yield script.returns(id, answer.get("message", "denied"), error="reject")
    if answer.get("interrupt"):
        raise KeyboardInterrupt


def _write_file(script: Script, path: str) -> Lines:
    text, whole = "written by the scripted agent\n", os.path.abspath(path)
    id, call = script.calls("Write", file_path=whole, content=text)
    yield call
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    data = {"type": "create", "filePath": whole, "content": text, "structuredPatch": []}
    yield script.returns(id, f"File created successfully at: {whole}", data=data)


def _noise(lines: Lines, _: bool) -> Lines:
    yield b"> project@1.0.0 agent\n"
    for line in lines:
        yield line
        yield b"\x1b[2K\rbuilding 40 %\rbuilding 100 %\n[debug] { not: json }\n\n"


def _unknown_types(lines: Lines, _: bool) -> Lines:
    unknown: list[Json] = [{"type": "telepathy"}, {"type": "system", "subtype": "telepathy"}]
    unknown.append({"type": "assistant", "message": {"content": [{"type": "telepathy"}]}})
    unknown.append({"type": "stream_event", "event": {"type": "telepathy"}})
    for line in lines:
        yield line
        yield from map(_encode, unknown)
        unknown = []


def _no_result(lines: Lines, _: bool) -> Lines:
    return (line for line in lines if _type(line) != "result")


def _error_result(lines: Lines, _: bool) -> Lines:
    failed = {"is_error": True, "terminal_reason": "api_error", "result": "API Error: 500"}
    for line in lines:
        yield _encode({**json.loads(line), **failed}) if _type(line) == "result" else line


def _cut(lines: Lines, size: int) -> Lines:
    for line in lines:
        if _type(line) == "result":
            yield line[: -size or len(line) // 2]
            return
        yield line


def _limit(lines: Lines, seconds: float) -> Lines:
    resets = f'"resetsAt":{int(time.time() + seconds)}'.encode()
    return (re.sub(rb'"resetsAt":\d+', resets, line) for line in lines)


def _background_task(lines: Lines, seconds: float) -> Lines:
    for line in lines:
        time.sleep(seconds if b'"task_updated"' in line else 0.0)
        yield line


class Fault(NamedTuple):
    """The effect of a flag, at one stage: the start, after the init, the end, or on every line."""

    stage: str
    act: Callable[..., Any]
    help: str
    type: Callable[[str], Any] | None = None
    default: Any = None  # the value of a flag without one; None if the flag needs a value


FAULTS: dict[str, Fault] = {
    "read-stdin-first": Fault("start", _read_stdin, "read stdin to its end"),
    "print-env": Fault("start", _print_env, "write the environment to a file", str),
    "print-call": Fault("start", _print_call, "write arguments, cwd and stdin to a file", str),
    "bad-flag": Fault("start", _bad_flag, "write an error to stderr and exit with 1"),
    "lock": Fault("start", _lock, "create a file and remove it at the end, even on SIGTERM", str),
    "ignore-sigterm": Fault("start", lambda *_: signal.signal(SIGTERM, SIG_IGN), "ignore SIGTERM"),
    "sigint-result": Fault(
        "start",
        lambda *_: signal.signal(SIGINT, default_int_handler),
        "write a result when interrupted",
    ),
    "stderr-flood": Fault(
        "start", lambda s, size: _write_all(2, b"x" * size), "write N bytes to stderr", int
    ),
    "grandchild-holds-pipe": Fault(
        "start", _hold_pipe, "a child keeps stdout open for N seconds", float
    ),
    "forkers": Fault("start", _fork, "leave N daemons behind that keep forking", int),
    "silent": Fault("middle", lambda s, t: time.sleep(t), "write nothing for N seconds", float),
    "stop-self": Fault("middle", lambda *_: os.kill(os.getpid(), SIGSTOP), "send itself SIGSTOP"),
    "line": Fault("middle", _long_line, "write a line of N bytes", int),
    "flood": Fault("middle", _flood, "write N bytes, as fast as they are read", int),
    "ask-permission": Fault("middle", _ask, "ask for approval of a command", str, "rm -r build"),
    "write-file": Fault("middle", _write_file, "write a real file", str),
    "hang-in-tool": Fault("middle", _hang_in_tool, "call a tool and wait forever"),
    "hang-after-result": Fault("after", _hang, "do not exit"),
    "background-task": Fault(
        "edit", _background_task, "a background task that ends N seconds later", float, 0.0
    ),
    "limit": Fault("edit", _limit, "reach a limit that resets in N seconds", float, 3600.0),
    "error-result": Fault("edit", _error_result, "end with an error result, but exit with 0"),
    "no-result": Fault("edit", _no_result, "end without a result"),
    "unknown-types": Fault("edit", _unknown_types, "write messages of unknown types"),
    "noise": Fault("edit", _noise, "write lines that aren't JSON between all lines"),
    "cut-last-line": Fault("edit", _cut, "cut off half of the result, or N bytes", int, 0),
}
SESSIONS = (
    *("background-task", "budget", "false-signs", "limit", "no-cost", "not-logged-in"),
    *("resume-unknown", "retries", "strange-text", "two-results"),
)
"""The flags that play a separate session; see the folder `sessions`."""
NO_FAULTS = ("speed", "delay", "chunks", "print-stall", "resume", "input_format")


def _options(words: list[str]) -> Json:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)

    def add(name: str, help: str, type: Any = None, default: Any = None) -> None:
        how: Json = {"type": type, "metavar": "VALUE"} if type else {"action": "store_true"}
        how |= {} if default is None else {"nargs": "?", "const": default}
        parser.add_argument(f"--script-{name}", dest=name, default=None, help=help, **how)

    parser.add_argument("--resume", "-r", nargs="?")
    parser.add_argument("--input-format")
    add("play", "a recorded file, or the name of a session (default: the demo)", str)
    add("speed", "speed compared to the recording, 0 for no delays (demo: 1, others: 0)", float)
    add("delay", "wait N seconds before every line", float)
    add("chunks", "write in chunks of N bytes", int)
    add("print-stall", "write the seconds of the longest write to a file", str)
    add("say", "the final answer of the short session", str)
    add("exit-code", "exit with this code", int)
    for name, fault in FAULTS.items():
        add(name, fault.help, fault.type, fault.default)
    for name in (name for name in SESSIONS if name not in FAULTS):
        add(name, "play this session")
    parsed, others = parser.parse_known_args(words)
    if wrong := [word for word in others if word.startswith("--script-")]:
        parser.error(f"unknown flag {wrong[0]}")
    options = vars(parsed)
    names = {name for name, value in options.items() if value is not None}
    sessions = [options["play"]] * ("play" in names) + [name for name in SESSIONS if name in names]
    if len(sessions) > 1:
        parser.error(f"only one session can be played, not {' and '.join(sessions)}")
    play = sessions[0] if sessions else "short" if names.difference(NO_FAULTS) else DEMO
    options["play"] = _path_of(play) if os.path.exists(_path_of(play)) else play
    if not os.path.exists(options["play"]):
        parser.error(f"no file or session {play}")
    return options | ({"speed": 1.0} if play == DEMO and options["speed"] is None else {})


def _steering(text: str) -> list[str]:
    """The flags in ROOK_SCRIPT."""
    if not text.lstrip().startswith("{"):
        return [f"--script-{word.removeprefix('--script-')}" for word in shlex.split(text)]
    asked = [(name, value) for name, value in json.loads(text).items() if value is not False]
    return [f"--script-{name}" + ("" if value is True else f"={value}") for name, value in asked]


def _write(lines: Lines, options: Json) -> None:
    masked = {SIGINT} if options["sigint-result"] else set()
    longest = 0.0
    for line in lines:
        time.sleep(options["delay"] or 0.0)
        size = options["chunks"] or len(line) or 1
        signal.pthread_sigmask(signal.SIG_BLOCK, masked)  # an interrupt must not split a line
        try:
            for at in range(0, len(line), size):
                start = time.monotonic()
                _write_all(1, line[at : at + size])
                longest = max(longest, time.monotonic() - start)
        except BrokenPipeError:
            pass  # like the real one, it continues without a reader
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, masked)
    if path := options["print-stall"]:
        with open(path, "w", encoding="ascii") as file:
            file.write(f"{longest:.6f}\n")


def main() -> None:
    """Play the session that the arguments and ROOK_SCRIPT select."""
    arguments = sys.argv[1:]
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if "--version" in own:
        sys.stdout.write(f"{VERSION} (Claude Code)\n")
        return
    options = _options([*_steering(os.environ.get("ROOK_SCRIPT", "")), *own])
    script = Script(options, arguments)
    for number, code in EXIT_CODES.items():
        signal.signal(number, lambda *_, code=code: sys.exit(code))
    try:
        _write(script.lines(), options)
    except KeyboardInterrupt:
        _write(script.own("interrupted"), options)
        script.exit_code = 0
    finally:
        for path in script.files:
            os.unlink(path)
    sys.exit(script.exit_code if options["exit-code"] is None else options["exit-code"])


if __name__ == "__main__":
    main()
