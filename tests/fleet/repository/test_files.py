"""Files outside of git: plain ones by pattern, and never outside of their folder."""

import io
import os
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightrook.fleet.repository.files import BadArchiveError, unpack_files
from nightrook.fleet.repository.limits import TooLargeError
from nightrook.fleet.repository.pack import PackError, pack
from nightrook.model.errors import NightrookError
from tests.fleet.repository.checkouts import ODD, Trip, files, small
from tests.rules import each

LIMIT = 1_000_000


def brought_back(trip: Trip) -> tuple[Path, tuple[str, ...]]:
    """The archive of a run that made many kinds of files, and the notes about it."""
    work = trip.unpack()
    dist = Path(work.top, "dist")
    (dist / "deep").mkdir(parents=True)
    (dist / "deep" / "a.log").write_text("a\n")
    (dist / "run.sh").write_text("#!/bin/sh\n")
    (dist / "run.sh").chmod(0o755)
    Path(os.fsdecode(os.path.join(os.fsencode(dist), ODD))).write_text("odd\n")
    (dist / "link").symlink_to("/etc/passwd")
    (dist / "folder-link").symlink_to("/etc")
    os.mkfifo(dist / "pipe")
    Path(work.top, "other.log").write_text("not asked for\n")
    collected = trip.collect(work)
    assert collected.files is not None
    return Path(collected.files), collected.notes


def test_files_that_patterns_match_come_back_and_links_do_not(tmp_path: Path) -> None:
    home = small(tmp_path / "home")
    (home / ".gitignore").write_text("dist/\n*.log\n")
    trip = Trip(home, tmp_path / "trip", files=("dist/**", "no-such/*"))
    archive, notes = brought_back(trip)
    assert [note.partition(":")[0] for note in notes] == [
        "2 files not brought back, only plain files are"
    ]
    unpack_files(archive, tmp_path / "k7f3", limit=LIMIT)
    odd = os.fsdecode(ODD)
    assert files(tmp_path / "k7f3") == {
        f"dist/{odd}": (0o100000, b"odd\n"),
        "dist/deep/a.log": (0o100000, b"a\n"),
        "dist/run.sh": (0o100100, b"#!/bin/sh\n"),
    }
    with pytest.raises(BadArchiveError, match="move it away"):
        unpack_files(archive, tmp_path / "k7f3", limit=LIMIT)


def archive_of(path: Path, *entries: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w") as tar:
        for entry in entries:
            tar.addfile(entry, io.BytesIO(bytes(entry.size)))
    return path


def entry(
    name: str, *, size: int = 3, kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size, made.type, made.linkname = size, kind, link
    return made


HOSTILE = {
    "up": entry("../evil"),
    "up in the middle": entry("a/../../evil"),
    "absolute": entry("/tmp/evil"),
    "a folder": entry("a", kind=tarfile.DIRTYPE, size=0),
    "a link": entry("a", kind=tarfile.SYMTYPE, link="/etc/passwd", size=0),
    "a hard link": entry("a", kind=tarfile.LNKTYPE, link="/etc/passwd", size=0),
    "a device": entry("a", kind=tarfile.CHRTYPE, size=0),
    "a pipe": entry("a", kind=tarfile.FIFOTYPE, size=0),
    "an empty part": entry("a//b"),
    "a long name": entry("a/" * 3000 + "b"),
}


@each("name", sorted(HOSTILE), ids=str)
def test_an_archive_with_anything_but_plain_files_is_refused(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("archive")
    archive = archive_of(place / "files.tar", HOSTILE[name])
    with pytest.raises(BadArchiveError):
        unpack_files(archive, place / "out", limit=LIMIT)
    assert list((place / "out").iterdir()) == []


def test_a_file_twice_and_a_file_that_is_a_folder_are_refused(tmp_path: Path) -> None:
    for number, (one, two) in enumerate([("a", "a"), ("a", "a/b"), ("a/b", "a")]):
        archive = archive_of(tmp_path / f"{number}.tar", entry(one), entry(two))
        with pytest.raises(BadArchiveError):
            unpack_files(archive, tmp_path / f"out-{number}", limit=LIMIT)


def test_an_archive_that_is_too_large_is_refused(tmp_path: Path) -> None:
    archive = archive_of(tmp_path / "files.tar", entry("a", size=600), entry("b", size=600))
    with pytest.raises(TooLargeError):
        unpack_files(archive, tmp_path / "out", limit=1_000)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("honest") / "files.tar"
    return archive_of(path, entry("a/b"), entry("c" * 150), entry("d", size=2000)).read_bytes()


@given(data=st.data())
def test_a_changed_archive_is_unpacked_in_its_folder_or_an_error(
    honest: bytes, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("changed")
    changes = data.draw(
        st.lists(st.tuples(st.integers(0, 3000), st.binary(min_size=1, max_size=4)), max_size=4)
    )
    mutated = bytearray(honest)
    for at, new in changes:
        mutated[at : at + len(new)] = new
    archive = place / "files.tar"
    archive.write_bytes(mutated)
    with suppress(NightrookError):
        unpack_files(archive, place / "out", limit=LIMIT)
    assert sorted(path.name for path in place.iterdir()) == ["files.tar", "out"]
    assert not any(path.is_symlink() for path in place.rglob("*"))


@pytest.mark.parametrize("pattern", ["", "/etc/*", "../*", "a/../../b", "a\0b", "\udcff"])
def test_a_pattern_that_leads_out_of_the_repository_is_refused(
    tmp_path: Path, pattern: str
) -> None:
    home = small(tmp_path / "home")
    with pytest.raises(PackError, match="a pattern is relative to the top of the repository"):
        pack(str(home), tmp_path / "packed", files=(pattern,))
