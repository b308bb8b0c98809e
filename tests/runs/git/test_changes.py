"""What a run changed elsewhere, applied to a checkout: merged, or refused without a trace."""

import os
from pathlib import Path

import pytest

from nightrook.model.errors import NightrookError
from nightrook.runs.git.changes import ApplyError, Change, apply_change, write_diff
from nightrook.runs.git.repository import Repository, find_repository
from tests.fleet.repository.checkouts import ODD, commit, files, git, rich, small, state


def repo(folder: Path) -> Repository:
    found = find_repository(str(folder))
    assert found is not None
    return found


def elsewhere(home: Path, place: Path) -> Path:
    """A checkout of the last commit where an agent works."""
    git(home, "worktree", "add", "--quiet", "--detach", str(place))
    return place


def change_of(home: Path, place: Path) -> Change:
    """What was committed there since."""
    commit(place, "Work of the agent")
    base, result = (git(folder, "rev-parse", "HEAD").strip() for folder in (home, place))
    return Change(base=base, result=result)


def applied(home: Path, change: Change, keep: Path, *paths: str) -> tuple[str, ...]:
    done = apply_change(repo(home), change, keep, cwd=str(home), paths=paths)
    return done.files


def test_every_kind_of_change_is_applied_to_the_files_and_to_nothing_else(tmp_path: Path) -> None:
    home = rich(tmp_path / "home")
    git(home, "reset", "--quiet", "--hard")
    git(home, "clean", "-dfqx")
    place = elsewhere(home, tmp_path / "place")
    (place / "a.txt").write_text("agent\n")
    (place / "lines.crlf").write_bytes(b"one\r\nTHREE\r\n")
    (place / "data.bin").write_bytes(bytes(range(255, -1, -1)) * 9)
    (place / "tool.sh").chmod(0o644)
    (place / "link").unlink()
    (place / "link").symlink_to("b.txt")
    git(place, "mv", "sub/deep.txt", "sub/moved.txt")
    odd = os.fsdecode(os.path.join(os.fsencode(place), ODD))
    Path(odd).write_text("changed\n")
    Path(odd + "2").write_text("new\n")
    change = change_of(home, place)
    before = state(home / ".git")
    names = applied(home, change, tmp_path / "keep")
    assert len(names) == 9
    assert files(home).items() >= {n: f for n, f in files(place).items() if n != ".git"}.items()
    assert not (home / "sub" / "deep.txt").exists()
    assert {n: f for n, f in state(home / ".git").items() if "/worktrees/" not in n} == {
        n: f for n, f in before.items() if "/worktrees/" not in n
    }
    assert git(home, "diff", "--cached", "--name-only") == ""


