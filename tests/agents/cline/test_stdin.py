"""Cline reads its prompt from a pipe alone, so that is what it gets."""

from pathlib import Path

import pytest

from tests.cli.desk import Desk

KINDS = 'if [ -p /dev/stdin ]; then echo pipe > kind; fi; cat > got; printf "%s|" "$@" > words'


@pytest.mark.parametrize("prompt", ["Go", "Say hi to all", "x" * 300_000])
def test_a_prompt_comes_through_a_pipe_word_for_word(tmp_path: Path, prompt: str) -> None:
    desk = Desk(tmp_path)
    desk.program("cline", KINDS)
    (desk.project / "task").write_text(prompt)
    desk.rook("run", "--agent", "cline", "--prompt-file", "task")
    assert (desk.project / "kind").read_text() == "pipe\n"
    assert (desk.project / "got").read_text() == prompt
    assert (desk.project / "words").read_text() == "--json| |"
