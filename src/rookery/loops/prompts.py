"""The prompt of an iteration: the user's words, what was left, and the word that says done."""

import re
from collections.abc import Mapping

from rookery.loops.plan import LoopPlan
from rookery.loops.state import Attempt

_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_ASK_DONE = (
    "When the whole task is done, and only then, end your answer with a line that holds nothing "
    "but this word:\n{nonce}"
)
_FAILED = "The last attempt did not pass this check:"

VARIABLES = ("iteration", "max_iterations", "last_answer", "check_output", "left")
"""What a prompt may hold in double braces."""


def prompt_for(
    plan: LoopPlan, text: str, *, iteration: int, nonce: str, before: Attempt | None, left: str
) -> str:
    """Make the prompt of an iteration from the user's text and the iteration before it."""
    output = _bounded(check_output(before), plan.feed_bytes)
    values = {
        "iteration": str(iteration),
        "max_iterations": str(plan.ceilings.iterations),
        "last_answer": _bounded((before.report.answer if before else None) or "", plan.feed_bytes),
        "check_output": output,
        "left": left,
    }
    asked = _filled(text, values)
    if output and plan.feed != "none" and "check_output" not in _names(text):
        asked = _fed(asked, output, plan.feed)
    if plan.goal.ask_done:
        asked = f"{asked}\n\n{_ASK_DONE.format(nonce=nonce)}"
    return asked


def unknown_variables(text: str) -> list[str]:
    """The names in double braces that no iteration fills in; they are left as they are."""
    return sorted(_names(text).difference(VARIABLES))


def check_output(before: Attempt | None) -> str:
    """What the failed checks of an iteration printed."""
    failed = [check for check in (before.checks if before else ()) if not check.ok]
    return "\n\n".join(
        f"{_FAILED}\n$ {check.command}\n{check.output.strip()}".rstrip() for check in failed
    )


def _names(text: str) -> set[str]:
    return {found[1] for found in _VARIABLE.finditer(text)}


def _filled(text: str, values: Mapping[str, str]) -> str:
    # In one pass: what an agent or a check wrote is never read as a template.
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)


def _fed(asked: str, output: str, feed: str) -> str:
    if feed == "replace":
        return output
    return f"{output}\n\n{asked}" if feed == "prepend" else f"{asked}\n\n{output}"


def _bounded(text: str, most: int) -> str:
    """The end of a text, at most so many bytes: what went wrong stands last."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return text
    return "[...]\n" + data[-most:].decode("utf-8", "ignore")
