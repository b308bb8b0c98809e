"""The timeline of a run by position: changes after a revision, or the items from one on."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nightrook.model.timeline import Item
from nightrook.web.api.parameters import flag, number
from nightrook.web.app_state import AppState, app_state
from nightrook.web.replies import encoded, json_reply
from nightrook.web.shown_runs import ShownRun

_LIMIT = 500
_MOST = 5000


async def items(request: Request) -> Response:
    """`GET /api/runs/R/items`."""
    state = app_state(request)
    shown = await state.runs.get(request.path_params["run"])
    asked: bytes = request.scope["query_string"]
    if shown.is_followed and (known := state.replies.known((_state_of(shown), asked))) is not None:
        return json_reply(known)  # another viewer has just asked for the same
    limit = max(1, number(request, "limit", _LIMIT, most=_MOST))
    with_snapshot = flag(request, "snapshot", default=True)
    first = number(request, "first", -1)
    after = number(request, "after", 0)
    if not shown.is_followed:
        shown.wake()
    if first >= 0:
        await shown.caught_up(lambda: len(shown.timeline.items) >= first + limit)
    else:
        await shown.caught_up(lambda: shown.timeline.revision >= after + limit)
    key = (_state_of(shown), asked)
    return json_reply(
        state.replies.get(key, lambda: _encoded(state, shown, first, after, limit, with_snapshot))
    )


def _state_of(shown: ShownRun) -> tuple[object, ...]:
    """Return the values that an answer about a run depends on."""
    state = shown.story.state
    return (
        shown.epoch,
        shown.timeline.revision,
        state.records,
        shown.is_complete,
        shown.is_reading,
    )


def _encoded(
    state: AppState, shown: ShownRun, first: int, after: int, limit: int, with_snapshot: bool
) -> bytes:
    timeline = shown.timeline
    if first >= 0:
        found: list[Item] = timeline.items[first : first + limit]
        position = timeline.revision
        more = first + limit < len(timeline.items)
    else:
        found = timeline.changes(after, limit)
        position = found[-1].revision if len(found) == limit else timeline.revision
        more = position < timeline.revision
    answer: dict[str, Any] = {
        **about_shown(shown),
        "items": found,
        "revision": position,
        "more": more or shown.is_reading,
    }
    if with_snapshot:
        answer["snapshot"] = shown.story.snapshot()
    if timeline.drafts:
        answer["drafts"] = [
            {"id": id, "kind": each.kind, "begin": each.begin, "size": each.size}
            for id, each in timeline.drafts.items()
        ]
    return state.hidden(answer)


def about_shown(shown: ShownRun) -> dict[str, Any]:
    """Return the position up to which a run is folded."""
    return {
        "epoch": shown.epoch,
        "revision": shown.timeline.revision,
        "total": len(shown.timeline.items),
        "complete": shown.is_complete,
    }


async def outline(request: Request) -> Response:
    """`GET /api/runs/R/outline`."""
    state = app_state(request)
    shown = await state.runs.get(request.path_params["run"])
    first = number(request, "first", 0)
    if not shown.is_followed:
        shown.wake(decided=False)
    await shown.caught_up(lambda: len(shown.timeline.items) > first)
    key = ("outline", _state_of(shown), first)

    def make() -> bytes:
        shape = shown.outline.since(first)
        return encoded(  # no text of an agent is in it
            {
                **about_shown(shown),
                "first": first,
                "kinds": shape.kinds,
                "states": shape.states,
                "parents": shape.parents,
            }
        )

    return json_reply(state.replies.get(key, make))


ROUTES = [
    Route("/api/runs/{run}/items", items),
    Route("/api/runs/{run}/outline", outline),
]
