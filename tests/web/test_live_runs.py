"""Who is followed while pages come and go."""

import asyncio
from pathlib import Path

import pytest

from nightrook.web.app_state import AppState
from nightrook.web.live import live_runs


def test_a_page_that_comes_just_before_the_last_look_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_runs, "_LINGER_S", 0.0)
    monkeypatch.setattr(live_runs, "_TICK_S", 0.01)
    monkeypatch.setattr(live_runs, "_PAUSE_S", 0.3)

    async def reload() -> bool:
        state = AppState(tmp_path / "home")
        async with state.live_runs.viewer():
            pass
        await asyncio.sleep(0.15)  # it is about to end, since no page is open
        async with state.live_runs.viewer():
            await asyncio.sleep(0.6)
            is_followed = state.live_runs.is_active
        await state.close()
        return is_followed

    assert asyncio.run(reload())
