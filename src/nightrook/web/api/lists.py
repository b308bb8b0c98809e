"""Loops, batches and costs: the same objects that the commands print with --json."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nightrook.batches.listing import list_batches
from nightrook.display.costs.exports import report_json, without_secrets
from nightrook.display.loops import loop_json
from nightrook.loops.storage import newest_first
from nightrook.web.app_state import app_state
from nightrook.web.replies import json_reply

_FILTERS = ("since", "until", "agent", "project", "model", "timezone")


async def loops(request: Request) -> Response:
    """`GET /api/loops`."""
    state = app_state(request)

    def read() -> list[dict[str, object]]:
        return [loop_json(folder) for folder in newest_first(state.home)]

    return state.reply({"loops": await asyncio.to_thread(read)})


async def batches(request: Request) -> Response:
    """`GET /api/batches`."""
    state = app_state(request)
    return state.reply({"batches": await asyncio.to_thread(list_batches, state.home)})


async def costs(request: Request) -> Response:
    """`GET /api/cost`."""
    state = app_state(request)
    wanted = {name: request.query_params.get(name) or None for name in _FILTERS}
    by = request.query_params.get("by") or "day"

    def read() -> bytes:
        from nightrook.archive.cost import cost  # it imports a lot, and few ask for it

        made = cost(by, home=state.home, **wanted)
        return report_json(without_secrets(made, state.redactor.text))

    return json_reply(await asyncio.to_thread(read))


ROUTES = [
    Route("/api/loops", loops),
    Route("/api/batches", batches),
    Route("/api/cost", costs),
]
