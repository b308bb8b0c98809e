"""How an attempt ended, recorded once on the server.

The first settlement of an attempt is stored only if its subject is empty. `lost` is what the boss
assumes when a worker is silent; it may be replaced once, by what really happened: that one is
stored only if the last message on the subject is the lost one. So each attempt has exactly one
final settlement, however many bosses follow it and however often they are killed.
"""

import nats.errors
from nats.js import errors as js_errors

from nightrook.fleet import subjects
from nightrook.fleet.boss.budgets import Budgets
from nightrook.fleet.connection import ConflictError, Connection, ServerAwayError
from nightrook.fleet.messages import Job, Settlement, dump, load


async def stored_settlement(connection: Connection, job: Job) -> tuple[Settlement, int] | None:
    """The settlement of an attempt and its number; None if there is none yet."""
    subject = subjects.settle(job.run, job.attempt)
    try:
        message = await connection.streams.get_last_msg(subjects.RUNS, subject)
    except js_errors.NotFoundError:
        return None
    except (nats.errors.Error, TimeoutError) as error:
        raise ServerAwayError(f"how {job.run} was settled cannot be read now") from error
    return load(message.data or b"", Settlement), message.seq or 0


async def settle(connection: Connection, job: Job, settlement: Settlement) -> Settlement:
    """Settle an attempt, and its share of a budget; return the settlement that counts."""
    counts = await _stored_once(connection, job, settlement)
    if job.budget is not None:
        await Budgets(connection).settle(
            job.budget, job.id, counts.spent_usd or 0.0, at_least=counts.status == "lost"
        )
    return counts


async def _stored_once(connection: Connection, job: Job, settlement: Settlement) -> Settlement:
    subject, data = subjects.settle(job.run, job.attempt), dump(settlement)
    expected = 0
    while True:
        try:
            await connection.publish(subject, data, expected=expected)
            return settlement
        except ConflictError:
            found = await stored_settlement(connection, job)
        if found is None or found[1] == expected:
            raise ServerAwayError(f"{job.run} cannot be settled now")
        stored, expected = found
        if stored.status != "lost" or settlement.status == "lost":  # guards: lost-replaced-once
            return stored
