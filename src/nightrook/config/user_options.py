"""The part of the table of options that only the user's own settings have, and no command."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from nightrook.adapter.agent import Permission
from nightrook.config.option import Bytes, Count, Dollars, File, Flag, Folders, Seconds, Text, Texts

Keep = Literal["text", "raw", "counts"]
"""What stays of stored sessions when an agent deletes its files."""


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
    archive_keep: Annotated[
        Keep,
        Flag(
            help="What stays of sessions that were searched when an agent deletes its files: the "
            "texts, raw copies of the files too, or only the counts of the ledger.",
            setting=True,
            only_users=True,
        ),
    ] = "text"
    fleet_credentials: Annotated[
        Text | None,
        Flag(
            help="The fleet to run on: your file of credentials, or the address of a server "
            "without accounts.",
            setting=True,
            only_users=True,
        ),
    ] = None
    worker_permissions: Annotated[
        Annotated[tuple[Permission, ...], Meta(title="a list of permissions")],
        Flag(
            help="What jobs of a fleet may ask for on this machine.", setting=True, only_users=True
        ),
    ] = ("plan", "ask", "edit", "agent")
    worker_agents: Annotated[
        Texts,
        Flag(
            help="The agents that jobs of a fleet may use on this machine (default: all that are "
            "installed).",
            setting=True,
            only_users=True,
        ),
    ] = ()
    worker_args: Annotated[
        bool,
        Flag(
            help="Whether jobs of a fleet may pass arguments and rules to agents on this machine.",
            setting=True,
            only_users=True,
        ),
    ] = False
    worker_max_cost: Annotated[
        Dollars | None,
        Flag(help="What a job of a fleet may cost at most here.", setting=True, only_users=True),
    ] = None
    worker_max_tokens: Annotated[
        Count | None,
        Flag(help="How many tokens a job of a fleet may use here.", setting=True, only_users=True),
    ] = None
    worker_max_turns: Annotated[
        Count | None,
        Flag(help="How many turns a job of a fleet may take here.", setting=True, only_users=True),
    ] = None
    worker_timeout: Annotated[
        Seconds | None,
        Flag(help="How long a job of a fleet may take here.", setting=True, only_users=True),
    ] = None
    worker_keep: Annotated[
        Seconds,
        Flag(
            help="How long the folders of a fleet's runs stay on this machine once the server has "
            "them.",
            setting=True,
            only_users=True,
        ),
    ] = 604_800.0
    worker_keep_size: Annotated[
        Bytes,
        Flag(
            help="How much the folders of a fleet's runs that the server has may take here; the "
            "oldest are removed.",
            setting=True,
            only_users=True,
        ),
    ] = 10_000_000_000
