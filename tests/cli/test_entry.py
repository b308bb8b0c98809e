"""How the process starts and ends: nothing is lost by leaving early."""

import subprocess
import sys


def outcome(code: str) -> tuple[str, str, int]:
    """What a process prints that leaves in our way after running some code, and its exit code."""
    whole = f"import sys\nfrom rookery.cli.entry import leave\n{code}"
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True)
    return done.stdout, done.stderr, done.returncode


def test_modules_are_not_taken_apart() -> None:
    code = """
class Late:
    def __del__(self):
        print("taken apart", flush=True)
late = Late()
leave(SystemExit(3))
"""
    assert outcome(code) == ("", "", 3)


def test_what_was_printed_comes_out_and_exit_functions_run() -> None:
    code = """
import atexit
atexit.register(print, "exit function")
print("output", end=" ")
print("error", end="", file=sys.stderr)
leave(SystemExit())
"""
    assert outcome(code) == ("output exit function\n", "error", 0)


def test_a_thread_is_waited_for() -> None:
    code = """
import threading
left = threading.Event()
def work():
    left.wait()
    print("worked")
threading.Thread(target=work).start()
import atexit
threading._register_atexit(left.set)
leave(SystemExit(4))
"""
    assert outcome(code) == ("worked\n", "", 4)


def test_a_message_instead_of_a_code_is_printed() -> None:
    assert outcome('leave(SystemExit("no such thing"))') == ("", "no such thing\n", 1)


def test_output_that_cannot_be_written_is_an_error() -> None:
    _, error, code = outcome("sys.stdout = open('/dev/full', 'w')\nprint(1)\nleave(SystemExit(0))")
    assert "No space left" in error
    assert code != 0
