"""Records `demo.jsonl` anew: the real Claude Code plays an invented session against our own API.

    python -m tests.testing.record_demo /path/to/claude

What the model says, its tokens and the pace are invented here; the lines are the program's own,
cleaned of paths, ids and times. The tools really run, in a folder made for it.
"""

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nightrook.testing import DEMO, Answer, Failure, Reply
from tests.testing.recording import MODEL, Json, folders, record, write

PROMPT = "A test of the cart fails. Find out why and mend it, then push."
SECONDS = 60.0
COST_USD = 0.04150005  # all prices are multiples of 0.15 micro-dollars, 0.0415 dollars are none
ALLOWED = ("Bash(python -m pytest:*)", "Bash(grep:*)", "Bash(set:*)", "Bash(tail:*)")
TEST = "set -o pipefail; python -m pytest -q | tail -n 2"

FILES = {
    "shop/__init__.py": '"""A small shop."""\n',
    "shop/cart.py": '''"""What is in a cart, and what it costs."""

from dataclasses import dataclass, field


@dataclass
class Cart:
    """Prices are in cents, the discount in percent."""

    prices: list[int] = field(default_factory=list)
    discount: int = 0

    def total(self) -> int:
        """The sum, less the discount."""
        full = sum(self.prices)
        return full - full * self.discount // 100
''',
    "shop/coupons.py": '''"""Coupons add up: three of 40 % are a discount of 120 %."""

from shop.cart import Cart


def redeem(cart: Cart, *percents: int) -> None:
    """Give the cart these discounts as well."""
    cart.discount += sum(percents)
''',
    "shop/checkout.py": '''"""Where the money is asked for."""

from shop.cart import Cart


def charge(cart: Cart) -> int:
    """Ask for what the cart costs; nobody is ever charged less than nothing."""
    cents = cart.total()
    if cents < 0:
        raise ValueError(f"cannot charge {cents}")
    return cents
''',
    "tests/test_cart.py": """from shop.cart import Cart
from shop.checkout import charge
from shop.coupons import redeem


def test_a_cart_costs_the_sum_of_its_prices() -> None:
    assert Cart([250, 750]).total() == 1000


def test_a_discount_is_taken_off() -> None:
    assert Cart([1000], discount=15).total() == 850


def test_three_coupons() -> None:
    cart = Cart([1000])
    redeem(cart, 40, 40, 40)
    assert charge(cart) == 0
""",
}

EDIT = {
    "file_path": "{project}/shop/cart.py",
    "old_string": """        full = sum(self.prices)
        return full - full * self.discount // 100""",
    "new_string": """        full = sum(self.prices)
        discount = min(self.discount, 100)
        return full - full * discount // 100""",
}
REPORT = """Two places depend on the total:

- shop/checkout.py:8 `charge` raises ValueError if the total is below zero.
- shop/coupons.py:8 `redeem` adds discounts up without a limit.

Nothing reads `discount` itself, so it may stay above 100."""
ANSWER = """The test passes now, and so do the others.

**Cause:** coupons add up (`shop/coupons.py`), so three of 40 % are a discount of 120 %. \
`Cart.total` then went below zero, and `charge` refused it.

**Change:** `Cart.total` counts at most 100 % (`shop/cart.py`, +2 −1). No caller needed a change.

I was not permitted to push, so the commit is yours: `git push origin main`."""

