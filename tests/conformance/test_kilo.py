"""The real Kilo CLI, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and names its program in ROOK_TEST_KILO.
"""

import os
from pathlib import Path

import pytest

from tests.conformance.opencode_family import FamilyBench, FamilyScenarios, member

KILO = os.environ.get("ROOK_TEST_KILO", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not KILO, reason="ROOK_TEST_KILO is not set"),
]

OFF = {
    "KILO_DISABLE_AUTOUPDATE": "1",
    "KILO_DISABLE_DEFAULT_PLUGINS": "1",
    "KILO_DISABLE_LSP_DOWNLOAD": "1",
    "KILO_DISABLE_MODELS_FETCH": "1",
    "KILO_DISABLE_CODEBASE_INDEXING": "1",
    "KILO_DISABLE_PRESENCE": "1",
    "KILO_DISABLE_SESSION_INGEST": "1",
    "KILO_TELEMETRY_LEVEL": "off",
}


@pytest.fixture
def bench(tmp_path: Path) -> FamilyBench:
    return FamilyBench(tmp_path, "kilo", KILO, OFF)


class TestKilo(FamilyScenarios):
    agent = member("kilo")
