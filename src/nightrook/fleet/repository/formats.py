"""Descriptions of a repository on its way: sent with a job, and kept with a run."""

import msgspec

FORMAT = 1


class Shipment(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that a worker needs besides the bundle; part of a job."""

    format: int = FORMAT
    base: str
    """The commit to start with: the uncommitted changes, or the commit that is checked out."""

    head: str | None = None
    """The commit that is checked out at home; None if there is none yet."""

    branch: str | None = None
    """The short name of the branch; None if none is checked out."""

    folder: str = ""
    """The folder to work in, relative to the top."""

    user_name: str | None = None
    user_email: str | None = None
    files: tuple[str, ...] = ()
    """Patterns of files outside of git to bring back."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The place that a repository was sent from; kept in the folder of the run, at home."""

    format: int = FORMAT
    top: str
    common_dir: str
    """The git folder, which all worktrees of a repository share."""

    base: str
    head: str | None = None
    folder: str = ""


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """A repository that is ready to be sent."""

    bundle: str
    size: int
    shipment: Shipment
    origin: Origin
    notes: tuple[str, ...] = ()
    """Warnings for the user, one sentence each, with the remedy."""


class Unpacked(msgspec.Struct, frozen=True, kw_only=True):
    """A repository on a worker."""

    top: str
    cwd: str
    base: str
    head: str | None = None
    files: tuple[str, ...] = ()


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of a run on a worker, ready to be sent back."""

    bundle: str | None = None
    """Bundle of its changes; None if it changed nothing that git has."""

    files: str | None = None
    """An archive of other files; None if there are none."""

    notes: tuple[str, ...] = ()
