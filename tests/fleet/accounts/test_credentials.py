"""Credentials: read once, and out of reach of an agent of the same user."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nightrook.fleet.accounts.credentials import (
    Credentials,
    CredentialsError,
    new_key,
    read_credentials,
)
from tests.programs import program
from tests.rules import each

pytestmark = pytest.mark.usefixtures("readable_again")

ORDINARY = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.getuid() == 0 else ()
"""Takes away what root has beyond ordinary users; the user stays the same."""

WORKER = """
import subprocess, sys
from nightrook.fleet.accounts.credentials import read_credentials

credentials = read_credentials(sys.argv[1])
agent = subprocess.run([sys.executable, "-I", "-S", "-c", sys.argv[2]], stdout=subprocess.PIPE)
assert credentials.seed.startswith("SU")  # it is in memory while the agent looks
sys.stdout.buffer.write(agent.stdout)
"""
"""Reads credentials, and starts an agent."""

AGENT = r"""
import os, re, sys

def read(path):
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        return os.read(opened, 1 << 20)
    except OSError:
        return b""

def memory(pid):
    found = b""
    for line in read(f"/proc/{pid}/maps").decode().split("\n"):
        place = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
        if place is None:
            continue
        start, end = (int(part, 16) for part in place.groups())
        try:
            with open(f"/proc/{pid}/mem", "rb", 0) as file:
                file.seek(start)
                found += file.read(end - start)
        except (OSError, ValueError, OverflowError):
            pass
    return found

def descriptors(pid):
    try:
        return [f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return []

worker = os.getppid()
SEED = re.compile(rb"SU[A-Z2-7]{56}")
places = {
    "own environment": b"\0".join(b"=".join(pair) for pair in os.environb.items()),
    "own standard input": sys.stdin.buffer.read(),
    "own descriptors": b"".join(read(f"/proc/self/fd/{n}") for n in range(3, 64)),
    "its environment": read(f"/proc/{worker}/environ"),
    "its command line": read(f"/proc/{worker}/cmdline"),
    "its descriptors": b"".join(map(read, descriptors(worker))),
    "its memory": memory(worker),
}
print([name for name, data in places.items() if SEED.search(data)])
"""
"""Looks for a seed wherever an agent could."""


def _credentials() -> Credentials:
    return Credentials(
        server="nats://127.0.0.1:4222", role="worker", name="ada", seed=new_key().seed
    )


def _file(folder: Path) -> Path:
    path = folder / "worker.json"
    path.write_bytes(_credentials().dump())
    path.chmod(0o600)
    return path


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    made = _credentials()
    path = tmp_path / "worker.json"
    path.write_bytes(made.dump())
    path.chmod(0o600)
    assert read_credentials(str(path)) == made


def test_a_descriptor_is_closed_after_it_was_read(tmp_path: Path) -> None:
    opened = os.open(_file(tmp_path), os.O_RDONLY)
    assert read_credentials(f"fd:{opened}").name == "ada"
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened)


@each("mode", [0o640, 0o604, 0o644, 0o666, 0o620])
def test_a_file_that_others_can_read_is_refused(
    mode: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = _file(tmp_path_factory.mktemp("credentials"))
    path.chmod(mode)
    with pytest.raises(CredentialsError, match="chmod 600"):
        read_credentials(str(path))


@each("source", ["fd:", "fd:x", "fd:-1", "fd:0", "fd:2", "fd:9999", "/nonexistent", "", "\0"])
def test_a_source_that_cannot_be_read_is_an_error(source: str) -> None:
    with pytest.raises(CredentialsError):
        read_credentials(source)


@each("data", [b"", b"{", b"[]", b"{}", b"\xff", b"SUAM", b"x" * 100_000])
def test_what_is_not_credentials_is_refused_without_quoting_it(
    data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("credentials") / "worker.json"
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(CredentialsError) as refused:
        read_credentials(str(path))
    assert "SUAM" not in str(refused.value)


def test_neither_their_text_nor_their_errors_contain_the_seed() -> None:
    made = _credentials()
    wrong = json.loads(made.dump()) | {"role": 5}
    assert made.seed not in repr(made)
    assert made.seed not in repr(made.address())
    assert wrong["seed"] == made.seed


def _found(source: str, credentials: Path, *, before: str = "") -> str:
    """Where an agent of the same user finds the seed of the worker that started it."""
    worker = [*ORDINARY, sys.executable, "-c", before + WORKER, source, AGENT]
    with credentials.open("rb") as file:
        kept = (file.fileno(),) if source.startswith("fd:") else ()
        if kept:
            worker[-2] = f"fd:{file.fileno()}"
        done = subprocess.run(
            worker,
            stdin=file if source == "-" else subprocess.DEVNULL,
            pass_fds=kept,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=60,
        )
    return done.stdout.strip()


@pytest.mark.linux("only Linux lets a process hide its memory")
def test_an_agent_of_the_same_user_finds_the_seed_nowhere(tmp_path: Path) -> None:
    if os.getuid() == 0:  # it can read everything, unless its rights are taken away
        program("setpriv", "util-linux")
    path = _file(tmp_path)
    assert [_found(source, path) for source in ("-", "fd:3")] == ["[]", "[]"]
    seen = "from nightrook.process.systems import linux; linux.hide_memory = lambda: True\n"
    assert _found("-", path, before=seen) == "['its memory']"  # so it would have been found
