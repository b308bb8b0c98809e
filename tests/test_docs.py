"""The docs: every file, test, name, command and link that they mention exists."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import click

from rookery.cli.main import cli
from tests.rules import each

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
BESIDE = (ROOT, ROOT / "src/rookery", ROOT / "docs")
_BLOCK = re.compile(r"^```[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _spans(page: Path) -> list[str]:
    """The code inside sentences and tables."""
    prose = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    return [re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", prose)]


def _code(page: Path) -> list[str]:
    """The code inside sentences and tables, and the lines of code blocks."""
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return _spans(page) + [line for block in blocks for line in block.splitlines()]


def _exists(path: str) -> bool:
    pattern = re.sub(r"<\w+>", "*", path)
    return any(True for folder in BESIDE for _ in folder.glob(pattern))


@each("page", PAGES, ids=_name)
def test_every_python_file_that_a_page_mentions_exists(page: Path) -> None:
    files = re.findall(r"(?<![\w./])[\w<>][\w<>./-]*/[\w<>./-]*\.py\b", "\n".join(_spans(page)))
    assert [file for file in files if not _exists(file)] == []


@each("page", PAGES, ids=_name)
def test_every_test_that_a_page_mentions_exists(page: Path) -> None:
    missing, file = [], ""
    for mentioned, test in re.findall(r"(tests/[\w/]+\.py|…)::(\w+)", "\n".join(_spans(page))):
        file = file if mentioned == "…" else mentioned
        path = ROOT / file
        if not path.is_file() or f"def {test}(" not in path.read_text(encoding="utf-8"):
            missing.append(f"{file}::{test}")
    assert missing == []


@each("page", PAGES, ids=_name)
def test_every_name_of_the_library_that_a_page_mentions_exists(page: Path) -> None:
    names = {name for code in _code(page) for name in re.findall(r"\brookery(?:\.\w+)+", code)}
    assert [name for name in sorted(names - {"rookery.toml"}) if not _resolves(name)] == []


@each("page", PAGES, ids=_name)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", text)
    local = [one or other for one, other in links if "://" not in one]
    assert [link for link in local if not (page.parent / link).exists()] == []


@each("page", PAGES, ids=_name)
def test_every_target_of_make_that_a_page_mentions_exists(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(VENV)", ".venv")
    targets = set(re.findall(r"^([\w./-]+):", makefile, re.MULTILINE))
    mentioned = {code.split()[1] for code in _code(page) if re.match(r"make [\w./-]+(\s|$)", code)}
    assert mentioned - targets == set()


@each("page", PAGES, ids=_name)
def test_every_command_and_option_of_rook_that_a_page_mentions_exists(page: Path) -> None:
    lines = [code.removeprefix("$ ") for code in _code(page)]
    wrong = [line for line in lines if line.startswith("rook ") and list(_unknown_words(line))]
    assert wrong == []


def _resolves(name: str) -> bool:
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[count:]:
            if not hasattr(value, attribute):
                return False
            value = getattr(value, attribute)
        return True
    return False


def _unknown_words(line: str) -> Iterator[str]:
    """The command, if there is none of that name, and the options that it does not take."""
    words = re.sub(r"\"[^\"]*\"|'[^']*'|\$\([^)]*\)", "…", line).split(" | ")[0].split()[1:]
    words = words[: words.index("--")] if "--" in words else words
    words = words[: words.index("#")] if "#" in words else words
    context = click.Context(cli)
    command: click.Command = cli
    if words and re.fullmatch(r"[a-z]+", words[0]):
        found = cli.get_command(context, words[0])
        if found is None:
            yield words[0]
            return
        command = found
    options = {
        option
        for parameter in [*command.params, *cli.params]
        for option in [*parameter.opts, *parameter.secondary_opts]
    } | {"--help", "--version"}
    yield from (
        word for word in words if word.startswith("-") and word.split("=")[0] not in options
    )
