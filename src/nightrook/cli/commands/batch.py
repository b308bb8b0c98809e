"""`rook batch`: run many tasks side by side, within one budget."""

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from nightrook.batches.batch import Batch, TaskRun, refuse_unheld_tasks, start_here
from nightrook.batches.queue import FolderQueue, find_queue, new_queue
from nightrook.batches.tasks import BatchTask, read_tasks
from nightrook.cli.detach_run import print_started
from nightrook.cli.end_actions import EndActions
from nightrook.cli.options.defaults import (
    current_config,
    print_project_settings,
    profile,
    resolve_agent,
)
from nightrook.cli.options.parameters import GroupedCommand, argument, takes
from nightrook.cli.reports import report_of_batch
from nightrook.cli.terminal.batch_view import RunningTable
from nightrook.cli.terminal.ending import install_hints
from nightrook.cli.terminal.interrupts import on_interrupts
from nightrook.cli.terminal.output import put, put_json
from nightrook.config.load import lowest_limits
from nightrook.config.options import LIMIT_OPTIONS, BatchOptions, EndOptions, RunOptions
from nightrook.display.batches import ResultLines, RunningTask, spent_line
from nightrook.model.errors import UnknownAgentError
from nightrook.model.ledger import Money
from nightrook.model.safe import safe_line
from nightrook.model.status import BATCH_EXIT_CODES, BatchEnd
from nightrook.model.text import count, suggested
from nightrook.process.background import in_background, write_errors_to
from nightrook.process.systems.this_system import system
from nightrook.runs.detach import stop_at_signals
from nightrook.store.batch_folder import BatchTerms
from nightrook.store.stop_requests import obey_stop_requests

_EXAMPLES = """\b
Examples:
  rook batch tasks.jsonl --jobs 4 --max-cost 20
  rook batch --resume batch-k7f3
  rook batch tasks.jsonl --fleet --jobs 20 --retry-lost 1
  rook batch tasks.jsonl --fleet --repo --files 'build/*.log'
\b
A line of FILE:  {"prompt": "Fix the tests", "cwd": "a", "max_cost": 2}
With "until", "signal", "check" or "max_iterations" the task is a loop.
"""
_SETTINGS = (
    *("agent", "model", "permission", "allow", "max_cost_unchecked", *LIMIT_OPTIONS.values()),
)
"""The settings that hold for tasks which do not say otherwise."""


@click.command("batch", cls=GroupedCommand, epilog=_EXAMPLES)
@takes("batch", BatchOptions, EndOptions)
@profile
@argument("file", required=False, type=click.Path(dir_okay=False, exists=True, allow_dash=True))
def command(options: BatchOptions, end_options: EndOptions, file: str | None) -> None:
    """Run many tasks side by side. FILE has one JSON object per line; - reads standard input.

    A resumed batch keeps its --jobs and --max-cost unless you change them.

    Exit codes: 0 all tasks succeeded, 1 some did not, 5 the budget is used up, 130 interrupted.
    """
    if (file is None) == (options.resume is None):
        raise click.UsageError("name a file of tasks, or use --resume BATCH")
    if options.detach and options.json:
        raise click.UsageError("--detach and --json can't be combined")
    if options.resume is not None and options.worktree:
        raise click.UsageError("--resume and --worktree can't be combined")
    if (options.repo and not options.fleet) or (options.files and not options.repo):
        raise click.UsageError("--repo needs --fleet, and --files needs --repo")
    queue = _resumed(options) if options.resume is not None else _new(file or "", options)
    ends, started = EndActions(end_options, lively=False), time.monotonic()
    ends.warn()

    def work(report: Callable[[str], None] | None = None) -> int:
        """Run the batch; in the background, report its name when it has started."""
        detached = report is not None
        with queue.folder.locked():
            terms = queue.folder.update_terms(_changed_terms(options))
            if report is not None:
                write_errors_to(queue.folder.runner_log())
                report(queue.folder.name)
            end = asyncio.run(_run_placed(queue, terms, options, detached=detached))
        took = time.monotonic() - started
        make_report = partial(report_of_batch, queue, end=end, duration_s=took)
        ends.finish(make_report, detached=detached)
        return BATCH_EXIT_CODES[end]

    if options.detach:
        print_started(in_background(work, str), None, quiet=False)
        return
    raise click.exceptions.Exit(work())


def _changed_terms(options: BatchOptions) -> dict[str, Any]:
    """The terms of the batch that the options name."""
    changes: dict[str, Any] = {"jobs": options.jobs, "max_cost": options.budget}
    if options.budget is not None or options.max_cost_unchecked:
        changes["needs_cost"] = not options.max_cost_unchecked
    return {name: value for name, value in changes.items() if value is not None}


def _check_budget(tasks: Sequence[BatchTask], options: BatchOptions) -> None:
    """Refuse a budget that cannot hold, unless the user accepts that."""
    if options.budget is not None and not options.max_cost_unchecked:
        refuse_unheld_tasks(tasks, options.budget)


def _resumed(options: BatchOptions) -> FolderQueue:
    queue = find_queue(options.resume or "")
    _check_budget(queue.tasks(), options)
    return queue


