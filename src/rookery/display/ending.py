"""The end of a run in a few lines: how it ended, what it did, and what to do next."""

import shlex
from collections import Counter
from collections.abc import Iterator

import msgspec

from rookery.adapter.agent import PERMIT_ALL
from rookery.display import numbers, words
from rookery.display.console import cells
from rookery.display.console.paint import Paint
from rookery.model.ledger import Money
from rookery.model.safe import safe_line
from rookery.model.state import RunState
from rookery.model.text import count, duration
from rookery.model.verdict import Outcome

_MOST_RULES = 3
_WIDEST = 80  # of steps that stand on one line
_LONGEST_RULE = 120  # nobody types a longer one


class End(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a run's end beside its state."""

    run: str | None
    """What it is called; None if it is not kept."""

    status: Outcome
    sentence: str
    seconds: float | None = None
    resets_in_s: float | None = None
    """How long until the provider's limit that was reached ends."""

    resumable: bool = False
    install: str | None = None
    """The command that installs the agent, if it is missing."""

    missing: str | None = None
    """The agent of the user's own whose command is missing."""

    lost: bool = False
    """Whether a full disk took some of what it wrote."""

    other_agent: str | None = None
    """An agent that could go on now in its stead."""


def summary(ended: End, state: RunState, paint: Paint) -> list[str]:
    """The lines that end a run, each safe to print."""
    status = paint("good" if ended.status == "success" else "bad", ended.status.replace("_", " "))
    facts = list(_facts(ended, state))
    lines = [" · ".join([status, *(facts if ended.status == "success" else (_why(ended),))])]
    if ended.status != "success" and (state.heard or ended.status != "not_started"):
        lines.append(" · ".join(facts))
    if kinds := _kinds(state):
        lines.append(f"tools: {kinds}")
    lines += _laid_out([step for step in _next(ended, state) if step])
    prefix = paint("prefix", "[rook]")
    return [f"{prefix} {line}" for line in lines if line]


def _why(ended: End) -> str:
    left = ended.resets_in_s
    wait = f" (in {duration(left)})" if left is not None and left > 0 else ""
    return safe_line(ended.sentence) + wait


def _facts(ended: End, state: RunState) -> Iterator[str]:
    if ended.seconds is not None:
        yield duration(ended.seconds)
    if state.steps:
        yield count(state.steps, "turn")
    if state.finished_tools:
        yield count(len(state.finished_tools), "tool") + _bad(state)
    if state.files:
        yield f"{count(len(state.files), 'file')} {_lines(state)}".rstrip()
    ledger = state.ledger
    if ledger.has_usage and ledger.cost.usd is None:
        yield f"{numbers.tokens(ledger.tokens.total)} tokens"  # all that is known of what it cost
    if ledger.has_usage or ledger.native_usd is not None:
        yield _cost(state)


def _bad(state: RunState) -> str:
    parts = [
        f"{number} {word}"
        for number, word in ((state.failed_tools, "failed"), (state.denied_tools, "denied"))
        if number
    ]
    return f" ({', '.join(parts)})" if parts else ""


def _lines(state: RunState) -> str:
    """How many lines came and went; nothing if a change did not tell."""
    added = [file.added for file in state.files.values()]
    removed = [file.removed for file in state.files.values()]
    if None in added or None in removed:
        return ""
    return numbers.changed_lines(sum(n or 0 for n in added), sum(n or 0 for n in removed))


def _cost(state: RunState) -> str:
    cost, spent = state.ledger.cost, state.ledger.spent_usd
    total = numbers.price(cost)
    share = numbers.price(Money(spent, cost.source))
    return total if spent is None or share == total else f"{total} ({share} of it in this run)"


def _kinds(state: RunState) -> str:
    """The tools by kind, the most used first; nothing if there is only one kind."""
    kinds = Counter(tool.kind or "other" for tool in state.finished_tools)
    if len(kinds) < 2:
        return ""
    return " · ".join(f"{number} {kind}" for kind, number in kinds.most_common())


def _next(ended: End, state: RunState) -> Iterator[str]:
    """What to do next, by how it ended; the most useful first."""
    if ended.run is None and ended.install is None and ended.missing is None:
        return
    show, resume = f"rook show {ended.run}", _resume(ended)
    match ended.status:
        case "success":
            yield from (show, resume)
        case "denied" | "stuck":
            rules = _rules(state)
            yield _said("allow it: " if rules else "go on with: ", _resume(ended, *rules))
            yield f"see where: {show}"
        case "limited":
            yield _said("go on then with: ", resume)
            other = f'rook run --agent {ended.other_agent} "…"' if ended.other_agent else ""
            yield _said("or now with: ", other) or f"what it did: {show}"
        case "over_budget" | "timed_out":
            yield _said("go on with more: ", _resume(ended, _limit(ended)))
            yield f"what it did: {show}"
        case "not_started":
            if ended.missing is not None:
                yield f"mend its command: [agents.{safe_line(ended.missing)}] in rookery.toml"
                return
            yield _said("install it:  ", ended.install or "")
            yield "or see it work without:  rook demo" if ended.install else f"what it said: {show}"
        case "failed" | "unverified":
            yield f"see why: {show} --full"
            yield _said("try again: ", resume)
        case "incomplete" | "interrupted":
            kept = "what was kept of it" if ended.lost else "everything it wrote is kept"
            yield f"{kept}: {show}"
            yield _said("go on with: ", resume)


def _limit(ended: End) -> str:
    """The flag of the limit that was reached, by the words that tell of it."""
    if ended.status == "timed_out":
        return "--timeout …"
    told = ended.sentence.lower()
    return next((f"--max-{name} …" for name in ("turns", "tokens") if name in told), "--max-cost …")


def _laid_out(steps: list[str]) -> list[str]:
    """Steps on one line if there is room for all, else each on its own."""
    line = " · ".join(steps)
    return [line] if cells.width(line) <= _WIDEST else steps


def _said(words: str, command: str) -> str:
    return words + command if command else ""


def _resume(ended: End, *flags: str) -> str:
    if not ended.resumable or ended.run is None:
        return ""
    return " ".join(["rook run", "--resume", ended.run, *flags, '"…"'])


def _rules(state: RunState) -> list[str]:
    """The flags that would let pass what was denied, or asked and never answered."""
    asked = [state.asked.fix] if state.asked else []
    fixes = [denial.fix for denial in state.denials.values()] + asked
    rules = dict.fromkeys(fix for fix in fixes if fix and len(fix) <= _LONGEST_RULE)
    if PERMIT_ALL in rules:
        return [PERMIT_ALL]  # needs nothing beside it
    typeable = [rule for rule in rules if safe_line(rule) == rule][:_MOST_RULES]
    return [fix if words.is_permission(fix) else f"--allow {shlex.quote(fix)}" for fix in typeable]
