"""A scripted agent that speaks the Agent Client Protocol (ACP) on stdin and stdout.

    python -I -S scripted_acp_agent.py [--script-FLAG …] [any other arguments]

Without flags it plays a well-behaved turn: a thought, a call that reads a file, a plan and an
answer. Each flag adds one thing that a real agent was seen to do, or a fault. The variable
ROOK_SCRIPT may contain the same flags, separated by spaces (`usage=turn open-call`) or as a JSON
object. It needs no key, no network and only the standard library, and it ends when stdin does.
"""

import argparse
import json
import os
import queue
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

Json = dict[str, Any]

VERSION = "1.0.0"
SESSION = "session-script-1"
OTHER_SESSION = "session-of-somebody-else"
REQUEST = {"inputTokens": 1000, "cachedReadTokens": 400, "outputTokens": 50, "thoughtTokens": 10}
"""The usage of each request; `inputTokens` includes the cached ones."""
EARLIER_REQUESTS = 2  # of a session that is loaded or resumed
WINDOW = 200_000
NOT_FOUND = -32601
OPTIONS = (("allow_once", "Allow"), ("allow_always", "Always allow"), ("reject_once", "Reject"))
MODES = {
    "default": "Ask",
    "accept-edits": "Accept edits",
    "auto-approve": "Approve",
    "plan": "Plan",
}
MODELS = ("model-a", "model-b")
FAILURES = {
    -32000: "Authentication required: run `scripted login`",
    -31002: "Invalid API key (fake)",
}
USAGES = ("turn", "request", "process", "session", "chunks", "quota", "none")


class CancelledError(Exception):
    """The client cancelled the turn."""


