"""Where a run's money went, as `rook show` shows it."""

from nightrook.display.spending import spending_lines
from nightrook.model.bookkeeping import OpenLedger
from nightrook.model.events import TurnFinished, UsageReported
from nightrook.model.price import Price, Rates

PRICE = Price(Rates(input=1_000_000, output=10_000_000, cache_read=100_000))


def prices(model: str, at: float | None) -> Price | None:
    return PRICE if model.startswith("known") else None


def used(
    id: str,
    *,
    model: str = "known",
    output: int = 1000,
    cache_read: int = 0,
    parent: str | None = None,
    cost: float | None = None,
) -> UsageReported:
    return UsageReported(
        message_id=id,
        model=model,
        scope="message",
        semantics="final",
        output=output,
        cache_read=cache_read,
        parent=parent,
        cost_usd=cost,
    )


def lines(ledger: OpenLedger, verbose: bool = False, **titles: str) -> list[str]:
    return list(spending_lines(ledger, titles, verbose=verbose))


def test_a_cost_of_one_part_needs_no_line() -> None:
    ledger = OpenLedger(prices)
    ledger.report(used("1"))
    ledger.report(used("2"))
    assert lines(ledger) == lines(OpenLedger(prices)) == []


def test_models_are_shown_the_dearest_first() -> None:
    ledger = OpenLedger(prices)
    ledger.report(used("1", model="known-small"))
    ledger.report(used("2", model="known-large", output=3000))
    ledger.report(used("3", model="strange"))
    assert lines(ledger) == [
        "models: known-large ~$0.0300 · known-small ~$0.0100 · strange 1.0k tokens"
    ]


def test_subagents_are_shown_by_their_titles_even_if_two_have_the_same() -> None:
    ledger = OpenLedger(prices)
    ledger.report(used("1"))
    ledger.report(used("2", parent="a"))
    ledger.report(used("3", parent="b", cost=0.5))
    assert lines(ledger, a="Look", b="Look\x1b") == ["2 subagents: Look␛ $0.5000 · Look ~$0.0100"]


def test_of_many_parts_the_dearest_are_shown() -> None:
    ledger = OpenLedger(prices)
    for n in range(9):
        ledger.report(used(f"{n}", parent=f"{n}", output=1000 * (n + 1)))
    (line,) = lines(ledger)
    assert line.startswith("9 subagents: subagent ~$0.0900 · ")
    assert line.endswith(" · 3 more")


def test_turns_show_the_agent_s_own_figure_or_an_estimate() -> None:
    ledger = OpenLedger(prices)
    ledger.report(used("1"), turn=0)
    ledger.settle(TurnFinished(ok=True, cost_usd=0.02, cost_semantics="cumulative"), turn=0)
    ledger.report(used("2"), turn=1)
    assert lines(ledger) == ["turns: $0.0200 · ~$0.0100"]


def test_who_asks_sees_the_cache_and_what_no_message_shows() -> None:
    ledger = OpenLedger(prices)
    ledger.report(used("1", cache_read=100_000))
    assert lines(ledger, verbose=True) == ["cache: saved ~$0.0900"]
    ledger.settle(TurnFinished(ok=True, cost_usd=0.03, cost_semantics="cumulative"))
    unseen = (
        "messages: ~$0.0200 of the agent's $0.0300; ~$0.0100 went to calls that no message shows"
    )
    assert lines(ledger, verbose=True) == ["cache: saved ~$0.0900", unseen]
    ledger = OpenLedger(prices)
    ledger.report(used("1", output=4000))
    ledger.settle(TurnFinished(ok=True, cost_usd=0.03, cost_semantics="cumulative"))
    assert lines(ledger, verbose=True) == [
        "messages: ~$0.0400 of the agent's $0.0300; ~$0.0100 is not in its total"
    ]
