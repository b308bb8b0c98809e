"""OpenCode's command line: flags, permission rules, stdin and environment."""

import json
import re
from collections.abc import Mapping, Sequence

from rookery.adapter.agent import Invocation, Permission, Task
from rookery.adapter.command_line import as_typed, option, options_of, permission_of, with_format
from rookery.model.errors import RookeryError

PROGRAMS = ("opencode",)
"""The name of the program, without folder and `.exe`."""

OUTPUT_FLAGS = ("--format", "json", "--thinking")
"""Makes `opencode run` write one message per line; without `--thinking`, thoughts are left out."""

_FLAGS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "edit": (),
    "plan": ("--agent", "plan"),
    "all": ("--auto",),
}
# Files with secrets for the environment stay unreadable, as they are without any rule.
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

# OpenCode merges our rules into those of the user's settings by name. Under an existing name, our
# rule would replace the user's (`bash(git *)` a `bash` that asks) and keep its position, although
# the last matching rule wins. So our names end in a pattern that users don't write: it matches the
# name before it, and nothing else without a space (1.18.33).
_OURS = " *"

# Variables that an outer OpenCode sets for its children; settings such as OPENCODE_CONFIG are the
# user's and stay. PWD is removed too: OpenCode uses it instead of the folder it is started in.
_MISLEADING = re.compile(r"PWD|OPENCODE|OPENCODE_(CLIENT|EDITOR_SSE_PORT|PID|ROUTE|WORKSPACE_ID)")


def invoke(task: Task) -> Invocation:
    """Return the command line for a task.

    The prompt goes to stdin: an argument with a space would reach the model in quotation marks.
    """
    own = (
        "opencode",
        "run",
        *(OUTPUT_FLAGS if task.stream else ()),
        *option("--model", task.model),
        *permission_of("opencode", _FLAGS, task.permission),
        *(option("--session", task.resume) or _title(task)),
    )
    return Invocation(
        command=(*own, *task.args),
        typed=as_typed(
            own, task.args, *(("--",) if task.prompt.startswith("-") else ()), task.prompt
        ),
        stdin=task.prompt.encode(),
        environment=_environment(task),
    )


def _title(task: Task) -> Sequence[str]:
    """Have the session named after its prompt, which an empty title means.

    Without a title, OpenCode asks a model for a name in an unreported request.
    """
    is_named = any(word.partition("=")[0] == "--title" for word in task.args)
    return () if is_named else ("--title=",)


def _environment(task: Task) -> Mapping[str, str]:
    rules: dict[str, object] = dict(_EDIT_RULES) if task.permission == "edit" else {}
    for rule in task.allow:
        match = _RULE.fullmatch(rule)
        if match is None:
            raise RookeryError(
                f"{rule!r} isn't a rule of opencode: use a permission such as bash or "
                "webfetch, or one with a pattern such as 'bash(git *)'"
            )
        name, pattern = match[1], match[2]
        before = rules.get(name)
        patterns = dict(before) if isinstance(before, dict) else {}
        if isinstance(before, str):
            patterns["*"] = before
        rules[name] = "allow" if pattern is None else {**patterns, pattern: "allow"}
    permissions = {f"{name}{_OURS}": rule for name, rule in rules.items()}
    return {"OPENCODE_PERMISSION": json.dumps(permissions)} if permissions else {}


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add the flags for JSON messages to a command line of the user, right after `run`.

    None if it isn't a `run`, or if the user asks for another output format.
    """
    made = with_format(command, flag=("--format", "json"), after="run")
    if made is None or not {"--thinking", "--no-thinking"}.isdisjoint(options_of(command)):
        return made
    after_format = 2 + len(made) - len(command)
    return [*made[:after_format], "--thinking", *made[after_format:]]


def keeps_variable(name: str) -> bool:
    """Whether a variable may be inherited."""
    return _MISLEADING.fullmatch(name) is None
