"""`output.md`: written from what the agent said, never over what is there (seed 003, §3 and §5)."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from nightrook.model.errors import UnsafeRunError
from nightrook.runs.finish import write_output_from_stream
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create_run(tmp_path, RunInfo(agent="claude", command=["x"], cwd="/", started_at=1.0))


def say(text: str, number: int = 1) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "content": content}
    return {"type": "assistant", "message": message, "session_id": "s"}


def result(text: str, *, is_error: bool = False) -> dict[str, Any]:
    subtype = "error_during_execution" if is_error else "success"
    told = {"subtype": subtype, "is_error": is_error, "result": text, "session_id": "s"}
    return {"type": "result", **told}


def write_stdout(folder: RunFolder, *messages: dict[str, Any] | str) -> None:
    fd = folder.open_log("stdout")
    for message in messages:
        line = message if isinstance(message, str) else json.dumps(message)
        os.write(fd, line.encode() + b"\n")
    os.close(fd)


# writeOutputMDFromStream


def test_write_output_md_from_stream_writes_the_result(folder: RunFolder) -> None:
    write_stdout(folder, say("I'll start by..."), result("The final answer text"))
    assert write_output_from_stream(folder)
    assert folder.read_output() == "The final answer text"
    assert (folder.path / "output.md").stat().st_mode & 0o7777 == 0o600


def test_write_output_md_from_stream_never_overwrites(folder: RunFolder) -> None:
    (folder.path / "output.md").write_text("the agent's own")
    write_stdout(folder, result("The final answer text"))
    assert not write_output_from_stream(folder)
    assert folder.read_output() == "the agent's own"


def test_write_output_md_from_stream_keeps_even_an_empty_file(folder: RunFolder) -> None:
    (folder.path / "output.md").touch()
    write_stdout(folder, result("The final answer text"))
    assert not write_output_from_stream(folder)
    assert folder.read_output() == ""


def test_write_output_md_from_stream_joins_what_was_said_without_a_result(
    folder: RunFolder,
) -> None:
    write_stdout(folder, say("One. ", 1), "npm warn", '{"broken', say("Two.", 2))
    assert write_output_from_stream(folder)
    assert folder.read_output() == "One. Two."


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [""],
        ["no json at all"],
        [say("I tried"), result("it broke", is_error=True)],
        [result("")],
        [result(" \n")],
    ],
    ids=["empty", "blank", "text", "error", "no answer", "white space"],
)
def test_write_output_md_from_stream_without_an_answer_writes_no_file(
    messages: list[dict[str, Any] | str], folder: RunFolder
) -> None:
    write_stdout(folder, *messages)
    assert not write_output_from_stream(folder)
    assert folder.read_output() is None
    assert not folder.has_output


def test_write_output_md_from_stream_without_a_log_writes_no_file(folder: RunFolder) -> None:
    assert not write_output_from_stream(folder)
    assert os.listdir(folder.path) == ["run.json"]


@pytest.mark.parametrize("agent", [None, "claude", "an agent of tomorrow"])
def test_write_output_md_from_stream_knows_the_agent_or_detects_it(
    agent: str | None, tmp_path: Path
) -> None:
    folder = create_run(tmp_path, RunInfo(agent=agent, command=["x"], cwd="/", started_at=1.0))
    write_stdout(folder, result("done"))
    assert write_output_from_stream(folder) == (agent in (None, "claude"))


def test_write_output_md_from_stream_does_without_run_json(folder: RunFolder) -> None:
    (folder.path / "run.json").unlink()
    write_stdout(folder, result("done"))
    assert write_output_from_stream(folder)


# The rules, whatever the answer comes from


@pytest.mark.parametrize("text", [None, "", " \n\t"])
def test_no_answer_no_file(text: str | None, folder: RunFolder) -> None:
    assert not folder.write_output(text)
    assert os.listdir(folder.path) == ["run.json"]


@pytest.mark.parametrize("text", ["one line", "# Title\r\n\nПривіт\n", "\0", "x" * 5_000_000])
def test_an_answer_is_kept_as_it_is(text: str, folder: RunFolder) -> None:
    assert folder.write_output(text)
    assert (folder.path / "output.md").read_bytes() == text.encode()


def test_an_answer_that_is_no_unicode_is_kept_as_far_as_it_goes(folder: RunFolder) -> None:
    assert folder.write_output("a\ud800b")
    assert folder.read_output() == "a?b"


def test_an_agents_own_file_that_is_no_unicode_can_be_read(folder: RunFolder) -> None:
    (folder.path / "output.md").write_bytes(b"a\xffb")
    assert folder.read_output() == "a\ufffdb"


def test_a_link_in_its_place_is_refused_and_not_followed(folder: RunFolder, tmp_path: Path) -> None:
    (folder.path / "output.md").symlink_to(tmp_path / "victim")
    for use in (lambda: folder.write_output("text"), lambda: folder.read_output()):
        with pytest.raises(UnsafeRunError, match="is a link"):
            use()
    assert not (tmp_path / "victim").exists()


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_answer_is_private_under_any_umask(umask: int, folder: RunFolder) -> None:
    before = os.umask(umask)
    try:
        folder.write_output("text")
    finally:
        os.umask(before)
    assert (folder.path / "output.md").stat().st_mode & 0o7777 == 0o600


def test_of_many_who_write_an_answer_at_once_one_wins(folder: RunFolder) -> None:
    won: list[str] = []

    def write(text: str) -> None:
        if folder.write_output(text):
            won.append(text)

    threads = [threading.Thread(target=write, args=(f"answer {n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [folder.read_output()] == won


def test_a_folder_from_before_there_were_answers_has_none(folder: RunFolder) -> None:
    assert folder.read_output() is None
    assert not folder.has_output
