"""The part of the table of options about what happens beside the display, and at the end."""

from typing import Annotated

import msgspec

from rookery.config.option import Flag


class EndOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a run, a loop or a batch writes and calls for others."""

    no_ci: Annotated[
        bool,
        Flag(
            help="In CI, write no groups, annotations, summary and outputs for the service.",
            setting=True,
            strict=(False,),
        ),
    ] = False
