"""Filters of runs and sessions, shared by lists, reports and searches."""

import os

import msgspec


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Filter of runs or sessions; None takes all."""

    agent: str | None = None
    """The name of the agent, or the user's own name for it."""

    status: str | None = None
    project: str | None = None
    """The folder worked in, as `read_project` returns it."""

    cwd: str | None = None
    """An absolute path: what worked in that folder or below it."""

    since: float | None = None
    """The first moment that is wanted, in seconds since 1970."""

    until: float | None = None
    """The first moment that is too late."""

    session: str | None = None
    """The beginning of a session's id."""

    def takes_agent(self, *names: str | None) -> bool:
        """True if an agent with these names is wanted."""
        return self.agent is None or self.agent in names

    def takes_folder(self, path: str | None) -> bool:
        """True if runs or sessions in a folder are wanted."""
        return (self.project is None or is_project(path, self.project)) and (
            self.cwd is None or is_below(path, self.cwd)
        )

    def takes_time(self, at: float | None) -> bool:
        """True if a time is wanted; an unknown one is unless a period is asked for."""
        if at is None:
            return self.since is None and self.until is None
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)

    def takes_session(self, agent: str, id: str, project: str | None) -> bool:
        """True if a session is wanted, whenever it was."""
        return (
            self.takes_agent(agent)
            and id.startswith(self.session or "")
            and self.takes_folder(project)
        )


def read_project(text: str) -> str:
    """Read a project as people name it: a path, which is made absolute, or its last parts."""
    path = os.path.expanduser(text)
    if path.startswith(("/", "./", "../")) or path in (".", ".."):
        return os.path.abspath(path)
    return path.strip("/\\")


def is_project(path: str | None, project: str) -> bool:
    """True if a folder is a project, named by its path or its last parts."""
    wanted = project.rstrip("/") or project
    if path is None or not wanted:
        return False
    return path == wanted or path.endswith((f"/{wanted}", f"\\{wanted}"))


def is_below(path: str | None, folder: str) -> bool:
    """True if a path is a folder or in it."""
    return path is not None and f"{path}/".startswith(f"{folder.rstrip('/')}/")
