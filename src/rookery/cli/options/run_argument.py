"""The run that an argument names, or the last one if there is no argument."""

from rookery.model.errors import RookeryError
from rookery.model.text import suggested
from rookery.store import runs
from rookery.store.home import home_folder
from rookery.store.run_folder import RunFolder


def find_run(name: str | None) -> RunFolder:
    """Find a run by its name or the beginning of it; without a name, the last run."""
    home = home_folder()
    if name is not None and name.startswith("loop-"):
        raise RookeryError(f"{name} is a loop, not a run: use  {suggested('show', name)}")
    if name is not None and name.startswith("batch-"):
        raise RookeryError(f"{name} is a batch, not a run: use  {suggested('show', name)}")
    if name is not None:
        return runs.find(home, name)
    last = runs.last(home)
    if last is None:
        raise RookeryError('there are no runs yet; start one:  rook run "Fix the tests"')
    return last
