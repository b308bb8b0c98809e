"""The timeline of a run by position: what changed after a revision, or the items from one on."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from nightrook.model.timeline import Item
from nightrook.web.folds.fold import RunFold
from nightrook.web.replies import encoded, json_reply
from nightrook.web.site import Site, site_of
from nightrook.web.views.parameters import flag, number

_LIMIT = 500
_MOST = 5000


async def items(request: Request) -> Response:
    """`GET /api/runs/R/items`."""
    site = site_of(request)
    fold = await site.folds.get(request.path_params["run"])
    asked: bytes = request.scope["query_string"]
    if fold.is_followed and (known := site.answers.known((_state_of(fold), asked))) is not None:
        return json_reply(known)  # another viewer has just asked for the same
    limit = max(1, number(request, "limit", _LIMIT, most=_MOST))
    with_snapshot = flag(request, "snapshot", default=True)
    first = number(request, "first", -1)
    after = number(request, "after", 0)
    if not fold.is_followed:
        fold.poke(ended=True, decided=True)
    if first >= 0:
        await fold.until(lambda: len(fold.timeline.items) >= first + limit)
    else:
        await fold.until(lambda: fold.timeline.revision >= after + limit)
    key = (_state_of(fold), asked)
    return json_reply(
        site.answers.get(key, lambda: _encoded(site, fold, first, after, limit, with_snapshot))
    )


def _state_of(fold: RunFold) -> tuple[object, ...]:
    """What an answer about a run depends on."""
    state = fold.source.state
    return (fold.epoch, fold.timeline.revision, state.records, fold.is_complete, fold.is_reading)


def _encoded(
    site: Site, fold: RunFold, first: int, after: int, limit: int, with_snapshot: bool
) -> bytes:
    timeline = fold.timeline
    if first >= 0:
        found: list[Item] = timeline.items[first : first + limit]
        position = timeline.revision
        more = first + limit < len(timeline.items)
    else:
        found = timeline.changes(after, limit)
        position = found[-1].revision if len(found) == limit else timeline.revision
        more = position < timeline.revision
    answer: dict[str, Any] = {
        **about_fold(fold),
        "items": found,
        "revision": position,
        "more": more or fold.is_reading,
    }
    if with_snapshot:
        answer["snapshot"] = fold.snapshot()
    if timeline.drafts:
        answer["drafts"] = [
            {"id": id, "kind": each.kind, "begin": each.begin, "size": each.size}
            for id, each in timeline.drafts.items()
        ]
    return site.hidden(answer)


def about_fold(fold: RunFold) -> dict[str, Any]:
    """How far a run is folded."""
    return {
        "epoch": fold.epoch,
        "revision": fold.timeline.revision,
        "total": len(fold.timeline.items),
        "complete": fold.is_complete,
    }


async def outline(request: Request) -> Response:
    """`GET /api/runs/R/outline`."""
    site = site_of(request)
    fold = await site.folds.get(request.path_params["run"])
    first = number(request, "first", 0)
    if not fold.is_followed:
        fold.poke(ended=True)
    await fold.until(lambda: len(fold.timeline.items) > first)
    key = ("outline", _state_of(fold), first)

    def make() -> bytes:
        shape = fold.outline.since(first)
        return encoded(  # no text of an agent is in it
            {
                **about_fold(fold),
                "first": first,
                "kinds": shape.kinds,
                "states": shape.states,
                "parents": shape.parents,
            }
        )

    return json_reply(site.answers.get(key, make))
