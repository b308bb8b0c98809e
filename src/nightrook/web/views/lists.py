"""Loops, batches and costs: the same objects that the commands print with --json."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from nightrook.batches.listing import list_batches
from nightrook.display.costs.exports import report_json, without_secrets
from nightrook.display.loops.objects import loop_json
from nightrook.loops.storage import newest_first
from nightrook.web.replies import json_reply
from nightrook.web.site import site_of

_FILTERS = ("since", "until", "agent", "project", "model", "timezone")


async def loops(request: Request) -> Response:
    """`GET /api/loops`."""
    site = site_of(request)

    def read() -> list[dict[str, object]]:
        return [loop_json(folder) for folder in newest_first(site.home)]

    return site.reply({"loops": await asyncio.to_thread(read)})


async def batches(request: Request) -> Response:
    """`GET /api/batches`."""
    site = site_of(request)
    return site.reply({"batches": await asyncio.to_thread(list_batches, site.home)})


async def costs(request: Request) -> Response:
    """`GET /api/cost`."""
    site = site_of(request)
    wanted = {name: request.query_params.get(name) or None for name in _FILTERS}
    by = request.query_params.get("by") or "day"

    def read() -> bytes:
        from nightrook.archive.cost import cost  # it imports a lot, and few ask for it

        made = cost(by, home=site.home, **wanted)
        return report_json(without_secrets(made, site.redactor.text))

    return json_reply(await asyncio.to_thread(read))
