"""The real OpenCode, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and names its program in ROOK_TEST_OPENCODE.
"""

import os
from pathlib import Path

import pytest

from tests.conformance.opencode_family import FamilyBench, FamilyScenarios, member

OPENCODE = os.environ.get("ROOK_TEST_OPENCODE", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not OPENCODE, reason="ROOK_TEST_OPENCODE is not set"),
]

OFF = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
}


@pytest.fixture
def bench(tmp_path: Path) -> FamilyBench:
    return FamilyBench(tmp_path, "opencode", OPENCODE, OFF)


class TestOpenCode(FamilyScenarios):
    agent = member("opencode")
