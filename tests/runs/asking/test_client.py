"""Other processes list, watch and decide what an agent asks; the first decision counts."""

import asyncio
from pathlib import Path

import pytest

from rookery.model.questions import Decision
from rookery.runs.asking import client
from rookery.store.run_folder import RunFolder
from tests.runs.asking.asking_agent import (
    command,
    decided,
    first_question,
    make,
    play,
    without_time,
    yes,
)


def test_a_question_is_listed_whole_and_decided_once(tmp_path: Path) -> None:
    async def answer(folder: RunFolder) -> None:
        question = await first_question(folder)
        assert client.is_asking(folder)
        assert await client.open_questions(folder) == (question,)
        assert (question.ask.name, question.ask.title) == ("Bash", "rm -r build")
        assert question.tool_id == "call-0"
        outcome = await client.decide(folder, question.id, yes())
        assert (outcome.counts, without_time(outcome.question)) == (True, (question.id, yes()))

    run = play(make(tmp_path, command()), answer)
    assert run.exit_code == 0, run.verdict
    assert decided(run.folder) == [yes()]


def test_a_later_decision_is_told_who_answered(tmp_path: Path) -> None:
    async def answer(folder: RunFolder) -> None:
        question = await first_question(folder)
        no = Decision(allow=False, by="program", through="hook", reason="not today")
        outcomes = await asyncio.gather(
            client.decide(folder, question.id, yes()), client.decide(folder, question.id, no)
        )
        assert sorted(one.counts for one in outcomes) == [False, True]
        first, second = (without_time(one.question) for one in outcomes)
        assert first == second
        assert first is not None

    run = play(make(tmp_path, command()), answer)
    assert len(decided(run.folder)) == 1


def test_a_question_that_was_never_asked_cannot_be_decided(tmp_path: Path) -> None:
    async def answer(folder: RunFolder) -> None:
        question = await first_question(folder)
        assert await client.decide(folder, "77", yes()) == (False, None)
        await client.decide(folder, question.id, yes())

    assert play(make(tmp_path, command()), answer).exit_code == 0


def test_a_run_that_is_over_does_not_ask(tmp_path: Path) -> None:
    async def answer(folder: RunFolder) -> None:
        question = await first_question(folder)
        await client.decide(folder, question.id, yes())

    run = play(make(tmp_path, command()), answer)
    assert not client.is_asking(run.folder)
    with pytest.raises(client.NotAskingError, match="does not ask: it is over"):
        asyncio.run(client.open_questions(run.folder))
