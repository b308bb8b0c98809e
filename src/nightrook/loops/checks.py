"""Runs check commands: with a time limit, under guard, output bounded."""

import time

from nightrook.loops.state import Check
from nightrook.process.guarded_command import run_guarded


async def run_check(command: str, *, cwd: str, timeout_s: float, marker: str) -> Check:
    """Run a command with the shell, since it is the user's own text.

    None of its processes outlives it, or us; `marker` is the same for all checks of a loop.
    """
    started = time.monotonic()
    words = ["/bin/sh", "-c", command]
    try:
        ended = await run_guarded(words, cwd=cwd, marker=marker, timeout_s=timeout_s)
    except OSError as error:
        text = f"[rook] the check cannot run in {cwd}: {error.strerror}"
        return Check(command=command, ok=False, output=text)
    late, text = ended.timed_out, ended.output.decode("utf-8", "replace")
    if late:
        text += f"\n[rook] the check timed out after {timeout_s:g} s"
    return Check(
        command=command,
        ok=ended.exit_code == 0 and not late,
        exit_code=ended.exit_code,
        stopped="timed_out" if late else None,  # guards: late-check-fails
        duration_s=time.monotonic() - started,
        output=text,
    )
