"""The options that `rook.toml` and `ROOK_…` variables can set."""

from collections.abc import Mapping
from types import MappingProxyType

from nightrook.config.end_options import EndOptions
from nightrook.config.option import Option, rows
from nightrook.config.options import RunOptions, ViewOptions
from nightrook.config.user_options import UserOptions

SETTINGS: Mapping[str, Option] = MappingProxyType(
    {
        row.name: row
        for struct in (RunOptions, ViewOptions, EndOptions, UserOptions)
        for row in rows(struct)
        if row.flag.setting
    }
)
"""All settings by name."""
