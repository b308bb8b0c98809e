"""The decisions on an agent's requests: `decisions.jsonl`, one line each, in order."""

import os

import msgspec

from nightrook.model.questions import About, Decision
from nightrook.store.file_names import DECISIONS
from nightrook.store.run_folder import RunFolder


class Decided(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One decision, with what it was about and when it was made."""

    at: float
    id: str
    """The question's, as its `permission_requested` names it."""

    tool_id: str | None = None
    """The call that it was about."""

    about: About = "tool"
    name: str | None = None
    title: str | None = None
    decision: Decision
    rule: str | None = None
    """Rule that was allowed for the rest of the run; None if it was only this call."""

    waited_s: float


_decoder = msgspec.json.Decoder(Decided)


def keep(folder: RunFolder, decided: Decided) -> None:
    """Add a decision."""
    with folder.opened() as files:
        file = files.append(DECISIONS)
    try:
        os.write(file, msgspec.json.encode(decided) + b"\n")
    finally:
        os.close(file)


def read(folder: RunFolder) -> dict[str, Decided]:
    """Return all decisions, by the ids of their questions; damaged lines are left out."""
    with folder.opened() as files:
        data = files.read(DECISIONS) or b""
    found: dict[str, Decided] = {}
    for line in data.split(b"\n"):
        try:
            decided = _decoder.decode(line)
        except msgspec.DecodeError:
            continue
        found[decided.id] = decided
    return found


def denied_by_person(folder: RunFolder) -> frozenset[str]:
    """The ids of the calls to which a person said no."""
    return frozenset(  # guards: denied-by-rook
        made.tool_id
        for made in read(folder).values()
        if made.tool_id is not None and made.decision.by == "person" and not made.decision.allow
    )


def denied(folder: RunFolder) -> frozenset[str]:
    """The ids of the calls whose last request was refused."""
    last = {made.tool_id: made for made in read(folder).values() if made.about == "tool"}
    return frozenset(id for id, made in last.items() if id is not None and not made.decision.allow)
