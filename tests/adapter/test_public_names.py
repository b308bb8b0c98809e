"""The public names of `nightrook.adapter` and `nightrook.events` can be imported, and cheaply."""

import subprocess
import sys

import pytest

import nightrook.events
from nightrook import adapter
from nightrook.model import events


@pytest.mark.parametrize("name", adapter.__all__)
def test_every_listed_name_can_be_imported(name: str) -> None:
    assert getattr(adapter, name) is not None


def test_every_lazy_name_is_listed() -> None:
    assert sorted(adapter._HOMES) == sorted(adapter.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(
        AttributeError, match=r"module 'nightrook.adapter' has no attribute 'Nothing'"
    ):
        getattr(adapter, "Nothing")  # noqa: B009 - mypy knows that it is missing


def test_importing_the_package_imports_only_itself_and_the_version() -> None:
    code = "import sys, nightrook.adapter; print(*(m for m in sys.modules if 'nightrook.' in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["nightrook.version", "nightrook.adapter"]


def test_every_event_is_public() -> None:
    own = {
        name
        for name, value in vars(events).items()
        if getattr(value, "__module__", "") == events.__name__
    }
    assert {name for name in own if not name.startswith("_")} <= set(nightrook.events.__all__)
    assert "Event" in nightrook.events.__all__
