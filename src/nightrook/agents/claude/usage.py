"""Converts Claude Code's token counts to those of events."""

from collections.abc import Mapping

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.shapes import NOTHING
from nightrook.adapter.usage import reported
from nightrook.agents.claude import shapes
from nightrook.model.events import ModelUsage, Usage, UsageReported
from nightrook.model.price import credible

_models_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_model_decoder = msgspec.json.Decoder(shapes.ModelUsage)

_GUESSED = "unknown"  # the basis of a cost that is made up (2.1.325 unknown_price)


def usage_of(usage: shapes.Usage) -> Usage:
    """Convert the tokens of a message or of a turn's main loop.

    Writes to the cache are not always split by how long they are kept; those that are not are of
    the default, short kind.
    """
    written, split = usage.cache_creation_input_tokens, usage.cache_creation
    one_hour = None
    if split is not None:
        one_hour = split.ephemeral_1h_input_tokens
        if not written:
            written = split.ephemeral_5m_input_tokens
        elif one_hour:
            written = max(written - one_hour, 0)
    details, used = usage.output_tokens_details, usage.server_tool_use
    return Usage(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cache_read=usage.cache_read_input_tokens,
        cache_write_5m=written,
        cache_write_1h=one_hour,
        reasoning=None if details is None else details.thinking_tokens,
        web_searches=None if used is None else used.web_search_requests,
    )


def of_message(
    message: shapes.Message, *, parent: str | None, first: UsageReported | None = None
) -> UsageReported:
    """Report the usage in a message; without a stop reason it is a snapshot.

    The last counts of a streamed message leave out the split of its cache writes; `first`, the
    counts at its start, contains it.
    """
    counters = message.usage or shapes.Usage()
    usage = usage_of(counters)
    if first is not None and counters.cache_creation is None:
        usage = msgspec.structs.replace(
            usage, cache_write_5m=first.cache_write_5m, cache_write_1h=first.cache_write_1h
        )
    return reported(
        usage,
        message_id=message.id,
        model=message.model,
        stop_reason=message.stop_reason,
        semantics="snapshot" if message.stop_reason is None else "final",
        parent=parent,
    )


Models = Mapping[str, shapes.ModelUsage]
"""The usage and cost of each model, in a result."""


def models_of(raw: msgspec.Raw) -> Models | None:
    """Read the usage of each model; None if the result does not have it."""
    entries = None if raw is NOTHING else salvage.decode_part(raw, _models_decoder)
    if entries is None:
        return None
    return {
        model: salvage.decode_part(used, _model_decoder) or shapes.ModelUsage()
        for model, used in entries.items()
    }


def is_guessed(models: Models | None) -> bool:
    """True if the total cost contains a guess, for a model without a known price."""
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
