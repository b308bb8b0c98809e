"""The places in which the command line looks for settings."""

import os
from pathlib import Path

from nightrook.config.files import Surroundings
from nightrook.user_folders import settings_folder


def surroundings() -> Surroundings:
    """The places of settings, from the current folder."""
    try:
        cwd = Path.cwd()
    except FileNotFoundError:  # the folder is gone; commands that need it report that
        cwd = Path(os.sep)
    return Surroundings(
        cwd=cwd,
        home=Path(os.path.realpath(os.path.expanduser("~"))),  # like the working folder
        user_folder=settings_folder(),
        environment=os.environ,
    )
