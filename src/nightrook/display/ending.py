"""The end of a run in a few lines: its outcome, its results and the next steps."""

import shlex
from collections.abc import Iterator
from typing import Literal, NamedTuple, assert_never

import msgspec

from nightrook.display import cells, event_lines, numbers
from nightrook.display.console import Paint, style_of
from nightrook.model.durations import duration
from nightrook.model.ending import Ending
from nightrook.model.ledger import Money
from nightrook.model.permissions import PERMIT_ALL
from nightrook.model.safe import safe_line
from nightrook.model.sentences import process_end
from nightrook.model.state import RunState
from nightrook.model.status import Outcome
from nightrook.model.text import count, suggested
from nightrook.model.verdict import Verdict

_MOST_RULES = 3
_MOST_NAMES = 5  # of processes
_WIDEST = 80  # of steps on one line
_LONGEST_RULE = 120  # longer ones are not worth typing


Shown = Literal["nothing", "lines", "everything"]
"""The part of a run above its last lines, as `rook show` or `rook show --full` shows it."""


class AboutRun(msgspec.Struct, frozen=True, kw_only=True):
    """Facts in the last lines of a run besides its verdict and its state."""

    run: str | None
    """Name of the run; None if it is not saved."""

    shown: Shown = "nothing"
    """Part of the run shown above these lines: that is not advised again."""

    resets_in_s: float | None = None
    """The time until the provider's limit resets."""

    resumable: bool = False
    install: str | None = None
    """The command that installs the agent."""

    login: str | None = None
    """The command that logs in, if the run lacked a login."""

    own_agent: str | None = None
    """Name of the agent in the user's settings, if they define it."""

    other_agent: str | None = None
    """An agent that could do the work instead."""

    worktree: str | None = None
    """The git worktree that was made for it."""

    branch: str = ""
    """The branch of that worktree."""


class Step(NamedTuple):
    """A next step after a run: its purpose, if that needs words, and a command."""

    label: str
    command: str

    @property
    def line(self) -> str:
        """The label and the command on one line."""
        return self.label + self.command


def summary(ending: Ending[Outcome], about: AboutRun, state: RunState, paint: Paint) -> list[str]:
    """The lines that end a run, each safe to print."""
    status, facts = ending.status, list(_facts(ending, about, state))
    lines = [f"WARNING: {safe_line(warning)}" for warning in warnings(ending)]
    lines.append(_headline(ending, about, facts, paint))
    if status != "success" and (state.heard or status != "not_started"):
        lines.append(" · ".join(facts))
    if kinds := _kinds(state):
        lines.append(f"tools: {kinds}")
    lines += _laid_out([step.line for step in next_steps(ending, about, state)])
    lines += _worktree(about)
    prefix = paint("prefix", "[rook]")
    return [f"{prefix} {line}" for line in lines if line]


def warnings(ending: Ending[Outcome]) -> list[str]:
    """Facts about the end that the status doesn't say, each in one sentence."""
    found, facts = [], ending.facts
    if facts.has_whole_result and facts.person.stopped_for in ("interrupted", "timed_out"):
        stopped = Verdict.of(facts.person.stopped_for, facts).sentence
        end = process_end(facts)
        how = f"; the agent {end}" if end else ""
        found.append(f"{stopped} after the agent had finished{how}")
    elif ending.status == "success" and facts.person.passed_limit is not None:
        found.append(f"over budget: {ending.sentence}")
    if facts.is_code_doubtful and ending.status != "incomplete":  # guards: exit-code-warned
        found.append(f"the agent {process_end(facts)} after its good result")
    found += losses(ending)
    if facts.process.left_behind:
        found.append(_which_left_behind(facts.process.left_behind))
    return found


