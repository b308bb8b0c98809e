"""The list of runs: a row for each, from its folder or, while it is alive, as it is shown."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nightrook.model.errors import NightrookError
from nightrook.store.list import NewestFirst, ReadRun, run_row
from nightrook.web.api.parameters import number
from nightrook.web.app_state import app_state
from nightrook.web.replies import ApiError
from nightrook.web.run_rows import Json, row_json, shown_json

_LIMIT = 200
_MOST = 500


class _Found(NamedTuple):
    """A run that was read from its folder: its row, or only its name if it has no verdict."""

    row: Json | None
    name: str
    started_at: float


async def run_list(request: Request) -> Response:
    """`GET /api/runs`."""
    state = app_state(request)
    limit = max(1, number(request, "limit", _LIMIT, most=_MOST))
    before = _cursor(request.query_params.get("before"))
    wanted = {
        name: text for name in ("status", "agent") if (text := request.query_params.get(name))
    }
    found, following = await asyncio.to_thread(_read, state.home, limit, before, wanted)
    rows = []
    for each in found:
        row = each.row
        if row is None:
            try:
                shown = await state.runs.get(each.name)
            except (NightrookError, ApiError):
                continue  # it was removed meanwhile
            row = shown_json(shown)
        if all(row[name] == text for name, text in wanted.items()):
            rows.append(row)
    return state.reply({"runs": rows, "next": following})


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
        if row is not None and any(row[name] != text for name, text in wanted.items()):
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


def _stored_row(run: ReadRun) -> Json | None:
    """A run as its folder says; None if it has no verdict."""
    row = run_row(run, lambda _, __: None)
    return None if row is None else row_json(row)


ROUTES = [
    Route("/api/runs", run_list),
]
