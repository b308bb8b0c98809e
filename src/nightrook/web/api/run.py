"""One run: its options, its state, its end and the next steps."""

import asyncio
import shlex
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nightrook.display.about_run import about_run
from nightrook.display.ending import next_steps, warnings
from nightrook.model.errors import NightrookError
from nightrook.model.text import cut, encodable
from nightrook.runs.attached import ask_to_stop
from nightrook.store import decisions
from nightrook.store.decisions import Decided
from nightrook.story.tail import log_size
from nightrook.web.api.items import about_shown
from nightrook.web.app_state import app_state
from nightrook.web.replies import ApiError
from nightrook.web.run_rows import shown_json
from nightrook.web.shown_runs import ShownRun

_LONGEST = 200_000
_PATIENCE_S = 0.1
_RECOVERING = (
    "the processes of this run died: it is being judged from its log, and its verdict follows"
)


async def run(request: Request) -> Response:
    """`GET /api/runs/R`."""
    state = app_state(request)
    shown = await state.runs.get(request.path_params["run"])
    if not shown.is_followed:
        shown.wake()
    await _first_part(shown)
    answer, made, stderr, verdict = await asyncio.to_thread(_stored, shown)
    info = shown.info
    return state.reply(
        {
            **shown_json(shown),
            **about_shown(shown),
            "prompt": None if info.prompt is None else cut(encodable(info.prompt), _LONGEST),
            "command": cut(encodable(shlex.join(info.command)), _LONGEST),
            "permission": info.permission,
            "worktree": info.worktree,
            "resumed_from": info.resumed_from,
            "session": shown.story.state.session,
            "snapshot": shown.story.snapshot(),
            "verdict": verdict,
            "answer": answer,
            "decisions": made,
            "text": {"stdout": shown.story.feed.text_size, "stderr": stderr},
            "problem": _RECOVERING if shown.is_recovering else shown.problem_text,
        }
    )


async def _first_part(shown: ShownRun) -> None:
    """Wait for all of a short run, and for the beginning of a long one."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await shown.caught_up(lambda: shown.is_complete)
    except TimeoutError:
        await shown.caught_up(lambda: shown.timeline.revision > 0)


def _stored(shown: ShownRun) -> tuple[str | None, list[Decided], int, dict[str, Any] | None]:
    """Read from the folder: the answer, the decisions, the size of stderr, and the verdict."""
    answer = None
    if shown.is_complete:
        found = shown.story.answer
        answer = None if found is None else cut(encodable(found), _LONGEST)
    try:
        made = list(decisions.read(shown.folder).values())
    except NightrookError:
        made = []
    return answer, made, log_size(shown.folder.path, "stderr"), _verdict(shown)


def _verdict(shown: ShownRun) -> dict[str, Any] | None:
    saved = shown.verdict
    if saved is None:
        return None
    ending = shown.story.ending or shown.folder.ending(saved.verdict)
    about = msgspec.structs.replace(about_run(shown.story, ending), shown="everything")
    steps = next_steps(ending, about, shown.story.state) if shown.is_complete else []
    return {
        "status": ending.status,
        "sentence": ending.sentence,
        "exit_code": ending.exit_code,
        "warnings": warnings(ending),
        "next": [
            {"text": step.label.rstrip(": ") or "continue", "command": step.command}
            for step in steps
        ],
    }


async def stop(request: Request) -> Response:
    """`POST /api/runs/R/stop`."""
    state = app_state(request)
    shown = await state.runs.get(request.path_params["run"])
    try:
        await asyncio.to_thread(ask_to_stop, shown.folder)
    except NightrookError as error:
        raise ApiError(409, f"{error}: there is nothing to stop") from error
    return state.reply({"stopping": shown.name}, 202)


ROUTES = [
    Route("/api/runs/{run}", run),
    Route("/api/runs/{run}/stop", stop, methods=["POST"]),
]
