"""What is known of processes without Linux's calls: by ps, by sessions and by environments."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nightrook.process import trees
from nightrook.process.systems import portable
from tests.process.recording import wait_for

HOOK = Path(__file__).parents[2] / "portable"


@pytest.fixture(autouse=True)
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for the calls of macOS that cannot be made here."""
    if "no_linux_calls" not in sys.modules:
        monkeypatch.setattr(portable, "arguments", _environment)


def _environment(pid: int) -> bytes:
    try:
        return b"\1\0\0\0/bin/x\0\0x\0" + Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


@pytest.fixture
def variable(tmp_path: Path) -> str:
    """A variable in the environment of no other process."""
    return f"ROOK_TEST_PORTABLE={tmp_path}"


@pytest.fixture
def leader_of() -> Iterator[Callable[[str], "subprocess.Popen[bytes]"]]:
    """Start scripts that print a line, as leaders of sessions; they are ended."""
    started: list[subprocess.Popen[bytes]] = []

    def start(script: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            ["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True
        )
        started.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    yield start
    for process in started:
        trees.send([-process.pid], signal.SIGKILL)
        process.communicate()


# As ps of macOS 14 prints it: the whole path of a program, states of several letters, minutes and
# hundredths of CPU time.
MAC = (
    b"  501     1 Ss   0:03.25 Mon Nov 16 09:05:07 2026"
    b"     /Applications/Some Agent.app/Contents/MacOS/Some Agent"
)


def test_a_line_of_the_ps_of_macos_is_read() -> None:
    found = portable.process_of(MAC)
    assert found is not None
    assert (found.name, found.state, found.parent, found.cpu_s) == ("Some Agent", "S", 1, 3.25)
    assert found.start == 1794819907
    assert found.is_alive


def test_a_line_of_another_ps_is_read() -> None:
    found = portable.process_of(b"7 3 Z 1-02:03:04 Tue Feb 29 23:59:59 2028 node <defunct>")
    assert found is not None
    assert (found.cpu_s, found.start, found.is_alive) == (93784.0, 1835481599, False)


@pytest.mark.parametrize(
    "line", [b"", b"error: what?", b"1 2 S x Mon Nov 16 09:05:07 2026 sh", MAC[:40]]
)
def test_a_line_that_is_not_as_expected_is_left_out(line: bytes) -> None:
    assert portable.process_of(line) is None


def test_our_own_process_is_described_and_ps_itself_is_not() -> None:
    found = portable.stat(os.getpid())
    assert found is not None
    assert (found.parent, found.is_alive) == (os.getppid(), True)
    processes = dict(portable.stats())
    assert os.getpid() in processes
    ours = [info.name for info in processes.values() if info.parent == os.getpid()]
    assert "ps" not in ours


def test_a_process_that_is_gone_has_no_description() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert portable.stat(process.pid) is None
    assert portable.stat(2**40) is None


class AgentTree:
    """The processes of an agent, without those that were below us before it."""

    def __init__(self, leader: int, variable: str, others: set[int]) -> None:
        self.whole = portable.Tree(leader, variable.encode())
        self._others = others

    def pids(self) -> list[int]:
        return sorted(set(self.whole.pids()) - self._others)

    def names(self) -> list[str]:
        found = map(portable.stat, self.pids())
        return sorted(one.name for one in found if one is not None and one.is_alive)

    def end(self) -> None:
        trees.send(self.pids(), signal.SIGKILL)
        wait_for(lambda: not self.pids())


@pytest.fixture
def others() -> set[int]:
    """The processes that other tests left below us, such as a warm `rook`."""
    return set(portable.Tree(os.getpid(), b"NO_SUCH=").pids())


def test_an_orphan_in_a_session_of_the_agent_belongs_to_it(
    others: set[int], leader_of: Callable[[str], "subprocess.Popen[bytes]"], variable: str
) -> None:
    leader = leader_of("sleep 600 & echo")
    leader.wait()
    tree = AgentTree(leader.pid, variable, others)
    wait_for(lambda: tree.names() == ["sleep"])
    assert tree.whole.outlives_us()
    tree.end()


def test_an_orphan_with_the_variable_belongs_to_it_and_so_does_its_session(
    others: set[int], leader_of: Callable[[str], "subprocess.Popen[bytes]"], variable: str
) -> None:
    # Of the second session, only one process has the variable: macOS hides those of its own sh.
    leader = leader_of(f"setsid env -i sh -c 'env {variable} sleep 600 & echo; wait' & wait")
    leader.kill()
    leader.wait()
    tree = AgentTree(leader.pid, variable, others)
    wait_for(lambda: tree.names() == ["sh", "sleep"])
    assert sorted(portable.marked(variable.encode())) == tree.pids()
    assert portable.marked(variable.encode()[:-1]) == []
    tree.end()


def test_a_session_that_was_seen_belongs_to_it_although_its_environment_is_cleared(
    others: set[int], leader_of: Callable[[str], "subprocess.Popen[bytes]"], variable: str
) -> None:
    leader = leader_of("setsid env -i sh -c 'echo; sleep 600; :' & wait")
    tree = AgentTree(leader.pid, variable, others)
    tree.whole.remember()  # as when the agent is asked to end
    leader.kill()
    leader.wait()
    wait_for(lambda: tree.names() == ["sh", "sleep"])
    tree.end()


def test_our_own_session_never_belongs_to_an_agent(variable: str) -> None:
    with (
        subprocess.Popen(["sleep", "600"]) as other,
        subprocess.Popen(["env", variable, "sleep", "600"]) as process,
    ):
        try:
            wait_for(lambda: portable.marked(variable.encode()))
            assert portable.marked(variable.encode()) == [process.pid]
        finally:
            process.kill()
            other.kill()


def test_a_system_without_ps_ends_the_process_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portable, "_PS", "/nowhere/ps")
    monkeypatch.setattr(portable, "is_available", portable.is_available.__wrapped__)
    assert not portable.is_available()
    assert portable.Tree(4, b"").pids() == [-4]
    assert "ps does not work" in " · ".join(portable.problems())
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as process:
        assert portable.Tree(process.pid, b"").outlives_us()
        process.kill()
        process.wait()
        assert not portable.Tree(process.pid, b"").outlives_us()


