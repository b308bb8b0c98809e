"""The sentences that report how a run ended, each of which names what a person can act on."""

from collections.abc import Iterable
from typing import assert_never

from nightrook.model.durations import duration
from nightrook.model.facts import PARTIAL_ANSWERS, Facts
from nightrook.model.provider_limits import used_up
from nightrook.model.status import Outcome
from nightrook.model.text import count, first_line, signal_name, were

_LONGEST = 300  # of an agent's own words
_INTERRUPTIONS: dict[str | None, str] = {
    "SIGINT": "interrupted by Ctrl-C",
    "SIGTERM": "interrupted by SIGTERM",
    "SIGHUP": "interrupted: the terminal was closed",
    "rook stop": "interrupted by rook stop",
    "lost contact": "interrupted: its worker lost contact with the fleet",
    "budget of its batch": "interrupted: the budget of its batch is used up",
}


def sentence(status: Outcome, facts: Facts) -> str:
    """Report a status in one sentence."""
    match status:
        case "success":
            passed = facts.person.passed_limit
            over = passed is not None and passed.by == "rook"
            return f"done, but {_passed_limit(facts)}" if over else "done"
        case "not_started":
            return _why_not_started(facts)
        case "interrupted":
            return _who_interrupted(facts) + _point(facts)
        case "timed_out" | "over_budget":
            return _passed_limit(facts)
        case "limited":
            stream = facts.stream
            return stream.quota_message or used_up(stream.window, stream.resets_at)
        case "stuck":
            return _why_stuck(facts)
        case "lost":
            return f"{facts.recorder.lost_worker} was not heard of any more{_place(facts)}"
        case "incomplete":
            return _why_incomplete(facts)
        case "failed":
            return _why_failed(facts)
        case "denied":
            return facts.stream.message or _denied_calls(facts)
        case _:
            assert_never(status)


def interrupted_by(what: str | None) -> str:
    """Name the interruption of a run or a loop: a signal that rook got by name, or `rook stop`."""
    return _INTERRUPTIONS.get(what, "interrupted by the program that started it")


def process_end(facts: Facts) -> str | None:
    """Describe the end of the process; None if it is unknown."""
    code, signal = facts.process.agent_exit_code, facts.process.signal
    if signal is not None:
        return f"was killed by {signal_name(signal)}"
    return None if code is None else f"exited with code {code}"


def first_line_of(texts: Iterable[str | None]) -> str | None:
    """Return the first line of the first text that is not blank, cut to a sentence's length."""
    lines = (first_line(text, _LONGEST) for text in texts if text)
    return next(filter(None, lines), None)


def _why_not_started(facts: Facts) -> str:
    process, stream = facts.process, facts.stream
    agent = process.agent or "the agent"
    if stream.reason == "not_started":
        return stream.message or f"{agent} could not start to work"
    if process.missing_program is not None:
        return f"program {process.missing_program!r} was not found"
    if not process.started and facts.person.stopped_for == "interrupted" and not process.complaint:
        return f"{_who_interrupted(facts)} before {agent} was started"
    if not process.started:
        return process.complaint or f"{agent} could not be started"
    if stream.text_only:
        end = f", and {process_end(facts)}" if process_end(facts) else ""
        text = f": {stream.plain_text}" if stream.plain_text else ""
        return f"{agent} wrote text, but no messages{end}{text}"
    return f"{agent} {process_end(facts) or 'ended'} before its first message"


def _who_interrupted(facts: Facts) -> str:
    if facts.person.stopped_for != "interrupted":
        return f"interrupted, as {facts.process.agent or 'the agent'} reports"
    return interrupted_by(facts.person.stopped_by)


def _point(facts: Facts) -> str:
    stream = facts.stream
    if facts.has_whole_result:
        return ""
    if stream.open_tool is not None or not stream.has_stream:
        return _place(facts)
    if stream.asked is not None and not stream.finished:
        return f", while it asked whether it may use {stream.asked}"
    if not stream.heard:
        return f", before {facts.process.agent or 'the agent'}'s first message"
    if stream.cut_tasks:
        return f", with {count(stream.cut_tasks, 'background task')} running"
    at_work = not stream.finished or stream.reason == "interrupted"
    return ", while it waited for the model" if at_work else ""


def _place(facts: Facts) -> str:
    tool = facts.stream.open_tool
    return "" if tool is None else f", in the middle of {tool}"


def _passed_limit(facts: Facts) -> str:
    passed, place = facts.person.passed_limit, _place(facts)
    if passed is None:
        which = "time limit" if facts.person.stopped_for == "timed_out" else "budget"
        return f"reached the {which}{place}"
    if passed.by == "agent":
        return facts.stream.message or f"reached the agent's own limit of {passed.kind}{place}"
    used, allowed = passed.used or 0, passed.allowed or 0
    match passed.kind:
        case "cost" if passed.is_unknown:
            return f"the price of the model is unknown, so --max-cost cannot hold{place}"
        case "cost":
            return f"spent ${used:.4f} (limit ${allowed:.4f}){place}"
        case "time":
            return f"reached the time limit of {duration(allowed)}{place}"
        case counted:
            return f"used {used:.0f} {counted} (limit {allowed:.0f}){place}"


def _why_stuck(facts: Facts) -> str:
    asked, suspicion = facts.stream.asked, facts.person.suspicion
    if asked is not None and not facts.stream.finished:
        return f"no answer to the question whether it may use {asked}"
    if suspicion is not None:
        return f"{suspicion.reason} ({', '.join(suspicion.evidence)})"
    return f"no sign of life{_place(facts)}"


def _why_incomplete(facts: Facts) -> str:
    recorder, complaint = facts.recorder, facts.process.complaint
    if recorder.tampered is not None:
        return f"the saved output was changed: {recorder.tampered}"
    died = "the recorder or the rook process died: " if recorder.recorder_died else ""
    if recorder.recorder_died and complaint is not None:
        died = f"the recorder failed ({complaint}): "
    return died + _where_it_ended(facts)


def _where_it_ended(facts: Facts) -> str:
    stream = facts.stream
    if not stream.finished and facts.process.signal is not None:
        return f"{process_end(facts)}{_place(facts)}"
    if stream.truncated:
        return f"the output is cut off{_place(facts)}"
    if not stream.finished:
        return f"{process_end(facts) or 'ended'} without a result{_place(facts)}"
    if stream.reason in PARTIAL_ANSWERS:
        return stream.message or "only a part of the answer arrived"
    if stream.open_at_result:
        end = f"; the agent {process_end(facts)}" if facts.was_killed else ""
        return f"a result was reported{_place(facts)}{end}"
    if stream.cut_tasks:
        return f"{were(stream.cut_tasks, 'background task')} cut off when the agent ended"
    if stream.broken_answer:
        return "the answer may be cut off: the model gave no reason for its end"
    if facts.was_killed or (facts.is_code_doubtful and not stream.no_answer):
        return f"a good result was reported, but the agent {process_end(facts)}"
    return "the agent ended without an answer"


def _why_failed(facts: Facts) -> str:
    stream = facts.stream
    if not stream.has_stream:
        return process_end(facts) or ""
    message = stream.message if stream.finished else first_line_of([stream.failure])
    return message or (stream.reason or "").replace("_", " ") or "the agent gave no reason"


def _denied_calls(facts: Facts) -> str:
    number = facts.stream.denials + len(facts.stream.refusals)
    if 0 < number == len(facts.person.denied_by_person):
        return f"{were(number, 'tool call')} denied at the prompt"
    reason = first_line_of(facts.stream.refusals)
    return f"{were(number, 'tool call')} not permitted{f': {reason}' if reason else ''}"
