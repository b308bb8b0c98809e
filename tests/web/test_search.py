"""Words in stored sessions, as the page asks for them: filtered, redacted, marked."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.web.served import Served

TRANSCRIPTS = Path(__file__).parents[1] / "agents" / "claude" / "transcripts"
SUBAGENT = "s08c_subagent_background-2.1.325"
SECRET = "sk-ant-api03-" + "x1Y2" * 20


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose user has sessions, all of them indexed."""
    folder = tmp_path_factory.mktemp("search")
    shutil.copytree(TRANSCRIPTS / SUBAGENT, folder, dirs_exist_ok=True)
    padding = "at " * 58  # so that an excerpt would end inside of the secret
    write_session(folder, f"deploy {padding}{SECRET} now")
    with Served(folder / "home") as server:
        server.until("/api/search?words=deploy", lambda found: found["indexing"] is None)
        yield server


def write_session(folder: Path, prompt: str) -> None:
    """Store a session of one prompt."""
    line = {
        "type": "user",
        "sessionId": "aaaaaaaa-0000-4000-8000-000000000000",
        "uuid": "bbbbbbbb-0000-4000-8000-000000000000",
        "timestamp": "2026-01-02T03:04:05.000Z",
        "cwd": "/work/it's here",
        "version": "2.1.325",
        "message": {"role": "user", "content": prompt},
    }
    path = folder / ".claude" / "projects" / "-work" / f"{line['sessionId']}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(line) + "\n")


def found(server: Served, words: str, **filters: str) -> Any:
    return server.json(f"/api/search?{urlencode({'words': words, **filters})}")


def test_hits_are_folded_by_session_with_their_words_marked(searched: Served) -> None:
    answer = found(searched, "background")
    assert (answer["query"], answer["total"], answer["indexing"]) == ("background", 3, None)
    [session] = answer["sessions"]
    assert (session["agent"], session["count"]) == ("claude", 3)
    assert session["project"] == "/home/dev/project"
    assert session["resume"] == f"cd /home/dev/project && claude --resume {session['session']}"
    marked = {text.lower() for hit in session["hits"] for text, is_word in hit["parts"] if is_word}
    assert marked == {"background"}
    whole = {"".join(text for text, _ in hit["parts"]) for hit in session["hits"]}
    assert "delegate in background" in whole


def test_filters_leave_out_the_rest(searched: Served) -> None:
    assert found(searched, "background", kind="prompt")["total"] == 1
    assert found(searched, "background", agent="codex")["sessions"] == []
    assert found(searched, "background", project="project")["total"] == 3
    assert found(searched, "deploy", since="2026-01-01")["total"] == 1
    assert found(searched, "deploy", until="2026-01-01")["total"] == 0


def test_secrets_are_redacted_and_the_command_is_quoted(searched: Served) -> None:
    answer = searched.get("/api/search?words=deploy")
    assert "x1Y2" not in answer.body.decode()
    [session] = answer.json["sessions"]
    assert session["resume"].startswith("""cd '/work/it'"'"'s here' && claude""")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("words=", "nothing to look for"),
        ("words=-only", "nothing to look for"),
        ("words=a&kind=poem", "kind must be"),
        ("words=a&since=tomorrowish", "since"),
        ("words=a&limit=-1", "limit must be"),
        (f"words={'a' * 2000}", "at most 1000 characters"),
    ],
)
def test_what_cannot_be_looked_for_gets_a_sentence(
    searched: Served, query: str, sentence: str
) -> None:
    answer = searched.get(f"/api/search?{query}")
    assert (answer.status, sentence in answer.error) == (400, True), answer


def test_no_text_is_kept_if_the_user_does_not_want_that(tmp_path: Path) -> None:
    write_session(tmp_path, "deploy it")
    settings = tmp_path / ".config" / "nightrook" / "rook.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[archive]\nkeep = "counts"\n')
    with Served(tmp_path / "home") as server:
        server.until("/api/search?words=deploy", lambda answer: answer["indexing"] is None)
        shutil.rmtree(tmp_path / ".claude")
        [session] = found(server, "deploy")["sessions"]
    assert [hit["parts"] for hit in session["hits"]] == [[["", False]]]


def test_an_index_that_is_damaged_finds_nothing_and_is_made_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    write_session(tmp_path, "deploy it")
    (home / "words.db").write_bytes(b"this is not a database" * 1000)
    with Served(home) as server:
        again = server.until("/api/search?words=deploy", lambda answer: answer["total"])
    assert again["total"] == 1
