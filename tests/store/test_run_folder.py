"""The folder of one run: refuses links, is whole after any kill, read while it grows."""

from pathlib import Path

import pytest

from nightrook.model.errors import (
    BadRunNameError,
    UnknownRunError,
    UnsafeRunError,
)
from nightrook.store.run_folder import RunFolder
from nightrook.story.tail import read_at
from tests.store.samples import EXIT, INFO, VERDICT, run_python


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
            lambda: read_at(folder.path, "stdout", 0, 1),
            lambda: folder.open_log("stdout"),
        ),
    }
    for use in uses[name]:
        with pytest.raises(UnsafeRunError, match="is a link"):
            use()
    assert victim.read_bytes() == b"untouched"


def test_a_run_folder_cannot_be_given_a_naughty_path(tmp_path: Path) -> None:
    for path in (tmp_path / "..", tmp_path / ".hidden", Path("/"), tmp_path / "a b"):
        with pytest.raises(BadRunNameError):
            RunFolder(path)


def test_a_run_that_was_removed_is_unknown(folder: RunFolder) -> None:
    (folder.path / "run.json").unlink()
    folder.path.rmdir()
    for use in (folder.info, folder.exit, lambda: folder.open_log("stdout")):
        with pytest.raises(UnknownRunError):
            use()


KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import VerdictInfo

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


def test_space_for_the_verdict_is_reserved_and_free_again(folder: RunFolder) -> None:
    folder.reserve()
    assert (folder.path / ".room").stat().st_size == 32 * 1024
    folder.release()
    assert not (folder.path / ".room").exists()
