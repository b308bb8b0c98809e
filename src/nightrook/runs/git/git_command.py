"""Starts git so that it runs only git: every program that a repository can name is off.

A repository's configuration may have been written by an agent, and git would run what it names:
hooks, filters, a file monitor, programs that sign, compare or connect.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from typing import BinaryIO, NamedTuple

from nightrook.model.errors import NightrookError

_TIME_LIMIT_S = 120.0
_TRANSFER_LIMIT_S = 3600.0
_PRIVATE_UMASK = 0o077

_KEPT = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CEILING_", "GIT_DISCOVERY_", "GIT_EXEC_PATH")
_KEPT_CONFIG = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})
"""The user's variables that git still gets: who commits, and where git and its settings are."""

_NO_PROGRAM = "/dev/null"
_OFF = {
    "core.fsmonitor": "false",  # guards: no-file-monitor
    "core.hooksPath": _NO_PROGRAM,  # guards: no-git-hook
    "core.sshCommand": _NO_PROGRAM,
    "core.askPass": "",
    "core.editor": ":",
    "core.pager": "cat",
    "core.alternateRefsCommand": "",
    "credential.helper": "",
    "commit.gpgSign": "false",  # guards: no-signing
    "tag.gpgSign": "false",
    "gpg.program": _NO_PROGRAM,
    "gpg.openpgp.program": _NO_PROGRAM,
    "gpg.x509.program": _NO_PROGRAM,
    "gpg.ssh.program": _NO_PROGRAM,
    "gpg.ssh.defaultKeyCommand": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "diff.ignoreSubmodules": "dirty",  # guards: no-submodule-program
    "safe.bareRepository": "explicit",
}
"""Settings that win over those of any file."""

_PRIVATE = {
    "core.sharedRepository": "umask",
    "core.splitIndex": "false",
    "core.untrackedCache": "false",
    "core.safecrlf": "false",
}
"""More settings for git in a folder of ours: it leaves nothing in the repository."""

_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "none",  # guards: no-fetch
    "GIT_NO_LAZY_FETCH": "1",  # guards: no-fetch
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": ":",
    "GIT_PAGER": "cat",
}

_NAMED = {
    "filter": {"clean": "", "smudge": "", "process": "", "required": "false"},
    "hook": {"command": "", "event": "", "enabled": "false"},
    # guards: no-merge-driver
    "merge": {"driver": "false"},  # a conflict; an empty one would drop the other side's changes
}
"""Kinds of programs that users name themselves, with the settings that turn each of them off."""


class GitError(NightrookError):
    """A git command failed."""


class Answer(NamedTuple):
    """The end of a git command that was started."""

    code: int
    output: str
    error: str


def ask(
    cwd: str, *words: str, env: Mapping[str, str] | None = None, names: str | None = None
) -> str | None:
    """Run a git command and return its output; None if it fails. `names` is its input."""
    try:
        done = _git(cwd, words, env, names)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _text(done.stdout) if done.returncode == 0 else None


def do(
    cwd: str, *words: str, env: Mapping[str, str] | None = None, names: str | None = None
) -> None:
    """Run a git command; a GitError says why it failed."""
    answer = answered(cwd, *words, env=env, names=names)
    if answer.code:
        raise failure(words[0], answer)


def answered(
    cwd: str, *words: str, env: Mapping[str, str] | None = None, names: str | None = None
) -> Answer:
    """Run a git command whose exit code has a meaning; a GitError only if it cannot be run."""
    try:
        done = _git(cwd, words, env, names)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git {words[0]} failed: {error}") from error
    return Answer(done.returncode, _text(done.stdout), _text(done.stderr))


def transfer(
    cwd: str,
    *words: str,
    env: Mapping[str, str] | None = None,
    names: str | None = None,
    source: BinaryIO | None = None,
    into: BinaryIO | None = None,
) -> None:
    """Run a git command that reads or writes an open file of any size; a GitError if it fails."""
    try:
        done = _git(cwd, words, env, names, source=source, into=into)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitError(f"git {words[0]} failed: {error}") from error
    if done.returncode:
        raise failure(words[0], Answer(done.returncode, "", _text(done.stderr)))


