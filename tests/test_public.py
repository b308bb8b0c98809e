"""The package as its users import it."""

import subprocess
import sys

import pytest

import rookery


def test_every_public_name_is_there_and_documented() -> None:
    for name in rookery.__all__:
        value = getattr(rookery, name)
        assert name == "__version__" or name == "Event" or value.__doc__


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = rookery.nonsense


def test_dir_lists_the_public_names() -> None:
    assert set(rookery.__all__) <= set(dir(rookery))


def test_importing_rookery_pulls_in_nothing_heavy() -> None:
    code = "import sys, rookery; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"rich", "click", "genai_prices", "asyncio", "msgspec"} & set(out.stdout.split())


def test_decoding_a_file_imports_neither_click_nor_an_event_loop(session: object) -> None:
    code = f"import sys, rookery; list(rookery.decode({str(session)!r})); print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"rich", "click", "genai_prices", "asyncio"} & set(out.stdout.split())


def test_a_wrong_agent_name_names_those_there_are() -> None:
    with pytest.raises(rookery.UnknownAgentError, match="'cluade'; known agents: claude"):
        rookery.decoder("cluade")


def test_it_can_be_called_as_a_module() -> None:
    command = [sys.executable, "-m", "rookery", "--version"]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    assert out.stdout == f"rook {rookery.__version__}\n"
