"""`rook run`: runs an agent on a prompt."""

import sys

import click
from click.core import ParameterSource
from msgspec.structs import replace

from nightrook import agents
from nightrook.adapter.agent import Agent, Task
from nightrook.cli.end_actions import EndActions
from nightrook.cli.options.agent_args import AgentArgs, agent_args
from nightrook.cli.options.defaults import ResolvedAgent, print_project_settings, resolve_agent
from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.options.piped_input import PipedStdin, given_prompt
from nightrook.cli.options.view_options import check_view, hold_messages
from nightrook.cli.terminal.foreground import Alongside, is_watched, watch
from nightrook.cli.terminal.output import put
from nightrook.config.options import (
    EndOptions,
    RemoteOptions,
    RunOptions,
    StartOptions,
    ViewOptions,
)
from nightrook.model.errors import BadRunNameError, UnknownRunError
from nightrook.model.permissions import Permission
from nightrook.process.demo_player import is_played
from nightrook.runs.resume import EarlierRun, NoSessionError, earlier_run
from nightrook.runs.run import Run
from nightrook.runs.start import start
from nightrook.store.home import home_folder

_EXAMPLES = """\b
Examples:
  rook run "Fix the failing tests"
  rook run --max-cost 2 --timeout 30m --permission edit "Port the parser"
  rook run --resume k7f3 "Continue"        or --resume last
  rook run --detach "Port the parser"      prints its name for rook attach
  rook run --on fleet "Port the parser"    on a machine of your fleet
  rook run --agent gemini --permission ask "Fix it"    asks over ACP
  rook run --agent acp "Fix it" -- my-agent --acp      any agent with ACP
  git diff | rook run "Review this" -- --append-system-prompt "Be brief."
  rook run < task.md
"""


@click.command("run", cls=AgentArgs, epilog=_EXAMPLES)
@takes("run", RunOptions, StartOptions, ViewOptions, EndOptions, RemoteOptions)
@argument("words", nargs=-1, metavar="PROMPT [-- AGENT ARGS]", type=click.UNPROCESSED)
def command(
    options: RunOptions,
    starting: StartOptions,
    view_options: ViewOptions,
    end_options: EndOptions,
    remote: RemoteOptions,
    words: tuple[str, ...],
) -> None:
    """Run an agent on a prompt, show what it does, and record every byte.

    The exit code says how the run ended: 0 success, 1 failed, 3 incomplete or lost, 4 denied,
    5 over budget, 6 limited, 7 stuck, 9 not started, 124 timed out, 130 interrupted.
    """
    check_view(view_options, detach=starting.detach)
    hold_messages(view_options)
    print_project_settings()  # guards: loosening-printed
    before = None if options.resume is None else _earlier_run(options, options.resume)
    chosen = resolve_agent(options.agent) if before is None else _agent_of(before, options)
    piped = PipedStdin(starting.stdin_mode, quiet=view_options.quiet)
    given = given_prompt(
        words,
        starting.prompt_file,
        piped,
        limit=agents.agent(chosen.agent).prompt_limit,
        example='rook run "Fix the tests"',
    )
    chosen, args = _with_command(chosen)
    watched = options.stream and not starting.detach
    budget = options.max_cost is not None or options.max_tokens is not None
    options = replace(
        options,
        agent=chosen.agent,
        program=chosen.program,
        called=chosen.called,
        prompt=given.prompt,
        stdin=given.stdin,
        permission=options.permission or _usual_permission(chosen.agent, options, watched=watched),
        args=args,
        partial=budget or is_watched(view_options),
    )
    ends = EndActions(end_options, lively=view_options.lively, quiet=view_options.quiet)
    ends.warn()
    if remote.on is not None:
        code = _on_fleet(options, starting, remote, view_options, ends)
        raise click.exceptions.Exit(code)
    alongside = _shipped(remote.sink, starting)
    run = start(options, before=before)
    if not view_options.quiet:
        _report_way(run, options)
    if starting.web:
        from nightrook.cli.web_page import show_on_page  # rarely needed

        show_on_page(run, detached=starting.detach)
    if starting.detach:
        from nightrook.cli.detach_run import put_away  # rarely needed

        code = put_away(run, view_options, ends)
    else:
        code = watch(run, view_options, ends, alongside)
    piped.warn_of_loss()
    raise click.exceptions.Exit(code)


