"""The list of runs: a row for each, from its folder or, while it is alive, from its shown."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from nightrook.model.durations import elapsed_s
from nightrook.model.errors import NightrookError
from nightrook.model.ledger import Money
from nightrook.model.snapshot import Activity, TokenCounts
from nightrook.model.text import encodable, first_line
from nightrook.store.list import NewestFirst, ReadRun
from nightrook.store.names import kind_of
from nightrook.store.run_formats import RunInfo, VerdictInfo
from nightrook.web.replies import ApiError
from nightrook.web.shown_runs import ShownRun
from nightrook.web.site import site_of
from nightrook.web.views.parameters import number
from nightrook.web.views.values import Cost, cost_of, doing, spent

_LIMIT = 200
_MOST = 500
_LONGEST_TITLE = 300


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A run in the list."""

    name: str
    agent: str | None = None
    called: str | None = None
    title: str = ""
    status: str
    alive: bool = False
    started_at: float | None = None
    ended_at: float | None = None
    duration_s: float | None = None
    cost: Cost = Cost()
    tokens: TokenCounts | None = None
    model: str | None = None
    cwd: str | None = None
    loop: str | None = None
    batch: str | None = None
    iteration: int | None = None
    sentence: str | None = None
    exit_code: int | None = None
    activity: Activity | None = None
    since: float | None = None
    doing: str | None = None
    questions: int = 0
    revision: int | None = None


class _Found(NamedTuple):
    """A run that was read from its folder: its row, or only its name if it has no verdict."""

    row: Row | None
    name: str
    started_at: float


async def run_list(request: Request) -> Response:
    """`GET /api/runs`."""
    site = site_of(request)
    limit = max(1, number(request, "limit", _LIMIT, most=_MOST))
    before = _cursor(request.query_params.get("before"))
    wanted = {
        name: text for name in ("status", "agent") if (text := request.query_params.get(name))
    }
    found, following = await asyncio.to_thread(_read, site.home, limit, before, wanted)
    rows = []
    for each in found:
        row = each.row
        if row is None:
            try:
                shown = await site.runs.get(each.name)
            except (NightrookError, ApiError):
                continue  # it was removed meanwhile
            row = shown_row(shown)
        if all(getattr(row, name) == text for name, text in wanted.items()):
            rows.append(row)
    return site.reply({"runs": rows, "next": following})


def _cursor(text: str | None) -> tuple[float, str] | None:
    if not text:
        return None
    moment, _, name = text.partition("~")
    try:
        return float(moment), name
    except ValueError:
        raise ApiError(400, "before must be the `next` of an earlier answer") from None


def _read(
    home: Path, limit: int, before: tuple[float, str] | None, wanted: dict[str, str]
) -> tuple[list[_Found], str | None]:
    found: list[_Found] = []
    for each in _from(home, before):
        row = each.row
        if row is not None and any(getattr(row, name) != text for name, text in wanted.items()):
            continue
        if len(found) == limit:
            return found, f"{found[-1].started_at!r}~{found[-1].name}"
        found.append(each)
    return found, None


def _from(home: Path, before: tuple[float, str] | None) -> Iterator[_Found]:
    for run in NewestFirst(home):
        at = run.started_at
        if before is None or at < before[0] or (at == before[0] and run.folder.name > before[1]):
            yield _Found(_stored_row(run), run.folder.name, at)


def _stored_row(run: ReadRun) -> Row | None:
    """A run as its folder says; None if it has no verdict."""
    name = run.folder.name
    try:
        if run.problem is not None:
            raise run.problem
        verdict = run.folder.verdict()
    except NightrookError as error:
        return Row(name=name, status="damaged", title=str(error))
    if run.info is None:
        return Row(name=name, status="damaged", title="it has no run.json")
    return None if verdict is None else ended_row(name, run.info, verdict)


def ended_row(name: str, info: RunInfo, verdict: VerdictInfo) -> Row:
    """A run that has its verdict."""
    ending = verdict.ending(info)
    return msgspec.structs.replace(
        _begun(name, info),
        status=ending.status,
        ended_at=ending.ended_at,
        duration_s=ending.duration_s,
        cost=cost_of(Money(verdict.spent_usd, verdict.cost_source, verdict.cost_at_least)),
        tokens=verdict.tokens,
        model=verdict.model or info.model,
        sentence=ending.sentence,
        exit_code=ending.exit_code,
    )


def shown_row(shown: ShownRun) -> Row:
    """A run as far as it is folded."""
    if shown.verdict is not None:
        return ended_row(shown.name, shown.info, shown.verdict)
    snapshot = shown.story.snapshot()
    return msgspec.structs.replace(
        _begun(shown.name, shown.info),
        status=shown.status,
        alive=shown.is_alive,
        duration_s=elapsed_s(shown.info.started_at, time.time()),
        cost=spent(snapshot),
        tokens=snapshot.tokens if snapshot.has_usage else None,
        model=snapshot.model or shown.info.model,
        activity=snapshot.activity,
        since=snapshot.since,
        doing=doing(snapshot),
        questions=snapshot.questions_open,
        revision=shown.timeline.revision,
    )


def _begun(name: str, info: RunInfo) -> Row:
    what = "(piped)" if info.piped else info.prompt or " ".join(info.command)
    is_batch = info.loop is not None and kind_of(info.loop) == "batch"
    return Row(
        name=name,
        agent=info.agent,
        called=info.called,
        title=encodable(first_line(what, _LONGEST_TITLE)),
        status="running",
        started_at=info.started_at,
        model=info.model,
        cwd=encodable(info.cwd),
        loop=None if is_batch else info.loop,
        batch=info.loop if is_batch else None,
        iteration=info.iteration,
    )
