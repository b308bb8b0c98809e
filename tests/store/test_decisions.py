"""What was decided on an agent's questions is kept, privately and in order."""

from pathlib import Path

from nightrook.model.questions import Decision
from nightrook.store import decisions
from nightrook.store.decisions import Decided
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo

YES = Decided(
    at=1.5,
    id="a",
    name="Bash",
    title="ls",
    decision=Decision(allow=True, always=True, by="person"),
    rule="Bash(ls)",
    waited_s=2.0,
)
NO = Decided(at=2.5, id="b", about="plan", decision=Decision(allow=False), waited_s=0.0)


def folder(home: Path) -> RunFolder:
    return create_run(home, RunInfo(command=["x"], cwd="/", started_at=0.0))


def test_what_is_kept_is_read_back(tmp_path: Path) -> None:
    run = folder(tmp_path)
    assert decisions.read(run) == {}
    decisions.keep(run, YES)
    decisions.keep(run, NO)
    assert decisions.read(run) == {"a": YES, "b": NO}
    assert (run.path / "decisions.jsonl").stat().st_mode & 0o777 == 0o600


def test_only_the_calls_that_a_person_denied_are_listed(tmp_path: Path) -> None:
    run = folder(tmp_path)
    assert decisions.denied_by_person(run) == frozenset()
    people, nobody = Decision(allow=False, by="person"), Decision(allow=False, by="timeout")
    made = (("a", people), ("b", nobody), ("c", Decision(allow=True, by="person")))
    for id, decision in made:
        keeps = Decided(at=1.0, id=f"q{id}", tool_id=id, decision=decision, waited_s=0.0)
        decisions.keep(run, keeps)
    decisions.keep(run, Decided(at=1.0, id="old", decision=people, waited_s=0.0))
    assert decisions.denied_by_person(run) == {"a"}


def test_a_torn_or_strange_line_hides_no_other(tmp_path: Path) -> None:
    run = folder(tmp_path)
    decisions.keep(run, YES)
    with (run.path / "decisions.jsonl").open("ab") as file:
        file.write(b'{"at":"\xff"}\n{"at":1.0,"id":"to')
    assert decisions.read(run) == {"a": YES}


def test_the_calls_that_anybody_refused_at_last_are_listed(tmp_path: Path) -> None:
    run = folder(tmp_path)
    assert decisions.denied(run) == frozenset()
    no, yes = Decision(allow=False, by="nobody"), Decision(allow=True, by="person")
    made = (("1", "a", no), ("2", "b", no), ("3", "b", yes), ("4", None, no))
    for id, tool, decision in made:
        decisions.keep(run, Decided(at=1.0, id=id, tool_id=tool, decision=decision, waited_s=0.0))
    plan = Decided(at=1.0, id="5", tool_id="c", about="plan", decision=no, waited_s=0.0)
    decisions.keep(run, plan)
    assert decisions.denied(run) == {"a"}
