"""Prints what `rook` prints for recorded streams, as JSON: one process for all, a fork for each.

python play_cases.py WIRE... < /dev/null
"""

import json
import os
import sys
import tempfile
from importlib.metadata import entry_points

import genai_prices.data  # noqa: F401  # slow, and needed by many: imported once, before the forks

[ENTRY] = entry_points(group="console_scripts", name="rook")


def play(wire: str, *flags: str) -> dict[str, object]:
    """Pipe a recorded stream into `rook`; return its exit code and the lines of its stdout."""
    with tempfile.TemporaryFile() as out:
        child = os.fork()
        if child == 0:
            _become_rook(wire, out.fileno(), flags)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        lines = out.read().decode().split("\n")
    return {"exit_code": code, "stdout": lines[:-1] if lines[-1] == "" else lines}


def _become_rook(wire: str, out: int, flags: tuple[str, ...]) -> None:
    os.dup2(out, 1)
    code: int | str | None = 70  # of an error that escapes
    try:
        _rook(wire, flags)
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


def _rook(wire: str, flags: tuple[str, ...]) -> None:
    os.dup2(os.open(wire, os.O_RDONLY), 0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the verdict, prose that may change
    sys.argv = ["rook", "--no-record", *flags]
    ENTRY.load()()


def main() -> None:
    """Play every stream plainly and verbosely."""
    wires = sys.argv[1:]
    _warm_up(wires[0])
    played = {wire: {"plain": play(wire), "verbose": play(wire, "-v")} for wire in wires}
    json.dump(played, sys.stdout)


def _warm_up(wire: str) -> None:
    """Import what `rook` imports, once, before the forks."""
    kept = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        _rook(wire, ())
    except SystemExit:
        sys.stdout.flush()
    os.dup2(kept, 1)


if __name__ == "__main__":
    main()
