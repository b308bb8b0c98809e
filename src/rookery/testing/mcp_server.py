"""A small MCP server over standard input and output; a program of its own, stdlib only.

Its tools: `echo` gives a text back, `fail` says that it failed, `slow` waits for some seconds.
"""

import json
import sys
import time
from typing import Any

Json = dict[str, Any]

_VERSION = "2025-06-18"
_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
_SECONDS = {"type": "object", "properties": {"seconds": {"type": "number"}}}
TOOLS: list[Json] = [
    {"name": "echo", "description": "Gives a text back.", "inputSchema": _TEXT},
    {"name": "fail", "description": "Always fails.", "inputSchema": _TEXT},
    {"name": "slow", "description": "Waits.", "inputSchema": _SECONDS},
]


def call(name: str, arguments: Json) -> Json:
    """Call a tool and give its result."""
    text = str(arguments.get("text", ""))
    if name == "echo":
        return _result(f"echo: {text}")
    if name == "fail":
        return _result(f"it went wrong: {text}", failed=True)
    if name == "slow":
        time.sleep(float(arguments.get("seconds", 30)))
        return _result("at last")
    return _result(f"there is no tool {name!r}", failed=True)


def answer(method: str, params: Json) -> Json | None:
    """The result of a request; None if the server knows no such method."""
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", _VERSION),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "scripted", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return call(str(params.get("name")), params.get("arguments") or {})
    return {} if method == "ping" else None


def main() -> None:
    """Answer requests, a line each, until standard input ends; notifications get no answer."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" not in request or "method" not in request:
            continue
        result = answer(request["method"], request.get("params") or {})
        told: Json = {"jsonrpc": "2.0", "id": request["id"]}
        if result is None:
            told["error"] = {"code": -32601, "message": f"no method {request['method']!r}"}
        else:
            told["result"] = result
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


def _result(text: str, *, failed: bool = False) -> Json:
    return {"content": [{"type": "text", "text": text}], "isError": failed}


if __name__ == "__main__":
    main()
