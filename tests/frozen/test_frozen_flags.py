"""The commands and options of today are there, and take what they take today."""

import json
from typing import Any

import pytest
from tests.frozen.rook import HERE, flags

STORED: dict[str, dict[str, Any]] = json.loads((HERE / "flags.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", STORED)
def test_a_command_has_the_options_of_today(command: str) -> None:
    offered = flags()[command]
    assert STORED[command].keys() <= offered.keys()
    assert {word: _as_stored(offered[word], kind) for word, kind in STORED[command].items()} == (
        STORED[command]
    )


def _as_stored(offered: Any, stored: Any) -> Any:
    """An option may take further choices and be given more often, and nothing else."""
    if isinstance(offered, list) and isinstance(stored, list):
        return [choice for choice in stored if choice in offered]
    return stored if (offered, stored) == ("values", "value") else offered
