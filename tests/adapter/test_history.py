"""The description of what an agent keeps on disk."""

import pytest

from nightrook.adapter.history import call_id


@pytest.mark.parametrize(
    ("response", "line", "id"),
    [
        ("chatcmpl-c35a2d51729e", "l1", "chatcmpl-c35a2d51729e"),
        ("resp_1", "l1", "resp_1"),
        (None, "l1", "l1"),
        ("", "l1", "l1"),
        (None, None, None),
        ("", "", None),
        ("chatcmpl-17", None, "chatcmpl-17"),
    ],
)
def test_a_call_is_identified_by_its_response_or_else_by_its_line(
    response: str | None, line: str | None, id: str | None
) -> None:
    assert call_id(response, line) == id


def test_the_number_of_a_response_identifies_it_only_with_its_line() -> None:
    assert call_id("chatcmpl-17", "l1") == call_id("chatcmpl-17", "l1")
    assert call_id("chatcmpl-17", "l1") != call_id("chatcmpl-17", "l2")
