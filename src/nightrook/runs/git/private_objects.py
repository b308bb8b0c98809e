"""An index and objects in a folder of ours: git works in a repository and only reads it."""

from pathlib import Path

from nightrook.runs.git.git_command import GitError
from nightrook.runs.git.repository import Repository


def private_env(repository: Repository, keep: Path) -> dict[str, str]:
    """Variables by which git keeps the index and new objects in a folder, which is made."""
    objects = keep / "objects"
    try:
        for folder in (keep, objects):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise GitError(f"{keep}: {error.strerror or error}") from error
    return {
        **repository.env,
        "GIT_INDEX_FILE": str(keep / "index"),
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": as_alternate(repository.objects),
        "GIT_NO_REPLACE_OBJECTS": "1",
    }


def as_alternate(path: str) -> str:
    """A folder of objects as git reads it from a list that colons separate."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
