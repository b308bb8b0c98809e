"""Programs of tests are installed, or named, by whoever may and by whoever may not install."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

APT = """#!/bin/sh
echo "$@" >> {log}
case "$*" in
    "-s install"*) echo "Inst fish-common (3.6)"; echo "Inst fish (3.6)";;
    download*) for name in "$@"; do case $name in -*|download) ;; *) : > $name.deb;; esac; done;;
esac
"""
DPKG = """#!/bin/sh
mkdir -p $3/usr/bin $3/usr/share/fish
printf '#!/bin/sh\\necho $__fish_data_dir\\n' > $3/usr/bin/fish
chmod +x $3/usr/bin/fish
"""


@pytest.fixture
def tree(tmp_path: Path, root: Path) -> Path:
    """A checkout beside the tools of a Debian that has every program but fish."""
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts" / "programs.py"
    source = (root / "scripts" / "programs.py").read_text(encoding="utf-8")
    script.write_text(source.replace("root = os.getuid() == 0", "root = False"))
    tools = tmp_path / "tools"
    tools.mkdir()
    have(tools, "apt-get", APT.format(log=tmp_path / "log"))
    have(tools, "dpkg", DPKG)
    for name in ("chromium", "groff", "ip", "man", "setpriv", "zsh"):
        have(tools, name, "#!/bin/sh\n")
    for name in ("sh", "mkdir", "chmod"):
        (tools / name).symlink_to(f"/bin/{name}")
    return tmp_path


def have(tools: Path, name: str, script: str) -> None:
    (tools / name).write_text(script)
    (tools / name).chmod(0o755)


def installed(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(tree / "scripts" / "programs.py")],
        env={**os.environ, "PATH": str(tree / "tools")},
        capture_output=True,
        text=True,
        check=True,
    )


def test_without_rights_a_program_is_unpacked_with_what_it_lacks(tree: Path) -> None:
    assert installed(tree).stdout == "installing fish\n"
    log = (tree / "log").read_text()
    assert log.splitlines()[1] == "download -qq fish-common fish"
    fish = subprocess.run(
        [str(tree / ".cache" / "programs" / "bin" / "fish")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(fish.stdout.strip()) == tree / ".cache/programs/root/usr/share/fish"
    assert installed(tree).stdout == ""  # it is there now
    assert (tree / "log").read_text() == log


def test_what_cannot_be_installed_is_named_by_its_package(tree: Path) -> None:
    (tree / "tools" / "groff").unlink()
    (tree / "tools" / "apt-get").unlink()
    said = installed(tree).stderr
    assert said.startswith("without apt-get these must be installed by hand: fish, groff-base.")
