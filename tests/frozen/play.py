"""Calls `rook` many times and prints how each call ended, as JSON: one process, a fork for each.

python play.py < CALLS, which is a JSON list of {"words": [...], "stdin": PATH, "env": {...}}
"""

import json
import os
import sys
import tempfile
from importlib import import_module
from importlib.metadata import entry_points

[ENTRY] = entry_points(group="console_scripts", name="rook")


def call(words: list[str], stdin: str, env: dict[str, str] | None = None) -> dict[str, object]:
    """Call `rook`; return its exit code and the lines of its stdout."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as modules:
        child = os.fork()
        if child == 0:
            os.environ.update(env or {})
            _become_rook(words, stdin, out.fileno(), modules.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        modules.seek(0)
        _import(modules.read().decode().split())
        lines = out.read().decode().split("\n")
    return {"exit_code": code, "stdout": lines[:-1] if lines[-1] == "" else lines}


def _become_rook(words: list[str], stdin: str, out: int, modules: int) -> None:
    os.dup2(os.open(stdin, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the verdict, prose that may change
    sys.argv = ["rook", *words]
    code: int | str | None = 70  # of an error that escapes
    try:
        ENTRY.load()()
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout.flush()
        os.write(modules, " ".join(sys.modules).encode())
        os._exit(code if isinstance(code, int) else int(code is not None))


def _import(names: list[str]) -> None:
    """Import what a call imported, so that the next one is quick."""
    for name in names:
        if name not in sys.modules and name != "__mp_main__":
            import_module(name)


if __name__ == "__main__":
    json.dump([call(**each) for each in json.load(sys.stdin)], sys.stdout)