def test_our_open_files_are_listed(tmp_path: Path) -> None:
    with (tmp_path / "x").open("w") as file:
        assert file.fileno() in portable.open_files()


def test_what_only_linux_can_do_is_left_out() -> None:
    assert portable.WEAKER
    assert portable.adopted(0) == []
    assert portable.become_subreaper() is False
    assert portable.raise_oom_score() is None


USES_NO_LINUX = """
import sys
sys.path[:0] = [{root!r}, {source!r}, {hook!r}]
import no_linux_calls
from pathlib import Path
from nightrook.process.systems.this_system import system
from tests.process.recording import python, record
assert system.__name__.endswith("portable") and system.problems() == []
try:
    open("/proc/self/stat").close()  # the tests may
    exec(compile("open('/proc/self/stat')", "x", "exec"), {{"__name__": "nightrook.runs"}})
except SystemError as error:
    assert "nightrook.runs needs Linux" in str(error)
else:
    raise AssertionError("rook may not")
ended = record(Path({folder!r}), ["sh", "-c", "sleep 600 & echo done"])
print(ended["exit_code"], ended["left_behind"], ended["survivors"])
"""


def test_a_recorder_leaves_no_process_without_linux_calls(tmp_path: Path, root: Path) -> None:
    places = {"root": str(root), "source": str(root / "src"), "hook": str(HOOK)}
    code = USES_NO_LINUX.format(folder=str(tmp_path), **places)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.stdout == "0 ['sleep'] 0\n", done.stderr
    assert (tmp_path / "stdout.raw").read_text() == "done\n"
