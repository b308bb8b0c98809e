"""`rook worker`: takes jobs of a fleet on this machine."""

import asyncio
import shutil
import signal
from dataclasses import replace

import click

from nightrook import agents
from nightrook.cli.options.parameters import takes
from nightrook.cli.terminal.output import say
from nightrook.config.fleet_options import WorkerOptions
from nightrook.config.options import LIMIT_OPTIONS
from nightrook.config.user_settings import fleet_credentials, worker_settings
from nightrook.fleet.accounts.check import Finding, check_machine, check_server
from nightrook.fleet.accounts.credentials import Credentials, chosen_fleet
from nightrook.fleet.connection import Address, FleetError, connected, shown_url
from nightrook.fleet.subjects import ANY, machine_name, token
from nightrook.fleet.worker.pruning import Keep
from nightrook.fleet.worker.rights import WorkerRights
from nightrook.fleet.worker.worker import Worker, WorkerPlan
from nightrook.model.safe import safe_line
from nightrook.process.systems.this_system import system
from nightrook.store.home import home_folder
from nightrook.version import __version__

_EXAMPLES = """\b
Examples:
  rook worker --credentials fd:3 3< ada.json
  rook worker --credentials ada.json --jobs 4 --label gpu
  rook worker --credentials ada.json --check
"""
_WORKERS = "workers"
_MARKS = {"ok": "ok      ", "note": "note    ", "warning": "WARNING "}


@click.command("worker", epilog=_EXAMPLES)
@takes("worker", WorkerOptions)
def command(options: WorkerOptions) -> None:
    """Take jobs of a fleet, run them on this machine, and send all that they write.

    What jobs may do here is set by your own settings (the table [worker]); a job cannot loosen it.
    The first Ctrl-C or SIGTERM finishes what runs and takes no more jobs, the second one stops it,
    the third one kills it.
    """
    address, credentials = chosen_fleet(options.credentials)
    if options.check:
        chosen = options.agent or (credentials.agents if credentials else ())
        raise click.exceptions.Exit(_check(options.credentials, address, _found(chosen)))
    plan = _plan(options, credentials)
    system.become_subreaper()  # what a killed recorder leaves behind becomes ours
    asyncio.run(_work(replace(address, user=plan.name), plan))


def _plan(options: WorkerOptions, credentials: Credentials | None) -> WorkerPlan:
    name = token(options.name or (credentials.name if credentials else machine_name()))
    labels = options.label or tuple(
        label for label in (credentials.labels if credentials else ()) if label != ANY
    )
    settings = worker_settings()
    chosen = options.agent or settings["agents"] or (credentials.agents if credentials else ())
    rights = WorkerRights(
        agents=_installed(chosen),
        permissions=tuple(settings["permissions"]),
        allow_args=settings["args"],
        limits=LIMIT_OPTIONS.map(lambda name: settings[name]),
    )
    home = home_folder() / _WORKERS / name
    keep = Keep(settings["keep"], settings["keep_size"])
    return WorkerPlan(
        name=name, home=home, rights=rights, labels=labels, jobs=options.jobs, keep=keep
    )


def _installed(chosen: tuple[str, ...]) -> tuple[str, ...]:
    found = _found(chosen)
    if not found:
        raise FleetError("none of the agents is installed here: rook agents lists them")
    return found


def _found(chosen: tuple[str, ...]) -> tuple[str, ...]:
    """The agents among these that are on this machine."""
    known = (agents.agent(name) for name in chosen or agents.names())
    return tuple(each.name for each in known if any(map(shutil.which, each.programs[:1])))


async def _work(address: Address, plan: WorkerPlan) -> None:
    say(f"{plan.name} connects to {shown_url(address.url)}")
    async with connected(address, patience_s=None) as connection:
        working = Worker(connection, plan)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, _end, working, number.name)
        names = ", ".join(plan.rights.agents)
        say(f"{plan.name} takes up to {plan.jobs} at once, for {names}")
        await working.run()


def _end(working: Worker, by: str) -> None:
    if working.draining.is_set():
        working.stop(by)
    else:
        say("it finishes what runs, and takes no more jobs")
        working.drain()


def _check(named: str | None, address: Address, found: tuple[str, ...]) -> int:
    """Print the checks of this machine as a worker; return 1 if there is a warning."""
    source = named or fleet_credentials() or ""
    findings = [*check_machine(source, home_folder()), asyncio.run(_server(address))]
    if found:
        findings.append(Finding("ok", f"agents installed here: {', '.join(found)}"))
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
