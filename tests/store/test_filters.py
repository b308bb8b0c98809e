"""The filter that lists, reports and searches share."""

import os

import pytest

from nightrook.store.filters import Filter, is_below, is_project, read_project
from nightrook.store.list import Row

ROW = Row(name="k7f3", status="failed", agent="claude", called="mine", cwd="/w/shop", what="")


@pytest.mark.parametrize(
    "wanted",
    [
        Filter(),
        Filter(agent="claude"),
        Filter(agent="mine", status="failed"),
        Filter(project="shop"),
        Filter(project="w/shop"),
        Filter(project="/w/shop"),
        Filter(cwd="/w"),
    ],
)
def test_a_row_is_taken(wanted: Filter) -> None:
    assert ROW.is_wanted(wanted)


@pytest.mark.parametrize(
    "wanted",
    [
        Filter(agent="codex"),
        Filter(status="success"),
        Filter(project="hop"),
        Filter(project="/w"),
        Filter(cwd="/w/sh"),
        Filter(since=1.0),
    ],
)
def test_a_row_is_left_out(wanted: Filter) -> None:
    assert not ROW.is_wanted(wanted)


def test_a_period_includes_its_begin_and_not_its_end() -> None:
    day = Filter(since=10.0, until=20.0)
    assert [day.takes_time(at) for at in (9.9, 10.0, 19.9, 20.0, None)] == [
        False,
        True,
        True,
        False,
        False,
    ]
    assert Filter().takes_time(None)


def test_a_session_is_taken_by_the_beginning_of_its_id() -> None:
    assert Filter(session="5a03").takes_session("claude", "5a035b45", None)
    assert not Filter(session="5a03").takes_session("claude", "f5a03", None)
    assert not Filter(session="5a03", project="shop").takes_session("claude", "5a035b45", None)


@pytest.mark.parametrize(
    ("text", "project"),
    [
        ("shop", "shop"),
        ("work/shop/", "work/shop"),
        ("/work//shop/", "/work/shop"),
        ("./shop", f"{os.getcwd()}/shop"),
        (".", os.getcwd()),
        ("~/shop", os.path.expanduser("~/shop")),
    ],
)
def test_a_project_is_read_as_people_name_it(text: str, project: str) -> None:
    assert read_project(text) == project


def test_a_folder_is_a_project_by_its_path_or_its_last_parts() -> None:
    assert is_project("C:\\work\\shop", "shop")
    assert not is_project(None, "shop")
    assert not is_project("/work/shop", "")
    assert is_below("/work/shop/src", "/work/shop/")
    assert is_below("/work", "/")
    assert not is_below("/workshop", "/work")
