"""One run: what was asked, what is true of it now, how it ended and what to do next."""

import asyncio
import shlex
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from nightrook.display.ending import next_steps, warnings
from nightrook.display.reports.ended_run import EndedRun, about_run
from nightrook.model.errors import NightrookError
from nightrook.model.text import cut, encodable
from nightrook.runs.heal import ask_to_stop
from nightrook.store import decisions
from nightrook.store.decisions import Decided
from nightrook.story.answers import run_answer
from nightrook.story.tail import log_size
from nightrook.web.folds.fold import RunFold
from nightrook.web.replies import ApiError
from nightrook.web.site import site_of
from nightrook.web.views.items import about_fold
from nightrook.web.views.rows import fold_row

_LONGEST = 200_000
_PATIENCE_S = 0.1
_HEALING = (
    "the processes of this run died: it is being judged from its log, and its verdict follows"
)


async def run(request: Request) -> Response:
    """`GET /api/runs/R`."""
    site = site_of(request)
    fold = await site.folds.get(request.path_params["run"])
    if not fold.is_followed:
        fold.poke(ended=True, decided=True)
    await _first_part(fold)
    answer, made, stderr, verdict = await asyncio.to_thread(_stored, fold)
    info = fold.info
    return site.reply(
        {
            **msgspec.structs.asdict(fold_row(fold)),
            **about_fold(fold),
            "prompt": None if info.prompt is None else cut(encodable(info.prompt), _LONGEST),
            "command": cut(encodable(shlex.join(info.command)), _LONGEST),
            "permission": info.permission,
            "worktree": info.worktree,
            "resumed_from": info.resumed_from,
            "session": fold.source.state.session,
            "snapshot": fold.snapshot(),
            "verdict": verdict,
            "answer": answer,
            "decisions": made,
            "text": {"stdout": fold.text_size, "stderr": stderr},
            "problem": _HEALING if fold.is_healing else fold.problem,
        }
    )


async def _first_part(fold: RunFold) -> None:
    """Wait for all of a short run, and for the beginning of a long one."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await fold.until(lambda: fold.is_complete)
    except TimeoutError:
        await fold.until(lambda: fold.timeline.revision > 0)


def _stored(fold: RunFold) -> tuple[str | None, list[Decided], int, dict[str, Any] | None]:
    """Read from the folder: the answer, the decisions, the size of stderr, and the verdict."""
    answer = None
    if fold.is_complete:
        state = fold.source.state if fold.source.agent else None
        found = run_answer(fold.folder.path, state)
        answer = None if found is None else cut(encodable(found), _LONGEST)
    try:
        made = list(decisions.read(fold.folder).values())
    except NightrookError:
        made = []
    return answer, made, log_size(fold.folder.path, "stderr"), _verdict(fold)


def _verdict(fold: RunFold) -> dict[str, Any] | None:
    saved = fold.verdict
    if saved is None:
        return None
    ending = fold.folder.ending(saved.verdict)
    ended = EndedRun(ending, fold.source.state, fold.source.agent, fold.folder)
    about = msgspec.structs.replace(about_run(ended), shown="everything")
    steps = next_steps(ending, about, fold.source.state) if fold.is_complete else []
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
    site = site_of(request)
    fold = await site.folds.get(request.path_params["run"])
    try:
        await asyncio.to_thread(ask_to_stop, fold.folder)
    except NightrookError as error:
        raise ApiError(409, f"{error}: there is nothing to stop") from error
    return site.reply({"stopping": fold.name}, 202)
