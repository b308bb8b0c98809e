"""Makes the facts of a verdict from their names alone, as `verdict.json` has them."""

from typing import Any

import msgspec

from nightrook.model.facts import Facts


def flat_facts(**fields: Any) -> Facts:
    """The facts with these fields, whichever struct each of them is in."""
    facts = Facts.read(fields)
    parts = (facts.process, facts.stream, facts.person, facts.recorder)
    names = {name for part in parts for name in part.__struct_fields__}
    assert fields.keys() <= names, fields.keys() - names
    return facts


def changed_facts(facts: Facts, **fields: Any) -> Facts:
    """The same facts with other values of these fields."""
    parts = {name: getattr(facts, name) for name in facts.__struct_fields__}
    replaced = {
        name: msgspec.structs.replace(
            part, **{key: value for key, value in fields.items() if hasattr(part, key)}
        )
        for name, part in parts.items()
    }
    return Facts(**replaced)
