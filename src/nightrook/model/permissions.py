"""The permissions that a user can give an agent, and who may give which.

A mode is one of `Permission`; each agent's `command.py` says by which flags it has it.
"""

from typing import Literal

Permission = Literal["ask", "edit", "all", "plan", "agent"]
"""The actions an agent may take without asking: edits, everything, only a plan, or by its settings.

With `ask`, its settings apply too, and everything they leave open needs approval.
"""

NOT_FOR_PROJECTS: tuple[Permission, ...] = ("all",)
"""The modes that no settings file of a project can set: they let an agent do anything."""

OF_WORKERS: tuple[Permission, ...] = ("plan", "ask", "edit", "agent")
"""The modes that a worker of a fleet grants if its configuration does not say otherwise."""

PERMIT_EDITS = "--permission edit"
"""The `fix` of a denied call that needs the permission to edit rather than a rule."""

PERMIT_ALL = "--permission all"
"""The `fix` of a denied call for which no rule is known that would allow it."""
