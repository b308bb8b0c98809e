"""`rook loop`: run an agent again until the work is done."""

import asyncio
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any, get_args

import click
import msgspec
from click.core import ParameterSource

from rookery.adapter.agent import Permission
from rookery.cli.commands.loops import put_table, say
from rookery.cli.commands.run import AgentArgs, agent_args
from rookery.cli.live.loop_view import View
from rookery.cli.live.output import put
from rookery.cli.options.defaults import chosen_agent, tell_what_a_project_allows
from rookery.cli.options.types import Count, Dollars, Duration
from rookery.cli.options.view_options import Manner
from rookery.display import loop_words
from rookery.display.console.look import look_of
from rookery.loops.driver import Loop
from rookery.loops.effects import RealHands
from rookery.loops.events import (
    INSIDE,
    LoopEvent,
)
from rookery.loops.plan import Ceilings, Feed, Goal, LoopPlan, OnLimit, OnStuck
from rookery.loops.prompts import VARIABLES, unknown_variables
from rookery.loops.start import new_loop, resumed_loop
from rookery.model.safe import safe

_EXAMPLES = """\b
Examples:
  rook loop "Fix the failing tests" --check "pytest -q" --max-cost 5
  rook loop --prompt-file TASK.md --signal PHASE_COMPLETE --max-iterations 10
  rook loop "Port the parser" --until DONE --on-limit switch:codex --commit
  rook loop --resume loop-k7f3
\b
In the prompt, {{iteration}}, {{max_iterations}}, {{last_answer}}, {{check_output}} and {{left}}
are filled in anew each time.
"""
_USUAL = Ceilings()


class Share(click.ParamType[float]):
    """A share, as a percentage or from 0 to 1."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read `80%` or `0.8`."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", value)
        share = float(found[1]) / (100 if found[2] else 1) if found else -1.0
        if not 0 < share <= 1:
            self.fail(f"{value!r} is no share: write 80% or 0.8", param, ctx)
        return share


class LimitPolicy(click.ParamType[OnLimit]):
    """What to do at a provider's limit."""

    name = "policy"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> OnLimit:
        """Read `wait`, `stop` or `switch:AGENT`."""
        if isinstance(value, OnLimit):
            return value
        do, _, agent = value.partition(":")
        if (do == "switch") != bool(agent) or do not in ("wait", "stop", "switch"):
            self.fail(f"{value!r} is not known: write wait, stop or switch:AGENT", param, ctx)
        return OnLimit(do=do, agent=agent or None)


class Unasked(click.Choice[str]):
    """A permission for a loop, which nobody watches: one that asks is meant for other commands."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take what was given; a setting that asks gives way to the default, and says so."""
        source = ctx.get_parameter_source(str(param.name)) if ctx and param else None
        if value != "ask" or param is None or source is ParameterSource.COMMANDLINE:
            return super().convert(value, param, ctx)
        usual = str(param.default)
        click.echo(
            f'[rook] your settings say permission = "ask", but a loop cannot ask: '
            f"it takes {usual!r}, or say --permission",
            err=True,
        )
        return usual


