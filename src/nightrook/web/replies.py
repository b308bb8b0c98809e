"""Replies as JSON, without secrets, and errors as one sentence that names the remedy."""

import errno
import json
import os
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from nightrook.model.errors import (
    AmbiguousRunError,
    BadRunNameError,
    DamagedRunError,
    NewerRunError,
    NightrookError,
    RunFolderError,
    UnknownRunError,
    UnsafeRunError,
)
from nightrook.model.redaction.redactor import Redactor

_JSON = "application/json"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_FULL_SENTENCE = "the disk is full: free some space, for example with  rook rm"
_STATUS: tuple[tuple[type[NightrookError], int], ...] = (
    (UnknownRunError, 404),
    (BadRunNameError, 404),
    (AmbiguousRunError, 404),
    (NewerRunError, 422),
    (DamagedRunError, 422),
    (UnsafeRunError, 422),
    (RunFolderError, 410),
)


class ApiError(Exception):
    """A request that cannot be answered: the status, a sentence, and more fields."""

    def __init__(self, status: int, sentence: str, **more: Any) -> None:
        super().__init__(sentence)
        self.status = status
        self.more = more


def encoded(value: Any) -> bytes:
    """Encode as JSON, including text that UTF-8 cannot express."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode()


def redactor() -> Redactor:
    """Return the redactor of secrets, the same as in the terminal."""
    return Redactor(os.environ)


def json_reply(body: bytes, status: int = 200) -> Response:
    """An answer as JSON from which secrets were removed."""
    return Response(body, status, media_type=_JSON)


def error_body(sentence: str, **more: Any) -> bytes:
    """An error as JSON."""
    return encoded({"error": sentence, **more})


async def on_api_error(_: Request, error: Exception) -> Response:
    """Answer a request that cannot be answered."""
    assert isinstance(error, ApiError)
    return json_reply(redactor().data(error_body(str(error), **error.more)), error.status)


async def on_nightrook_error(_: Request, error: Exception) -> Response:
    """Answer with an error of rook; its sentence names the remedy."""
    if _is_full(error.__cause__):
        return json_reply(error_body(_FULL_SENTENCE), 507)
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 400)
    return json_reply(redactor().data(error_body(str(error))), status)


def _is_full(reason: BaseException | None) -> bool:
    """True if an error is that of a full disk, from the system or from the ledger's database."""
    if isinstance(reason, OSError):
        return reason.errno in _FULL
    return getattr(reason, "sqlite_errorname", None) == "SQLITE_FULL"


async def on_os_error(_: Request, error: Exception) -> Response:
    """Answer with an error of the system."""
    assert isinstance(error, OSError)
    if _is_full(error):
        return json_reply(error_body(_FULL_SENTENCE), 507)
    reason = error.strerror or type(error).__name__
    return json_reply(error_body(f"the system refused that: {reason}; try again"), 500)
