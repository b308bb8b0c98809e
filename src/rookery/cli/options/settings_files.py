"""Where the command line looks for settings."""

import os
from pathlib import Path

from platformdirs import user_config_path

from rookery.config.files import Surroundings


def surroundings() -> Surroundings:
    """Where to look for settings from the current folder."""
    try:
        cwd = Path.cwd()
    except FileNotFoundError:  # the folder is gone; commands that need it report that
        cwd = Path(os.sep)
    return Surroundings(
        cwd=cwd,
        home=Path(os.path.realpath(os.path.expanduser("~"))),  # like the working folder
        user_folder=user_config_path("rookery", appauthor=False),
        environment=os.environ,
    )
