"""What a runner takes from viewers is bounded, and a viewer that misbehaves harms no other."""

import asyncio
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from nightrook.runs.asking import client, questions, server
from nightrook.runs.asking.protocol import LONGEST_REQUEST
from nightrook.runs.asking.sockets import connect
from nightrook.store import decisions
from nightrook.store.run_folder import RunFolder
from tests.runs.asking.asking_agent import command, decided, first_question, make, play, yes

ALLOW = {"allow": True, "by": "person", "through": "web"}


def address(folder: RunFolder) -> Path:
    info = folder.info()
    assert info is not None
    assert info.asks_at is not None
    return Path(info.asks_at)


async def dial(folder: RunFolder) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    connection = connect(address(folder), 5.0)
    return await asyncio.open_unix_connection(sock=connection, limit=1 << 26)


async def said(folder: RunFolder, line: bytes) -> Any:
    """What the runner answers to bytes."""
    reader, writer = await dial(folder)
    writer.write(line)
    answer = json.loads(await reader.readline())
    assert await reader.read() == b""
    writer.close()
    return answer


def decision(**fields: Any) -> bytes:
    request = {"do": "decide", "id": "ID", "decision": {**ALLOW, **fields}}
    return json.dumps(request).encode() + b"\n"


BAD = {
    "not JSON": b"yes\n",
    "not UTF-8": b'{"do":"\xff"}\n',
    "an unknown request": b'{"do":"sudo"}\n',
    "no request": b"{}\n",
    "a list": b"[]\n",
    "a decision without a question": b'{"do":"decide","decision":{"allow":true}}\n',
    "a decision that is not one": b'{"do":"decide","id":"ID","decision":{"allow":"yes"}}\n',
    "a line that is too long": b"x" * (LONGEST_REQUEST + 2) + b"\n",
    "nested too deeply": b"[" * 100_000 + b"\n",
    "by a rule": decision(by="rule"),
    "by nobody": decision(by="nobody"),
    "by a stranger": decision(by="the agent"),
    "through nothing": decision(through=None),
    "through an escape": decision(through="\x1b[2J"),
    "answers to another question": decision(answers={"What else?": "x"}),
    "a reason that is too long": decision(allow=False, reason="x" * 100_000),
    "always a no": decision(allow=False, always=True),
}


def test_what_is_not_a_decision_is_refused_and_the_question_stays_open(tmp_path: Path) -> None:
    async def try_all(folder: RunFolder) -> None:
        question = await first_question(folder)
        for name, line in BAD.items():
            answer = await said(folder, line.replace(b'"ID"', json.dumps(question.id).encode()))
            assert answer["is"] == "refused", name
            assert await client.open_questions(folder) == (question,), name
        await client.decide(folder, question.id, yes())

    run = play(make(tmp_path, command()), try_all)
    assert decided(run.folder) == [yes()]


def test_a_viewer_of_a_later_version_is_told_what_to_do(tmp_path: Path) -> None:
    async def ask(folder: RunFolder) -> None:
        question = await first_question(folder)
        answer = await said(folder, b'{"do":"dance","version":99}\n')
        assert "older rook" in answer["reason"]
        listed = await said(folder, b'{"do":"list","version":99,"more":1}\n')
        assert [one["id"] for one in listed["questions"]] == [question.id]
        await client.decide(folder, question.id, yes())

    play(make(tmp_path, command()), ask)


def test_a_viewer_that_says_nothing_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "REQUEST_S", 0.05)

    async def wait(folder: RunFolder) -> None:
        question = await first_question(folder)
        reader, writer = await dial(folder)
        writer.write(b'{"do":"li')
        assert json.loads(await reader.readline())["is"] == "refused"
        writer.close()
        await client.decide(folder, question.id, yes())

    play(make(tmp_path, command()), wait)


