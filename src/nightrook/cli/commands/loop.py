"""`rook loop`: run an agent repeatedly until the work is done."""

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click
import msgspec
from click.core import ParameterSource
from msgspec.structs import replace

from nightrook import agents
from nightrook.cli.ci_output import CiOutput
from nightrook.cli.detach_run import print_started
from nightrook.cli.end_actions import EndActions
from nightrook.cli.options.agent_args import AgentArgs, agent_args
from nightrook.cli.options.defaults import print_project_settings, resolve_agent
from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.options.piped_input import PipedStdin, given_prompt
from nightrook.cli.terminal.foreground import show_run
from nightrook.cli.terminal.interrupts import on_interrupts
from nightrook.cli.terminal.loop_view import LoopOutput, put_end
from nightrook.cli.terminal.output import put_json
from nightrook.config.options import EndOptions, LoopOptions, ViewOptions
from nightrook.display.loops import LoopView
from nightrook.display.reports.report import Report
from nightrook.loops.ceilings import CEILING_OPTIONS
from nightrook.loops.effects import RealEffects
from nightrook.loops.events import AGENT_EVENTS
from nightrook.loops.loop import Loop
from nightrook.loops.plan import LoopPlan, plan_of
from nightrook.loops.prompts import VARIABLES, unknown_variables
from nightrook.loops.start import new_loop, resumed_loop
from nightrook.model.safe import safe_line
from nightrook.model.status import LOOP_EXIT_CODES, LoopEnd
from nightrook.process.background import in_background, write_errors_to
from nightrook.process.systems.this_system import system
from nightrook.runs.detach import PATIENCE_S, first_message, stop_at_signals
from nightrook.runs.run import Run

_EXAMPLES = """\b
Examples:
  rook loop "Fix the failing tests" --check "pytest -q" --max-cost 5
  rook loop --prompt-file TASK.md --signal PHASE_COMPLETE --max-iterations 10
  rook loop "Port the parser" --until DONE --on-limit switch:codex --commit
  rook loop --resume loop-k7f3
  rook loop --detach --prompt-file TASK.md    prints its name for rook attach
\b
Filled in before every iteration: {{iteration}}, {{max_iterations}}, {{left}},
{{last_answer}} and {{check_output}}.
"""


@click.command("loop", cls=AgentArgs, epilog=_EXAMPLES)
@takes("loop", LoopOptions, ViewOptions, EndOptions)
@argument("prompt", nargs=-1, metavar="PROMPT [-- AGENT ARGS]", type=click.UNPROCESSED)
def command(
    options: LoopOptions,
    view_options: ViewOptions,
    end_options: EndOptions,
    prompt: tuple[str, ...],
) -> None:
    """Run an agent repeatedly until the work is done or a ceiling is reached.

    Exit codes: 0 the goal is met, 5 a ceiling was reached, 6 the provider's limit, 7 stuck or no
    progress, 8 the agent says it is done but a check fails, 9 not started, 130 interrupted.
    """
    jsonl = options.format == "jsonl"
    if options.detach and jsonl:
        raise click.UsageError("--detach and --format can't be combined")
    if options.resume is not None:
        if prompt or options.prompt_file:
            raise click.UsageError("--resume can't be combined with a prompt")
        loop = resumed_loop(options.resume, ceilings=_changed_ceilings(options))
    else:
        print_project_settings()
        loop = new_loop(_plan(prompt, options))
    view_options = replace(view_options, quiet=options.quiet or jsonl)
    ends = EndActions(end_options, lively=not view_options.quiet)
    ends.warn()
    if options.detach:
        at_end = partial(ends.finish, lambda: _report(loop), detached=True)
        raise click.exceptions.Exit(put_loop_away(loop, at_end, quiet=options.quiet))
    code = asyncio.run(_watch(loop, view_options, ends.ci, jsonl=jsonl))
    ends.finish(lambda: _report(loop))
    raise click.exceptions.Exit(code)


def _changed_ceilings(options: LoopOptions) -> dict[str, float]:
    """The ceilings on the command line; a resumed loop takes no other options of a plan."""
    ctx = click.get_current_context()
    given = [
        param
        for param in ctx.command.params
        if param.name in LoopOptions.__struct_fields__
        and param.name not in ("resume", "format", "quiet", "detach")
        and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    ]
    for param in given:
        if param.name not in CEILING_OPTIONS:
            raise click.UsageError(
                f"--resume and {param.opts[-1]} can't be combined: a loop keeps its options"
            )
    return {CEILING_OPTIONS[str(param.name)]: getattr(options, str(param.name)) for param in given}


