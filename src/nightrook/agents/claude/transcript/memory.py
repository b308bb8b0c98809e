"""What is remembered between the lines of a stored session of Claude Code."""

from collections.abc import Sequence

import msgspec

from nightrook.adapter.memory import forget_oldest
from nightrook.adapter.stored import TimedMemory
from nightrook.agents.claude.memory import Memory
from nightrook.agents.claude.transcript.shapes import Entry
from nightrook.model.events import Event, SessionStarted, TurnFinished

_MOST_LINES = 4096  # of subagents, which later lines may follow


class Turn(msgspec.Struct):
    """How the turn that is open looks so far."""

    text: str | None = None
    stop_reason: str | None = None
    is_answered: bool = False
    """Whether the last message of the model was an answer, after which nothing else came."""

    error: str | None = None


class SessionMemory(Memory, TimedMemory):
    """What a stream needs, and what only stored sessions need: times, subagents, ends of turns."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = Turn()
        self.prompts: dict[str, str] = {}  # the calls of subagents, by what they were asked
        self.chains: dict[str, str] = {}  # the call that a subagent's line happened in, by its id

    def open_session(self, line: Entry) -> list[Event]:
        """Report the session of a line, if it is the first one of it."""
        id = line.sessionId
        if id is None or id in self.sessions or line.version is None:
            return []
        self.sessions.add(id)
        self.new_version(line.version)
        return [SessionStarted(session=id, cwd=line.cwd, version=line.version)]

    def parent_of(self, line: Entry, prompt: str | None = None) -> str | None:
        """The call in which a line happened, for the subagents that share the file (1.0.128).

        Their first line is what they were asked, and every other follows a line of theirs.
        """
        if not line.isSidechain or line.agentId is not None:
            return None
        parent = self.chains.get(line.parentUuid or "") or self.prompts.get(prompt or "")
        if parent is not None and line.uuid is not None:
            self.chains[line.uuid] = parent
            forget_oldest(self.chains, _MOST_LINES)
        return parent

    def settle_turn(self, *, reason: str | None = None) -> list[Event]:
        """Report the end of the open turn, as far as the session shows that it ended."""
        turn, self.turn = self.turn, Turn()
        ended = turn.is_answered or turn.error is not None or reason is not None
        if not self.open_turns or not ended:
            return []
        self.open_turns -= 1
        self.results += 1
        return [
            TurnFinished(
                ok=turn.error is None and reason is None,
                text=turn.error or (None if reason else turn.text),
                stop_reason=turn.stop_reason,
                reason=reason or ("api_error" if turn.error is not None else None),
                errors=None if turn.error is None else (turn.error,),
            )
        ]

    def close(self) -> tuple[Sequence[Event], int]:
        """End the turn if it was answered, and everything else that is open."""
        ended = self.settle_turn()
        events, open_tools = super().close()
        return [*ended, *events], open_tools
