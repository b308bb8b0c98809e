"""Nothing leaves the machine: no module can connect, and a run with an estimate does not."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "nightrook"
NETWORK = {
    "aiohttp", "ftplib", "http", "httpx", "imaplib", "poplib", "requests", "smtplib", "socket",
    "socketserver", "ssl", "telnetlib", "urllib3", "websockets", "xmlrpc",
}  # fmt: skip
SERVERS = "testing"  # the scripted model APIs, which listen on 127.0.0.1 for a test
LOCAL = (
    "process/systems/",  # who is at the other end of a connection
    "runs/dialogue.py",  # a pair of sockets as an agent's standard input
    "runs/asking/",  # sockets in the file system, which no other machine reaches
    "web/address.py",  # listens, on 127.0.0.1 unless the user names another address
    "web/home_server.py",
    "web/uvicorn_server.py",
)
"""What uses sockets, and connects to no other machine."""
FLEET = "fleet/"
"""Connects, to the server that the user names; no other room imports it but the command line."""


WATCHED = """
import sys

CONNECTS = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")
seen = []
sys.addaudithook(lambda event, args: seen.append((event, args)) if event in CONNECTS else None)

import nightrook
from nightrook.prices.book import PriceBook
from nightrook.testing import agent_command

run = nightrook.run_sync("claude", "Go", program=agent_command("--script-play", "short"))
assert run.verdict.status == "success", run.verdict
assert nightrook.list_runs()[0].name == run.name
assert PriceBook()("claude-sonnet-4-5") is not None  # from the list of genai-prices
assert seen == [], seen
"""


def _imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_module_imports_what_connects() -> None:
    files = [file for file in SOURCE.rglob("*.py") if file.relative_to(SOURCE).parts[0] != SERVERS]
    found = [
        f"{file.relative_to(SOURCE)}: {name}"
        for file in files
        for name in _imports(file)
        if name.split(".")[0] in NETWORK or name.startswith("urllib.request")
        if not str(file.relative_to(SOURCE)).startswith((*LOCAL, FLEET))
    ]
    assert found == []


def test_what_uses_sockets_connects_to_none_but_those_of_runners() -> None:
    calls = re.compile(r"\.(?:connect|connect_ex|create_connection|open_connection|getaddrinfo)\(")
    files = [
        file for file in SOURCE.rglob("*.py") if str(file.relative_to(SOURCE)).startswith(LOCAL)
    ]
    connecting = {file.name for file in files if calls.search(file.read_text(encoding="utf-8"))}
    assert connecting == {"sockets.py"}


def test_only_the_fleet_imports_its_client() -> None:
    importing = {
        file.relative_to(SOURCE).parts[0]
        for file in SOURCE.rglob("*.py")
        if {name.split(".")[0] for name in _imports(file)} & {"nats", "nkeys"}
    }
    assert importing == {"fleet"}


def test_a_run_and_a_price_connect_to_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOK_HOME", str(tmp_path))
    subprocess.run([sys.executable, "-c", WATCHED], cwd=tmp_path, check=True, timeout=120)