MAIN: list[Json] = [
    {
        "text": "I'll run the tests first, to see what fails.",
        "tools": [("Bash", {"command": TEST, "description": "Run the tests"})],
    },
    {
        "thinking": "The total is -200, so charge raises. Coupons add up to 120 percent. I want to "
        "see how the total is made before I decide where the limit belongs.",
        "text": "Three coupons of 40 % make the total negative. Let me read how it is computed.",
        "tools": [
            ("Read", {"file_path": "{project}/shop/cart.py"}),
            ("Bash", {"command": "grep -rn 'discount' shop", "description": "Find the discount"}),
        ],
    },
    {
        "tools": [
            ("TaskCreate", {"subject": "Find who depends on the total", "description": "Callers"}),
            ("TaskCreate", {"subject": "Limit the discount", "description": "At most 100 %"}),
            ("TaskCreate", {"subject": "Run all tests", "description": "Nothing else breaks"}),
        ]
    },
    {
        "text": "Before I change it I want to know who depends on the total.",
        "tools": [
            (
                "Agent",
                {
                    "description": "Find callers of Cart.total",
                    "prompt": "Find all code that depends on Cart.total or on Cart.discount, and "
                    "say whether a limit of 100 % would break it.",
                    "subagent_type": "Explore",
                    "run_in_background": False,
                },
            ),
        ],
    },
    {
        "text": "Only the total itself has to change: it must not count more than 100 %.",
        "tools": [
            ("TaskUpdate", {"taskId": "1", "status": "completed"}),
            ("TaskUpdate", {"taskId": "2", "status": "in_progress"}),
            ("Edit", EDIT),
        ],
    },
    {
        "tools": [
            ("TaskUpdate", {"taskId": "2", "status": "completed"}),
            ("Bash", {"command": TEST, "description": "Run the tests"}),
        ],
    },
    {
        "text": "All tests pass. Now I push.",
        "tools": [
            ("TaskUpdate", {"taskId": "3", "status": "completed"}),
            ("Bash", {"command": "git push origin main", "description": "Push the change"}),
        ],
    },
    {"text": ANSWER},
]
SUBAGENT: list[Json] = [
    {
        "tools": [
            ("Bash", {"command": "grep -rn 'total()' shop tests", "description": "Find callers"})
        ]
    },
    {
        "tools": [
            ("Read", {"file_path": "{project}/shop/checkout.py"}),
            ("Read", {"file_path": "{project}/shop/coupons.py"}),
        ]
    },
    {"text": REPORT},
]
RETRIED = 5  # before this message of the main thread the API is overloaded once
PRICES = {
    "input_tokens": 20,
    "output_tokens": 100,
    "cache_read_input_tokens": 2,
    "cache_creation_input_tokens": 25,
}
"""The list price of the model, in units of 0.15 micro-dollars a token."""


def usages(replies: list[Json], first: int) -> Iterator[dict[str, int]]:
    """Tokens of a conversation whose every call reads what the one before has written."""
    read, written = 0, first
    for reply in replies:
        output = len(json.dumps(reply)) // 5
        yield {
            "input_tokens": 4,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "output_tokens": output,
        }
        read, written = read + written, output + 110


def cost(usage: dict[str, int]) -> int:
    """What a message costs, in units of 0.15 micro-dollars."""
    return sum(count * PRICES[name] for name, count in usage.items())


def planned(project: Path) -> tuple[list[Reply], list[Reply]]:
    """What the main thread and the subagent say; together it costs what it should."""
    subagent = list(usages(SUBAGENT, 800))
    # The program shows no line of a subagent's last message, so what it used could not be added up.
    subagent[-1] = dict.fromkeys(PRICES, 0)
    for first in range(5000, 0, -1):
        main = list(usages(MAIN, first))
        missing = round(COST_USD / 0.15e-6) - sum(map(cost, [*main, *subagent]))
        if missing >= 0 and missing % PRICES["input_tokens"] == 0:
            main[0]["input_tokens"] += missing // PRICES["input_tokens"]
            break
    text = json.dumps([MAIN, SUBAGENT]).replace("{project}", str(project))
    said = json.loads(text)
    return (
        [Reply(**reply, usage=used, piece=14) for reply, used in zip(said[0], main, strict=True)],
        [
            Reply(**reply, usage=used, first_output_tokens=used["output_tokens"])
            for reply, used in zip(said[1], subagent, strict=True)
        ],
    )


