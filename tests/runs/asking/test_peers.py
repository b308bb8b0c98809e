"""Who may decide: nobody of another user, of an agent's process tree, or of unknown origin."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from msgspec.structs import replace

from nightrook.model.questions import Decision
from nightrook.process.liveness import start_ticks
from nightrook.process.systems.process_table import Peer
from nightrook.process.systems.this_system import system
from nightrook.runs.asking import client
from nightrook.runs.asking.peers import FROM_AGENT, OTHER_USER, UNCLEAR, Recorder, refusal
from nightrook.store.run_folder import RunFolder
from tests.process.recording import wait_for
from tests.runs.asking.asking_agent import command, decided, first_question, make, play

PEER = Path(__file__).with_name("peer.py")
NO = Decision(allow=False, by="person", through="test", reason="no")


def attempt(folder: Path, shell: str, how: str = "plain") -> dict[str, Any]:
    """A step of the agent that asks, and meanwhile tries to answer itself."""
    words = f"{sys.executable} {PEER} {how} $ROOK_RUN_DIR {folder}/said"
    return {**command(), "meanwhile": ["sh", "-c", shell.replace("PEER", words)]}


def said(tmp_path: Path, step: dict[str, Any]) -> dict[str, Any]:
    """What a process of the agent is told that tries to answer; nobody else says yes."""
    answers: list[dict[str, Any]] = []

    async def watch(folder: RunFolder) -> None:
        question = await first_question(folder)
        while not (tmp_path / "said").exists():
            await asyncio.sleep(0.01)
        answers.append(json.loads((tmp_path / "said").read_text()))
        assert await client.open_questions(folder) == (question,)
        await client.decide(folder, question.id, NO)

    run = play(make(tmp_path, step), watch)
    assert decided(run.folder) == [NO]
    return answers[0]


orphans_stay = pytest.mark.skipif(
    not system.ORPHANS_STAY, reason="orphans leave the agent's tree: all of them are refused"
)
REFUSED = {"is": "refused", "reason": FROM_AGENT}


def test_a_process_with_the_marker_of_the_run_is_refused(tmp_path: Path) -> None:
    assert said(tmp_path, attempt(tmp_path, "PEER")) == REFUSED


def test_a_process_below_the_agent_without_the_marker_is_refused(tmp_path: Path) -> None:
    assert said(tmp_path, attempt(tmp_path, "env -u ROOK_RUN PEER")) == REFUSED


def test_a_process_of_the_agent_with_an_empty_environment_is_refused(tmp_path: Path) -> None:
    assert said(tmp_path, attempt(tmp_path, "env -i PEER")) == REFUSED


@orphans_stay
def test_an_orphan_of_the_agent_with_an_empty_environment_is_refused(tmp_path: Path) -> None:
    assert said(tmp_path, attempt(tmp_path, "env -i PEER", "orphan")) == REFUSED


def test_a_connection_whose_process_has_ended_is_refused(tmp_path: Path) -> None:
    answer = said(tmp_path, attempt(tmp_path, "env -i PEER", "passed"))
    assert answer["is"] == "refused"
    assert answer["reason"] in (UNCLEAR, FROM_AGENT)  # it may have been seen before it ended


def test_a_process_below_the_runner_is_refused(tmp_path: Path) -> None:
    async def watch(folder: RunFolder) -> None:
        question = await first_question(folder)
        words = [sys.executable, PEER, "plain", folder.path, tmp_path / "said"]
        child = await asyncio.create_subprocess_exec(*map(str, words), env={})
        await child.wait()
        assert json.loads((tmp_path / "said").read_text()) == REFUSED
        await client.decide(folder, question.id, NO)

    play(make(tmp_path, command()), watch)


def test_no_file_in_the_run_folder_is_an_answer(tmp_path: Path) -> None:
    answer = json.dumps({"at": 1, "id": "ask-0", "decision": {"allow": True}, "waited_s": 1})
    step = command()
    names = "decisions.jsonl answer.json answers.jsonl stdin.raw"
    step["meanwhile"] = [
        *("sh", "-c", f"cd $ROOK_RUN_DIR; for n in {names}; do echo '{answer}' >> $n; done"),
    ]

    async def watch(folder: RunFolder) -> None:
        question = await first_question(folder)
        while not (folder.path / "answers.jsonl").exists():
            await asyncio.sleep(0.01)
        assert await client.open_questions(folder) == (question,)
        await client.decide(folder, question.id, NO)

    run = play(make(tmp_path, step), watch)
    assert b"deny" in run.stdout()


class Listener:
    """A socket that listens in a private folder, and whoever connects to it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "s"
        self.server = socket.socket(socket.AF_UNIX)
        fd = os.open(folder, os.O_RDONLY)
        self.server.bind(f"/proc/self/fd/{fd}/s")
        os.close(fd)
        self.server.listen()

    def refusal_of(self, script: str, recorder: Recorder, **options: Any) -> str | None:
        """How a process is refused that connects and stays."""
        words = f"import os, socket, sys\nc = socket.socket(socket.AF_UNIX)\n{script}"
        child = subprocess.Popen(
            [sys.executable, "-c", words, self.path.parent],
            stdin=PIPE,
            **options,
        )
        try:
            connection, _ = self.server.accept()
            with connection:
                return refusal(connection, recorder)
        finally:
            child.communicate()


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    listener = Listener(tmp_path)
    with listener.server:
        yield listener


