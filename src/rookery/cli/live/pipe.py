"""`agent … | rook`: shows what is piped to it, keeps it, and passes it on."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from rookery import agents
from rookery.cli.live.ending import EndedRun, print_end, print_result
from rookery.cli.live.stream_view import View
from rookery.config.options import PipeOptions, ViewOptions
from rookery.model.verdict import Verdict
from rookery.runs.home import home_folder
from rookery.runs.pipe import Piped


def pipe(options: PipeOptions, view_options: ViewOptions) -> int:
    """Read standard input to its end; return the exit code that says how the agent ended."""
    agent, tee = options.agent, options.tee
    if agent is not None:
        agents.agent(agent)
    if tee and sys.stdout.isatty():  # an agent's bytes are nothing for a terminal
        _say("WARNING: --tee passes nothing on to a terminal:  … | rook --tee > FILE")
        tee = False
    out = sys.stderr if tee else sys.stdout  # what is passed on has stdout for itself
    home = None if options.no_record else home_folder()
    with (
        Piped(sys.stdin.fileno(), home=home, agent=agent, tee=1 if tee else None) as piped,
        View(out, view_options, piped, began=time.time()) as view,
        _obeying(piped, view),
    ):
        verdict = _show(piped, view)
    ended = EndedRun(verdict, piped.state, piped.agent, piped.folder)
    print_result(out, view_options, ended)
    print_end(view_options, ended)
    if verdict.status == "not_started":
        _tell_how(piped)
    return verdict.exit_code


def _show(piped: Piped, view: View) -> Verdict:
    trouble: str | None = None
    waiting = False
    for told in piped.news():
        if piped.is_draining and not waiting:
            waiting = True
            view.say("waiting for the agent to end; Ctrl-C again leaves it")
        view.show(told)
        if piped.trouble != trouble:
            trouble = piped.trouble
            view.say(f"WARNING: {trouble}")
    verdict = piped.end()
    if piped.trouble != trouble:
        view.say(f"WARNING: {piped.trouble}")
    return verdict


@contextmanager
def _obeying(piped: Piped, view: View) -> Iterator[None]:
    """Read on after the first Ctrl-C, for the agent has heard it, too; the second one stops."""

    def stop(_number: int, _frame: object) -> None:
        view.muted = True
        piped.stop()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a stalled screen can be left by a third

    def drain(_number: int, _frame: object) -> None:
        piped.drain()
        signal.signal(signal.SIGINT, stop)

    wanted: dict[signal.Signals, Callable[[int, object], None] | signal.Handlers] = {
        signal.SIGINT: drain,
        signal.SIGTERM: stop,
        signal.SIGHUP: signal.SIG_IGN,  # what comes is kept, terminal or not
    }
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background
        del wanted[signal.SIGINT]
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell_how(piped: Piped) -> None:
    if piped.folder is not None:
        _say(f"what it wrote is kept: rook show {piped.folder.name}")
    first = agents.agent(agents.NAMES[0])
    command = " ".join((first.programs[0], "-p", '"…"', *first.output_flags))
    _say(f"pipe an agent's messages to rook:  {command} | rook   ·   or see rook --help")


def _say(words: str) -> None:
    click.echo(f"[rook] {words}", err=True)
