"""Repositories for tests, and what of them must never change."""

import os
import subprocess
from pathlib import Path

from nightrook.fleet.repository.collect import collect
from nightrook.fleet.repository.fetch import fetch
from nightrook.fleet.repository.formats import Collected, Packed, Unpacked
from nightrook.fleet.repository.pack import pack
from nightrook.fleet.repository.unpack import unpack

ODD = b"odd-\xff-name"
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"


def git(folder: Path | str, *words: str, check: bool = True) -> str:
    """Run git as a user would, with a name and without the settings of this machine."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")},
    }
    words = ("-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *words)
    done = subprocess.run(
        ["git", *words], cwd=folder, env=env, check=check, capture_output=True, text=True
    )
    return done.stdout


def commit(folder: Path, message: str) -> None:
    """Commit all files."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)


def small(folder: Path) -> Path:
    """A repository with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    (folder / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\nsix\nseven\n")
    (folder / "b.txt").write_text("b\n")
    commit(folder, "Add files")
    return folder


def rich(folder: Path) -> Path:
    """A repository with all that is hard to send, committed, staged, changed and untracked."""
    inner = small(folder.parent / f"{folder.name}-inner")
    small(folder)
    (folder / ".gitattributes").write_text(
        "*.crlf text eol=crlf\n*.big filter=lfs diff=lfs merge=lfs -text\n"
    )
    (folder / ".gitignore").write_text("*.log\ndist/\n")
    (folder / "lines.crlf").write_bytes(b"one\r\ntwo\r\n")
    (folder / "model.big").write_text(POINTER)
    (folder / "data.bin").write_bytes(bytes(range(256)) * 8)
    (folder / "tool.sh").write_text("#!/bin/sh\n")
    (folder / "tool.sh").chmod(0o755)
    (folder / "link").symlink_to("a.txt")
    (folder / "outside").symlink_to("/etc/hostname")
    (folder / "sub").mkdir()
    (folder / "sub" / "deep.txt").write_text("deep\n")
    Path(os.fsdecode(os.path.join(os.fsencode(folder), ODD))).write_text("odd\n")
    git(folder, "submodule", "--quiet", "add", str(inner), "module")
    commit(folder, "Add more files")
    git(folder, "tag", "v1")
    git(folder, "branch", "other")
    (folder / "b.txt").write_text("stashed\n")
    git(folder, "stash", "--quiet")
    git(folder, "mv", "b.txt", "renamed.txt")
    (folder / "staged.txt").write_text("staged\n")
    git(folder, "add", "staged.txt")
    (folder / "a.txt").write_text("one\nTWO\nthree\nfour\nfive\nsix\nseven\n")
    (folder / "lines.crlf").write_bytes(b"one\r\nTWO\r\n")
    (folder / "new.txt").write_text("new\n")
    (folder / "tool.sh").chmod(0o644)
    (folder / "sub" / "deep.txt").unlink()
    (folder / "noise.log").write_text("ignored\n")
    (folder / ".env").write_text("KEY=secret\n")
    return folder


def state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file of a checkout and of its git folder, but objects and what is below refs/rook."""
    git_dir = Path(git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir").strip())
    found = {}
    for path in sorted({*folder.rglob("*"), *git_dir.rglob("*")}):
        name = f"{path}/"
        if "/objects/" not in name and "/refs/rook/" not in name:
            found[name] = _file(path)
    return found


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """The files of a checkout, without those of git."""
    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if ".git" not in path.relative_to(folder).parts and (path.is_symlink() or path.is_file()):
            mode, _, data = _file(path)
            found[name] = (mode & 0o170111, data)
    return found


def _file(path: Path) -> tuple[int, int, bytes]:
    """Mode, time and content; a folder has no time, because a file may come and go in it."""
    about = path.lstat()
    if path.is_symlink():
        return about.st_mode, about.st_mtime_ns, os.fsencode(os.readlink(path))
    if path.is_dir():
        return about.st_mode, 0, b""
    return about.st_mode, about.st_mtime_ns, path.read_bytes()


class Trip:
    """One way to a worker and back."""

    def __init__(self, home: Path, place: Path, **options: object) -> None:
        self.place = place
        place.mkdir(exist_ok=True)
        self.packed: Packed = pack(str(home), place / "packed", **options)  # type: ignore[arg-type]

    def unpack(self) -> Unpacked:
        """Make the repository of the worker."""
        return unpack(Path(self.packed.bundle), self.place / "work", self.packed.shipment)

    def collect(self, unpacked: Unpacked) -> Collected:
        """Collect what was changed there."""
        return collect(unpacked, self.place / "collected")

    def fetch(self, collected: Collected, run: str = "k7f3") -> str:
        """Fetch it at home."""
        assert collected.bundle is not None
        return fetch(run, Path(collected.bundle), self.packed.origin)
