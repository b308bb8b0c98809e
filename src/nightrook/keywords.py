"""The keywords of `nightrook.run`, `run_sync` and `loop`.

Generated from the table of options, `nightrook.config.options`, by `make docs`; do not edit.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TypedDict

from nightrook.config.options import FeedMode, OnStuck
from nightrook.model.permissions import Permission

Duration = float | str | timedelta
"""A length of time: seconds, a `timedelta`, or a text such as "90s", "5m" or "2h"."""

StrPath = str | os.PathLike[str]


class RunKeywords(TypedDict, total=False):
    """The options of `nightrook.run` and `run_sync`.

    Args:
        via: How to run the agent, if there are several ways. `rook agents` lists them.
        model: The model to use.
        permission: What the agent may do: ask you first, edit files, all, only plan, or
            what its own settings allow (agent).
        allow: Allow a tool call, by one of the agent's rules.
        max_cost: Stop the run when it has cost more than this.
        max_cost_unchecked: Run even if `max_cost` cannot stop the run, because its cost is
            not known in time.
        max_tokens: Stop the run when it has used more than N tokens.
        max_turns: Stop the run after N turns of the model.
        timeout: Stop the run after this long.
        idle_timeout: Treat the run as stuck after this long without output, and stop it.
        ask_timeout: Deny a tool call that you don't answer within this time.
        allow_denials: Count the run as a success even if tool calls were denied.
        max_log_size: Record at most this much of the agent's output; the agent continues.
        stream: Show messages as they arrive, or only the agent's plain text.
        resume: Continue the session of an earlier run with the same agent: the name of the
            run, last (the newest in this folder), or the agent's own id of the session.
        cwd: The folder to work in.
        worktree: Work in a separate git worktree, on a new branch.
        stdin: Text to add to the prompt, as the agent itself adds what is piped to it.
        args: Further arguments for the agent, passed on as they are.
        env: Variables to add to our own environment.
        partial: Whether to ask for messages in pieces; None means only if a budget needs
            it.
        program: What to call instead of the agent found on PATH.
        called: The name that the user gave that program.
        home: The folder that holds all runs; None means the user's.
        loop: The loop or batch that asks for the run, and which of its runs it is.
    """

    via: str | None
    """How to run the agent, if there are several ways. `rook agents` lists them."""

    model: str | None
    """The model to use."""

    permission: Permission
    """What the agent may do: ask you first, edit files, all, only plan, or what its own
    settings allow (agent)."""

    allow: Sequence[str]
    """Allow a tool call, by one of the agent's rules."""

    max_cost: float | None
    """Stop the run when it has cost more than this."""

    max_cost_unchecked: bool
    """Run even if `max_cost` cannot stop the run, because its cost is not known in time."""

    max_tokens: int | None
    """Stop the run when it has used more than N tokens."""

    max_turns: int | None
    """Stop the run after N turns of the model."""

    timeout: Duration | None
    """Stop the run after this long."""

    idle_timeout: Duration | None
    """Treat the run as stuck after this long without output, and stop it."""

    ask_timeout: Duration | None
    """Deny a tool call that you don't answer within this time."""

    allow_denials: bool
    """Count the run as a success even if tool calls were denied."""

    max_log_size: int | str | None
    """Record at most this much of the agent's output; the agent continues."""

    stream: bool
    """Show messages as they arrive, or only the agent's plain text."""

    resume: str | None
    """Continue the session of an earlier run with the same agent: the name of the run, last
    (the newest in this folder), or the agent's own id of the session."""

    cwd: StrPath
    """The folder to work in."""

    worktree: bool
    """Work in a separate git worktree, on a new branch."""

    stdin: str | None
    """Text to add to the prompt, as the agent itself adds what is piped to it."""

    args: Sequence[str]
    """Further arguments for the agent, passed on as they are."""

    env: Mapping[str, str] | None
    """Variables to add to our own environment."""

    partial: bool | None
    """Whether to ask for messages in pieces; None means only if a budget needs it."""

    program: StrPath | Sequence[str] | None
    """What to call instead of the agent found on PATH."""

    called: str | None
    """The name that the user gave that program."""

    home: StrPath | None
    """The folder that holds all runs; None means the user's."""

    loop: tuple[str, int] | None
    """The loop or batch that asks for the run, and which of its runs it is."""


