"""The questions that wait for a person, and the decisions on them."""

import asyncio
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nightrook.model.questions import ClosedQuestion, Decision
from nightrook.runs.asking.client import NotAskingError, RefusedError, decide
from nightrook.runs.asking.peers import FROM_AGENT, OTHER_USER, UNCLEAR
from nightrook.store.list import NewestFirst
from nightrook.store.run_folder import RunFolder
from nightrook.web.app_state import AppState, app_state
from nightrook.web.live.open_questions import Waiting, ask_runners
from nightrook.web.replies import ApiError, encoded, json_reply

_FORBIDDEN = (FROM_AGENT, OTHER_USER, UNCLEAR)
_THROUGH = "web"


class _Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A decision as the page sends it."""

    allow: bool
    always: bool = False
    reason: str | None = None
    answers: dict[str, str] = {}


async def questions(request: Request) -> Response:
    """`GET /api/questions`."""
    state = app_state(request)
    waiting = await open_now(state)
    body = encoded({"questions": [question_json(one) for one in waiting]})
    if not state.read_only:  # guards: question-shown-whole
        return json_reply(body)  # what a person approves must be what runs
    return json_reply(state.redactor.data(body))  # guards: read-only-question-redacted


async def open_now(state: AppState) -> list[Waiting]:
    """The questions that are open now."""
    if state.live_runs.is_active:
        return state.live_runs.questions.waiting

    def unfinished() -> list[RunFolder]:
        return [run.folder for run in NewestFirst(state.home, only_unfinished=True)]

    return await ask_runners(await asyncio.to_thread(unfinished))


def question_json(waiting: Waiting) -> dict[str, Any]:
    """A question with its run; `key` is the id that the agent gave it."""
    question, ask = waiting.question, msgspec.structs.asdict(waiting.question.ask)
    return {
        **ask,
        "key": ask["id"],
        "run": waiting.run,
        "id": question.id,
        "tool_id": question.tool_id,
        "asked_at": question.opened_at,
        "until": question.until,
    }


async def answer(request: Request) -> Response:
    """`POST /api/runs/R/questions/Q`."""
    state = app_state(request)
    shown = await state.runs.get(request.path_params["run"])
    id = str(request.path_params["question"])
    decision = _decision(await request.body())
    try:
        outcome = await decide(shown.folder, id, decision)
    except RefusedError as error:
        raise ApiError(403 if str(error) in _FORBIDDEN else 400, str(error)) from error
    except NotAskingError as error:
        raise ApiError(409, f"{error}; see  rook show") from error
    if outcome.question is None:
        raise ApiError(404, f"run {shown.name} has no question {id[:40]!r}: see the open ones")
    decided = _decided(outcome.question)
    if not outcome.counts:
        raise ApiError(409, _who(outcome.question), decided=decided)
    return state.reply({"decided": decided})


def _decision(body: bytes) -> Decision:
    try:
        made = msgspec.json.decode(body, type=_Body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ApiError(400, f"the body is not a decision: {error}") from error
    return Decision(
        allow=made.allow,
        always=made.always,
        reason=made.reason,
        answers=made.answers,
        by="person",
        through=_THROUGH,
    )


def _decided(closed: ClosedQuestion) -> dict[str, Any] | None:
    made = closed.decision
    if made is None:
        return None
    return {
        "allow": made.allow,
        "always": made.always,
        "reason": made.reason,
        "by": made.by,
        "through": made.through,
        "at": closed.closed_at,
    }


def _who(closed: ClosedQuestion) -> str:
    """Return the message that names who answered a question before."""
    made = closed.decision
    if made is None:
        return "the agent no longer asks this: nothing needs to be decided"
    how = "allowed" if made.allow else "denied"
    through = f" through {made.through}" if made.through else ""
    by = {
        "person": "a person",
        "timeout": "the time-out",
        "nobody": "rook, since it could ask no person",
    }.get(made.by, made.by)
    return f"this was answered before: {how} by {by}{through}"


ROUTES = [
    Route("/api/runs/{run}/questions/{question}", answer, methods=["POST"]),
    Route("/api/questions", questions),
]
