"""Makes the table of docs/money.md: the same recorded bytes, added up four ways."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nightrook
from nightrook.model.events import Usage
from nightrook.model.fold import fold
from nightrook.model.price import dollars
from nightrook.prices import PriceBook

CASES = Path(__file__).parent.parent / "tests" / "agents" / "claude" / "cases"
SHOWN = (
    "s02_read_edit_bash-1.0.128",
    "s03_parallel_tools-2.1.197",
    "s07_partial_messages-2.1.197",
    "s08_subagent-2.1.197",
    "s08b_subagents_parallel_partial-2.1.325",
    "s14c_compact_reactive-2.1.197",
    "s23a_sigint_text-2.1.197",
    "s24_resume__2_resume-2.1.325",
    "s27_background_bash-2.1.197",
)
_HEAD = """\
| run | every line | each message once | results added up | nightrook | spent |
| --- | --- | --- | --- | --- | --- |
"""


def table() -> str:
    """The table, in Markdown."""
    book = PriceBook()
    return _HEAD + "".join(_row(case, book) for case in SHOWN)


def _row(case: str, book: PriceBook) -> str:
    path = CASES / case / "wire.jsonl"
    lines = [m["message"] for m in _messages(path) if m.get("type") == "assistant"]
    every = sum(_price(message, book) for message in lines)
    once = sum(_price(message, book) for message in {m["id"]: m for m in lines}.values())
    added = sum(m["total_cost_usd"] for m in _messages(path) if m.get("type") == "result")
    ledger = fold(nightrook.decode(path), book).ledger
    mark = "" if ledger.cost.source == "native" else "~"
    cells = (every, once, added, ledger.cost.usd or 0, ledger.spent_usd or 0)
    marks = ("", "", "", mark, mark)
    shown = [f"{mark}${cell:.5f}" for mark, cell in zip(marks, cells, strict=True)]
    return f"| `{case}` | {' | '.join(shown)} |\n"


def _messages(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().split(b"\n"):
        if line:
            yield json.loads(line)


def _price(message: dict[str, Any], book: PriceBook) -> float:
    price, usage = book(message["model"]), message["usage"]
    if price is None:
        return 0.0
    cost = price.cost(
        Usage(
            input=usage["input_tokens"],
            output=usage["output_tokens"],
            cache_read=usage["cache_read_input_tokens"],
            cache_write_5m=usage["cache_creation_input_tokens"],
        )
    )
    return dollars(cost or 0)
