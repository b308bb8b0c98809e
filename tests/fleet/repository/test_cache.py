"""What a worker keeps of repositories: the next run sends less, and an agent cannot change it."""

import os
from pathlib import Path

import pytest

from nightrook.fleet.repository import cache as module
from nightrook.fleet.repository.cache import RepositoryCache
from nightrook.fleet.repository.unpack import MissingCommitsError
from nightrook.model.errors import NightrookError
from tests.fleet.repository.checkouts import Trip, commit, files, git, small


def data_in(home: Path) -> None:
    (home / "data").write_bytes(os.urandom(50_000))
    commit(home, "Add data")


def test_the_second_run_sends_only_what_is_new(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    data_in(home)
    cache = RepositoryCache(tmp_path / "cache" / "repositories")
    assert cache.known() == []
    for number in range(3):
        trip = Trip(home, tmp_path / f"trip-{number}", known=cache.known())
        bundle = Path(trip.packed.bundle)
        work = cache.unpack(bundle, tmp_path / f"work-{number}", trip.packed.shipment)
        assert (trip.packed.size > 50_000) is (number == 0)
        assert files(Path(work.top)) == files(home)
        assert git(work.top, "status", "--porcelain") == ""
        assert not Path(work.top, ".git", "objects", "info", "alternates").exists()
        (home / "a.txt").write_text(f"change {number}\n")
    assert cache.known() == [git(home, "rev-parse", "HEAD").strip()]


def test_commits_that_were_let_go_of_are_named(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    head = git(home, "rev-parse", "HEAD").strip()
    trip = Trip(home, tmp_path / "trip", known=[head])
    cache = RepositoryCache(tmp_path / "cache")
    with pytest.raises(MissingCommitsError, match="send it without known commits"):
        cache.unpack(Path(trip.packed.bundle), tmp_path / "work", trip.packed.shipment)
    assert not (tmp_path / "work").exists()


def test_an_agent_that_damages_the_cache_changes_no_other_run(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    data_in(home)
    cache = RepositoryCache(tmp_path / "cache")
    first = Trip(home, tmp_path / "first")
    cache.unpack(Path(first.packed.bundle), tmp_path / "work", first.packed.shipment)
    (home / "a.txt").write_text("later\n")
    second = Trip(home, tmp_path / "second", known=cache.known())
    (pack,) = (tmp_path / "cache" / "objects" / "pack").glob("*.pack")
    pack.chmod(0o600)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pack.write_bytes(data)
    with pytest.raises(NightrookError):
        cache.unpack(Path(second.packed.bundle), tmp_path / "other", second.packed.shipment)
    assert not (tmp_path / "other").exists()


def test_the_cache_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_KNOWN", 2)
    monkeypatch.setattr(module, "_MOST_PACKS", 1)
    home = small(tmp_path / "home")
    cache = RepositoryCache(tmp_path / "cache")
    for number in range(3):
        (home / "a.txt").write_text(f"change {number}\n")
        commit(home, "Change it")
        trip = Trip(home, tmp_path / f"trip-{number}", known=cache.known())
        bundle = Path(trip.packed.bundle)
        cache.unpack(bundle, tmp_path / f"work-{number}", trip.packed.shipment)
    assert len(cache.known()) == 2
    assert len(list((tmp_path / "cache" / "objects" / "pack").glob("*.pack"))) == 1
    small_cache = RepositoryCache(tmp_path / "cache", largest=10)
    trip = Trip(home, tmp_path / "last")
    small_cache.unpack(Path(trip.packed.bundle), tmp_path / "work", trip.packed.shipment)
    assert small_cache.known() == []
