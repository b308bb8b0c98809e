"""The package as its users import it."""

import subprocess
import sys

import pytest

import nightrook


def test_every_public_name_is_there_and_documented() -> None:
    for name in nightrook.__all__:
        value = getattr(nightrook, name)
        assert name == "__version__" or name == "Event" or value.__doc__


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = nightrook.nonsense


def test_dir_lists_the_public_names() -> None:
    assert set(nightrook.__all__) <= set(dir(nightrook))


def test_importing_nightrook_pulls_in_nothing_heavy() -> None:
    code = "import sys, nightrook; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"rich", "click", "genai_prices", "asyncio", "msgspec"} & set(out.stdout.split())


def test_decoding_a_file_imports_neither_click_nor_an_event_loop(session: object) -> None:
    code = f"import sys, nightrook; list(nightrook.decode({str(session)!r})); print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"rich", "click", "genai_prices", "asyncio"} & set(out.stdout.split())


def test_a_wrong_agent_name_names_those_there_are() -> None:
    with pytest.raises(nightrook.UnknownAgentError, match="'cluade'; known agents: claude"):
        nightrook.decoder("cluade")


def test_it_can_be_called_as_a_module() -> None:
    command = [sys.executable, "-m", "nightrook", "--version"]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    assert out.stdout == f"rook {nightrook.__version__}\n"
