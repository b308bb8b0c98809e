"""The methods that we call. Each is called once, and serves as the id of its request."""

INITIALIZE = "initialize"
NEW = "session/new"
LOAD = "session/load"
RESUME = "session/resume"
PROMPT = "session/prompt"
CANCEL = "session/cancel"
SET_MODE = "session/set_mode"
SET_MODEL = "session/set_model"
SET_OPTION = "session/set_config_option"

OPTIONAL = "optional "
"""What the id of a request begins with whose failure does not matter."""

RESUMES = frozenset({LOAD, RESUME})
OPENS = frozenset({NEW, *RESUMES})
SETS = frozenset({SET_MODE, SET_MODEL, SET_OPTION})
ALL = frozenset({INITIALIZE, PROMPT, *OPENS, *SETS})
