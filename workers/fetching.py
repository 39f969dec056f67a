"""Fetches a bundle from the arena's pages, by the signed address that a job names.

The pages may be away for a moment, which is no fault of the match: it waits for them, while its
worker goes on to give signs of life. What the pages refuse is not asked for again.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request

from workers.archives import MAX_ARCHIVE_BYTES, BundleError

ANSWER_SECONDS = 20.0
FETCH_SECONDS = 120.0
"""How long pages that do not answer are asked again."""
PAUSES = (0.2, 1.0, 2.0, 5.0)
"""Seconds before each new try; the last of them before all that follow."""
CHUNK = 1 << 16


def fetch(address: str, *, patience: float = FETCH_SECONDS) -> bytes:
    """What is at an address.

    Args:
        patience: seconds in which pages that are away may come back.

    Raises:
        BundleError: the pages refuse it, or it is larger than any bundle.
        OSError: they did not answer in time.
    """
    deadline = time.monotonic() + patience
    tries = 0
    while True:
        try:
            return _fetch(address, deadline)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code < 500:
                raise BundleError(
                    f"the arena does not give {_plain(address)}: {error.code} {error.reason}"
                ) from None
            problem = f"{error.code} {error.reason}"
        except (OSError, http.client.HTTPException) as error:
            problem = str(getattr(error, "reason", error)) or type(error).__name__
        pause = PAUSES[min(tries, len(PAUSES) - 1)]
        tries += 1
        if time.monotonic() + pause > deadline:
            raise OSError(f"{_plain(address)} could not be fetched: {problem}")
        time.sleep(pause)


def _fetch(address: str, deadline: float) -> bytes:
    data = bytearray()
    with urllib.request.urlopen(address, timeout=ANSWER_SECONDS) as answer:  # noqa: S310 - http
        length = answer.headers.get("Content-Length")
        while chunk := answer.read(CHUNK):
            data += chunk
            if len(data) > MAX_ARCHIVE_BYTES:
                raise BundleError(f"{_plain(address)} is larger than any bundle")
            if time.monotonic() > deadline:
                raise TimeoutError("it came too slowly")
    if length is not None and len(data) != int(length):
        raise OSError("it was cut short")
    return bytes(data)


def _plain(address: str) -> str:
    """An address without what it proves, for messages that people see."""
    return address.partition("?")[0]
