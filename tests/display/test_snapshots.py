"""The plain text of every recorded case, read by a person.

`UPDATE_CASES=1 pytest tests/display/test_snapshots.py` writes the snapshots anew; read the diff.
"""

import io
import os
import re
from pathlib import Path

from tests.recorded import CASES, name_of
from tests.rules import each

import nightrook
from nightrook.display.event_lines import RunContext
from nightrook.display.plain import PlainDisplay
from nightrook.model.fold import Fold

HERE = Path(__file__).parent / "snapshots"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(path: Path, *, verbose: bool) -> str:
    """What a person sees of a stream; no prices, for those change."""
    out, fold = io.StringIO(), Fold(nightrook.decode(path, agent="claude"))
    display = PlainDisplay(
        out, "claude", context=RunContext(snapshot=fold.state.snapshot), verbose=verbose
    )
    for record in fold:
        display.show(record)
    return out.getvalue()


@each("path", CASES, ids=name_of)
def test_a_case_is_told_as_a_person_has_read_it(path: Path) -> None:
    usual, verbose = shown(path, verbose=False), shown(path, verbose=True)
    told = f"# as usual\n{usual}\n# with --verbose\n{verbose}"
    file = HERE / f"{name_of(path)}.txt"
    if os.environ.get("UPDATE_CASES"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(told, encoding="utf-8", newline="\n")
    assert told == file.read_text(encoding="utf-8")


@each("path", CASES, ids=name_of)
def test_every_line_has_its_prefix_and_none_can_harm_a_terminal(path: Path) -> None:
    told = shown(path, verbose=True)
    assert told == "" or told.endswith("\n")
    assert UNSAFE.search(told) is None
    for line in told.split("\n")[:-1]:
        shapes = r"\[(claude|rook)\] \S|\[claude\]   (-> |\+|took )|\[claude\]     |\[claude\]$"
        assert re.match(shapes, line)


@each("path", CASES, ids=name_of)
def test_verbose_only_adds_lines(path: Path) -> None:
    """It only makes texts longer, and shows the lines of an edit beside its output."""
    more = shown(path, verbose=True).split("\n")
    for line in shown(path, verbose=False).split("\n"):
        begin = line.removesuffix('"').removesuffix("...")
        counted = line.removeprefix("[claude]   ")
        while not more[0].startswith(begin) and f"({counted}" not in more[0]:
            more.pop(0)


def test_no_snapshot_is_left_of_a_case_that_is_gone() -> None:
    assert {file.stem for file in HERE.iterdir()} == {name_of(path) for path in CASES}
