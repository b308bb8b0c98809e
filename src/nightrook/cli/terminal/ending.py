"""Prints how a run ended: its answer or its summary to stdout, the rest to stderr."""

import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

import click
import msgspec

from nightrook.cli.terminal.output import guarded, put, put_json
from nightrook.config.options import ViewOptions
from nightrook.display.about_run import about_run, known_agent
from nightrook.display.console import Look, Paint, columns, look_of
from nightrook.display.ending import Shown, how_to_install, losses, summary
from nightrook.display.event_lines import ShownTexts
from nightrook.display.markdown_to_terminal import markdown_to_terminal
from nightrook.model.answer import final_text
from nightrook.model.ending import Ending
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe, safe_line
from nightrook.model.state import RunState
from nightrook.model.status import Outcome
from nightrook.model.text import from_home
from nightrook.runs.run_result import summarise
from nightrook.store.file_names import OUTPUT
from nightrook.store.home import home_folder
from nightrook.story.story import Story

_WIDEST_ANSWER = 100


def print_result(
    out: TextIO, view_options: ViewOptions, story: Story, texts: ShownTexts | None = None
) -> None:
    """Write what was asked for: one JSON object, or the answer unless `texts` include it."""
    if view_options.json:
        put_json(out, msgspec.json.encode(_as_json(story)))
    elif story.agent is None or view_options.format != "text":
        return
    elif view_options.quiet and (answer := final_text(story.state)):
        put_answer(out, answer)
    elif view_options.lively:
        print_answer(out, view_options, story.state, texts)


def _as_json(story: Story) -> dict[str, Any]:
    ending, state, agent, folder = _ending(story), story.state, story.agent, story.folder
    about, info = about_run(story, ending), folder.info() if folder else None
    summary = summarise(state, file=str(folder.path) if folder else "-", agent=agent)
    ok = ending.ok if agent is None else summary.ok
    return {
        **msgspec.structs.asdict(summary),
        "ok": ok,
        "status": ending.status,
        "run": about.run,
        "cwd": info.cwd if info else state.cwd,
        "files": list(state.files),
        "session": state.session,
        "steps": state.steps,
        "exit_code": ending.exit_code,
        "sentence": ending.sentence,
        "duration_s": ending.duration_s,
        "resets_in_s": about.resets_in_s,
    }


def _ending(story: Story) -> Ending[Outcome]:
    assert story.ending is not None, "a run is judged before its end is shown"
    return story.ending


def print_answer(
    out: TextIO, view_options: ViewOptions, state: RunState, texts: ShownTexts | None
) -> None:
    """Write the answer of a run that has a result, after an empty line, unless it was shown."""
    answer = (final_text(state) or "").strip("\n") if state.results else ""
    is_wanted = view_options.text and not view_options.no_answer
    if not is_wanted or not answer.strip() or (texts and texts.include(answer, state.texts)):
        return
    look = look_of(out, os.environ)
    put(out, f"\n{_laid_out(out, look, answer)}\n" if look.terminal else f"\n{safe(answer)}")


def put_answer(out: TextIO, answer: str) -> None:
    """Write an answer and nothing else."""
    look = look_of(out, os.environ)
    put(out, _laid_out(out, look, answer) if look.terminal else safe(answer))


def _laid_out(out: TextIO, look: Look, answer: str) -> str:
    # guards: answer-redacted
    answer = guarded(out).redacted(answer)  # before a line break can split a secret
    return markdown_to_terminal(answer, width=min(columns(out), _WIDEST_ANSWER), colour=look.colour)


def print_end(view_options: ViewOptions, story: Story) -> None:
    """Print how it ended and what to do next; of a quiet success, only what was lost."""
    ending, state = _ending(story), story.state
    messages = guarded(sys.stderr)
    if view_options.quiet and ending.exit_code == 0:
        messages.drop()
        for loss in losses(ending):  # guards: losses-reported
            _say(f"WARNING: {loss}")
        return
    messages.release()  # guards: held-back-shown
    if view_options.verbose:
        errors = state.unknown.total() + state.unreadable
        _say(f"stream stats: {state.records} events, {errors} errors")
    for line in summary(
        ending, about_run(story, ending), state, look_of(sys.stderr, os.environ).paint()
    ):
        put(sys.stderr, line)


def say_end(story: Story, *, shown: Shown = "nothing") -> None:
    """Print how the run ended to stderr."""
    paint = look_of(sys.stderr, os.environ).paint()
    for line in ending_lines(story, paint, shown=shown):
        click.echo(line, err=True)


def ending_lines(
    story: Story, paint: Paint, *, shown: Shown, home: str | None = None
) -> Iterator[str]:
    """The last lines about a run: its end, the next step, and the file of its answer.

    `shown` is how much of the run is above these lines.
    """
    ending, folder = story.ending, story.folder
    prefix = paint("prefix", "[rook]")
    if ending is None:
        yield f"{prefix} run {story.name} is running"
        return
    about = msgspec.structs.replace(about_run(story, ending), shown=shown)
    yield from summary(ending, about, story.state, paint)
    if folder is not None and folder.has_output:
        yield f"{prefix} answer: {from_home(str(folder.path / OUTPUT), home)}"


def install_hints(run: str | None) -> Iterator[str]:
    """Yield the lines that help to install the agent of a run that could not start without it."""
    from nightrook.store.list import find_run  # only for a run of a loop or batch

    try:
        folder = find_run(home_folder(), run) if run else None
        info, exit = (folder.info(), folder.exit()) if folder else (None, None)
    except NightrookError:  # it was removed
        return
    if info and exit and exit.missing_program is not None:
        known = known_agent(info.agent)
        yield from how_to_install(info.called, known.install_for(info.via) if known else None)


def _say(words: str) -> None:
    put(sys.stderr, f"[rook] {safe_line(words)}")
