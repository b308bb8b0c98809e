"""Loops as objects for programs."""

from nightrook.loops.storage import LoopFolder
from nightrook.model.errors import NightrookError
from nightrook.model.status import LOOP_EXIT_CODES
from nightrook.runs.listing import combined


def loop_json(folder: LoopFolder) -> dict[str, object]:
    """A loop as an object for programs."""
    try:
        state, plan, is_running = folder.state(), folder.plan(), folder.is_running
    except NightrookError as error:
        return {"loop": folder.name, "state": None, "error": str(error)}
    runs = (
        combined(each.report.run for each in state.attempts if each.report.run) if state else None
    )
    end = None if state is None or is_running else state.end
    return {
        "loop": folder.name,
        "running": is_running,
        "prompt": plan.run.prompt or plan.prompt_file,
        "state": state,
        "cwd": str(folder.worktree) if plan.worktree else plan.run.cwd,
        "model": (runs.model if runs else None) or plan.run.model,
        "tokens": runs.tokens if runs else None,
        "session": runs.session if runs else None,
        "exit_code": None if end is None else LOOP_EXIT_CODES[end],
        "files": runs.files if runs else None,
    }
