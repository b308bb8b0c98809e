"""The options that `rookery.toml` and `ROOKERY_…` variables can set."""

from collections.abc import Mapping
from types import MappingProxyType

from rookery.config.end_options import EndOptions
from rookery.config.option import Option, rows
from rookery.config.options import RunOptions, ViewOptions
from rookery.config.user_options import UserOptions

SETTINGS: Mapping[str, Option] = MappingProxyType(
    {
        row.name: row
        for struct in (RunOptions, ViewOptions, EndOptions, UserOptions)
        for row in rows(struct)
        if row.flag.setting
    }
)
"""All settings by name."""