def failure(command: str, answer: Answer) -> GitError:
    """The error for a command that failed, with the first line that git wrote."""
    first = (answer.error or answer.output).strip().partition("\n")[0]
    return GitError(f"git {command} failed: {first or f'exit code {answer.code}'}")


def filter_names(cwd: str, env: Mapping[str, str]) -> frozenset[str]:
    """The names of the filters that the configuration defines."""
    return frozenset(name for kind, name in _named_programs(cwd, env) if kind == "filter")


def _git(
    cwd: str,
    words: tuple[str, ...],
    env: Mapping[str, str] | None,
    names: str | None,
    *,
    source: BinaryIO | None = None,
    into: BinaryIO | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    own = env or {}
    off = {**_OFF, **_PRIVATE} if _is_private(own) else dict(_OFF)
    for kind, name in _named_programs(cwd, own):
        # guards: no-filters
        off |= {f"{kind}.{name}.{key}": value for key, value in _NAMED[kind].items()}
    return _start(cwd, words, {**own, **_settings(off)}, names, source=source, into=into)


def _named_programs(cwd: str, env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The kinds and names of filters and the like, wherever they are configured."""
    pattern = rf"^({'|'.join(_NAMED)})\."
    words = ("config", "--includes", "--null", "--name-only", "--get-regexp", pattern)
    done = _start(cwd, words, {**env, **_settings(_OFF)}, None)
    for key in _text(done.stdout).split("\0"):
        kind, _, rest = key.partition(".")
        name, dot, _ = rest.rpartition(".")
        if dot:
            yield kind, name


def _settings(values: Mapping[str, str]) -> dict[str, str]:
    """Settings as variables, which hold any name, unlike `git -c`; git passes them on.

    They come after those that the user has set in this way, so they win.
    """
    pairs = [*_settings_of_user(), *values.items()]
    settings = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for number, (key, value) in enumerate(pairs):
        settings[f"GIT_CONFIG_KEY_{number}"] = key
        settings[f"GIT_CONFIG_VALUE_{number}"] = value
    return settings


def _settings_of_user() -> Iterator[tuple[str, str]]:
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    for number in range(int(count) if count.isdecimal() else 0):
        key = os.environ.get(f"GIT_CONFIG_KEY_{number}")
        value = os.environ.get(f"GIT_CONFIG_VALUE_{number}")
        if key is None or value is None:
            return
        yield key, value


def _is_private(env: Mapping[str, str]) -> bool:
    """True if git writes to a folder of ours, not to the repository."""
    return "GIT_OBJECT_DIRECTORY" in env


def _start(
    cwd: str,
    words: tuple[str, ...],
    env: Mapping[str, str],
    names: str | None,
    *,
    source: BinaryIO | None = None,
    into: BinaryIO | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    given = None if source is not None else (names or "").encode(errors="surrogateescape")
    is_transfer = source is not None or into is not None
    return subprocess.run(
        ["git", "--no-optional-locks", "--no-pager", *words],
        cwd=cwd,
        env={**_environment(), **_VARIABLES, **env},
        stdin=source,
        stdout=into or subprocess.PIPE,
        stderr=subprocess.PIPE,
        input=given,
        umask=_PRIVATE_UMASK if _is_private(env) else -1,  # guards: private-snapshots
        timeout=_TRANSFER_LIMIT_S if is_transfer else _TIME_LIMIT_S,
        check=False,
    )


def _text(data: bytes | None) -> str:
    """Return the output of git unchanged: a name may hold any byte but NUL, even a CR."""
    return (data or b"").decode(errors="surrogateescape")


def _environment() -> dict[str, str]:
    """The environment without variables that lead git to other files or programs."""
    return {
        name: value
        for name, value in os.environ.items()
        # guards: no-git-variables
        if not name.startswith("GIT_") or name.startswith(_KEPT) or name in _KEPT_CONFIG
    }
