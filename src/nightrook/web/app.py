"""The application: which request is answered by what, behind the guard."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from nightrook.model.errors import NightrookError
from nightrook.web.access.guard import Guard
from nightrook.web.access.peers import AgentCheck
from nightrook.web.access.rules import Rules
from nightrook.web.replies import (
    ApiError,
    error_body,
    json_reply,
    on_api_error,
    on_nightrook_error,
    on_os_error,
)
from nightrook.web.site import Site
from nightrook.web.views import bodies, items, lists, questions, rows, run, streams

PAGE = Path(__file__).parent / "page"
_NOT_MADE = (
    "the page was not built: run  make web  in the source tree, or install nightrook from a wheel"
)
_NO_SUCH = "there is no such page: start at  /"


def make_app(site: Site, rules: Rules) -> ASGIApp:
    """The application of a site."""
    app = Starlette(
        routes=[*_ROUTES, *_page_routes()],
        exception_handlers={
            ApiError: on_api_error,
            NightrookError: on_nightrook_error,
            OSError: on_os_error,
            404: _not_found,
            405: _wrong_method,
            500: _failed,
        },
        lifespan=_lifespan,
    )
    app.state.site = site
    return Guard(app, rules, AgentCheck())


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    site: Site = app.state.site
    warming = asyncio.create_task(asyncio.to_thread(site.runs.warm))
    try:
        yield
    finally:
        await warming
        await site.close()


async def _search(request: Request) -> Response:
    from nightrook.web.views import search  # it imports a lot, and few ask for it

    return await search.search(request)


_ROUTES: list[BaseRoute] = [
    Route("/api/runs/{run}/items", items.items),  # asked for most often
    Route("/api/ping", streams.ping),
    Route("/api/hello", streams.hello),
    Route("/api/bell", streams.bell),
    Route("/api/runs", rows.run_list),
    Route("/api/runs/{run}", run.run),
    Route("/api/runs/{run}/outline", items.outline),
    Route("/api/runs/{run}/items/{item}/body", bodies.body),
    Route("/api/runs/{run}/text", bodies.text),
    Route("/api/runs/{run}/stop", run.stop, methods=["POST"]),
    Route("/api/runs/{run}/questions/{question}", questions.answer, methods=["POST"]),
    Route("/api/questions", questions.questions),
    Route("/api/loops", lists.loops),
    Route("/api/batches", lists.batches),
    Route("/api/cost", lists.costs),
    Route("/api/search", _search),
]


def _page_routes() -> list[BaseRoute]:
    """The files of the page: its own, and those of libraries, which `make` puts there."""
    return [
        Route("/", _index),
        Mount("/app", StaticFiles(directory=PAGE, check_dir=False)),
        Mount("/vendor", StaticFiles(directory=PAGE / "vendor", check_dir=False)),
    ]


async def _index(_: Request) -> Response:
    page = PAGE / "index.html"
    if not page.is_file():
        return json_reply(error_body(_NOT_MADE), 404)
    return FileResponse(page)


async def _not_found(_request: Request, _error: Exception) -> Response:
    return json_reply(error_body(_NO_SUCH), 404)


async def _failed(_request: Request, error: Exception) -> Response:
    sentence = f"rook web failed at this request ({type(error).__name__}): reload the page"
    return json_reply(error_body(sentence), 500)


async def _wrong_method(_request: Request, _error: Exception) -> Response:
    return json_reply(error_body("this needs another method: GET to read, POST to change"), 405)
