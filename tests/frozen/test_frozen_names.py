"""The names that programs outside use: of the package, of commands, of variables and files."""

import asyncio
import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from tests.frozen.rook import HERE, environment, rook

import nightrook
import nightrook.testing

PUBLIC = (
    "Agent",
    "Ask",
    "Decision",
    "Decoder",
    "Event",
    "Record",
    "NightrookError",
    "UndetectedAgentError",
    "UnknownAgentError",
    "UnreadableSourceError",
    "__version__",
    "decode",
    "decode_async",
    "decoder",
    "dump",
    "final_text",
    "is_complete",
    "load",
    "loop",
    "output_flags",
    "parser_for",
    "run",
    "run_sync",
    "schema",
)
FOR_TESTS = (
    "AGENT",
    "DEMO",
    "SESSIONS",
    "Answer",
    "Cut",
    "Failure",
    "Reply",
    "Script",
    "ScriptedApi",
    "ScriptedChatApi",
    "ScriptedGeminiApi",
    "ScriptedMessagesApi",
    "ScriptedResponsesApi",
    "agent_command",
    "install_agent",
    "mcp_command",
)
CALLED = (
    *("decode", "decode_async", "decoder", "dump", "final_text", "is_complete", "load", "loop"),
    *("output_flags", "parser_for", "run", "run_sync", "schema"),
)


def test_the_public_names_can_be_imported() -> None:
    assert [name for name in PUBLIC if name not in nightrook.__all__] == []
    assert [name for name in PUBLIC if not hasattr(nightrook, name)] == []


def test_the_names_for_tests_can_be_imported() -> None:
    assert [name for name in FOR_TESTS if not hasattr(nightrook.testing, name)] == []


def test_the_public_functions_can_be_called() -> None:
    assert [name for name in CALLED if not callable(getattr(nightrook, name))] == []


def test_the_errors_are_nightrook_errors() -> None:
    errors = (
        nightrook.UndetectedAgentError,
        nightrook.UnknownAgentError,
        nightrook.UnreadableSourceError,
    )
    assert all(issubclass(error, nightrook.NightrookError) for error in errors)


def test_the_schema_of_a_record_is_the_stored_one(tmp_path: Path) -> None:
    stored = (HERE / "record.schema.json").read_bytes()
    assert rook("schema", env=environment(tmp_path), cwd=tmp_path).stdout == stored
    assert nightrook.schema() == json.loads(stored)


# A parser and the output flags for an agent's command; none for a stranger.
@pytest.mark.parametrize("command", ["claude", "/usr/bin/claude", "CLAUDE.exe", "codex", "amp"])
def test_a_command_has_a_parser_and_output_flags(command: str) -> None:
    assert nightrook.parser_for(command) is not None
    assert nightrook.output_flags(command)


def test_claude_is_asked_for_a_stream() -> None:
    flags = " ".join(nightrook.output_flags("claude") or ())
    assert "--output-format stream-json" in flags
    assert "--verbose" in flags


def test_a_stranger_has_neither() -> None:
    assert nightrook.parser_for("some-other-agent") is None
    assert not nightrook.output_flags("some-other-agent")


# The final text of a stream, and whether it is the completion that was asked for.
def test_the_final_text_and_the_completion_are_read_from_a_stream() -> None:
    stream = (nightrook.testing.SESSIONS / "short.jsonl").read_bytes()
    assert nightrook.final_text(stream) == "Done."
    assert nightrook.is_complete(stream, "Done.")
    assert not nightrook.is_complete(stream, "other")


# What a run tells a program: events and errors counted, the last activity, the whole stdout.
def test_a_run_keeps_its_public_names(tmp_path: Path) -> None:
    program = nightrook.testing.install_agent(tmp_path, "--script-say=hi")

    async def main() -> tuple[Any, list[nightrook.Record], list[nightrook.Record]]:
        made = nightrook.run("claude", "hi", cwd=tmp_path, home=tmp_path, program=str(program))
        async with made as run:
            live = [record async for record in run.live()]
            return run, live, [record async for record in run]

    run, live, records = asyncio.run(main())
    assert live == records
    assert run.stats.events == len(records)
    assert run.stats.errors == 0
    assert run.last_activity > 0
    assert run.verdict.status == "success"
    assert run.exit_code == run.verdict.exit_code == 0
    assert run.stdout() == (run.folder.path / "stdout.raw").read_bytes()
    assert run.name == run.folder.path.name
    assert run.is_over


def test_a_run_without_an_event_loop_gives_its_end(tmp_path: Path) -> None:
    program = nightrook.testing.install_agent(tmp_path, "--script-say=hi")
    run = nightrook.run_sync("claude", "hi", cwd=tmp_path, home=tmp_path, program=str(program))
    assert run.verdict is not None
    assert run.verdict.status == "success"


def test_what_reads_records_takes_the_arguments_of_today() -> None:
    assert list(inspect.signature(nightrook.decode).parameters)[:2] == ["source", "agent"]
