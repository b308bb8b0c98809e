"""A small MCP server on stdin and stdout with the tools `echo`, `fail` and `image`.

It uses only the standard library, so any agent can start it as `python -I -S mcp_server.py`.
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
    {"name": "echo", "description": "Returns a text.", "inputSchema": _TEXT},
    {"name": "fail", "description": "Fails with the text.", "inputSchema": _TEXT},
    {"name": "image", "description": "Returns an image of one pixel.", "inputSchema": _NOTHING},
)


def call(name: str, arguments: Mapping[str, Any]) -> Json | None:
    """The result of a call; None if the tool does not exist."""
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
    """The response to a JSON-RPC message; None if it needs none."""
    if "id" not in request or "method" not in request:
        return None
    method, params = request["method"], request.get("params") or {}
    result: Json | None = None
    if method == "initialize":
        result = {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "nightrook-testing", "version": "1"},
        }
    elif method == "ping":
        result = {}
    elif method == "tools/list":
        result = {"tools": list(_TOOLS)}
    elif method == "tools/call":
        result = call(str(params.get("name")), params.get("arguments") or {})
    head = {"jsonrpc": "2.0", "id": request["id"]}
    if result is None:
        return {**head, "error": {"code": -32601, "message": f"there is no {method}"}}
    return {**head, "result": result}


def main() -> None:
    """Answer messages until stdin ends."""
    for line in sys.stdin:
        try:
            request = json.loads(line)
        except ValueError:
            continue
        response = answer(request) if isinstance(request, dict) else None
        if response is not None:
            sys.stdout.write(json.dumps(response) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
