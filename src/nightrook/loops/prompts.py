"""The prompt of an iteration: the user's text, the failed checks and the completion word."""

import re
from collections.abc import Mapping

from nightrook.loops.plan import LoopPlan
from nightrook.loops.state import Attempt

_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_ASK_DONE = (
    "When the whole task is done, and only then, end your answer with a line that holds nothing "
    "but this word:\n{nonce}"
)
_FAILED = "The last attempt did not pass this check:"

VARIABLES = ("iteration", "max_iterations", "last_answer", "check_output", "left")
"""The names that a prompt may have in double braces."""


def prompt_for(
    plan: LoopPlan, text: str, *, iteration: int, nonce: str, previous: Attempt | None, left: str
) -> str:
    """Build the prompt of an iteration from the user's text and the previous iteration."""
    output = _bounded(check_output(previous), plan.feed_bytes)
    values = {
        "iteration": str(iteration),
        "max_iterations": str(plan.ceilings.iterations),
        "last_answer": _bounded(
            (previous.report.answer if previous else None) or "", plan.feed_bytes
        ),
        "check_output": output,
        "left": left,
    }
    prompt = _fill(text, values)
    if output and plan.feed != "none" and "check_output" not in _names(text):
        prompt = _combine(prompt, output, plan.feed)
    if plan.goal.ask_done:
        prompt = f"{prompt}\n\n{_ASK_DONE.format(nonce=nonce)}"
    return prompt


def unknown_variables(text: str) -> list[str]:
    """The names in double braces that are not known; they are left as they are."""
    return sorted(_names(text).difference(VARIABLES))


def check_output(attempt: Attempt | None) -> str:
    """The output of the failed checks of an iteration."""
    failed = [check for check in (attempt.checks if attempt else ()) if not check.ok]
    return "\n\n".join(
        f"{_FAILED}\n$ {check.command}\n{check.output.strip()}".rstrip() for check in failed
    )


def _names(text: str) -> set[str]:
    return {match[1] for match in _VARIABLE.finditer(text)}


def _fill(text: str, values: Mapping[str, str]) -> str:
    # In one pass: text of an agent or a check is never read as a template.
    # guards: no-template-of-others
    return _VARIABLE.sub(lambda match: values.get(match[1], match[0]), text)


def _combine(prompt: str, output: str, feed: str) -> str:
    if feed == "replace":
        return output
    return f"{output}\n\n{prompt}" if feed == "prepend" else f"{prompt}\n\n{output}"


def _bounded(text: str, most: int) -> str:
    """The last part of a text, in bytes: errors come last."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:  # guards: fed-back-bounded
        return text
    return "[...]\n" + data[-most:].decode("utf-8", "ignore")
