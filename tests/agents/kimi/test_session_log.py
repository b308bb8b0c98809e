"""How an answer ended, by Kimi Code's own log of the session."""

from pathlib import Path

import pytest

from nightrook.agents.kimi.history import SESSION_LOG, broke_off, folder, pattern
from nightrook.runs.agent_session_log import answer_broke_off
from tests.rules import each

HERE = Path(__file__).parent
LOGS = sorted(HERE.glob("transcripts/*/.kimi-code/sessions/*/*/agents/main/wire.jsonl"))
# As Kimi Code 2.1.0 wrote it when the model's stream had ended early.
CUT = (
    b'{"message":{"message":{"role":"assistant","content":[{"type":"text","text":"This answer will'
    b'"}],"toolCalls":[]},"meta":{"model":{"provider":"agent-loop","model":"agent-loop"},"source":'
    b'"llm","usage":{"inputOther":0,"output":0,"inputCacheRead":0,"inputCacheCreation":0},"finish":'
    b'{"finishReason":null,"rawFinishReason":null},"messageId":"chatcmpl-1"}},"type":'
    b'"agent.message.appended","time":1794989592686,"kind":"event"}\n'
)
WHOLE = CUT.replace(b'"finishReason":null', b'"finishReason":"completed"')


@each("path", LOGS, ids=lambda path: path.parts[-8])
def test_no_whole_answer_of_a_recorded_session_broke_off(path: Path) -> None:
    assert True not in [broke_off(line) for line in path.read_bytes().splitlines()]


@pytest.mark.parametrize(
    ("lines", "is_cut"),
    [
        ([CUT], True),
        ([WHOLE], False),
        ([WHOLE, CUT], True),
        ([CUT, WHOLE], False),
        ([CUT.replace(b'"llm"', b'"tool"')], False),
        ([CUT.replace(b'"finish":', b'"other":')], False),
        ([CUT[:200]], False),
        ([], False),
    ],
)
def test_the_last_answer_counts(tmp_path: Path, lines: list[bytes], is_cut: bool) -> None:
    log = tmp_path / "sessions" / "wd_project" / "session_1" / "agents" / "main" / "wire.jsonl"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"".join(lines))
    environment = {"KIMI_CODE_HOME": str(tmp_path)}
    assert answer_broke_off(SESSION_LOG, "session_1", environment) is is_cut
    assert not answer_broke_off(SESSION_LOG, "session_2", environment)


def test_where_the_log_is() -> None:
    assert folder({"HOME": "/home/dev"}) == "/home/dev/.kimi-code/sessions"
    assert folder({}) is None


@pytest.mark.parametrize("id", ["", "session_", "session_*", "session_../x", "session_a/b", "x"])
def test_an_id_that_is_not_one_of_kimi_s_leads_nowhere(id: str) -> None:
    assert pattern(id) is None
