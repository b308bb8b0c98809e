"""`rook web`: the page that shows all runs, and answers the questions of agents."""

import ipaddress
import re
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nightrook.cli.options.parameters import takes
from nightrook.cli.terminal.output import guarded, say
from nightrook.cli.web_page import check_installed
from nightrook.config.command_options import WebOptions
from nightrook.model.errors import NightrookError
from nightrook.process.background import in_background
from nightrook.store.home import home_folder

if TYPE_CHECKING:
    from nightrook.web.home_server import ServeOptions

_IDLE_S = 30 * 60.0
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+)(:[0-9]{1,5})?", re.ASCII)
_EXAMPLES = """\b
Examples:
  rook web
  rook web --no-open --port 8123
  rook web --read-only
  rook web --demo
"""


@click.command("web", epilog=_EXAMPLES)
@takes("web", WebOptions)
def command(options: WebOptions) -> None:
    """Show all runs in the browser, live, and answer what agents ask.

    The page is served to this machine alone, at an address with a secret token. A second `rook web`
    opens the page of the first. Ctrl-C ends the page; runs and their questions continue.
    """
    _check(options)
    check_installed()
    signal.signal(signal.SIGTERM, _terminated)  # so that what was started is ended
    if options.demo and options.detach:
        raise click.UsageError("--demo and --detach can't be combined.")
    if not options.demo:
        _serve(home_folder(), options)
        return
    from nightrook.cli.web_demo import demo  # only for this

    with demo() as playing:
        _serve(playing.home, options, playing.begin)


def _check(options: WebOptions) -> None:
    if (options.cert is None) != (options.key is None):
        raise click.UsageError("--cert and --key belong together: name both files.")
    for name in options.allow_host:
        if not _HOST.fullmatch(name):
            raise click.UsageError(
                f"--allow-host takes a name, with its port if there is one, such as "
                f"box.example.ts.net or box:8443, not {name!r}."
            )
    is_safe = options.cert is not None or options.insecure_http or _is_loopback(options.listen)
    if not is_safe:  # guards: bind-safely
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


def _terminated(number: int, _: object) -> None:
    sys.exit(128 + number)


def _serve(home: Path, options: WebOptions, then: Callable[[], None] = lambda: None) -> None:
    """Serve a home, or open the page of the server that does; `then` follows the start."""
    from nightrook.web.address import Address
    from nightrook.web.home_server import running_server, serve

    def started(address: Address) -> None:
        _show(address.url(), options)
        say("Ctrl-C ends the page; runs and their questions go on without it")
        then()

    known = running_server(home)
    if known is None and options.detach:
        address = in_background(partial(serve, home, _how(options)), Address)
        _show(address.url(), options)
        say(f"it serves in the background, as process {address.pid}")
        return
    if known is None and serve(home, _how(options), started):
        return
    known = known or running_server(home)
    if known is None:
        raise NightrookError("another  rook web  has just ended: try again")
    if known.read_only != options.read_only or (options.port or known.port) != known.port:
        say(f"rook web runs already, with other options: end process {known.pid} to change them")
    else:
        say(f"rook web runs already, as process {known.pid}")
    _show(known.url(), options)


def _how(options: WebOptions) -> "ServeOptions":
    from nightrook.web.home_server import LOCAL, ServeOptions

    return ServeOptions(
        port=options.port,
        host=options.listen or LOCAL,
        allow_hosts=options.allow_host,
        read_only=options.read_only,
        cert=options.cert,
        key=options.key,
        idle_s=_IDLE_S if options.detach else None,
    )


def _show(url: str, options: WebOptions) -> None:
    sys.stdout.flush()
    out = guarded(sys.stdout).exact  # its token is a secret that the reader of this line needs
    out.write(f"{url}\n".encode())
    out.flush()
    if not _is_loopback(options.listen):
        _warn(options)
    if not options.no_open:
        click.launch(url)


def _warn(options: WebOptions) -> None:
    if options.cert is None:
        say(
            "WARNING: without HTTPS, everyone between you and this machine can read the token, "
            "all runs, and answer for you"
        )
    say("WARNING: everyone who has the address can see all runs and answer for you")
