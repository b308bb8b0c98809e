"""A story: the events of a run or session, in one object that every viewer reads.

A run of this process, of another one or of another machine, a piped stream, a finished folder and a
stored session differ in where their bytes are and in what drives their feed. A `Story` is what they
have in common: the feed of records, the state and its snapshot, the timeline with the bodies of its
items, the decisions on what the agent asked, the answer, and how it ended. A loop and a batch are
lists of stories.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from nightrook import agents
from nightrook.adapter.agent import Agent, Replacement
from nightrook.model.ending import Ending
from nightrook.model.errors import NightrookError, UnknownAgentError
from nightrook.model.events import PermissionRequested, ToolStarted
from nightrook.model.price import Prices
from nightrook.model.records import Record
from nightrook.model.snapshot import Snapshot
from nightrook.model.state import RunState
from nightrook.model.status import Outcome
from nightrook.model.verdict import Verdict
from nightrook.store import decisions
from nightrook.store.decisions import Decided
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo, beginning_of
from nightrook.story.decode import DETECTION_SIZE
from nightrook.story.feed import RECENT_BYTES, Feed, StoredFeed, iterate
from nightrook.story.final_answer import run_answer
from nightrook.story.integrity import checked_verdict
from nightrook.story.tail import Piece, Tail, pieces, read_at

if TYPE_CHECKING:
    from nightrook.model.timeline import Item, Timeline
    from nightrook.story.item_bodies import Bodies, Body


class Story:
    """The story of one run or session, as far as its feed has come.

    `folder` is where a run is kept; a session, and a stream that is not recorded, have none. `read`
    reads the bulky parts of an item of the timeline.
    """

    def __init__(
        self,
        feed: Feed,
        *,
        name: str = "",
        folder: RunFolder | None = None,
        info: RunInfo | None = None,
        called: str | None = None,
        cwd: str | None = None,
        bodies: "Bodies | None" = None,
        keeps_timeline: bool = False,
    ) -> None:
        self.feed = feed
        self.folder = folder
        """Folder of a run, once it has one; None for what is not recorded, and for a session."""
        self.info = info
        """Record of the run's options; of a run that is followed, as it was first read."""
        self.called = called or (info.called if info else None)
        """Name of the agent in the user's settings; None if it goes by its own name."""
        self.problem: UnknownAgentError | None = None
        """Reason why its stream is not decoded: only another version knows the agent."""
        self._name = name
        self._cwd = cwd
        self._bodies = bodies
        self._verdict: Verdict | None = None
        self._ending: Ending[Outcome] | None = None
        self._timeline: Timeline | None = None
        if keeps_timeline:
            self._timeline = self._new_timeline()

    @property
    def name(self) -> str:
        """The name of the run, or the id of the session."""
        return self.folder.name if self.folder is not None else self._name

    @property
    def agent(self) -> str | None:
        """The name of the agent, once it is known."""
        return self.feed.agent

    @property
    def label(self) -> str | None:
        """Prefix of its lines, once that is known."""
        return (self.info.label if self.info else None) or self.feed.label

    @property
    def cwd(self) -> str | None:
        """The folder in which it happened, as far as that is known."""
        return self._cwd or self.feed.state.cwd

    @property
    def state(self) -> RunState:
        """State after all records so far."""
        return self.feed.state

    @property
    def known_state(self) -> RunState | None:
        """The state; None if the stream is plain text, of which nothing is known."""
        return self.feed.state if self.feed.agent is not None else None

    def snapshot(self) -> Snapshot:
        """A frozen copy of the state, for other threads, the wire and screens."""
        return self.feed.state.snapshot()

    @property
    def timeline(self) -> "Timeline":
        """The items of what happened; a stored story is read to its end for them."""
        if self._timeline is None:
            self._timeline = self._new_timeline()
            self._timeline.take(iterate(self.feed.since(0)))
        return self._timeline

    def body(self, item: "Item") -> "Body":
        """Read the bulky parts of an item: whole texts, inputs and outputs."""
        from nightrook.story.item_bodies import Body, run_bodies  # few viewers need them

        if self._bodies is None and self.folder is not None:
            self._bodies = run_bodies(self.folder.path, self.feed.agent)
        return Body() if self._bodies is None else self._bodies.read(item)

    def replacements(self, call: ToolStarted) -> tuple[Replacement, ...]:
        """The edits of a call as differences of text."""
        known = self.known_agent
        return () if known is None else known.replacements(call)

    @property
    def known_agent(self) -> Agent | None:
        """The agent; None if it is not known, or only to another version."""
        try:
            return agents.agent(self.feed.agent) if self.feed.agent else None
        except UnknownAgentError:
            return None

    def decisions(self) -> Mapping[str, Decided]:
        """The decisions on the agent's questions, by their ids."""
        return {} if self.folder is None else decisions.read(self.folder)

    @property
    def answer(self) -> str | None:
        """The final answer so far; None if there is none."""
        if self.folder is None:
            return None
        return run_answer(self.folder.path, self.known_state)

    @property
    def ending(self) -> Ending[Outcome] | None:
        """Ending of the run, `incomplete` if its logs were changed; None if it has not ended."""
        if self._ending is None:
            folder, verdict = self.folder, self._verdict
            if verdict is None and folder is not None and self.feed.is_stored:
                saved = checked_verdict(folder)
                verdict = None if saved is None else saved.verdict
            if verdict is not None:
                self._ending = folder.ending(verdict) if folder else Ending.of_run(verdict)
        return self._ending

    def end(self, verdict: Verdict) -> None:
        """Record the verdict on the run."""
        self._verdict = verdict

    @staticmethod
    def _new_timeline() -> "Timeline":
        from nightrook.model.timeline import Timeline  # few viewers need one

        return Timeline()

    def read_to_end(self) -> "Story":
        """Fold all of a stored story."""
        for _ in iterate(self.feed.since(self.state.records)):
            pass
        return self

    def take(self, pieces: Iterable[Piece]) -> list[Record]:
        """Decode and fold the next bytes."""
        records = self.feed.take(pieces)
        if self._timeline is not None:
            self._timeline.take(records)
        return records

    def close(self) -> list[Record]:
        """End the stream; return its last records."""
        records = self.feed.close()
        if self._timeline is not None:
            self._timeline.take(records)
        return records

    def note_decisions(self) -> None:
        """Record which questions were answered: the stream does not report that."""
        if self.feed.state.asked:
            with suppress(NightrookError):
                for made in self.decisions().values():
                    question = PermissionRequested(id=made.id, tool_id=made.tool_id)
                    self.feed.answered(question)


