"""A budget that many runs share: each is reserved once before it starts, and settled once after.

A budget is one value in a bucket. It lists every reservation and settlement by attempt, and is
replaced only if no other process has changed it meanwhile. So asking twice changes nothing, and no
two processes can spend the same money.
"""

import msgspec
import nats.errors
from nats.js.errors import KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from nightrook.fleet import subjects
from nightrook.fleet.connection import Connection, ServerAwayError
from nightrook.fleet.messages import Message
from nightrook.model.price import dollars, nano

_TRIES = 1000
_EPSILON_USD = 1e-9


class Share(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The money that one attempt may spend, and that it has spent."""

    reserved: float
    settled: float | None = None
    at_least: bool = False
    """True if it may have spent more: its worker was lost."""


class Budget(Message, frozen=True, kw_only=True, omit_defaults=True):
    """The money that many runs may spend together."""

    limit: float
    shares: dict[str, Share] = msgspec.field(default_factory=dict)

    @property
    def spent(self) -> float:
        """The money that was spent for certain."""
        known = (share.settled for share in self.shares.values() if share.settled is not None)
        return dollars(sum(map(nano, known)))

    @property
    def reserved(self) -> float:
        """The money that runs which have not ended may still spend."""
        open_ = (share.reserved for share in self.shares.values() if share.settled is None)
        return dollars(sum(map(nano, open_)))

    @property
    def left(self) -> float:
        """The money that is neither reserved nor spent."""
        return dollars(max(0, nano(self.limit) - nano(self.spent) - nano(self.reserved)))

    @property
    def open(self) -> int:
        """The number of runs that have reserved money and have not ended."""
        return sum(share.settled is None for share in self.shares.values())

    def reserve(self, id: str, amount: float) -> "Budget | None":
        """The budget with a reservation; None if it does not fit. One that is there stays."""
        if id in self.shares:
            return self
        if amount > self.left + _EPSILON_USD:
            return None
        return msgspec.structs.replace(self, shares={**self.shares, id: Share(reserved=amount)})

    def settle(self, id: str, spent: float, *, at_least: bool) -> "Budget":
        """Return the budget with the cost of an attempt in place of its reservation."""
        before = self.shares.get(id, Share(reserved=0.0))
        if before.settled is not None and not before.at_least:
            return self
        share = Share(reserved=before.reserved, settled=spent, at_least=at_least)
        return msgspec.structs.replace(self, shares={**self.shares, id: share})


class Budgets:
    """The budgets on a server."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._bucket: KeyValue | None = None

    async def open(self, name: str, limit: float) -> Budget:
        """Make a budget, or change its limit; return it as it is now."""
        return await self._change(name, limit, lambda b: msgspec.structs.replace(b, limit=limit))

    async def read(self, name: str) -> Budget | None:
        """A budget as it is now; None if there is none."""
        found = await self._read(name)
        return None if found is None else found[0]

    async def reserve(self, name: str, id: str, amount: float) -> bool:
        """Reserve money for an attempt; False if there is not enough left."""
        is_reserved = False

        def change(budget: Budget) -> Budget | None:
            nonlocal is_reserved
            changed = budget.reserve(id, amount)
            is_reserved = changed is not None
            return changed

        await self._change(name, None, change)
        return is_reserved

    async def settle(self, name: str, id: str, spent: float, *, at_least: bool = False) -> None:
        """Record the cost of an attempt, once; `at_least` may be replaced by the real sum."""
        await self._change(name, None, lambda b: b.settle(id, spent, at_least=at_least))

    async def _change(self, name: str, limit: float | None, change: "object") -> Budget:
        """Apply a change to the stored budget, again whenever another process was first."""
        for _ in range(_TRIES):
            found = await self._read(name)
            if found is None and limit is None:
                raise ServerAwayError(f"there is no budget {name!r} on the server")
            budget, revision = found or (Budget(limit=limit or 0.0), 0)
            changed: Budget | None = change(budget)  # type: ignore[operator]
            if changed is None or (changed is budget and revision):
                return budget
            if await self._write(name, changed, revision):
                return changed
        raise ServerAwayError(f"the budget {name!r} is changed by too many at once: try again")

    async def _write(self, name: str, budget: Budget, revision: int) -> bool:
        bucket = await self._opened()
        data = msgspec.json.encode(budget)
        try:
            if revision:
                await bucket.update(subjects.token(name), data, last=revision)
            else:
                await bucket.create(subjects.token(name), data)
        except KeyWrongLastSequenceError:
            return False
        except (nats.errors.Error, TimeoutError) as error:
            raise ServerAwayError(f"the budget {name!r} cannot be changed now") from error
        return True

    async def _read(self, name: str) -> tuple[Budget, int] | None:
        bucket = await self._opened()
        try:
            entry = await bucket.get(subjects.token(name))
        except KeyNotFoundError:
            return None
        except (nats.errors.Error, TimeoutError) as error:
            raise ServerAwayError(f"the budget {name!r} cannot be read now") from error
        return msgspec.json.decode(entry.value or b"", type=Budget), entry.revision or 0

    async def _opened(self) -> KeyValue:
        if self._bucket is None:
            try:
                self._bucket = await self._connection.streams.key_value(subjects.BUDGETS)
            except (nats.errors.Error, TimeoutError) as error:
                raise ServerAwayError("the budgets cannot be read now") from error
        return self._bucket
