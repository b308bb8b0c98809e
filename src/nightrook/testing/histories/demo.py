"""A month of made-up work with five agents, forks and subagents included."""

import random
from collections.abc import Iterator
from uuid import UUID

from nightrook.testing.histories.sessions import StoredCall, StoredSession
from nightrook.testing.histories.stories import AGAIN, EXPLORE, STORIES, Story

DAYS = 30
_DAY = 86400.0
_MODELS = {
    "claude": ("claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101"),
    "codex": ("gpt-5.5", "gpt-5.5"),
    "gemini": ("gemini-2.5-pro", "gemini-2.5-flash"),
    "opencode": ("claude-sonnet-4-5", "gpt-5"),
    "qwen": ("qwen3-coder-plus", "qwen3-coder-plus"),
}
_WEIGHTS = {"claude": 5, "codex": 4, "gemini": 2, "opencode": 2, "qwen": 1}
_CACHE_WRITES = frozenset({"claude", "opencode"})
"""The agents that report what they write to the cache."""

_PROJECTS = ("/home/dev/shop", "/home/dev/shop-api", "/home/dev/website", "/home/dev/notes")


def month_of_work(until: float, *, seed: int = 7, days: int = DAYS) -> Iterator[StoredSession]:
    """Yield sessions of the days before `until`, in seconds since 1970; the same for each seed."""
    made = random.Random(seed)
    before: dict[str, StoredSession] = {}
    for day in range(days, 0, -1):
        start = until - day * _DAY
        for _ in range(made.randint(2, 5) if day % 7 not in (0, 1) else made.randint(0, 1)):
            agent = made.choices(tuple(_WEIGHTS), tuple(_WEIGHTS.values()))[0]
            session = _session(made, agent, start + made.uniform(0, 0.5) * _DAY)
            yield session
            earlier = before.get(agent)
            if agent in ("claude", "opencode") and earlier is not None and made.random() < 0.25:
                yield _fork(made, earlier, session.calls[-1].at + 60)
            before[agent] = session


def _session(made: random.Random, agent: str, at: float) -> StoredSession:
    story = made.choice(STORIES)
    calls = tuple(_calls(made, agent, _MODELS[agent][0], at, made.randint(4, 25), story))
    subagents: tuple[StoredSession, ...] = ()
    project, branch = made.choice(_PROJECTS), made.choice(("main", "checkout", "search"))
    if made.random() < 0.4:
        began = calls[len(calls) // 2].at
        subagent = StoredSession(
            agent=agent,
            id=_id(made),
            project=project,
            branch=branch,
            title=EXPLORE.prompt,
            calls=tuple(_calls(made, agent, _MODELS[agent][1], began, made.randint(2, 8), EXPLORE)),
        )
        subagents = (subagent,)
    return StoredSession(
        agent=agent,
        id=_id(made),
        project=project,
        branch=branch,
        title=story.prompt,
        calls=calls,
        subagents=subagents,
    )


def _fork(made: random.Random, earlier: StoredSession, at: float) -> StoredSession:
    agent = earlier.agent
    return StoredSession(
        agent=agent,
        id=_id(made),
        project=earlier.project,
        branch=earlier.branch,
        title=earlier.title,
        inherited=earlier.calls,
        forked_from=earlier.id,
        calls=tuple(_calls(made, agent, _MODELS[agent][0], at, made.randint(2, 6), AGAIN)),
    )


def _calls(
    made: random.Random, agent: str, model: str, at: float, count: int, story: Story
) -> Iterator[StoredCall]:
    context = made.randint(9_000, 20_000)
    for number, step in enumerate(story.spread(count)):
        at = round(at + made.uniform(5, 90), 3)
        new = made.randint(300, 4_000)
        writes = new if agent in _CACHE_WRITES else 0
        yield StoredCall(
            id=f"{agent}_{_id(made)}",
            at=at,
            model=model,
            input=made.randint(4, 40) if writes else new,
            output=made.randint(60, 1_200),
            cache_read=context if number else 0,
            cache_write=writes,
            prompt=story.prompt if number == 0 else None,
            text=step.text,
            command=step.command,
        )
        context += new


def _id(made: random.Random) -> str:
    return str(UUID(int=made.getrandbits(128), version=4))
