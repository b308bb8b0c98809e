"""A made-up home with sessions of Claude Code, and what the ledger reports of it."""

import json
import os
from pathlib import Path

from nightrook.archive.importer import ImportReport, bring_up_to_date
from nightrook.archive.ledger.ledger import Ledger
from tests.archive.ledger.samples import report, totals

AT = 1_762_000_000


def message(number: int, output: int = 5, **fields: object) -> str:
    """A line with the usage of one call; `number` is the call's."""
    line = {
        "type": "assistant",
        "sessionId": "s",
        "isSidechain": False,
        "cwd": "/home/me/app",
        "timestamp": AT + number,
        "message": {
            "id": f"msg_{number}",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": "é"}],
            "usage": {"input_tokens": 10, "output_tokens": output},
        },
        **fields,
    }
    return json.dumps(line, separators=(",", ":")) + "\n"


class Home:
    """A home of a user, and a ledger beside it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "home"
        self.ledger = folder / "nightrook" / "ledger.db"
        self.project = self.path / ".claude" / "projects" / "-home-me-app"
        self.project.mkdir(parents=True)

    def file(self, name: str = "s") -> Path:
        """The file of a session."""
        return self.project / f"{name}.jsonl"

    def write(self, text: str, name: str = "s") -> Path:
        """Write a session."""
        self.file(name).write_text(text)
        return self.file(name)

    def append(self, text: str, name: str = "s") -> None:
        """Add to a session."""
        with self.file(name).open("a") as file:
            file.write(text)

    def import_all(self) -> ImportReport:
        """Bring the ledger up to date."""
        return bring_up_to_date(self.ledger, (self.path,), names=("claude",))

    def totals(self) -> tuple[int, int]:
        """How many calls the ledger has, and their output."""
        with Ledger.open(self.ledger) as ledger:
            found = totals(ledger)
        return found[0] or 0, found[2] or 0

    def report(self) -> list[tuple[object, ...]]:
        """All sums of the ledger."""
        with Ledger.open(self.ledger) as ledger:
            return report(ledger)

    def state(self) -> dict[str, tuple[int, int, int, bytes]]:
        """Everything of the agents' files that an import must not change."""
        found = {}
        for path in sorted(self.path.rglob("*")):
            stat = path.lstat()
            data = path.read_bytes() if path.is_file() and os.access(path, os.R_OK) else b""
            found[str(path)] = (stat.st_mode, stat.st_mtime_ns, stat.st_ctime_ns, data)
        return found
