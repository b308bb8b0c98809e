"""The change that a run or a loop made on another machine or in a worktree."""

import os
from pathlib import Path
from typing import NamedTuple

from nightrook.fleet.repository.fetch import fetched, origin_of
from nightrook.loops.storage import LOOP_FOLDERS, LoopFolder
from nightrook.model.errors import NightrookError
from nightrook.runs.git.changes import Change
from nightrook.runs.git.repository import Repository, find_repository
from nightrook.runs.git.worktrees import worktree_change
from nightrook.store.file_names import RESULT_FILES
from nightrook.store.home import home_folder
from nightrook.store.list import chosen_run
from nightrook.store.names import branch_of, kind_of
from nightrook.store.run_folder import RunFolder


class RunChange(NamedTuple):
    """A change, and the repository to compare it with."""

    name: str
    prompt: str | None
    repository: Repository
    """The checkout to compare with, and to apply the change to."""

    change: Change

    @property
    def cwd(self) -> str:
        """The folder that paths are relative to: the present one, if it is in the checkout."""
        present, top = os.path.realpath(os.curdir), self.repository.top
        return present if os.path.commonpath([present, top]) == top else top


def find_change(run: str | None, keep: Path, *, stored: bool = False) -> RunChange:
    """Find the changes of a run or a loop; `keep` is a folder for objects that git must write.

    If it should be stored, commits that are made for it are written to the repository.
    """
    if run is not None and kind_of(run) == "loop":
        return _of_loop(LOOP_FOLDERS.find(home_folder(), run), keep, stored=stored)
    folder = chosen_run(home_folder(), run)
    info, origin = folder.info(), origin_of(folder)
    if origin is not None:
        home, change = fetched(folder, origin)
    elif info is not None and info.worktree is not None:
        branch = branch_of(info.worktree)
        home, change = worktree_change(info.worktree, branch, keep, stored=stored)
    else:
        place = info.cwd if info is not None and not info.piped else "an unknown folder"
        raise NightrookError(
            f"{folder.name} worked in {place} itself: look at its changes with git diff there; the "
            "next run can work apart with --worktree"
        )
    return RunChange(folder.name, info.prompt if info else None, _here(home), change)


def files_of(run: str | None) -> tuple[RunFolder, Path]:
    """The run, and the archive of the files outside of git that it brought back."""
    folder = chosen_run(home_folder(), run)
    archive = folder.path / RESULT_FILES
    if not archive.is_file():
        raise NightrookError(f"{folder.name} brought back no files outside of git")
    return folder, archive


def _of_loop(folder: LoopFolder, keep: Path, *, stored: bool) -> RunChange:
    plan = folder.plan()
    if not plan.worktree:
        raise NightrookError(
            f"{folder.name} worked in {plan.run.cwd} itself: look at its changes with git diff "
            "there; the next loop can work apart with --worktree"
        )
    home, change = worktree_change(str(folder.worktree), folder.branch, keep, stored=stored)
    return RunChange(folder.name, plan.run.prompt, _here(home), change)


def _here(home: Repository) -> Repository:
    """The checkout of the repository that the user is in, or else the one that was used."""
    present = find_repository(os.path.realpath(os.curdir))
    if present is not None and present.common_dir == home.common_dir:
        return present
    if present is None and not _is_linked(home):
        return home
    raise NightrookError(f"this folder is not in the repository of the run: cd {_main(home)}")


def _is_linked(home: Repository) -> bool:
    """True for a worktree that was added, such as the one that the run worked in."""
    return home.git_dir != home.common_dir


def _main(home: Repository) -> str:
    """The folder of the main checkout."""
    return os.path.dirname(home.common_dir) if _is_linked(home) else home.top
