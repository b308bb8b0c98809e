"""An agent's Markdown as HTML that has none of its elements.

Paragraphs, headings, lists and code are shown; links, images and HTML in it stay the text that they
are.
"""

import re
from collections.abc import Iterator
from html import escape

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[^`]*")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)")
_CODE = re.compile(r"(`+)(?!`)([^\n]{1,2000}?)(?<!`)\1(?!`)")
_STRONG = re.compile(r"\*\*(?=\S)([^*\n]{1,1000}?)(?<=\S)\*\*")
_LONGEST_INLINE = 20_000  # characters of a paragraph that are searched for code and emphasis
_DEEPEST = 4


def markdown_to_html(text: str) -> Iterator[str]:
    """Yield the pieces of HTML for a text."""
    lines = iter(text.split("\n"))
    paragraph: list[str] = []
    for line in lines:
        if fence := _FENCE.fullmatch(line):
            yield from _paragraph(paragraph)
            yield from _code_block(lines, fence[1])
        elif heading := _HEADING.fullmatch(line):
            yield from _paragraph(paragraph)
            yield f"<h4>{_inline(heading[1])}</h4>"
        elif item := _ITEM.fullmatch(line):
            yield from _paragraph(paragraph)
            level = min(len(item[1].expandtabs()) // 2, _DEEPEST)
            mark = line.strip().partition(" ")[0]
            mark = "•" if mark in ("-", "*", "+") else mark
            yield f'<p class="item l{level}"><span>{escape(mark)}</span>{_inline(item[2])}</p>'
        elif line.strip():
            paragraph.append(line)
        else:
            yield from _paragraph(paragraph)
    yield from _paragraph(paragraph)


def _paragraph(lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"<p>{_inline(chr(10).join(lines))}</p>"
        lines.clear()


def _code_block(lines: Iterator[str], fence: str) -> Iterator[str]:
    code = []
    for line in lines:
        mark = line.strip()
        if len(mark) >= len(fence) and mark == mark[:1] * len(mark) and mark[:1] == fence[0]:
            break
        code.append(line)
    yield f"<pre>{escape(chr(10).join(code))}</pre>"  # guards: page-code-escaped


def _inline(text: str) -> str:
    if len(text) > _LONGEST_INLINE:
        return escape(text)
    pieces, end = [], 0
    for code in _CODE.finditer(text):
        pieces.append(_emphasis(text[end : code.start()]))
        pieces.append(f"<code>{escape(code[2])}</code>")
        end = code.end()
    return "".join((*pieces, _emphasis(text[end:])))


def _emphasis(text: str) -> str:
    pieces, end = [], 0
    for strong in _STRONG.finditer(text):
        pieces.append(escape(text[end : strong.start()]))
        pieces.append(f"<strong>{escape(strong[1])}</strong>")
        end = strong.end()
    return "".join((*pieces, escape(text[end:])))  # guards: page-text-escaped
