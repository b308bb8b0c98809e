"""Certificates for the server of a fleet: an authority for this fleet alone, made with openssl.

The program is on nearly every machine that runs a server, is needed once, and costs no dependency;
the package `cryptography` would be one for every worker.
"""

import ipaddress
import os
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from nightrook.model.errors import NightrookError

_DAYS = 3650
_CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
_DEADLINE_S = 60.0


class Certificates(NamedTuple):
    """The authority, and the server's certificate and key that it signed, as PEM."""

    ca: bytes
    server: bytes
    key: bytes


def new_certificates(names: list[str]) -> Certificates:
    """Make them for a server that is reached by these names; the authority's key is discarded.

    Nothing else can be signed later: a new name needs new certificates, and a stolen folder has no
    key that could vouch for another server.
    """
    with tempfile.TemporaryDirectory(prefix="rook-") as folder:
        place = Path(folder)
        _openssl(
            *("req", "-x509", *_CURVE, "-days", str(_DAYS), "-subj", "/CN=rook fleet"),
            *("-addext", "basicConstraints=critical,CA:TRUE,pathlen:0"),
            *("-addext", "keyUsage=critical,keyCertSign"),
            *("-keyout", "ca.key", "-out", "ca.pem"),
            folder=place,
        )
        _openssl(
            *("req", "-new", *_CURVE, "-subj", "/CN=rook fleet server"),
            *("-keyout", "server.key", "-out", "server.csr"),
            folder=place,
        )
        (place / "extensions").write_text(
            f"subjectAltName={','.join(map(_alternative, names))}\n"
            "basicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n"
        )
        _openssl(
            *("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key"),
            *("-CAcreateserial", "-days", str(_DAYS), "-extfile", "extensions"),
            *("-out", "server.pem"),
            folder=place,
        )
        files = ("ca.pem", "server.pem", "server.key")
        return Certificates(*((place / name).read_bytes() for name in files))


def _alternative(name: str) -> str:
    try:
        return f"IP:{ipaddress.ip_address(name)}"
    except ValueError:
        return f"DNS:{name}"


def _openssl(*words: str, folder: Path) -> None:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder)}
    try:
        done = subprocess.run(
            ["openssl", *words],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_DEADLINE_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NightrookError(
            f"certificates cannot be made: {error}; install openssl, or listen on 127.0.0.1"
        ) from error
    if done.returncode:
        raise NightrookError(f"certificates cannot be made: {done.stderr.strip()[-500:]}")
