"""The scripted ACP agent: it speaks the protocol, and each flag does what its help says."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from nightrook.testing import ACP_AGENT, acp_agent_command, install_acp_agent
from nightrook.testing.scripted_acp_agent import FLAGS, OTHER_SESSION, QUIRKS, SESSION
from tests.testing.children import environment

Json = dict[str, Any]
Answer = Callable[[Json], Json | None]


class Talk:
    """A client that answers requests with a function, and keeps what it read."""

    def __init__(self, child: subprocess.Popen[bytes], answer: Answer) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        self._in: IO[bytes] = child.stdin
        self._out: IO[bytes] = child.stdout
        self._answer = answer
        self.lines: list[Any] = []
        self.junk: list[bytes] = []

    def tell(self, method: str, *, id: Any = None, **params: Any) -> None:
        self._write({"method": method, "params": params, **({} if id is None else {"id": id})})

    def ask(self, id: int, method: str, **params: Any) -> Json:
        self.tell(method, id=id, **params)
        return self.read_to(lambda m: m.get("id") == id and "method" not in m)

    def read_to(self, wanted: Callable[[Json], bool]) -> Json:
        for line in self._out:
            try:
                value = json.loads(line)
            except ValueError:
                self.junk.append(line)
                continue
            self.lines.append(value)
            if not isinstance(value, dict):
                continue
            if "method" in value and "id" in value and (answer := self._answer(value)):
                self._write({"id": value["id"], **answer})
            if wanted(value):
                return value
        raise AssertionError("it ended before that")

    def begin(self) -> Json:
        self.ask(1, "initialize", protocolVersion=1)
        return self.ask(2, "session/new", cwd="/", mcpServers=[])

    def prompt(self) -> Json:
        self.begin()
        return self.ask(3, "session/prompt", sessionId=SESSION, prompt=[])

    def updates(self, kind: str) -> list[Json]:
        messages = [m for line in self.lines for m in (line if isinstance(line, list) else [line])]
        found = (m["params"]["update"] for m in messages if isinstance(m, dict) and _is_update(m))
        return [update for update in found if update["sessionUpdate"] == kind]

    def text(self) -> str:
        return "".join(u["content"].get("text", "") for u in self.updates("agent_message_chunk"))

    def _write(self, message: Json) -> None:
        self._in.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._in.flush()


def _is_update(message: Json) -> bool:
    return message.get("method") == "session/update"


def select(kind: str) -> Answer:
    def answer(request: Json) -> Json:
        if request["method"] != "session/request_permission":
            return {"error": {"code": -32601, "message": "Method not found"}}
        options = [o for o in request["params"]["options"] if o["kind"] == kind]
        if not options:
            return {"result": {"outcome": {"outcome": "cancelled"}}}
        return {"result": {"outcome": {"outcome": "selected", "optionId": options[0]["optionId"]}}}

    return answer


@contextmanager
def talking(*flags: str, answer: Answer | None = None, **more: str) -> Iterator[Talk]:
    words = [f"--script-{flag}" for flag in flags]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        acp_agent_command(*words), stdin=pipe, stdout=pipe, stderr=pipe, env=environment(**more)
    ) as child:
        try:
            yield Talk(child, answer or select("allow_once"))
        finally:
            child.kill()


def test_a_turn_without_flags() -> None:
    with talking() as talk:
        result = talk.prompt()["result"]
    usage = {"inputTokens": 2000, "cachedReadTokens": 800, "outputTokens": 100}
    usage |= {"thoughtTokens": 20, "totalTokens": 2100}
    assert result == {"stopReason": "end_turn", "usage": usage}
    assert talk.text() == "I will read the file.Done."
    assert [u["status"] for u in talk.updates("tool_call_update")] == ["completed"]
    assert len(talk.updates("plan")) == 1


@pytest.mark.parametrize(
    ("usage", "first", "second"),
    [("turn", 2100, 2100), ("request", 1050, 1050), ("process", 2100, 4200), ("none", None, None)],
)
def test_usage_counts_what_the_flag_says(usage: str, first: int | None, second: int | None) -> None:
    with talking(f"usage={usage}") as talk:
        results = [talk.prompt()["result"]]
        results += [talk.ask(4, "session/prompt", sessionId=SESSION, prompt=[])["result"]]
    assert [r.get("usage", {}).get("totalTokens") for r in results] == [first, second]


def test_usage_of_a_session_continues_over_a_resume() -> None:
    with talking("usage=session") as talk:
        talk.ask(1, "initialize", protocolVersion=1)
        talk.ask(2, "session/resume", sessionId="earlier", cwd="/")
        result = talk.ask(3, "session/prompt", sessionId="earlier", prompt=[])["result"]
    assert result["usage"]["totalTokens"] == (2 + 2) * 1050


def test_usage_in_chunks_and_as_a_quota() -> None:
    with talking("usage=chunks") as talk:
        assert talk.prompt()["result"] == {"stopReason": "end_turn"}
    told = [
        u["_meta"]["usage"]["totalTokens"]
        for u in talk.updates("agent_message_chunk")
        if "_meta" in u
    ]
    assert told == [1050, 1050]
    with talking("usage=quota") as talk:
        counted = talk.prompt()["result"]["_meta"]["quota"]["token_count"]
    assert counted == {"input_tokens": 2000, "output_tokens": 100}


def test_the_context_comes_with_a_growing_cost() -> None:
    with talking("context=0.5") as talk:
        talk.prompt()
    assert [u["cost"]["amount"] for u in talk.updates("usage_update")] == [0.5, 1.0]


def test_load_replays_and_resume_does_not() -> None:
    for method, count in (("session/load", 6), ("session/resume", 0)):
        with talking() as talk:
            talk.ask(1, "initialize", protocolVersion=1)
            talk.ask(2, method, sessionId="earlier", cwd="/")
        assert len([line for line in talk.lines if _is_update(line)]) == count


def test_a_replay_can_follow_the_answer() -> None:
    with talking("late-replay") as talk:
        talk.ask(1, "initialize", protocolVersion=1)
        talk.ask(2, "session/load", sessionId="earlier", cwd="/")
        assert len(talk.lines) == 2
        assert talk.read_to(_is_update)


@pytest.mark.parametrize(
    ("can", "loads", "resumes"),
    [("load", True, {}), ("resume", False, {"resume": {}}), ("none", False, {})],
)
def test_what_it_can_resume(can: str, loads: bool, resumes: Json) -> None:
    with talking(f"resume={can}") as talk:
        found = talk.ask(1, "initialize", protocolVersion=1)["result"]["agentCapabilities"]
    assert found == {"loadSession": loads, "sessionCapabilities": resumes}


@pytest.mark.parametrize(
    ("kind", "status"),
    [("allow_once", "completed"), ("reject_once", "failed"), ("nothing", "failed")],
)
@pytest.mark.parametrize("starts", [False, True])
def test_it_asks_for_approval(kind: str, status: str, starts: bool) -> None:
    flags = ["ask=make", *(["ask-starts-call"] if starts else [])]
    with talking(*flags, answer=select(kind)) as talk:
        assert talk.prompt()["result"]["stopReason"] == "end_turn"
    calls = [u["title"] for u in talk.updates("tool_call")]
    ended = [u["status"] for u in talk.updates("tool_call_update")][1:]
    assert calls == ["Read hello.txt", *([] if starts else ["make"])]
    assert ended == ([] if starts and status == "failed" else [status])


def test_always_is_remembered_and_options_can_share_a_kind() -> None:
    asked = []

    def answer(request: Json) -> Json | None:
        asked.append([option["kind"] for option in request["params"]["options"]])
        return select("allow_always")(request)

    with talking("ask", "same-kinds", answer=answer) as talk:
        talk.prompt()
        talk.ask(4, "session/prompt", sessionId=SESSION, prompt=[])
    assert asked == [["allow_once", "allow_always", "allow_always", "reject_once"]]


def test_it_asks_twice_or_without_options() -> None:
    asked: list[Json] = []

    def answer(request: Json) -> Json | None:
        asked.append(request)
        return select("allow_once")(request)

    with talking("ask", "ask-twice", "string-ids", answer=answer) as talk:
        talk.prompt()
    assert [request["id"] for request in asked] == ["request-0", "request-1"]
    with talking("ask", "ask-no-options", answer=answer) as talk:
        assert talk.prompt()["result"]["stopReason"] == "end_turn"
    assert asked[-1]["params"]["options"] == []


def test_a_refusal_can_end_the_turn() -> None:
    with talking("ask", "end-on-refusal", answer=select("reject_once")) as talk:
        assert talk.prompt()["result"]["stopReason"] == "end_turn"
    assert talk.text() == "I will read the file."


def test_no_mode_is_asked_for_what_the_mode_allows() -> None:
    with talking("ask", answer=lambda _: None) as talk:
        talk.begin()
        talk.ask(3, "session/set_mode", sessionId=SESSION, modeId="auto-approve")
        assert "result" in talk.ask(4, "session/prompt", sessionId=SESSION, prompt=[])
        assert talk.ask(5, "session/set_mode", sessionId=SESSION, modeId="x")["error"]


@pytest.mark.parametrize("flag", ["hang", "ask", "work=60"])
def test_a_cancel_ends_a_turn(flag: str) -> None:
    with talking(flag, answer=lambda _: None) as talk:
        talk.begin()
        talk.tell("session/prompt", id=3, sessionId=SESSION, prompt=[])
        talk.read_to(lambda m: m.get("params", {}).get("update", {}).get("status") == "completed")
        talk.tell("session/cancel", sessionId=SESSION)
        assert talk.read_to(lambda m: m.get("id") == 3)["result"]["stopReason"] == "cancelled"


@pytest.mark.parametrize(("method", "code"), [("session/new", -32000), ("session/prompt", -31002)])
def test_a_method_can_fail(method: str, code: int) -> None:
    with talking(f"fail={method}:{code}") as talk:
        talk.ask(1, "initialize", protocolVersion=1)
        failed = talk.ask(2, "session/new", cwd="/", mcpServers=[])
        if method == "session/prompt":
            failed = talk.ask(3, method, sessionId=SESSION, prompt=[])
    assert failed["error"]["code"] == code


def test_an_unknown_method_and_session_are_errors() -> None:
    with talking() as talk:
        assert talk.ask(1, "session/fly")["error"]["code"] == -32601
        assert talk.ask(2, "session/prompt", sessionId="?")["error"]["code"] == -32602


def test_it_dies_in_the_middle_of_a_call() -> None:
    words = acp_agent_command("--script-die")
    messages = [
        {"id": 1, "method": "initialize"},
        {"id": 2, "method": "session/new"},
        {"id": 3, "method": "session/prompt", "params": {"sessionId": SESSION}},
    ]
    data = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    done = subprocess.run(words, input=data, capture_output=True, check=False, timeout=30)
    assert done.returncode == -9
    assert json.loads(done.stdout.splitlines()[-1])["params"]["update"]["title"] == "make"


def test_faults_of_the_wire() -> None:
    with talking("noise", "batch", "protocol=2", "unknown-updates", "other-session") as talk:
        first = talk.ask(1, "initialize", protocolVersion=1)["result"]
        talk.ask(2, "session/new", cwd="/", mcpServers=[])
        talk.ask(3, "session/prompt", sessionId=SESSION, prompt=[])
    assert first["protocolVersion"] == 2
    assert len(talk.junk) == 3
    assert "a word" in talk.lines
    assert any(isinstance(line, list) and len(line) > 3 for line in talk.lines)
    assert talk.updates("telepathy")
    assert OTHER_SESSION in json.dumps(talk.lines)


def test_requests_that_no_client_serves_do_not_stop_it() -> None:
    with talking("unknown-request") as talk:
        assert talk.prompt()["result"]["stopReason"] == "end_turn"
    assert "craft/drainMidTurnQueue: -32601" in talk.text()


def test_a_result_can_come_early_and_updates_late() -> None:
    with talking("early-result") as talk:
        talk.prompt()
        assert talk.text() == ""
        talk.read_to(lambda m: m.get("params", {}).get("update", {}).get("sessionUpdate") == "plan")
    with talking("late") as talk:
        talk.prompt()
        assert talk.read_to(lambda m: m.get("method") == "session/request_permission")


def test_edits_write_a_file_and_diffs_can_be_huge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with talking("edit=a.txt", "diff=1000000") as talk:
        talk.prompt()
    written = (tmp_path / "a.txt").read_text()
    diffs = [u["content"][0] for u in talk.updates("tool_call_update")[1:]]
    assert [diff["newText"] for diff in diffs] == [written, ("x" * 99 + "\n") * 10_000]


@pytest.mark.parametrize(
    ("flag", "statuses"),
    [("exit-3", ["completed"]), ("failed-call", ["failed"]), ("open-call", [])],
)
def test_calls_end_badly_or_never(flag: str, statuses: list[str]) -> None:
    with talking(flag) as talk:
        talk.prompt()
    assert len(talk.updates("tool_call")) == 2
    assert [u["status"] for u in talk.updates("tool_call_update")][1:] == statuses


def test_a_failure_as_text_and_another_stop_reason() -> None:
    with talking("error-text", "stop-reason=refusal") as talk:
        assert talk.prompt()["result"]["stopReason"] == "refusal"
    assert talk.text().endswith("Error: Authentication failed: the token is not valid.")


def test_the_variable_has_flags_too_and_a_wrong_flag_is_refused(tmp_path: Path) -> None:
    for script in ("say=Hi name=none", '{"say": "Hi", "name": "none", "hang": false}'):
        with talking(ROOK_SCRIPT=script) as talk:
            assert "agentInfo" not in talk.ask(1, "initialize", protocolVersion=1)["result"]
            talk.ask(2, "session/new", cwd="/")
            talk.ask(3, "session/prompt", sessionId=SESSION)
        assert talk.text().endswith("Hi")
    for wrong in ("--script-telepathy", "--script-usage=sometimes"):
        done = subprocess.run(acp_agent_command(wrong), capture_output=True, check=False)
        assert done.returncode == 2, done


def test_what_it_was_called_with_and_heard_is_written(tmp_path: Path) -> None:
    call, heard = tmp_path / "call", tmp_path / "heard"
    with talking(f"print-call={call}", f"print-heard={heard}") as talk:
        talk.begin()
    assert json.loads(call.read_text())["arguments"][0] == f"--script-print-call={call}"
    methods = [json.loads(line)["method"] for line in heard.read_text().splitlines()]
    assert methods == ["initialize", "session/new"]


def test_it_can_be_installed_under_a_name(tmp_path: Path) -> None:
    program = install_acp_agent(tmp_path, name="vibe-acp")
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout == "scripted-acp-agent 1.0.0\n"
    flags = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(f"--script-{name}" in flags for name in (*FLAGS, *QUIRKS))
    assert ACP_AGENT.exists()