def scripted(project: Path) -> Callable[[Json], Answer]:
    """The model: what it says next follows from what was said before."""
    main, subagent = planned(project)
    overloaded = [Failure(529, headers={"retry-after": "3"})]

    def answer(request: Json) -> Answer:
        messages = request["messages"]
        step = sum(1 for message in messages if message["role"] == "assistant")
        if PROMPT not in json.dumps(messages[0]):
            return subagent[step]
        return overloaded.pop() if step == RETRIED and overloaded else main[step]

    return answer


SYSTEM_PAUSES = {"init": 0.4, "api_retry": 0.8, "task_notification": 1.4}


def pause(message: Json, before: Json) -> float:
    """How long a line lets wait for itself, in a lively session."""
    if before.get("subtype") == "api_retry":
        return float(before["retry_delay_ms"]) / 1000
    if before.get("subtype") == "task_notification":
        return 0.1
    event = message.get("event", {}).get("type")
    if event is not None:
        return {"message_start": 1.1, "content_block_delta": 0.055}.get(event, 0.02)
    if message["type"] == "system":
        command = message.get("task_type") == "local_bash"  # one that takes longer becomes a task
        return 3.0 if command else SYSTEM_PAUSES.get(message["subtype"], 0.02)
    if message.get("parent_tool_use_id"):
        return 1.2 if message["type"] == "assistant" else 0.3
    if message["type"] == "user":
        return 2.4 if "passed" in json.dumps(message) else 0.35
    return 0.02


def set_times(messages: list[Json], pauses: list[float]) -> None:
    """Make the times that the lines tell fit the pace they are played at."""
    at = datetime(2026, 11, 15, 18, 8, 13, tzinfo=UTC)
    for message, seconds in zip(messages, pauses, strict=True):
        at += timedelta(seconds=seconds)
        if "timestamp" in message:
            message["timestamp"] = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if "end_time" in message.get("patch", {}):
            message["patch"]["end_time"] = int(at.timestamp() * 1000)
        if message["type"] == "result":
            message["duration_ms"] = int(sum(pauses) * 1000)
            message["duration_api_ms"] = int(sum(pauses) * 700)
            message["ttft_ms"] = message["ttft_stream_ms"] = 1120
            message["first_content_frame_ms"] = 1121
            message["time_to_request_ms"] = 20


def add_up(messages: list[Json]) -> None:
    """Tell of the subagent's work what its lines show, and the cost without rounding errors."""
    used = tools = 0
    for message in messages:
        if message["type"] == "assistant" and message["parent_tool_use_id"]:
            counts = message["message"]["usage"]
            used = max(used, sum(v for k, v in counts.items() if k in PRICES))
            tools += 1
        told = message.get("usage", {})
        if "total_tokens" in told:
            told["total_tokens"] = used or 1000
            told["duration_ms"] = 1800 * (told["tool_uses"] or 1)
        result = message.get("tool_use_result")
        if isinstance(result, dict) and "totalTokens" in result:
            result["totalTokens"], result["totalDurationMs"] = used, 6200
        if message["type"] == "result":
            message["total_cost_usd"] = COST_USD
            for models in ("modelUsage", "model_usage_since_last_result"):
                message[models][MODEL]["costUSD"] = COST_USD


def main(claude: str) -> None:
    """Write the demo and its pace."""
    flags = ("--include-partial-messages", "--permission-mode", "acceptEdits", "--allowedTools")
    with folders(FILES) as (project, home):
        words = (*flags, *ALLOWED, "--", PROMPT)
        messages = record(claude, scripted(project), *words, project=project, home=home)
    pauses = [pause(m, b) for m, b in zip(messages, [{}, *messages], strict=False)]
    pauses = [round(seconds * SECONDS / sum(pauses), 3) for seconds in pauses]
    set_times(messages, pauses)
    add_up(messages)
    write(DEMO, messages)
    DEMO.with_suffix(".delays").write_text("".join(f"{seconds}\n" for seconds in pauses))


if __name__ == "__main__":
    main(sys.argv[1])
