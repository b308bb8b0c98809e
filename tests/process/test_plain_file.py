"""Files of a run folder that are not what they should be are refused, without waiting."""

import os
from pathlib import Path

import pytest

from nightrook.process.plain_file import open_plain


def test_a_new_file_is_private_and_an_open_one_blocks_as_usual(tmp_path: Path) -> None:
    fd = open_plain(tmp_path / "x", os.O_WRONLY | os.O_CREAT)
    try:
        assert os.fstat(fd).st_mode & 0o777 == 0o600
        assert os.get_blocking(fd)
    finally:
        os.close(fd)


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, os.O_RDWR])
def test_a_fifo_a_device_and_a_link_are_refused(tmp_path: Path, flags: int) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "socket").mkdir()
    for name in ("fifo", "link", "socket"):
        with pytest.raises(OSError, match=name):
            open_plain(tmp_path / name, flags)
    with pytest.raises(OSError, match="not a plain file"):
        open_plain("/dev/null", flags)
