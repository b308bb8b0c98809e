"""`rook decode` and `rook schema` as a user calls them: real processes, real files."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from tests.warm import ROOK
from tests.warm import rook_bytes as rook

import nightrook


def lines(records: list[nightrook.Record]) -> bytes:
    return b"".join(nightrook.dump(record) + b"\n" for record in records)


def test_it_prints_records_as_json_lines(session: Path) -> None:
    done = rook("decode", session)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == lines(list(nightrook.decode(session)))
    first = json.loads(done.stdout.split(b"\n")[0])
    assert list(first)[:4] == ["seq", "offset", "length", "type"]


def test_every_line_it_prints_fits_the_schema_it_prints(session: Path) -> None:
    schema = json.loads(rook("schema").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    for line in rook("decode", session).stdout.split(b"\n")[:-1]:
        validator.validate(json.loads(line))


def test_it_reads_standard_input(session: Path) -> None:
    assert rook("decode", "-", stdin=session.read_bytes()).stdout == rook("decode", session).stdout


def test_text_is_what_a_person_reads(session: Path) -> None:
    done = rook("decode", "--format", "text", session)
    assert done.stdout.decode().split("\n") == [
        '[claude] "I will read the file."',
        "[claude] Read: hello.py",
        "[claude] Edit: hello.py",
        "[claude]   +1 −1",
        "[claude] Write: new.txt",
        "[claude]   +2 −0",
        "[claude] Bash: python3 hello.py; echo oops >&2",
        "[claude] Bash: true",
        '[claude] "Edited and ran."',
        "[claude] Complete (cost: $0.0136)",
        "",
    ]


def test_a_bad_file_gives_one_line_and_the_others_are_still_printed(
    session: Path, tmp_path: Path
) -> None:
    empty, binary = tmp_path / "empty", tmp_path / "binary"
    empty.touch()
    binary.write_bytes(b"\x7fELF\0\0")
    done = rook("decode", tmp_path / "missing", empty, binary, tmp_path, session)
    assert done.returncode == 2
    assert done.stdout == rook("decode", session).stdout
    assert done.stderr.decode().split("\n") == [
        f"[rook] {tmp_path}/missing: no such file",
        f"[rook] {tmp_path}/empty: is empty",
        f"[rook] {tmp_path}/binary: is not text (it contains NUL bytes)",
        f"[rook] {tmp_path}: is a folder, not a file",
        "",
    ]


def test_a_nul_byte_between_messages_is_not_a_binary_file(session: Path, tmp_path: Path) -> None:
    first, *rest = session.read_bytes().split(b"\n")
    noisy = tmp_path / "noisy"
    noisy.write_bytes(b"\n".join([first, b"\0\0", *rest]))
    done = rook("decode", noisy)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_nul_byte_further_on_is_no_binary_file(session: Path, tmp_path: Path) -> None:
    late = tmp_path / "late"
    late.write_bytes(session.read_bytes() + b"\0\n")
    done = rook("decode", late)
    assert done.returncode == 0
    assert done.stdout.count(b'"unreadable"') == 1


def test_text_without_a_message_is_an_error_unless_the_agent_is_named() -> None:
    assert rook("decode", "-", stdin=b"hello\n").returncode == 2
    done = rook("decode", "--agent", "claude", "-", stdin=b"hello\n")
    assert done.returncode == 0
    assert b'"reason":"not_json","preview":"hello"' in done.stdout


def test_a_wrong_agent_name_is_wrong_usage_and_names_those_there_are(session: Path) -> None:
    done = rook("decode", "--agent", "cluade", session)
    assert done.returncode == 2
    assert b"no agent named 'cluade'; known agents: claude" in done.stderr


@pytest.mark.parametrize("form", ["--summary", "--format=text", "--format=jsonl"])
def test_who_names_the_wrong_agent_is_told_whose_lines_they_are(session: Path, form: str) -> None:
    done = rook("decode", "--agent", "codex", form, session)
    assert (done.returncode, done.stdout == b"") == (0, form == "--format=text")
    words = "none of its lines is a message of codex; they look like claude's: --agent claude"
    assert done.stderr.decode() == f"[rook] WARNING: {session}: {words}\n"


def test_no_file_is_wrong_usage() -> None:
    assert rook("decode").returncode == 2


def test_agent_text_cannot_reach_the_terminal_unescaped() -> None:
    hostile = {
        "type": "assistant",
        "message": {"content": [{"type": "text", "text": "\x1b]0;owned\x07\x1b[2J\u202e"}]},
    }
    done = rook("decode", "--format", "text", "-", stdin=json.dumps(hostile).encode() + b"\n")
    assert done.stdout.decode() == '[claude] "␛]0;owned␇␛[2J\ufffd"\n'


def test_a_reader_that_goes_away_ends_it_quietly(session: Path, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(session.read_bytes() * 200)
    with subprocess.Popen(
        [ROOK, "decode", large], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_it_quietly_with_130(session: Path) -> None:
    with subprocess.Popen(
        [ROOK, "decode", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        os.write(process.stdin.fileno(), session.read_bytes())
        process.stdout.readline()  # it is at work
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == b""
        assert process.wait() == 130


def test_version_and_help() -> None:
    assert rook("--version").stdout.decode() == f"rook {nightrook.__version__}\n"
    assert b"decode" in rook("--help").stdout
    assert b"Examples:" in rook("decode", "--help").stdout


def test_a_typo_is_answered_with_a_suggestion() -> None:
    done = rook("decod")
    assert done.returncode == 2
    assert b"Did you mean 'decode'?" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("form", ["jsonl", "text"])
def test_a_full_disk_is_told_in_a_line(session: Path, form: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [ROOK, "decode", "--format", form, session],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"[rook] cannot write: No space left on device\n"
