"""How the PyPI package claude-agent-sdk turns bytes into messages: its parts, and its `query()`.

It is imported by name, for it need not be installed where the types are checked.
"""

import asyncio
import json
import os
import shlex
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

# What `query()` wants of its child first: an answer to its request to initialize.
_HANDSHAKE = r"""
import json, os, sys
asked = json.loads(sys.stdin.readline())["request_id"]
answer = {"subtype": "success", "request_id": asked, "response": {}}
os.write(1, json.dumps({"type": "control_response", "response": answer}).encode() + b"\n")
os.execv(sys.argv[1], sys.argv[1:])
"""


class _Pipe:
    """A child's stdout."""

    def __init__(self, chunks: Sequence[bytes]) -> None:
        self._chunks = iter(chunks)

    async def receive(self) -> bytes:
        for chunk in self._chunks:
            return chunk
        raise import_module("anyio").EndOfStream


class _Child:
    """A child that has ended well."""

    async def wait(self) -> int:
        return 0


class Sdk:
    """Drives the SDK's own transport and parser; an ImportError says that it is not installed."""

    def __init__(self) -> None:
        package, inside = import_module("claude_agent_sdk"), "claude_agent_sdk._internal"
        self.name = f"claude-agent-sdk {package.__version__}"
        self._options = package.ClaudeAgentOptions
        self._ask = package.query
        self._text = import_module("anyio.streams.text").TextReceiveStream
        transport = import_module(f"{inside}.transport.subprocess_cli")
        self._transport = transport.SubprocessCLITransport
        self._query = import_module(f"{inside}.query").Query
        self._parse_message = import_module(f"{inside}.message_parser").parse_message

    def readable(self, lines: Sequence[bytes]) -> Iterator[bytes]:
        """Give the lines that it makes a message of."""
        for line in lines:
            try:
                message = self._parse_message(json.loads(line))
            except Exception:
                continue
            if message is not None:
                yield line

    def query(self, folder: Path, command: Sequence[str]) -> AsyncIterator[Any]:
        """The messages of `query()` whose agent is a command; a script in the folder starts it."""
        program = folder / "agent-of-the-sdk"
        first = [sys.executable, "-I", "-S", "-c", _HANDSHAKE]
        program.write_text(f"#!/bin/sh\nexec {shlex.join([*first, *command])}\n")
        program.chmod(0o700)
        options = self._options(cli_path=os.fspath(program), max_buffer_size=1 << 30, cwd=folder)
        messages: AsyncIterator[Any] = self._ask(prompt="x", options=options)
        return messages

    def parse(self, chunks: Sequence[bytes]) -> None:
        """Turn bytes into messages with its transport and its parser alone."""
        asyncio.run(self._parse_all(self._connected(chunks).read_messages()))

    def receive(self, chunks: Sequence[bytes]) -> None:
        """Turn bytes into messages on the way that all of them go: through its queue as well."""
        asyncio.run(self._receive(chunks))

    async def _receive(self, chunks: Sequence[bytes]) -> None:
        query = self._query(self._connected(chunks), is_streaming_mode=True)
        await query.start()
        await self._parse_all(query.receive_messages())
        query.close_receive_stream()

    async def _parse_all(self, messages: AsyncIterator[Any]) -> None:
        async for message in messages:
            self._parse_message(message)

    def _connected(self, chunks: Sequence[bytes]) -> Any:
        options = self._options(cli_path="claude", max_buffer_size=1 << 30)
        transport = self._transport(prompt="", options=options)
        transport._process = _Child()
        transport._stdout_stream = self._text(_Pipe(chunks))
        return transport
