"""The part of the table of options about what happens beside the display, and at the end."""

from typing import Annotated

import msgspec

from nightrook.config.option import Flag, Seconds, Text, Texts


class EndOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a run, a loop or a batch writes and calls for others."""

    on_end: Annotated[
        Text | None,
        Flag(
            help="Run a shell command once at the end; ROOK_STATUS and so on say how it ended.",
            metavar="CMD",
            setting=True,
        ),
    ] = None
    notify: Annotated[
        Texts,
        Flag(
            help="Send a message to this address of apprise at the end. Can be repeated.",
            metavar="URL",
            setting=True,
            secret=True,
        ),
    ] = ()
    desktop_after: Annotated[
        Seconds,
        Flag(
            help="On a terminal, show a desktop notification if it took at least this long.",
            setting=True,
            loosens="never",
        ),
    ] = 60.0
    no_desktop: Annotated[
        bool,
        Flag(help="Show no desktop notification.", setting=True, strict=(False,)),
    ] = False
    no_ci: Annotated[
        bool,
        Flag(
            help="In CI, write no groups, annotations, summary and outputs for the service.",
            setting=True,
            strict=(False,),
        ),
    ] = False
