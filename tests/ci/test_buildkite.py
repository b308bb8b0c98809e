"""Buildkite: groups of the log, and what `buildkite-agent` is called with."""

import json
import sys
from pathlib import Path

from msgspec.structs import replace

from nightrook.ci.buildkite import Buildkite
from nightrook.display.reports.markdown_report import markdown_report
from tests.ci.payloads import PAYLOADS
from tests.ci.test_github import DONE
from tests.rules import each


def install(folder: Path, script: str) -> dict[str, str]:
    """Put a program `buildkite-agent` into a folder, and return an environment that finds it."""
    program = folder / "buildkite-agent"
    program.write_text(f"#!{sys.executable}\nimport json, sys\n{script}\n")
    program.chmod(0o755)
    return {"PATH": str(folder)}


def test_the_build_is_annotated_and_has_meta_data(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    environ = install(tmp_path, f"print(json.dumps(sys.argv[1:]), file=open({str(calls)!r}, 'a'))")
    assert Buildkite(environ).save(DONE) == []
    annotate, *rest = map(json.loads, calls.read_text().split("\n")[:-1])
    assert annotate == [
        *("annotate", markdown_report(DONE), "--style", "success", "--context", "rook-k7f3")
    ]
    assert rest == [
        ["meta-data", "set", "rook-status", "success"],
        ["meta-data", "set", "rook-exit_code", "0"],
        ["meta-data", "set", "rook-kind", "run"],
        ["meta-data", "set", "rook-name", "k7f3"],
        ["meta-data", "set", "rook-cost_usd", "0.015000"],
    ]


def test_a_long_report_leaves_out_the_answer(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    environ = install(tmp_path, f"print(len(sys.argv[2]), file=open({str(calls)!r}, 'a'))")
    long = replace(DONE, answer="😀" * 200_000, errors=tuple("😀" * 300 for _ in range(400)))
    assert Buildkite(environ).save(long) == []
    assert int(calls.read_text().split("\n")[0]) < 1000


def test_a_failure_is_reported(tmp_path: Path) -> None:
    environ = install(tmp_path, "sys.exit('no token')")
    problems = Buildkite(environ).save(DONE)
    assert problems[0] == "buildkite-agent annotate failed: no token"


def test_without_its_program_nothing_is_called(tmp_path: Path) -> None:
    assert Buildkite({"PATH": str(tmp_path)}).save(DONE) == []
    assert Buildkite({"PATH": str(tmp_path)}).annotations(DONE) == []


@each("payload", PAYLOADS)
def test_a_group_is_one_line(payload: str) -> None:
    line = Buildkite({"PATH": ""}).open_group(payload)
    assert line.startswith("--- ")
    assert "\n" not in line
    assert "\x1b" not in line
