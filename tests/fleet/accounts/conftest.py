"""A fleet with two workers and its server, made once for all tests of a module."""

from collections.abc import Iterator

import pytest

from nightrook.fleet.accounts import folder
from nightrook.fleet.accounts.folder import Listening
from nightrook.fleet.nats_server import LocalServer
from tests.fleet.accounts.fleet import Fleet

LOCAL = Listening("127.0.0.1", 4222, "127.0.0.1")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet with the workers `ada` and `bob`; only `bob` may pull jobs of the label `gpu`."""
    path = tmp_path_factory.mktemp("fleet")
    folder.create(path, LOCAL)
    folder.add_worker(path, "ada", labels=("any",), agents=("claude", "codex"))
    folder.add_worker(path, "bob", labels=("any", "gpu"), agents=("claude",))
    with LocalServer(path, configuration=path / "server.conf") as server:
        yield Fleet(path, server)
