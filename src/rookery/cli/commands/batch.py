"""`rook batch`: many tasks side by side, one budget, a result line each."""

import asyncio
import shutil
import signal
import sys
import time
from pathlib import Path

import click
import msgspec

from rookery.batches import batch_store
from rookery.batches.batch import Batch
from rookery.batches.batch_store import BatchFolder, Terms
from rookery.batches.tasks import BatchResult, BatchTask, read_tasks
from rookery.cli.live.output import put
from rookery.cli.options.defaults import chosen_agent, current_config, tell_what_a_project_allows
from rookery.cli.options.types import Count, Dollars
from rookery.display.loop_words import money, span
from rookery.model.errors import UnknownAgentError
from rookery.model.safe import safe_line
from rookery.model.text import one_line

_EXAMPLES = """\b
Examples:
  rook batch tasks.jsonl --jobs 4 --max-cost 20
  rook batch --resume batch-k7f3
\b
A line of the file:  {"prompt": "Fix the tests", "cwd": "a", "max_cost": 2}
With "until", "signal", "check" or "max_iterations" it is a loop.
"""
_SETTINGS = ("agent", "model", "permission", "allow", "max_cost", "timeout")
_LONGEST = 60
_FRAME_S = 0.5
_FAILED, _OVER_BUDGET, _INTERRUPTED = 1, 5, 130


@click.command("batch", epilog=_EXAMPLES)
@click.option("--jobs", type=Count(), help="How many at once; 2 unless told.")
@click.option("--max-cost", "budget", type=Dollars(), metavar="USD", help="For all together.")
@click.option(
    "--resume", metavar="BATCH", help="Do what has no result yet, on the same terms unless told."
)
@click.option("--json", "as_json", is_flag=True, help="Each result as a JSON line.")
@click.argument(
    "file", required=False, type=click.Path(dir_okay=False, exists=True, allow_dash=True)
)
def command(
    jobs: int | None, budget: float | None, resume: str | None, as_json: bool, file: str | None
) -> None:
    """Do many tasks side by side; the file has one as a JSON object a line, - is standard input.

    The exit code is 0 if all succeeded, 1 if one did not, 5 if the budget ended it, 130 after
    Ctrl-C.
    """
    if (file is None) == (resume is None):
        raise click.UsageError("give a file of tasks, or --resume BATCH")
    folder = batch_store.find(resume) if resume is not None else _new(file or "")
    told = {"jobs": jobs, "max_cost": budget}
    with folder.locked():
        terms = folder.agree({name: value for name, value in told.items() if value is not None})
        code = asyncio.run(_do(folder, terms, as_json=as_json))
    raise click.exceptions.Exit(code)


def _new(file: str) -> BatchFolder:
    """Make a batch of the tasks of a file; what they leave open is as the settings say."""
    tell_what_a_project_allows()
    config = current_config()
    values = {name: found.value for name, found in (config.values if config else {}).items()}
    usual = {name: values[name] for name in _SETTINGS if values.get(name) is not None}
    if usual.get("permission") == "ask":
        del usual["permission"]  # nobody is there to be asked
    name = "standard input" if file == "-" else file
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    return batch_store.create([_called(task) for task in read_tasks(data, name, usual)])


def _called(task: BatchTask) -> BatchTask:
    """A task with the command that its agent's name stands for."""
    try:
        known, program, called = chosen_agent(task.agent)
    except UnknownAgentError:
        return task  # its result will say so
    return msgspec.structs.replace(
        task, agent=known, program=task.program or program, called=called
    )


async def _do(folder: BatchFolder, terms: Terms, *, as_json: bool) -> int:
    before = folder.results()
    every = len(folder.tasks())
    most = "" if terms.max_cost is None else f" · at most ${terms.max_cost:g} for all"
    left = every - len(before)
    _say(f"{folder.name} · {left} of {every} tasks to do · {terms.jobs} at once{most}")
    failed = sum(not result.ok for result in before)
    stopped = False
    async with Batch(folder, jobs=terms.jobs, max_cost=terms.max_cost, before=before) as batch:

        def stop() -> None:
            nonlocal stopped
            stopped = True
            batch.stop()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop)
        table = _LiveTable(batch)
        drawing = asyncio.create_task(table.draw())
        async for result in batch:
            table.clear()
            failed += not result.ok
            put(sys.stdout, msgspec.json.encode(result).decode() if as_json else _line(result))
        drawing.cancel()
        table.clear()
    done = len(folder.results())
    _say(f"{done} of {every} tasks done · {failed} failed · {_spent(batch)}")
    if done < every:
        more = " --max-cost …" if batch.is_over_budget else ""
        _say(f"go on with:  rook batch --resume {folder.name}{more}")
    if batch.is_over_budget:
        return _OVER_BUDGET
    return _INTERRUPTED if stopped else _FAILED if failed else 0


def _spent(batch: Batch) -> str:
    unknown = batch.unknown_costs
    rest = f" and what {unknown} did not tell" if unknown else ""
    if unknown and not batch.spent_usd:
        return f"spent {money(None, 'unknown')}"
    return f"spent {money(batch.spent_usd, batch.cost_source)}{rest}"


def _line(result: BatchResult) -> str:
    where = result.loop or result.run
    parts = [
        f"{safe_line(result.id)}: {result.status.replace('_', ' ')}",
        span(result.duration_s),
    ]
    if result.status != "not_started":
        parts.append(money(result.spent_usd, result.cost_source))
    if not result.ok:
        parts.append(safe_line(one_line(result.sentence, _LONGEST)))
    if where:
        parts.append(f"rook show {where}")
    return " · ".join(parts)


class _LiveTable:
    """What is being done now, a line each, on a terminal; gone when something else is said."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._lines = 0

    async def draw(self) -> None:
        """Keep the lines true until cancelled."""
        while sys.stderr.isatty():
            self.clear()
            rows = [
                f"  {safe_line(each.task.id)}  {each.doing or '…'}  "
                f"{span(time.time() - each.since)}  ~${each.spent():.4f}  "
                f"{safe_line(one_line(each.task.prompt, _LONGEST))}"
                for each in self._batch.working.values()
            ]
            click.echo("".join(f"{row[: _width()]}\n" for row in rows), err=True, nl=False)
            self._lines = len(rows)
            await asyncio.sleep(_FRAME_S)

    def clear(self) -> None:
        """Take the lines away."""
        if self._lines:
            click.echo(f"\x1b[{self._lines}A\x1b[J", err=True, nl=False)
            self._lines = 0


def _width() -> int:
    return shutil.get_terminal_size().columns - 1


def _say(words: str) -> None:
    click.echo(f"[rook] {words}", err=True)
