"""A small MCP server on standard input and output: `echo`, `fail` and `image`. A program.

It uses the standard library alone, so any agent can start it as `python -I -S mcp_server.py`.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJg"
    "gg=="
)
_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_NOTHING: Json = {"type": "object", "properties": {}}
_TOOLS = (
    {"name": "echo", "description": "Gives back a text.", "inputSchema": _TEXT},
    {"name": "fail", "description": "Fails, and says the text.", "inputSchema": _TEXT},
    {"name": "image", "description": "Gives a picture of one pixel.", "inputSchema": _NOTHING},
)


def call(name: str, arguments: Mapping[str, Any]) -> Json | None:
    """The result of a call; None if there is no such tool."""
    text = str(arguments.get("text", ""))
    if name == "echo":
        return {"content": [{"type": "text", "text": f"echo: {text}"}]}
    if name == "fail":
        return {"content": [{"type": "text", "text": f"it failed: {text}"}], "isError": True}
    if name == "image":
        picture = {"type": "image", "data": _PIXEL, "mimeType": "image/png"}
        return {"content": [{"type": "text", "text": "a pixel"}, picture]}
    return None


def answer(request: Json) -> Json | None:
    """The answer to a message of JSON-RPC; None if it wants none."""
    if "id" not in request or "method" not in request:
        return None
    method, given = request["method"], request.get("params") or {}
    result: Json | None = None
    if method == "initialize":
        result = {
            "protocolVersion": given.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "rookery-testing", "version": "1"},
        }
    elif method == "ping":
        result = {}
    elif method == "tools/list":
        result = {"tools": list(_TOOLS)}
    elif method == "tools/call":
        result = call(str(given.get("name")), given.get("arguments") or {})
    head = {"jsonrpc": "2.0", "id": request["id"]}
    if result is None:
        return {**head, "error": {"code": -32601, "message": f"there is no {method}"}}
    return {**head, "result": result}


def main() -> None:
    """Answer until standard input ends."""
    for line in sys.stdin:
        try:
            request = json.loads(line)
        except ValueError:
            continue
        found = answer(request) if isinstance(request, dict) else None
        if found is not None:
            sys.stdout.write(json.dumps(found) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
