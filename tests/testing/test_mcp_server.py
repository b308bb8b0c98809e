"""The small MCP server, as a client over standard input and output sees it."""

import json
import subprocess
import sys
from typing import Any

from rookery.testing import MCP_SERVER


def talk(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in requests)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(MCP_SERVER)],
        input=lines,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments}}


def test_it_greets_in_the_client_s_version_and_lists_its_tools() -> None:
    greeted, pong, listed = talk(
        {"id": 0, "method": "initialize", "params": {"protocolVersion": "2024-11-05"}},
        {"method": "notifications/initialized"},
        {"id": "a", "method": "ping"},
        {"id": 1, "method": "tools/list"},
    )
    assert greeted["result"]["protocolVersion"] == "2024-11-05"
    assert (pong["id"], pong["result"]) == ("a", {})
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["echo", "fail", "slow"]


def test_its_tools_do_what_they_say() -> None:
    echo, fail, slow, none = talk(
        {"id": 1, **call("echo", text="hi ✓")},
        {"id": 2, **call("fail", text="oh")},
        {"id": 3, **call("slow", seconds=0)},
        {"id": 4, **call("dance")},
    )
    assert echo["result"] == {"content": [{"type": "text", "text": "echo: hi ✓"}], "isError": False}
    assert fail["result"]["isError"]
    assert slow["result"]["content"][0]["text"] == "at last"
    assert none["result"]["isError"]


def test_a_method_that_it_does_not_know_is_an_error() -> None:
    (told,) = talk({"id": 5, "method": "resources/list"})
    assert told["error"]["code"] == -32601
