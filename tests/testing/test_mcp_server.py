"""The small MCP server, as the program that agents start."""

import json
import subprocess
from typing import Any

from nightrook.testing import mcp_command


def talk(*messages: dict[str, Any] | str) -> list[dict[str, Any]]:
    """Say these messages to the server, close its input, and give what it answers."""
    lines = [m if isinstance(m, str) else json.dumps(m) for m in messages]
    done = subprocess.run(
        mcp_command(),
        input="".join(f"{line}\n" for line in lines),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=60,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def request(id: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def test_it_introduces_itself_and_lists_its_tools() -> None:
    hello, pong, listed = talk(
        request(1, "initialize", protocolVersion="2024-11-05", capabilities={}),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request(2, "ping"),
        request(3, "tools/list"),
    )
    assert hello["id"] == 1
    assert hello["result"]["protocolVersion"] == "2024-11-05"
    assert hello["result"]["capabilities"] == {"tools": {}}
    assert pong == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["echo", "fail", "image"]
    assert all(tool["inputSchema"]["type"] == "object" for tool in listed["result"]["tools"])


def test_its_tools_work_and_fail() -> None:
    echo, fail, image = talk(
        request(1, "tools/call", name="echo", arguments={"text": "hi ✓"}),
        request(2, "tools/call", name="fail", arguments={"text": "x"}),
        request(3, "tools/call", name="image"),
    )
    assert echo["result"] == {"content": [{"type": "text", "text": "echo: hi ✓"}]}
    assert fail["result"]["isError"] is True
    assert fail["result"]["content"][0]["text"] == "it failed: x"
    assert [part["type"] for part in image["result"]["content"]] == ["text", "image"]
    assert image["result"]["content"][1]["data"].startswith("iVBORw0KGgo")


def test_unknown_methods_are_errors_and_other_lines_are_skipped() -> None:
    unknown, missing = talk(
        "no JSON",
        "[]",
        request(1, "resources/list"),
        request(2, "tools/call", name="dance", arguments={}),
    )
    assert unknown["error"]["code"] == missing["error"]["code"] == -32601
