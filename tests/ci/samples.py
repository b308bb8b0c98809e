"""Reports for tests."""

from nightrook.display.reports.report import (
    Report,
    ReportedCheck,
    ReportedDenial,
    ReportedFile,
    ReportedPart,
)


def everywhere(text: str) -> Report:
    """A report that has a text wherever an agent, a user or a file on disk could put one."""
    check = ReportedCheck(command=text, ok=False, output=text)
    part = ReportedPart(
        name=text, status=text, ok=False, sentence=text, run=text, checks=(check,), answer=text
    )
    return Report(
        kind="loop",
        name=text,
        status=text,
        ok=False,
        exit_code=1,
        sentence=text,
        prompt=text,
        agent=text,
        model=text,
        files=(ReportedFile(path=text, added=1, removed=2),),
        denials=(ReportedDenial(tool=text, allow=text),),
        errors=(text,),
        warnings=(text,),
        parts=(part,),
        answer=text,
        answer_file=text,
    )
