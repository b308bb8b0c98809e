"""The docs: every file, test, name, command and link that they mention exists."""

import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from nightrook.cli.main import cli
from tests.pages import PAGES, ROOT, anchors, blocks, name, prose
from tests.rules import each

BESIDE = (ROOT, ROOT / "src/nightrook", ROOT / "docs")


def _spans(page: Path) -> list[str]:
    """The code inside sentences and tables."""
    return [re.sub(r"\s+", " ", span) for span in re.findall(r"`([^`]+)`", prose(page))]


def _block_lines(page: Path) -> list[str]:
    """The lines of code blocks."""
    return [line for _, block in blocks(page) for line in block.splitlines()]


def _code(page: Path) -> list[str]:
    """The code inside sentences and tables, and the lines of code blocks."""
    return _spans(page) + _block_lines(page)


def _exists(path: str) -> bool:
    pattern = re.sub(r"<\w+>", "*", path)
    return any(True for folder in BESIDE for _ in folder.glob(pattern))


@each("page", PAGES, ids=name)
def test_every_python_file_that_a_page_mentions_exists(page: Path) -> None:
    files = re.findall(r"(?<![\w./])[\w<>][\w<>./-]*/[\w<>./-]*\.py\b", "\n".join(_spans(page)))
    assert [file for file in files if not _exists(file)] == []


@each("page", PAGES, ids=name)
def test_every_test_that_a_page_mentions_exists(page: Path) -> None:
    missing, file = [], ""
    for mentioned, test in re.findall(r"(tests/[\w/]+\.py|…)::(\w+)", "\n".join(_spans(page))):
        file = file if mentioned == "…" else mentioned
        path = ROOT / file
        if not path.is_file() or f"def {test}(" not in path.read_text(encoding="utf-8"):
            missing.append(f"{file}::{test}")
    assert missing == []


_NOT_MODULES = {"nightrook.histories", "rook.toml"}
"""A group of entry points, and a file."""


@each("page", PAGES, ids=name)
def test_every_name_of_the_library_that_a_page_mentions_exists(page: Path) -> None:
    names = {name for code in _code(page) for name in re.findall(r"\bnightrook(?:\.\w+)+", code)}
    assert [name for name in sorted(names - _NOT_MODULES) if not _resolves(name)] == []


@each("page", PAGES, ids=name)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", text)
    local = [one or other for one, other in links if "://" not in one]
    assert [link for link in local if not (page.parent / link).exists()] == []


@each("page", PAGES, ids=name)
def test_every_link_to_a_heading_leads_to_one(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", page.read_text(encoding="utf-8"))
    local = [(page.parent / file if file else page, at) for file, at in links if ":" not in file]
    assert [(file.name, at) for file, at in local if at not in anchors(file)] == []


def test_every_page_is_found_from_the_readme() -> None:
    seen, left = set[Path](), [ROOT / "README.md"]
    while left:
        page = left.pop()
        seen.add(page)
        links = re.findall(r"\]\(([^)#:\s]+\.md)", page.read_text(encoding="utf-8"))
        left += {(page.parent / link).resolve() for link in links} - seen - set(left)
    assert sorted(map(name, set(PAGES) - seen)) == []


@each("page", PAGES, ids=name)
def test_every_target_of_make_that_a_page_mentions_exists(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(VENV)", ".venv")
    targets = set(re.findall(r"^([\w./-]+):", makefile, re.MULTILINE))
    mentioned = {code.split()[1] for code in _code(page) if re.match(r"make [\w./-]+(\s|$)", code)}
    assert mentioned - targets == set()


@each("page", PAGES, ids=name)
def test_every_command_and_option_of_rook_that_a_page_mentions_exists(page: Path) -> None:
    lines = [code.removeprefix("$ ") for code in _code(page)]
    wrong = [line for line in lines if line.startswith("rook ") and list(_unknown_words(line))]
    assert wrong == []


@each("page", PAGES, ids=name)
def test_every_line_of_rook_in_a_block_is_a_whole_command(page: Path) -> None:
    wrong = [f"{line}: {problem}" for line in _rook_lines(page) if (problem := _problem(line))]
    assert wrong == []


_JOB = re.compile(r"^\s*(?:- (?:run: )?|run: |sh '|[\d*/,-]+(?: [\d*/,-]+){4}\s+)")
"""What stands before a command in the files of CI services and in a crontab."""


def _rook_lines(page: Path) -> Iterator[str]:
    """The parts of shell lines that call rook, without what is piped, redirected or substituted."""
    for line in _block_lines(page):
        inner = re.findall(r"\$\(([^)]*)\)", line)
        typed = _JOB.sub("", line.removeprefix("$ "), count=1)
        typed = typed.removesuffix("'") if typed != line else typed
        for part in [*re.split(r" \| | >>? | && |; ", typed), *inner]:
            command = re.sub(r"^(\w+=('[^']*'|\S*) )*", "", part.strip())
            if re.match(r"rook( [a-z-]|$)", command):
                yield command


def test_commands_are_found_in_files_of_ci_services_too() -> None:
    lines = list(_rook_lines(ROOT / "docs" / "ci.md"))
    assert sum(line.startswith("rook run ") for line in lines) >= 4
    assert "rook rm --older-than 30d --yes" in lines


def _problem(line: str) -> str | None:
    """What is wrong with a command line, by the parser of its command; None if nothing is."""
    words = shlex.split(line, comments=True)[1:]
    words = words[: words.index("--")] if "--" in words else words
    command: click.Command | None = cli
    if words and not words[0].startswith("-"):
        command = cli.get_command(click.Context(cli), words.pop(0))
    if command is None:
        return "there is no such command"
    context = click.Context(command)
    try:
        values, left, _ = command.make_parser(context).parse_args(words)
        for parameter in command.params:
            given = values.get(parameter.name or "")
            if isinstance(given, str) and not isinstance(parameter.type, (click.Path, click.File)):
                parameter.type_cast_value(context, given)
    except click.ClickException as error:
        return error.format_message()
    return f"what is {left}?" if left else None


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
