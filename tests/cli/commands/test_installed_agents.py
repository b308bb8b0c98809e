"""Programs are asked for their versions, and none of them holds up the others."""

import os
from pathlib import Path

from nightrook.cli.commands.agents import installed_agents
from nightrook.config.load import Config
from nightrook.config.source import OwnAgent


def own(name: str, *command: str) -> OwnAgent:
    return OwnAgent(name=name, speaks="claude", command=command, place="a test", of_project=False)


def config(*agents: OwnAgent) -> Config:
    known = {agent.name: agent for agent in agents}
    return Config(values={}, agents=known, profile=None, profiles=(), files=())


def test_programs_that_hang_are_listed_without_a_version(tmp_path: Path) -> None:
    """They read a fifo that has no writer, so they would never end by themselves."""
    fifo, path = tmp_path / "fifo", tmp_path / "agent"
    os.mkfifo(fifo)
    path.write_text(f"#!/bin/sh\nread line < '{fifo}'\n")
    path.chmod(0o755)
    hanging = [own(f"hangs{number}", str(path)) for number in range(3)]
    found = installed_agents(
        config(*hanging, own("lost", "/no/such")),
        [*(each.name for each in hanging), "lost"],
        patience_s=0.2,
    )
    assert [(each.name, each.path, each.version, each.problem) for each in found] == [
        *(
            (each.name, str(path), None, "did not print its version within 0.2 s")
            for each in hanging
        ),
        ("lost", None, None, None),
    ]
