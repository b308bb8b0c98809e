"""The part of the table of options that only the user's own settings have, and no command."""

from typing import Annotated

import msgspec

from rookery.config.option import File, Flag, Folders


class UserOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Settings that apply to every command and to the library."""

    prices_file: Annotated[
        File | None,
        Flag(
            help="A file with your own prices of models, which come before the list prices.",
            setting=True,
            only_users=True,
        ),
    ] = None
    archive_roots: Annotated[
        Folders,
        Flag(
            help="More homes whose stored sessions count, such as a copy from another machine.",
            setting=True,
            only_users=True,
        ),
    ] = ()