def _on_fleet(
    options: RunOptions,
    starting: StartOptions,
    remote: RemoteOptions,
    view_options: ViewOptions,
    ends: EndActions,
) -> int:
    from nightrook.cli import fleet_runs  # an extra, and it imports a lot

    if starting.detach:
        return fleet_runs.detach_on_fleet(options, remote, quiet=view_options.quiet)
    return fleet_runs.run_on_fleet(options, remote, view_options, ends)


def _shipped(sink: str | None, starting: StartOptions) -> Alongside | None:
    """The context that sends a run to a fleet while it lasts; None without --sink."""
    if sink is None:
        return None
    if starting.detach:
        raise click.UsageError("--sink and --detach can't be combined")
    from nightrook.cli.terminal.output import say
    from nightrook.fleet.accounts.credentials import chosen_fleet  # an extra
    from nightrook.fleet.ship_run import shipped

    address, _ = chosen_fleet(sink)
    return lambda run: shipped(run, address, say)


def _earlier_run(options: RunOptions, name: str) -> EarlierRun:
    """Return the run to resume; an unrecorded one is a session of the agent that --agent names."""
    try:
        before = earlier_run(home_folder(), name, cwd=options.cwd)
    except (BadRunNameError, UnknownRunError) as error:
        if not _is_agent_named():  # guards: session-of-named-agent
            hint = "a session that rook did not record needs the name of its agent: --agent NAME"
            raise NoSessionError(f"{error}; {hint}") from None
        return EarlierRun(run=None, session=name, agent=resolve_agent(options.agent).agent)
    if is_played(before.program):
        raise NoSessionError(
            f"run {before.run!r} was a demo and has no session to resume: start a new run"
        )
    return before


def _agent_of(before: EarlierRun, options: RunOptions) -> ResolvedAgent:
    """The agent that resumes a run: the one that ran it. Only --agent can name another one."""
    if before.agent is not None and not _is_agent_named():
        return ResolvedAgent(before.agent, before.program, before.called)
    chosen = resolve_agent(options.agent)
    usual = agents.agent(chosen.agent).programs[:1]
    return chosen if chosen.program or not usual else chosen._replace(program=usual)


def _with_command(chosen: ResolvedAgent) -> tuple[ResolvedAgent, tuple[str, ...]]:
    """The agent and its arguments; for one without its own program, they are its command."""
    args = tuple(agent_args())
    if chosen.program or not args or agents.agent(chosen.agent).programs:
        return chosen, args
    return chosen._replace(program=args), ()


def _report_way(run: Run, options: RunOptions) -> None:
    """Report that an agent is run in another way than usual, because only so it can ask."""
    agent, via = run.agent, run.options.via
    if agent is None or options.via is not None or run.options.permission != "ask":
        return
    usual = agent.usual_way(Task(prompt="", args=options.args))
    if via is not None and usual not in (None, via) and options.resume is None:
        put(sys.stderr, f"[rook] {agent.name} can ask only with --via {via}, which is used here")


def _is_agent_named() -> bool:
    source = click.get_current_context().get_parameter_source("agent")
    return source is ParameterSource.COMMANDLINE


def _usual_permission(agent: str, options: RunOptions, *, watched: bool) -> Permission:
    """Ask if a person watches the run at a terminal, and the agent can ask."""
    on_terminal = all(file and file.isatty() for file in (sys.stdin, sys.stdout))
    return "ask" if watched and on_terminal and _can_ask(agents.agent(agent), options) else "agent"


def _can_ask(agent: Agent, options: RunOptions) -> bool:
    """True for an agent that can ask, in its usual way or in the one that was named."""
    task = Task(prompt="", args=tuple(agent_args()), stream=options.stream)
    way = agent.way(options.via or agent.usual_way(task))
    return agent.control is not None or (way is not None and way.asks)
