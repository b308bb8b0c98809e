"""Run folders: made, found, read while they grow, whole after any kill, and healed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rookery.model.errors import (
    AmbiguousRunError,
    BadRunNameError,
    DamagedRunError,
    NewerRunError,
    RunFolderError,
    UnknownRunError,
    UnsafeRunError,
)
from rookery.model.events import Usage
from rookery.model.verdict import Facts
from rookery.store import runs as runs_module
from rookery.store.runs import (
    Arrival,
    ExitInfo,
    Log,
    RunFolder,
    RunInfo,
    VerdictInfo,
    create,
    find,
    is_alive,
    last,
    runs,
    start_ticks,
)

INFO = RunInfo(
    agent="claude",
    command=["claude", "-p", "Fix the tests"],
    cwd="/work",
    prompt="Fix the tests",
    model="big",
    permission="edit",
    started_at=1000.5,
    resumed_from="khx7",
    continues=True,
    earlier=Usage(input=2),
    loop="nine",
    runner_pid=4,
    runner_ticks=5,
    recorder_pid=6,
    recorder_ticks=7,
    rookery_version="0.1.0",
)
EXIT = ExitInfo(
    started=True,
    pid=8,
    exit_code=1,
    signal=None,
    stopped_for="timed_out",
    started_at=1000.5,
    ended_at=1002.5,
    lost_stdout=9,
    lost_stderr=10,
    survivors=0,
    complaint="none",
)
VERDICT = VerdictInfo(
    status="denied",
    sentence="it finished, but 1 tool call was not permitted",
    exit_code=4,
    ended_at=1002.5,
    cost_usd=0.25,
    spent_usd=0.125,
    cost_source="native",
    turns=2,
    session="s",
    model="big",
    total=Usage(input=3, output=1),
    facts=Facts(denials=1),
)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create(tmp_path / "home", INFO)


def append(folder: RunFolder, log: Log, data: bytes) -> None:
    fd = folder.open_log(log)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def run_python(code: str, *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


# Making


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_everything_a_run_keeps_is_private_under_any_umask(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        folder = create(tmp_path / "share" / "home", INFO)
        folder.write_exit(EXIT)
        folder.write_verdict(VERDICT)
        for log in ("stdout", "stderr", "stdin", "arrivals"):
            os.close(folder.open_log(log))
    finally:
        os.umask(before)
    found = {path.name: path.stat().st_mode & 0o7777 for path in tmp_path.rglob("*")}
    assert found == {
        **dict.fromkeys(["share", "home", "new", "runs", folder.name], 0o700),
        **dict.fromkeys(["run.json", "exit.json", "verdict.json"], 0o600),
        **dict.fromkeys(["stdout.raw", "stderr.raw", "stdin.raw", "arrivals"], 0o600),
    }


def test_what_was_asked_is_kept_with_the_name(folder: RunFolder, tmp_path: Path) -> None:
    assert folder.path == tmp_path / "home" / "runs" / folder.name
    assert folder.info() == msgspec.structs.replace(INFO, name=folder.name)
    assert json.loads((folder.path / "run.json").read_bytes())["format"] == 1


def test_who_creates_a_run_is_its_runner_unless_told_otherwise(tmp_path: Path) -> None:
    info = create(tmp_path, RunInfo(command=["true"], cwd="/", started_at=1.0)).info()
    assert info is not None
    assert (info.runner_pid, info.runner_ticks) == (os.getpid(), start_ticks(os.getpid()))


def test_the_path_of_a_run_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert create("home", INFO).path.parent == tmp_path / "home" / "runs"
    assert [run.path.parent for run in runs("home")] == [tmp_path / "home" / "runs"]


def test_a_link_in_the_place_of_all_runs_is_refused_by_everything(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "runs").symlink_to(tmp_path / "elsewhere")
    for use in (lambda: create(tmp_path / "home", INFO), lambda: runs(tmp_path / "home")):
        with pytest.raises(UnsafeRunError, match=r"runs: is a link.*move it away, or choose"):
            use()
    with pytest.raises(UnsafeRunError):
        find(tmp_path / "home", "abcd")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_runs_of_another_user_are_refused(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    with pytest.raises(UnsafeRunError, match="belongs to user"):
        create(tmp_path / "home", INFO)


def test_a_link_in_a_runs_place_is_refused(folder: RunFolder, tmp_path: Path) -> None:
    planted = folder.path.with_name("planted")
    planted.symlink_to(folder.path)
    with pytest.raises(UnsafeRunError, match="planted: is a link"):
        find(tmp_path / "home", "planted")
    with pytest.raises(UnsafeRunError):
        RunFolder(planted).write_exit(EXIT)
    assert runs(tmp_path / "home") == [folder]


@pytest.mark.parametrize("name", ["run.json", "exit.json", "verdict.json", "stdout.raw"])
def test_a_link_in_a_files_place_is_refused(name: str, folder: RunFolder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"untouched")
    (folder.path / name).unlink(missing_ok=True)
    (folder.path / name).symlink_to(victim)
    uses = {
        "run.json": (folder.info, lambda: folder.write_info(INFO)),
        "exit.json": (folder.exit, lambda: folder.write_exit(EXIT)),
        "verdict.json": (folder.verdict, lambda: folder.write_verdict(VERDICT)),
        "stdout.raw": (
            lambda: folder.read_at("stdout", 0, 1),
            lambda: folder.open_log("stdout"),
        ),
    }
    for use in uses[name]:
        with pytest.raises(UnsafeRunError, match="is a link"):
            use()
    assert victim.read_bytes() == b"untouched"


def test_a_run_that_cannot_be_written_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(RunFolderError, match="No space left on device"):
        create(tmp_path, INFO)
    assert runs(tmp_path) == []
    assert list((tmp_path / "runs").iterdir()) == []


CREATOR = """
import sys
from rookery.store import names
from rookery.store.runs import RunInfo, create

