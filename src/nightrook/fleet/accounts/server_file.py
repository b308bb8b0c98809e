"""The configuration of nats-server, made from the members of the fleet."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nightrook.fleet import subjects
from nightrook.fleet.accounts.members import Members
from nightrook.fleet.accounts.rights import Right, viewer_rights, worker_rights

SERVER_FILE = "server.conf"
PID_FILE = "server.pid"

_FLEET = "FLEET"
_VIEWERS = "VIEWERS"
_MAX_PAYLOAD = 1024 * 1024


def server_file(fleet: Members, folder: Path) -> str:
    """Return the text of the server's file: its address, its streams, and all permissions."""
    rights = _rights(fleet)
    lines = [
        "# Made by rook fleet; rook fleet add-worker and remove-worker make it again.",
        f"listen: {_text(_listen(fleet))}",
        'server_name: "rook-fleet"',
        f"max_payload: {_MAX_PAYLOAD}",
        f"pid_file: {_text(folder / PID_FILE)}",
        f"jetstream {{ store_dir: {_text(folder / 'store')} }}",
        *(_tls(folder) if fleet.tls else ()),
        "accounts {",
        *_fleet_account(fleet.boss, rights),
        *_account(_VIEWERS, fleet.viewer, "viewer", rights[_VIEWERS]),
    ]
    for name, worker in sorted(fleet.workers.items()):
        lines += _account(_account_of(name), worker.key, name, rights[_account_of(name)])
    return "\n".join([*lines, "}", ""])


def _rights(fleet: Members) -> dict[str, list[Right]]:
    """The rights of each account but that of the fleet."""
    workers = {
        _account_of(name): worker_rights(name, worker.labels, worker.agents)
        for name, worker in fleet.workers.items()
    }
    return {_VIEWERS: viewer_rights(), **workers}


def _account_of(worker: str) -> str:
    return f"WORKER-{subjects.token(worker)}"


def _listen(fleet: Members) -> str:
    host = f"[{fleet.host}]" if ":" in fleet.host else fleet.host
    return f"{host}:{fleet.port}"


def _tls(folder: Path) -> Iterator[str]:
    yield "tls {"
    yield f"  cert_file: {_text(folder / 'tls' / 'server.pem')}"
    yield f"  key_file: {_text(folder / 'tls' / 'server.key')}"
    yield '  min_version: "1.3"'
    yield "}"


def _fleet_account(boss: str, rights: Mapping[str, Iterable[Right]]) -> Iterator[str]:
    """The account that has the streams; it shows each subject to those accounts that it names."""
    shown: dict[Right, list[str]] = {}
    for account, those in rights.items():
        for right in those:
            shown.setdefault(right, []).append(account)
    yield f"  {_FLEET}: {{"
    yield "    jetstream: enabled"
    yield f"    users: [{{ nkey: {_text(boss)} }}]"
    yield "    exports: ["
    for right, accounts in shown.items():
        names = ", ".join(_text(account) for account in accounts)
        yield f"      {{ {_export(right)}, accounts: [{names}] }}"
    yield "    ]"
    yield "  }"


def _export(right: Right) -> str:
    if right.kind == "receive":
        return f"stream: {_text(right.subject)}"
    replies = ", response_type: stream" if right.many_replies else ""
    return f"service: {_text(right.subject)}{replies}"


def _account(account: str, key: str, name: str, rights: Iterable[Right]) -> Iterator[str]:
    """An account without streams, which has only its imports."""
    send = [right.subject for right in rights if right.kind == "send"]
    receive = [right.subject for right in rights if right.kind == "receive"]
    inbox = f"{subjects.inbox(name)}.>"
    yield f"  {_text(account)}: {{"
    yield "    users: [{"
    yield f"      nkey: {_text(key)}"
    yield "      permissions: {"
    yield f"        publish: {_list(send)}"
    yield f"        subscribe: {_list([inbox, *receive])}"
    yield "      }"
    yield "    }]"
    yield "    imports: ["
    for kind, imported in (("service", send), ("stream", receive)):
        for subject in imported:
            yield f"      {{ {kind}: {{ account: {_FLEET}, subject: {_text(subject)} }} }}"
    yield "    ]"
    yield "  }"


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(_text(value) for value in values)}]"


def _text(value: str | Path) -> str:
    return json.dumps(str(value))  # the file takes JSON's strings, with their escapes
