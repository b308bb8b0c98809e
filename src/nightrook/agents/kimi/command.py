"""Kimi Code's command line: flags, permissions and environment."""

from collections.abc import Sequence

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.command_line import as_typed, fits_argument, option, value_of, with_format
from nightrook.model.errors import UnsupportedError

PROGRAMS = ("kimi",)
"""The name of the program, without folder and `.exe`."""

OUTPUT_FLAGS = ("--output-format", "stream-json")
"""Makes it write one message per line."""

_PROMPTS = ("-p", "--prompt")


def invoke(task: Task) -> Invocation:
    """Return the command line for a task; the prompt is an argument, the only way to pass one."""
    _refuse(task)
    own = (
        "kimi",
        *(OUTPUT_FLAGS if task.stream else ()),
        *option("--model", task.model),
        *option("--session", task.resume),
    )
    return Invocation(
        # The option always takes the next word, even if that looks like another option.
        command=(*own, *task.args, "--prompt", task.prompt),
        typed=as_typed(own, task.args, "--prompt", task.prompt),
    )


def _refuse(task: Task) -> None:
    """Refuse options that it does not have: with `--prompt`, it allows everything."""
    if not fits_argument(task.prompt):
        raise UnsupportedError(
            "kimi", "takes its prompt only as an argument, which must be shorter", "use --via acp"
        )
    if task.permission == "ask":
        raise UnsupportedError(
            "kimi",
            "cannot ask for approval when it runs headless",
            "use --via acp, or --permission agent or all",
        )
    if task.permission == "plan":
        raise UnsupportedError(
            "kimi", "cannot be limited to a plan when it runs headless", "use --via acp"
        )
    if task.permission == "edit":
        raise UnsupportedError(
            "kimi", "has no mode that allows edits alone", "use --permission agent or all"
        )
    if task.allow:
        raise UnsupportedError(
            "kimi", "has no rules for single tools on its command line", "leave out --allow"
        )
    if task.max_turns is not None:
        raise UnsupportedError(
            "kimi",
            "has no flag for the number of turns",
            "leave out --max-turns, or set KIMI_LOOP_MAX_STEPS_PER_TURN",
        )


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add the flags for JSON messages to a command line of the user, right after the program.

    None if it has no prompt, or if the user asks for another output format.
    """
    if value_of(command, *_PROMPTS) is None:
        return None
    return with_format(command, flag=OUTPUT_FLAGS)


def keeps_variable(name: str) -> bool:
    """Return True: it sets no variable for its children that would confuse a nested agent."""
    return True
