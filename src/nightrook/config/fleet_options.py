"""The table of options of the commands that make a fleet and work for it."""

from typing import Annotated

import msgspec

from nightrook.config.command_options import Port
from nightrook.config.option import Count, Flag, Folder, Name, Text, Texts

CredentialsOption = Annotated[
    Text | None,
    Flag(
        "Your credentials for the fleet: a file, fd:N, - for standard input, or the address of a "
        "server without accounts.",
        group="Fleet",
        metavar="FILE",
        default="your setting fleet_credentials",
    ),
]


class FleetOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook fleet`."""

    credentials: CredentialsOption = None
    json: Annotated[bool, Flag("status: print each machine as a JSON line.")] = False

    folder: Annotated[Folder, Flag("The folder that rook fleet init made.", metavar="FOLDER")] = "."
    listen: Annotated[
        Name,
        Flag(
            "init: the address at which the server listens; any but one of this machine alone "
            "gets certificates.",
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1"
    port: Annotated[Port, Flag("init: the port of the server.", metavar="N")] = 4222
    address: Annotated[
        Name | None,
        Flag(
            "init: the name or address by which machines reach the server.",
            metavar="HOST",
            default="that of --listen",
        ),
    ] = None
    label: Annotated[
        Texts,
        Flag(
            "add-worker: also pull jobs for machines with this label. Can be repeated.",
            metavar="LABEL",
        ),
    ] = ()
    agent: Annotated[
        Texts,
        Flag(
            "add-worker: pull only jobs for this agent. Can be repeated.",
            metavar="NAME",
            default="all",
            completes="agents",
        ),
    ] = ()


class WorkerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook worker`."""

    credentials: CredentialsOption = None
    jobs: Annotated[Count, Flag("Run up to N jobs at once.", metavar="N")] = 1
    label: Annotated[
        Texts,
        Flag("Also take jobs for machines with this label. Can be repeated.", metavar="LABEL"),
    ] = ()
    agent: Annotated[
        Texts,
        Flag(
            "Take only jobs for this agent. Can be repeated.",
            metavar="NAME",
            default="all that are installed",
            completes="agents",
        ),
    ] = ()
    check: Annotated[
        bool,
        Flag(
            "Take no job; check this machine, and what an agent on it could read. Exit with "
            "code 1 if there is a warning."
        ),
    ] = False
    name: Annotated[
        Name | None,
        Flag("The name of this worker.", metavar="NAME", default="that of its credentials"),
    ] = None
