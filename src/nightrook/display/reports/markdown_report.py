"""A report as Markdown in which every text of others stays text.

Such a text is only ever in a code span or a fenced block: there, no renderer makes links, images,
mentions, references, HTML or emoji of it, and no line of it can begin a block of its own.
"""

import re
from collections.abc import Iterator, Sequence

from nightrook.display.numbers import changed_lines, tokens, total_cost
from nightrook.display.reports.report import Report, ReportedCheck, ReportedFile, ReportedPart
from nightrook.model.durations import duration
from nightrook.model.safe import safe, safe_line
from nightrook.model.text import count, cut, one_line

_MOST_ITEMS = 50
_LONGEST_LINE = 300
_LONGEST_ANSWER = 30_000  # characters; a step summary of GitHub takes 1 MiB
_LONGEST_OUTPUT = 2_000
_WORD = re.compile("[a-z][a-z_ ]{0,30}")


def code(text: str) -> str:
    """A text as a code span on one line; the quotes around it are longer than any inside."""
    line = one_line(safe_line(text), _LONGEST_LINE) or "(blank)"
    quotes = "`" * (_longest_run(line) + 1)  # guards: code-span-quotes
    padding = " " if line[0] in "` " or line[-1] in "` " else ""
    return f"{quotes}{padding}{line}{padding}{quotes}"


def fenced(text: str, most: int) -> Iterator[str]:
    """The lines of a text as a fenced block; its fences are longer than any inside."""
    shown = cut(safe(text).strip("\n"), most)
    fence = "`" * max(3, _longest_run(shown) + 1)  # guards: code-block-fence
    yield f"{fence}text"
    yield from shown.split("\n")
    yield fence


def markdown_report(report: Report) -> str:
    """The report as a page; it ends with a newline."""
    return "\n".join([*_lines(report), ""])


def facts(report: Report) -> list[str]:
    """Return the duration and the cost, each in a few words."""
    found = [] if report.duration_s is None else [duration(report.duration_s)]
    if report.turns:
        found.append(count(report.turns, "turn"))
    if report.tools is not None and report.tools.finished:
        bad = [f"{n} {word}" for n, word in _bad_tools(report) if n]
        found.append(count(report.tools.finished, "tool") + (f" ({', '.join(bad)})" if bad else ""))
    if report.tokens:
        found.append(f"{tokens(report.tokens)} tokens")
    is_known = report.exit_code is not None or report.spent_usd is not None
    if report.spent_usd or (is_known and report.has_started):
        found.append(total_cost(report.cost, report.unknown_costs, _part_name(report)))
    return found


def status(name: str) -> str:
    """A status in plain words; what is not one of ours is quoted."""
    words = name.replace("_", " ")
    return words if _WORD.fullmatch(words) else code(words)  # guards: unknown-status-quoted


def _bad_tools(report: Report) -> tuple[tuple[int, str], ...]:
    tools = report.tools
    return ((tools.failed, "failed"), (tools.denied, "denied")) if tools else ()


def _part_name(report: Report) -> str:
    return "task" if report.kind == "batch" else "run"


def _lines(report: Report) -> Iterator[str]:
    yield f"### rook {report.kind} {code(report.name or '-')}: {status(report.status)}"
    yield ""
    if report.prompt:
        yield f"{code(report.prompt)}"
        yield ""
    yield from (f"- {line}" for line in _head(report))
    yield from _section("Warnings", map(code, report.warnings))
    yield from _section("Denied", (_denial(each.tool, each.allow) for each in report.denials))
    yield from _section("Errors", map(code, report.errors))
    yield from _section("Files changed", map(_file, report.files))
    yield from _section("Tasks" if report.kind == "batch" else "Iterations", _parts(report))
    yield from _failed_checks(report)
    yield from _answer(report.answer)


def _head(report: Report) -> Iterator[str]:
    if report.sentence and not (report.ok and report.kind == "run"):
        yield f"Result: {code(report.sentence)}"
    if report.agent:
        model = f", model {code(report.model)}" if report.model else ""
        yield f"Agent: {code(report.agent)}{model}"
    if used := facts(report):
        yield f"Used: {' · '.join(used)}"
    if report.exit_code is not None:
        yield f"Exit code: {report.exit_code}"


def _section(title: str, items: Iterator[str]) -> Iterator[str]:
    """A list with a heading, cut; nothing if it is empty."""
    listed = list(items)
    if not listed:
        return
    yield from ("", f"#### {title}", "")
    yield from (f"- {item}" for item in listed[:_MOST_ITEMS])
    if len(listed) > _MOST_ITEMS:
        yield f"- and {len(listed) - _MOST_ITEMS} more"


def _denial(tool: str, allow: str | None) -> str:
    return code(tool) + (f" · allow it: {code(allow)}" if allow else "")


def _file(file: ReportedFile) -> str:
    return " ".join(
        part for part in (code(file.path), changed_lines(file.added, file.removed)) if part
    )


def _parts(report: Report) -> Iterator[str]:
    for part in report.parts:
        yield " · ".join(_part(part))


def _part(part: ReportedPart) -> Iterator[str]:
    yield f"{code(part.name)}: {status(part.status)}"
    if part.duration_s is not None:
        yield duration(part.duration_s)
    if part.status != "not_started":
        yield total_cost(part.cost, 0, "run")
    if name := part.loop or part.run:
        yield code(name)
    if part.sentence and not part.ok:
        yield code(part.sentence)


def _failed_checks(report: Report) -> Iterator[str]:
    """The output of the failed checks of the last iteration."""
    checks: Sequence[ReportedCheck] = report.parts[-1].checks if report.parts else ()
    for check in (each for each in checks if not each.ok):
        yield from ("", f"#### Failed check {code(check.command)}", "")
        yield from fenced(check.output[-_LONGEST_OUTPUT:], _LONGEST_OUTPUT)


def _answer(answer: str | None) -> Iterator[str]:
    if answer and answer.strip():
        yield from ("", "#### Answer", "")
        yield from fenced(answer, _LONGEST_ANSWER)


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
