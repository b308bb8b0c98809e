"""The timeline by position: every item once and in order, whatever is asked how often."""

import json
from pathlib import Path
from typing import Any

import msgspec

from nightrook.model.timeline import Timeline
from nightrook.story.decode import decode
from tests.conftest import SESSION
from tests.rules import each
from tests.web.served import Served


def expected() -> list[Any]:
    """The items of the recorded session, as the timeline makes them from what is decoded."""
    timeline = Timeline()
    timeline.take(decode(SESSION, "claude"))
    items: list[Any] = json.loads(msgspec.json.encode(timeline.items[:]))
    return [{k: v for k, v in item.items() if k not in ("begin", "end")} for item in items]


def without_times(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in item.items() if k not in ("begin", "end")} for item in items]


@each("limit", [1, 2, 7, 5000])
def test_all_changes_together_are_the_timeline(served: Served, limit: int) -> None:
    latest = {item["id"]: item for item in served.changes("done", limit=limit)}
    assert without_times([latest[id] for id in sorted(latest)]) == expected()


@each("limit", [1, 3, 200])
def test_all_pages_by_number_are_the_timeline(served: Served, limit: int) -> None:
    items: list[Any] = []
    while (page := served.json(f"/api/runs/done/items?first={len(items)}&limit={limit}"))["items"]:
        items += page["items"]
        assert page["more"] == (len(items) < page["total"])
    assert without_times(items) == expected()


def test_asking_again_changes_nothing(served: Served) -> None:
    first, second = (served.get("/api/runs/done/items?after=5").body for _ in range(2))
    assert first == second


def test_a_position_beyond_the_end_returns_no_items_and_the_revision_that_there_is(
    served: Served,
) -> None:
    end = served.json("/api/runs/done/items?limit=5000")["revision"]
    found = served.json("/api/runs/done/items?after=99999999")
    assert (found["items"], found["revision"], found["more"]) == ([], end, False)
    found = served.json("/api/runs/done/items?first=99999999")
    assert (found["items"], found["more"]) == ([], False)


def test_the_outline_has_a_letter_and_a_parent_for_each_item(served: Served) -> None:
    found = served.json("/api/runs/done/outline")
    items = expected()
    assert found["total"] == len(items) == len(found["kinds"]) == len(found["states"])
    assert found["parents"] == [item.get("parent", -1) for item in items]
    tools = [n for n, item in enumerate(items) if item["kind"] == "tool"]
    assert {found["kinds"][number] for number in tools} == {"o"}
    rest = served.json("/api/runs/done/outline?first=3")
    assert (rest["kinds"], rest["first"]) == (found["kinds"][3:], 3)


def test_a_body_has_what_the_item_leaves_out(served: Served) -> None:
    items = served.json("/api/runs/done/items?first=0&limit=5000")["items"]
    tool = next(item for item in items if item["kind"] == "tool" and item["status"] == "ok")
    body = served.json(f"/api/runs/done/items/{tool['id']}/body")
    assert json.loads(body["input"]["text"])
    assert (body["output"]["size"], body["output"]["truncated"]) == (tool["size"], False)
    text = next(item for item in items if item["kind"] == "text")
    whole = served.json(f"/api/runs/done/items/{text['id']}/body?part=text")
    assert (whole["size"], whole["text"][:20]) == (text["size"], text["title"][:20])
    part = served.json(f"/api/runs/done/items/{text['id']}/body?part=text&offset=3")
    assert part["text"] == whole["text"][3:]


def test_a_run_has_its_verdict_and_what_to_do_next(served: Served) -> None:
    found = served.json("/api/runs/done")
    assert found["prompt"] == "Fix the tests\nand more"
    assert found["title"] == "Fix the tests"
    assert found["status"] == found["verdict"]["status"] == "denied"
    assert found["complete"] is True
    assert found["snapshot"]["closed"] is True
    assert found["answer"]
    assert all(step["command"] for step in found["verdict"]["next"])


def test_a_restart_does_not_change_the_epoch_nor_the_counting(home: Path) -> None:
    answers = []
    for _ in range(2):
        with Served(home) as server:
            answers.append(server.json("/api/runs/done/items?after=3&limit=4"))
    assert answers[0] == answers[1]
