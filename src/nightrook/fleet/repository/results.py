"""What a run on another machine changed, found by the folder of the run at home."""

import msgspec

from nightrook.fleet.repository.bundle import RESULT, read_bundle
from nightrook.fleet.repository.fetch import FetchError, fetch, home_of, ref_of
from nightrook.fleet.repository.formats import FORMAT, Origin
from nightrook.model.errors import DamagedRunError, NewerRunError, NightrookError
from nightrook.runs.git.changes import Change
from nightrook.runs.git.git_command import ask
from nightrook.runs.git.repository import Repository
from nightrook.store.file_names import ORIGIN, RESULT_BUNDLE, VERDICT
from nightrook.store.run_folder import RunFolder


def keep_origin(folder: RunFolder, origin: Origin) -> None:
    """Note in the folder of a run where its repository was sent from."""
    with folder.opened() as files:
        files.replace(ORIGIN, msgspec.json.encode(origin) + b"\n")


def origin_of(folder: RunFolder) -> Origin | None:
    """Where the repository of a run was sent from; None if it was not sent."""
    with folder.opened() as files:
        data = files.read(ORIGIN)
    if data is None:
        return None
    path = str(folder.path / ORIGIN)
    try:
        origin = msgspec.json.decode(data, type=Origin)
    except (ValueError, RecursionError) as error:
        raise DamagedRunError(path, "has unexpected contents") from error
    if origin.format > FORMAT:
        raise NewerRunError(path, f"has format {origin.format}; this version reads {FORMAT}")
    return origin


def bring_home(folder: RunFolder) -> str | None:
    """Fetch what a run changed as soon as it has ended; return why that was not possible, if so."""
    try:
        origin = origin_of(folder)
        if origin is not None and (folder.path / RESULT_BUNDLE).is_file():
            fetched(folder, origin)
    except (NightrookError, OSError) as error:
        return str(error)
    return None


def fetched(folder: RunFolder, origin: Origin) -> tuple[Repository, Change]:
    """Fetch what a run changed, if that was not done before."""
    repository = home_of(origin)
    bundle = folder.path / RESULT_BUNDLE
    if not bundle.is_file():
        is_over = (folder.path / VERDICT).exists()
        reason = "changed nothing" if is_over else "is not over: what it changes comes at its end"
        raise FetchError(f"{folder.name} {reason}")
    result = read_bundle(bundle).refs.get(RESULT)
    words = ("rev-parse", "--quiet", "--verify", ref_of(folder.name))
    present = (ask(repository.top, *words, env=repository.env) or "").strip()
    if not present or present != result:
        result = fetch(folder.name, bundle, origin)
    return repository, Change(base=origin.base, result=result)
