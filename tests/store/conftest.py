"""A run folder for each test."""

from pathlib import Path

import pytest

from nightrook.store.run_folder import RunFolder, create_run
from tests.store.samples import INFO


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create_run(tmp_path / "home", INFO)
