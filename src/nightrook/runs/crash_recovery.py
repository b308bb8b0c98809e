"""Judges runs whose processes died before they could, and ends the processes that outlived them.

A run is usually judged by its runner. If that dies, its recorder ends the agent and writes
`exit.json`; if the recorder dies, too, nothing is left but the logs. The next process that reads
the folder (a list, `rook show`, a loop that is resumed) finds neither a verdict nor a living
process, and judges the run by its logs as `nightrook.runs.finish` does. Files that exist are never
changed, so that any number of processes can try this at once: one of them creates the verdict.
"""

import signal
import time
from collections.abc import Callable

from nightrook import agents
from nightrook.adapter.agent import Agent
from nightrook.model.errors import NightrookError, UnknownAgentError
from nightrook.model.facts import Facts, PersonFacts, ProcessFacts, RecorderFacts, StreamFacts
from nightrook.model.price import Prices, no_prices
from nightrook.model.state import RunState
from nightrook.model.verdict import Verdict
from nightrook.prices import PriceBook
from nightrook.process import trees
from nightrook.process.liveness import continue_stopped, is_same_process
from nightrook.runs.finish import finish, recorded_exit
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo, VerdictInfo, at_work
from nightrook.story.integrity import tampering_of
from nightrook.story.story import state_of

_SETTLE_S = 15.0
_SETTLE_LOOK_S = 0.05
_WOKEN_S = 10.0  # for a recorder without a runner to end its agent: it takes a second


def recovered(folder: RunFolder) -> RunFolder:
    """Judge a run whose runner and recorder died, and end the rest of its agent's tree.

    A recorder that is stopped is continued. If its runner died, too, it ends its agent then.
    """
    if recover(folder, alive=is_same_process, now=time.time(), prices=PriceBook()):
        trees.kill_marked(str(folder.path))  # guards: recovered-run-ended
    return folder


def _wake_recorder(info: RunInfo) -> None:
    """Continue a recorder that something stopped; kill it if it has no runner and does not end."""
    pid, ticks = info.recorder_pid, info.recorder_ticks
    if pid is None or not continue_stopped(pid, ticks):
        return
    if info.runner_pid is not None and is_same_process(info.runner_pid, info.runner_ticks):
        return  # it continues to supervise
    until = time.monotonic() + _WOKEN_S
    while is_same_process(pid, ticks):
        if time.monotonic() > until:
            trees.send([pid], signal.SIGKILL)
            return
        continue_stopped(pid, ticks)
        time.sleep(_SETTLE_LOOK_S)


def recover(
    folder: RunFolder,
    *,
    alive: Callable[[int, int | None], bool],
    now: float,
    prices: Prices = no_prices,
) -> bool:
    """Judge a run by its log if its processes died before they could; return whether that was so.

    Files that exist are never changed, so any number of processes can try this at any time. A
    folder that cannot be read or written is left as it is.
    """
    try:
        info = folder.info()
        if info is None or info.fleet is not None or folder.verdict() is not None:
            return False
        _wake_recorder(info)  # guards: stopped-recorder-recovered
        if at_work(info, alive):  # guards: living-run-unhealed
            return False
        return _finish(folder, info, now, prices).facts.recorder.unsaved is None
    except NightrookError:
        return False


def _finish(folder: RunFolder, info: RunInfo, now: float, prices: Prices) -> Verdict:
    exit = recorded_exit(folder, now=now, overwrite=False)
    state = state_of(folder, info, prices)
    changed = tampering_of(folder, exit)
    known = Facts(
        process=ProcessFacts(agent=info.label),
        person=PersonFacts(allow_denials=info.allow_denials),
        recorder=RecorderFacts(tampered=changed),
    )
    if state is None and info.piped:
        state = RunState()
        known = Facts(stream=StreamFacts(text_only=True), recorder=RecorderFacts(tampered=changed))
    return finish(folder, exit, state, known, agent=_agent(info), overwrite=False)


def _agent(info: RunInfo) -> Agent | None:
    try:
        return agents.agent(info.agent) if info.agent else None
    except UnknownAgentError:
        return None


def settle(folder: RunFolder) -> VerdictInfo | None:
    """End the remaining processes of a run whose runner died; return its verdict, if any."""
    info = folder.info()
    if info is not None and info.fleet is not None:
        return folder.verdict()  # nothing of it runs here
    trees.kill_marked(str(folder.path))
    deadline = time.monotonic() + _SETTLE_S
    while (verdict := recovered(folder).verdict()) is None and time.monotonic() < deadline:
        time.sleep(_SETTLE_LOOK_S)  # its recorder is about to end
    return verdict


def is_cared_for(folder: RunFolder) -> bool:
    """True if a run has its verdict, or a running process that will write one.

    That of a run of a fleet may be a later one: only beats say whether it lives.
    """
    info = folder.info()
    working = info is not None and (info.fleet is not None or at_work(info, is_same_process))
    return working or folder.verdict() is not None  # read last: it may have come meanwhile