def _new(file: str, options: BatchOptions) -> FolderQueue:
    """Make a batch from a file of tasks; fields that are not set come from the settings."""
    print_project_settings((*_SETTINGS, *EndOptions.__struct_fields__))
    config = current_config()
    assert config is not None  # --profile has loaded it
    values = {name: found.value for name, found in config.values.items()}
    defaults = {name: values[name] for name in _SETTINGS if values.get(name) is not None}
    # A limit that is too high to be used without trust must not leave a task without a limit.
    limits = {name: limit for name, limit in lowest_limits().items() if name in config.ignored}
    # guards: batch-limit-kept
    defaults = {**{name: limits[name] for name in _SETTINGS if name in limits}, **defaults}
    if defaults.get("permission") == "ask":
        del defaults["permission"]  # meant for a person at a terminal; a task can ask for it
    name = "standard input" if file == "-" else file
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    more = {"worktree": True} if options.worktree else {}
    tasks = [_with_command(task) for task in read_tasks(data, name, {**defaults, **more})]
    _check_budget(tasks, options)
    return new_queue(tasks)


def _with_command(task: BatchTask) -> BatchTask:
    """A task with the command of its agent, if the settings define one."""
    run = task.run
    try:
        known, program, called = resolve_agent(run.agent)
    except UnknownAgentError:
        return task  # its result will report that
    run = replace(run, agent=known, program=run.program or program, called=called)
    return replace(task, run=run)


async def _run_placed(
    queue: FolderQueue, terms: BatchTerms, options: BatchOptions, *, detached: bool
) -> BatchEnd:
    """Run the batch here, or on a fleet."""
    if not options.fleet:
        return await _run(queue, terms, as_json=options.json, detached=detached)
    from nightrook.cli.fleet_batch import on_fleet  # an extra

    async with on_fleet(queue, terms, options) as start_run:
        return await _run(
            queue,
            terms,
            as_json=options.json,
            detached=detached,
            start_run=start_run,
            retry_lost=options.retry_lost or 0,
        )


async def _run(
    queue: FolderQueue,
    terms: BatchTerms,
    *,
    as_json: bool,
    detached: bool,
    start_run: Callable[[RunOptions], TaskRun] = start_here,
    retry_lost: int = 0,
) -> BatchEnd:
    system.become_subreaper()
    before, every = queue.folder.results(), len(queue.tasks())
    if not detached:
        _say_start(queue.folder.name, terms, every=every, left=every - len(before))
    failed = sum(not result.ok for result in before)
    async with Batch(
        queue,
        jobs=terms.jobs,
        max_cost=terms.max_cost,
        needs_cost=terms.needs_cost,
        before=before,
        start_run=start_run,
        retry_lost=retry_lost,
    ) as batch:
        stopped, table = asyncio.Event(), RunningTable(lambda: _running(batch))
        if detached:
            stop_at_signals(lambda signal_name: _stop(batch, stopped, by=signal_name))
        else:
            on_interrupts(lambda number: _stop(batch, stopped, by=number.name), table.echo)
        requests = asyncio.create_task(
            obey_stop_requests(queue.folder, lambda: _stop(batch, stopped, by="rook stop"))
        )
        results = ResultLines(task.id for task in queue.tasks())
        with table:
            async for result in batch:
                failed += not result.ok
                with table.hidden():
                    if as_json:
                        put_json(sys.stdout, msgspec.json.encode(result))
                    else:
                        put(sys.stdout, results.line(result))
        requests.cancel()
    if not detached:
        _say_end(queue, batch, every=every, failed=failed)
    if batch.is_over_budget:
        return "over_budget"
    return "interrupted" if stopped.is_set() else "failed" if failed else "success"


def _stop(batch: Batch, stopped: asyncio.Event, *, by: str) -> None:
    stopped.set()
    batch.stop(by=by)


def _say_start(name: str, terms: BatchTerms, *, every: int, left: int) -> None:
    budget = "" if terms.max_cost is None else f" · at most ${terms.max_cost:g} for all"
    _say(f"{name} · {left} of {count(every, 'task')} to do · {terms.jobs} at once{budget}")


def _say_end(queue: FolderQueue, batch: Batch, *, every: int, failed: int) -> None:
    results = queue.folder.results()
    done = len(results)
    _say(f"{done} of {count(every, 'task')} done · {failed} failed · {spent_line(batch)}")
    agents = {task.id: task.run.called or task.run.agent for task in queue.tasks()}
    unstarted = {agents[each.id]: each.run for each in results if each.status == "not_started"}
    for line in dict.fromkeys(line for run in unstarted.values() for line in install_hints(run)):
        _say(line)
    if done < every:
        more = " --max-cost …" if batch.is_over_budget else ""
        _say(f"resume:  {suggested('batch', '--resume', queue.folder.name)}{more}")


def _running(batch: Batch) -> list[RunningTask]:
    return [
        RunningTask(
            id=each.task.id,
            name=each.name or None,
            since=each.since,
            spent=Money(each.spent_usd, "estimated"),
            prompt=each.task.run.prompt or "",
        )
        for each in batch.current.values()
    ]


def _say(message: str) -> None:
    click.echo(f"[rook] {safe_line(message)}", err=True)
