"""The members that a client uses, one at a time.

It stays with a member while that answers. Otherwise it goes to the next endpoint, or to the leader if a member names
it. Once per round of the configured endpoints it tries a learned member. So a client survives the replacement of all
its configured members. A learned endpoint that fails is not tried again until it is learned again.
"""

from __future__ import annotations

import ipaddress
import re
import threading
from collections.abc import Iterable, Sequence

from quoin._core.errors import bad_field

LEARNED_MAX = 16
_ENDPOINT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
PORT_MAX = 65_535


def is_endpoint(text: object) -> bool:
    """Whether a text is `host:port`, with an IPv6 address in brackets."""
    found = _ENDPOINT.fullmatch(text) if isinstance(text, str) else None
    return found is not None and 1 <= int(found[2]) <= PORT_MAX


def is_loopback(endpoint: str) -> bool:
    """Whether an endpoint is this machine, by the reserved names and addresses."""
    host = endpoint.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def checked_endpoints(endpoints: object, name: str = "endpoints") -> list[str]:
    """At least one endpoint, each `host:port`."""
    if isinstance(endpoints, str) or not isinstance(endpoints, Sequence) or not endpoints:
        raise bad_field(name, "must be a list of at least one host:port")
    for endpoint in endpoints:
        if not is_endpoint(endpoint):
            raise bad_field(name, f"must be host:port, not {endpoint!r}")
    return list(endpoints)


class Endpoints:
    """The endpoints of one client, and the one in use."""

    def __init__(self, configured: Sequence[str], start: int) -> None:
        self._lock = threading.Lock()
        self._configured = list(configured)
        self._index = start
        self._learned: list[str] = []
        self._current = self._configured[start]

    def current(self) -> str:
        return self._current

    def leave(self, failed: str, leader: str | None) -> None:
        """Leaves an endpoint that failed. If another call has left it already, this does nothing."""
        with self._lock:
            if self._current != failed:
                return
            if leader is not None and leader != failed and is_endpoint(leader):
                self._current = leader
                return
            was_learned = failed in self._learned
            self._learned = [endpoint for endpoint in self._learned if endpoint != failed]
            following = (self._index + 1) % len(self._configured)
            if following == 0 and not was_learned and self._learned:
                self._current = self._learned[0]
                return
            self._index = following
            self._current = self._configured[following]

    def learn(self, endpoints: Iterable[str]) -> None:
        """Learns the members of the cluster, in the order to try them. The endpoint in use stays."""
        known = dict.fromkeys(endpoint for endpoint in endpoints if is_endpoint(endpoint))
        with self._lock:
            self._learned = [endpoint for endpoint in known if endpoint not in self._configured][:LEARNED_MAX]
