"""OpenCode's command line: flags, permission rules, standard input, environment."""

import json
import re
from collections.abc import Mapping, Sequence

from rookery.adapter.agent import Invocation, Permission, Task
from rookery.adapter.command_line import asks_about_program, options_of, value_of
from rookery.model.errors import RookeryError
from rookery.model.text import one_line

PROGRAMS = ("opencode",)
"""What the program is called, without folder and `.exe`."""

OUTPUT_FLAGS = ("--format", "json", "--thinking")
"""Makes `opencode run` write a message per line; without `--thinking` thoughts are left out."""

_FLAGS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "edit": (),
    "plan": ("--agent", "plan"),
    "all": ("--auto",),
}
# The environment secrets files stay closed, as they are without any rule.
_EDIT_RULES: Mapping[str, object] = {
    "*": "deny",
    "read": {"*": "allow", "*.env": "deny", "*.env.*": "deny", "*.env.example": "allow"},
    "list": "allow",
    "glob": "allow",
    "grep": "allow",
    "lsp": "allow",
    "edit": "allow",
    "todowrite": "allow",
    "todoread": "allow",
    "skill": "allow",
}
_RULE = re.compile(r"([\w*][\w*-]*)(?:\((.+)\))?", re.DOTALL)

# OpenCode puts our rules over those of the user's settings name by name: under a name that is there
# already, ours would take the place of theirs (`bash(git *)` that of a `bash` that asks) and stand
# where they stood, though the last rule that fits decides. So ours have names that nobody writes:
# a pattern that ends so fits what stands before it, and nothing else without a space (1.18.33).
_OURS = " *"
_LONGEST_TITLE = 50

# What an OpenCode that we run in tells its own children; settings such as OPENCODE_CONFIG are the
# user's and stay. PWD goes too: OpenCode works there, whatever folder it was started in.
_MISLEADING = re.compile(r"PWD|OPENCODE|OPENCODE_(CLIENT|EDITOR_SSE_PORT|PID|ROUTE|WORKSPACE_ID)")


def invoke(task: Task) -> Invocation:
    """Make the command line for a task.

    The prompt goes by standard input: an argument with a space in it would reach the model in
    quotation marks.
    """
    return Invocation(
        command=(
            "opencode",
            "run",
            *(OUTPUT_FLAGS if task.stream else ()),
            *(("--model", task.model) if task.model else ()),
            *_FLAGS[task.permission],
            *(("--session", task.resume) if task.resume else _title(task)),
            *task.args,
        ),
        stdin=task.prompt.encode(),
        environment=_environment(task),
    )


def _title(task: Task) -> Sequence[str]:
    """Name the session, lest OpenCode ask a model for a name in a request that it tells nobody."""
    if any(word == "--title" or word.startswith("--title=") for word in task.args):
        return ()
    title = one_line(task.prompt, _LONGEST_TITLE)
    return ("--title", title) if title and not title.startswith("-") else (f"--title={title}",)


def _environment(task: Task) -> Mapping[str, str]:
    rules: dict[str, object] = dict(_EDIT_RULES) if task.permission == "edit" else {}
    for rule in task.allow:
        found = _RULE.fullmatch(rule)
        if found is None:
            raise RookeryError(
                f"{rule!r} is no rule of opencode: write a permission such as bash or "
                "webfetch, or one with a pattern such as 'bash(git *)'"
            )
        name, pattern = found[1], found[2]
        before = rules.get(name)
        patterns = dict(before) if isinstance(before, dict) else {}
        if isinstance(before, str):
            patterns["*"] = before
        rules[name] = "allow" if pattern is None else {**patterns, pattern: "allow"}
    told = {f"{name}{_OURS}": rule for name, rule in rules.items()}
    return {"OPENCODE_PERMISSION": json.dumps(told)} if told else {}


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add what makes a command line of the user's write messages, right after `run`.

    None if it is no `run`, or asks for an output that is no messages: then that is what the user
    wants.
    """
    if list(command[1:2]) != ["run"] or asks_about_program(command):
        return None
    options = options_of(command)
    form = value_of(command, "--format")
    if form not in (None, "json"):
        return None
    added = [] if form == "json" else ["--format", "json"]
    if not any(word in ("--thinking", "--no-thinking") for word in options):
        added.append("--thinking")
    return [*command[:2], *added, *command[2:]]


def keeps_variable(name: str) -> bool:
    """Tell whether a variable may be inherited."""
    return _MISLEADING.fullmatch(name) is None
