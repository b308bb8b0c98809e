"""Bundles that are not ones, damaged ones, and those of a hostile worker: one error, no change."""

import os
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightrook.fleet.repository.bundle import BadBundleError, parse_header, write_bundle
from nightrook.fleet.repository.fetch import FetchError, fetch
from nightrook.fleet.repository.formats import Shipment
from nightrook.fleet.repository.limits import Limits, TooLargeError
from nightrook.fleet.repository.pack import pack
from nightrook.fleet.repository.unpack import UnpackError, unpack
from nightrook.model.errors import NightrookError
from tests.fleet.repository.checkouts import Trip, commit, git, small, state
from tests.rules import each

ID = "1" * 40
HEADERS = {
    "another ref": f"# v2 git bundle\n{ID} refs/heads/main\n\nPACK",
    "a ref that leads out": f"# v2 git bundle\n{ID} refs/rook/../heads/main\n\nPACK",
    "a ref twice": f"# v2 git bundle\n{ID} refs/rook/base\n{ID} refs/rook/base\n\nPACK",
    "a short id": "# v2 git bundle\n1234 refs/rook/base\n\nPACK",
    "an id that is an option": f"# v2 git bundle\n--{ID[2:]} refs/rook/base\n\nPACK",
    "a prerequisite that is not an id": f"# v2 git bundle\n-x\n{ID} refs/rook/base\n\nPACK",
    "an unknown capability": f"# v3 git bundle\n@filter=blob:none\n{ID} refs/rook/base\n\nPACK",
    "no end": f"# v2 git bundle\n{ID} refs/rook/base\n",
    "another format": "# v9 git bundle\n\nPACK",
    "nothing": "",
}


@each("name", sorted(HEADERS), ids=str)
def test_a_header_that_rook_does_not_write_is_refused(name: str) -> None:
    with pytest.raises(BadBundleError):
        parse_header(HEADERS[name].encode(), "bundle")


@given(st.binary(max_size=200), st.sampled_from([b"", b"# v2 git bundle\n", b"# v3 git bundle\n"]))
def test_any_bytes_are_a_header_or_an_error(data: bytes, start: bytes) -> None:
    try:
        header = parse_header(start + data, "bundle")
    except BadBundleError:
        return
    assert all(name.startswith("refs/rook/") for name in header.refs)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small(tmp_path_factory.mktemp("hostile") / "home")


@pytest.fixture
def trip(home: Path, tmp_path: Path) -> Trip:
    return Trip(home, tmp_path / "trip")


def damage(how: str, data: bytes) -> bytes:
    """A bundle that did not arrive whole."""
    middle = len(data) - 60
    return {
        "cut": data[:middle],
        "changed": data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :],
        "without a pack": data[: data.index(b"\n\n") + 2],
        "not a bundle": b"PACK" + data,
    }[how]


@pytest.mark.parametrize("how", ["cut", "changed", "without a pack", "not a bundle"])
def test_a_damaged_bundle_is_one_error_and_leaves_no_folder(trip: Trip, how: str) -> None:
    bundle = Path(trip.packed.bundle)
    bundle.write_bytes(damage(how, bundle.read_bytes()))
    with pytest.raises(BadBundleError):
        trip.unpack()
    assert not (trip.place / "work").exists()


def test_a_bundle_that_builds_on_unknown_commits_is_refused(home: Path, tmp_path: Path) -> None:
    head = git(home, "rev-parse", "HEAD").strip()
    with pytest.raises(UnpackError, match="not on this worker"):
        Trip(home, tmp_path / "trip", known=[head]).unpack()


