"""`rook run`: runs an agent on a prompt."""

import sys
from collections.abc import Sequence
from typing import Any, get_args

import click
from click.core import ParameterSource

from rookery import agents
from rookery.adapter.agent import Agent, Permission
from rookery.cli.demo_player import is_played
from rookery.cli.live.background import put_away
from rookery.cli.live.run_view import is_watched, watch
from rookery.cli.options.defaults import Chosen, chosen_agent, tell_what_a_project_allows
from rookery.cli.options.run_options import shared_options, view_of
from rookery.cli.options.types import Count, Duration, OneOf
from rookery.cli.options.view_options import Form
from rookery.config.options import RunOptions
from rookery.runs.home import home_folder
from rookery.runs.resume import NoSessionError, earlier_run
from rookery.runs.start import start

_RUN_EXAMPLES = """\b
Examples:
  rook run "Fix the failing tests"
  rook run --max-cost 2 --timeout 30m --permission edit "Port the parser"
  rook run --resume k7f3 "Go on"
  rook run --detach "Port the parser"            prints its name; then: rook attach
  git diff | rook run --prompt-file - -- --append-system-prompt "Be brief."
"""


_AGENT_ARGS = "rookery.agent_args"


class AgentArgs(click.Command):
    """Tells the prompt from what stands behind `--` and is the agent's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what stands behind `--` for the agent."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_AGENT_ARGS] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)


@click.command("run", cls=AgentArgs, epilog=_RUN_EXAMPLES)
@click.option(
    "--agent",
    metavar="NAME",
    default="claude",
    show_default=True,
    help="The agent to run: `rook agents` lists them.",
)
@click.option(
    "--via", metavar="WAY", help="How to run it, if it has several ways: `rook agents` lists them."
)
@click.option("--model", metavar="NAME", help="The model to ask for.")
@click.option(
    "--permission",
    type=OneOf(get_args(Permission)),
    help="What it may do: ask you, edit files, all, only plan, or what its settings say.  "
    "[default: ask on a terminal, if it can, else agent]",
)
@click.option(
    "--ask-timeout",
    type=Duration(),
    default="5m",
    show_default=True,
    help="After so long without an answer, what it asks is not allowed.",
)
@click.option("--allow", multiple=True, metavar="RULE", help="A tool it may use; may be repeated.")
@click.option("--max-turns", type=Count(), metavar="N", help="Stop it beyond so many steps.")
@click.option(
    "--stream/--no-stream",
    default=True,
    help="Messages as they come, or only the agent's plain text.",
)
@click.option(
    "--resume", metavar="RUN", help="Go on with an earlier run's session, with its agent."
)
@click.option(
    "--prompt-file",
    type=click.File("r", encoding="utf-8", errors="replace"),
    help="Read the prompt from a file, or -.",
)
@shared_options
@click.argument("words", nargs=-1, metavar="PROMPT [-- AGENT ARGS]", type=click.UNPROCESSED)
def run_(
    agent: str,
    via: str | None,
    model: str | None,
    permission: Permission | None,
    ask_timeout: float,
    allow: tuple[str, ...],
    max_turns: int | None,
    stream: bool,
    resume: str | None,
    prompt_file: Any,
    words: tuple[str, ...],
    cwd: str,
    max_cost: float | None,
    max_tokens: int | None,
    timeout: float | None,
    idle_timeout: float | None,
    form: Form,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    no_text: bool,
    detach: bool,
) -> None:
    """Run an agent on a prompt, show what it does, and keep every byte.

    The exit code tells how it really ended: 0 success, 1 failed, 3 incomplete, 4 denied, 5 over
    budget, 6 limited, 7 stuck, 9 not started, 124 timed out, 130 interrupted.
    """
    prompt = _prompt(words if prompt_file is None else (prompt_file.read(), *words))
    manner = view_of(
        form, detach=detach, as_json=as_json, quiet=quiet, verbose=verbose, no_text=no_text
    )
    tell_what_a_project_allows()
    chosen = chosen_agent(agent) if resume is None else _agent_of(resume, agent)
    options = RunOptions(
        agent=chosen.agent,
        prompt=prompt,
        ask_timeout=ask_timeout,
        program=chosen.program,
        called=chosen.called,
        cwd=cwd,
        model=model,
        via=via,
        permission=permission
        or _usual_permission(chosen.agent, via, watched=stream and not detach),
        allow=allow,
        max_cost=max_cost,
        max_tokens=max_tokens,
        max_turns=max_turns,
        timeout=timeout,
        idle_timeout=idle_timeout,
        resume=resume,
        args=tuple(agent_args()),
        stream=stream,
        partial=max_cost is not None or max_tokens is not None or is_watched(manner),
    )
    raise click.exceptions.Exit((put_away if detach else watch)(start(options), manner))


def _prompt(said: Sequence[str]) -> str:
    """The one prompt among what was said."""
    if not said or not said[0].strip():
        raise click.UsageError('the prompt is missing: rook run "Fix the tests"')
    if len(said) > 1:
        raise click.UsageError("there is more than one prompt: put quotes around it")
    return said[0]


def _agent_of(run: str, agent: str) -> Chosen:
    """Who goes on with a run: who ran it, and no setting says otherwise; a flag must agree."""
    before = earlier_run(home_folder(), run)
    if is_played(before.program):
        raise NoSessionError(
            f"run {run!r} was a demo, with no session to go on with: start a new run"
        )
    source = click.get_current_context().get_parameter_source("agent")
    if before.agent is not None and source is not ParameterSource.COMMANDLINE:
        return Chosen(before.agent, before.program, before.called)
    chosen = chosen_agent(agent)
    usual = agents.agent(chosen.agent).programs[:1]
    return chosen if chosen.program else chosen._replace(program=usual)


def agent_args() -> list[str]:
    """What stood behind `--` on the command line, and is the agent's."""
    found: list[str] = click.get_current_context().meta.get(_AGENT_ARGS, [])
    return found


def _usual_permission(agent: str, via: str | None, *, watched: bool) -> Permission:
    """Ask where somebody is at the keyboard and sees the run, and the agent can ask."""
    on_terminal = all(file and file.isatty() for file in (sys.stdin, sys.stdout))
    return "ask" if watched and on_terminal and _can_ask(agents.agent(agent), via) else "agent"


def _can_ask(agent: Agent, via: str | None) -> bool:
    """Whether an agent can ask, if need be in another way than its usual one.

    Arguments of the user's are made for the usual way: they keep it.
    """
    ways = agent.ways if via is None and not agent_args() else ()
    named = (way for way in agent.ways if way.name == via)
    return agent.control is not None or any(way.asks for way in (*ways, *named))
