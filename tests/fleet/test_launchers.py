"""Runs that another scheduler starts: `rook run --sink` behind ssh and Slurm."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from nightrook.fleet.accounts import folder
from nightrook.fleet.accounts.members import load
from nightrook.fleet.nats_server import LocalServer
from nightrook.testing import install_agent
from tests.fleet.accounts.fleet import free_local
from tests.fleet.slurm import missing, slurm

pytestmark = pytest.mark.soak

SSH = """#!/bin/sh
# As ssh does it: another environment, a folder of its own, the words joined for a shell there.
shift
cd "$THERE" && exec env -i HOME="$THERE" PATH="$THERE:/usr/bin:/bin" sh -c "$*"
"""


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Path]:
    """A fleet with accounts, and a scripted agent in the folder `there`."""
    folder.create(tmp_path, free_local())
    folder.add_worker(tmp_path, "ada", labels=("any",), agents=("claude",))
    there = tmp_path / "there"
    there.mkdir()
    install_agent(there, "--script-play", "short")
    port = load(tmp_path).port
    with LocalServer(tmp_path, configuration=tmp_path / "server.conf", port=port):
        boss = str(tmp_path / "credentials" / "boss.json")
        _run(
            [sys.executable, "-m", "nightrook", "fleet", "--credentials", boss], {}
        )  # makes streams
        yield tmp_path


def _rook() -> str:
    return shlex.join([sys.executable, "-m", "nightrook"])


def _watched(fleet: Path) -> bool:
    """Whether the boss gets the same bytes as the run has where it happened."""
    run = next((fleet / "there" / "home" / "runs").iterdir())
    environment = {
        "ROOK_HOME": str(fleet / "boss"),
        "ROOK_FLEET_CREDENTIALS": str(fleet / "credentials" / "boss.json"),
    }
    _run([sys.executable, "-m", "nightrook", "attach", run.name], environment)
    ours = fleet / "boss" / "runs" / run.name / "stdout.raw"
    return ours.read_bytes() == (run / "stdout.raw").read_bytes() != b""


def _run(command: Sequence[str], environment: dict[str, str], stdin: Path | None = None) -> None:
    with open(stdin or os.devnull, "rb") as given:
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            stdin=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stdout + done.stderr


def test_behind_ssh_the_credentials_come_by_standard_input(fleet: Path) -> None:
    ssh = fleet / "ssh"
    ssh.write_text(SSH)
    ssh.chmod(0o755)
    home = shlex.quote(str(fleet / "there" / "home"))
    words = f"ROOK_HOME={home} {_rook()} run --agent claude --sink fd:3 Go 3<&0 </dev/null"
    credentials = fleet / "credentials" / "worker-ada.json"
    _run([str(ssh), "ada", words], {"THERE": str(fleet / "there")}, credentials)
    assert _watched(fleet)


def test_behind_slurm_the_credentials_come_by_a_descriptor(fleet: Path) -> None:
    if (why := missing()) is not None:
        pytest.skip(why)
    credentials = fleet / "credentials" / "worker-ada.json"
    script = fleet / "job.sh"
    words = f"{_rook()} run --agent claude --sink fd:3 Go 3< {credentials} < /dev/null"
    script.write_text(f"#!/bin/sh\nexec {words}\n")
    with slurm(fleet / "slurm") as configuration:
        exported = {
            "SLURM_CONF": str(configuration),
            "ROOK_HOME": str(fleet / "there" / "home"),
            "PATH": f"{fleet / 'there'}{os.pathsep}{os.environ['PATH']}",
        }
        sbatch = shutil.which("sbatch") or "sbatch"
        output = str(fleet / "job.log")
        _run([sbatch, "--wait", "--chdir", str(fleet), "-o", output, str(script)], exported)
    assert _watched(fleet)
