"""The run that an argument names, or the last one if there is no argument."""

from nightrook.model.errors import NightrookError
from nightrook.model.text import suggested
from nightrook.store import runs
from nightrook.store.home import home_folder
from nightrook.store.run_folder import RunFolder


def find_run(name: str | None) -> RunFolder:
    """Find a run by its name or the beginning of it; without a name, the last run."""
    home = home_folder()
    if name is not None and name.startswith("loop-"):
        raise NightrookError(f"{name} is a loop, not a run: use  {suggested('show', name)}")
    if name is not None and name.startswith("batch-"):
        raise NightrookError(f"{name} is a batch, not a run: use  {suggested('show', name)}")
    if name is not None:
        return runs.find(home, name)
    last = runs.last(home)
    if last is None:
        raise NightrookError('there are no runs yet; start one:  rook run "Fix the tests"')
    return last
