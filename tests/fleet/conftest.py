"""A real nats-server for the tests of the fleet, in a folder of its own, on a free port."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nightrook.fleet.nats_server import LocalServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalServer]:
    """A server with JetStream on which anyone may do anything."""
    with LocalServer(tmp_path / "nats") as server:
        yield server
