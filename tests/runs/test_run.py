"""A run of any command: live stderr, a result without a newline, a flood that ignores signals."""

import asyncio
from pathlib import Path

from nightrook.config.options import RunOptions
from nightrook.runs.run import Run
from nightrook.runs.start import start_command
from tests.process.recording import PATIENCE_S, python

_RESULT = '{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s"}'


def test_stderr_is_passed_on_while_stdout_is_silent(tmp_path: Path) -> None:
    code = "import sys,time; print('e', file=sys.stderr, flush=True); time.sleep(1000)"

    async def main() -> Run:
        async with start_command(
            python(code), RunOptions(cwd=str(tmp_path), home=str(tmp_path))
        ) as run:
            async with asyncio.timeout(PATIENCE_S):
                assert await anext(run.lines("stderr")) == "e"
            run.kill()
        return run

    assert asyncio.run(main()).exit_code == 130


def test_a_result_without_a_newline_is_a_result(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\nprintf '%s' '{_RESULT}'\n")
    program.chmod(0o755)

    async def main() -> Run:
        async with start_command(
            [str(program)], RunOptions(cwd=str(tmp_path), home=str(tmp_path))
        ) as run:
            await run.wait()
        return run

    run = asyncio.run(main())
    assert len(run.state.results) == 1


def test_a_flooding_child_that_ignores_sigterm_cannot_hang_us(tmp_path: Path) -> None:
    command = ["sh", "-c", "trap '' TERM; (while :; do echo y; done) & sleep 0.1"]

    async def main() -> Run:
        async with start_command(command, RunOptions(cwd=str(tmp_path), home=str(tmp_path))) as run:
            async with asyncio.timeout(PATIENCE_S):
                await run.wait()
        return run

    assert asyncio.run(main()).exit_code == 0


def test_the_space_that_was_reserved_is_free_at_the_end(tmp_path: Path) -> None:
    options = RunOptions(cwd=str(tmp_path), home=str(tmp_path))

    async def main() -> Run:
        async with start_command(["sh", "-c", "ls $ROOK_RUN_DIR/.room"], options) as run:
            await run.wait()
        return run

    run = asyncio.run(main())
    assert run.exit_code == 0
    assert not (run.folder.path / ".room").exists()
