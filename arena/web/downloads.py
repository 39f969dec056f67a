"""Downloads that last as long as their readers like, each of which holds a thread of the server.

They have places of their own, so that however slow their readers are, pages are served.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

from werkzeug.exceptions import ServiceUnavailable, TooManyRequests

from arena.web.limits import address
from engine.plurals import counted
from engine.translation import gettext, ngettext

MOST = 4
"""Downloads of one process at once: a server needs as many threads besides its pages' own."""
EACH = 2
"""Downloads for one address at once."""
AGAIN_SECONDS = 30

_under_way: Counter[str] = Counter()
_lock = threading.RLock()  # a download that is given up may be collected while one is begun


class Download(Iterator[bytes]):
    """Parts of an answer that go out as they are made; it has a place until they all have, or
    until its reader is gone.

    Raises:
        HTTPException: all places are taken, or all that one address may have.
    """

    _ended = True

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts, self._address = parts, address()
        with _lock:
            if _under_way[self._address] >= EACH:
                raise TooManyRequests(
                    ngettext(
                        "%(number)s download is under way to your address, as many as it may have "
                        "at once: come again when one has ended.",
                        "%(number)s downloads are under way to your address, as many as it may "
                        "have at once: come again when one has ended.",
                        EACH,
                        number=EACH,
                    ),
                    retry_after=AGAIN_SECONDS,
                )
            if _under_way.total() >= MOST:
                raise ServiceUnavailable(
                    gettext(
                        "This server sends %(downloads)s at once, and so many are under way: come "
                        "again in a moment.",
                        downloads=counted(MOST, "download"),
                    ),
                    retry_after=AGAIN_SECONDS,
                )
            _under_way[self._address] += 1
            self._ended = False

    def __next__(self) -> bytes:
        try:
            return next(self._parts)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Leaves the place; servers call it, whatever became of the answer."""
        with _lock:
            if self._ended:
                return
            self._ended = True
            _under_way[self._address] -= 1
            if not _under_way[self._address]:
                del _under_way[self._address]

    def __del__(self) -> None:
        self.close()  # what is answered with an error in its stead is closed by nobody
