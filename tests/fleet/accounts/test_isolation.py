"""Workers, viewers and strangers: exactly what is listed here works, of all that can be tried."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import nats.errors
import pytest
from nats.aio.client import Client

from nightrook.fleet.accounts.credentials import new_key
from nightrook.fleet.connection import Connection
from nightrook.fleet.streams import make_queue, make_streams
from nightrook.fleet.subjects import STREAMS
from tests.fleet.accounts.fleet import Fleet, refusal
from tests.fleet.accounts.tries import CALLS, LISTENING, OTHER_SUBJECTS, QUEUES, SUBJECTS, Call

pytestmark = pytest.mark.usefixtures("readable_again")

WAIT_S = 1.0
"""How long an answer may take; refused requests have none."""

MEMBERS = ("worker-ada", "viewer")
_GET = "$JS.API.DIRECT.GET"
_NEXT = "$JS.API.CONSUMER.MSG.NEXT.JOBS"
ANSWERED = {
    "worker-ada": {
        f"{_NEXT}.any=claude",
        f"{_NEXT}.any=codex",
        f"{_GET}.EV.ev.ada.run.1.stdout",
        f"{_GET}.ORDERS.order.ada.run",
        f"{_GET}.BLOBS.blob.token.0",
        f"{_GET}.BLOBS.blob.token.head",
    },
    "viewer": {
        f"{_GET}.EV",
        f"{_GET}.EV.ev.ada.run.1.stdout",
        f"{_GET}.EV.ev.bob.run.1.stdout",
        f"{_GET}.BEATS",
        f"{_GET}.BEATS.beat.ada",
        f"{_GET}.BEATS.beat.bob",
        f"{_GET}.RUNS",
        f"{_GET}.RUNS.run.run.1",
        f"{_GET}.RUNS.settle.run.1",
        f"{_GET}.KV_budgets",
        f"{_GET}.KV_budgets.$KV.budgets.main",
    },
}
"""The calls that are answered."""

STORED = {"worker-ada": {"ev.ada.run.1.stdout", "beat.ada"}, "viewer": set[str]()}
"""The subjects on which a message is stored."""

HEARD = {
    "worker-ada": {"order.ada.run"},
    "viewer": {
        *("ev.ada.run.1.stdout", "ev.bob.run.1.stdout", "beat.ada", "beat.bob"),
        *("run.run.1", "settle.run.1", "$KV.budgets.main"),
    },
}
"""What is received, however it is subscribed to."""


@pytest.fixture(scope="module")
def filled(fleet: Fleet) -> Fleet:
    """The fleet with all streams and queues, and a message on every subject."""

    async def fill() -> None:
        async with fleet.connected("boss") as client:
            boss = Connection(client, fleet.address("boss"))
            await make_streams(boss)
            for label, agent in QUEUES:
                await make_queue(boss, label, agent)
            for subject in SUBJECTS:
                await boss.publish(subject, b"canary")

    asyncio.run(fill())
    return fleet


async def _sizes(fleet: Fleet) -> dict[str, Any]:
    """What would change if anything were written, deleted or made."""
    async with fleet.connected("boss") as boss:
        infos = await boss.jetstream().streams_info()
        return {
            str(info.config.name): (
                *(info.state.last_seq, info.state.messages, info.state.consumer_count),
                tuple(info.config.subjects or ()),
            )
            for info in infos
        }


async def _is_answered(client: Client, call: Call) -> bool:
    inbox = client.new_inbox()
    replies = await client.subscribe(inbox)
    await client.publish(call.subject, call.data, inbox)
    try:
        reply = await replies.next_msg(timeout=WAIT_S)
    except (nats.errors.Error, TimeoutError):
        return False
    status = (reply.headers or {}).get("Status")
    return status in (None, "404") and b'"error"' not in reply.data


@pytest.mark.parametrize("member", MEMBERS)
def test_exactly_the_listed_calls_of_all_are_answered_and_change_nothing(
    filled: Fleet, member: str
) -> None:
    async def answered() -> set[str]:
        async with filled.connected(member) as client:
            results = await asyncio.gather(*(_is_answered(client, call) for call in CALLS))
        return {
            call.subject for call, is_answered in zip(CALLS, results, strict=True) if is_answered
        }

    before = asyncio.run(_sizes(filled))
    assert asyncio.run(answered()) == ANSWERED[member]
    assert asyncio.run(_sizes(filled)) == before


async def _published(filled: Fleet, member: str, tried: Iterable[str]) -> set[str]:
    """The subjects on which a message of this member arrives anywhere in the fleet."""
    arrived: set[str] = set()
    async with filled.connected("boss") as boss, filled.connected(member) as client:

        async def keep(message: Any) -> None:
            if message.data == b"forged":
                arrived.add(message.subject)

        await boss.subscribe(">", cb=keep)
        await boss.flush()
        for subject in tried:
            await client.publish(subject, b"forged")
        await client.flush()
        await boss.flush()
        await boss.flush()
    return arrived


@pytest.mark.parametrize("member", MEMBERS)
def test_exactly_the_listed_subjects_can_be_published(filled: Fleet, member: str) -> None:
    tried = [*SUBJECTS, *OTHER_SUBJECTS]
    arrived = asyncio.run(_published(filled, member, tried))
    acks = {subject for subject in arrived if subject.startswith("$JS.ACK")}
    assert arrived - acks == STORED[member]
    assert all(".gpu=claude." not in subject for subject in acks)


@pytest.mark.parametrize("member", MEMBERS)
def test_whatever_is_subscribed_to_only_the_listed_is_heard(filled: Fleet, member: str) -> None:
    async def heard() -> set[str]:
        subjects: set[str] = set()

        async def keep(message: Any) -> None:
            subjects.add(message.subject)

        async with filled.connected("boss") as boss:
            for subscribed in LISTENING:
                async with filled.connected(member) as client:
                    await client.subscribe(subscribed, cb=keep)
                    await client.flush()
                    for subject in (*SUBJECTS, "_INBOX_boss.x", "_INBOX_bob.x", "_INBOX_ada.x"):
                        await boss.publish(subject, b"canary")
                    await boss.flush()
                    await client.flush()
        return subjects

    assert asyncio.run(heard()) == HEARD[member]


@pytest.mark.parametrize("member", MEMBERS)
def test_no_reply_can_be_sent_to_a_subject_of_the_fleet(filled: Fleet, member: str) -> None:
    """The server stores what it replies wherever the client says; it must be in its own account."""
    own = {"ev.ada.run.1.stdout", "beat.ada"}
    targets = [subject for subject in SUBJECTS if subject not in own]
    asked = [
        *(call for call in CALLS if call.subject in ANSWERED[member]),
        *(Call(subject, b"canary") for subject in STORED[member]),
    ]

    async def attack() -> set[str]:
        arrived: set[str] = set()

        async def keep(message: Any) -> None:
            arrived.add(message.subject)

        async with filled.connected("boss") as boss, filled.connected(member) as client:
            for target in targets:
                await boss.subscribe(target, cb=keep)
            await boss.flush()
            for call in asked:
                for target in targets:
                    await client.publish(call.subject, call.data, reply=target)
            await client.flush()
            await boss.flush()
            await boss.flush()
        return arrived

    before = asyncio.run(_sizes(filled))
    assert asyncio.run(attack()) == set()
    after = asyncio.run(_sizes(filled))
    changed = {name for name in STREAMS if before[name][0] != after[name][0]}
    assert changed <= ({"EV", "BEATS"} if member != "viewer" else set())


def test_a_payload_cannot_turn_a_request_for_ones_own_into_one_for_anothers(
    filled: Fleet,
) -> None:
    tricks: list[dict[str, object]] = [
        {"seq": 1},
        {"last_by_subj": "ev.bob.run.1.stdout"},
        {"next_by_subj": "ev.bob.>", "seq": 1},
        {"multi_last": ["ev.bob.>"]},
        {"seq": 1, "batch": 10},
    ]

    async def answers() -> list[bytes]:
        async with filled.connected("worker-ada") as client:
            subject = f"{_GET}.EV.ev.ada.run.1.stdout"
            asked = [client.request(subject, json.dumps(each).encode()) for each in tricks]
            return [reply.data for reply in await asyncio.gather(*asked)]

    assert asyncio.run(answers()) == [b""] * len(tricks)


def test_strangers_are_not_let_in(filled: Fleet) -> None:
    boss = filled.address("boss")
    tried = [
        replace(boss, seed=None),
        replace(boss, seed=new_key().seed),
        replace(boss, seed=None, url=boss.url.replace("//", "//boss:boss@")),
        replace(boss, seed=None, url=boss.url.replace("//", "//token@")),
    ]

    async def refusals() -> list[str | None]:
        return list(await asyncio.gather(*(refusal(address) for address in tried)))

    assert all(reason is not None for reason in asyncio.run(refusals()))


def test_there_are_far_more_than_sixty_tries() -> None:
    per_member = len(CALLS) + len(SUBJECTS) + len(OTHER_SUBJECTS) + len(LISTENING)
    assert per_member > 250