def test_a_description_that_does_not_fit_is_refused(trip: Trip, tmp_path: Path) -> None:
    def unpacked(**changes: object) -> None:
        shipment = msgspec.structs.replace(trip.packed.shipment, **changes)
        unpack(Path(trip.packed.bundle), tmp_path / "other", shipment)

    for folder in ("..", "a/../../b", "/etc", "a\0b"):
        with pytest.raises(UnpackError, match="not a folder of the repository"):
            unpacked(folder=folder)
    with pytest.raises(BadBundleError, match="another commit"):
        unpacked(base="2" * 40)
    with pytest.raises(UnpackError, match="upgrade nightrook"):
        unpacked(format=99)
    (tmp_path / "other").mkdir()
    with pytest.raises(UnpackError, match="exists already"):
        unpacked()


def test_a_branch_name_that_git_refuses_is_not_used(trip: Trip) -> None:
    shipment = msgspec.structs.replace(trip.packed.shipment, branch="../../config")
    work = unpack(Path(trip.packed.bundle), trip.place / "work", shipment)
    assert git(work.top, "branch", "--show-current") == ""


def hash_object(folder: Path, kind: str, data: bytes) -> str:
    """Write an object that git itself would not write."""
    words = ["git", "hash-object", "-t", kind, "-w", "--stdin", "--literally"]
    done = subprocess.run(words, cwd=folder, input=data, check=True, capture_output=True)
    return done.stdout.decode().strip()


def hostile_result(trip: Trip, name: bytes, mode: bytes = b"100644") -> Path:
    """A bundle of a worker whose commit has a file with this name."""
    top = Path(trip.unpack().top)
    blob = hash_object(top, "blob", b"#!/bin/sh\n")
    tree = hash_object(top, "tree", mode + b" " + name + b"\0" + bytes.fromhex(blob))
    result = git(top, "commit-tree", tree, "-p", "HEAD", "-m", "Innocent").strip()
    refs = {"refs/rook/base": trip.packed.shipment.base, "refs/rook/result": result}
    bundle = trip.place / "hostile.bundle"
    head = trip.packed.shipment.head
    write_bundle(str(top), bundle, refs, without=[head] if head else [], env={})
    return bundle


@pytest.mark.parametrize("name", [b".git", b"..", b".", b".GiT", b"git~1", b"a/b", b"/etc"])
def test_a_path_that_leads_out_is_refused_before_it_is_in_the_repository(
    home: Path, trip: Trip, name: bytes
) -> None:
    bundle, before = hostile_result(trip, name), (state(home), objects(home))
    with pytest.raises(BadBundleError, match="damaged or not allowed"):
        fetch("k7f3", bundle, trip.packed.origin)
    assert (state(home), objects(home)) == before


def objects(home: Path) -> list[str]:
    """All files among the objects of a repository."""
    return sorted(str(path) for path in (home / ".git" / "objects").rglob("*"))


def changed(trip: Trip) -> Path:
    """The result of an honest worker."""
    work = trip.unpack()
    Path(work.top, "a.txt").write_text("agent\n")
    bundle = trip.collect(work).bundle
    assert bundle is not None
    return Path(bundle)


def without_objects(data: bytes) -> bytes:
    """A bundle whose pack is valid and empty."""
    import hashlib

    pack = b"PACK\0\0\0\x02\0\0\0\0"
    return data[: data.index(b"\n\n") + 2] + pack + hashlib.sha1(pack).digest()


LIES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[:-30],
    "nonsense": lambda data: os.urandom(500),
    "another ref": lambda data: data.replace(b"refs/rook/result", b"refs/heads/maste"),
    "no result": lambda data: data.replace(b"refs/rook/result", b"refs/rook/shallow/1"),
    "no objects": without_objects,
}


@pytest.mark.parametrize("lie", sorted(LIES))
def test_a_result_that_is_not_one_changes_nothing(home: Path, trip: Trip, lie: str) -> None:
    bundle = changed(trip)
    bundle.write_bytes(LIES[lie](bundle.read_bytes()))
    before = (state(home), objects(home))
    with pytest.raises(BadBundleError):
        fetch("k7f3", bundle, trip.packed.origin)
    assert (state(home), objects(home)) == before