def test_commits_that_the_user_made_meanwhile_are_merged(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    place = elsewhere(home, tmp_path / "place")
    (place / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
    change = change_of(home, place)
    (home / "a.txt").write_text("ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n")
    commit(home, "Change it too")
    assert applied(home, change, tmp_path / "keep") == ("a.txt",)
    assert (home / "a.txt").read_text() == "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n"
    assert applied(home, change, tmp_path / "again") == ()


def test_a_conflict_changes_nothing(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    place = elsewhere(home, tmp_path / "place")
    (place / "a.txt").write_text("agent\n")
    (place / "b.txt").write_text("agent\n")
    change = change_of(home, place)
    (home / "a.txt").write_text("user\n")
    commit(home, "Change it too")
    before = state(home)
    with pytest.raises(ApplyError, match=r"conflicts with your commits in a\.txt.*--branch NAME"):
        applied(home, change, tmp_path / "keep")
    assert state(home) == before


@pytest.mark.parametrize("name", ["a.txt", "new.txt", "ignored.log"])
def test_a_file_with_changes_of_the_user_is_never_written(tmp_path: Path, name: str) -> None:
    home = small(tmp_path / "home")
    (home / ".gitignore").write_text("*.log\n")
    commit(home, "Ignore logs")
    place = elsewhere(home, tmp_path / "place")
    (place / name).write_text("agent\n")
    git(place, "add", "--force", name)
    change = change_of(home, place)
    with open(home / name, "a") as file:
        file.write("of the user\n")
    before = state(home)
    with pytest.raises(ApplyError, match="you have changed files"):
        applied(home, change, tmp_path / "keep")
    assert state(home) == before


def test_an_uncommitted_change_that_merges_is_not_touched_either(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    place = elsewhere(home, tmp_path / "place")
    (place / "a.txt").write_text("one\ntwo\nthree\nfour\nfive\nsix\nSEVEN\n")
    change = change_of(home, place)
    (home / "a.txt").write_text("ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n")
    with pytest.raises(ApplyError, match=r"you have changed files .*: a\.txt; .*commit or stash"):
        applied(home, change, tmp_path / "keep")
    assert (home / "a.txt").read_text().startswith("ONE")


def test_changes_in_other_files_do_not_matter(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    place = elsewhere(home, tmp_path / "place")
    (place / "a.txt").write_text("agent\n")
    (place / "sub").mkdir()
    (place / "sub" / "c.txt").write_text("agent\n")
    change = change_of(home, place)
    (home / "b.txt").write_text("of the user\n")
    assert applied(home, change, tmp_path / "keep", "sub") == ("sub/c.txt",)
    assert applied(home, change, tmp_path / "again") == ("a.txt",)
    assert (home / "b.txt").read_text() == "of the user\n"


def test_what_was_sent_along_may_be_replaced_by_what_came_of_it(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    (home / "a.txt").write_text("sent\n")
    place = elsewhere(home, tmp_path / "place")
    (place / "a.txt").write_text("sent\n")
    commit(place, "Uncommitted changes")
    base = git(place, "rev-parse", "HEAD").strip()
    (place / "a.txt").write_text("sent and worked on\n")
    commit(place, "Work of the agent")
    change = Change(base=base, result=git(place, "rev-parse", "HEAD").strip())
    with pytest.raises(ApplyError, match="you have changed files"):
        apply_change(repo(home), change, tmp_path / "k", cwd=str(home), committed_only=True)
    assert applied(home, change, tmp_path / "keep") == ("a.txt",)
    assert (home / "a.txt").read_text() == "sent and worked on\n"


def test_a_folder_that_is_a_link_leads_nowhere(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    place = elsewhere(home, tmp_path / "place")
    (place / "sub").mkdir()
    (place / "sub" / "evil").write_text("agent\n")
    change = change_of(home, place)
    (tmp_path / "target").mkdir()
    (home / "sub").symlink_to(tmp_path / "target")
    with pytest.raises(NightrookError):
        applied(home, change, tmp_path / "keep")
    assert list((tmp_path / "target").iterdir()) == []


def test_a_merge_driver_of_the_repository_does_not_run(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    git(home, "config", "merge.evil.driver", f"touch {tmp_path}/ran")
    (home / ".gitattributes").write_text("* merge=evil\n")
    commit(home, "Name a driver")
    place = elsewhere(home, tmp_path / "place")
    (place / "a.txt").write_text("agent\n")
    change = change_of(home, place)
    (home / "a.txt").write_text("user\n")
    commit(home, "Change it too")
    with pytest.raises(ApplyError, match="conflicts"):
        applied(home, change, tmp_path / "keep")
    assert not (tmp_path / "ran").exists()


def test_settings_of_the_user_do_not_change_the_patch(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    place = elsewhere(home, tmp_path / "place")
    (place / "a.txt").write_text("agent\n")
    change = change_of(home, place)
    for name, value in {
        "diff.noprefix": "true",
        "diff.relative": "true",
        "diff.external": "false",
        "color.ui": "always",
        "apply.whitespace": "fix",
    }.items():
        git(home, "config", name, value)
    with open(tmp_path / "patch", "w+b") as patch:
        write_diff(repo(home), change, patch, cwd=str(home))
        patch.seek(0)
        assert patch.read().startswith(b"diff --git a/a.txt b/a.txt\n")
    assert applied(home, change, tmp_path / "keep") == ("a.txt",)