def _plan(words: tuple[str, ...], options: LoopOptions) -> LoopPlan:
    agent, program, called = resolve_agent(options.agent)
    prompt, stdin = given_prompt(
        words,
        options.prompt_file,
        PipedStdin(options.stdin_mode, quiet=options.quiet),
        limit=agents.agent(agent).prompt_limit,
        example='rook loop "Fix the tests" --check "pytest"',
    )
    for name in unknown_variables(prompt):
        known = ", ".join(VARIABLES)
        message = f"{{{{{name}}}}} is not a known variable and is left as it is; known: {known}"
        click.echo(f"[rook] WARNING: {safe_line(message)}", err=True)
    file = None if options.prompt_file == "-" else options.prompt_file
    return plan_of(
        replace(options, agent=agent, prompt_file=file),
        prompt="" if file else prompt,
        stdin=stdin,
        program=program,
        called=called,
        args=tuple(agent_args()),
        needs_cost=not options.max_cost_unchecked and _is_set("max_cost"),
    )


def _is_set(name: str) -> bool:
    """True for an option on the command line or in the settings."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not ParameterSource.DEFAULT


async def _watch(loop: Loop, view_options: ViewOptions, ci: CiOutput, *, jsonl: bool) -> int:
    """Display a loop to its end; Ctrl-C ends it, the second time at once."""
    system.become_subreaper()
    output = LoopOutput(loop.plan, view_options, ci)
    if isinstance(loop.effects, RealEffects) and not view_options.quiet:
        loop.effects.on_run = lambda run, attempt: output.add_run(
            attempt, lambda: show_run(run, view_options, None, output.echo)
        )
    async with loop:
        on_interrupts(lambda number: loop.stop(by=number.name), output.echo)
        async for event in loop:
            if jsonl:
                put_json(sys.stdout, msgspec.json.encode(event))
            elif not isinstance(event, AGENT_EVENTS):  # the run itself is displayed
                await output.show(event)
    output.close()
    if not jsonl:
        put_end(_view(loop))
    assert loop.exit_code is not None
    return loop.exit_code


def _view(loop: Loop) -> LoopView:
    """A loop that has ended."""
    now = loop.effects.now()
    return LoopView(name=loop.name, plan=loop.plan, state=loop.state, is_running=False, now=now)


def _report(loop: Loop) -> Report:
    from nightrook.cli.reports import (
        report_of_loop,
    )  # rarely needed, and it imports a lot

    return report_of_loop(_view(loop))


class LoopStart(msgspec.Struct, frozen=True, kw_only=True):
    """The start of a loop in the background, and its end, if it is over already."""

    end: LoopEnd | None = None
    reason: str = ""


def put_loop_away(loop: Loop, at_end: Callable[[], None], *, quiet: bool) -> int:
    """Start a loop in the background and print its name; return its exit code if it is over."""
    start = detach_loop(loop, at_end)
    code = 0 if start.end is None else LOOP_EXIT_CODES[start.end]
    ended = None if start.end is None else f"{start.end.replace('_', ' ')} · {start.reason}"
    print_started(loop.name, ended, quiet=quiet and not code)
    return code


def detach_loop(loop: Loop, at_end: Callable[[], None]) -> LoopStart:
    """Start a loop in its own session; return when its first agent works, or the loop has ended.

    `at_end` is called once in that session when the loop has ended. A NightrookError says why the
    loop could not start. Later errors are in the loop's folder.
    """

    def work(report: Callable[[LoopStart], None]) -> None:
        asyncio.run(_run(loop, report))
        at_end()

    return in_background(work, LoopStart)


async def _run(loop: Loop, report: Callable[[LoopStart], None]) -> None:
    stop_at_signals(lambda signal_name: loop.stop(by=signal_name))
    first_run: asyncio.Future[Run] = asyncio.get_running_loop().create_future()
    if isinstance(loop.effects, RealEffects):
        loop.effects.on_run = lambda run, _: _keep_first(first_run, run)
    async with loop:
        write_errors_to(loop.folder.runner_log())
        ending = asyncio.ensure_future(loop.wait())
        await _first_sign(first_run, ending)
        report(LoopStart(end=loop.end, reason=loop.state.reason))
        await ending


def _keep_first(first_run: asyncio.Future[Run], run: Run) -> None:
    if not first_run.done():
        first_run.set_result(run)


async def _first_sign(first_run: asyncio.Future[Run], ending: asyncio.Future[LoopEnd]) -> None:
    """Wait until the first agent has written a message or the loop has ended, but not too long."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            either: list[asyncio.Future[Any]] = [first_run, ending]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if ending.done():
                return
            await first_message(first_run.result())
            if not first_run.result().state.heard:
                await asyncio.wait([ending])  # an agent that cannot start ends the loop
    except TimeoutError:
        return
