"""Shows a run while it goes on: its lines to stdout, ours to stderr, Ctrl-C to the run."""

import asyncio
import shlex
import signal
import sys
from typing import TextIO

import msgspec

from rookery.cli.screens import put
from rookery.core.completion import final_text
from rookery.core.safe import safe, safe_line
from rookery.core.summary import summarise
from rookery.display.plain import PlainDisplay
from rookery.run import contain
from rookery.run.runner import Run


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is shown."""

    verbose: bool = False
    quiet: bool = False
    text: bool = True
    json: bool = False


def watch(run: Run, manner: Manner) -> int:
    """Run to the end, showing it; give the exit code that tells how it ended."""
    return asyncio.run(_watch(run, manner))


async def _watch(run: Run, manner: Manner) -> int:
    loop = asyncio.get_running_loop()
    silent = manner.quiet or manner.json
    async with run:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, run.stop)
        for words in contain.promises():
            _say(f"[rook] WARNING: {words}")
        if not silent:
            _say(f"[rook] Agent command: {command_line(run)}", err=False)
        async with asyncio.TaskGroup() as group:
            group.create_task(_pass_on_stderr(run))
            group.create_task(_show(run, manner, silent=silent))
        verdict = await run.wait()
    if manner.json:
        summary = summarise(run.state, file=str(run.folder.path), agent=_agent_name(run))
        ok = verdict.status == "success" if run.agent is None else summary.ok
        told = msgspec.structs.replace(summary, ok=ok, status=verdict.status)
        _say(msgspec.json.encode(told).decode(), err=False)
    elif manner.quiet and run.agent is not None:
        _say(safe(final_text(run.state) or ""), err=False)
    _say_end(run, manner)
    return verdict.exit_code


async def _show(run: Run, manner: Manner, *, silent: bool) -> None:
    if run.agent is None:
        if not manner.json:
            await _pass_on_stdout(run)
        return
    display = PlainDisplay(
        sys.stdout,
        run.agent.name,
        state=run.state,
        verbose=manner.verbose,
        text=manner.text,
    )
    async for record in run:
        lines = [] if silent else list(display.lines(record))
        if lines:
            await _write(sys.stdout, "\n".join(lines))


async def _pass_on_stdout(run: Run) -> None:
    """Show what a command wrote that no adapter knows, line by line and safe."""
    async for line in run.lines("stdout"):
        await _write(sys.stdout, safe(line))


async def _pass_on_stderr(run: Run) -> None:
    async for line in run.lines("stderr"):
        await _write(sys.stderr, safe_line(line))


async def _write(out: TextIO, words: str) -> None:
    """Write a line apart from the loop: a reader that is stalled must not stall the run."""
    await asyncio.to_thread(put, out, words)


def command_line(run: Run) -> str:
    """The command as one would type it."""
    return safe_line(shlex.join(run.command))


def _say_end(run: Run, manner: Manner) -> None:
    verdict = run.verdict
    assert verdict is not None
    exit = run.folder.exit()
    if exit and (lost := exit.lost_stdout + exit.lost_stderr):
        _say(f"[rook] WARNING: the disk was full: {lost} bytes of its output were lost")
    if manner.verbose:
        stats = run.stats
        _say(f"[rook] stream stats: {stats.events} events, {stats.errors} errors")
    _say(f"[rook] {verdict.status.replace('_', ' ')} · {safe_line(verdict.sentence)}")
    if verdict.status == "not_started":
        if run.agent and "was found" in verdict.sentence:
            install = run.agent.install
            _say(f"[rook] install it:  {install}   ·   or see it work without:  rook demo")
    else:
        _say(f"[rook] rook show {run.name}" + _resume_hint(run))


def _resume_hint(run: Run) -> str:
    return f' · rook run --resume {run.name} "…"' if run.agent and run.state.session else ""


def _agent_name(run: Run) -> str | None:
    return run.agent.name if run.agent else None


def _say(words: str, *, err: bool = True) -> None:
    put(sys.stderr if err else sys.stdout, words)
