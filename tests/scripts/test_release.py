"""A release is refused unless the tree is clean, described and new."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def release(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("release")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that is ready to release 1.2.0."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [1.2.0] - 2025-01-31\n\n- New.\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_a_clean_tree_with_a_described_version_is_ready(
    release: ModuleType, repository: Path
) -> None:
    assert release.reasons_against(repository, "1.2.0") == []


def test_an_uncommitted_file_is_a_reason_against(release: ModuleType, repository: Path) -> None:
    (repository / "stray.txt").write_text("")
    [reason] = release.reasons_against(repository, "1.2.0")
    assert "stray.txt" in reason


def test_a_version_without_a_section_is_a_reason_against(
    release: ModuleType, repository: Path
) -> None:
    [reason] = release.reasons_against(repository, "1.3.0")
    assert "CHANGELOG.md" in reason


def test_a_version_is_released_once(release: ModuleType, repository: Path) -> None:
    release.tag(repository, "1.2.0")
    [reason] = release.reasons_against(repository, "1.2.0")
    assert "v1.2.0" in reason
