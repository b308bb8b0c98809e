"""The public function that makes a loop; it spells out every option that it takes.

Apart from `api`, so that a run does not import what only loops need.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from nightrook.api import Duration, StrPath, run_options
from nightrook.config.option import checked
from nightrook.config.options import FeedMode, LoopOptions, LoopPermission, OnStuck
from nightrook.loops.loop import Loop
from nightrook.loops.plan import plan_of
from nightrook.loops.start import new_loop


def loop(
    agent: str,
    prompt: str = "",
    *,
    stdin: str | None = None,
    prompt_file: StrPath | None = None,
    cwd: StrPath = ".",
    until: str | None = None,
    signals: Sequence[str] = (),
    ask_done: bool = False,
    checks: Sequence[str] = (),
    check_timeout: Duration = 600.0,
    check_first: bool = True,
    feed: FeedMode = "append",
    feed_bytes: int = 8000,
    max_iterations: int = 20,
    max_time: Duration = 8 * 3600.0,
    max_cost: float | None = None,
    max_cost_unchecked: bool = False,
    max_tokens: int = 50_000_000,
    max_turns: int = 1000,
    timeout: Duration | None = None,
    idle_timeout: Duration = 600.0,
    on_stuck: OnStuck = "stop",
    on_limit: str = "wait",
    max_quota: float | str | None = None,
    continue_session: bool = False,
    commit: bool = False,
    worktree: bool = False,
    model: str | None = None,
    permission: LoopPermission = "agent",
    via: str | None = None,
    allow: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    args: Sequence[str] = (),
    program: StrPath | Sequence[str] | None = None,
    called: str | None = None,
    home: StrPath | None = None,
) -> Loop:
    """Make a loop of an agent; `async with` starts it, and iterating over it yields its events.

    Args:
        agent: The name of the agent, as `rook agents` lists it.
        prompt: What the agent is asked to do in every iteration.
        stdin: Text to add to every prompt, as the agent itself adds what is piped to it.
        prompt_file: Read the prompt from this file before every iteration.
        cwd: The folder to work in.
        until: The loop is done when this is the agent's whole answer.
        signals: The loop is done when the agent prints one of these lines.
        ask_done: The loop is done when the agent answers with a one-time completion word, which
            each prompt asks for. This is the default without `until`, `signals` and `checks`.
        checks: Shell commands that must pass before the loop is done.
        check_timeout: Stop a check after this long.
        check_first: Run the checks before the first iteration, and start none if the work is done.
        feed: Where the output of failed checks goes in the next prompt.
        feed_bytes: How much of that output to include, from its end.
        max_iterations: Stop after so many iterations; waits don't count.
        max_time: Stop the loop after this long.
        max_cost: Stop the loop when all runs together have cost so many dollars; by default 10.
        max_cost_unchecked: Run even if `max_cost` cannot stop an iteration, because its cost is
            not known in time.
        max_tokens: Stop the loop when all runs together have used so many tokens.
        max_turns: Stop the loop after so many turns of the model in all runs together.
        timeout: Stop one iteration after this long.
        idle_timeout: Treat a run as stuck after this long without output.
        on_stuck: What to do when a run is stuck.
        on_limit: What to do at the provider's limit: `wait`, `stop` or `switch:AGENT`.
        max_quota: Start no iteration when this share of a quota is used, such as 0.8 or "80%".
        continue_session: Continue the session instead of starting a new one each time.
        commit: Commit the changes of each iteration.
        worktree: Work in a separate git worktree.
        model: The model to use; by default the agent's own choice.
        permission: What the agent may do. With `ask`, other processes decide, such as rook web.
        via: One of the agent's ways to be run.
        allow: Tools to allow, as rules of the agent.
        env: Variables to add to our environment.
        args: Further arguments for the agent.
        program: What to call instead of the agent found on PATH: a path, or a list of words.
        called: The name under which that program is shown.
        home: The folder that holds all runs and loops; by default $ROOK_HOME or the user's data
            folder.

    Times are seconds, a `timedelta` or a text such as "5m". A value of the wrong type is refused
    with an `OptionError` before anything starts.
    """
    values = locals()
    run_values = {
        name: values.pop(name) for name in ("stdin", "env", "args", "program", "called", "home")
    }
    values.pop("prompt")
    if max_cost is None:
        values.pop("max_cost")
    options = checked(LoopOptions, values)
    run = run_options({"agent": agent, "prompt": prompt, **run_values})
    plan = plan_of(
        options,
        prompt=run.prompt or "",
        stdin=run.stdin,
        env=run.env,
        args=run.args,
        program=run.program,
        called=run.called,
        needs_cost=max_cost is not None and not max_cost_unchecked,
    )
    return new_loop(plan, home=Path(run.home) if run.home else None)
