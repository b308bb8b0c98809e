"""Detection of requests from a process of an agent, as far as the system shows that."""

import asyncio
import ipaddress
from collections import deque

from starlette.types import Scope

from nightrook.process.systems.this_system import system
from nightrook.runs.asking.peers import is_agent

End = tuple[str, int]
_MOST_KNOWN = 8


class AgentCheck:
    """Finds the process at the other end of a connection, first among those that came before.

    A browser comes again and again: to find it among all processes takes long enough to be felt
    between a click and its effect.
    """

    def __init__(self) -> None:
        self._known: deque[int] = deque(maxlen=_MOST_KNOWN)

    async def __call__(self, scope: Scope) -> bool:
        """True if the process at the other end of a request's connection belongs to an agent.

        False if that is not known: it is on another machine, another user's, or hides its files.
        """
        client, server = scope.get("client"), scope.get("server")
        if client is None or server is None or not _is_here(client[0]):
            return False
        return await asyncio.to_thread(
            self._is_agents, (client[0], client[1]), (server[0], server[1])
        )

    def _is_agents(self, client: End, server: End) -> bool:
        known = tuple(self._known)
        found = system.holders(client, server, known)
        self._known.extend(pid for pid in found if pid not in known)
        return any(is_agent(pid) for pid in found)


def _is_here(host: str) -> bool:
    """True if an address is an IPv4 one of this machine itself."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback and address.version == 4