def test_more_viewers_than_there_is_room_for_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_CLIENTS", 2)

    async def crowd(folder: RunFolder) -> None:
        question = await first_question(folder)
        async with client.watching(folder) as one, client.watching(folder) as other:
            await anext(one)
            await anext(other)
            with pytest.raises(client.RefusedError, match="too many viewers"):
                await client.open_questions(folder)
        while (await _tried(folder, question.id)) is None:
            await asyncio.sleep(0.01)

    async def _tried(folder: RunFolder, id: str) -> client.Outcome | None:
        try:
            return await client.decide(folder, id, yes())
        except client.RefusedError:  # those who left still count for a moment
            return None

    assert play(make(tmp_path, command()), crowd).exit_code == 0


def test_a_viewer_that_does_not_read_does_not_keep_others_waiting(tmp_path: Path) -> None:
    large = command("x" * 1_000_000)

    async def stall(folder: RunFolder) -> None:
        _, lazy = await dial(folder)
        lazy.transport.pause_reading()  # type: ignore[attr-defined]
        lazy.write(b'{"do":"watch"}\n')
        for _ in range(5):
            question = await first_question(folder)
            assert (await client.decide(folder, question.id, yes())).counts
        lazy.close()

    run = play(make(tmp_path, *[large] * 5), stall)
    assert len(decided(run.folder)) == 5


def test_an_agent_that_asks_too_much_at_once_is_denied_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 5
    monkeypatch.setattr(questions, "MOST_OPEN", most)
    count = most + 3

    async def count_them(folder: RunFolder) -> None:
        while len(decisions.read(folder)) < count - most:  # the rest was denied
            await asyncio.sleep(0.01)
        for question in await client.open_questions(folder):
            await client.decide(folder, question.id, yes())

    steps = {"together": [command(f"echo {n}") for n in range(count)]}
    run = play(make(tmp_path, steps), count_them)
    made = decided(run.folder)
    assert (sum(one.allow for one in made), len(made)) == (most, count)


def test_watchers_see_every_change_in_order_and_the_end(tmp_path: Path) -> None:
    seen: list[str] = []

    async def watch(folder: RunFolder) -> None:
        async with client.watching(folder) as changes:
            async for change in changes:
                match change:
                    case client.Listed(questions=questions):
                        opened = [one.id for one in questions]
                        seen.append("listed")
                    case client.Opened(question=question):
                        opened = [question.id]
                        seen.append("opened")
                    case client.Closed(question=closed):
                        opened = []
                        assert closed.decision == yes()
                        seen.append("closed")
                for id in opened:
                    await client.decide(folder, id, yes())

    play(make(tmp_path, command(), command(), command()), watch)
    joined = " ".join(seen).replace("listed opened", "listed", 1)
    assert joined == "listed closed opened closed opened closed"


def test_the_socket_is_gone_after_the_run_and_no_descriptor_is_left(tmp_path: Path) -> None:
    paths: list[Path] = []

    async def answer(folder: RunFolder) -> None:
        question = await first_question(folder)
        paths.append(address(folder))
        assert paths[-1].is_socket()
        await client.decide(folder, question.id, yes())

    play(make(tmp_path, command()), answer)
    before = len(os.listdir("/proc/self/fd"))
    play(make(tmp_path, command()), answer)
    assert len(os.listdir("/proc/self/fd")) == before
    assert not any(path.exists() for path in paths)
    assert not [*paths[0].parent.iterdir()]


def test_a_run_that_cannot_start_leaves_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails() -> None:
        async with make(tmp_path, command()):
            raise AssertionError

    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(Exception, match="the recorder cannot start"):
        asyncio.run(fails())
    assert not [*(tmp_path / "home" / "sockets").iterdir()]


def test_a_connection_that_is_closed_at_once_is_no_problem(tmp_path: Path) -> None:
    async def ring(folder: RunFolder) -> None:
        question = await first_question(folder)
        for _ in range(20):
            connect(address(folder), 5.0).close()
        assert (await client.decide(folder, question.id, yes())).counts

    assert isinstance(socket.AF_UNIX, int)
    assert play(make(tmp_path, command()), ring).exit_code == 0
