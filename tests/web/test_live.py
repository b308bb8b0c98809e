"""Runs that are alive: the bell rings, the dead are noticed, and a killed server loses nothing."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nightrook.process.liveness import start_ticks
from nightrook.store.run_formats import dump
from nightrook.web.live.event_stream import pause_s
from tests.runs.folders import ended, replace
from tests.warm import ROOK
from tests.web.growing import LINES, Growing
from tests.web.served import Served, environment

_SEEN_WITHIN_S = 10.0  # two or three seconds, unless the machine is busy


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    """A server of an empty home."""
    with Served(tmp_path / "home") as server:
        yield server


def test_the_bell_starts_with_what_is_true_now_and_says_how_far_a_run_has_grown(
    own: Served,
) -> None:
    run = Growing(own.home)
    run.write(b"".join(LINES[:3]))
    with own.bell() as bell:
        kind, state = bell.next()
        assert (kind, [beat["name"] for beat in state["runs"]]) == ("state", [run.name])
        known = own.json(f"/api/runs/{run.name}/items")["revision"]
        run.write(b"".join(LINES[3:9]))
        kind, beat = bell.until(lambda kind, data: kind == "run" and data["revision"] > known)
        items = own.json(f"/api/runs/{run.name}/items?after={known}")
        assert items["items"]
        assert items["revision"] >= beat["revision"] > known
        assert (beat["status"], beat["alive"]) == ("running", True)


def test_the_bell_says_which_runs_come_end_and_go(own: Served) -> None:
    with own.bell() as bell:
        assert bell.next()[1]["runs"] == []
        run = Growing(own.home)
        run.write(LINES[0])
        bell.until(lambda kind, data: kind == "run" and data["name"] == run.name)
        run.folder.write_verdict(ended(own.home).verdict())  # type: ignore[arg-type]
        bell.until_all(
            lambda kind, data: kind == "run" and data["status"] == "denied",
            lambda kind, _: kind == "list",
        )
        shutil.rmtree(run.folder.path)
        bell.until(lambda kind, data: kind == "gone" and data["name"] == run.name)
    assert own.get(f"/api/runs/{run.name}").status in (404, 410)


def test_a_run_that_came_before_its_list_was_watched_is_announced(
    own: Served, tmp_path: Path
) -> None:
    run = Growing(tmp_path / "elsewhere")
    run.write(LINES[0])
    with own.bell() as bell:
        bell.next()
        os.rename(tmp_path / "elsewhere/runs", own.home / "runs")
        bell.until(lambda kind, data: kind == "run" and data["name"] == run.name)


def test_every_browser_hears_the_same(own: Served) -> None:
    run = Growing(own.home)
    run.write(LINES[0])
    with own.bell() as one, own.bell() as other:
        one.next()
        other.next()
        run.write(b"".join(LINES[1:9]))
        revision = own.json(f"/api/runs/{run.name}/items")["revision"]
        for bell in (one, other):
            bell.until(lambda kind, data: kind == "run" and data["revision"] >= revision)


def test_too_many_bells_are_refused(own: Served) -> None:
    bells = [own.bell() for _ in range(33)]
    opened = [bell.__enter__() for bell in bells]
    assert [bell.status for bell in opened].count(200) == 32
    assert opened[-1].status == 429
    for bell in bells:
        bell.__exit__(None, None, None)


def test_the_bell_rings_less_often_the_more_browsers_listen() -> None:
    assert [round(pause_s(listeners), 3) for listeners in (1, 2, 5, 32)] == [
        0.025,
        0.03,
        0.045,
        0.1,
    ]


def test_a_run_whose_processes_died_shows_as_such_in_seconds(own: Served) -> None:
    runner = subprocess.Popen(["sleep", "1000"])
    run = Growing(own.home)
    info = run.folder.info()
    assert info is not None
    dying = replace(info, runner_pid=runner.pid, runner_ticks=start_ticks(runner.pid))
    (run.folder.path / "run.json").write_bytes(dump(dying))
    run.write(b"".join(LINES[:9]))
    with own.bell() as bell:
        assert bell.next()[1]["runs"][0]["alive"] is True
        runner.kill()
        runner.wait()
        died = time.monotonic()
        bell.until(lambda kind, data: kind == "run" and data["status"] == "incomplete")
        assert time.monotonic() - died < _SEEN_WITHIN_S
    assert own.json(f"/api/runs/{run.name}")["verdict"]["sentence"]


@pytest.mark.parametrize("kills_before_the_end", [3, pytest.param(20, marks=pytest.mark.soak)])
def test_a_server_that_is_killed_while_a_run_grows_loses_and_repeats_nothing(
    tmp_path: Path, kills_before_the_end: int
) -> None:
    home = tmp_path / "home"
    run = Growing(home)
    known: dict[int, dict[str, Any]] = {}
    order: list[int] = []
    position, epochs, addresses = 0, set(), set()
    for kills in range(kills_before_the_end + 1):
        server = Served(home)
        addresses.add(server.url)
        for step in range(3):
            _grow(run, 3 * kills + step)
            page = server.json(f"/api/runs/{run.name}/items?after={position}&limit=7")
            epochs.add(page["epoch"])
            position = page["revision"]
            for item in page["items"]:
                if item["id"] not in known:
                    order.append(item["id"])
                assert known.get(item["id"], {}).get("revision", 0) < item["revision"]
                known[item["id"]] = item
        if kills == kills_before_the_end:
            known.update({item["id"]: item for item in server.changes(run.name, after=position)})
        server.end(signal.SIGKILL)
    assert len(epochs) == len(addresses) == 1
    assert sorted(known) == list(range(len(known)))
    assert order == sorted(order)
    assert _decoded(run.folder.path / "stdout.raw") == _calls(known)


def _grow(run: Growing, number: int) -> None:
    """Write what an agent writes in a turn, with other ids each time."""
    for line in LINES[1:-1]:
        run.write(line.replace(b"toolu_", b"toolu_%d_" % number))


def _decoded(log: Path) -> list[tuple[str, str]]:
    """The calls that `rook decode` prints, in order."""
    done = subprocess.run([ROOK, "decode", log], capture_output=True, text=True, check=True)
    events = [json.loads(line) for line in done.stdout.split("\n") if line]
    return [(one["id"], one["name"]) for one in events if one["type"] == "tool_started"]


def _calls(known: dict[int, dict[str, Any]]) -> list[tuple[str, str]]:
    items = [known[id] for id in sorted(known)]
    return [(item["key"], item["name"]) for item in items if "tool" in item]


def test_a_second_call_finds_the_first(own: Served) -> None:
    done = subprocess.run(
        [ROOK, "web", "--no-open"],
        env=environment(own.home),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == own.url
    assert str(own.pid) in done.stderr


def test_a_port_that_is_taken_is_named_with_the_way_out(own: Served, tmp_path: Path) -> None:
    done = subprocess.run(
        [ROOK, "web", "--no-open", "--port", str(own.port)],
        env=environment(tmp_path / "other"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"port {own.port}" in done.stderr
    assert "--port" in done.stderr


def test_if_another_program_has_taken_the_port_the_token_is_new(tmp_path: Path) -> None:
    with Served(tmp_path / "home") as first:
        url, port = first.url, first.port
    with Served(tmp_path / "elsewhere", "--port", str(port)), Served(tmp_path / "home") as second:
        assert second.port != port
        assert second.token not in url
        assert len(second.token) >= 43


def test_the_address_is_private(own: Served) -> None:
    folder = own.home.parent / "runtime" / "nightrook"
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert set(modes.values()) == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert any(own.token in path.read_text() for path in folder.iterdir())


def test_it_listens_on_loopback_alone(own: Served) -> None:
    table = Path("/proc/net/tcp").read_text().split("\n")
    rows = [row.split() for row in table if f":{own.port:04X} 00000000:0000" in row]
    assert [row[1] for row in rows] == [f"0100007F:{own.port:04X}"]


def test_another_address_needs_a_certificate_or_a_flag(tmp_path: Path) -> None:
    done = subprocess.run(
        [ROOK, "web", "--no-open", "--listen", "0.0.0.0"],
        env=environment(tmp_path / "home"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--insecure-http" in done.stderr
    assert "--cert" in done.stderr


@pytest.mark.parametrize("name", ["https://box.example", "box:"])
def test_a_name_for_browsers_is_a_name_and_not_an_address(tmp_path: Path, name: str) -> None:
    done = subprocess.run(
        [ROOK, "web", "--no-open", "--allow-host", name],
        env=environment(tmp_path / "home"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"box.example.ts.net or box:8443, not {name!r}" in done.stderr


def test_a_home_that_cannot_be_made_is_named_before_an_address_is_printed(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    done = subprocess.run(
        [ROOK, "web", "--no-open"],
        env=environment(tmp_path / "home"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "choose another home" in done.stderr


def test_ctrl_c_ends_it_at_once_although_browsers_listen(tmp_path: Path) -> None:
    server = Served(tmp_path / "home")
    with server.bell() as bell:
        bell.next()
        begun = time.monotonic()
        server.end(signal.SIGINT)
        assert time.monotonic() - begun < 20.0  # the browsers would listen for ever


def test_the_library_still_runs_without_the_extra() -> None:
    code = (
        "import sys; sys.modules['starlette'] = None; sys.modules['uvicorn'] = None;"
        "import nightrook, nightrook.cli.commands.run, nightrook.cli.commands.web"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
