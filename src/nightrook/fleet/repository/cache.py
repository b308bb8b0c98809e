"""The commits that a worker keeps, so that the next run with the same repository sends less."""

import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from nightrook.fleet.repository.bundle import BASE, Bundle, read_bundle, take_in, write_bundle
from nightrook.fleet.repository.formats import Shipment, Unpacked
from nightrook.fleet.repository.unpack import MissingCommitsError, check_shipment, unpack
from nightrook.runs.git.git_command import ask, do

_REFS = "refs/rook/known"
_MOST_KNOWN = 32
_MOST_PACKS = 50
_LARGEST = 8 * 1024 * 1024 * 1024


class RepositoryCache:
    """Commits of earlier runs in a folder of the worker, for all repositories together.

    A run never works in it: what it starts with is copied, and every object checked again. So an
    agent that damages the cache can only stop the next run, not change what it works on.
    """

    def __init__(self, folder: Path, *, largest: int = _LARGEST) -> None:
        self._folder = folder
        self._largest = largest
        self._env = {"GIT_DIR": str(folder)}

    def known(self) -> list[str]:
        """The last commits that are here with all that they need, newest first."""
        if not self._folder.is_dir():
            return []
        words = ("for-each-ref", "--sort=-refname", "--format=%(objectname)", _REFS)
        ids = (ask(str(self._folder), *words, env=self._env) or "").split()
        return list(dict.fromkeys(ids))[:_MOST_KNOWN]

    def unpack(self, bundle: Path, folder: Path, shipment: Shipment) -> Unpacked:
        """Make a repository from a bundle and the cache, and store the bundle's new objects."""
        header = read_bundle(bundle)
        check_shipment(header, shipment)
        if header.shallow or header.object_format != "sha1":
            return unpack(bundle, folder, shipment)  # the cache has whole histories of one kind
        with self._locked(), TemporaryDirectory(prefix="rook-whole-", dir=self._folder) as place:
            self._keep(header, shipment)
            if not header.prerequisites:
                return unpack(bundle, folder, shipment)
            whole = Path(place, "whole.bundle")
            refs = {BASE: shipment.base}
            write_bundle(str(self._folder), whole, refs, without=(), env=self._env)
            return unpack(whole, folder, shipment)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the cache; it is made if it is missing, and again if it is too large."""
        self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(f"{self._folder}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._make()
            yield
            self._tidy()
        finally:
            os.close(lock)

    def _make(self) -> None:
        if (self._folder / "HEAD").is_file():
            return
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(mode=0o700)
        do(str(self._folder), "init", "--quiet", "--bare", "--template=", ".")

    def _keep(self, header: Bundle, shipment: Shipment) -> None:
        """Keep the objects of a bundle, and the commit that the next one can leave out.

        That is the one which is checked out at home: uncommitted changes are another commit, which
        only bundles have.
        """
        cwd, kept = str(self._folder), shipment.head or shipment.base
        for id in header.prerequisites:
            if ask(cwd, "cat-file", "-e", f"{id}^{{commit}}", env=self._env) is None:
                raise MissingCommitsError(header.path)
        take_in(header, cwd, self._env, self._folder / "objects", _accept)
        do(cwd, "update-ref", f"{_REFS}/{time.time_ns():020d}", kept, env=self._env)

    def _tidy(self) -> None:
        """Drop the oldest commits, join packs, and start again if it is too large."""
        cwd = str(self._folder)
        words = ("for-each-ref", "--sort=-refname", "--format=%(refname)", _REFS)
        for ref in (ask(cwd, *words, env=self._env) or "").split()[_MOST_KNOWN:]:
            do(cwd, "update-ref", "-d", ref, env=self._env)
        packs = list(self._folder.glob("objects/pack/*.pack"))
        if len(packs) > _MOST_PACKS:
            do(cwd, "repack", "-a", "-d", "--quiet", env=self._env)
        if sum(pack.stat().st_size for pack in packs if pack.exists()) > self._largest:
            shutil.rmtree(self._folder, ignore_errors=True)


def _accept(_: Mapping[str, str]) -> None:
    """Accept a bundle of the boss: git has checked every object."""
