"""`rook worker --check`: what this machine is like as a worker, without taking a job."""

import asyncio

import click

from nightrook.config.user_settings import fleet_credentials
from nightrook.fleet.accounts.check import Finding, check_machine, check_server
from nightrook.fleet.connection import Address, FleetError, connected
from nightrook.model.safe import safe_line
from nightrook.store.home import home_folder
from nightrook.version import __version__

_MARKS = {"ok": "ok      ", "note": "note    ", "warning": "WARNING "}


def check(named: str | None, address: Address, agents: tuple[str, ...]) -> int:
    """Print what was found; return 1 if there is a warning."""
    source = named or fleet_credentials() or ""
    findings = [*check_machine(source, home_folder()), asyncio.run(_server(address))]
    if agents:
        findings.append(Finding("ok", f"agents installed here: {', '.join(agents)}"))
    else:
        findings.append(Finding("warning", "none of the agents is installed: see rook agents"))
    for level, text in findings:
        click.echo(safe_line(_MARKS[level] + text))
    return int(any(finding.level == "warning" for finding in findings))


async def _server(address: Address) -> Finding:
    try:
        async with connected(address) as connection:
            version = connection.client.connected_server_version
            return check_server((version.major, version.minor, version.patch), __version__)
    except FleetError as error:
        return Finding("warning", str(error))
