"""Makes runs from options: of an agent on a prompt, or of a command line as it is."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from nightrook import agents
from nightrook.adapter.agent import Agent, Invocation, Task, Way
from nightrook.config.options import RunOptions
from nightrook.model.errors import NightrookError, UnsupportedError
from nightrook.runs.dialogue import OnPermission
from nightrook.runs.limits import refuse_unheld_budget
from nightrook.runs.run import Run
from nightrook.store.home import home_folder

if TYPE_CHECKING:
    from nightrook.runs.resume import EarlierRun


class CannotAskError(NightrookError):
    """An agent that cannot ask for permission, or not in the way it is run."""


def start(
    options: RunOptions,
    on_permission: OnPermission | None = None,
    before: "EarlierRun | None" = None,
) -> Run:
    """Make a run of an agent on a prompt; `async with` starts it.

    A resumed run, `before` if it was looked up already, is continued with its own program, unless
    the options name another one.
    """
    known = agents.agent(options.agent)
    where = Path(options.home) if options.home else home_folder()
    if before is None and options.resume is not None:
        from nightrook.runs.resume import earlier_run  # few runs are resumed

        before = earlier_run(where, options.resume, cwd=_absolute(options.cwd))
    if before is not None:
        options = _options_to_resume(known, before, options)
    options = _with_program(known, options)
    prompt = _writable(options.prompt)
    whole = _whole_prompt(known, prompt, _writable(options.stdin))
    task = _task(replace(options, prompt=whole), session=before.session if before else None)
    cwd = _absolute(options.cwd)
    task = replace(task, via=_chosen_way(known, task, before), cwd=cwd)
    refuse_unheld_budget(known, options, via=task.via)
    call = known.invoke(task)
    words = _program(known, call, options, via=task.via, before=before)
    worktree = None
    if options.worktree:
        from nightrook.runs.git.worktrees import new_worktree  # few runs have one

        worktree = new_worktree(cwd, where)
    if worktree is not None:
        call = known.invoke(replace(task, cwd=worktree.cwd))
    return Run(
        replace(
            call,
            command=(*words, *call.command[1:]),
            typed=(*words, *_as_given(call, whole, prompt)[1:]),
            environment={**_inherited(known), **call.environment, **options.env},
        ),
        replace(
            options,
            cwd=worktree.cwd if worktree else cwd,
            home=str(where),
            permission=task.permission,
            program=_lasting(words, cwd),
            prompt=prompt or whole,
            via=task.via,
        ),
        agent=known if options.stream else None,
        before=before,
        continues=before is not None or known.resumes(call.command),
        on_permission=on_permission,
        worktree=worktree,
    )


def _program(
    agent: Agent,
    call: Invocation,
    options: RunOptions,
    *,
    via: str | None,
    before: "EarlierRun | None",
) -> tuple[str, ...]:
    """The words that start the agent: those that were named, unless this way runs another program.

    Over a protocol, an agent may be run by another program than its own.
    """
    named, usual = options.program, call.command[:1]
    if not named or usual == named:
        return usual
    if usual[0] in agent.programs or not agent.programs:
        return named
    if options.called is not None:
        raise UnsupportedError(
            options.called,
            f"is your command for {agent.name}, but --via {via} runs {usual[0]}",
            'leave out --via, or define an agent that speaks "acp"',
        )
    was_another = before is not None and named == before.program and before.via != via
    return usual if was_another or named == agent.programs[:1] else named


def _with_program(agent: Agent, options: RunOptions) -> RunOptions:
    """Return the options of an agent without its own program: its arguments are the command."""
    if agent.programs or options.program is not None:
        return options
    if not options.args:
        raise UnsupportedError(
            agent.name, "needs the command that starts the agent", "add it after --"
        )
    return replace(options, program=options.args, args=())


def refuse_unheld_run(options: RunOptions) -> None:
    """Refuse a run with a limit on its cost that cannot hold, before it is made."""
    if options.max_cost is None or options.max_cost_unchecked:
        return
    known = agents.agent(options.agent)
    way = _chosen_way(known, _task(options, session=None), None)
    refuse_unheld_budget(known, options, via=way)


def _options_to_resume(agent: Agent, before: "EarlierRun", options: RunOptions) -> RunOptions:
    """The options with the folder and program of the resumed run; refuse what cannot be resumed."""
    before.check_agent(agent.name)
    before.check_session()  # guards: session-no-option
    if agent.capabilities.resume == "no":
        raise UnsupportedError(agent.name, "cannot resume a session", "start a new run")
    options = replace(options, cwd=_folder_to_resume(before, options))
    if options.program is not None:
        return options
    before.check_program()
    return replace(options, program=before.program, called=options.called or before.called)


def _writable(text: str | None) -> str:
    """A text that can be written: an argument that is not UTF-8 comes as surrogates."""
    return (text or "").encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _whole_prompt(agent: Agent, prompt: str, data: str) -> str:
    """Return the prompt with the piped text; without a prompt, that text is the prompt."""
    whole = agent.with_stdin(prompt, data) if prompt and data else prompt or data
    limit = agent.prompt_limit
    if limit.size_of(whole) > limit.most:  # guards: oversized-prompt
        raise UnsupportedError(
            agent.name,
            f"takes at most {limit.most:,} {limit.unit} of prompt and piped input",
            "write them to a file, and name the file in the prompt",
        )
    return whole


def _as_given(call: Invocation, whole: str, prompt: str) -> tuple[str, ...]:
    """Return the command as a person would type it, without the piped text."""
    typed = call.typed or call.command
    return tuple(prompt if prompt and word == whole else word for word in typed)


def _folder_to_resume(before: "EarlierRun", options: RunOptions) -> str:
    """The folder of a resumed run: the worktree of the earlier run, if it had one that exists."""
    if options.worktree:
        raise NightrookError(
            "a resumed run continues in the folder of its session: leave out --worktree"
        )
    is_unset = options.cwd == RunOptions().cwd
    return before.worktree if is_unset and before.worktree is not None else options.cwd


def _task(options: RunOptions, *, session: str | None) -> Task:
    """Return the task of the agent."""
    budget = options.max_cost is not None or options.max_tokens is not None
    return Task(
        prompt=options.prompt or "",
        model=options.model,
        permission=options.permission or "agent",
        allow=options.allow,
        max_cost=options.max_cost,
        max_turns=options.max_turns,
        resume=session,
        partial=budget if options.partial is None else options.partial,
        args=options.args,
        stream=options.stream,
        via=options.via,
    )


def _chosen_way(agent: Agent, task: Task, before: "EarlierRun | None") -> str | None:
    """The way to run an agent: the one that was named, that of the resumed run, the usual one."""
    if task.permission == "ask":
        return _asking_way(agent, task.via or _way_that_asked(agent, before), stream=task.stream)
    if task.via is not None:
        return _way(agent, task.via).name
    earlier = agent.way(before.via) if before is not None else None
    if earlier is not None and agent.serves(earlier.name, task):
        return earlier.name
    return agent.usual_way(task)


def _way(agent: Agent, name: str) -> Way:
    """The way to run an agent that has this name."""
    if (way := agent.way(name)) is not None:
        return way
    if not agent.ways:
        raise UnsupportedError(agent.name, "has only one way to be run", "leave out --via")
    words = ", ".join(way.name for way in agent.ways)
    raise UnsupportedError(agent.name, f"has no --via {name!r}", f"use one of {words}")


def _asking_way(agent: Agent, via: str | None, *, stream: bool) -> str | None:
    """The way in which an agent can ask: the one that was chosen, or the first that can."""
    ways = [_way(agent, via)] if via is not None else agent.ways
    found = next((way.name for way in ways if way.asks), None)
    can_ask = found is not None or agent.control is not None
    if can_ask and stream:  # guards: only-askers-ask
        return found
    how = f" via {via}" if via is not None else ""
    what = "plain text cannot be answered" if can_ask else f"{agent.name} cannot ask{how}"
    raise CannotAskError(f"{what}: choose another --permission")


def _way_that_asked(agent: Agent, before: "EarlierRun | None") -> str | None:
    """The way of the resumed run, if the agent can ask in it."""
    asking = (way.name for way in agent.ways if way.asks)
    return next((name for name in asking if before and name == before.via), None)


def _lasting(words: Sequence[str], cwd: str) -> tuple[str, ...]:
    """A command that works from any folder; a bare word is looked up on PATH."""
    first, *rest = words
    return (os.path.join(cwd, first) if "/" in first else first, *rest)


def start_command(
    command: Sequence[str], options: RunOptions, *, raw: bool = False, stdin: int | None = None
) -> Run:
    """Make a run of a command line as it is, with the input of the descriptor `stdin`.

    Its output is not decoded if no adapter knows the command, or if it is `raw`.
    """
    known = agents.agent_for(command[0])
    agent = None if raw else known
    via = next((way.name for way in known.ways if way.name in command), None) if known else None
    refuse_unheld_budget(agent, options, via=via)
    cwd = _absolute(options.cwd)
    return Run(
        Invocation(
            command=tuple(command),
            stop_signal=known.invoke(Task(prompt="")).stop_signal if known else signal.SIGTERM,
            environment={**_inherited(known), **options.env},
        ),
        replace(
            options,
            cwd=cwd,
            home=options.home or str(home_folder()),
            program=_lasting(command[:1], cwd),
            via=via,
        ),
        agent=agent,
        continues=known is not None and known.resumes(command),
        stdin=stdin,
    )


def _inherited(agent: Agent | None) -> dict[str, str]:
    """Return our environment, without the variables that would confuse a nested agent."""
    return {k: v for k, v in os.environ.items() if agent is None or agent.keeps_variable(k)}


def _absolute(cwd: str | os.PathLike[str]) -> str:
    try:
        return os.path.abspath(cwd)
    except FileNotFoundError as error:
        raise NightrookError(
            "the working folder no longer exists: change to another one"
        ) from error
