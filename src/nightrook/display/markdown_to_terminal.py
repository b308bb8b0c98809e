"""An agent's Markdown as a terminal shows it; made by rich, which is imported only for this."""

from nightrook.model.safe import safe

_THEME = {
    "markdown.code": "bold",
    "markdown.code_block": "none",
    "markdown.item.bullet": "cyan",
    "markdown.item.number": "cyan",
    "markdown.h1": "bold underline",
    "markdown.h2": "bold",
    "markdown.h3": "bold",
    "markdown.block_quote": "dim",
    "markdown.table.header": "bold",
    "markdown.table.border": "dim",
}


def markdown_to_terminal(text: str, *, width: int, colour: bool) -> str:
    """Format Markdown to a width; escape sequences in it have no effect."""
    from rich.color import ColorSystem  # rich takes as long to import as all of ours
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    console = Console(width=width, theme=Theme(_THEME), legacy_windows=False)
    page = Markdown(safe(text), code_theme="ansi_light", hyperlinks=False)
    parts = []
    for segment in console.render(page, console.options.update(width=width)):
        # Safe once more: Markdown turns `&#27;` into the character itself.
        shown = safe(segment.text)
        if segment.style and colour and not segment.control:
            shown = segment.style.render(shown, color_system=ColorSystem.STANDARD)
        parts.append(shown)
    lines = (line.rstrip() for line in "".join(parts).split("\n"))
    return "\n".join(lines).strip("\n")
