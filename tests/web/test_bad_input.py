"""What goes wrong is said in one sentence that names the way out."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from nightrook.store.run_folder import create_run
from tests.conftest import SESSION
from tests.rules import each
from tests.runs.folders import ended, replace
from tests.store.samples import INFO, append
from tests.web.growing import LINES, Growing
from tests.web.served import Answer, Served


def sentence(answer: Answer, status: int) -> str:
    """The one sentence of an error."""
    assert answer.status == status, answer
    error = answer.error
    assert error
    assert "\n" not in error
    assert len(error) < 400
    return error


def test_an_unknown_run_suggests_the_nearest(served: Served) -> None:
    assert "did you mean done" in sentence(served.get("/api/runs/dnoe"), 404)
    for part in ("items", "outline", "text", "items/0/body"):
        sentence(served.get(f"/api/runs/nothere/{part}"), 404)


@each("name", ["..", "%2e%2e", "..%2f..%2fetc", "a%20b", "x" * 300, "%00", ".hidden"])
def test_a_name_never_leaves_the_folder_of_runs(served: Served, name: str) -> None:
    assert served.get(f"/api/runs/{name}").status in (400, 404)
    assert served.get(f"/api/runs/{name}/items").status in (400, 404)


@each(
    "query",
    ["after=-1", "after=x", "limit=1.5", "first=1e9", "after=" + "9" * 40, "snapshot=maybe"],
)
def test_a_parameter_that_is_wrong_is_named(served: Served, query: str) -> None:
    assert query.split("=")[0] in sentence(served.get(f"/api/runs/done/items?{query}"), 400)


def test_an_item_or_a_part_that_is_not_there_is_said(served: Served) -> None:
    sentence(served.get("/api/runs/done/items/99999/body"), 404)
    sentence(served.get("/api/runs/done/items/x/body"), 404)
    sentence(served.get("/api/runs/done/items/0/body?part=output"), 404)
    sentence(served.get("/api/runs/done/items/0/body?part=nothing"), 400)


def test_a_page_that_does_not_exist_is_said(served: Served) -> None:
    sentence(served.get("/api/nothing"), 404)
    sentence(served.get("/nothing"), 404)


def test_without_the_token_the_way_in_is_named(served: Served) -> None:
    assert "rook web" in sentence(served.request("GET", "/api/runs", [("Host", served.host)]), 401)


def test_a_body_that_is_too_large_or_not_a_decision_is_refused(served: Served) -> None:
    path = "/api/runs/done/questions/1"
    large = b"[" + b" " * (1 << 20) + b"]"
    assert "too large" in sentence(served.request("POST", path, served.writing, large), 413)
    for body in (b"", b"{", b"[]", b'{"allow": "yes"}', b'{"allow": true, "more": 1}', b"\xff"):
        sentence(served.request("POST", path, served.writing, body), 400)


def test_headers_that_are_too_large_are_refused(served: Served) -> None:
    headers = [("Host", served.host), served.bearer, ("X-Large", "x" * 100_000)]
    assert "too large" in sentence(served.request("GET", "/api/hello", headers), 431)


def test_a_decision_on_a_run_that_is_over_says_so(served: Served) -> None:
    assert "over" in sentence(served.post("/api/runs/done/questions/1", {"allow": True}), 409)
    assert "not running" in sentence(served.post("/api/runs/done/stop", {}), 409)


def test_a_run_of_a_newer_format_hides_no_other_and_says_to_upgrade(
    served: Served, home: Path
) -> None:
    create_run(home, replace(INFO, name="newer", format=99))
    assert "upgrade" in sentence(served.get("/api/runs/newer"), 422)
    rows = {row["name"]: row for row in served.json("/api/runs")["runs"]}
    assert rows["newer"]["status"] == "damaged"
    assert "upgrade" in rows["newer"]["title"]
    assert rows["done"]["status"] == "denied"


def test_a_run_with_a_damaged_file_says_what_can_still_be_read(served: Served, home: Path) -> None:
    folder = ended(home, name="damaged")
    (folder.path / "verdict.json").write_text('{"status": "succ')
    assert "raw logs" in sentence(served.get("/api/runs/damaged"), 422)


def test_a_run_without_its_description_names_the_command_that_reads_its_log(
    served: Served, home: Path
) -> None:
    folder = ended(home, name="bare")
    (folder.path / "run.json").unlink()
    assert "rook decode bare" in sentence(served.get("/api/runs/bare"), 422)


def test_a_run_that_is_removed_while_it_is_shown_is_gone(served: Served, home: Path) -> None:
    folder = ended(home, name="removed")
    append(folder, "stdout", SESSION.read_bytes())
    assert served.json("/api/runs/removed/items")["items"]
    shutil.rmtree(folder.path)
    assert "removed" in sentence(served.get("/api/runs/removed/items"), 410)
    sentence(served.get("/api/runs/removed/items"), 404)


def test_a_line_of_100_mb_is_shown_as_unreadable_with_its_beginning(
    served: Served, home: Path
) -> None:
    folder = ended(home, name="huge")
    append(folder, "stdout", LINES[0])
    for _ in range(100):
        append(folder, "stdout", b"x" * 1_000_000)
    append(folder, "stdout", b"\n" + b"".join(LINES[1:]))
    items = list(served.changes("huge", limit=5000))
    huge = next(item for item in items if item["kind"] == "unreadable")
    assert huge["size"] >= 100_000_000
    body = served.json(f"/api/runs/huge/items/{huge['id']}/body")
    assert body["text"]["truncated"] is True
    assert len(body["text"]["text"]) == 65_536
    assert max(item["id"] for item in items) > huge["id"]


def test_plain_text_is_read_by_position(served: Served, home: Path) -> None:
    folder = ended(home, name="plain", agent=None)
    lines = b"".join(b"line %d\n" % number for number in range(20_000))
    append(folder, "stdout", lines)
    append(folder, "stderr", b"a warning\n")
    at, text = 0, ""
    while (found := served.json(f"/api/runs/plain/text?stream=stdout&offset={at}"))["text"]:
        text, at = text + found["text"], found["next"]
    assert text.encode() == lines
    assert served.json("/api/runs/plain/text")["text"] == "a warning\n"
    assert served.json("/api/runs/plain")["text"] == {"stdout": len(lines), "stderr": 10}


def test_secrets_are_hidden_in_items_bodies_text_and_prompts(served: Served, home: Path) -> None:
    secret = "sk-ant-api03-" + "a1B2" * 12
    folder = ended(home, name="secrets", prompt=f"Use {secret} please")
    said = SESSION.read_text().replace("Read", f"Read {secret}").replace("test", f"test {secret} ")
    append(folder, "stdout", said.encode())
    append(folder, "stderr", f"key {secret}\n".encode())
    total = served.json("/api/runs/secrets/items?limit=1")["total"]
    paths = [f"/api/runs/secrets/items/{id}/body" for id in range(total)]
    paths += ["/api/runs", "/api/runs/secrets", "/api/runs/secrets/items?limit=5000"]
    paths += ["/api/runs/secrets/text"]
    leaks = [path for path in paths if secret.encode() in served.get(path).body]
    assert not leaks
    assert b"redacted" in served.get("/api/runs/secrets/text").body


def test_a_run_of_an_agent_that_is_not_known_shows_that(served: Served, home: Path) -> None:
    folder = ended(home, name="strange", agent="nobody")
    append(folder, "stdout", b"hello\n")
    assert "nobody" in served.json("/api/runs/strange")["problem"]


def test_a_run_that_grows_is_read_without_a_bell(served: Served, home: Path) -> None:
    run = Growing(home)
    run.write(b"".join(LINES[:5]))
    first = served.json(f"/api/runs/{run.name}/items")
    assert first["items"]
    assert first["complete"] is False
    run.write(b"".join(LINES[5:9]))
    rest = served.until(
        f"/api/runs/{run.name}/items?after={first['revision']}", lambda found: found["items"]
    )
    assert rest["revision"] > first["revision"]
    row = next(row for row in served.json("/api/runs")["runs"] if row["name"] == run.name)
    assert (row["status"], row["alive"]) == ("running", True)


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A home on a disk that is full."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("tmpfs cannot be mounted here")
    folder = ended(disk, name="done")
    append(folder, "stdout", SESSION.read_bytes())
    with suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
        while filler.write(b"x" * 1000):
            pass
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_on_a_full_disk_everything_is_shown_and_what_needs_room_says_so(full: Path) -> None:
    with Served(full) as server:
        assert server.json("/api/runs/done/items")["items"]
        assert [run["name"] for run in server.json("/api/runs")["runs"]] == ["done"]
        assert "disk is full" in sentence(server.get("/api/cost"), 507)


def test_a_run_that_is_being_judged_says_so_and_then_has_its_verdict(
    served: Served, home: Path
) -> None:
    info = replace(INFO, name="lost", runner_pid=2**22, recorder_pid=None, continues=False)
    folder = create_run(home, info)
    append(folder, "stdout", b"".join(LINES[:9]))
    for _ in range(200):  # it takes a moment to judge
        append(folder, "stdout", b"".join(LINES[1:-1]))
    first = served.json("/api/runs/lost")
    assert first["alive"] is False
    assert first["verdict"] is not None or "being judged" in first["problem"]
    last = served.until("/api/runs/lost", lambda found: found["complete"])
    assert (last["status"], last["problem"]) == ("incomplete", None)
