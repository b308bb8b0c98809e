"""`rook run --resume`: the agent that ran goes on, in its way and with its command."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.desk import Desk as AnyDesk
from tests.recorded import cases, name_of, recordings
from tests.runs.scripted import make

import nightrook
from nightrook.runs.resume import NoSessionError
from nightrook.store.list import find_run

STREAMS = {name_of(path): path for path in (*cases("codex"), *recordings("codex"))}
CLAUDES = {name_of(path): path for path in cases("claude")}
CLAUDE = CLAUDES["s02_read_edit_bash-2.1.325"]
CALLED = 'echo "${0##*/} $@" > "$HOME/called"\n'


class Desk(AnyDesk):
    """A desk with a claude, a codex and a wrapper that play what real ones wrote."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.program("claude", f"{CALLED}cat {CLAUDE}")
        self.program("codex", f'{CALLED}cat "$STREAM"')
        self.wrapper = folder / "wrapper"
        self.wrapper.write_text(f"#!/bin/sh\n{CALLED}cat {CLAUDE}\n")
        self.wrapper.chmod(0o755)
        self.user_file.write_text(
            f'[agents.work]\nspeaks = "claude"\ncommand = ["{self.wrapper}", "--as-me"]\n'
        )

    def run(self, *words: str, stream: str = "text", **variables: str) -> Any:
        path = str(STREAMS[f"{stream}-0.166.0"])
        return self.rook("run", *words, "Hi", STREAM=path, **variables)

    def called(self) -> str:
        return (self.home / "called").read_text()

    def last(self) -> str:
        name: str = json.loads(self.rook("runs", "--json").stdout.split("\n")[0])["name"]
        return name


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_agent_that_ran_goes_on_whatever_a_setting_says(desk: Desk) -> None:
    desk.run("--agent", "codex", "--via", "exec")
    done = desk.run("--resume", desk.last())
    assert done.returncode == 0, done.stderr
    assert desk.called().startswith("codex exec --json ")
    assert " resume " in desk.called()
    desk.run("--resume", desk.last(), ROOK_AGENT="claude")
    assert desk.called().startswith("codex exec ")


def test_it_goes_on_in_the_way_in_which_it_ran(desk: Desk) -> None:
    desk.run("--agent", "codex", "--via", "app-server", stream="app_server_text")
    desk.run("--resume", desk.last(), stream="app_server_text")
    assert desk.called().startswith("codex app-server ")
    other = desk.run("--via", "exec", "--resume", desk.last())
    assert other.returncode == 0
    assert desk.called().startswith("codex exec ")


def test_a_usual_way_is_a_way_too_and_one_that_asks_is_taken_to_be_asked(desk: Desk) -> None:
    desk.run("--agent", "codex")
    name = desk.last()
    desk.run("--via", "app-server", "--resume", name, stream="app_server_text")
    assert desk.called().startswith("codex app-server ")
    assert desk.run("--via", "exec", "--resume", name).returncode == 0
    desk.run("--permission", "ask", "--resume", name, stream="app_server_text")
    assert desk.called().startswith("codex app-server ")


def test_a_command_of_the_user_s_goes_on_with_its_own_session(desk: Desk) -> None:
    desk.run("--agent", "work")
    name = desk.last()
    desk.run("--resume", name)
    assert desk.called().startswith("wrapper --as-me -p ")
    assert "--resume" in desk.called()
    desk.run("--resume", name, "--agent", "claude")
    assert desk.called().startswith("claude -p ")
    desk.run("--resume", name, "--agent", "work")
    assert desk.called().startswith("wrapper --as-me -p ")