class Client:
    """The other end: what it asked, and the lines that go to it."""

    def __init__(self, options: Json) -> None:
        self.options = options
        self.messages: queue.Queue[Json | None] = queue.Queue()
        self._numbers = iter(range(10**9))
        self._batch: list[Json] | None = None
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, message: Json) -> None:
        """Write a message as a line, or keep it for a batch."""
        message = {"jsonrpc": "2.0", **message}
        if self._batch is not None and "id" not in message:
            self._batch.append(message)
            return
        if self._batch:
            self.write(json.dumps(self._batch))
            self._batch = None
        self.write(json.dumps(message, ensure_ascii=False))

    def gather(self) -> None:
        """From now on, write updates as one JSON array, before the next answer."""
        self._batch = []

    def write(self, line: str) -> None:
        """Write a line that may not be a message."""
        data = memoryview(line.encode() + b"\n")
        while data:
            data = data[os.write(1, data) :]
        time.sleep(self.options["delay"] or 0.0)

    def ask(self, method: str, **params: Any) -> Json:
        """Send a request and wait for its answer; a cancel in between ends the turn."""
        id = self.request(method, **params)
        while True:
            message = self.hear()
            if message.get("id") == id and "method" not in message:
                return message

    def request(self, method: str, **params: Any) -> Any:
        """Send a request without waiting for its answer; return its id."""
        number = next(self._numbers)
        id = f"request-{number}" if self.options["string-ids"] else number
        self.send({"id": id, "method": method, "params": params})
        return id

    def hear(self) -> Json:
        """Wait for a message during a turn."""
        message = self.messages.get()
        if message is None:
            sys.exit(self.options["exit-code"] or 0)
        if message.get("method") == "session/cancel" and not self.options["ignore-cancel"]:
            time.sleep(self.options["cancel-delay"] or 0.0)
            raise CancelledError
        return message

    def rest(self, seconds: float) -> None:
        """Work for a while; a cancel ends it."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                self.messages.put(self.messages.get(timeout=left))
            except queue.Empty:
                return
            self.hear()

    def _listen(self) -> None:
        for line in sys.stdin.buffer:
            try:
                message = json.loads(line)
            except ValueError:
                sys.stderr.write(f"not JSON: {line!r}\n")
                continue
            if path := self.options["print-heard"]:
                with open(path, "ab") as file:
                    file.write(line)
            self.messages.put(message)
        self.messages.put(None)


class Session:
    """A conversation: its script, and its usage so far."""

    def __init__(self, client: Client, id: str) -> None:
        self.client = client
        self.options = client.options
        self.id = id
        self.mode = "default"
        self.asked_always = False
        self.requests = {"turn": 0, "process": 0, "session": 0}
        self._made = 0

    def update(self, type: str, *, session: str | None = None, **more: Any) -> None:
        """Send an update, by default of this session."""
        params = {"sessionId": session or self.id, "update": {"sessionUpdate": type, **more}}
        self.client.send({"method": "session/update", "params": params})

    def say(self, text: str, kind: str = "agent_message_chunk") -> None:
        """Send a text in two chunks."""
        half = (len(text) + 1) // 2
        for part in (text[:half], text[half:]):
            if part:
                self.update(kind, content={"type": "text", "text": part})

    def call(self, title: str, kind: str, *, id: str = "", **more: Any) -> str:
        """Start a tool call."""
        id = id or self.new_id()
        fields = {"title": title, "kind": kind, "status": "pending", **more}
        self.update("tool_call", toolCallId=id, **fields)
        return id

    def end(self, id: str, status: str, text: str = "", **more: Any) -> None:
        """End a tool call."""
        content = [{"type": "content", "content": {"type": "text", "text": text}}] if text else []
        more = {"content": content, **more}
        self.update("tool_call_update", toolCallId=id, status=status, **more)

    def new_id(self) -> str:
        """An id for a call, the same in each run."""
        self._made += 1
        return f"call-script-{self._made}"

    def use(self) -> None:
        """Count a request to the model, and report it as far as this agent does."""
        for span in self.requests:
            self.requests[span] += 1
        if self.options["usage"] == "chunks":
            meta = {"usage": {**REQUEST, "totalTokens": 1050}}
            self.update("agent_message_chunk", content={"type": "text", "text": ""}, _meta=meta)
        if (cost := self.options["context"]) is not None:
            spent = {"amount": cost * self.requests["session"], "currency": "USD"}
            more: Json = {"cost": spent} if cost else {}
            self.update("usage_update", used=1050, size=WINDOW, **more)

    def result(self, reason: str) -> Json:
        """The result of a prompt, with the usage that this agent reports."""
        kind = self.options["usage"] or "turn"
        if kind in ("none", "chunks"):
            return {"stopReason": reason}
        if kind == "quota":
            count = {"input_tokens": 1000, "output_tokens": 50}
            count = {name: value * self.requests["turn"] for name, value in count.items()}
            models = [{"model": MODELS[0], "token_count": count}]
            quota = {"token_count": count, "model_usage": models}
            return {"stopReason": reason, "_meta": {"quota": quota}}
        times = 1 if kind == "request" else self.requests[kind]
        usage = {name: value * times for name, value in REQUEST.items()}
        return {"stopReason": reason, "usage": {**usage, "totalTokens": 1050 * times}}

    def play(self) -> str:
        """Play a turn; return its stop reason."""
        self.requests["turn"] = 0
        self.say("Weighing it.", "agent_thought_chunk")
        self.say("I will read the file.")
        self.use()
        path = os.path.join(os.getcwd(), "hello.txt")
        id = self.call("Read hello.txt", "read", rawInput={"path": path})
        self.end(id, "completed", "one\ntwo\n")
        for name, quirk in QUIRKS.items():
            if self.options[name] is not None:
                stopped = quirk.act(self, self.options[name])
                if stopped is not None:
                    return str(stopped)
        entries = [{"content": "look", "status": "completed", "priority": "medium"}]
        self.update("plan", entries=entries)
        self.say(self.options["say"] or "Done.")
        self.use()
        return "end_turn"

    def replay(self) -> None:
        """Send the conversation before, as session/load does."""
        self.say("The first prompt", "user_message_chunk")
        id = self.call("Read before.txt", "read", id="call-before", status="completed")
        self.end(id, "completed", "before")
        self.say("The first answer.")
        if self.options["usage"] == "session":
            times = self.requests["session"]
            total = {"promptTokens": 1000 * times, "cachedTokens": 400 * times}
            total |= {"completionTokens": 50 * times, "totalTokens": 1050 * times}
            cost = (self.options["context"] or 0.0) * times
            spent = {"amount": cost, "currency": "USD"}
            self.update("usage_update", used=1050, size=WINDOW, cost=spent, _meta=total)


def _ask(session: Session, command: str) -> str | None:
    """Ask for approval of a command; flags set its start and the effect of a refusal."""
    options = session.options
    if session.mode == "auto-approve" or session.asked_always:
        id = session.call(command, "execute", rawInput={"command": command})
        session.end(id, "completed", f"ran: {command}")
        return None
    id = session.new_id()
    fields: Json = {"toolCallId": id, "title": command, "kind": "execute", "status": "pending"}
    fields["rawInput"] = {"command": command}
    if not options["ask-starts-call"]:
        session.call(command, "execute", id=id, rawInput={"command": command})
    chosen = _choice(session, fields)
    if chosen.startswith("allow"):
        session.asked_always = chosen.startswith("allow_always")
        session.end(id, "completed", f"ran: {command}")
        return None
    if not options["ask-starts-call"]:
        session.end(id, "failed", "The user refused.")
    return "end_turn" if options["end-on-refusal"] else None


def _choice(session: Session, call: Json) -> str:
    """The kind of the option that the client selects; empty if it selects none."""
    kinds = [] if session.options["ask-no-options"] else list(OPTIONS)
    if session.options["same-kinds"]:
        kinds.insert(1, ("allow_always", "Always allow this command"))
    choices = [
        {"optionId": f"option-{n}", "name": name, "kind": kind}
        for n, (kind, name) in enumerate(kinds)
    ]
    asked = {"sessionId": session.id, "toolCall": call, "options": choices}
    if session.options["ask-twice"]:
        session.client.request("session/request_permission", **asked)
    answer = session.client.ask("session/request_permission", **asked)
    outcome = (answer.get("result") or {}).get("outcome") or {}
    kinds_by_id = {choice["optionId"]: choice["kind"] for choice in choices}
    return kinds_by_id.get(str(outcome.get("optionId")), "")


def _open_call(session: Session, _: bool) -> None:
    session.call("Search the web", "fetch", status="in_progress")


def _exit_3(session: Session, _: bool) -> None:
    id = session.call("exit 3", "execute", rawInput={"command": "exit 3"})
    meta = {"terminal_exit": {"terminal_id": id, "exit_code": 3, "signal": None}}
    session.end(id, "completed", "bad", _meta=meta)


def _failed_call(session: Session, _: bool) -> None:
    id = session.call("ls /nowhere", "execute", rawInput={"command": "ls /nowhere"})
    session.end(id, "failed", "ls: cannot access '/nowhere'")


def _edit(session: Session, path: str) -> None:
    """Change a real file, and report the diff."""
    text = "written by the scripted agent\n"
    whole = os.path.abspath(path)
    diff = {"type": "diff", "path": whole, "oldText": None, "newText": text}
    id = session.call(f"Write {path}", "edit", rawInput={"path": whole}, content=[diff])
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    session.update("tool_call_update", toolCallId=id, status="completed", content=[diff])


def _diff(session: Session, size: int) -> None:
    text = "x" * 99 + "\n"
    diff = {"type": "diff", "path": "/huge.txt", "oldText": None, "newText": text * (size // 100)}
    id = session.call("Write huge.txt", "edit")
    session.update("tool_call_update", toolCallId=id, status="completed", content=[diff])


def _unknown_request(session: Session, _: bool) -> None:
    """Send requests that no client knows or that this client did not offer; continue."""
    for method in ("craft/drainMidTurnQueue", "fs/read_text_file", "terminal/create"):
        answer = session.client.ask(method, sessionId=session.id, path="/etc/hostname")
        code = (answer.get("error") or {}).get("code")
        session.say(f"{method}: {code}. ")


def _unknown_updates(session: Session, _: bool) -> None:
    session.update("telepathy", thought="?")
    session.update("agent_message_chunk", content={"type": "hologram", "data": "?"})
    id = session.call("Think aloud", "telepathy")
    session.end(id, "completed", content=[{"type": "hologram"}])
    session.client.send({"method": "session/telepathy", "params": {"sessionId": session.id}})


def _other_session(session: Session, _: bool) -> None:
    text = {"type": "text", "text": "Not for you."}
    session.update("agent_message_chunk", session=OTHER_SESSION, content=text)
    fields = {"toolCallId": "call-of-another", "title": "Not yours", "kind": "read"}
    session.update("tool_call", session=OTHER_SESSION, **fields)


def _noise(session: Session, _: bool) -> None:
    session.client.write("> project@1.0.0 agent")
    session.client.write("\x1b[2K\rbuilding 40 %\r{ not: json }")
    session.client.write("")
    session.client.write("[]")
    session.client.write('"a word"')


def _error_text(session: Session, _: bool) -> str:
    session.say("Error: Authentication failed: the token is not valid.")
    return "end_turn"


def _hang(session: Session, _: bool) -> None:
    while True:
        session.client.hear()


def _die(session: Session, number: int) -> None:
    session.call("make", "execute", rawInput={"command": "make"}, status="in_progress")
    os.kill(os.getpid(), number)


class Flag(NamedTuple):
    """A flag of the command line."""

    help: str
    type: Callable[[str], Any] | None = None
    default: Any = None  # the value of a flag without one; None if the flag needs a value


class Quirk(NamedTuple):
    """The effect of a flag in the middle of a turn; a word that it returns ends the turn."""

    act: Callable[..., str | None]
    flag: Flag


QUIRKS: dict[str, Quirk] = {
    "noise": Quirk(_noise, Flag("write lines that are not messages")),
    "batch": Quirk(
        lambda s, _: s.client.gather(), Flag("write the rest of the updates as a batch")
    ),
    "unknown-request": Quirk(_unknown_request, Flag("send requests that no client should serve")),
    "unknown-updates": Quirk(_unknown_updates, Flag("send updates and contents of unknown types")),
    "other-session": Quirk(_other_session, Flag("send updates of another session")),
    "exit-3": Quirk(_exit_3, Flag("complete a command whose exit code is 3")),
    "failed-call": Quirk(_failed_call, Flag("call a tool that fails")),
    "open-call": Quirk(_open_call, Flag("start a call that never ends")),
    "edit": Quirk(_edit, Flag("write a real file", str)),
    "diff": Quirk(_diff, Flag("report a change of N bytes", int)),
    "ask": Quirk(_ask, Flag("ask for approval of a command", str, "rm -r build")),
    "work": Quirk(lambda s, t: s.client.rest(t), Flag("work for N seconds", float)),
    "error-text": Quirk(_error_text, Flag("report a failure as the text of a good turn")),
    "die": Quirk(_die, Flag("die of a signal in the middle of a call", int, 9)),
    "hang": Quirk(_hang, Flag("never return from the prompt")),
}
FLAGS: dict[str, Flag] = {
    "say": Flag("the answer", str),
    "name": Flag("the name in agentInfo; none: leave agentInfo out", str),
    "protocol": Flag("the protocol version that it answers", int),
    "usage": Flag(f"what the usage of a result counts: {', '.join(USAGES)}", str),
    "context": Flag("report the context used, and a cost of N dollars a request", float, 0.0),
    "resume": Flag("what it can resume: load, resume, both, none or broken", str),
    "late-replay": Flag("answer session/load before it repeats the session"),
    "fail": Flag("METHOD:CODE, answer a method with a JSON-RPC error of this code", str),
    "hang-at": Flag("never answer this method", str),
    "stop-reason": Flag("the stop reason of a turn", str),
    "early-result": Flag("return from the prompt before its last updates"),
    "late": Flag("send updates and a request after the end of the turn"),
    "ask-starts-call": Flag("a call that needs approval starts with the request"),
    "ask-twice": Flag("ask twice about the same call"),
    "ask-no-options": Flag("ask without options"),
    "same-kinds": Flag("offer two options of the same kind"),
    "end-on-refusal": Flag("end the turn after a refusal"),
    "string-ids": Flag("use strings as ids of requests"),
    "ignore-cancel": Flag("ignore session/cancel"),
    "cancel-delay": Flag("answer a cancel after N seconds", float),
    "ignore-sigterm": Flag("ignore SIGTERM and the end of stdin"),
    "delay": Flag("wait N seconds after every line", float),
    "stderr": Flag("write a line to stderr at the start", str),
    "print-heard": Flag("append every line that is read to a file", str),
    "print-call": Flag("write arguments, cwd and environment to a file", str),
    "exit-code": Flag("exit with this code", int),
}


class Agent:
    """Answers the requests of a client."""

    def __init__(self, options: Json) -> None:
        self.options = options
        self.client = Client(options)
        self.sessions: dict[str, Session] = {}
        self.afterwards: list[Callable[[], None]] = []  # to be done after the next answer

    def serve(self) -> None:
        """Answer until stdin ends."""
        while (message := self.client.messages.get()) is not None:
            method, id = message.get("method"), message.get("id")
            if method is None or id is None or method == self.options["hang-at"]:
                continue
            try:
                answer = {"result": self._answer(str(method), message.get("params") or {}, id)}
            except _JsonRpcError as failure:
                answer = {"error": {"code": failure.code, "message": failure.message}}
            if answer != {"result": None}:
                self.client.send({"id": id, **answer})
            while self.afterwards:
                self.afterwards.pop()()

    def _answer(self, method: str, params: Json, id: Any) -> Json | None:
        failing, _, code = (self.options["fail"] or "").partition(":")
        if method == failing:
            raise _JsonRpcError(int(code), FAILURES.get(int(code), "Internal error"))
        if method == "session/prompt":
            return self._prompt(self._session(params), id)
        answers: dict[str, Callable[[Json], Json]] = {
            "initialize": self._initialize,
            "session/new": self._new,
            "session/load": self._load,
            "session/resume": self._resume,
            "session/set_mode": self._set_mode,
            "session/set_model": lambda _: {},
            "session/set_config_option": lambda _: {"configOptions": []},
        }
        if method not in answers:
            raise _JsonRpcError(NOT_FOUND, "Method not found")
        return answers[method](params)

    def _initialize(self, params: Json) -> Json:
        can = self.options["resume"] or "both"
        sessions: Json = {"resume": {}} if can in ("resume", "both", "broken") else {}
        name = self.options["name"] or "scripted-acp-agent"
        info = {"agentInfo": {"name": name, "title": "Scripted", "version": VERSION}}
        version = self.options["protocol"]
        return {
            "protocolVersion": 1 if version is None else version,
            "agentCapabilities": {
                "loadSession": can in ("load", "both"),
                "sessionCapabilities": sessions,
            },
            "authMethods": [],
            **(info if name != "none" else {}),
        }

    def _new(self, params: Json) -> Json:
        self.sessions[SESSION] = Session(self.client, SESSION)
        return {"sessionId": SESSION, **_settings()}

    def _load(self, params: Json) -> Json:
        self._need("load", "both")
        session = self._earlier(params)
        if self.options["late-replay"]:
            self.afterwards.append(session.replay)
        else:
            session.replay()
        return _settings()

    def _resume(self, params: Json) -> Json:
        self._need("resume", "both", "broken")
        if self.options["resume"] == "broken":
            raise _JsonRpcError(-32603, "No previous sessions found for this project.")
        self._earlier(params)
        return _settings()

    def _need(self, *abilities: str) -> None:
        if (self.options["resume"] or "both") not in abilities:
            raise _JsonRpcError(NOT_FOUND, "Method not found")

    def _earlier(self, params: Json) -> Session:
        id = str(params.get("sessionId"))
        session = self.sessions[id] = Session(self.client, id)
        session.requests["session"] = EARLIER_REQUESTS
        return session

    def _set_mode(self, params: Json) -> Json:
        session, mode = self._session(params), params.get("modeId")
        if mode not in MODES:
            raise _JsonRpcError(-32602, f"no mode {mode}")
        session.mode = str(mode)
        session.update("current_mode_update", currentModeId=mode)
        return {}

    def _session(self, params: Json) -> Session:
        id = str(params.get("sessionId"))
        if id not in self.sessions:
            raise _JsonRpcError(-32602, f"Session not found: {id}")
        return self.sessions[id]

    def _prompt(self, session: Session, id: Any) -> Json | None:
        early = self.options["early-result"]
        if early:
            self.client.send({"id": id, "result": session.result("end_turn")})
        try:
            reason = session.play()
        except CancelledError:
            reason = "cancelled"
        if early:
            return None
        self.client.send(
            {"id": id, "result": session.result(self.options["stop-reason"] or reason)}
        )
        if self.options["late"]:
            _late(session)
        return None


class _JsonRpcError(Exception):
    """A JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def _late(session: Session) -> None:
    """Send late messages after the end of a turn."""
    session.end("call-script-1", "failed", "too late")
    session.say("Afterthought.")
    call = {"toolCallId": "call-late", "title": "rm late", "kind": "execute"}
    choices = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    fields = {"sessionId": session.id, "toolCall": call, "options": choices}
    session.client.request("session/request_permission", **fields)
    session.client.send({"id": 12345, "result": {"stopReason": "end_turn"}})


