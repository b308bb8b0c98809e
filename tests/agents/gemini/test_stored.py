"""Stored sessions of Gemini CLI: what the recorded ones do not show."""

from nightrook import agents
from nightrook.model.events import SessionStarted


def test_a_session_has_the_first_of_the_folders_that_its_facts_name() -> None:
    decoder = agents.transcript("gemini").decoder()
    records = decoder.feed(
        b'{"sessionId":"s1","startTime":"2026-11-07T21:50:15Z","directories":["/home/dev/x"]}\n'
        b'{"id":"m1","type":"user","content":[{"text":"hello"}]}\n'
    )
    assert records[0].event == SessionStarted(session="s1", cwd="/home/dev/x")