names.LETTERS, names.DIGITS = "ab", ""  # few names: they must meet
sys.stdin.read(1)
for _ in range(25):
    print(create(sys.argv[1], RunInfo(command=["true"], cwd="/", started_at=1.0)).name)
"""


def test_four_processes_that_create_runs_at_once_get_distinct_names(tmp_path: Path) -> None:
    creators = [run_python(CREATOR, str(tmp_path / "home")) for _ in range(4)]
    for creator in creators:
        assert creator.stdin is not None
        creator.stdin.write(b".")
        creator.stdin.flush()
    names = [name for creator in creators for name in creator.communicate()[0].split()]
    assert len(names) == len(set(names)) == 100
    assert {run.name.encode() for run in runs(tmp_path / "home")} == set(names)
    for name in names:
        info = RunFolder(tmp_path / "home" / "runs" / name.decode()).info()
        assert info is not None
        assert info.name == name.decode()


HALF_MADE = """
import os, signal, sys
from rookery.store import runs
from rookery.store.files import Folder

Folder.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
runs.create(sys.argv[1], runs.RunInfo(command=["true"], cwd="/", started_at=1.0))
"""


def test_a_maker_that_is_killed_leaves_no_run_of_which_nothing_is_known(tmp_path: Path) -> None:
    maker = run_python(HALF_MADE, str(tmp_path))
    maker.communicate()
    assert maker.returncode == -signal.SIGKILL
    (left,) = (tmp_path / "new").iterdir()
    assert runs(tmp_path) == []
    create(tmp_path, INFO)
    assert list((tmp_path / "new").iterdir()) == [left]  # its maker may still be at work
    os.utime(left, (1.0, 1.0))
    create(tmp_path, INFO)
    assert list((tmp_path / "new").iterdir()) == []
    assert len(runs(tmp_path)) == 2


# Finding


def test_runs_are_listed_newest_first_and_then_by_name(tmp_path: Path) -> None:
    made = [
        create(tmp_path, msgspec.structs.replace(INFO, started_at=at)) for at in (2.0, 3.0, 1.0)
    ]
    twin = create(tmp_path, msgspec.structs.replace(INFO, started_at=3.0))
    newest = sorted([made[1], twin], key=lambda run: run.name)
    assert runs(tmp_path) == [*newest, made[0], made[2]]
    assert last(tmp_path) == newest[0]


def test_a_home_without_runs_has_none(tmp_path: Path) -> None:
    assert runs(tmp_path / "missing") == []
    assert last(tmp_path / "missing") is None
    with pytest.raises(UnknownRunError, match="no run is called 'abcd'"):
        find(tmp_path / "missing", "abcd")
    assert not (tmp_path / "missing").exists()


def test_broken_folders_do_not_break_the_list_but_come_last(
    folder: RunFolder, tmp_path: Path
) -> None:
    broken = {"empty": None, "torn": b'{"format": 1, "na', "later": b'{"format": 2}', "list": b"[]"}
    for name, data in broken.items():
        folder.path.with_name(name).mkdir()
        if data is not None:
            (folder.path.with_name(name) / "run.json").write_bytes(data)
    folder.path.with_name("a file").touch()
    folder.path.with_name(".hidden").mkdir()
    folder.path.with_name("no name").mkdir()
    listed = [run.name for run in runs(tmp_path / "home")]
    assert listed == [folder.name, *sorted(broken)]
    assert last(tmp_path / "home") == folder


def test_a_run_is_found_by_its_name_or_the_beginning_of_it(tmp_path: Path) -> None:
    for name in ("abcd", "abce", "zzzz"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    assert find(tmp_path, "abcd").name == "abcd"
    assert find(tmp_path, "z").path == tmp_path / "runs" / "zzzz"
    with pytest.raises(AmbiguousRunError, match="abcd and abce"):
        find(tmp_path, "ab")
    with pytest.raises(UnknownRunError, match="did you mean zzzz"):
        find(tmp_path, "zzxz")
    with pytest.raises(BadRunNameError):
        find(tmp_path, "../runs")


def test_a_run_folder_cannot_be_given_a_naughty_path(tmp_path: Path) -> None:
    for path in (tmp_path / "..", tmp_path / ".hidden", Path("/"), tmp_path / "a b"):
        with pytest.raises(BadRunNameError):
            RunFolder(path)


def test_a_run_that_was_removed_is_unknown(folder: RunFolder) -> None:
    (folder.path / "run.json").unlink()
    folder.path.rmdir()
    for use in (folder.info, lambda: folder.size("stdout"), lambda: folder.open_log("stdout")):
        with pytest.raises(UnknownRunError):
            use()


# State files


def test_state_files_are_read_back_equal(folder: RunFolder) -> None:
    assert (folder.exit(), folder.verdict()) == (None, None)
    folder.write_info(INFO)
    folder.write_exit(EXIT)
    folder.write_verdict(VERDICT)
    assert (folder.info(), folder.exit(), folder.verdict()) == (INFO, EXIT, VERDICT)


def test_the_fields_of_the_state_files_are_these(folder: RunFolder) -> None:
    folder.write_exit(EXIT)
    folder.write_verdict(VERDICT)
    assert json.loads((folder.path / "exit.json").read_bytes()) == {
        "format": 1,
        "started": True,
        "pid": 8,
        "exit_code": 1,
        "signal": None,
        "stopped_for": "timed_out",
        "started_at": 1000.5,
        "ended_at": 1002.5,
        "lost_stdout": 9,
        "lost_stderr": 10,
        "survivors": 0,
        "complaint": "none",
        "missing_program": None,
    }
    assert json.loads((folder.path / "verdict.json").read_bytes()) == {
        "format": 1,
        "status": "denied",
        "sentence": "it finished, but 1 tool call was not permitted",
        "exit_code": 4,
        "ended_at": 1002.5,
        "cost_usd": 0.25,
        "spent_usd": 0.125,
        "cost_source": "native",
        "turns": 2,
        "session": "s",
        "model": "big",
        "total": {"input": 3, "output": 1},
        "facts": {"denials": 1},
    }


def test_a_verdict_of_an_earlier_version_has_no_facts(folder: RunFolder) -> None:
    folder.write_verdict(VERDICT)
    path = folder.path / "verdict.json"
    fields = json.loads(path.read_bytes())
    del fields["facts"]
    path.write_text(json.dumps(fields))
    assert folder.verdict() == msgspec.structs.replace(VERDICT, facts=Facts())


@pytest.mark.parametrize("text", ["Привіт \u2028", "a\udc80b", "\x00\x1b[2J", '"\\', "💥" * 1000])
def test_any_prompt_path_or_argument_is_kept_exactly(text: str, folder: RunFolder) -> None:
    info = msgspec.structs.replace(INFO, prompt=text, cwd=f"/{text}", command=[text, ""])
    folder.write_info(info)
    assert folder.info() == info


def test_a_prompt_of_megabytes_is_kept(folder: RunFolder) -> None:
    info = msgspec.structs.replace(INFO, prompt="\x01" * 2_000_000)
    folder.write_info(info)
    assert folder.info() == info


def test_an_older_folder_opens_and_fields_that_are_gone_are_ignored(folder: RunFolder) -> None:
    old = {"format": 0, "name": "old", "command": ["x"], "cwd": "/", "started_at": 1, "mood": [1]}
    (folder.path / "run.json").write_text(json.dumps(old))
    assert folder.info() == RunInfo(
        format=0, name="old", command=["x"], cwd="/", started_at=1.0, agent=None
    )


def test_a_newer_folder_says_that_it_needs_a_newer_rookery(folder: RunFolder) -> None:
    for name in ("run.json", "exit.json", "verdict.json"):
        (folder.path / name).write_text('{"format": 2, "all": "new"}')
    for read in (folder.info, folder.exit, folder.verdict):
        with pytest.raises(NewerRunError, match=r"format 2, and we know 1; upgrade rookery"):
            read()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 4096,
        b" " * 4096,
        b"nonsense",
        b"[]",
        b"{}",
        b'"verdict"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"started": true, "ended_at": NaN}',
        b'{"started": true, "ended_at": 1' + b"0" * 400 + b"}",
        b'{"started": true, "ended_at": 1' + b"0" * 5000 + b"}",
        b'{"started": "\x1b[2J", "ended_at": 1}',
        b'{"format": "one", "started": true, "ended_at": 1}',
        b'{"format": true, "started": true, "ended_at": 1}',
    ],
    ids=lambda data: repr(data[:36]),
)
def test_a_damaged_state_file_is_a_typed_error_that_quotes_nothing(
    data: bytes, folder: RunFolder
) -> None:
    (folder.path / "exit.json").write_bytes(data)
    with pytest.raises(DamagedRunError, match="raw logs beside it can still be decoded") as caught:
        folder.exit()
    assert str(caught.value).isprintable()


def test_every_cut_of_a_state_file_is_a_typed_error(folder: RunFolder) -> None:
    folder.write_verdict(VERDICT)
    path = folder.path / "verdict.json"
    whole = path.read_bytes()
    for end in range(len(whole) - 2):
        path.write_bytes(whole[:end])
        with pytest.raises(DamagedRunError):
            folder.verdict()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
FIELDS = st.sampled_from([*RunInfo.__struct_fields__])


@given(fields=st.dictionaries(FIELDS, JSON, max_size=4))
def test_any_surprise_in_a_field_is_read_or_a_typed_error(
    fields: dict[str, object], shared: RunFolder
) -> None:
    known = {"command": ["x"], "cwd": "/", "started_at": 1.0}
    (shared.path / "run.json").write_text(json.dumps({**known, **fields}))
    try:
        shared.info()
    except (DamagedRunError, NewerRunError):
        return


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A folder for tests that try many things in it."""
    return create(tmp_path_factory.mktemp("shared"), INFO)


KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from rookery.store.runs import RunFolder, VerdictInfo

folder = RunFolder(Path(sys.argv[1]))
sentences = ["a short one", "a long one" * 20_000]
verdicts = [
    VerdictInfo(status="failed", sentence=sentence, exit_code=1, ended_at=1.0)
    for sentence in sentences
]
folder.write_verdict(verdicts[0])
for round in range(int(sys.argv[2])):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, b".")
        while True:
            for verdict in verdicts:
                folder.write_verdict(verdict)
    os.read(reading, 1)
    os.close(reading)
    os.close(writing)
    time.sleep(random.random() * 0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert folder.verdict() in verdicts, round
print("whole", sum(name.endswith(".tmp") for name in os.listdir(folder.path)))
"""


def test_after_each_of_200_kills_of_a_writer_the_verdict_is_whole(folder: RunFolder) -> None:
    out, _ = run_python(KILLED, str(folder.path), "200").communicate()
    word, torn = out.split()
    assert word == b"whole"
    assert int(torn) > 0, "no kill came in the middle of a write: this test tests nothing"


# Logs


def test_a_log_that_grows_is_read_by_position(folder: RunFolder) -> None:
    assert (folder.size("stdout"), folder.read_at("stdout", 0, 10)) == (0, b"")
    append(folder, "stdout", b"one\n")
    append(folder, "stdout", b"two\n")
    assert folder.size("stdout") == 8
    assert folder.read_at("stdout", 0, 4) == b"one\n"
    assert folder.read_at("stdout", 4, 100) == b"two\n"
    assert folder.read_at("stdout", 8, 100) == b""
    assert folder.read_at("stdout", 800, 100) == b""
    assert (folder.path / "stdout.raw").read_bytes() == b"one\ntwo\n"


def test_a_log_is_read_in_chunks_to_its_present_end(folder: RunFolder) -> None:
    data = bytes(range(256)) * 4000
    append(folder, "stderr", data)
    assert b"".join(folder.chunks("stderr")) == data
    assert b"".join(folder.chunks("stderr", 1_000_000)) == data[1_000_000:]
    assert list(folder.chunks("stdin")) == []


ARRIVALS = (
    b"1700000000.000000 o 0 100\n"
    b"1700000000.250000 e 0 7\n"
    b"1700000001.000000 O 100 5000\n"
    b"1700000001.500000 o 100 20\n"
    b"1700000002.000000 E 7 1\n"
)
ARRIVED = [
    Arrival(1700000000.0, "stdout", 0, 100, 0),
    Arrival(1700000000.25, "stderr", 0, 7, 0),
    Arrival(1700000001.0, "stdout", 100, 0, 5000),
    Arrival(1700000001.5, "stdout", 100, 20, 0),
    Arrival(1700000002.0, "stderr", 7, 0, 1),
]


def test_arrivals_tell_when_bytes_came_and_where_some_were_lost(folder: RunFolder) -> None:
    assert list(folder.arrivals()) == []
    append(folder, "arrivals", ARRIVALS)
    assert list(folder.arrivals()) == ARRIVED


def test_every_beginning_of_the_arrivals_gives_the_whole_lines_in_it(folder: RunFolder) -> None:
    path = folder.path / "arrivals"
    for end in range(len(ARRIVALS) + 1):
        path.write_bytes(ARRIVALS[:end])
        assert list(folder.arrivals()) == ARRIVED[: ARRIVALS[:end].count(b"\n")]


def test_a_tail_of_zeroes_after_a_power_loss_is_left_out(folder: RunFolder) -> None:
    append(folder, "arrivals", ARRIVALS + b"\0" * 4096)
    assert list(folder.arrivals()) == ARRIVED


def test_damaged_arrivals_are_left_out_and_the_others_read(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_module, "_CHUNK", 37)
    first, rest = ARRIVALS[:26], ARRIVALS[26:]
    junk = [
        b"\n",
        b"1700000000.000000 x 0 1\n",
        b"1700000000.0 o 0 1\n",
        b"nan o 0 1\n",
        b"1700000000.000000 o -1 1\n",
        b"1700000000.000000 o 0 1 1\n",
        b"1700000000.000000 o " + b"9" * 5000 + b" 1\n",
        "1700000000.000000 o ٣ 1\n".encode(),
        b"x" * 10_000 + b"1700000000.000000 o 0 1\n",
    ]
    append(folder, "arrivals", first + b"".join(junk) + rest)
    assert list(folder.arrivals()) == ARRIVED


# Processes


@pytest.fixture
def process() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that lives until its input ends."""
    with run_python("import sys; print(flush=True); sys.stdin.read()") as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process


def test_a_process_lives_until_it_is_killed(process: "subprocess.Popen[bytes]") -> None:
    ticks = start_ticks(process.pid)
    assert ticks is not None
    assert is_alive(process.pid, ticks)
    assert is_alive(process.pid, None)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(process.pid, ticks), "a zombie is dead"
    process.wait()
    assert not is_alive(process.pid, ticks)
    assert not is_alive(process.pid, None)
    assert start_ticks(process.pid) is None


def test_another_process_with_the_same_number_is_not_the_one_meant(
    process: "subprocess.Popen[bytes]",
) -> None:
    ticks = start_ticks(process.pid)
    assert ticks is not None
    assert not is_alive(process.pid, ticks + 1)


def test_a_stopped_process_is_alive(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGSTOP)
    assert is_alive(process.pid, start_ticks(process.pid))
    process.send_signal(signal.SIGCONT)


def test_without_proc_a_process_is_asked_by_a_signal(
    process: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_module, "_PROC", "/nowhere")
    assert start_ticks(process.pid) is None
    assert is_alive(process.pid, None)
    process.kill()
    process.wait()
    assert not is_alive(process.pid, None)


def test_a_process_that_may_not_be_asked_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(pid: int, number: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(runs_module, "_PROC", "/nowhere")
    monkeypatch.setattr(os, "kill", forbidden)
    assert is_alive(1, None)


@pytest.mark.parametrize("proc", ["/proc", "/nowhere"])
@pytest.mark.parametrize("pid", [0, -1, -(2**31), 2**40])
def test_a_number_that_can_be_no_process_is_dead(
    pid: int, proc: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_module, "_PROC", proc)
    assert not is_alive(pid, None)


def test_a_process_whose_name_holds_brackets_and_blanks_tells_its_start(tmp_path: Path) -> None:
    program = tmp_path / "a) b (c"
    program.symlink_to("/bin/cat")
    with subprocess.Popen([program], stdin=subprocess.PIPE) as process:
        assert (start_ticks(process.pid) or 0) >= (start_ticks(os.getpid()) or 0) > 0
