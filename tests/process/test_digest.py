"""The hash of what a recorder writes."""

import hashlib
import subprocess
import sys

import pytest

from nightrook.process import digest
from nightrook.process.digest import Digest

CHEAP = """
import sys
from nightrook.process.digest import Digest
one = Digest()
one.update(b"x" * 1000)
one.hexdigest()
sys.exit("_hashlib" in sys.modules or "hashlib" in sys.modules)
"""


@pytest.mark.parametrize("sizes", [[], [1], [600_000], [300_000] * 5, [1] * 1000, [0, 0]])
def test_it_is_the_sha256_of_everything(sizes: list[int]) -> None:
    whole, one = b"", Digest()
    for number, size in enumerate(sizes):
        piece = bytes([number % 251]) * size
        whole += piece
        one.update(piece)
        if number == len(sizes) // 2:
            assert one.hexdigest() == hashlib.sha256(whole).hexdigest()
    assert one.hexdigest() == hashlib.sha256(whole).hexdigest()


def test_another_module_is_used_where_one_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "_SMALL_FIRST", (("_none", "x"), *digest._SMALL_FIRST))
    assert Digest().hexdigest() == hashlib.sha256().hexdigest()
    monkeypatch.setattr(digest, "_SMALL_FIRST", (("_none", "x"),))
    with pytest.raises(ImportError, match="no SHA-256"):
        Digest().hexdigest()


def test_short_output_does_not_load_openssl() -> None:
    subprocess.run([sys.executable, "-c", CHEAP], check=True)
