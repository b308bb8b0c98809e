"""State files: read back equal, of earlier and later versions, and damaged."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightrook.model.errors import (
    DamagedRunError,
    NewerRunError,
)
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo
from tests.store.samples import EXIT, INFO, VERDICT


def test_state_files_are_read_back_equal(folder: RunFolder) -> None:
    assert (folder.exit(), folder.verdict()) == (None, None)
    folder.write_info(INFO)
    folder.write_exit(EXIT)
    folder.write_verdict(VERDICT)
    assert (folder.info(), folder.exit(), folder.verdict()) == (INFO, EXIT, VERDICT)


def test_the_fields_of_the_state_files_are_these(folder: RunFolder) -> None:
    folder.write_exit(EXIT)
    folder.write_verdict(VERDICT)
    assert json.loads((folder.path / "exit.json").read_bytes()) == {
        "format": 1,
        "started": True,
        "pid": 8,
        "exit_code": 1,
        "signal": None,
        "stopped_for": "timed_out",
        "started_at": 1000.5,
        "ended_at": 1002.5,
        "lost_stdout": 9,
        "lost_stderr": 10,
        "log_limit": None,
        "logs": {},
        "left_behind": [],
        "survivors": 0,
        "complaint": "none",
        "missing_program": None,
    }
    assert json.loads((folder.path / "verdict.json").read_bytes()) == {
        "format": 1,
        "status": "denied",
        "sentence": "it finished, but 1 tool call was not permitted",
        "exit_code": 4,
        "ended_at": 1002.5,
        "cost_usd": 0.25,
        "spent_usd": 0.125,
        "cost_source": "native",
        "cost_at_least": False,
        "turns": 2,
        "session": "s",
        "model": "big",
        "total": {"input": 3, "output": 1},
        "total_usd": None,
        "tokens": None,
        "files": None,
        "log_sizes": {},
        "facts": {"denials": 1},
    }


def test_a_verdict_of_an_earlier_version_has_no_facts(folder: RunFolder) -> None:
    folder.write_verdict(VERDICT)
    path = folder.path / "verdict.json"
    fields = json.loads(path.read_bytes())
    del fields["facts"]
    path.write_text(json.dumps(fields))
    assert folder.verdict() == msgspec.structs.replace(VERDICT, saved_facts={})


@pytest.mark.parametrize("text", ["Привіт \u2028", "a\udc80b", "\x00\x1b[2J", '"\\', "💥" * 1000])
def test_any_prompt_path_or_argument_is_kept_exactly(text: str, folder: RunFolder) -> None:
    info = msgspec.structs.replace(INFO, prompt=text, cwd=f"/{text}", command=[text, ""])
    folder.write_info(info)
    assert folder.info() == info


def test_a_prompt_of_megabytes_is_kept(folder: RunFolder) -> None:
    info = msgspec.structs.replace(INFO, prompt="\x01" * 2_000_000)
    folder.write_info(info)
    assert folder.info() == info


def test_an_older_folder_opens_and_fields_that_are_gone_are_ignored(folder: RunFolder) -> None:
    old = {"format": 0, "name": "old", "command": ["x"], "cwd": "/", "started_at": 1, "mood": [1]}
    (folder.path / "run.json").write_text(json.dumps(old))
    assert folder.info() == RunInfo(
        format=0, name="old", command=["x"], cwd="/", started_at=1.0, agent=None
    )


@pytest.mark.parametrize("change", [{"all": "new"}, {}])
def test_a_newer_folder_says_that_it_needs_a_newer_nightrook(
    folder: RunFolder, change: dict[str, str]
) -> None:
    for name, info in (("run.json", INFO), ("exit.json", EXIT), ("verdict.json", VERDICT)):
        fields = change or msgspec.to_builtins(info)  # nothing at all is as it was, or all
        (folder.path / name).write_text(json.dumps({**fields, "format": 2}))
    for read in (folder.info, folder.exit, folder.verdict):
        with pytest.raises(
            NewerRunError, match=r"format 2; this version reads format 1; upgrade nightrook"
        ):
            read()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 4096,
        b" " * 4096,
        b"nonsense",
        b"[]",
        b"{}",
        b'"verdict"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"started": true, "ended_at": NaN}',
        b'{"started": true, "ended_at": 1' + b"0" * 400 + b"}",
        b'{"started": true, "ended_at": 1' + b"0" * 5000 + b"}",
        b'{"started": true, "ended_at": 1e300}',
        b'{"started": true, "ended_at": -1}',
        b'{"started": true, "ended_at": 1, "exit_code": 99999999999999999999}',
        b'{"started": "\x1b[2J", "ended_at": 1}',
        b'{"format": "one", "started": true, "ended_at": 1}',
        b'{"format": true, "started": true, "ended_at": 1}',
    ],
    ids=lambda data: repr(data[:36]),
)
def test_a_damaged_state_file_is_a_typed_error_that_quotes_nothing(
    data: bytes, folder: RunFolder
) -> None:
    (folder.path / "exit.json").write_bytes(data)
    with pytest.raises(
        DamagedRunError, match="raw logs in the same folder can still be decoded"
    ) as caught:
        folder.exit()
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_cost_that_is_not_a_number_is_damage(constant: str, folder: RunFolder) -> None:
    folder.write_verdict(VERDICT)
    path = folder.path / "verdict.json"
    path.write_text(path.read_text().replace('"cost_usd": 0.25', f'"cost_usd": {constant}'))
    assert constant in path.read_text()
    with pytest.raises(DamagedRunError, match="not JSON"):
        folder.verdict()


def test_every_cut_of_a_state_file_is_a_typed_error(folder: RunFolder) -> None:
    folder.write_verdict(VERDICT)
    path = folder.path / "verdict.json"
    whole = path.read_bytes()
    for end in range(len(whole) - 2):
        path.write_bytes(whole[:end])
        with pytest.raises(DamagedRunError):
            folder.verdict()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
FIELDS = st.sampled_from([*RunInfo.__struct_fields__])


@given(fields=st.dictionaries(FIELDS, JSON, max_size=4))
def test_any_surprise_in_a_field_is_read_or_a_typed_error(
    fields: dict[str, object], shared: RunFolder
) -> None:
    known = {"command": ["x"], "cwd": "/", "started_at": 1.0}
    (shared.path / "run.json").write_text(json.dumps({**known, **fields}))
    try:
        shared.info()
    except (DamagedRunError, NewerRunError):
        return


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A folder for tests that try many things in it."""
    return create_run(tmp_path_factory.mktemp("shared"), INFO)
