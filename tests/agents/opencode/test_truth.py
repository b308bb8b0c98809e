"""What we make of OpenCode's recorded streams, against its own words and figures."""

import json
from pathlib import Path

import nightrook
from nightrook.model.answer import final_text
from nightrook.model.ledger import Money
from nightrook.model.price import dollars, nano
from nightrook.model.timeline import Timeline
from tests.recorded import cases, folded, full_name_of, messages, recordings
from tests.rules import each

STREAMS = [path for path in [*cases("opencode"), *recordings("opencode")] if any(messages(path))]
KNOWN = [path for path in STREAMS if path.parent.name != "noise-and-news"]


@each("stream", KNOWN, ids=full_name_of)
def test_tokens_and_cost_are_the_sum_of_its_steps(stream: Path) -> None:
    steps = [m["part"] for m in messages(stream) if m["type"] == "step_finish"]
    tokens = [step["tokens"] for step in steps]
    ledger = folded(stream).ledger
    assert ledger.tokens.total == sum(told.get("total", 0) for told in tokens)
    assert ledger.tokens.input == sum(told["input"] for told in tokens)
    assert ledger.tokens.output == sum(told["output"] + told["reasoning"] for told in tokens)
    assert ledger.tokens.cache_read == sum(told["cache"]["read"] for told in tokens)
    assert ledger.tokens.cache_write == sum(told["cache"]["write"] for told in tokens)
    known = bool(steps) and all(step["cost"] for step in steps if "total" in step["tokens"])
    whole = dollars(sum(nano(step["cost"]) for step in steps))
    hidden = "task_subagent" in str(stream)  # no message reports what its subagent used
    assert ledger.cost == (Money(whole, "native", hidden) if known else Money(None, "unknown"))


@each("stream", KNOWN, ids=full_name_of)
def test_the_answer_is_the_text_of_the_last_step(stream: Path) -> None:
    said: list[str] = []
    stopped = None
    for message in messages(stream):
        if message["type"] == "step_start":
            said, stopped = [], None
        elif message["type"] == "text" and not message["part"].get("synthetic"):
            said.append(message["part"]["text"])
        elif message["type"] == "step_finish":
            stopped = message["part"]["reason"]
        elif message["type"] == "error":
            stopped = "error"
    state = folded(stream)
    if stopped == "stop":
        assert final_text(state) == "\n".join(said)
    else:
        assert not any(result.ok for result in state.results)


@each("stream", KNOWN, ids=full_name_of)
def test_every_call_is_reported_once_with_its_input(stream: Path) -> None:
    calls = [m["part"] for m in messages(stream) if m["type"] == "tool_use"]
    state = folded(stream)
    line = Timeline()
    line.take(nightrook.decode(stream))
    listed = [item.key for item in line.items if item.kind in ("tool", "subagent")]
    assert listed == [call["id"] for call in calls]
    assert (state.tools_finished, state.open_tools) == (len(calls), {})


def test_recorded_streams_are_not_empty() -> None:
    assert len(STREAMS) >= 40
    assert sum(len(json.dumps(message)) for path in STREAMS for message in messages(path)) > 100_000
