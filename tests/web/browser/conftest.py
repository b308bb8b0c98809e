"""Homes, and a browser for the tests of one file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.browser.harness import Home, Open, Server, Tab, launched

DESKTOP = {"width": 1280, "height": 800}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home without runs."""
    made = Home(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser."""
    with launched() as found:
        yield found


@pytest.fixture
def opened(browser: Any) -> Iterator[Open]:
    """Opens tabs, each in a browser profile of its own unless one is given."""
    contexts: list[Any] = []

    def tab(server: Server, route: str = "/", *, beside: Tab | None = None, **options: Any) -> Tab:
        if beside is None:
            contexts.append(browser.new_context(**{"viewport": DESKTOP, **options}))
        context = contexts[-1] if beside is None else beside.page.context
        return Tab(context, server).open(route)

    yield tab
    for context in contexts:
        context.close()
