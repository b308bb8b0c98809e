"""The recorded streams that tests read: golden cases and further recordings, and the raw lines."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nightrook
from nightrook import agents
from nightrook.model.facts import OWN_LIMITS, Facts, PassedLimit
from nightrook.model.fold import fold
from nightrook.model.price import Prices, no_prices
from nightrook.model.state import RunState
from tests.flat_facts import flat_facts

_AGENTS = Path(__file__).parent / "agents"


def cases(agent: str = "*") -> list[Path]:
    """The golden cases of an agent, or of all: streams whose events a person has read."""
    return sorted(_AGENTS.glob(f"{agent}/cases/*/wire.jsonl"))


def recordings(agent: str = "*") -> list[Path]:
    """All other recorded streams of an agent, or of all."""
    return sorted(_AGENTS.glob(f"{agent}/recordings/*/*.jsonl"))


def facts(agent: str) -> dict[str, Any]:
    """What a person knows of an agent's recorded streams, from its `facts.toml`."""
    return tomllib.loads((_AGENTS / agent / "facts.toml").read_text(encoding="utf-8"))


def agent_of(path: Path) -> str:
    """The agent that wrote a recorded stream."""
    return path.parents[2].name


def about(path: Path) -> str:
    """What is told of a stream: `about.md` beside a case, `NAME.md` beside a recording."""
    told = path.with_name("about.md" if path.name == "wire.jsonl" else f"{path.stem}.md")
    return told.read_text(encoding="utf-8") if told.exists() else ""


def ending_of(path: Path) -> Facts:
    """How the recorded process ended, as far as somebody wrote it down."""
    code = re.search(r"^- exit code: (-?\d+)$", about(path), re.MULTILINE)
    if code is None:
        return Facts()
    number = int(code[1])
    if number < 0:
        return flat_facts(signal=-number)
    own = OWN_LIMITS.get(agents.agent(agent_of(path)).limit_codes.get(number))
    passed = PassedLimit(kind=own, by="agent") if own else None
    return flat_facts(agent_exit_code=number, passed_limit=passed, failure=_failure_of(path))


def _failure_of(path: Path) -> str | None:
    """Why the recorded process failed, if only stderr reported it."""
    pattern = agents.agent(agent_of(path)).failures
    match = pattern and re.compile(pattern.pattern, re.MULTILINE).search(about(path))
    return match[1] if match else None


def is_real(path: Path) -> bool:
    """Whether a real agent wrote a stream, untouched."""
    return "invented" not in about(path).lower()


# Those of Claude Code, whose raw words many tests of the core compare with what we make of them.
CASES = cases("claude")
RECORDINGS = recordings("claude")
ALL = [*CASES, *RECORDINGS]
REAL = [path for path in ALL if is_real(path)]


def name_of(path: Path) -> str:
    """A short name for a test's id."""
    if path.name == "wire.jsonl":
        return path.parent.name
    return f"{path.stem}-{path.parent.name}"


def full_name_of(path: Path) -> str:
    """A name for a test's id that no stream of another agent has."""
    return f"{agent_of(path)}-{name_of(path)}"


def folded(path: Path, prices: Prices = no_prices) -> RunState:
    """A recorded stream, folded."""
    return fold(nightrook.decode(path, agent=agent_of(path)), prices)


def messages(path: Path) -> Iterator[dict[str, Any]]:
    """The raw messages of a stream, read without any of our code."""
    for line in path.read_bytes().split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        for message in value if isinstance(value, list) else [value]:
            if isinstance(message, dict):
                yield message


def results(path: Path) -> list[dict[str, Any]]:
    """The raw result messages of a stream."""
    return [message for message in messages(path) if message.get("type") == "result"]
