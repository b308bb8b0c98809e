"""`rook loop`: run an agent repeatedly until the work is done."""

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
from rookery.cli.commands.loops import put_runs, say
from rookery.cli.commands.run import AgentArgs, agent_args
from rookery.cli.live.loop_view import LoopOutput
from rookery.cli.live.output import put
from rookery.cli.options.defaults import chosen_agent, tell_what_a_project_allows
from rookery.cli.options.types import Count, Dollars, Duration
from rookery.cli.options.view_options import Manner
from rookery.display.console.look import look_of
from rookery.display.loops.summary import LoopView
from rookery.loops.driver import Loop
from rookery.loops.effects import RealEffects
from rookery.loops.events import AGENT_EVENTS, LoopEvent
from rookery.loops.plan import Ceilings, FeedMode, Goal, LoopPlan, OnLimit, OnStuck, make_plan
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
are filled in before every iteration.
"""
_DEFAULT = Ceilings()


class Share(click.ParamType[float]):
    """A share, as a percentage or from 0 to 1."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read `80%` or `0.8`."""
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", value)
        share = float(match[1]) / (100 if match[2] else 1) if match else -1.0
        if not 0 < share <= 1:
            self.fail(f"{value!r} isn't a share: write 80% or 0.8", param, ctx)
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
            self.fail(f"{value!r} isn't a policy: write wait, stop or switch:AGENT", param, ctx)
        return OnLimit(do=do, agent=agent or None)


class Unasked(click.Choice[str]):
    """A permission for a loop, which cannot ask for approval."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Accept a permission; `ask` in a settings file is replaced by the default."""
        source = ctx.get_parameter_source(str(param.name)) if ctx and param else None
        if value != "ask" or param is None or source is ParameterSource.COMMANDLINE:
            return super().convert(value, param, ctx)
        default = str(param.default)
        click.echo(
            f'[rook] your settings have permission = "ask", but a loop cannot ask: '
            f"using {default!r}; choose another with --permission",
            err=True,
        )
        return default


@click.command("loop", cls=AgentArgs, epilog=_EXAMPLES)
@click.option(
    "--agent",
    metavar="NAME",
    default="claude",
    show_default=True,
    help="The agent to run (see `rook agents`).",
)
@click.option("--via", metavar="WAY", help="How to run the agent, if there are several ways.")
@click.option("--model", metavar="NAME", help="The model to use.")
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
    help="Permissions: edit files, everything, plan only, or the agent's own settings.",
)
@click.option("--allow", multiple=True, metavar="RULE", help="Allow a tool; repeatable.")
@click.option("--until", metavar="TEXT", help="The loop is done when the whole answer is this.")
@click.option(
    "--signal",
    "signals",
    multiple=True,
    metavar="WORD",
    help="The loop is done when the agent prints this line; repeatable.",
)
@click.option("--ask-done", is_flag=True, help="Ask the agent for a one-time completion word.")
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="CMD",
    help="A command that must exit with 0; repeatable.",
)
@click.option(
    "--check-timeout", type=Duration(), default=600.0, help="Stop a check after this long.  [10m]"
)
@click.option(
    "--feed",
    type=click.Choice(list(get_args(FeedMode))),
    default="append",
    show_default=True,
    help="Where the output of failed checks goes in the next prompt.",
)
@click.option(
    "--feed-bytes",
    type=Count(),
    default=8000,
    show_default=True,
    help="How much of that output to include, from its end.",
)
@click.option(
    "--max-iterations",
    type=Count(),
    metavar="N",
    default=_DEFAULT.iterations,
    show_default=True,
    help="Stop after N iterations (waits don't count).",
)
@click.option(
    "--max-time", type=Duration(), default=_DEFAULT.time_s, help="Stop after this long.  [8h]"
)
@click.option(
    "--max-cost",
    type=Dollars(),
    metavar="USD",
    default=_DEFAULT.cost_usd,
    show_default=True,
    help="Stop when all runs together cost this much.",
)
@click.option(
    "--max-tokens",
    type=Count(),
    metavar="N",
    default=_DEFAULT.tokens,
    show_default=True,
    help="Stop when all runs together used N tokens.",
)
@click.option(
    "--max-turns",
    type=Count(),
    metavar="N",
    default=_DEFAULT.turns,
    show_default=True,
    help="Stop when all runs together took N turns.",
)
@click.option("--timeout", type=Duration(), help="Stop an iteration after this long.")
@click.option(
    "--idle-timeout",
    type=Duration(),
    default=600.0,
    help="Treat a run as stuck after this long without output.  [10m]",
)
@click.option(
    "--on-stuck",
    type=click.Choice(list(get_args(OnStuck))),
    default="stop",
    show_default=True,
    help="What to do when a run is stuck.",
)
@click.option(
    "--on-limit",
    type=LimitPolicy(),
    default="wait",
    show_default=True,
    metavar="wait|stop|switch:AGENT",
    help="What to do at the provider's usage limit.",
)
@click.option("--max-quota", type=Share(), help="Start no iteration above this share of a quota.")
@click.option(
    "--continue-session", is_flag=True, help="Resume the session instead of starting a new one."
)
@click.option("--commit", is_flag=True, help="Commit the changes of each iteration.")
@click.option("--worktree", is_flag=True, help="Work in a new git worktree.")
@click.option(
    "--prompt-file",
    type=click.Path(dir_okay=False, exists=True),
    help="Read the prompt from FILE before every iteration.",
)
@click.option("--resume", metavar="LOOP", help="Resume a loop that stopped.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "jsonl"]),
    default="text",
    show_default=True,
    help="Print text, or the loop's events as JSON lines.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print only the table at the end.")