def open_story(folder: RunFolder, *, is_running: bool = False) -> Story:
    """The story of a run as far as its folder has it, read without waiting.

    The calls that are open at the end of the log never ended, unless the run is running. A command
    that no adapter knows has text only.
    """
    info = folder.info()
    agent = info.agent if info else None
    if agent is None and info is not None and info.piped:  # nobody has recorded who wrote it
        found = agents.detect(read_at(folder.path, "stdout", 0, DETECTION_SIZE))
        agent = found.name if found else None
    feed = StoredFeed(
        agent,
        partial(Tail, folder.path),
        beginning=beginning_of(info),
        label=info.label if info else None,
        is_running=is_running,
    )
    return Story(feed, folder=folder, info=info)


def growing_story(
    folder: RunFolder,
    info: RunInfo,
    *,
    prices: Prices | None = None,
    keeps_timeline: bool = False,
    has_readers: bool = True,
) -> Story:
    """The story of a run that grows, for what follows its folder.

    Without readers no records are kept in memory.
    """
    problem = None
    try:
        agents.agent(info.agent) if info.agent else None
    except UnknownAgentError as error:
        problem = error
    feed = Feed(
        None if problem else info.agent,
        partial(Tail, folder.path),
        detect=info.piped and not problem,
        beginning=beginning_of(info),
        prices=prices,
        label=info.called,
        recent_bytes=RECENT_BYTES if has_readers else 0,
    )
    story = Story(feed, folder=folder, info=info, keeps_timeline=keeps_timeline)
    story.problem = problem
    return story


def state_of(folder: RunFolder, info: RunInfo, prices: Prices) -> RunState | None:
    """The state of a run as far as its log goes; None if it is not a stream of a known agent."""
    story = growing_story(folder, info, prices=prices, has_readers=False)
    if story.problem is not None:
        return None
    for piece in pieces(folder.path):
        story.feed.take((piece,))
    story.feed.close()
    return story.known_state
