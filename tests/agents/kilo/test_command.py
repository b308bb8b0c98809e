"""Kilo CLI's command line, as we build it and as users write it."""

import json

from nightrook import agents
from nightrook.adapter.agent import Invocation, Task
from nightrook.agents.kilo.command import invoke, keeps_variable

OUTPUT = ("--format", "json", "--thinking")


def test_a_plain_task_goes_to_stdin_and_never_to_a_daemon() -> None:
    assert invoke(Task(prompt='Say "hi" now')) == Invocation(
        command=("kilo", "run", *OUTPUT, "--title="),
        typed=("kilo", "run", *OUTPUT, "--title=", 'Say "hi" now'),
        stdin=b'Say "hi" now',
        environment={"KILO_NO_DAEMON": "1"},
    )


def test_every_field_of_a_task_has_its_flag() -> None:
    task = Task(
        prompt="go",
        model="openrouter/x",
        permission="all",
        resume="ses_1",
        args=("--variant", "high"),
    )
    assert invoke(task).command == (
        *("kilo", "run", *OUTPUT, "--model=openrouter/x", "--auto", "--session=ses_1"),
        *("--variant", "high"),
    )


def test_rules_have_a_variable_of_their_own() -> None:
    given = invoke(Task(prompt="go", permission="edit", allow=("bash(git *)",))).environment
    rules = json.loads(given["KILO_PERMISSION"])
    assert (rules["* *"], rules["edit *"], rules["bash *"]) == ("deny", "allow", {"git *": "allow"})
    assert given["KILO_NO_DAEMON"] == "1"


def test_variables_of_an_outer_agent_are_not_passed_on() -> None:
    dropped = ["KILO", "KILO_PID", "KILO_PROCESS_ROLE", "KILO_BACKGROUND_PROCESS_ID", "PWD"]
    kept = ["PATH", "HOME", "KILO_CONFIG", "KILO_API_KEY", "KILO_PERMISSION", "KILO_ORG_ID"]
    assert [name for name in dropped + kept if keeps_variable(name)] == kept


def test_both_of_its_programs_are_known() -> None:
    for program in ("kilo", "/usr/bin/kilocode"):
        known = agents.agent_for(program)
        assert known is not None
        assert known.name == "kilo"
