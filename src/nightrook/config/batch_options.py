"""The part of the table of options that belongs to `rook batch`."""

from typing import Annotated

import msgspec

from nightrook.config.fleet.options import CREDENTIALS_HELP, FILES_HELP
from nightrook.config.option import Count, Dollars, Flag, Name, Text, Texts


class BatchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `rook batch`; None means not given."""

    jobs: Annotated[
        Count | None, Flag(help="Run up to N tasks at once.", metavar="N", default="2")
    ] = None
    budget: Annotated[
        Dollars | None,
        Flag(
            help="Stop when all tasks together have cost this much.",
            words=("--max-cost",),
            metavar="USD",
        ),
    ] = None
    max_cost_unchecked: Annotated[
        bool,
        Flag(
            help="Run even if --max-cost cannot stop a task, because its cost is not known in time."
        ),
    ] = False
    resume: Annotated[
        Name | None,
        Flag(
            help="Continue a batch with the tasks that have no result yet.",
            metavar="BATCH",
            completes="batches",
        ),
    ] = None
    worktree: Annotated[
        bool, Flag(help="Run each task in a separate git worktree, on a new branch.")
    ] = False
    detach: Annotated[
        bool,
        Flag(help="Run in the background and print the batch's name.", words=("--detach", "-d")),
    ] = False
    fleet: Annotated[
        bool, Flag(help="Run the tasks on the machines of your fleet instead of here.")
    ] = False
    repo: Annotated[
        bool,
        Flag(
            help="On a fleet: each task works on a copy of the repository of its folder; rook diff "
            "shows what its run changed."
        ),
    ] = False
    files: Annotated[Texts, Flag(help=FILES_HELP, metavar="PATTERN")] = ()
    retry_lost: Annotated[
        Count | None,
        Flag(help="On a fleet: try a task whose run was lost N more times.", metavar="N"),
    ] = None
    credentials: Annotated[
        Text | None,
        Flag(help=CREDENTIALS_HELP, metavar="FILE", default="your setting fleet_credentials"),
    ] = None
    json: Annotated[bool, Flag(help="Print each result as a JSON line.")] = False
