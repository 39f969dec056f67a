"""How a message is sent to a hook, which reaches nothing inside (`arena.ground.outside`)."""

from __future__ import annotations

import http.client
from collections.abc import Collection, Mapping
from typing import NamedTuple

from arena.ground.outside import OutsideAddress, connected
from engine.protocol import visible

SECONDS = 10.0
"""How long one try may take, from the connection to the beginning of the answer."""
LONGEST_ANSWER = 500
"""Bytes of an answer that are read."""


class HookAnswer(NamedTuple):
    """What a hook answered."""

    status: int
    words: str = ""
    """The beginning of what it answered."""
    retry_after: float | None = None
    """The seconds until it wants to be asked again, if it says so."""

    @property
    def is_well(self) -> bool:
        """Whether it has the message."""
        return 200 <= self.status < 300


def post(
    place: OutsideAddress,
    body: bytes,
    headers: Mapping[str, str],
    *,
    inside: Collection[str] = (),
    seconds: float = SECONDS,
) -> HookAnswer:
    """Sends a message to a hook; a redirect is an answer like another.

    Args:
        inside: hosts of the operator's own network that may be reached; what they say is not read,
            since whoever has the hook is shown the answer.

    Raises:
        OutsideError: there was no answer.
    """
    with connected(place, seconds=seconds, inside=inside) as connection:
        connection.request("POST", place.path, body, headers)
        answer = connection.getresponse()
        try:
            begins = b"" if place.host in inside else answer.read(LONGEST_ANSWER)
        except (OSError, http.client.HTTPException):
            begins = b""  # what it answered is known
        after = answer.getheader("Retry-After", "")
        return HookAnswer(
            answer.status,
            visible(begins.decode(errors="replace").replace("\0", "")),
            float(after) if after.isdecimal() and len(after) < 7 else None,
        )
