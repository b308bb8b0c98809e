"""The results of a run: its answer, its cost, its files, and all of them in one object."""

import msgspec

from nightrook.adapter.agent import Agent
from nightrook.model.answer import final_text
from nightrook.model.ledger import Source
from nightrook.model.snapshot import TokenCounts, ToolCounts
from nightrook.model.state import RunState
from nightrook.model.status import Outcome
from nightrook.model.verdict import judge
from nightrook.store.run_folder import RunFolder
from nightrook.story.final_answer import run_answer


class RunResult:
    """The results of a run so far; they do not change once the run is over."""

    agent: Agent | None
    state: RunState

    @property
    def folder(self) -> RunFolder:
        """The folder of the run."""
        raise NotImplementedError

    @property
    def text(self) -> str | None:
        """The final answer; None if there is none."""
        return run_answer(self.folder.path, self.state if self.agent else None)

    @property
    def cost(self) -> float | None:
        """The cost of the run in dollars; None if that is unknown."""
        return self.state.ledger.spent_usd

    @property
    def tokens(self) -> TokenCounts:
        """The tokens that the run has used; each count is None if the agent reported none."""
        return self.state.token_counts

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the agent reported as changed, in the order of the first change."""
        return tuple(self.state.files)


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A run in one object: its answer, its cost and its status."""

    file: str
    agent: str | None
    version: str | None
    model: str | None
    ok: bool
    status: Outcome
    text: str | None
    turns: int
    cost_usd: float | None
    spent_usd: float | None
    cost_source: Source
    tokens: TokenCounts
    tools: ToolCounts
    lines: int
    unknown: int
    unreadable: int
    truncated: bool


def summarise(state: RunState, *, file: str, agent: str | None) -> Summary:
    """Put a folded stream into one object; how its process ended is not known here."""
    cost_usd, source = _cost(state)
    return Summary(
        file=file,
        agent=agent,
        version=state.version,
        model=state.model,
        ok=bool(state.turns and state.turns[-1].result and state.turns[-1].result.ok),
        status=judge(state).status,
        text=final_text(state),
        turns=len(state.turns),
        cost_usd=cost_usd,
        spent_usd=state.ledger.spent_usd,
        cost_source=source,
        tokens=state.token_counts,
        tools=state.tool_counts,
        lines=state.closed.lines if state.closed else 0,
        unknown=state.unknown.total(),
        unreadable=state.unreadable,
        truncated=bool(state.closed and state.closed.truncated),
    )


def _cost(state: RunState) -> tuple[float | None, Source]:
    """The agent's own figure if it gave one, else the estimate."""
    if state.ledger.native_usd is not None:
        return state.ledger.native_usd, "native"
    return state.ledger.cost.usd, state.ledger.cost.source
