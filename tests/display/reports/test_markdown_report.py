"""A report as Markdown: what it shows, and that no text of an agent becomes Markdown."""

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace
from tests.ci.payloads import PAYLOADS
from tests.ci.samples import everywhere
from tests.rules import each

from nightrook.display.reports.markdown_report import code, facts, markdown_report, status
from nightrook.display.reports.report import Report, ReportedPart
from nightrook.model.safe import safe, safe_line
from nightrook.model.snapshot import ToolCounts

OURS = {"heading", "bullet_list", "list_item", "paragraph", "inline", "fence"}
IN_LINES = {"text", "code_inline"}


def tokens(text: str) -> list[Token]:
    """What a renderer that knows tables, strikethrough and HTML makes of a text."""
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)


def inside(found: list[Token]) -> Iterator[Token]:
    for token in found:
        yield from token.children or ()


def shape(text: str) -> list[tuple[str, list[str]]]:
    return [(token.type, [child.type for child in token.children or ()]) for token in tokens(text)]


def test_there_are_sixty_payloads() -> None:
    assert len(set(PAYLOADS)) == 60


@each("payload", PAYLOADS)
def test_markdown_in_a_summary_stays_text(payload: str) -> None:
    page = markdown_report(everywhere(payload))
    found = tokens(page)
    assert shape(page) == shape(markdown_report(everywhere("Harmless 1")))
    assert {token.type.removesuffix("_open").removesuffix("_close") for token in found} <= OURS
    assert {token.type for token in inside(found)} <= IN_LINES


@each("payload", PAYLOADS)
def test_a_code_span_shows_the_text_itself(payload: str) -> None:
    (span,) = (
        token for token in inside(tokens(f"- before {code(payload)} after")) if token.type != "text"
    )
    assert span.type == "code_inline"
    assert span.content.strip() == " ".join(safe_line(payload).split())


@each("payload", PAYLOADS)
def test_a_block_shows_the_answer_itself(payload: str) -> None:
    (block,) = [
        token for token in tokens(markdown_report(_answered(payload))) if token.type == "fence"
    ]
    assert block.info == "text"
    assert block.content == safe(payload).strip("\n") + "\n"


def test_a_control_character_never_reaches_a_page() -> None:
    page = "".join(markdown_report(everywhere(payload)) for payload in PAYLOADS)
    assert safe(page) == page


def test_a_long_answer_is_cut() -> None:
    assert len(markdown_report(_answered("word\n" * 100_000))) < 40_000


def test_a_long_list_is_cut() -> None:
    page = markdown_report(
        Report(kind="run", name="k7f3", status="failed", ok=False, errors=("x",) * 80)
    )
    assert page.count("\n- `x`") == 50
    assert "- and 30 more" in page


def test_a_status_that_is_not_ours_is_quoted() -> None:
    assert status("over_budget") == "over budget"
    assert status("**done**") == "`**done**`"


def test_a_page_shows_what_happened() -> None:
    report = Report(
        kind="run",
        name="k7f3",
        status="success",
        ok=True,
        exit_code=0,
        prompt="Fix the tests",
        agent="claude",
        model="some-model",
        duration_s=102.0,
        spent_usd=0.015,
        cost_source="native",
        turns=3,
        tools=ToolCounts(started=4, finished=4, failed=1),
        answer="Done.",
    )
    assert markdown_report(report) == PAGE


def test_what_was_not_started_has_no_cost() -> None:
    run = Report(kind="run", name="k7f3", status="not_started", ok=False, exit_code=9)
    assert facts(run) == []
    part = ReportedPart(name="1", status="not_started", ok=False)
    batch = Report(kind="batch", name="b", status="failed", ok=False, exit_code=1, parts=(part,))
    assert facts(batch) == []
    assert facts(replace(batch, spent_usd=0.5, cost_source="native")) == ["$0.5000"]
    assert facts(replace(batch, parts=(part, replace(part, status="failed")))) == ["$?"]


def _answered(answer: str) -> Report:
    return Report(kind="run", name="k7f3", status="success", ok=True, answer=answer)


PAGE = """\
### rook run `k7f3`: success

`Fix the tests`

- Agent: `claude`, model `some-model`
- Used: 1m 42s · 3 turns · 4 tools (1 failed) · $0.0150
- Exit code: 0

#### Answer

```text
Done.
```
"""
