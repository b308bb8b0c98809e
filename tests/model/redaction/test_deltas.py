"""A secret in pieces: deltas show its first characters at most."""

from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.model.redaction.test_redactor import KEY, TOKENS, VALUE, secret_of

from nightrook.model.events import Text, TextDelta, ToolInputDelta, ToolProgress
from nightrook.model.records import Record
from nightrook.model.redaction.deltas import UnsplitSecrets
from nightrook.model.redaction.redactor import Redactor

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
ENVIRON = {"MY_TOKEN": VALUE}
LEFT = 12  # characters of a token that may be seen before it is known to be one


def passed(pieces: list[str]) -> str:
    """All that the deltas of a text have."""
    secrets = UnsplitSecrets(ENVIRON)
    texts = []
    for seq, piece in enumerate(pieces):
        event = secrets.unsplit(Record(seq, None, 0, 0, TextDelta(id="t", text=piece))).event
        assert isinstance(event, TextDelta)
        texts.append(event.text)
    return "".join(texts)


def pieces_of(text: str, cuts: list[int]) -> list[str]:
    at = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(at)]


@steady
@given(
    st.sampled_from([*TOKENS.values(), VALUE, KEY, f"https://me:{VALUE}@host/"]),
    st.lists(st.integers(0, 10_000), max_size=8),
)
def test_no_secret_can_be_put_together_from_deltas(secret: str, cuts: list[int]) -> None:
    whole = passed([*pieces_of(f"before {secret} after", cuts), " the", " end"])
    assert secret_of(secret) not in whole
    assert secret[: LEFT + 8] not in whole
    assert "before " in whole
    assert "after the end" in whole


@steady
@given(st.lists(st.text(max_size=20), max_size=20))
def test_text_without_secrets_arrives(pieces: list[str]) -> None:
    assert (passed([*pieces, " end"])) == Redactor(ENVIRON).text("".join(pieces) + " end")


def test_a_token_one_character_at_a_time_is_replaced() -> None:
    token = TOKENS["GitHub token"]
    assert passed([*f"see {token}", " ok"]) == "see ghp[redacted: GitHub token] ok"


def test_ordinary_deltas_are_the_same_records() -> None:
    secrets = UnsplitSecrets(ENVIRON)
    for seq, text in enumerate(
        ["I'll run the t", "ests first, s", "k", "g", "; python -m py", "test"]
    ):
        record = Record(seq, None, 0, 0, TextDelta(id="t", text=text))
        assert secrets.unsplit(record) is record


def test_texts_do_not_mix_and_a_whole_text_ends_its_deltas() -> None:
    secrets = UnsplitSecrets({})
    start = secrets.unsplit(Record(0, None, 0, 0, TextDelta(id="a", text="x ghp_12345")))
    assert start.event == TextDelta(id="a", text="x ")
    other = Record(1, None, 0, 0, TextDelta(id="b", text="67890 y"))
    assert secrets.unsplit(other) is other
    whole = Record(2, None, 0, 0, Text(id="a", text="x ghp_12345"))
    assert secrets.unsplit(whole) is whole
    again = Record(3, None, 0, 0, TextDelta(id="a", text="67890 y"))
    assert secrets.unsplit(again) is again


def test_inputs_and_outputs_of_tools_are_deltas_too() -> None:
    secrets = UnsplitSecrets({})
    token = TOKENS["GitLab token"]
    records = [
        secrets.unsplit(Record(0, None, 0, 0, event))
        for event in (
            ToolInputDelta(id="t", json=f'{{"a": "{token[:9]}'),
            ToolInputDelta(id="t", json=f'{token[9:]}" }}'),
            ToolProgress(id="t", output=token[:9]),
            ToolProgress(id="t", output=f"{token[9:]}\n"),
            ToolProgress(id="t"),
        )
    ]
    assert [record.event for record in records] == [
        ToolInputDelta(id="t", json='{"a": '),
        ToolInputDelta(id="t", json='"[redacted: GitLab token]" }'),
        ToolProgress(id="t", output=""),
        ToolProgress(id="t", output="[redacted: GitLab token]\n"),
        ToolProgress(id="t"),
    ]


def test_a_word_without_end_is_not_kept_for_ever() -> None:
    secrets = UnsplitSecrets({})
    long = "ghp_" + "-" * 1000
    sizes = []
    for seq in range(200):
        event = secrets.unsplit(Record(seq, None, 0, 0, TextDelta(id="t", text=long))).event
        assert isinstance(event, TextDelta)
        sizes.append(len(event.text))
    assert sum(sizes) > 100_000