def test_the_lines_of_a_command_of_the_user_s_bear_its_name_wherever_they_are_shown(
    desk: Desk,
) -> None:
    done = desk.run("--agent", "work")
    assert done.stdout.count("\n[work] ") == 10
    assert "[claude]" not in done.stdout
    for again in ("show", "replay", "attach"):
        told = desk.rook(again).stdout
        assert (told.count("[work] "), "[claude]" in told) == (10, False), again
    assert " work  " in desk.rook("runs").stdout
    (row,) = map(json.loads, desk.rook("runs", "--json").stdout.splitlines())
    assert (row["agent"], row["called"]) == ("claude", "work")
    assert "[work] " in desk.run("--resume", desk.last()).stdout
    assert "[claude] " in desk.run("--resume", desk.last(), "--agent", "claude").stdout
    looped = desk.rook("loop", "--agent", "work", "--max-iterations", "1", "--until", "x", "Hi")
    assert "── iteration 1 of 1 · work ──" in looped.stdout
    assert "[work] " in looped.stdout


@pytest.mark.parametrize("way", [(), ("--detach",)])
def test_a_missing_command_of_the_user_s_is_not_to_be_installed(
    desk: Desk, way: tuple[str, ...]
) -> None:
    desk.user_file.write_text('[agents.work]\nspeaks = "claude"\ncommand = ["no-such"]\n')
    done = desk.run("--agent", "work", *way)
    assert done.returncode == 9
    assert "npm install" not in done.stderr
    assert "[rook] correct its command: [agents.work] in rook.toml\n" in done.stderr


def test_a_folder_of_before_does_not_hand_a_session_to_another_program(desk: Desk) -> None:
    desk.run("--agent", "work")
    folder = find_run(desk.home / "runs-home", desk.last())
    info = folder.info()
    assert info is not None
    folder.write_info(msgspec.structs.replace(info, program=None, called=None))
    (desk.home / "called").unlink()
    done = desk.run("--resume", folder.name)
    assert done.returncode == 2
    assert f"{folder.name!r} ran {desk.wrapper}, and how to call it was" in done.stderr
    assert "--agent NAME" in done.stderr
    assert not (desk.home / "called").exists()
    assert desk.run("--resume", folder.name, "--agent", "work").returncode == 0
    assert desk.called().startswith("wrapper --as-me -p ")


def test_a_program_that_exec_was_given_by_its_path_goes_on(desk: Desk) -> None:
    (desk.home / "claude").symlink_to(desk.wrapper)
    desk.rook("exec", "--", "../claude", "-p", "hi")
    desk.rook("run", "--cwd", str(desk.home), "--resume", desk.last(), "Hi")
    assert desk.called().startswith("claude -p ")
    info = find_run(desk.home / "runs-home", desk.last()).info()
    assert info is not None
    assert info.command[0] == str(desk.project / "../claude")


