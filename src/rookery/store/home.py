"""Where runs are kept: ROOKERY_HOME, or by default the user's data folder."""

import os
from pathlib import Path

from platformdirs import user_data_path


def home_folder() -> Path:
    """The folder that holds all runs."""
    named = os.environ.get("ROOKERY_HOME")
    return Path(named).expanduser() if named else user_data_path("rookery", appauthor=False)
