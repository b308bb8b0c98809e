"""Tokens and cost from an agent's figures, by the scope that its dialect defines."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.shapes import Count
from nightrook.adapter.usage import reported, uncached
from nightrook.agents.acp import shapes
from nightrook.agents.acp.memory import Memory
from nightrook.model.events import Event, Usage, UsageReported


class _ChunkMeta(msgspec.Struct, gc=False):
    usage: shapes.Tokens | None = None


_chunk_meta = msgspec.json.Decoder(_ChunkMeta)


def of_chunk(memory: Memory, meta: msgspec.Raw) -> list[Event]:
    """The tokens of a request, which come with an empty chunk after it."""
    if memory.dialect is None or memory.dialect.usage != "request" or b'"usage"' not in bytes(meta):
        return []
    found = salvage.decode_part(meta, _chunk_meta)
    if found is None or found.usage is None:
        return []
    memory.requests += 1
    return [_report(memory, found.usage, f"request-{memory.requests}", scope="message")]


class _Totals(msgspec.Struct, gc=False, rename="camel"):
    """The tokens of a session, as one agent adds them to the size of its context."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    cached_tokens: Count | None = None
    total_tokens: Count | None = None


_totals = msgspec.json.Decoder(_Totals)


def note(memory: Memory, update: shapes.UsageUpdate) -> None:
    """Remember the cost so far, and the totals with which a resumed session begins."""
    cost = update.cost
    if cost is not None and cost.amount is not None and cost.currency in (None, "USD"):
        memory.cost = cost.amount
    if not memory.replaying:
        return
    memory.settled_cost = memory.cost
    if b'"promptTokens"' in bytes(update.meta):  # vibe 3.0.3
        totals = salvage.decode_part(update.meta, _totals) or _Totals()
        memory.tokens = shapes.Tokens(
            input_tokens=totals.prompt_tokens,
            output_tokens=totals.completion_tokens,
            total_tokens=totals.total_tokens,
            cached_read_tokens=totals.cached_tokens,
        )


def of_result(memory: Memory, result: shapes.Result) -> list[Event]:
    """The tokens of a turn, as far as its result says how many they were."""
    counted = memory.dialect.usage if memory.dialect else None  # guards: unknown-agent-tokens
    if counted is None:
        return []
    id = f"turn-{memory.results}"
    rest = [_unreported(id)] if _is_partial(memory, result) else []
    if counted == "request":
        return rest
    if found := list(_by_model(memory, id, result)):
        return [*found, *rest]
    spent = result.usage
    if spent is not None and counted in ("process", "session"):
        spent = _grown(memory, spent, counted)
    if counted == "last_request" and result.stop_reason == "cancelled":
        spent = None  # it is the last one of the turn before (goose 1.52.0)
    if spent is None or not _any(spent):
        return [_unreported(id)]
    is_whole = counted != "last_request" or not memory.has_called
    return [_report(memory, spent, f"{id} usage", scope="turn", is_whole=is_whole), *rest]


def _is_partial(memory: Memory, result: shapes.Result) -> bool:
    """True if neither the tokens nor the cost of a result count everything."""
    dialect = memory.dialect
    if dialect is None or result.stop_reason == "cancelled":
        return True  # no agent reports what a cancelled request used
    if dialect.usage == "last_request" and dialect.cost is None and memory.has_called:
        return True
    return dialect.hides_subagents and memory.has_delegated


def _by_model(memory: Memory, id: str, result: shapes.Result) -> Iterator[Event]:
    """The tokens of each model, if the result has them."""
    quota = result.meta.quota if result.meta else None
    for number, used in enumerate((quota.model_usage if quota else None) or ()):
        tokens = used.token_count.tokens() if used.token_count else shapes.Tokens()
        if _any(tokens):
            yield _report(memory, tokens, scope="turn", id=f"{id} model {number}", model=used.model)


def of_cost(memory: Memory) -> float | None:
    """Return the cost of the turn, by the agent's total; None if its start is unknown."""
    total, before = memory.cost, memory.settled_cost
    memory.settled_cost = total
    if memory.dialect is None or memory.dialect.cost is None or total is None:
        return None
    if before is None:
        # Without an earlier figure, a resumed session's total holds what it cost before.
        before = None if memory.is_resumed and memory.dialect.cost == "session" else 0.0
    # A cancelled turn leaves the total as it was, and an unknown price is counted as nothing.
    return None if before is None or total <= before else round(total - before, 9)


def unknown_cost(memory: Memory) -> list[Event]:
    """Report that the cost of this turn does not follow from the agent's total."""
    is_known = memory.dialect is not None and memory.dialect.cost is not None
    return [_unreported(f"cost-{memory.results}")] if is_known and memory.cost else []


def _grown(memory: Memory, now: shapes.Tokens, counted: str) -> shapes.Tokens | None:
    """Return the growth of the agent's total since the previous result."""
    before, memory.tokens = memory.tokens, now
    if before is None:
        return None if memory.is_resumed and counted == "session" else now
    return shapes.Tokens(
        **{
            name: None if value is None else max(0, value - (getattr(before, name) or 0))
            for name in shapes.Tokens.__struct_fields__
            for value in (getattr(now, name),)
        }
    )


def _any(tokens: shapes.Tokens) -> bool:
    return bool(tokens.input_tokens or tokens.output_tokens or tokens.cached_read_tokens)


def _report(
    memory: Memory,
    tokens: shapes.Tokens,
    id: str,
    *,
    scope: Literal["message", "turn"],
    model: str | None = None,
    is_whole: bool = True,
) -> Event:
    return reported(
        usage_of(tokens),
        message_id=id,
        model=model or memory.model,
        scope=scope,
        semantics="final" if is_whole else "snapshot",
    )


def usage_of(tokens: shapes.Tokens) -> Usage:
    """Tokens in neutral terms: the sum shows what the input and the output include."""
    read, written = tokens.cached_read_tokens, tokens.cached_write_tokens
    input, output, thought = tokens.input_tokens, tokens.output_tokens, tokens.thought_tokens
    apart = (input or 0) + (output or 0)
    total = apart if tokens.total_tokens is None else tokens.total_tokens
    if total == apart:  # the input includes what was cached
        input = uncached(input, read, written)
    elif thought and output is not None and total == apart + (read or 0) + (written or 0) + thought:
        output += thought  # the output does not include thinking
    return Usage(
        input=input,
        output=output,
        cache_read=read,
        cache_write_5m=written,
        reasoning=thought,
    )


def _unreported(id: str) -> Event:
    """Report that tokens were used that no message counts."""
    return UsageReported(message_id=id, scope="session", semantics="final")
