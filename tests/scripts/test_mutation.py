"""What a marker stands for, and what becomes of it."""

from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def mutation(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("mutation")


def _without(mutation: ModuleType, text: str, **change: object) -> str:
    lines = [line for name, line in mutation.markers(text) if name == "it"]
    without: str = mutation.without(text, lines, mutation.Change(**change))
    return without


@pytest.mark.parametrize(
    ("text", "change", "expected"),
    [
        ("a()\nb()  # guards: it\nc()\n", {}, "a()\npass\nc()\n"),
        ("# guards: it\n# why\na()\n", {}, "# guards: it\n# why\npass\n"),
        ("if a:  # guards: other, it\n    b()\n", {}, "if False:\n    b()\n"),
        ("if a:\n    b()\nelif c:  # guards: it\n    d()\n", {"becomes": "x"}, "elif x:"),
        ("with a:  # guards: it\n    b()\n", {}, "b()\n"),
        ("try:\n    a()\nexcept B:  # guards: it\n    c()\n", {}, "a()\n"),
        ("f(\n    a,\n    b=1,  # guards: it\n)\n", {}, "f(a)\n"),
        ("x = {\n    1: 2,\n    3: 4,  # guards: it\n}\n", {}, "x = {1: 2}\n"),
        ("x = {\n    1: 2,\n    3: 4,  # guards: it\n}\n", {"becomes": "0"}, "x = {1: 2, 3: 0}\n"),
        ("x = [\n    1,  # guards: it\n    2,  # guards: it\n]\n", {}, "x = []\n"),
        ("x = a | b | c  # guards: it\n", {"drop": "b"}, "x = a | c\n"),
        ("x = a and b.c and d  # guards: it\n", {"drop": "c"}, "x = a and d\n"),
        ("x = f(a, b=c)  # guards: it\n", {"drop": "b"}, "x = f(a)\n"),
        ("x = [a for a in b if c]  # guards: it\n", {"drop": "c"}, "x = [a for a in b]\n"),
        ("x = a if b else c  # guards: it\n", {"drop": "c"}, "x = a\n"),
        ("x = a[-b:]  # guards: it\n", {"drop": "b"}, "x = a\n"),
        ("x = 'ab cd'  # guards: it\n", {"drop": "b c"}, "x = 'ad'\n"),
        ("x = f'{safe(a)}'  # guards: it\n", {"unwrap": "safe"}, "x = f'{a}'\n"),
        ("x = a  # guards: it\n", {"becomes": "b"}, "x = b\n"),
        ("for a in b:  # guards: it\n    c()\n", {"becomes": "()"}, "for a in ():"),
        ("x = a.match(0o600)  # guards: it\n", {"swap": ("match", "find")}, "x = a.find(384)\n"),
        ("x = a.match(0o600)  # guards: it\n", {"swap": ("0o600", "0")}, "x = a.match(0)\n"),
    ],
)
def test_what_is_marked_is_removed(
    mutation: ModuleType, text: str, change: dict[str, object], expected: str
) -> None:
    assert expected in _without(mutation, text, **change)


def test_the_rest_of_a_file_stays_as_it_is(mutation: ModuleType) -> None:
    text = "x = (1)  # one\n\n\ndef f():\n    # first\n    a()  # guards: it\n    b( )\n"
    assert _without(mutation, text) == text.replace("a()  # guards: it", "pass")


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("a()\n\n# guards: it\n", {}),
        ("x = a + b  # guards: it\n", {"drop": "c"}),
        ("x = a + b  # guards: it\n", {"unwrap": "a"}),
        ("x = [a, a]  # guards: it\n", {"drop": "a"}),
        ("x = 1  # guards: it\n", {"becomes": "1"}),
    ],
)
def test_what_cannot_be_removed_is_refused(
    mutation: ModuleType, text: str, change: dict[str, object]
) -> None:
    with pytest.raises(mutation.MutationError):
        _without(mutation, text, **change)


def test_a_line_of_javascript_is_left_out_or_loses_a_text(mutation: ModuleType) -> None:
    text = "a();\nif (b && c) { // guards: it\n}\n"
    ((_, line),) = mutation.markers(text)
    assert mutation.without(text, [line], mutation.Change(), is_python=False) == "a();\n}\n"
    changed = mutation.without(text, [line], mutation.Change(drop=" && c"), is_python=False)
    assert changed == text.replace(" && c", "")
