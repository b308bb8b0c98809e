"""Kilo CLI's command line; its flags and rules are those of agents that write finished parts."""

import re

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.finished_parts import command

PROGRAMS = ("kilo", "kilocode")
"""The names of the program, without folder and `.exe`."""

# If a daemon of the user's runs, Kilo CLI leaves all work to it. It could then neither get rules
# nor be stopped, and its commands would not be processes of the run.
_ENVIRONMENT = {"KILO_NO_DAEMON": "1"}

# Variables that an outer Kilo CLI sets for its children; settings such as KILO_CONFIG are those of
# the user and stay. PWD is removed too: Kilo CLI uses it instead of the folder it is started in.
_MISLEADING = re.compile(
    r"PWD|OPENCODE|KILO|KILO_(BACKGROUND_PROCESS_(ID|PORTS|TOKEN)|CLIENT|CONSOLE_TOKEN"
    r"|EDITOR_SSE_PORT|LOG_INITIALIZED_RUN_ID|PARENT_PID|PID|PROCESS_ROLE|PTY_ID|ROUTE|RUN_ID"
    r"|TERMINAL|WORKSPACE_ID)"
)


def invoke(task: Task) -> Invocation:
    """Return the command line for a task."""
    return command.invoke(task, "kilo", rules="KILO_PERMISSION", environment=_ENVIRONMENT)


def keeps_variable(name: str) -> bool:
    """Whether a variable may be inherited."""
    return _MISLEADING.fullmatch(name) is None
