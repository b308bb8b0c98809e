"""`rook fleet`: the folder of a fleet made, and workers added and removed."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.fleet.accounts.fleet import free_local

from nightrook.agents import NAMES
from nightrook.cli.main import cli
from nightrook.fleet.accounts import folder
from nightrook.fleet.accounts.members import load
from nightrook.fleet.nats_server import LocalServer
from nightrook.testing import install_agent

pytestmark = pytest.mark.usefixtures("readable_again")


def _fleet(*words: str) -> Result:
    return CliRunner().invoke(cli, ["fleet", *words], catch_exceptions=False)


def test_init_prints_what_to_do_next(tmp_path: Path) -> None:
    made = _fleet("init", str(tmp_path / "fleet"))
    assert made.exit_code == 0
    assert f"nats-server -c {tmp_path}/fleet/server.conf" in made.stdout
    assert "nats://127.0.0.1:4222" in made.stdout
    assert not (tmp_path / "fleet" / "tls").exists()


def test_a_server_for_other_machines_gets_certificates(tmp_path: Path) -> None:
    made = _fleet("init", str(tmp_path), "--listen", "0.0.0.0", "--address", "fleet.example.org")
    assert "tls://fleet.example.org:4222" in made.stdout
    assert (tmp_path / "tls" / "server.pem").exists()


def test_a_worker_may_pull_jobs_of_all_agents_and_those_of_its_labels(tmp_path: Path) -> None:
    _fleet("init", str(tmp_path))
    _fleet("add-worker", "ada", "--folder", str(tmp_path))
    _fleet(
        *("add-worker", "gpu1", "--folder", str(tmp_path)),
        *("--label", "gpu", "--agent", "claude"),
    )
    workers = json.loads((tmp_path / "members.json").read_text())["workers"]
    assert [(workers[name]["labels"], workers[name]["agents"]) for name in ("ada", "gpu1")] == [
        (["any"], list(NAMES)),
        (["any", "gpu"], ["claude"]),
    ]


def test_adding_prints_the_file_and_says_that_the_server_has_to_be_reloaded(tmp_path: Path) -> None:
    _fleet("init", str(tmp_path))
    added = _fleet("add-worker", "ada", "--folder", str(tmp_path))
    assert added.stdout == f"{tmp_path}/credentials/worker-ada.json\n"
    assert "--signal reload=" in added.stderr


def test_no_seed_is_ever_printed(tmp_path: Path) -> None:
    printed = _fleet("init", str(tmp_path)).output
    printed += _fleet("add-worker", "ada", "--folder", str(tmp_path)).output
    printed += _fleet("remove-worker", "ada", "--folder", str(tmp_path)).output
    assert "SU" not in printed.replace(str(tmp_path), "")


def test_a_worker_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    _fleet("init", str(tmp_path))
    removed = _fleet("remove-worker", "ada", "--folder", str(tmp_path))
    assert (removed.exit_code, "there is no worker 'ada'" in removed.stderr) == (2, True)


def test_worker_check_says_what_an_agent_can_read_and_takes_no_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.create(tmp_path, free_local())
    file, _ = folder.add_worker(tmp_path, "ada", labels=("any",), agents=("claude",))
    install_agent(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    port = load(tmp_path).port
    with LocalServer(tmp_path, configuration=tmp_path / "server.conf", port=port):
        words = ["worker", "--check", "--credentials", str(file)]
        checked = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert checked.exit_code == 1
    assert f"agents run as the same user, and can read {file}" in checked.stdout
    assert "the server lets this machine in" in checked.stdout
    assert "agents installed here: claude" in checked.stdout
