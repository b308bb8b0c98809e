"""Rules about the code that the import checker cannot say."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from nightrook import agents
from tests.rules import each

SOURCE = Path(__file__).parent.parent / "src" / "nightrook"


def _modules(*rooms: str) -> list[Path]:
    return [path for room in rooms for path in SOURCE.glob(f"{room}/**/*.py")]


PURE = _modules("model", "adapter", "agents")
NEUTRAL = _modules("model", "adapter", "store", "story", "display")
ALL = list(SOURCE.glob("**/*.py"))


def calls(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


@each("path", PURE, ids=lambda p: str(p.relative_to(SOURCE)))
def test_pure_rooms_neither_open_nor_print_nor_ask_the_user(path: Path) -> None:
    assert not {"open", "print", "input", "breakpoint"} & set(calls(path))


@each("path", ALL, ids=lambda p: str(p.relative_to(SOURCE)))
def test_nobody_splits_lines_at_other_characters_than_newline(path: Path) -> None:
    assert not [name for name in calls(path) if name.endswith(".splitlines")]


@each("path", NEUTRAL, ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_agent_is_named_outside_its_own_folder(path: Path) -> None:
    known = {*agents.NAMES, *agents.HISTORIES}
    whole = f"(?<![a-z])(?:{'|'.join(sorted(known))})(?![a-z])"  # a timestamp is no agent
    names = re.compile(whole, re.IGNORECASE)
    assert not names.findall(path.read_text(encoding="utf-8"))


@each("path", ALL, ids=lambda p: str(p.relative_to(SOURCE)))
def test_every_module_opens_with_a_line_on_what_lives_there(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_every_command_that_is_suggested_is_quoted() -> None:
    unquoted = re.compile(
        r"""f["'][^"']*\brook (?:show|run|attach|stop|loop|batch|rm|replay) [^"']*\{(?!_)"""
    )
    assert not [path for path in ALL if unquoted.search(path.read_text(encoding="utf-8"))]


def test_only_the_safe_output_has_the_bytes_of_standard_output() -> None:
    assert _modules_that_mention(r"stdout\.buffer|stderr\.buffer|sys\.__std") == set()


def test_every_agent_and_history_in_the_registry_has_a_folder_and_the_other_way_round() -> None:
    folders = {path.parent.name for path in SOURCE.glob("agents/*/__init__.py")}
    assert folders == {*agents.NAMES, *agents.HISTORIES} - {*agents.FORKS}


def _modules_that_mention(words: str) -> set[str]:
    mention = re.compile(words)
    return {
        str(path.relative_to(SOURCE))
        for path in ALL
        if mention.search(path.read_text(encoding="utf-8"))
        and path.relative_to(SOURCE).parts[0] not in ("agents", "adapter", "testing")
    }


def test_one_module_compares_the_beginnings_of_names() -> None:
    assert _modules_that_mention(r"""["'](?:loop|batch)-["']""") == set()
    assert _modules_that_mention(r"\bprefix_of\(") == {"store/names.py", "store/folders.py"}
    assert _modules_that_mention(r"\bname\.startswith\(text\)") == {"store/names.py"}


def test_one_module_opens_raw_logs_to_read_and_one_decodes_them() -> None:
    writers = {"store/file_names.py", "store/run_folder.py", "runs/pipe.py"}
    copies = {"fleet/shipped_files.py"}  # bytes to other machines, by position
    assert _modules_that_mention(r"\b(LOGS|STDOUT|STDERR)\b") - writers - copies == {
        "story/tail.py"
    }
    assert _modules_that_mention(r"agents\.decoder") == {"story/decode.py"}
