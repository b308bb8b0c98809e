"""Runs the user's check commands: with a time limit, in their own group, their output bounded."""

import asyncio
import os
import signal
import time
from collections.abc import Mapping

from rookery.loop.state import Check

_MOST_OUTPUT = 64 * 1024
_PIECE = 64 * 1024


async def run_check(
    command: str, *, cwd: str, timeout_s: float, environment: Mapping[str, str] | None = None
) -> Check:
    """Run a command by the shell, for it is the user's own text, and tell how it went."""
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        "/bin/sh",
        "-c",
        command,
        cwd=cwd,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    reading = asyncio.create_task(_tail(process.stdout))
    late = False
    try:
        async with asyncio.timeout(timeout_s):
            await process.wait()
            await reading
    except TimeoutError:
        late = True
    finally:
        _end_group(process.pid)
        await process.wait()
    output = (await reading).decode("utf-8", "replace")
    if late:
        output += f"\n[rook] the check was ended after {timeout_s:.0f} s"
    code = None if late else process.returncode
    return Check(
        command=command,
        ok=code == 0,
        exit_code=code,
        duration_s=time.monotonic() - began,
        output=output,
    )


async def _tail(stream: asyncio.StreamReader) -> bytes:
    """Read to the end and keep the last part: that is where a check says what is wrong."""
    kept = b""
    while piece := await stream.read(_PIECE):
        kept = (kept + piece)[-_MOST_OUTPUT:]
    return kept


def _end_group(pid: int) -> None:
    """End whatever the check left running in its session's group."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