@click.command("loop", cls=AgentArgs, epilog=_EXAMPLES)
@click.option(
    "--agent",
    metavar="NAME",
    default="claude",
    show_default=True,
    help="The agent to run: `rook agents` lists them.",
)
@click.option("--via", metavar="WAY", help="How to run it, if it has several ways.")
@click.option("--model", metavar="NAME", help="The model to ask for.")
@click.option(
    "--cwd",
    type=click.Path(file_okay=False, exists=True),
    default=".",
    help="The folder to work in.",
)
@click.option(
    "--permission",
    type=Unasked([each for each in get_args(Permission) if each != "ask"]),
    default="agent",
    show_default=True,
    help="What it may do unasked: edit files, all, only plan, or what its settings say.",
)
@click.option("--allow", multiple=True, metavar="RULE", help="A tool it may use; may be repeated.")
@click.option("--until", metavar="TEXT", help="Done when the whole answer is this.")
@click.option("--signal", "signals", multiple=True, metavar="WORD", help="Done at this line.")
@click.option("--ask-done", is_flag=True, help="Ask for a word that says done, new each time.")
@click.option("--check", "checks", multiple=True, metavar="CMD", help="Must pass; repeatable.")
@click.option("--check-timeout", type=Duration(), default=600.0, help="For one check.  [10m]")
@click.option(
    "--feed",
    type=click.Choice(list(get_args(Feed))),
    default="append",
    show_default=True,
    help="Where a failed check's output goes in the next prompt.",
)
@click.option(
    "--feed-bytes", type=Count(), default=8000, show_default=True, help="At most so much."
)
@click.option(
    "--max-iterations",
    type=Count(),
    metavar="N",
    default=_USUAL.iterations,
    show_default=True,
    help="Waits are none.",
)
@click.option("--max-time", type=Duration(), default=_USUAL.time_s, help="For the loop.  [8h]")
@click.option(
    "--max-cost",
    type=Dollars(),
    metavar="USD",
    default=_USUAL.cost_usd,
    show_default=True,
    help="For the loop.",
)
@click.option(
    "--max-tokens",
    type=Count(),
    metavar="N",
    default=_USUAL.tokens,
    show_default=True,
    help="For the loop.",
)
@click.option(
    "--max-turns",
    type=Count(),
    metavar="N",
    default=_USUAL.turns,
    show_default=True,
    help="For the loop.",
)
@click.option("--timeout", type=Duration(), help="Stop one iteration after this long.")
@click.option("--idle-timeout", type=Duration(), default=600.0, help="Silence to suspect.  [10m]")
@click.option(
    "--on-stuck",
    type=click.Choice(list(get_args(OnStuck))),
    default="stop",
    show_default=True,
    help="When it shows no sign of life.",
)
@click.option(
    "--on-limit",
    type=LimitPolicy(),
    default="wait",
    show_default=True,
    metavar="wait|stop|switch:AGENT",
    help="When the provider's limit is reached.",
)
@click.option("--max-quota", type=Share(), help="Begin nothing beyond this share of a quota.")
@click.option("--continue-session", is_flag=True, help="Go on with the session, not a fresh one.")
@click.option("--commit", is_flag=True, help="Commit what each iteration changed.")
@click.option("--worktree", is_flag=True, help="Work in a worktree of its own.")
@click.option("--prompt-file", type=click.Path(dir_okay=False, exists=True), help="Read anew.")
@click.option("--resume", metavar="LOOP", help="Go on with a loop that stopped.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "jsonl"]),
    default="text",
    show_default=True,
    help="Lines for people, or the loop's events as JSON lines.",
)
@click.option("--quiet", "-q", is_flag=True, help="Only the table at the end.")
@click.option("--verbose", "-v", is_flag=True, help="Outputs, retries, limits, notices.")
@click.argument("prompt", nargs=-1, metavar="PROMPT [-- AGENT ARGS]", type=click.UNPROCESSED)
def loop_(
    prompt: tuple[str, ...],
    resume: str | None,
    prompt_file: str | None,
    form: str,
    quiet: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Run an agent again and again until the work is done, and never beyond its ceilings.

    The exit code tells why it ended: 0 the goal is met, 5 a ceiling, 6 the provider's limit, 7
    stuck or no progress, 8 the agent says done but a check says no, 9 not started, 130 interrupted.
    """
    if resume is not None:
        if prompt or prompt_file:
            raise click.UsageError("--resume goes on with what was asked: leave the prompt out")
        going = resumed_loop(resume, ceilings=_raised(options))
    else:
        tell_what_a_project_allows()
        going = new_loop(_plan(prompt, prompt_file, options))
    manner = Manner(verbose=verbose, quiet=quiet or form == "jsonl")
    raise click.exceptions.Exit(asyncio.run(_watch(going, manner, jsonl=form == "jsonl")))


_CEILINGS = {
    "max_iterations": "iterations",
    "max_time": "time_s",
    "max_cost": "cost_usd",
    "max_tokens": "tokens",
    "max_turns": "turns",
}
"""The options that are ceilings, and what a plan calls them."""


def _raised(options: dict[str, Any]) -> dict[str, float]:
    """The ceilings that were given; nothing else of what was asked can be given anew."""
    ctx = click.get_current_context()
    given = [
        param
        for param in ctx.command.params
        if param.name in options
        and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    ]
    for param in given:
        if param.name not in _CEILINGS:
            raise click.UsageError(
                f"--resume goes on with what was asked: leave out {param.opts[-1]}"
            )
    return {_CEILINGS[str(param.name)]: options[str(param.name)] for param in given}


def _plan(prompt: tuple[str, ...], prompt_file: str | None, options: dict[str, Any]) -> LoopPlan:
    if prompt_file is None and (not prompt or not prompt[0].strip()):
        raise click.UsageError('the prompt is missing: rook loop "Fix the tests" --check "pytest"')
    if len(prompt) + (prompt_file is not None) > 1:
        raise click.UsageError("there is more than one prompt: put quotes around it")
    text = prompt[0] if prompt else Path(prompt_file or "").read_text("utf-8", "replace")
    for name in unknown_variables(text):
        known = ", ".join(VARIABLES)
        click.echo(f"[rook] WARNING: {{{{{name}}}}} is left as it is; known are {known}", err=True)
    take = options.pop
    chosen = chosen_agent(take("agent"))
    return LoopPlan(
        agent=chosen.agent,
        program=chosen.program,
        called=chosen.called,
        prompt="" if prompt_file else text,
        prompt_file=prompt_file,
        goal=Goal(
            until=take("until"),
            signals=take("signals"),
            ask_done=take("ask_done"),
            checks=take("checks"),
        ),
        ceilings=Ceilings(**{field: take(option) for option, field in _CEILINGS.items()}),
        iteration_s=take("timeout"),
        idle_s=take("idle_timeout"),
        check_s=take("check_timeout"),
        args=tuple(agent_args()),
        **options,
    )


async def _watch(going: Loop, manner: Manner, *, jsonl: bool) -> int:
    """Show a loop to its end; Ctrl-C ends it, the second time at once."""
    view = View(going.plan, manner)
    if isinstance(going.hands, RealHands) and not manner.quiet:
        going.hands.watch = view.watch
    async with going:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, going.stop)
        async for event in going:
            if jsonl:
                put(sys.stdout, _json(event))
            elif not isinstance(event, INSIDE):  # its run is shown as any other
                await view.tell(event)
    view.close()
    if not jsonl:
        _put_end(going)
    assert going.exit_code is not None
    return going.exit_code


def _json(event: LoopEvent) -> str:
    line = msgspec.json.encode(event).decode()
    return safe(line) if look_of(sys.stdout, os.environ).terminal else line


def _put_end(loop: Loop) -> None:
    """Say what was done, how it ended, what it took and where it is kept."""
    look = look_of(sys.stdout, os.environ)
    if look.terminal:
        put(sys.stdout, "")
    put_table(loop.state)
    assert loop.end is not None
    say(loop_words.ending(loop.end, loop.state.reason, look.paint()))
    say(f"{loop_words.total(loop.state, now=loop.hands.now())} · rook show {loop.name}")
    for line in loop_words.way_on(loop.name, loop.plan, loop.state):
        say(line)
