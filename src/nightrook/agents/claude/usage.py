"""Converts Claude Code's token counts to those of events."""

from collections.abc import Mapping

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.shapes import NOTHING
from nightrook.agents.claude import shapes
from nightrook.model.events import ModelUsage, Usage, UsageReported
from nightrook.model.price import credible

_models_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_model_decoder = msgspec.json.Decoder(shapes.ModelUsage)

_GUESSED = "unknown"  # the basis of a cost that is made up (2.1.325 unknown_price)


def reported(
    message: shapes.Message, *, parent: str | None, first: UsageReported | None = None
) -> UsageReported:
    """The usage in a message; without a stop reason it is a snapshot.

    The last counts of a streamed message leave out the split of its cache writes; `first`, the
    counts at its start, contains it.
    """
    usage = message.usage or shapes.Usage()
    five_minutes, one_hour = _cache_writes(usage)
    if first is not None and usage.cache_creation is None:
        five_minutes, one_hour = first.cache_write_5m, first.cache_write_1h
    return UsageReported(
        message_id=message.id,
        model=message.model,
        stop_reason=message.stop_reason,
        scope="message",
        semantics="snapshot" if message.stop_reason is None else "final",
        input=usage.input_tokens,
        output=usage.output_tokens,
        cache_read=usage.cache_read_input_tokens,
        cache_write_5m=five_minutes,
        cache_write_1h=one_hour,
        reasoning=_reasoning(usage),
        web_searches=_web_searches(usage),
        parent=parent,
    )


def of_turn(usage: shapes.Usage | None) -> Usage | None:
    """The usage of a turn's main loop."""
    if usage is None:
        return None
    five_minutes, one_hour = _cache_writes(usage)
    return Usage(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cache_read=usage.cache_read_input_tokens,
        cache_write_5m=five_minutes,
        cache_write_1h=one_hour,
        reasoning=_reasoning(usage),
        web_searches=_web_searches(usage),
    )


Models = Mapping[str, shapes.ModelUsage]
"""What each model used and cost, in a result."""


def models_of(raw: msgspec.Raw) -> Models | None:
    """Read what each model used; None if the result does not have it."""
    entries = None if raw is NOTHING else salvage.decode_part(raw, _models_decoder)
    if entries is None:
        return None
    return {
        model: salvage.decode_part(used, _model_decoder) or shapes.ModelUsage()
        for model, used in entries.items()
    }


def is_guessed(models: Models | None) -> bool:
    """Whether the total cost contains a guess, for a model without a known price."""
    return any(used.costBasis == _GUESSED for used in (models or {}).values())


def by_model(models: Models | None) -> tuple[ModelUsage, ...] | None:
    """Tokens and cost of each model since the process started."""
    if models is None:
        return None
    return tuple(_of_model(model, used) for model, used in models.items())


def _of_model(model: str, used: shapes.ModelUsage) -> ModelUsage:
    return ModelUsage(
        model=model,
        input=used.inputTokens,
        output=used.outputTokens,
        cache_read=used.cacheReadInputTokens,
        cache_write=used.cacheCreationInputTokens,
        cache_write_5m=used.cacheCreationEphemeral5mInputTokens,
        cache_write_1h=used.cacheCreationEphemeral1hInputTokens,
        reasoning=used.thinkingTokens,
        web_searches=used.webSearchRequests,
        cost_usd=None if used.costBasis == _GUESSED else credible(used.costUSD),
        context_window=used.contextWindow,
    )


def _cache_writes(usage: shapes.Usage) -> tuple[int | None, int | None]:
    split = usage.cache_creation
    if split is None:  # without the split, all writes are of the default, short kind
        return usage.cache_creation_input_tokens, None
    return split.ephemeral_5m_input_tokens, split.ephemeral_1h_input_tokens


def _reasoning(usage: shapes.Usage) -> int | None:
    details = usage.output_tokens_details
    return details.thinking_tokens if details else None


def _web_searches(usage: shapes.Usage) -> int | None:
    used = usage.server_tool_use
    return used.web_search_requests if used else None
