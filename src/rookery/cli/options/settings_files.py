"""Where the command line looks for settings."""

import os
from pathlib import Path

from platformdirs import user_config_path

from rookery.config.files import Surroundings


def surroundings() -> Surroundings:
    """Where settings are looked for, seen from here."""
    try:
        cwd = Path.cwd()
    except FileNotFoundError:  # the folder is gone: whoever needs it says so
        cwd = Path(os.sep)
    return Surroundings(
        cwd=cwd,
        home=Path(os.path.realpath(os.path.expanduser("~"))),  # as the working folder is told
        user_folder=user_config_path("rookery", appauthor=False),
        environment=os.environ,
    )