@click.option(
    "--verbose", "-v", is_flag=True, help="Also print outputs, retries, limits and notices."
)
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
    """Run an agent repeatedly until the work is done or a ceiling is reached.

    Exit codes: 0 the goal is met, 5 a ceiling was reached, 6 the provider's limit, 7 stuck or no
    progress, 8 the agent says it is done but a check fails, 9 not started, 130 interrupted.
    """
    if resume is not None:
        if prompt or prompt_file:
            raise click.UsageError("--resume can't be combined with a prompt")
        loop = resumed_loop(resume, ceilings=_changed_ceilings(options))
    else:
        tell_what_a_project_allows()
        loop = new_loop(_plan(prompt, prompt_file, options))
    manner = Manner(verbose=verbose, quiet=quiet or form == "jsonl")
    raise click.exceptions.Exit(asyncio.run(_watch(loop, manner, jsonl=form == "jsonl")))


_CEILINGS = {
    "max_iterations": "iterations",
    "max_time": "time_s",
    "max_cost": "cost_usd",
    "max_tokens": "tokens",
    "max_turns": "turns",
}
"""The options that are ceilings, and the fields of the plan that they set."""


def _changed_ceilings(options: dict[str, Any]) -> dict[str, float]:
    """The ceilings on the command line; a resumed loop takes no other options."""
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
                f"--resume and {param.opts[-1]} can't be combined: a loop keeps its options"
            )
    return {_CEILINGS[str(param.name)]: options[str(param.name)] for param in given}


def _plan(prompt: tuple[str, ...], prompt_file: str | None, options: dict[str, Any]) -> LoopPlan:
    if prompt_file is None and (not prompt or not prompt[0].strip()):
        raise click.UsageError('the prompt is missing: rook loop "Fix the tests" --check "pytest"')
    if len(prompt) + (prompt_file is not None) > 1:
        raise click.UsageError("there is more than one prompt: put it in quotes")
    text = prompt[0] if prompt else Path(prompt_file or "").read_text("utf-8", "replace")
    for name in unknown_variables(text):
        known = ", ".join(VARIABLES)
        message = f"{{{{{name}}}}} is not a known variable and is left as it is; known: {known}"
        click.echo(f"[rook] WARNING: {message}", err=True)
    take = options.pop
    chosen = chosen_agent(take("agent"))
    return make_plan(
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


async def _watch(loop: Loop, manner: Manner, *, jsonl: bool) -> int:
    """Display a loop to its end; Ctrl-C ends it, the second time at once."""
    output = LoopOutput(loop.plan, manner)
    if isinstance(loop.effects, RealEffects) and not manner.quiet:
        loop.effects.on_run = output.watch
    async with loop:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, loop.stop)
        async for event in loop:
            if jsonl:
                put(sys.stdout, _json(event))
            elif not isinstance(event, AGENT_EVENTS):  # the run itself is displayed
                await output.show(event)
    output.close()
    if not jsonl:
        _put_end(loop)
    assert loop.exit_code is not None
    return loop.exit_code


def _json(event: LoopEvent) -> str:
    line = msgspec.json.encode(event).decode()
    return safe(line) if look_of(sys.stdout, os.environ).terminal else line


def _put_end(loop: Loop) -> None:
    """Print the table of runs, how the loop ended, what it used and how to see or resume it."""
    look = look_of(sys.stdout, os.environ)
    if look.terminal:
        put(sys.stdout, "")
    now = loop.effects.now()
    view = LoopView(name=loop.name, plan=loop.plan, state=loop.state, is_running=False, now=now)
    put_runs(view)
    say(view.activity(look.paint()))
    say(f"{view.used} · rook show {loop.name}")
    for line in view.resume_hints():
        say(line)
