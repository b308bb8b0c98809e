"""The message of a commit that a loop makes: the task, and the changes of one iteration."""

from collections.abc import Mapping, Sequence

from nightrook.model.redaction.redactor import Redactor
from nightrook.model.safe import safe_line
from nightrook.model.text import count, cut, first_line, suggested

_LONGEST_SUBJECT = 72
_LONGEST_LINE = 200
_MOST_FILES = 30
_HEADING = "# \t"  # of Markdown, as in a prompt file
_NO_TASK = "Work on the task"


def commit_message(
    task: str,
    files: Sequence[str],
    *,
    loop: str,
    iteration: int,
    run: str | None,
    environ: Mapping[str, str],
) -> str:
    """Describe a commit: each text of another is made one safe line, without secrets.

    The last paragraph is ours, and the names of files are indented, so that no name of a file is
    read as a trailer such as `Signed-off-by`.
    """
    made = f"Iteration {iteration} of {loop}, made by rook"
    ending = f"{made} ({suggested('show', run)})." if run else f"{made}."
    return _message(task, files, ending, environ)


def run_commit_message(
    task: str | None, files: Sequence[str], run: str, environ: Mapping[str, str]
) -> str:
    """Describe a commit of changes that a run made elsewhere."""
    return _message(task or "", files, f"Applied by rook ({suggested('show', run)}).", environ)


def _message(task: str, files: Sequence[str], ending: str, environ: Mapping[str, str]) -> str:
    redacted = Redactor(environ).text
    # guards: commit-redacted
    subject = cut(_line(redacted(task), _LONGEST_LINE).strip(_HEADING), _LONGEST_SUBJECT)
    names = [f"  {_line(redacted(name), _LONGEST_LINE)}" for name in files[:_MOST_FILES]]
    if len(files) > _MOST_FILES:
        names.append(f"  and {len(files) - _MOST_FILES} more")
    changed = "\n".join([f"{count(len(files), 'file')} changed:", *names])
    return f"{subject or _NO_TASK}\n\n{changed}\n\n{ending}\n"


def _line(text: str, most: int) -> str:
    return safe_line(first_line(text, most))  # guards: no-trailer