def test_another_agent_is_wrong_usage(desk: Desk) -> None:
    desk.run("--agent", "codex")
    name = desk.last()
    (desk.home / "called").unlink()
    done = desk.run("--agent", "claude", "--resume", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"run {name!r} is a session of codex, not of claude: continue with codex" in done.stderr
    assert not (desk.home / "called").exists()


def test_a_folder_of_before_that_was_kept_is_gone_on_with(desk: Desk) -> None:
    desk.run("--agent", "codex", "--via", "exec")
    folder = find_run(desk.home / "runs-home", desk.last())
    info = folder.info()
    assert info is not None
    assert (info.via, info.program) == ("exec", ["codex"])
    folder.write_info(msgspec.structs.replace(info, via=None, program=None))
    assert desk.run("--resume", folder.name).returncode == 0
    assert desk.called().startswith("codex app-server ")


def test_the_beginning_of_a_name_is_kept_whole(desk: Desk) -> None:
    desk.run("--agent", "codex")
    name = desk.last()
    desk.run("--resume", name[:2])
    info = find_run(desk.home / "runs-home", desk.last()).info()
    assert info is not None
    assert info.resumed_from == name


def test_a_resumed_session_is_listed_with_what_the_run_spent(desk: Desk) -> None:
    desk.program("claude", f"cat {CLAUDES['s24_resume__2_resume-2.1.325']}")
    desk.run()
    listed = json.loads(desk.rook("runs", "--json").stdout)
    assert (listed["cost_usd"], listed["spent_usd"]) == (0.0055908, 0.0017661)
    row = desk.rook("runs").stdout.splitlines()[1]
    assert " $0.0018 " in row
    assert "$0.0056" not in row


def test_no_name_is_no_fresh_session(desk: Desk) -> None:
    done = desk.run("--resume", "")
    assert done.returncode == 2
    assert "is not a name" in done.stderr
    assert not (desk.home / "called").exists()


def test_the_library_refuses_another_agent(tmp_path: Path) -> None:
    async def first() -> str:
        async with make(tmp_path, "say=hi") as run:
            await run.wait()
        return run.name

    name = asyncio.run(first())
    with pytest.raises(NoSessionError, match="is a session of claude, not of codex"):
        nightrook.run("codex", "Go on", resume=name, home=tmp_path / "home")
    again = nightrook.run("claude", "Go on", resume=name, home=tmp_path / "home")
    assert again.command[0] == str(tmp_path / "claude")


def test_a_session_that_looks_like_an_option_is_not_resumed(desk: Desk) -> None:
    lines = [json.loads(line) for line in CLAUDE.read_text().splitlines()]
    hostile = [{**line, "session_id": "--dangerously-skip-permissions"} for line in lines]
    stream = desk.home / "hostile.jsonl"
    stream.write_text("".join(f"{json.dumps(line)}\n" for line in hostile))
    desk.program("claude", f"{CALLED}cat {stream}")
    desk.run()
    (desk.home / "called").unlink()
    done = desk.run("--resume", desk.last())
    assert done.returncode == 2
    assert "which would be an option of the agent: start a new run" in done.stderr
    assert not (desk.home / "called").exists()


def test_last_is_the_newest_run_with_a_session_in_this_folder(desk: Desk) -> None:
    none = desk.run("--resume", "last")
    assert none.returncode == 2
    assert f"no run in {desk.project} has a session to resume" in none.stderr
    desk.run("--agent", "codex", "--via", "exec")
    wanted = desk.last()
    desk.rook("exec", "--", "true")  # has no session
    desk.rook("run", "--cwd", str(desk.home), "Hi")  # is in another folder
    done = desk.run("--resume", "last")
    assert done.returncode == 0, done.stderr
    assert desk.called().startswith("codex exec --json ")
    info = find_run(desk.home / "runs-home", desk.last()).info()
    assert info is not None
    assert info.resumed_from == wanted


def test_a_session_id_of_a_recorded_run_resumes_that_run(desk: Desk) -> None:
    desk.run("--agent", "work")
    name, session = desk.last(), json.loads(desk.rook("runs", "--json").stdout)["session"]
    assert desk.run("--resume", session).returncode == 0
    assert desk.called().startswith("wrapper --as-me -p ")
    assert f"--resume={session}" in desk.called()
    info = find_run(desk.home / "runs-home", desk.last()).info()
    assert info is not None
    assert info.resumed_from == name


def test_a_session_that_rook_did_not_record_is_passed_to_the_agent_that_is_named(
    desk: Desk,
) -> None:
    session = "1f0c9f0e-6c1a-4d0e-9a57-0c7a5a9f3b11"
    unnamed = desk.run("--resume", session)
    assert unnamed.returncode == 2
    assert f"no run named {session!r}; " in unnamed.stderr
    assert "needs the name of its agent: --agent NAME" in unnamed.stderr
    assert not (desk.home / "called").exists()
    assert desk.run("--resume", session, "--agent", "claude").returncode == 0
    assert f"--resume={session}" in desk.called()
    info = find_run(desk.home / "runs-home", desk.last()).info()
    assert info is not None
    assert info.resumed_from is None
    desk.run("--resume", session, "--agent", "work")
    assert desk.called().startswith("wrapper --as-me -p ")


def test_a_session_id_that_is_an_option_is_refused_for_a_named_agent_too(desk: Desk) -> None:
    done = desk.run("--agent", "claude", "--resume=--dangerously-skip-permissions")
    assert done.returncode == 2
    assert "begins with '-'" in done.stderr
    assert not (desk.home / "called").exists()
