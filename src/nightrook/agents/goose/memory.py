"""The state of reading a stream of Goose, besides what every agent needs."""

import re
from collections.abc import Sequence

from nightrook.adapter import memory
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Error, Event, SessionStarted

# The banner, which is the only mention of the session (1.52.0 text):
#     __( O)>  ● new session · openai fake-model
#    \____)    20261115_1 · /home/dev/project
#      L L     goose is ready
_MODEL = re.compile(r" {4}__\( O\)>  ● [\w ]+ · (?P<provider>\S+) (?P<model>.+)")
_SESSION = re.compile(r" {3}\\____\) {4}(?P<session>\d{8}_\d+) · (?P<folder>.+)")
_READY = re.compile(r" {5}L L {5}goose is ready")

INTERRUPTED = "Headless run interrupted"
"""The error with which it ends after SIGINT (1.52.0 sigint_text)."""

# While a tool runs, it writes a question before that error, on the same line (1.52.0 sigint_tool).
_LATE_ERROR = f'{{"type":"error","error":"{INTERRUPTED}"}}'


class Memory(memory.Memory):
    """The state of reading a stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS["goose"])
        self.model: str | None = None  # that was asked for
        self.message: str | None = None  # the id of the message whose text arrives in pieces
        self.parts = 0  # the texts and thoughts of that message
        self.is_own = False  # Goose itself wrote the last text, not a model
        self.failure: Error | None = None  # the last error; a message of the model makes up for it
        self.is_cut = False  # the model's answer reached its output limit

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is open."""
        if not self.in_turn:
            self.is_own = self.is_cut = False
            self.failure = None
        return super().begin_turn()

    def next_part(self, message: str | None) -> str:
        """Return the id of the next text or thought of a message."""
        if message is None or message != self.message:
            self.message, self.parts = message or self.new_id("message"), 0
        self.parts += 1
        return f"{self.message}:{self.parts}"

    def interrupt(self) -> list[Event]:
        """End the turn: the user interrupted it."""
        events = [*self.begin_turn(), *self.abandon()]
        return [*events, self.finish_turn("interrupted", INTERRUPTED)]

    def read_text(self, line: bytes) -> Sequence[Event] | None:
        """Read a line of the banner, or the end of an interrupted run; None for any other text."""
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text.endswith(_LATE_ERROR):
            return self.interrupt()
        if (match := _MODEL.fullmatch(text)) is not None:
            self.model = match["model"]
        elif (match := _SESSION.fullmatch(text)) is not None:
            if match["session"] not in self.sessions:
                self.sessions.add(match["session"])
                return (
                    SessionStarted(session=match["session"], model=self.model, cwd=match["folder"]),
                )
        elif _READY.fullmatch(text) is None:
            return None
        return ()
