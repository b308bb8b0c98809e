"""The part of the table of options that belongs to fleets."""

from typing import Annotated

import msgspec

from nightrook.config.command_options import Port
from nightrook.config.option import Count, Flag, Folder, Name, Seconds, Text, Texts

CREDENTIALS_HELP = (
    "Your credentials for the fleet: a file, fd:N, - for standard input, or the address of a "
    "server without accounts."
)

REPO_HELP = "On a fleet: work on a copy of this repository; rook diff shows what changed."
FILES_HELP = (
    "With --repo: also bring back files that git ignores, by a pattern such as 'build/**'; rook "
    "apply --files unpacks them. Can be repeated."
)


class FleetOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook fleet`."""

    credentials: Annotated[
        Text | None,
        Flag(help=CREDENTIALS_HELP, metavar="FILE", default="your setting fleet_credentials"),
    ] = None
    json: Annotated[bool, Flag(help="status: print each machine as a JSON line.")] = False

    folder: Annotated[
        Folder, Flag(help="The folder that rook fleet init made.", metavar="FOLDER")
    ] = "."
    listen: Annotated[
        Name,
        Flag(
            help="init: the address at which the server listens; any but one of this machine alone "
            "gets certificates.",
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1"
    port: Annotated[Port, Flag(help="init: the port of the server.", metavar="N")] = 4222
    address: Annotated[
        Name | None,
        Flag(
            help="init: the name or address by which machines reach the server.",
            metavar="HOST",
            default="that of --listen",
        ),
    ] = None
    label: Annotated[
        Texts,
        Flag(
            help="add-worker: also pull jobs for machines with this label. Can be repeated.",
            metavar="LABEL",
        ),
    ] = ()
    agent: Annotated[
        Texts,
        Flag(
            help="add-worker: pull only jobs for this agent. Can be repeated.",
            metavar="NAME",
            default="all",
            completes="agents",
        ),
    ] = ()


class RemoteOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook run` for a run on a fleet, or one that a fleet can watch."""

    on: Annotated[
        Name | None,
        Flag(
            help="Run on a machine of your fleet instead of here; after a colon, one that has "
            "this label.",
            metavar="fleet[:LABEL]",
        ),
    ] = None
    retry_lost: Annotated[
        Count | None,
        Flag(help="On a fleet: try a run that was lost N more times.", metavar="N"),
    ] = None
    lease: Annotated[
        Seconds | None,
        Flag(
            help="On a fleet: how long a machine may be silent before its run is lost.",
            default="15s",
        ),
    ] = None
    repo: Annotated[
        bool,
        Flag(help=REPO_HELP),
    ] = False
    files: Annotated[Texts, Flag(help=FILES_HELP, metavar="PATTERN")] = ()
    sink: Annotated[
        Text | None,
        Flag(
            help="Run here, and send all of it to a fleet: its address, or your credentials.",
            metavar="URL|FILE",
        ),
    ] = None
    credentials: Annotated[
        Text | None,
        Flag(help=CREDENTIALS_HELP, metavar="FILE", default="your setting fleet_credentials"),
    ] = None


class WorkerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook worker`."""

    credentials: Annotated[
        Text | None,
        Flag(help=CREDENTIALS_HELP, metavar="FILE", default="your setting fleet_credentials"),
    ] = None
    jobs: Annotated[Count, Flag(help="Run up to N jobs at once.", metavar="N")] = 1
    label: Annotated[
        Texts,
        Flag(help="Also take jobs for machines with this label. Can be repeated.", metavar="LABEL"),
    ] = ()
    agent: Annotated[
        Texts,
        Flag(
            help="Take only jobs for this agent. Can be repeated.",
            metavar="NAME",
            default="all that are installed",
            completes="agents",
        ),
    ] = ()
    check: Annotated[
        bool,
        Flag(
            help="Take no job; check this machine, and what an agent on it could read. Exit with "
            "code 1 if there is a warning."
        ),
    ] = False
    name: Annotated[
        Name | None,
        Flag(help="The name of this worker.", metavar="NAME", default="that of its credentials"),
    ] = None