AS_NOBODY = """
os.chdir(sys.argv[1])
os.setuid(65534)
c.connect("s")
sys.stdin.read()
"""
ELSEWHERE = """
os.chdir(sys.argv[1])
parent = os.getpid()
if os.fork():
    os._exit(0)
os.setsid()
while os.getppid() == parent:
    pass
c.connect("s")
sys.stdin.read()
"""


@pytest.fixture
def alive() -> Iterator[Recorder]:
    """A process that lives, and is nobody's parent."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=PIPE)
    yield Recorder(child.pid, start_ticks(child.pid))
    child.communicate(b"\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_process_of_another_user_is_refused(
    tmp_path: Path, listener: Listener, alive: Recorder
) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "s").chmod(0o666)
    assert listener.refusal_of(AS_NOBODY, alive) == OTHER_USER


def test_a_process_from_elsewhere_may_decide_where_orphans_stay_in_the_agent_s_tree(
    listener: Listener, alive: Recorder
) -> None:
    refusal = None if system.ORPHANS_STAY else UNCLEAR  # it may be an orphan of the agent
    assert listener.refusal_of(ELSEWHERE, alive) == refusal


def test_whoever_connects_is_refused_when_the_recorder_has_died(listener: Listener) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    dead = Recorder(child.pid, start_ticks(child.pid))
    child.wait()
    assert listener.refusal_of(ELSEWHERE, dead) == UNCLEAR


def test_an_agent_of_another_run_is_refused(listener: Listener, alive: Recorder) -> None:
    marked = {**os.environ, "ROOK_RUN": "/elsewhere"}
    assert listener.refusal_of(ELSEWHERE, alive, env=marked) == FROM_AGENT


@orphans_stay
def test_a_process_that_has_ended_is_refused(listener: Listener, alive: Recorder) -> None:
    words = f"import os, socket, sys\nc = socket.socket(socket.AF_UNIX)\n{ELSEWHERE}"
    child = subprocess.Popen([sys.executable, "-c", words, listener.path.parent], stdin=PIPE)
    connection, _ = listener.server.accept()
    with connection:
        assert refusal(connection, alive) is None
        child.communicate()
        wait_for(lambda: refusal(connection, alive) == UNCLEAR)


def test_whoever_connects_is_refused_where_processes_are_not_known(
    listener: Listener, alive: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "lineage", lambda _: None)
    assert listener.refusal_of(ELSEWHERE, alive) == UNCLEAR


@orphans_stay
def test_a_process_whose_id_lives_on_is_refused(
    listener: Listener, alive: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the id of a process that has ended had been given to another one."""
    words = f"import os, socket, sys\nc = socket.socket(socket.AF_UNIX)\n{ELSEWHERE}"
    child = subprocess.Popen([sys.executable, "-c", words, listener.path.parent], stdin=PIPE)
    connection, _ = listener.server.accept()
    with connection:
        peer = system.peer_of(connection)
        assert peer is not None
        child.communicate()
        wait_for(lambda: peer.has_ended)
        ours = Peer(os.getpid(), peer.uid, os.dup(peer._descriptor or 0))
        peer.close()
        monkeypatch.setattr(system, "peer_of", lambda _: ours)
        assert refusal(connection, alive) == UNCLEAR


def test_a_socket_that_is_not_the_runners_is_not_talked_to(tmp_path: Path) -> None:
    async def plant(folder: RunFolder) -> None:
        question = await first_question(folder)
        info = folder.info()
        assert info is not None
        private = tmp_path / "private"
        private.mkdir(mode=0o700)
        script = f"import os, socket, sys\nc = socket.socket(socket.AF_UNIX)\n{LISTEN}"
        child = subprocess.Popen(
            [sys.executable, "-c", script, private], stdin=PIPE, stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        child.stdout.readline()
        folder.write_info(replace(info, asks_at=str(private / "s")))
        with pytest.raises(client.RefusedError, match="is not that of its runner"):
            await client.decide(folder, question.id, NO)
        child.communicate()
        folder.write_info(info)
        await client.decide(folder, question.id, NO)

    play(make(tmp_path, command()), plant)


LISTEN = """
os.chdir(sys.argv[1])
c.bind("s")
c.listen()
print("listening", flush=True)
sys.stdin.read()
"""
