"""`output.md`: the final answer of a run, for people and for the next program."""

from nightrook.store.file_names import OUTPUT
from nightrook.store.run_folder import RunFolder


def write_output(folder: RunFolder, text: str | None) -> bool:
    """Save the answer; False if there is none, or the agent has written its own, which stays."""
    if text is None or not text.strip():
        return False
    with folder.opened() as opened:
        return opened.create(OUTPUT, text.encode("utf-8", "replace"))


def read_output(folder: RunFolder) -> str | None:
    """The answer that was saved; None if there is none."""
    with folder.opened() as opened:
        data = opened.read(OUTPUT)
    return None if data is None else data.decode("utf-8", "replace")


def has_output(folder: RunFolder) -> bool:
    """Whether an answer was saved."""
    with folder.opened() as opened:
        return opened.size(OUTPUT) is not None
