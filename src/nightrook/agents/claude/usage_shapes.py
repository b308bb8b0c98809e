"""The shapes that messages and stored lines of Claude Code have in common: parts of their usage."""

from nightrook.adapter.shapes import Count, Shape


class CacheCreation(Shape):
    """What was written to the cache, by how long it is kept."""

    ephemeral_5m_input_tokens: Count | None = None
    ephemeral_1h_input_tokens: Count | None = None


class OutputDetails(Shape):
    """What of the output is thinking."""

    thinking_tokens: Count | None = None


class ServerToolUse(Shape):
    """What the provider did besides."""

    web_search_requests: Count | None = None
