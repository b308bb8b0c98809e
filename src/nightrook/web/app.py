"""The application: its API and the files of the page, behind the guard."""

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
from nightrook.web.access.agent_check import AgentCheck
from nightrook.web.access.guard import Guard
from nightrook.web.access.rules import Rules
from nightrook.web.api import item_body, items, lists, questions, run, runs, search, server
from nightrook.web.app_state import AppState
from nightrook.web.replies import (
    ApiError,
    error_body,
    json_reply,
    on_api_error,
    on_nightrook_error,
    on_os_error,
)

PAGE = Path(__file__).parent / "page"
_NOT_MADE = (
    "the page was not built: run  make web  in the source tree, or install nightrook from a wheel"
)
_NO_SUCH = "there is no such page: start at  /"


def make_app(state: AppState, rules: Rules) -> ASGIApp:
    """The application of a server."""
    app = Starlette(
        routes=[*(route for view in _API for route in view.ROUTES), *_page_routes()],
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
    app.state.shared = state
    return Guard(app, rules, AgentCheck())


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    state: AppState = app.state.shared
    warming = asyncio.create_task(asyncio.to_thread(state.runs.warm))
    try:
        yield
    finally:
        await warming
        await state.close()


# Each module ends with its routes; the first is asked for most often.
_API = (items, runs, run, item_body, questions, lists, search, server)


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
