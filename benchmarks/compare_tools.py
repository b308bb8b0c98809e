"""What other programs report on the traps of stored sessions: which of them they get right.

Every trap of `tests/archive` is written into a home of its own. Programs run without a network and
without variables of the environment. `make compare` installs them and prints the table of
docs/money.md; `--cases` adds what each program gets wrong.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from starting import ROOK
from tests.archive.hard_traps import ALL_TRAPS
from tests.archive.traps import Expected, Trap

OTHERS = Path(__file__).parent.parent / ".cache" / "others"
TOKSCALE = OTHERS / "tokscale" / "node_modules"
CLOSE_USD = 1e-6


class Found(NamedTuple):
    """What a program reports."""

    tokens: set[int]
    """All tokens; several sums if it reports reasoning apart, which may be part of the output."""

    usd: float


class Tool(NamedTuple):
    """A program, and how it is asked."""

    name: str
    agents: str
    """Those of our ten whose sessions it says that it reads; empty are all."""

    command: Sequence[str]
    read: Callable[[dict[str, Any]], Found]
    has_prices: bool = True

    def claims(self, trap: Trap) -> bool:
        """Whether a trap is about an agent that it reads."""
        return not self.agents or trap.__name__.partition("_")[0] in self.agents.split()


def _rook(report: dict[str, Any]) -> Found:
    total = report["total"]
    return Found({sum(total["tokens"].values())}, sum(total["cost_usd"].values()))


def _ccusage(report: dict[str, Any]) -> Found:
    totals = report["totals"]
    kinds = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")
    sums = {sum(totals[kind] for kind in kinds), totals["totalTokens"]}
    return Found(sums, totals["totalCost"])


def _tokscale(report: dict[str, Any]) -> Found:
    kinds = ("totalInput", "totalOutput", "totalCacheRead", "totalCacheWrite")
    tokens = sum(report[kind] for kind in kinds)
    reasoning = sum(entry["reasoning"] for entry in report["entries"])
    return Found({tokens, tokens + reasoning}, report["totalCost"])


TOOLS = (
    Tool("rook", "", (str(ROOK), "cost", "--json"), _rook),
    Tool(
        "ccusage 20.0.24",
        "",
        (
            str(OTHERS / "20/node_modules/@ccusage/ccusage-linux-x64/bin/ccusage"),
            *("daily", "--json", "--offline"),
        ),
        _ccusage,
    ),
    Tool(
        "ccusage 18.0.11",
        "claude",
        (str(OTHERS / "18/node_modules/.bin/ccusage"), "daily", "--json", "--offline"),
        _ccusage,
    ),
    Tool(
        "tokscale 1.4.3",
        "claude codex gemini opencode droid kimi",
        (
            str(TOKSCALE / ".bin/bun"),
            *(str(TOKSCALE / "@tokscale/cli/dist/cli.js"), "models", "--json", "--no-spinner"),
        ),
        _tokscale,
        has_prices=False,
    ),
)


def ask(tool: Tool, home: Path) -> Found | None:
    """What a program reports on a home; None if it fails."""
    path = f"{TOKSCALE / '.bin'}:/usr/local/bin:/usr/bin:/bin"
    command = ["unshare", "-rn", "env", "-i", f"PATH={path}", f"HOME={home}", "TZ=UTC"]
    done = subprocess.run([*command, *tool.command], capture_output=True, timeout=120, check=False)
    try:
        return tool.read(json.loads(done.stdout))
    except (ValueError, KeyError):
        return None


def write(trap: Trap, folder: Path) -> Expected:
    """Write a trap into a home in which tokscale needs no network, and has no prices."""
    expected = trap(folder)
    for name in ("litellm", "openrouter"):
        file = folder / ".cache" / "tokscale" / f"pricing-{name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"timestamp": int(time.time()), "data": {}}))
    return expected


class Score:
    """How many cases a program gets right."""

    def __init__(self) -> None:
        self.claimed = self.tokens = self.both = 0
        self.wrong: list[str] = []


def compare() -> Iterator[tuple[Tool, Score]]:
    """Ask every program about every trap."""
    scores = {tool.name: Score() for tool in TOOLS}
    for trap in ALL_TRAPS:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            expected = write(trap, home)
            answers = {tool.name: ask(tool, home) for tool in TOOLS}
        for tool in TOOLS:
            _judge(scores[tool.name], tool, trap, expected, answers)
    for tool in TOOLS:
        yield tool, scores[tool.name]


def _judge(
    score: Score, tool: Tool, trap: Trap, expected: Expected, answers: dict[str, Found | None]
) -> None:
    if not tool.claims(trap):
        return
    score.claimed += 1
    found, ours = answers[tool.name], answers["rook"]
    tokens = expected.input + expected.output + expected.cache_read + expected.cache_write
    # Where a case is not about money, its tokens at list prices: that is what rook reports.
    usd = ours.usd if ours else -1.0
    if expected.estimated is not None:
        usd = expected.native + expected.estimated
    if found is None or tokens not in found.tokens:
        score.wrong.append(
            f"{trap.__name__}: tokens {found and sorted(found.tokens)}, not {tokens}"
        )
        return
    score.tokens += 1
    if abs(found.usd - usd) <= CLOSE_USD:
        score.both += 1
    elif tool.has_prices:
        score.wrong.append(f"{trap.__name__}: ${found.usd:.6f}, not ${usd:.6f}")


def main() -> None:
    """Print the table."""
    print(f"{len(ALL_TRAPS)} cases\n")
    print("| | cases of agents that it reads | tokens right | tokens and money right |")
    print("| --- | --- | --- | --- |")
    results = list(compare())
    for tool, score in results:
        both = str(score.both) if tool.has_prices else "not compared"
        print(f"| {tool.name} | {score.claimed} | {score.tokens} | {both} |")
    for tool, score in results if "--cases" in sys.argv else ():
        print(f"\n{tool.name}", *score.wrong, sep="\n  ")


if __name__ == "__main__":
    main()
