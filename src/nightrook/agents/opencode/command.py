"""OpenCode's command line; its flags and rules are those of agents that write finished parts."""

import re

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.finished_parts import command

PROGRAMS = ("opencode",)
"""The name of the program, without folder and `.exe`."""

# Variables that an outer OpenCode sets for its children; settings such as OPENCODE_CONFIG are the
# user's and stay. PWD is removed too: OpenCode uses it instead of the folder it is started in.
_MISLEADING = re.compile(r"PWD|OPENCODE|OPENCODE_(CLIENT|EDITOR_SSE_PORT|PID|ROUTE|WORKSPACE_ID)")


def invoke(task: Task) -> Invocation:
    """Return the command line for a task."""
    return command.invoke(task, "opencode", rules="OPENCODE_PERMISSION")


def keeps_variable(name: str) -> bool:
    """Whether a variable may be inherited."""
    return _MISLEADING.fullmatch(name) is None
