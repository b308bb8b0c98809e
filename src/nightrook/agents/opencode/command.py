"""The command lines of OpenCode and Kilo CLI: flags, permission rules and stdin.

Their rules are JSON in an environment variable. The agent merges them into those of the user's
settings by name. Under an existing name, our rule would replace the user's (`bash(git *)` a `bash`
that asks) and keep its position, although the last matching rule wins. So our names end in a
pattern that users don't write: it matches the name before it, and nothing else without a space.
"""

import json
import re
from collections.abc import Mapping, Sequence

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.command_line import as_typed, option, options_of, permission_of, with_format
from nightrook.model.errors import NightrookError
from nightrook.model.permissions import Permission

PROGRAMS = ("opencode",)
"""The name of OpenCode's program, without folder and `.exe`."""

KILO_PROGRAMS = ("kilo", "kilocode")
"""The names of Kilo CLI's program."""

OUTPUT_FLAGS = ("--format", "json", "--thinking")
"""Makes `run` write one message per line; without `--thinking`, thoughts are left out."""

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
_OURS = " *"

# If a daemon of the user's runs, Kilo CLI leaves all work to it. It could then neither get rules
# nor be stopped, and its commands would not be processes of the run.
_KILO_ENVIRONMENT = {"KILO_NO_DAEMON": "1"}

# Variables that an outer agent sets for its children; settings such as OPENCODE_CONFIG are the
# user's and stay. PWD is removed too: the agent uses it instead of the folder it is started in.
_MISLEADING = re.compile(r"PWD|OPENCODE|OPENCODE_(CLIENT|EDITOR_SSE_PORT|PID|ROUTE|WORKSPACE_ID)")
_MISLEADING_KILO = re.compile(
    r"PWD|OPENCODE|KILO|KILO_(BACKGROUND_PROCESS_(ID|PORTS|TOKEN)|CLIENT|CONSOLE_TOKEN"
    r"|EDITOR_SSE_PORT|LOG_INITIALIZED_RUN_ID|PARENT_PID|PID|PROCESS_ROLE|PTY_ID|ROUTE|RUN_ID"
    r"|TERMINAL|WORKSPACE_ID)"
)


def invoke(task: Task) -> Invocation:
    """Return OpenCode's command line for a task."""
    return _invocation(task, "opencode", rules="OPENCODE_PERMISSION")


def invoke_kilo(task: Task) -> Invocation:
    """Return Kilo CLI's command line for a task."""
    return _invocation(task, "kilo", rules="KILO_PERMISSION", environment=_KILO_ENVIRONMENT)


def keeps_variable(name: str) -> bool:
    """True if OpenCode may inherit a variable."""
    return _MISLEADING.fullmatch(name) is None


def kilo_keeps_variable(name: str) -> bool:
    """True if Kilo CLI may inherit a variable."""
    return _MISLEADING_KILO.fullmatch(name) is None


def _invocation(
    task: Task,
    program: str,
    *,
    rules: str,
    environment: Mapping[str, str] = {},
) -> Invocation:
    """Return the command line for a task; `rules` is the variable for permission rules.

    The prompt goes to stdin: an argument with a space would reach the model in quotation marks.
    """
    own = (
        program,
        "run",
        *(OUTPUT_FLAGS if task.stream else ()),
        *option("--model", task.model),
        *permission_of(program, _FLAGS, task.permission),
        *(option("--session", task.resume) or _title(task)),
    )
    permissions = _permissions(task, program)
    return Invocation(
        command=(*own, *task.args),
        typed=as_typed(
            own, task.args, *(("--",) if task.prompt.startswith("-") else ()), task.prompt
        ),
        stdin=task.prompt.encode(),
        environment={**environment, **({rules: json.dumps(permissions)} if permissions else {})},
    )


def _title(task: Task) -> Sequence[str]:
    """Return an empty title, which names the session after its prompt.

    Without a title, the agent asks a model for a name in an unreported request.
    """
    is_named = any(word.partition("=")[0] == "--title" for word in task.args)
    return () if is_named else ("--title=",)


def _permissions(task: Task, program: str) -> Mapping[str, object]:
    rules: dict[str, object] = dict(_EDIT_RULES) if task.permission == "edit" else {}
    for rule in task.allow:
        match = _RULE.fullmatch(rule)
        if match is None:
            raise NightrookError(
                f"{rule!r} isn't a rule of {program}: use a permission such as bash or "
                "webfetch, or one with a pattern such as 'bash(git *)'"
            )
        name, pattern = match[1], match[2]
        before = rules.get(name)
        patterns = dict(before) if isinstance(before, dict) else {}
        if isinstance(before, str):
            patterns["*"] = before
        rules[name] = "allow" if pattern is None else {**patterns, pattern: "allow"}
    return {f"{name}{_OURS}": rule for name, rule in rules.items()}


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add the flags for JSON messages to a command line of the user, right after `run`.

    None if it isn't a `run`, or if the user asks for another output format.
    """
    made = with_format(command, flag=("--format", "json"), after="run")
    if made is None or not {"--thinking", "--no-thinking"}.isdisjoint(options_of(command)):
        return made
    after_format = 2 + len(made) - len(command)
    return [*made[:after_format], "--thinking", *made[after_format:]]