def losses(ending: Ending[Outcome]) -> list[str]:
    """The lost parts of a run, each in one sentence."""
    found, facts = [], ending.facts
    if facts.recorder.recorder_stopped:
        found.append("something stopped the recorder (SIGSTOP), and rook continued it")
    if facts.recorder.lost_bytes is None:
        found.append("the recorder died: output that it had not saved yet is lost")
    elif facts.recorder.lost_bytes and facts.recorder.log_limit is not None:
        found.append(
            f"the record ends after {numbers.size(facts.recorder.log_limit)} (max_log_size): "
            f"{numbers.size(facts.recorder.lost_bytes)} of output were not recorded"
        )
    elif facts.recorder.lost_bytes:
        found.append(f"the disk was full: {facts.recorder.lost_bytes} bytes of output were lost")
    if facts.recorder.unsaved:
        found.append(f"the verdict could not be saved: {facts.recorder.unsaved}")
    return found


def _which_left_behind(names: tuple[str, ...]) -> str:
    shown = list(dict.fromkeys(names))
    more = f" and {len(shown) - _MOST_NAMES} more" if len(shown) > _MOST_NAMES else ""
    which = ", ".join(shown[:_MOST_NAMES])
    number = "1 process" if len(names) == 1 else f"{len(names)} processes"
    return f"ended {number} that the agent left running: {which}{more}"


def _headline(ending: Ending[Outcome], about: AboutRun, facts: list[str], paint: Paint) -> str:
    style, status = style_of(ending.status), ending.status.replace("_", " ")
    if ending.status == "success":
        return " · ".join([paint(style, status), *facts])
    if ending.status == "interrupted":
        return paint(style, safe_line(ending.sentence))
    left = about.resets_in_s
    wait = f" (in {duration(left)})" if left is not None and left > 0 else ""
    return f"{paint(style, status)}: {safe_line(ending.sentence)}{wait}"


def _facts(ending: Ending[Outcome], about: AboutRun, state: RunState) -> Iterator[str]:
    if ending.duration_s is not None:
        yield duration(ending.duration_s)
    if state.steps:
        yield count(state.steps, "turn")
    if state.tools_finished:
        yield count(state.tools_finished, "tool") + _bad(state)
    if state.files:
        lines = numbers.changed_in_all(
            [(file.added, file.removed) for file in state.files.values()]
        )
        yield f"{count(len(state.files), 'file')} {lines}".rstrip()
    ledger = state.ledger
    if ledger.has_usage and ledger.cost.usd is None:
        mark = "~" if ledger.estimates_tokens else ""
        yield f"{mark}{numbers.tokens(ledger.tokens.total)} tokens"  # the cost is not known
    if ledger.has_usage or ledger.native_usd is not None:
        yield _cost(state)


def _bad(state: RunState) -> str:
    parts = [
        f"{number} {word}"
        for number, word in ((state.failed_tools, "failed"), (state.denied_tools, "denied"))
        if number
    ]
    return f" ({', '.join(parts)})" if parts else ""


def _cost(state: RunState) -> str:
    cost, spent = state.ledger.cost, state.ledger.spent_usd
    total = numbers.price(cost)
    share = numbers.price(Money(spent, cost.source, cost.at_least))
    return total if spent is None or share == total else f"{total} ({share} of it in this run)"


def _kinds(state: RunState) -> str:
    """The tools by kind, the most used first; nothing if there is only one kind."""
    if len(state.tool_kinds) < 2:
        return ""
    return " · ".join(f"{number} {kind}" for kind, number in state.tool_kinds.most_common())


def next_steps(ending: Ending[Outcome], about: AboutRun, state: RunState) -> list[Step]:
    """The next steps, the most useful first."""
    return [step for step in _next_steps(ending, about, state) if step is not None]


