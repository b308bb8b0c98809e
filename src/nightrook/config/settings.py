"""The options that `rook.toml` and `ROOK_…` variables can set, and those that only a user can."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from nightrook.config.option import (
    Bytes,
    Count,
    Dollars,
    File,
    Flag,
    Folders,
    Option,
    Seconds,
    Text,
    Texts,
    rows,
)
from nightrook.config.options import EndOptions, RunOptions, ViewOptions
from nightrook.model.permissions import OF_WORKERS, Permission

Keep = Literal["text", "raw", "counts"]
"""Part of stored sessions that is kept when an agent deletes its files."""


class UserOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Settings that apply to every command and to the library."""

    prices_file: Annotated[
        File | None,
        Flag(
            "A file with your own prices of models, which come before the list prices.",
            setting=True,
            only_users=True,
        ),
    ] = None
    archive_roots: Annotated[
        Folders,
        Flag(
            "More homes whose stored sessions count, such as a copy from another machine.",
            setting=True,
            only_users=True,
        ),
    ] = ()
    archive_keep: Annotated[
        Keep,
        Flag(
            "What stays of sessions that were searched when an agent deletes its files: the "
            "texts, raw copies of the files too, or only the counts of the ledger.",
            setting=True,
            only_users=True,
        ),
    ] = "text"
    fleet_credentials: Annotated[
        Text | None,
        Flag(
            "The fleet to run on: your file of credentials, or the address of a server "
            "without accounts.",
            setting=True,
            only_users=True,
        ),
    ] = None
    worker_permissions: Annotated[
        Annotated[tuple[Permission, ...], Meta(title="a list of permissions")],
        Flag("What jobs of a fleet may ask for on this machine.", setting=True, only_users=True),
    ] = OF_WORKERS
    worker_agents: Annotated[
        Texts,
        Flag(
            "The agents that jobs of a fleet may use on this machine (default: all that are "
            "installed).",
            setting=True,
            only_users=True,
        ),
    ] = ()
    worker_args: Annotated[
        bool,
        Flag(
            "Whether jobs of a fleet may pass arguments and rules to agents on this machine.",
            setting=True,
            only_users=True,
        ),
    ] = False
    worker_max_cost: Annotated[
        Dollars | None,
        Flag("What a job of a fleet may cost at most here.", setting=True, only_users=True),
    ] = None
    worker_max_tokens: Annotated[
        Count | None,
        Flag("How many tokens a job of a fleet may use here.", setting=True, only_users=True),
    ] = None
    worker_max_turns: Annotated[
        Count | None,
        Flag("How many turns a job of a fleet may take here.", setting=True, only_users=True),
    ] = None
    worker_timeout: Annotated[
        Seconds | None,
        Flag("How long a job of a fleet may take here.", setting=True, only_users=True),
    ] = None
    worker_keep: Annotated[
        Seconds,
        Flag(
            "How long the folders of a fleet's runs stay on this machine once the server has them.",
            setting=True,
            only_users=True,
        ),
    ] = 604_800.0
    worker_keep_size: Annotated[
        Bytes,
        Flag(
            "How much the folders of a fleet's runs that the server has may take here; the "
            "oldest are removed.",
            setting=True,
            only_users=True,
        ),
    ] = 10_000_000_000


SETTINGS: Mapping[str, Option] = MappingProxyType(
    {
        row.name: row
        for struct in (RunOptions, ViewOptions, EndOptions, UserOptions)
        for row in rows(struct)
        if row.flag.setting
    }
)
"""Settings by name."""
