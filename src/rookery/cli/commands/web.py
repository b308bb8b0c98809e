"""`rook web`: the page that shows all runs, and answers what agents ask."""

import ipaddress
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from rookery.cli.background.started import say
from rookery.cli.options.parameters import takes
from rookery.config.command_options import WebOptions
from rookery.model.errors import RookeryError
from rookery.store.home import home_folder

_EXAMPLES = """\b
Examples:
  rook web
  rook web --no-open --port 8123
  rook web --read-only
  rook web --demo
"""
_NEEDED = ("starlette", "uvicorn")
_INSTALL = "rook web needs two more packages: pip install 'rookery[web]'"


@click.command("web", epilog=_EXAMPLES)
@takes("web", WebOptions)
def web(options: WebOptions) -> None:
    """Show all runs in the browser, live, and answer what agents ask.

    The page is served to this machine alone, at an address with a secret token. A second `rook web`
    opens the page of the first. Ctrl-C ends the page; runs and their questions go on without it.
    """
    _check(options)
    check_installed()
    if options.demo:
        from rookery.cli.background.web_demo import demo_home  # only for this

        with demo_home() as home:
            _serve(home, options)
        return
    _serve(home_folder(), options)


def check_installed() -> None:
    """Refuse to go on without the packages of the extra `web`."""
    if any(find_spec(name) is None for name in _NEEDED):
        raise RookeryError(_INSTALL)


def _check(options: WebOptions) -> None:
    if (options.cert is None) != (options.key is None):
        raise click.UsageError("--cert and --key belong together: name both files.")
    for file in filter(None, (options.cert, options.key)):
        if not Path(file).is_file():
            raise click.UsageError(f"there is no file {file!r}: name the certificate and its key.")
    is_safe = options.cert is not None or options.insecure_http or _is_loopback(options.listen)
    if not is_safe:
        raise click.UsageError(
            f"--listen {options.listen} serves other machines: add --cert and --key for HTTPS, or "
            "--insecure-http, with which everyone on the way can read the token and answer for "
            "you. Safer:  ssh -L PORT:127.0.0.1:PORT HOST"
        )


def _is_loopback(address: str | None) -> bool:
    if address is None:
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _serve(home: Path, options: WebOptions) -> None:
    from rookery.web.address import Address
    from rookery.web.serve import LOCAL, ServeOptions, running_server, serve

    def started(address: Address) -> None:
        _show(address.url(), options)
        if not _is_loopback(options.listen):
            _warn(options)
        say("Ctrl-C ends the page; runs and their questions go on without it")

    known = running_server(home)
    if known is None and serve(
        home,
        ServeOptions(
            port=options.port,
            host=options.listen or LOCAL,
            allow_hosts=options.allow_host,
            read_only=options.read_only,
            cert=options.cert,
            key=options.key,
        ),
        started,
    ):
        return
    known = known or running_server(home)
    if known is None:
        raise RookeryError("another  rook web  has just ended: try again")
    if known.read_only != options.read_only or (options.port or known.port) != known.port:
        say(f"rook web runs already, with other options: end process {known.pid} to change them")
    else:
        say(f"rook web runs already, as process {known.pid}")
    _show(known.url(), options)


def _show(url: str, options: WebOptions) -> None:
    click.echo(url)
    sys.stdout.flush()
    if not options.no_open:
        click.launch(url)


def _warn(options: WebOptions) -> None:
    if options.cert is None:
        say(
            "WARNING: without HTTPS, everyone between you and this machine can read the token, "
            "all runs, and answer for you"
        )
    say("WARNING: everyone who has the address can see all runs and answer for you")