def _settings() -> Json:
    modes = [{"id": id, "name": name} for id, name in MODES.items()]
    models = [{"modelId": id, "name": id} for id in MODELS]
    return {
        "modes": {"currentModeId": "default", "availableModes": modes},
        "models": {"currentModelId": MODELS[0], "availableModels": models},
    }


def _options(words: list[str]) -> Json:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    for name, flag in {**FLAGS, **{name: each.flag for name, each in QUIRKS.items()}}.items():
        how: Json = {"type": flag.type, "metavar": "VALUE"} if flag.type else {}
        how |= {} if flag.type else {"action": "store_true"}
        how |= {} if flag.default is None else {"nargs": "?", "const": flag.default}
        parser.add_argument(f"--script-{name}", dest=name, default=None, help=flag.help, **how)
    parsed, others = parser.parse_known_args(words)
    if wrong := [word for word in others if word.startswith("--script-")]:
        parser.error(f"unknown flag {wrong[0]}")
    options = vars(parsed)
    if (usage := options["usage"]) not in (None, *USAGES):
        parser.error(f"--script-usage takes one of {', '.join(USAGES)}, not {usage}")
    return options


def _steering(text: str) -> Iterator[str]:
    """The flags in ROOK_SCRIPT."""
    if not text.lstrip().startswith("{"):
        yield from (f"--script-{word.removeprefix('--script-')}" for word in shlex.split(text))
        return
    for name, value in json.loads(text).items():
        if value is not False:
            yield f"--script-{name}" + ("" if value is True else f"={value}")


def main() -> None:
    """Serve one client."""
    arguments = sys.argv[1:]
    if "--version" in arguments:
        sys.stdout.write(f"scripted-acp-agent {VERSION}\n")
        return
    options = _options([*_steering(os.environ.get("ROOK_SCRIPT", "")), *arguments])
    if path := options["print-call"]:
        call = {"arguments": arguments, "cwd": os.getcwd(), "environment": dict(os.environ)}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(call, file)
    if options["ignore-sigterm"]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options["stderr"]:
        sys.stderr.write(options["stderr"] + "\n")
        sys.stderr.flush()
    Agent(options).serve()
    while options["ignore-sigterm"]:
        signal.pause()
    sys.exit(options["exit-code"] or 0)


if __name__ == "__main__":
    main()
