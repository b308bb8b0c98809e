"""Files for a worker: only the key and the name of the job open them."""

import pytest

from nightrook.fleet.blobs import SealError, new_key, open_sealed, seal


def test_what_was_sealed_is_opened_by_its_key_and_name() -> None:
    key = new_key()
    sealed = seal(key, b"the repository", "blob.a.0")
    assert open_sealed(key, sealed, "blob.a.0") == b"the repository"
    assert b"the repository" not in sealed


def test_another_key_another_part_and_a_changed_byte_are_refused() -> None:
    key = new_key()
    sealed = seal(key, b"the repository", "blob.a.0")
    changed = sealed[:-1] + bytes([sealed[-1] ^ 1])
    for tried in ((new_key(), sealed, "blob.a.0"), (key, sealed, "blob.a.1"), (key, changed, "a")):
        with pytest.raises(SealError):
            open_sealed(*tried)


def test_what_is_not_sealed_at_all_is_refused() -> None:
    for nonsense in (b"", b"short", b"x" * 200):
        with pytest.raises(SealError):
            open_sealed(new_key(), nonsense, "blob.a.0")
