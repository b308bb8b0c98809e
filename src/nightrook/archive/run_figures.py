"""Reads what a run of rook used, from its folder."""

from nightrook.archive.ledger.runs import RunFigures
from nightrook.model.snapshot import TokenCounts
from nightrook.process.demo_player import is_played
from nightrook.store.file_names import INFO, VERDICT
from nightrook.store.files import Folder
from nightrook.store.run_folder import load
from nightrook.store.run_formats import RunInfo, VerdictInfo


def run_figures(runs: Folder, name: str, stamp: str) -> RunFigures | None:
    """Read a run; None if it was removed meanwhile, or is a demo, which used nothing."""
    folder = runs.open(name)
    if folder is None:
        return None
    with folder:
        info, verdict = load(folder, INFO, RunInfo), load(folder, VERDICT, VerdictInfo)
    if info is None or verdict is None or is_played(info.program):
        return None
    return _figures(name, info, verdict, stamp)


def _figures(name: str, info: RunInfo, verdict: VerdictInfo, stamp: str) -> RunFigures:
    spent, tokens = _spent(info, verdict), verdict.tokens or TokenCounts()
    is_native = verdict.cost_source == "native"
    return RunFigures(
        name=name,
        agent=info.agent,
        session=verdict.session,
        loop=info.loop,
        model=verdict.model or info.model,
        project=None if info.piped else info.cwd,  # the writer of a pipe may work anywhere
        started_at=info.started_at,
        ended_at=verdict.ended_at,
        native_usd=spent if is_native else None,
        estimated_usd=None if is_native else spent,
        input=tokens.input,
        output=tokens.output,
        cache_read=tokens.cache_read,
        cache_write=tokens.cache_write,
        at_least=verdict.cost_at_least,
        stamp=stamp,
    )


def _spent(info: RunInfo, verdict: VerdictInfo) -> float | None:
    """What the run itself spent, of which earlier versions saved only the cost of the session."""
    if verdict.spent_usd is None and not info.continues:
        return verdict.cost_usd
    return verdict.spent_usd
