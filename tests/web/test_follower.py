"""Who is followed while pages come and go."""

import asyncio
from pathlib import Path

import pytest

from nightrook.web.live import follower
from nightrook.web.site import Site


def test_a_page_that_comes_just_before_the_last_look_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "_LINGER_S", 0.0)
    monkeypatch.setattr(follower, "_TICK_S", 0.01)
    monkeypatch.setattr(follower, "_PAUSE_S", 0.3)

    async def reload() -> bool:
        site = Site(tmp_path / "home")
        async with site.follower.viewer():
            pass
        await asyncio.sleep(0.15)  # it is about to end, since no page is open
        async with site.follower.viewer():
            await asyncio.sleep(0.6)
            is_followed = site.follower.is_active
        await site.close()
        return is_followed

    assert asyncio.run(reload())
