"""The index of words: what is found, what happens when files grow, change or disappear."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightrook.archive.search import index, indexing
from nightrook.archive.search.index import FORMAT, SearchIndex
from nightrook.archive.search.indexing import Progress, fill
from nightrook.archive.search.search import Hit, SearchQuery, by_session, search
from nightrook.archive.sessions.reader import session_sources
from nightrook.store.files import Folder
from tests.archive.folders import unchanged

TRANSCRIPTS = Path(__file__).parents[2] / "agents" / "claude" / "transcripts"
SUBAGENT = "s08c_subagent_background-2.1.325"
DENIED = "s05_permission_denied-2.1.325"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for case in (SUBAGENT, DENIED):
        shutil.copytree(TRANSCRIPTS / case, tmp_path / "home", dirs_exist_ok=True)
    return tmp_path / "home"


@pytest.fixture
def words(tmp_path: Path) -> Iterator[SearchIndex]:
    with SearchIndex.open(tmp_path / "nightrook" / "words.db") as opened:
        yield opened


def filled(words: SearchIndex, home: Path) -> list[Progress]:
    return list(fill(words, [home]))


def hits(words: SearchIndex, text: str, **filters: object) -> list[Hit]:
    query = SearchQuery(text=text, **filters)  # type: ignore[arg-type]
    return search(words.connection, query).hits


def brief(found: list[Hit]) -> set[tuple[str, str, str]]:
    return {(hit.session[:8], hit.kind, hit.excerpt) for hit in found}


def main_file(home: Path) -> Path:
    return next(home.rglob("5a035b45*.jsonl"))


def test_prompts_answers_commands_and_paths_are_found_with_their_session(
    words: SearchIndex, home: Path
) -> None:
    assert filled(words, home)[-1].left == 0
    assert brief(hits(words, "background")) == {
        ("5a035b45", "prompt", "delegate in background"),
        ("5a035b45", "answer", "Launched in the background."),
        ("5a035b45", "answer", "Background agent reported back."),
    }
    assert brief(hits(words, "created.txt", kind="command")) == {
        ("f3242285", "command", "touch created.txt")
    }
    assert ("5a035b45", "path", "/home/dev/project/a.txt") in brief(hits(words, "a.txt"))
    assert brief(hits(words, '"Subagent looks"')) == {("5a035b45", "answer", "Subagent looks.")}


def test_a_hit_has_the_place_of_its_message(words: SearchIndex, home: Path) -> None:
    filled(words, home)
    (hit,) = hits(words, '"Launched in"')
    line = Path(hit.source).read_bytes()[hit.position :].split(b"\n")[0]
    assert b"Launched in the background." in line
    assert hit.project == "/home/dev/project"
    assert [hit.excerpt[begin:end] for begin, end in hit.marks] == ["Launched in"]


def test_filters_leave_out_the_rest(words: SearchIndex, home: Path) -> None:
    filled(words, home)
    assert hits(words, "background", agent="codex") == []
    assert len(hits(words, "background", project="project")) == 3
    assert len(hits(words, "background", project="/home/dev/project/")) == 3
    assert hits(words, "background", project="ject") == []
    assert {hit.kind for hit in hits(words, "background", kind="prompt")} == {"prompt"}
    assert {hit.tool for hit in hits(words, "created*", tool="bash")} == {"Bash"}
    assert {hit.status for hit in hits(words, "approval", status="denied")} == {"denied"}
    assert hits(words, "background", session="f3242285") == []
    (first,) = hits(words, "delegate")
    assert hits(words, "delegate", since=first.at + 1) == []
    assert hits(words, "delegate", until=first.at) == []
    assert len(hits(words, "delegate", since=first.at, until=first.at + 1)) == 1


def test_what_is_appended_is_found_and_nothing_twice(words: SearchIndex, home: Path) -> None:
    filled(words, home)
    line = main_file(home).read_bytes().split(b"\n")[-4]
    assert b"reported back" in line
    with main_file(home).open("ab") as file:
        file.write(line.replace(b"reported back", b"spoke again").replace(b"193", b"194") + b"\n")
    size = main_file(home).stat().st_size
    assert filled(words, home)[-1] == Progress(size, size, 0)
    assert len(hits(words, "background")) == 4
    assert len(hits(words, "spoke")) == 1
    assert filled(words, home) == [Progress(0, 0, 0)]


def test_a_line_that_was_half_written_is_found_when_it_is_whole(
    words: SearchIndex, home: Path
) -> None:
    file = main_file(home)
    data = file.read_bytes()
    half = data.index(b"reported back")
    file.write_bytes(data[:half])
    filled(words, home)
    with file.open("ab") as out:
        out.write(data[half:])
    filled(words, home)
    assert len(hits(words, "reported")) == 1
    assert len(hits(words, "background")) == 3


def test_a_last_line_without_its_end_is_found_once(words: SearchIndex, home: Path) -> None:
    file = main_file(home)
    data = file.read_bytes()
    end = data.index(b"\n", data.index(b"reported back"))
    file.write_bytes(data[:end])
    filled(words, home)
    assert len(hits(words, "reported")) == 1
    with file.open("ab") as out:
        out.write(data[end:])
    filled(words, home)
    assert len(hits(words, "reported")) == 1


def test_a_file_that_could_not_be_read_is_tried_again(
    words: SearchIndex, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = session_sources([home])
    monkeypatch.setattr(indexing, "session_sources", lambda _: listed)
    home.rename(home.with_name("away"))
    filled(words, home)
    assert hits(words, "background") == []
    home.with_name("away").rename(home)
    filled(words, home)
    assert len(hits(words, "background")) == 3


def test_a_file_that_was_rewritten_is_indexed_again(words: SearchIndex, home: Path) -> None:
    filled(words, home)
    file = main_file(home)
    data = file.read_bytes().replace(b"Launched in the background", b"Started elsewhere")
    file.unlink()
    file.write_bytes(data)
    filled(words, home)
    assert hits(words, '"Launched in"') == []
    assert len(hits(words, "elsewhere")) == 1


def test_what_was_indexed_is_found_when_its_file_is_gone(words: SearchIndex, home: Path) -> None:
    filled(words, home)
    shutil.rmtree(home)
    home.mkdir()
    filled(words, home)
    assert [hit.excerpt for hit in hits(words, '"Launched in"')] == ["Launched in the background."]


def test_without_kept_texts_excerpts_come_from_the_files_while_they_are_there(
    words: SearchIndex, home: Path
) -> None:
    list(fill(words, [home], keep="counts"))
    assert [hit.excerpt for hit in hits(words, '"Launched in"')] == ["Launched in the background."]
    main_file(home).unlink()
    assert [hit.excerpt for hit in hits(words, '"Launched in"')] == [""]
    assert words.connection.execute("SELECT count(text) FROM blocks").fetchone() == (0,)


def test_a_damaged_index_is_made_again(words: SearchIndex, home: Path) -> None:
    filled(words, home)
    words.connection.close()
    words.path.write_bytes(b"not a database at all" * 1000)
    with SearchIndex.open(words.path) as again:
        filled(again, home)
        assert len(hits(again, '"Launched in"')) == 1


def test_an_index_of_another_format_is_made_again(words: SearchIndex, home: Path) -> None:
    words.connection.execute("PRAGMA user_version = 99")
    words.connection.close()
    with SearchIndex.open(words.path) as again:
        assert again.connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)


def test_only_one_process_fills_the_index(words: SearchIndex, home: Path) -> None:
    filling = fill(words, [home])
    next(filling)
    with SearchIndex.open(words.path) as other:
        assert next(fill(other, [home])).is_busy
    list(filling)


def test_a_session_that_was_resumed_after_months_has_the_times_of_its_messages(
    words: SearchIndex, home: Path
) -> None:
    file = main_file(home)
    lines = file.read_bytes().splitlines(keepends=True)
    begin, end = lines[:-4], lines[-4:]
    assert any(b"reported back" in line for line in end)
    file.write_bytes(b"".join([*begin, *(line.replace(b'"2026-', b'"2027-') for line in end)]))
    filled(words, home)
    (first,), (last,) = hits(words, "delegate"), hits(words, "reported")
    assert round((last.at - first.at) / 86400) == 365
    assert len(hits(words, "reported", since=last.at, until=last.at + 1)) == 1


def test_an_excerpt_shows_a_word_that_has_accents(words: SearchIndex, home: Path) -> None:
    file = main_file(home)
    text = "nothing " * 50 + "un Café noir" + " nothing" * 50
    file.write_bytes(file.read_bytes().replace(b"delegate in background", text.encode()))
    filled(words, home)
    for typed in ("cafe", "CAFÉ", "caf*"):
        (hit,) = hits(words, typed, kind="prompt")
        assert [hit.excerpt[begin:end] for begin, end in hit.marks] == [
            "Caf" if typed == "caf*" else "Café"
        ]


def test_the_hits_of_a_session_are_together(words: SearchIndex, home: Path) -> None:
    filled(words, home)
    grouped = by_session(hits(words, "background") + hits(words, "background"))
    assert [{hit.session for hit in each} for each in grouped] == [{grouped[0][0].session}]


def test_the_index_is_for_its_owner_alone_and_the_agents_folder_unchanged(
    words: SearchIndex, home: Path
) -> None:
    with unchanged(main_file(home).parent / main_file(home).stem / "subagents"):
        filled(words, home)
    assert words.path.stat().st_mode & 0o777 == 0o600
    assert words.path.parent.stat().st_mode & 0o777 == 0o700


def test_an_interrupted_filling_leaves_a_whole_index(words: SearchIndex, home: Path) -> None:
    filling = fill(words, [home])
    next(filling)
    filling.close()
    assert sqlite3.connect(words.path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
    filled(words, home)
    assert len(hits(words, '"Launched in"')) == 1


def test_no_other_process_makes_the_index_while_an_old_log_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others_may: list[bool] = []

    def look(path: Path) -> None:
        with Folder.made(path.parent) as folder, folder.lock(index._OPENING) as acquired:
            others_may.append(acquired)

    monkeypatch.setattr(index, "_remove", look)
    SearchIndex.open(tmp_path / index.FILE).connection.close()
    index.remove(tmp_path / index.FILE)
    assert others_may == [False, False]
