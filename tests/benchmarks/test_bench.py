import hashlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import nightrook
from nightrook.model.events import StreamClosed, ToolFinished, Unknown, Unreadable

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MB = 1_000_000
PLAIN = "for line in file: msgspec.json.decode(line)"
SPLIT = "for line in lines: msgspec.json.decode(line)"
OTHERS = (
    "codex",
    "app-server",
    "opencode",
    "gemini",
    "qwen",
    "amp",
    "kilo",
    "droid",
    "goose",
    "cline",
    "copilot",
    "kimi",
)
ROWS = [
    ("file → records, stream corpus", PLAIN, "≥ 1.20×"),
    ("file → records, deltas corpus", PLAIN),
    *((f"file → records, {name} corpus", PLAIN, "≥ 0.90×") for name in OTHERS),
    *((f"file → records, short {name} corpus", PLAIN, "≥ 0.50×") for name in OTHERS),
    *((f"line by line → records, {name} corpus", SPLIT) for name in ("stream", "deltas", *OTHERS)),
    ("file → state, stream corpus", PLAIN, "≥ 0.70×"),
    ("1 % unknown lines, stream corpus", "no unknown lines", "≤ 1.30×"),
    ("1 % unknown lines, deltas corpus", "no unknown lines", "≤ 1.30×"),
    ("a line of 10 MB, per MB", "lines of 100 kB", "≤ 2.00×"),
    ("peak memory, 50 MB stream", "10 MB stream", "≤ +40 MB"),
    ("import nightrook", "imports asyncio, click, genai_prices, rich", "no"),
    ("rook --help", "python -c pass", "≤ 4.00×"),
    ("rook run, an agent that ends at once", "CPU time", "≤ 0.20 s"),
    ("rook runs, 2000 runs", "os.scandir, stat and json.load of the 20 shown", "≤ 3.00×"),
    ("rook runs, 2000 runs", "CPU time", "≤ 0.30 s"),
    ("lag of 5 runs, 100 lines/s each", "the time of writing", "p99 ≤ 100 ms"),
]
"""What is measured against what, and what is required of it."""

SDK_REQUIRES = ["≥ 3.50×", "≥ 7.00×", "≤ 1.50×", "≤ 1.50×", "≥ 5.00×", "≥ 5.00×"]
"""What is required where the SDK is the reference, in the order of the rows, if it is installed."""

sys.path.insert(0, str(BENCHMARKS))
from app_server_corpus import AppServerCorpus  # noqa: E402
from codex_corpus import CodexCorpus  # noqa: E402
from corpus import Corpus  # noqa: E402
from more_corpora import (  # noqa: E402
    AmpCorpus,
    ClineCorpus,
    CopilotCorpus,
    DroidCorpus,
    GeminiCorpus,
    GooseCorpus,
    KimiCorpus,
    QwenCorpus,
)
from opencode_corpus import KiloCorpus, OpenCodeCorpus  # noqa: E402


def begin(lines: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(lines)[:MB]).hexdigest()


def names(lines: Iterable[bytes]) -> Iterator[str]:
    return (type(record.event).__name__ for record in nightrook.decode(lines, "claude"))


def test_a_seed_makes_the_same_corpus_each_time() -> None:
    assert begin(Corpus(5).lines(MB)) == begin(Corpus(5).lines(MB))
    assert begin(Corpus(5).deltas(MB)) == begin(Corpus(5).deltas(MB))


def test_every_line_of_the_codex_corpus_is_understood() -> None:
    assert begin(CodexCorpus(5).lines(MB)) == begin(CodexCorpus(5).lines(MB))
    records = list(nightrook.decode(CodexCorpus().lines(2 * MB), "codex"))
    kinds = {type(record.event).__name__ for record in records}
    assert {"Thinking", "Text", "ToolStarted", "ToolFinished", "FileChanged"} <= kinds
    assert not kinds & {"Unknown", "Unreadable"}


def test_every_line_of_the_app_server_corpus_is_understood_and_known() -> None:
    assert begin(AppServerCorpus(5).lines(MB)) == begin(AppServerCorpus(5).lines(MB))
    *records, closed = nightrook.decode(AppServerCorpus().lines(2 * MB))
    kinds = {type(record.event).__name__ for record in records}
    assert {"TextDelta", "Text", "ToolProgress", "FileChanged", "UsageReported"} <= kinds
    assert not kinds & {"Unknown", "Unreadable"}
    assert isinstance(closed.event, StreamClosed)
    assert closed.event.unknown_fields == ()


