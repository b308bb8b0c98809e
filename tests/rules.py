"""A rule that holds for many cases is one test; it names every case that breaks the rule."""

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

_Test = Callable[..., None]
_BROKEN = (Exception, pytest.fail.Exception)


def each(
    names: str | Sequence[str],
    cases: Iterable[Any],
    ids: Callable[[Any], str] | Sequence[str] | None = None,
) -> Callable[[_Test], _Test]:
    """Check a rule for each case, as `parametrize` does, but as one test.

    `CASE=word pytest ...` checks only the cases that have the word in their names.
    """
    parameters = [names] if isinstance(names, str) else list(names)
    listed = [(case,) if isinstance(names, str) else tuple(case) for case in cases]
    assert listed, "a rule without a case holds nothing"
    named = list(zip(_ids(listed, ids), listed, strict=True))

    def rule(test: _Test) -> _Test:
        @functools.wraps(test)
        def check(**fixtures: Any) -> None:
            broken: dict[str, BaseException] = {}
            for id, case in named:
                if os.environ.get("CASE", "") not in id:
                    continue
                try:
                    test(**dict(zip(parameters, case, strict=True)), **fixtures)
                except _BROKEN as error:
                    broken[f"{id} #{len(broken)}" if id in broken else id] = error
            if broken:
                raise AssertionError(_report(broken, len(named))) from next(iter(broken.values()))

        signature = inspect.signature(test)
        others = [p for name, p in signature.parameters.items() if name not in parameters]
        check.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return check

    return rule


def _ids(
    cases: Sequence[tuple[Any, ...]], ids: Callable[[Any], str] | Sequence[str] | None
) -> list[str]:
    if ids is None:
        return [", ".join(map(repr, case))[:100] for case in cases]
    if callable(ids):
        return ["-".join(map(ids, case)) for case in cases]
    return list(ids)


def _report(broken: dict[str, BaseException], cases: int) -> str:
    lines = [f"{len(broken)} of {cases} cases break this rule; above is the first of them:"]
    for name, error in broken.items():
        said = re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")
        lines.append(f"  {name}: {said[:200]}")
    return "\n".join(lines)
