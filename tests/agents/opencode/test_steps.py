"""Sessions that are stored as messages with steps: what counts, and what is a copy."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nightrook.adapter.history import Call, Session
from nightrook.agents.opencode.reader import read_steps
from tests.agents.histories import check, tokens
from tests.agents.stores import CREATED, TOKENS, answer, step
from tests.rules import each

Row = tuple[Any, ...]

COUNTS: dict[str, Any] = {
    "input": 200,
    "output": 34,
    "cache_read": 1000,
    "cache_write_5m": 50,
    "reasoning": 7,
}


def row(message: Any, part: Any = None, id: str = "msg_1", session: str = "ses_1") -> Row:
    texts = [None if value is None else json.dumps(value) for value in (message, part)]
    return (session, None, "/app", "Work", CREATED, None, id, *texts)


def calls(*rows: Row, **options: bool) -> list[Call]:
    return [found for found in read_steps(rows, **options) if isinstance(found, Call)]


def test_a_step_is_a_call_with_the_time_and_the_model_of_its_message() -> None:
    assert calls(row(answer(cost=7.0), step())) == [
        Call(
            id=f"{CREATED} zai glm-5 200 27 7 1000 50 1",
            session="ses_1",
            at=CREATED / 1000,
            model="glm-5",
            cost_usd=0.25,
            project="/app",
            **COUNTS,
        )
    ]


def test_each_step_counts_and_the_message_that_repeats_the_last_one_does_not() -> None:
    last = {"input": 5, "output": 6}
    rows = (row(answer(tokens=last, cost=0.5), step()), row(answer(), step(tokens=last)))
    assert [(call.input, call.cost_usd) for call in calls(*rows)] == [(200, 0.25), (5, 0.25)]


def test_equal_steps_of_one_message_are_two_calls() -> None:
    first, second = calls(row(answer(), step()), row(answer(), step()))
    assert first.id != second.id


def test_equal_messages_of_one_session_are_two_calls() -> None:
    first, second = calls(row(answer(), step()), row(answer(), step(), id="msg_2"))
    assert first.id != second.id


def test_a_message_without_steps_counts_itself() -> None:
    assert tokens(list(calls(row(answer())))) == {"calls": 1} | COUNTS
    assert calls(row(answer()))[0].cost_usd == 0.25


def test_the_cost_of_a_message_may_be_that_of_others_as_well() -> None:
    assert calls(row(answer()), messages_have_costs=False)[0].cost_usd is None
    assert calls(row(answer(), step()), messages_have_costs=False)[0].cost_usd == 0.25


def test_a_part_that_only_mentions_a_step_is_not_one() -> None:
    mention = {"type": "text", "text": "step-finish"}
    assert calls(row(answer(), mention)) == calls(row(answer()))


@each("message", [{"role": "user"}, answer(tokens={}, cost=0), None, "text", 5])
def test_what_used_nothing_is_not_a_call(message: Any) -> None:
    assert calls(row(message)) == []


def test_a_cost_of_0_is_not_reported() -> None:
    assert calls(row(answer(), step(cost=0)))[0].cost_usd is None


def test_a_fork_has_copies_under_new_ids() -> None:
    original = calls(row(answer(), step(), id="msg_original"))
    copy = calls(row(answer(), step(), id="msg_copy", session="ses_2"))
    assert [call.id for call in copy] == [call.id for call in original]


@each("changes", [{"time": {"created": CREATED + 1}}, {"modelID": "glm-4"}, {"providerID": "x"}])
def test_equal_tokens_at_another_time_or_of_another_model_are_another_call(changes: Any) -> None:
    (one,), (other,) = calls(row(answer(), step())), calls(row(answer(**changes), step()))
    assert one.id != other.id


def test_a_message_that_is_completed_later_stays_the_same_call() -> None:
    (unfinished,) = calls(row(answer(time={"created": CREATED}), step()))
    (finished,) = calls(row(answer(), step()))
    assert unfinished == finished


def id_at(milliseconds: int) -> str:
    return f"msg_{(milliseconds << 12 | 1) % 2**48:012x}abcdefghijklmn"


@each(
    ("id", "copied"),
    [
        (id_at(CREATED), False),
        (id_at(CREATED + 900), False),
        (id_at(CREATED + 901), True),
        (id_at(CREATED + 86_400_000), True),
        (id_at(CREATED - 5), False),
        ("msg_1", False),
    ],
)
def test_an_id_that_is_later_than_the_message_marks_a_copy(id: str, copied: bool) -> None:
    assert calls(row(answer(), step(), id=id))[0].copied is copied


def test_a_message_that_was_never_completed_is_a_copy_if_its_id_is_much_later() -> None:
    unfinished = answer(time={"created": CREATED})
    ids = [id_at(CREATED + 1000), id_at(CREATED + 5000)]
    assert [calls(row(unfinished, id=id))[0].copied for id in ids] == [False, True]


def test_a_session_with_a_parent_is_a_subagent() -> None:
    facts = ("ses_2", "ses_1", "/app", "Look", CREATED, None)
    texts = ("msg_1", json.dumps(answer(agent="explore")), None)
    assert read_steps([(*facts, *texts)])[0] == Session(
        id="ses_2", at=CREATED / 1000, project="/app", title="Look", parent="ses_1"
    )
    assert [call.subagent for call in calls((*facts, *texts))] == ["explore"]
    nameless = (*facts, "msg_1", json.dumps(answer(agent=None)), None)
    assert [call.subagent for call in calls(nameless)] == ["subagent"]


def test_a_model_may_be_an_object() -> None:
    message = answer(modelID=None, providerID=None, model={"id": "glm-5", "providerID": "zai"})
    assert calls(row(message)) == calls(row(answer()))


def test_a_message_without_a_time_is_identified_by_its_id() -> None:
    (one,), (other,) = calls(row(answer(time={}))), calls(row(answer(time={}), id="msg_2"))
    assert (one.at, one.id == other.id) == (None, False)


def test_a_session_without_messages_has_its_facts_alone() -> None:
    assert read_steps([("ses_1", None, "/app", "", None, "ses_0", None, None, None)]) == [
        Session(id="ses_1", project="/app", forked_from="ses_0")
    ]
    assert read_steps([]) == []
    assert read_steps([(None,) * 9]) == []


VALUES = st.one_of(
    st.none(), st.integers(), st.floats(), st.text(), st.binary(), st.sampled_from(["msg_1", "{}"])
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*answer(), *TOKENS]), inner),
    max_leaves=12,
)
TEXTS = st.one_of(
    VALUES,
    JSON.map(json.dumps),
    st.builds(lambda changes: json.dumps(answer(**changes)), st.dictionaries(
        st.sampled_from(sorted(answer())), JSON)),
    st.builds(lambda changes: json.dumps(step(**changes)), st.dictionaries(
        st.sampled_from(sorted(step())), JSON)),
)  # fmt: skip


@given(rows=st.lists(st.tuples(*[VALUES] * 7, TEXTS, TEXTS), max_size=4))
def test_any_rows_are_read_without_an_error(rows: list[Row]) -> None:
    for found in read_steps(rows):
        check(found)


@given(message=TEXTS, part=TEXTS)
def test_any_content_of_a_session_is_read_without_an_error(message: Any, part: Any) -> None:
    for found in read_steps([("ses_1", None, "/app", "Work", CREATED, None, "m", message, part)]):
        check(found)
