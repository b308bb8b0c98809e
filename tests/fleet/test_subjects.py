"""The names of subjects: no name can reach beyond its own part."""

import pytest

from nightrook.fleet import subjects
from tests.rules import each


@each("name", ["", "a.b", "*", ">", "a b", "ä", "a" * 65, "a=b", "a\n", "../a", "$JS"])
def test_a_name_that_would_change_a_subject_is_refused(name: str) -> None:
    with pytest.raises(subjects.BadNameError):
        subjects.token(name)


def test_two_labels_never_share_a_consumer() -> None:
    assert subjects.job_consumer("a-b", "c") != subjects.job_consumer("a", "b-c")


def test_every_subject_is_kept_by_exactly_one_stream() -> None:
    first = {subject.split(".")[0] for kept in subjects.STREAMS.values() for subject in kept}
    made = [
        subjects.job("any", "claude", "r", 1),
        subjects.log("w", "r", 1, "stdout"),
        subjects.beat("w"),
        subjects.order("w", "r"),
        subjects.run("r", 1),
        subjects.settle("r", 1),
        subjects.blob("b", "head"),
    ]
    assert {subject.split(".")[0] for subject in made} | {"$KV"} == first
