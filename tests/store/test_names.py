"""Names of runs: what is allowed, what new ones look like, how one is found again."""

import os
import re
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nightrook.model.errors import (
    AmbiguousRunError,
    BadRunNameError,
    UnknownRunError,
)
from nightrook.store.list import find_run
from nightrook.store.names import Kind, check_name, is_name, kind_of, new_names, pick, prefix_of
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo

NAUGHTY = [
    "",
    ".",
    "..",
    "../x",
    "../../etc/passwd",
    "/etc/passwd",
    "a/b",
    "a/../../b",
    "a\\b",
    "..\\..\\x",
    "a\0b",
    "a\n",
    "\na",
    "a b",
    " a",
    "-rf",
    "_x",
    ".hidden",
    "~",
    "~root",
    "$(touch x)",
    "`touch x`",
    "%2e%2e%2f",
    "a\u2215b",
    "\u202eabc",
    "٣",
    "é",
    "a\udc80",
    "C:",
    "C:\\x",
    "a" * 65,
    "a" * 1_000_000,
]


@pytest.mark.parametrize("name", NAUGHTY, ids=lambda name: ascii(name[:20]))
def test_a_naughty_name_is_refused_by_everything_that_takes_one(name: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    create_run(home, RunInfo(command=["true"], cwd="/", started_at=1.0))
    for refuse in (
        check_name,
        lambda name: pick(name, ["abcd"]),
        lambda name: find_run(home, name),
    ):
        with pytest.raises(BadRunNameError, match="is not a valid run name"):
            refuse(name)


@given(st.text() | st.text("./\\\0\n~ -_aZ09", max_size=8) | st.from_regex(r"[A-Za-z0-9._/-]+"))
@example("a\n")
@example("..")
def test_any_text_is_refused_or_stays_in_its_folder(text: str) -> None:
    root = Path("/home/x/runs")
    if is_name(text):
        assert (root / text).parent == root
        assert (root / text).name == text
        assert RunFolder(root / text).name == text
    else:
        with pytest.raises(BadRunNameError) as caught:
            check_name(text)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 1000


@given(text=st.text(max_size=70))
def test_looking_for_any_text_finds_nothing_outside(text: str, outside: Path) -> None:
    with pytest.raises((BadRunNameError, UnknownRunError)):
        find_run(outside / "home", text)


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home that has no runs, and folders of all short names around it."""
    path = tmp_path_factory.mktemp("outside")
    (path / "home" / "runs").mkdir(parents=True)
    for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789":
        (path / letter).mkdir()
        (path / "home" / f"{letter}0").mkdir()
    return path


@pytest.mark.parametrize("name", ["a", "A1", "0", "a.b-c_d", "v1..2", "a" * 64])
def test_a_usual_name_is_allowed(name: str) -> None:
    assert check_name(name) == name


def test_new_names_are_short_and_without_look_alikes() -> None:
    for _ in range(500):
        assert re.fullmatch("[a-km-np-z][a-km-np-z2-9]{3}", next(new_names()))


def test_new_names_grow_when_they_are_taken_but_stay_allowed() -> None:
    names = list(islice(new_names(), 300))
    assert [len(name) for name in names[:9]] == [4, 4, 4, 4, 5, 5, 5, 5, 6]
    assert all(is_name(name) for name in names)


def test_a_run_whose_name_is_taken_gets_a_longer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", bytes)
    info = RunInfo(command=["true"], cwd="/", started_at=1.0)
    assert [create_run(tmp_path, info).name for _ in range(3)] == ["aaaa", "aaaaa", "aaaaaa"]


def test_a_whole_name_is_found_even_if_another_begins_with_it() -> None:
    assert pick("abcd", ["abcde", "abcd"]) == "abcd"


def test_a_unique_beginning_is_enough() -> None:
    assert pick("ab", ["abcd", "bbcd"]) == "abcd"


def test_an_ambiguous_beginning_names_the_candidates() -> None:
    with pytest.raises(AmbiguousRunError) as caught:
        pick("ab", ["abzz", "abcd", "bbcd", "abce"])
    assert caught.value.candidates == ("abcd", "abce", "abzz")
    assert str(caught.value) == (
        "several runs' names start with 'ab': abcd, abce and abzz; type more of the name"
    )


def test_many_candidates_are_not_all_printed() -> None:
    with pytest.raises(AmbiguousRunError, match="a007 and 92 more; type more"):
        pick("a", [f"a{number:03}" for number in range(100)])


@pytest.mark.parametrize("typo", ["qhx7", "khx8", "hkx7", "khhx7", "kx7"])
def test_a_typo_is_answered_with_the_nearest_names(typo: str) -> None:
    with pytest.raises(UnknownRunError) as caught:
        pick(typo, ["khx7", "zzzz", "4444"])
    assert caught.value.nearest == ("khx7",)
    assert str(caught.value) == f"no run named {typo!r}; did you mean khx7?"


def test_several_near_names_are_all_offered() -> None:
    with pytest.raises(UnknownRunError) as caught:
        pick("abcx", ["abce", "abcd", "zzzz"])
    assert set(caught.value.nearest) == {"abcd", "abce"}


@pytest.mark.parametrize(
    ("what", "names"), [("run", "runs"), ("loop", "loops"), ("batch", "batches")]
)
def test_a_name_that_is_near_to_none_is_answered_with_the_list(what: Kind, names: str) -> None:
    with pytest.raises(UnknownRunError) as caught:
        pick("nope", [], what=what)
    assert str(caught.value) == f"no {what} named '{prefix_of(what)}nope'; see rook {names}"


def test_the_prefix_of_a_loop_or_batch_may_be_left_out() -> None:
    assert pick("k7", ["loop-k7f3", "loop-z999"], what="loop") == "loop-k7f3"
    assert pick("batch-k7", ["batch-k7f3"], what="batch") == "batch-k7f3"
    assert [kind_of(name) for name in ("k7f3", "loop-k7f3", "batch-", "looped")] == [
        "run",
        "loop",
        "batch",
        "run",
    ]