def test_a_result_of_another_run_is_refused(home: Path, trip: Trip, tmp_path: Path) -> None:
    bundle = changed(trip)
    origin = msgspec.structs.replace(trip.packed.origin, base="3" * 40)
    with pytest.raises(BadBundleError, match="not of this run"):
        fetch("k7f3", bundle, origin)
    origin = msgspec.structs.replace(trip.packed.origin, head="3" * 40)
    with pytest.raises(BadBundleError, match="were not sent"):
        fetch("k7f3", bundle, origin)


def test_a_start_that_is_gone_at_home_is_named(tmp_path: Path) -> None:
    trip = Trip(small(tmp_path / "home"), tmp_path / "trip")
    bundle = changed(trip)
    git(tmp_path / "home", "checkout", "--quiet", "--orphan", "other")
    git(tmp_path / "home", "branch", "-D", "main")
    git(tmp_path / "home", "reflog", "expire", "--expire=now", "--all")
    git(tmp_path / "home", "gc", "--quiet", "--prune=now")
    with pytest.raises(FetchError, match="no longer in"):
        fetch("k7f3", bundle, trip.packed.origin)
    (tmp_path / "home").rename(tmp_path / "moved")
    with pytest.raises(FetchError, match="any more"):
        fetch("k7f3", bundle, trip.packed.origin)


def test_a_name_that_cannot_be_a_ref_is_an_error(trip: Trip) -> None:
    with pytest.raises(FetchError, match=r"refs/rook/a\.\.b"):
        fetch("a..b", changed(trip), trip.packed.origin)


def test_what_is_large_is_warned_of_and_what_is_too_large_refused(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    (home / "data").write_bytes(os.urandom(40_000))

    def packed(name: str, **sizes: int) -> tuple[str, ...]:
        return pack(str(home), tmp_path / name, limits=Limits(**sizes)).notes

    assert packed("enough") == ()
    assert [n.partition(":")[0] for n in packed("uncommitted", warn=30_000)] == [
        "what is not committed is large",
        "the repository is large",
    ]
    with pytest.raises(TooLargeError, match="what is not committed is too large to send: 40"):
        packed("too-much", warn=10, refuse=30_000)
    commit(home, "Add data")
    with pytest.raises(TooLargeError, match="the repository is too large"):
        packed("history", warn=10, refuse=30_000)
    assert not (tmp_path / "history" / "repository.bundle").exists()


def test_an_agent_that_replaced_its_repository_is_an_error(trip: Trip, tmp_path: Path) -> None:
    work = trip.unpack()
    Path(work.top, ".git").rename(tmp_path / "elsewhere")
    with pytest.raises(NightrookError, match="no longer a folder"):
        trip.collect(work)
    Path(work.top, ".git").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NightrookError, match="no longer a folder"):
        trip.collect(work)


def test_a_shipment_is_read_back_equal(trip: Trip) -> None:
    sent = trip.packed.shipment
    assert msgspec.json.decode(msgspec.json.encode(sent), type=Shipment) == sent


@pytest.mark.soak
def test_two_gigabytes_are_sent_and_more_is_refused_without_being_read(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    git(home, "config", "core.compression", "0")  # so that the size on disk is that of the file
    with open(home / "large", "wb") as file:
        file.truncate(2_000_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    packed = pack(str(home), tmp_path / "warned")
    assert [note.partition(":")[0] for note in packed.notes][:1] == [
        "what is not committed is large"
    ]
    commit(home, "Add two gigabytes")
    with open(home / "large", "ab") as file:
        file.truncate(2_200_000_000)
    with pytest.raises(TooLargeError, match=r"not committed is too large to send: 2\.2 GB"):
        pack(str(home), tmp_path / "refused")
    commit(home, "Add more")
    with pytest.raises(TooLargeError, match="the repository is too large to send"):
        pack(str(home), tmp_path / "history")
    assert not (tmp_path / "history" / "repository.bundle").exists()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB
