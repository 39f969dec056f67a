"""What the arena reaches outside, at addresses that strangers gave: never inside its own network.

Whoever names an address could name one that only this machine reaches: a database, a router, a
cloud's store of secrets. So a host is looked up once, each of its addresses must be one of the
public internet, and the connection goes to the very address that was proven, whatever a second
look would find. TLS is verified by the host's name. Redirects are followed by nobody, and what the
environment says of proxies is not asked. An operator may name hosts of an intranet that are to be
reached all the same (`Settings.inside`); those are looked up alike, and proven by TLS alone.

What goes wrong with a place is kept and shown to whoever gave its address, so it is said in plain
English; what is wrong with the address itself they are told at once, in their own language.
"""

from __future__ import annotations

import http.client
import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from engine.translation import gettext

LONGEST = 500
"""Characters of an address."""
CONNECT_SECONDS = 10.0
"""The most for each address of a host."""
MOST_ADDRESSES = 4
"""The most addresses of a host that are tried."""
LEAST_PORT = 1024
"""The least port that is spoken to besides 443: below it are services that speak something else."""
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*\.?")
_OPEN_V6 = ipaddress.ip_network("2000::/3")
"""The part of IPv6 that was ever given out for the public internet (RFC 4291, 2.4)."""
_NOT_OPEN = tuple(
    map(
        ipaddress.ip_network,
        (
            "192.0.0.0/24",  # protocols' own (RFC 6890)
            "192.88.99.0/24",  # relays of 6to4 (RFC 7526)
            "2001::/23",  # protocols' own, Teredo among them, which leads to any IPv4 (RFC 4380)
            "2002::/16",  # 6to4, which does, too (RFC 3056)
            "3fff::/20",  # documentation (RFC 9637)
        ),
    )
)
"""What leads elsewhere, or nowhere, and yet counts as global in some releases of Python."""


class OutsideError(Exception):
    """An address that can't be reached, or may not be; one sentence."""


class OutsideAddress(NamedTuple):
    """An https address, taken apart."""

    host: str
    """The host's name in small letters."""
    port: int
    path: str
    """What is asked for there, with what stands behind a ``?``; begins with a slash."""

    @property
    def shown(self) -> str:
        """The host as people know it, with a port that is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == http.client.HTTPS_PORT else f"{host}:{self.port}"


def read_address(text: str) -> OutsideAddress:
    """An https address that somebody gave; whether it may be reached is not asked yet.

    Raises:
        OutsideError: it is none, has a password in it, or a port where no such service is.
    """
    if len(text) > LONGEST:
        raise OutsideError(gettext("give an address of at most %(most)s characters", most=LONGEST))
    if not text.isascii() or not text.isprintable() or " " in text or "\\" in text:
        raise OutsideError(
            gettext("write the address in plain letters, without spaces, others as %%XX or xn--")
        )
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").lower(), parts.port or http.client.HTTPS_PORT
    except ValueError:
        raise OutsideError(
            gettext("this is no address: give one that begins with https://")
        ) from None
    if parts.scheme.lower() != "https" or not host:
        raise OutsideError(gettext("give an address that begins with https://"))
    if "@" in parts.netloc:
        raise OutsideError(gettext("leave the name and the password out of the address"))
    if not _is_address(host) and not _HOST.fullmatch(host):
        raise OutsideError(gettext("%(host)s is no name of a host", host=host[:60]))
    if port != http.client.HTTPS_PORT and port < LEAST_PORT:
        raise OutsideError(
            gettext("give an address with port 443, or one from %(port)s", port=LEAST_PORT)
        )
    asked = f"?{parts.query}" if parts.query else ""
    return OutsideAddress(host, port, (parts.path or "/") + asked)


def public_addresses(host: str, port: int, *, inside: Collection[str] = ()) -> list[str]:
    """The addresses of a host, looked up now, in the order in which to try them.

    Args:
        inside: names of hosts whose addresses may be any.

    Raises:
        OutsideError: it has none, or one that is not of the public internet.
    """
    # In the same words where there is no such host: what names the operator's network has is
    # nobody's business.
    nowhere = OutsideError(f"{host} is not on the public internet, and so is not asked")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise nowhere from None
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    if host not in inside and not all(is_public(one) and not is_own(one) for one in addresses):
        raise nowhere
    return addresses


def is_public(address: str) -> bool:
    """Whether an IP address is one of a single host on the public internet, as far as addresses
    tell."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:  # one of a zone of this machine
        return False
    if known.version == 6 and known not in _OPEN_V6:
        return False  # mapped and translated ones, too
    in_others = any(known in network for network in _NOT_OPEN)
    return known.is_global and not known.is_multicast and not known.is_reserved and not in_others


def is_own(address: str) -> bool:
    """Whether an IP address is one of this machine: its firewall lets through what comes from
    itself."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


class OutsideConnection(http.client.HTTPConnection):
    """A connection to a place by TLS, by addresses that were proven."""

    default_port = http.client.HTTPS_PORT

    def __init__(self, place: OutsideAddress, addresses: Sequence[str], *, seconds: float) -> None:
        """Connects with the first request.

        Args:
            seconds: that it may be silent.
        """
        super().__init__(place.host, place.port, timeout=seconds)
        self._place, self._seconds = place, seconds
        self._until = time.monotonic() + seconds
        self._addresses = addresses[:MOST_ADDRESSES]
        self._tls = ssl.create_default_context()
        self._line: socket.socket | None = None
        """What is spoken on; known here for as long as an answer is read from it, which is longer
        than `http.client` knows it."""
        self._answers: list[http.client.HTTPResponse] = []
        self.is_over = False
        """Whether its time is."""

    def connect(self) -> None:
        """Connects to the first address that lets it, in what time is left.

        Raises:
            OSError: none does, or the time is over.
        """
        problem = OSError("it has no address")
        for address in self._addresses:
            try:
                plain = socket.create_connection(
                    (address, self._place.port), min(CONNECT_SECONDS, self._left())
                )
            except OSError as error:
                problem = error
                continue
            plain.settimeout(self._seconds)
            # Known before the first byte is spoken, so that even that can be broken off.
            self.sock = self._line = self._tls.wrap_socket(
                plain, server_hostname=self._place.host, do_handshake_on_connect=False
            )
            self._left()  # whoever breaks it off from here on finds it, and did not before
            self.sock.do_handshake()
            return
        raise problem

    def _left(self) -> float:
        """The seconds that are left.

        Raises:
            TimeoutError: there are none.
        """
        left = self._until - time.monotonic()
        if self.is_over or left <= 0:
            raise TimeoutError
        return left

    def getresponse(self) -> http.client.HTTPResponse:
        """Gives the answer, and keeps it to be closed."""
        self._answers.append(super().getresponse())
        return self._answers[-1]

    def break_off(self) -> None:
        """Ends it, from another thread: whoever waits for it wakes."""
        self.is_over = True
        if self._line is not None:
            with suppress(OSError):
                # The line beneath, and not its TLS: without that, others would speak on in plain.
                socket.socket.shutdown(self._line, socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes it, with all that was not read."""
        super().close()
        for answer in self._answers:
            answer.close()


@contextmanager
def connected(
    place: OutsideAddress, *, seconds: float, inside: Collection[str] = ()
) -> Iterator[OutsideConnection]:
    """A connection to a place, for as long as the block runs, which is no longer than that.

    Args:
        seconds: for all that is said on it.

    Raises:
        OutsideError: the place may not be reached, can't be, or did not do its part in time; or
            the connection broke.
    """
    connection = OutsideConnection(
        place, public_addresses(place.host, place.port, inside=inside), seconds=seconds
    )
    # By a clock of its own: a server that sends a byte now and then is never silent.
    clock = threading.Timer(seconds, connection.break_off)
    clock.daemon = True
    clock.start()
    late = OutsideError(f"{place.shown} did not answer within {seconds:g} s")
    try:
        yield connection
        if connection.is_over:
            raise late  # the end of what came may be ours
    except OutsideError:
        if connection.is_over:
            raise late from None  # as is what was made of that end
        raise
    except (OSError, http.client.HTTPException) as error:
        if connection.is_over or isinstance(error, TimeoutError):
            raise late from None
        raise OutsideError(f"{place.shown} can't be reached: {_reason(error)}") from None
    finally:
        clock.cancel()
        connection.close()


def _is_address(host: str) -> bool:
    with suppress(ValueError):
        ipaddress.ip_address(host)
        return True
    return False


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate can't be trusted ({error.verify_message})"
    if isinstance(error, ssl.SSLError):
        return "it speaks no TLS that is spoken here"
    if isinstance(error, http.client.HTTPException):
        return "it does not speak HTTP as it should"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