@pytest.mark.parametrize(
    ("agent", "corpus"),
    [
        ("gemini", GeminiCorpus),
        ("droid", DroidCorpus),
        ("qwen", QwenCorpus),
        ("amp", AmpCorpus),
        ("goose", GooseCorpus),
        ("cline", ClineCorpus),
        ("copilot", CopilotCorpus),
        ("kimi", KimiCorpus),
    ],
)
def test_every_line_of_the_other_corpora_is_understood(agent: str, corpus: Any) -> None:
    assert begin(corpus(5).lines(MB)) == begin(corpus(5).lines(MB))
    records = list(nightrook.decode(corpus().lines(2 * MB)))  # and its agent is known
    kinds = {type(record.event).__name__ for record in records}
    assert {"Text", "ToolStarted", "ToolFinished", "FileChanged"} <= kinds
    assert not kinds & {"Unknown", "Unreadable"}
    assert ("TextDelta" in kinds) == (agent in ("gemini", "goose", "cline", "copilot"))


def test_another_seed_makes_another_corpus() -> None:
    assert begin(Corpus(5).lines(MB)) != begin(Corpus(6).lines(MB))


@pytest.mark.parametrize("seed", [1, 2])
def test_every_line_of_the_corpus_is_understood(seed: int) -> None:
    records = list(nightrook.decode(Corpus(seed).lines(2 * MB), "claude"))

    assert not [r for r in records if isinstance(r.event, (Unknown, Unreadable))]
    assert {"SessionStarted", "TextDelta", "Thinking", "ToolInputDelta", "ToolFinished"} <= {
        type(record.event).__name__ for record in records
    }


def test_the_deltas_are_partial_messages_after_one_init() -> None:
    first, *others = Corpus().deltas(MB)

    assert b'"subtype":"init"' in first
    assert all(line.startswith(b'{"type":"stream_event",') for line in others)
    assert Counter(names([first, *others]))["TextDelta"] > 1000


def test_one_line_in_a_hundred_is_unknown_if_asked_for() -> None:
    lines = list(islice(Corpus(unknown=0.01).lines(1000 * MB), 10_000))

    assert 50 <= Counter(names(lines))["Unknown"] <= 150


@pytest.mark.parametrize(("agent", "corpus"), [("opencode", OpenCodeCorpus), ("kilo", KiloCorpus)])
def test_every_line_of_a_corpus_of_finished_parts_is_understood(agent: str, corpus: Any) -> None:
    assert begin(corpus(5).lines(MB)) == begin(corpus(5).lines(MB))
    *records, closed = nightrook.decode(corpus().lines(2 * MB), agent)
    kinds = {type(record.event).__name__ for record in records}
    assert {"Thinking", "Text", "ToolFinished", "FileChanged", "PlanChanged"} <= kinds
    assert not kinds & {"Unknown", "Unreadable"}
    assert isinstance(closed.event, StreamClosed)
    assert closed.event.unknown_fields == ()


@pytest.mark.parametrize("largest", [2000, 50 * 1024])
def test_opencode_s_corpus_has_outputs_of_all_sizes_up_to_the_largest(largest: int) -> None:
    records = nightrook.decode(OpenCodeCorpus(largest=largest).lines(4 * MB), "opencode")
    ended = [r.event for r in records if isinstance(r.event, ToolFinished)]
    sizes = [len(e.output or e.error or "") for e in ended if e.kind == "execute"]
    assert min(sizes) < 60
    assert 0.9 * largest < max(sizes) <= largest


def test_a_tool_result_has_about_the_size_asked_for() -> None:
    assert 90_000 < len(Corpus().tool_result(100_000)) < 120_000
    assert 9 * MB < len(Corpus().tool_result(9 * MB)) < 10 * MB


def test_a_quick_run_prints_every_row() -> None:
    command = [sys.executable, str(BENCHMARKS / "bench.py"), "--quick"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True)

    rows = [re.split("  +", row) for row in printed.stdout.splitlines()]
    cells = {(what, against, *rest[1:2]) for what, against, *rest in (r for r in rows if r[1:])}
    assert [row for row in ROWS if row not in cells] == []
    with_sdk = [row for row in rows if "claude-agent-sdk" in "".join(row[1:2])]
    assert with_sdk
    without_sdk = [row for row in with_sdk if "not installed" in row[1]]
    judged = [row for row in rows[3:] if len(row) > 3 and row not in without_sdk]
    assert {row[-1] for row in judged} <= {"ok", "MISS"}
    if not without_sdk:
        assert [row[3] for row in with_sdk if row[3:]] == SDK_REQUIRES
    assert printed.stderr == ""


def test_one_benchmark_can_be_run_alone() -> None:
    command = [sys.executable, str(BENCHMARKS / "bench.py"), "--only", "imports", "--strict"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True)

    assert printed.stdout.splitlines()[-1].split()[:2] == ["import", "nightrook"]
    assert printed.stdout.splitlines()[-1].endswith("ok")
