"""A Slurm cluster of one node on this machine, from Debian's slurm-wlm; it needs root."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol")
_CONFIGURATION = """
ClusterName=rook
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
NodeName={host} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP
"""
_START_S = 30.0


def missing() -> str | None:
    """Why no cluster can be started here; None if it can."""
    if os.getuid() != 0:
        return "only root can start slurmd"
    gone = [name for name in _PROGRAMS if shutil.which(name) is None]
    return f"not installed: {', '.join(gone)} (apt-get install slurm-wlm)" if gone else None


@contextmanager
def slurm(folder: Path) -> Iterator[Path]:
    """A running cluster; the value is its configuration, for SLURM_CONF."""
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    folder.chmod(0o755)
    configuration = folder / "slurm.conf"
    controller, node = _ports()
    configuration.write_text(
        _CONFIGURATION.format(
            host=socket.gethostname(), folder=folder, controller=controller, node=node
        )
    )
    munged = ["munged", "--foreground", "--force", "--key-file", str(key)]
    munged += ["--socket", str(folder / "munge.socket"), "--log-file", str(folder / "munge.log")]
    munged += ["--pid-file", str(folder / "munge.pid"), "--seed-file", str(folder / "munge.seed")]
    with ExitStack() as stack:
        for command in (munged, ["slurmctld", "-D"], ["slurmd", "-D"]):
            stack.callback(_end, _started(command, configuration))
        _wait_until_idle(configuration)
        yield configuration


def _ports() -> tuple[int, int]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("", 0)) as two:
        return one.getsockname()[1], two.getsockname()[1]


def _started(command: list[str], configuration: Path) -> subprocess.Popen[bytes]:
    log = configuration.parent / f"{command[0]}.out"
    environment = {**os.environ, "SLURM_CONF": str(configuration)}
    with log.open("wb") as output:
        return subprocess.Popen(command, env=environment, stdout=output, stderr=output)


def _wait_until_idle(configuration: Path) -> None:
    until = time.monotonic() + _START_S
    environment = {**os.environ, "SLURM_CONF": str(configuration)}
    while True:
        shown = subprocess.run(
            ["scontrol", "show", "node"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        if "State=IDLE" in shown:
            return
        logs = [
            path.read_text(errors="replace")[-800:] for path in configuration.parent.glob("*.out")
        ]
        assert time.monotonic() < until, (shown, logs)
        time.sleep(0.2)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
