"""The part of the table of options that belongs to `rook batch`."""

from typing import Annotated

import msgspec

from rookery.config.option import Count, Dollars, Flag, Name


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
    json: Annotated[bool, Flag(help="Print each result as a JSON line.")] = False
