"""The lines of a run wait while somebody is being asked."""

import asyncio
import io

from rookery.cli.watching import Lines


def test_lines_wait_while_they_are_paused() -> None:
    async def whole() -> list[str]:
        lines, out = Lines(), io.StringIO()
        await lines.write(out, "one")
        lines.pause()
        writing = asyncio.ensure_future(lines.write(out, "two"))
        await asyncio.sleep(0.05)  # whoever does not wait would write now
        meanwhile = out.getvalue()
        lines.resume()
        await writing
        return [meanwhile, out.getvalue()]

    assert asyncio.run(whole()) == ["one\n", "one\ntwo\n"]