def _next_steps(ending: Ending[Outcome], about: AboutRun, state: RunState) -> Iterator[Step | None]:
    if ending.facts.process.missing_program is not None and (about.own_agent or about.install):
        for line in how_to_install(about.own_agent, about.install):
            label, gap, command = line.rpartition(":  ")
            yield Step(label + gap, command)
        return
    if about.run is None:
        return
    show, resume = _show(about), _resume(about)
    yield _labelled("to log in:  ", about.login or "")
    status = ending.status
    match status:
        case "success":
            yield _labelled("", show)
            yield _labelled("", resume)
        case "denied" | "stuck":
            rules = _rules(ending, state)
            yield _labelled("allow it: " if rules else "continue: ", _resume(about, *rules))
            yield _labelled("details: ", show)
        case "limited":
            when = "after adding credit" if state.needs_payment else "after the reset"
            yield _labelled(f"continue {when}: ", resume)
            other = (
                f'{suggested("run", "--agent", about.other_agent)} "…"' if about.other_agent else ""
            )
            yield _labelled("or use another agent now: ", other) or _labelled("details: ", show)
        case "over_budget" | "timed_out":
            yield _labelled("continue with a higher limit: ", _resume(about, *_flag(ending)))
            yield _labelled("details: ", show)
        case "not_started":
            yield _labelled("details: ", show)
        case "failed":
            yield _labelled("details: ", _show(about, "--full"))
            yield _labelled("try again: ", resume)
        case "incomplete" | "interrupted":
            yield _labelled(f"{_how_much_is_saved(ending)}: ", show)
            yield _labelled("continue: ", resume)
        case "lost":
            yield _labelled("what arrived of it: ", show)
            yield _labelled("has its worker come back? ", suggested("attach", about.run or ""))
        case _:
            assert_never(status)


def _worktree(about: AboutRun) -> Iterator[str]:
    """The folder of the work, and how to keep it or to remove it."""
    if about.worktree is None:
        return
    path, branch = shlex.quote(safe_line(about.worktree)), shlex.quote(about.branch)
    yield f"worktree: {path} · branch {branch}"
    yield f"keep its work: commit it there, then  git merge {branch}"
    yield f"remove it:  git worktree remove {path} && git branch -d {branch}"


def _how_much_is_saved(ending: Ending[Outcome]) -> str:
    match ending.facts.recorder.lost_bytes:
        case 0:
            return "saved output"
        case None:
            return "saved output, maybe not all of it"
        case _:
            return "saved output, not all of it"


def how_to_install(own_agent: str | None, install: str | None) -> Iterator[str]:
    """The steps for a missing program of an agent: the user's own, or a known one."""
    if own_agent is not None:
        yield f"correct its command: [agents.{safe_line(own_agent)}] in rook.toml"
    elif install is not None:
        yield f"install it:  {install}"
        yield "or try rook without it:  rook demo"


def _flag(ending: Ending[Outcome]) -> tuple[str, ...]:
    """The option that sets the limit that was passed; none if the verdict does not name it."""
    passed = ending.facts.person.passed_limit
    if passed is None:
        return ()
    if passed.is_unknown:
        return ("--max-cost … --max-cost-unchecked",)
    return ("--timeout …",) if passed.kind == "time" else (f"--max-{passed.kind} …",)


def _laid_out(steps: list[str]) -> list[str]:
    """Steps on one line if there is room for all, else each on its own."""
    line = " · ".join(steps)
    return [line] if cells.width(line) <= _WIDEST else steps


def _labelled(label: str, command: str) -> Step | None:
    return Step(label, command) if command else None


def _show(about: AboutRun, *flags: str) -> str:
    """The command that shows more of the run than is shown already."""
    is_shown = about.shown == "everything" or (about.shown == "lines" and not flags)
    return "" if is_shown or about.run is None else suggested("show", about.run, *flags)


def _resume(about: AboutRun, *flags: str) -> str:
    if not about.resumable or about.run is None:
        return ""
    return " ".join([suggested("run", "--resume", about.run), *flags, '"…"'])


def _rules(ending: Ending[Outcome], state: RunState) -> list[str]:
    """The flags that would allow what was denied, or asked and never answered."""
    asked = [state.asked.fix] if state.asked else []
    asked.append(ending.facts.stream.refusal_fix)
    by_person = ending.facts.person.denied_by_person
    # guards: denied-by-person-at-end
    fixes = [denial.fix for id, denial in state.denials.items() if id not in by_person] + asked
    rules = dict.fromkeys(fix for fix in fixes if fix and len(fix) <= _LONGEST_RULE)
    if PERMIT_ALL in rules:
        return [PERMIT_ALL]  # needs nothing beside it
    typeable = [rule for rule in rules if safe_line(rule) == rule][:_MOST_RULES]
    return [event_lines.allowing_option(fix) for fix in typeable]
