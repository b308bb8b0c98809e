"""The lines of a batch: columns that stand below each other, and a table that fits the screen."""

from msgspec.structs import replace

from nightrook.display.batches import ResultLines, RunningTask, running_lines
from nightrook.model.errors import UnknownAgentError
from nightrook.model.ledger import Money
from nightrook.store.batch_folder import BatchResult


def result(id: str, status: str, duration_s: float, usd: float | None) -> BatchResult:
    return BatchResult(
        id=id,
        ok=status == "success",
        status=status,
        exit_code=0,
        sentence="why it ended" if status != "success" else "",
        run=None if status == "not_started" else "k7f3",
        spent_usd=usd,
        cost_source="native",
        duration_s=duration_s,
    )


def test_the_results_of_a_batch_are_in_columns() -> None:
    lines = ResultLines(["1", "second", "汉字"])
    assert [
        lines.line(result("1", "success", 4.2, 0.0415)),
        lines.line(result("second", "over_budget", 3599.0, 12.5)),
        lines.line(result("汉字", "not_started", 0.01, None)),
        lines.line(result("1", "failed", 60.0, None)),
    ] == [
        "1:      success     ·    4.2s ·  $0.0415 · rook show k7f3",
        "second: over budget · 59m 59s · $12.5000 · rook show k7f3 · why it ended",
        "汉字:   not started ·    0.0s ·          · why it ended",
        "1:      failed      ·  1m 00s ·       $? · rook show k7f3 · why it ended",
    ]


def test_one_very_long_id_does_not_push_the_other_lines_away() -> None:
    lines = ResultLines(["1", "x" * 80])
    assert lines.line(result("1", "success", 1.0, 0.1)).startswith("1: success ")
    assert lines.line(result("x" * 80, "success", 1.0, 0.1)).startswith("x" * 80 + ": success ")


def test_why_a_task_was_not_started_is_shown_whole() -> None:
    known = ("claude", "codex", "opencode", "amp", "gemini", "qwen")
    sentence = str(UnknownAgentError("cluade", known))
    wrong = replace(result("1", "not_started", 0.0, None), sentence=sentence)
    assert ResultLines(["1"]).line(wrong).endswith("; did you mean claude?")


def running(id: str, prompt: str = "Fix it", name: str | None = "k7f3") -> RunningTask:
    return RunningTask(id, name, 100.0, Money(0.5, "estimated"), prompt)


def test_the_running_tasks_are_a_table_that_fits_the_screen() -> None:
    tasks = [running("1", "Fix \x1b[2J the tests of the parser"), running("second", name=None)]
    assert running_lines(tasks, now=190.0, width=48, height=9) == [
        "TASK    RUN   TIME    COST      WHAT",
        "1       k7f3  1m 30s  ~$0.5000  Fix ␛[2J the te…",
        "second  …     1m 30s  ~$0.5000  Fix it",
    ]
    assert running_lines([], now=0.0, width=48, height=9) == []


def test_more_running_tasks_than_lines_are_counted() -> None:
    lines = running_lines([running(str(n)) for n in range(50)], now=0.0, width=80, height=5)
    assert [line.split()[0] for line in lines] == ["TASK", "0", "1", "2", "…"]
    assert lines[-1] == "… and 47 more"