class LoopKeywords(TypedDict, total=False):
    """The options of `nightrook.loop`; limits are those of all its runs together.

    Args:
        via: How to run the agent, if there are several ways. `rook agents` lists them.
        model: The model to use.
        permission: What the agent may do: ask you first (in rook attach, rook answer or
            rook web), edit files, all, only plan, or what its own settings allow (agent).
        allow: Allow a tool call, by one of the agent's rules.
        max_cost: Stop the loop when it has cost more than this.
        max_cost_unchecked: Run even if `max_cost` cannot stop the loop, because its cost is
            not known in time.
        max_tokens: Stop the loop when it has used more than N tokens.
        max_turns: Stop the loop after N turns of the model.
        timeout: Stop one iteration after this long.
        idle_timeout: Treat the run as stuck after this long without output.
        cwd: The folder to work in.
        worktree: Work in a separate git worktree, on a new branch.
        until: The loop is done when this is the agent's whole answer.
        signals: The loop is done when the agent prints this line.
        ask_done: The loop is done when the agent answers with a one-time completion word,
            which each prompt asks for. This is the default without `until`, `signal` and
            `check`.
        checks: A shell command that must pass before the loop is done.
        check_timeout: Stop a check after this long.
        check_first: Run the checks before the first iteration, and start none if the work
            is done.
        feed: Where a failed check's output goes in the next prompt.
        feed_bytes: Pass on at most N bytes of a check's output.
        max_iterations: Stop after N iterations (waits don't count).
        max_time: Stop the loop after this long.
        on_stuck: What to do when the run is stuck.
        on_limit: What to do when the provider's limit is reached.
        max_quota: Start no iteration when this share of a quota is used.
        continue_session: Continue the session instead of starting a new one each time.
        commit: Commit what each iteration changed.
        prompt_file: Read the prompt from FILE before every iteration.
        stdin: Text to add to the prompt, as the agent itself adds what is piped to it.
        args: Further arguments for the agent, passed on as they are.
        env: Variables to add to our own environment.
        program: What to call instead of the agent found on PATH.
        called: The name that the user gave that program.
        home: The folder that holds all runs; None means the user's.
    """

    via: str | None
    """How to run the agent, if there are several ways. `rook agents` lists them."""

    model: str | None
    """The model to use."""

    permission: Permission
    """What the agent may do: ask you first (in rook attach, rook answer or rook web), edit
    files, all, only plan, or what its own settings allow (agent)."""

    allow: Sequence[str]
    """Allow a tool call, by one of the agent's rules."""

    max_cost: float | None
    """Stop the loop when it has cost more than this."""

    max_cost_unchecked: bool
    """Run even if `max_cost` cannot stop the loop, because its cost is not known in time."""

    max_tokens: int
    """Stop the loop when it has used more than N tokens."""

    max_turns: int
    """Stop the loop after N turns of the model."""

    timeout: Duration | None
    """Stop one iteration after this long."""

    idle_timeout: Duration
    """Treat the run as stuck after this long without output."""

    cwd: StrPath
    """The folder to work in."""

    worktree: bool
    """Work in a separate git worktree, on a new branch."""

    until: str | None
    """The loop is done when this is the agent's whole answer."""

    signals: Sequence[str]
    """The loop is done when the agent prints this line."""

    ask_done: bool
    """The loop is done when the agent answers with a one-time completion word, which each
    prompt asks for. This is the default without `until`, `signal` and `check`."""

    checks: Sequence[str]
    """A shell command that must pass before the loop is done."""

    check_timeout: Duration
    """Stop a check after this long."""

    check_first: bool
    """Run the checks before the first iteration, and start none if the work is done."""

    feed: FeedMode
    """Where a failed check's output goes in the next prompt."""

    feed_bytes: int
    """Pass on at most N bytes of a check's output."""

    max_iterations: int
    """Stop after N iterations (waits don't count)."""

    max_time: Duration
    """Stop the loop after this long."""

    on_stuck: OnStuck
    """What to do when the run is stuck."""

    on_limit: str
    """What to do when the provider's limit is reached."""

    max_quota: float | str | None
    """Start no iteration when this share of a quota is used."""

    continue_session: bool
    """Continue the session instead of starting a new one each time."""

    commit: bool
    """Commit what each iteration changed."""

    prompt_file: StrPath | None
    """Read the prompt from FILE before every iteration."""

    stdin: str | None
    """Text to add to the prompt, as the agent itself adds what is piped to it."""

    args: Sequence[str]
    """Further arguments for the agent, passed on as they are."""

    env: Mapping[str, str] | None
    """Variables to add to our own environment."""

    program: StrPath | Sequence[str] | None
    """What to call instead of the agent found on PATH."""

    called: str | None
    """The name that the user gave that program."""

    home: StrPath | None
    """The folder that holds all runs; None means the user's."""
