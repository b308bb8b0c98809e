"""Installs the programs that tests need and that are no packages of Python or npm.

As root they are installed by apt. Anyone else gets them unpacked into `.cache/programs`, with the
libraries they lack: `apt-get download` needs no rights. Where neither works the tests that need
a program fail and name its package, so that nothing is left untried in silence.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / ".cache" / "programs"
"""Where programs are unpacked for those who may not install; its `bin` is put on the PATH."""

PACKAGES = {
    "chromium": "chromium",
    "fish": "fish",
    "groff": "groff-base",
    "ip": "iproute2",
    "man": "man-db",
    "setpriv": "util-linux",
    "zsh": "zsh",
}
"""Debian's package of each program."""

MOVABLE = {"zsh": "zsh-static zsh-common"}
"""The packages to unpack for a program that finds its parts only where it was built for."""

ROOTS = {"sbatch": "slurm-wlm", "munged": "munge"}
"""What only root can start, and only root is given."""

_SETTINGS = {
    "fish": 'export __fish_data_dir="$usr/share/fish"',
    "groff": 'export GROFF_FONT_PATH="$usr/share/groff/current/font" '
    'GROFF_TMAC_PATH="$usr/share/groff/current/tmac" GROFF_BIN_PATH="$usr/bin" '
    'PATH="$usr/bin:$PATH"',
    "zsh": 'export FPATH="$(find "$usr/share/zsh/functions" -type d | tr "\\n" :)"',
}
"""What a program has to be told when it is not where it was built for."""

_STARTER = """#!/bin/sh
usr={usr}
export LD_LIBRARY_PATH="$(printf %s: "$usr"/lib/*-linux-gnu* "$usr"/lib/*-linux-gnu*/*/)"
{settings}
exec {program} "$@"
"""


def main() -> int:
    """Install what is missing; the exit code is 0 if everything is there afterwards."""
    root = os.getuid() == 0
    wanted = PACKAGES | (ROOTS if root else {})
    missing = _missing(wanted)
    if not missing:
        return 0
    if shutil.which("apt-get") is None:
        _say(missing, "without apt-get these must be installed by hand")
        return 0
    print(f"installing {' '.join(sorted(set(missing.values())))}", flush=True)
    if root:
        _install(sorted(set(missing.values())))
    else:
        for program, package in missing.items():
            _unpack(program, MOVABLE.get(program, package).split())
    if still := _missing(wanted):
        _say(still, "these could not be installed")
    return 0


def _missing(wanted: Mapping[str, str]) -> dict[str, str]:
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin:{PROGRAMS / 'bin'}"
    return {name: package for name, package in wanted.items() if not shutil.which(name, path=path)}


def _say(missing: Mapping[str, str], what: str) -> None:
    names = ", ".join(sorted(set(missing.values())))
    print(f"{what}: {names}. The tests that need them fail.", file=sys.stderr)


def _install(packages: list[str]) -> None:
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    quiet = subprocess.DEVNULL
    if subprocess.run(command, env=environment, stdout=quiet, check=False).returncode:
        subprocess.run(["apt-get", "update", "-qq"], stdout=quiet, check=False)
        subprocess.run(command, env=environment, stdout=quiet, check=False)


def _unpack(program: str, packages: list[str]) -> None:
    """Put packages and the libraries they lack here into a folder, and a starter beside it."""
    plan = subprocess.run(
        ["apt-get", "-s", "install", "--no-install-recommends", *packages],
        capture_output=True,
        text=True,
        check=False,
    )
    needed = re.findall(r"^Inst (\S+)", plan.stdout, flags=re.MULTILINE)
    downloads = PROGRAMS / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    got = subprocess.run(
        ["apt-get", "download", "-qq", *needed], cwd=downloads, check=False
    ).returncode
    if got or not needed:
        return
    for archive in sorted(downloads.glob("*.deb")):
        subprocess.run(["dpkg", "-x", str(archive), str(PROGRAMS / "root")], check=True)
        archive.unlink()
    _write_starter(program)


def _write_starter(program: str) -> None:
    root = PROGRAMS / "root"
    places = (
        f"usr/lib/{program}/{program}",
        f"usr/bin/{program}",
        f"bin/{program}",
        f"bin/{program}-static",
    )
    real = next((root / place for place in places if (root / place).exists()), None)
    if real is None:
        return
    starter = PROGRAMS / "bin" / program
    starter.parent.mkdir(exist_ok=True)
    starter.write_text(
        _STARTER.format(
            usr=shlex.quote(str(root / "usr")),
            settings=_SETTINGS.get(program, ""),
            program=shlex.quote(str(real)),
        )
    )
    starter.chmod(0o755)


if __name__ == "__main__":
    sys.exit(main())
