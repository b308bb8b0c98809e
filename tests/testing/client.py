"""A client of a scripted API, with nothing but urllib, and no proxy of this machine's."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from email.message import Message
from typing import Any

import pytest

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_PATIENCE_S = 20


def sent(url: str, body: Mapping[str, Any], **headers: str) -> tuple[bytes, Message]:
    """Post a body; give the answer and its head."""
    told = {"content-type": "application/json", **headers}
    request = urllib.request.Request(url, json.dumps(body).encode(), told)
    with OPENER.open(request, timeout=_PATIENCE_S) as answer:
        return answer.read(), answer.headers


def got(url: str) -> Any:
    """What is found at an address."""
    with OPENER.open(url, timeout=_PATIENCE_S) as answer:
        return json.load(answer)


def failure(ask: Callable[[], object]) -> tuple[int, dict[str, Any], Message]:
    """Ask, and be refused: the status, the body and the head of the answer."""
    with pytest.raises(urllib.error.HTTPError) as raised:
        ask()
    with raised.value as error:
        return error.code, json.loads(error.read()), error.headers


def named_events(text: bytes) -> list[dict[str, Any]]:
    """The events of a stream that tells twice what each is."""
    found = []
    for block in text.decode().split("\n\n")[:-1]:
        name, data = block.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        found.append(event)
    return found
