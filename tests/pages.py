"""The pages of the docs, taken apart for tests: headings, sections, code blocks, tables."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,4} (.+)$", re.MULTILINE)


def name(page: Path) -> str:
    """The path of a page in the repository."""
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def blocks(page: Path) -> list[tuple[str, str]]:
    """The code blocks of a page: language and text."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def anchors(page: Path) -> dict[str, str]:
    """The sections of a page by the anchors of their headings, as GitHub makes them."""
    text = page.read_text(encoding="utf-8")
    bare = _BLOCK.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)
    heads = list(_HEADING.finditer(bare))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {
        _anchor(head[1]): text[head.start() : end] for head, end in zip(heads, ends, strict=True)
    }


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def table(section: str) -> list[list[str]]:
    """The rows of the first table of a section, its head first."""
    lines = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    rows = [line.strip().strip("|").split("|") for line in lines[0].splitlines()] if lines else []
    return [[cell.strip() for cell in row] for n, row in enumerate(rows) if n != 1]
