"""The public function that makes a loop; its options (`config/options.py`) are its keywords.

Apart from `run_api`, so that a run does not import what only loops need.
"""

from pathlib import Path
from typing import Any, Unpack

from nightrook.config.option import checked
from nightrook.config.options import LoopOptions
from nightrook.keywords import LoopKeywords
from nightrook.loops.loop import Loop
from nightrook.loops.plan import plan_of
from nightrook.loops.start import new_loop
from nightrook.run_api import run_options


def loop(agent: str, prompt: str = "", **options: Unpack[LoopKeywords]) -> Loop:
    """Make a loop of an agent; `async with` starts it, and iterating over it yields its events.

    Args:
        agent: The name of the agent, as `rook agents` lists it.
        prompt: What the agent is asked to do in every iteration.
        **options: See `help(nightrook.LoopKeywords)`.

    Times are seconds, a `timedelta` or a text such as "5m". A value of the wrong type is refused
    with an `OptionError` before anything starts.
    """
    if unknown := next(
        (name for name in options if name not in LoopKeywords.__annotations__), None
    ):
        raise TypeError(f"loop() got an unexpected keyword argument {unknown!r}")
    values: dict[str, Any] = {"agent": agent, **options}
    of_run = {name: values.pop(name) for name in list(values) if name not in _LOOP_FIELDS}
    max_cost = values.get("max_cost")
    if max_cost is None:
        values.pop("max_cost", None)
    asked = checked(LoopOptions, values)
    run = run_options("loop", {"agent": agent, "prompt": prompt, **of_run})
    plan = plan_of(
        asked,
        prompt=run.prompt or "",
        stdin=run.stdin,
        env=run.env,
        args=run.args,
        program=run.program,
        called=run.called,
        needs_cost=max_cost is not None and not asked.max_cost_unchecked,
    )
    return new_loop(plan, home=Path(run.home) if run.home else None)


_LOOP_FIELDS = frozenset(LoopOptions.__struct_fields__)
