"""The client's end of a link: a connection to an arena that is made anew whenever it is lost.

Theory of operation. One thread connects, hears, and connects again; whoever says something sends
it, if there is a connection, and else it waits for the next one (see `engine.links`). A connection
is a WebSocket, or, where something on the way lets none through, a poll that waits for an answer,
with what is said in questions of their own beside it. Both show the token, like all else.
"""

from __future__ import annotations

import json
import random
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidStatus,
    WebSocketException,
)
from websockets.sync.client import ClientConnection, connect

from arena.cli import InputError
from arena.cli.client import RemoteArena, ServerFault
from engine.links import LONGEST_PARCEL, LinkEnd, LinkError, Message, Parcel
from engine.translation import gettext, spoken

SHORTEST_PAUSE, LONGEST_PAUSE = 0.5, 15.0
"""Seconds until the next try to connect, which double each time; half of them by lot."""
OPEN_SECONDS = 15.0
RETRIES = 4
"""How often something is said again by a poll that broke."""
SILENT_SECONDS = 20.0
"""An arena says something at least every few seconds: after so many the connection is dead."""
PATH = "/home/link"
FINAL = 1008
"""What a WebSocket is closed by that is not to be made anew."""


class OverError(Exception):
    """The arena wants no more of this client; one sentence that says why."""


class BrokenError(Exception):
    """A connection is lost, or could not be made; one line that says how."""


class _Connection(Protocol):
    """What carries parcels."""

    def exchange(self, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """Says the first word, and returns the first one of the arena."""

    def hear(self, got: int) -> Parcel | None:
        """The next parcel; None if there was none for a while.

        Args:
            got: up to where this end has heard.
        """

    def send(self, parcel: Parcel) -> Parcel | None:
        """Sends one; returns what may have come in answer."""

    def close(self) -> None: ...


class HomeLink:
    """The link of a client. What it hears is told in its own thread."""

    def __init__(
        self,
        server: RemoteArena,
        version: int,
        *,
        client: str,
        heard: Callable[[Message], None],
        came: Callable[[bool, str], None],
        lost: Callable[[str, float], None],
        polls: bool = False,
    ) -> None:
        """Takes what it is to tell.

        Args:
            client: what it calls itself (`arena.cli.home_name`).
            heard: is told each message.
            came: is told that there is a connection: whether of a new session, and of which kind.
            lost: is told why there is none, and after how many seconds the next try is.
            polls: never tries a WebSocket.
        """
        self._server, self._version = server, version
        self._told, self._came, self._lost = heard, came, lost
        self._polls_only = polls
        self._end, self._session = LinkEnd(), ""
        self._client = client
        self._connection: _Connection | None = None
        self._lock = threading.RLock()
        self._closed = threading.Event()

    def run(self) -> None:
        """Connects, hears and connects again, until it is closed.

        Raises:
            OverError: the arena lets it in no more.
        """
        pause = SHORTEST_PAUSE
        while not self._closed.is_set():
            try:
                with self._lock:
                    self._connection = None
                self._connect()
                pause = SHORTEST_PAUSE
                self._hear()
            except (BrokenError, LinkError, ServerFault) as error:
                if self._closed.is_set():
                    return
                seconds = pause * random.uniform(0.5, 1.0)
                self._lost(str(error), seconds)
                self._closed.wait(seconds)
                pause = min(2 * pause, LONGEST_PAUSE)
            finally:
                with self._lock:
                    if self._connection:
                        self._connection.close()
                        self._connection = None

    def close(self) -> None:
        """Ends it, from any thread."""
        self._closed.set()
        with self._lock:
            if self._connection:
                self._connection.close()

    def say(self, message: Message) -> None:
        """Says something, now or with the next connection; for any thread."""
        with self._lock:
            self._end.say(message)
            self._flush()

    def all_taken(self) -> bool:
        """Whether the arena has all that was said."""
        with self._lock:
            return self._end.taken == self._end.said

    def _connect(self) -> None:
        connection, kind = self._open()
        parcel = Parcel(self._end.got, 1)
        greeting = {"session": self._session, "client": self._client, **parcel.to_json()}
        answer = connection.exchange(greeting)
        with self._lock:
            is_new = answer.get("new") is True or not self._session
            if is_new:
                self._end, self._session = LinkEnd(), str(answer.get("session", ""))
            first = Parcel.from_json(answer)
            self._end.connect(first.got)
            self._connection = connection
            self._came(is_new, kind)
            self._take(first)

    def _open(self) -> tuple[_Connection, str]:
        if not self._polls_only:
            try:
                return _WebSocket(self._server, self._version), "websocket"
            except _NoWebSocketError as error:
                words = gettext(
                    "long polling, since no WebSocket comes through: %(error)s", error=error
                )
                return _Polls(self._server, self._version, lambda: self._session), words
        kind = gettext("long polling")
        return _Polls(self._server, self._version, lambda: self._session), kind

    def _hear(self) -> None:
        while not self._closed.is_set():
            connection = self._connection
            if connection is None:
                return
            parcel = connection.hear(self._end.got)
            if parcel is not None:
                self._take(parcel)

    def _take(self, parcel: Parcel) -> None:
        with self._lock:
            try:
                new = self._end.take(parcel)
            except LinkError as error:
                # An answer to a poll that was overtaken by the next one: it is said again.
                raise BrokenError(str(error)) from None
            self._flush()
        for message in new:
            self._told(message)

    def _flush(self) -> None:
        """Sends what waits, and that what came has come; the lock is held."""
        connection = self._connection
        while connection is not None and (parcel := self._end.parcel()) is not None:
            try:
                answered = connection.send(parcel)
            except (BrokenError, OverError):
                connection.close()  # the thread that hears finds it broken, too
                return
            if answered:
                self._take(answered)


class _NoWebSocketError(Exception):
    """Something on the way lets no WebSocket through."""


class _WebSocket:
    """A WebSocket to an arena."""

    def __init__(self, server: RemoteArena, version: int) -> None:
        scheme, rest = server.address.split("://", 1)
        secure = "wss" if scheme == "https" else "ws"
        address = f"{secure}://{rest}/api/v1{PATH}?{urllib.parse.urlencode({'version': version})}"
        try:
            opening = connect(
                address,
                additional_headers={**server.credentials, "Accept-Language": spoken().language},
                compression=None,
                open_timeout=OPEN_SECONDS,
                ping_interval=None,
                close_timeout=1.0,
                max_size=LONGEST_PARCEL,
            )
            # It is not closed in order, which would wait for the other end.
            self._socket: ClientConnection = opening.__enter__()
        except InvalidStatus as error:
            status, body = error.response.status_code, bytes(error.response.body or b"")
            if status in (401, 403, 404, 409, 429) or status >= 500:
                raise _refused(status, body) from None
            raise _NoWebSocketError(str(error)) from None
        except (InvalidHandshake, InvalidMessage) as error:
            raise _NoWebSocketError(str(error)) from None
        except (OSError, TimeoutError, WebSocketException, EOFError) as error:
            raise BrokenError(
                gettext("can't reach %(server)s: %(reason)s", server=server.address, reason=error)
            ) from None

    def exchange(self, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """As `_Connection.exchange`."""
        self._send(said)
        answer = json.loads(self._receive())
        if not isinstance(answer, dict):
            raise BrokenError(gettext("the server does not speak as an arena does"))
        return answer

    def hear(self, got: int) -> Parcel | None:
        """As `_Connection.hear`."""
        return Parcel.from_text(self._receive())

    def send(self, parcel: Parcel) -> Parcel | None:
        """As `_Connection.send`."""
        self._send(parcel.to_json())
        return None

    def _send(self, data: Mapping[str, Any]) -> None:
        try:
            self._socket.send(json.dumps(data))
        except (ConnectionClosed, OSError) as error:
            raise _closed(error) from None

    def _receive(self) -> str | bytes:
        try:
            return self._socket.recv(timeout=SILENT_SECONDS)
        except TimeoutError:
            self.close()
            raise BrokenError(
                gettext("nothing was heard for %(seconds)s s", seconds=f"{SILENT_SECONDS:.0f}")
            ) from None
        except (ConnectionClosed, OSError) as error:
            raise _closed(error) from None

    def close(self) -> None:
        """As `_Connection.close`; the other end need not be there any more."""
        self._socket.close_socket()


def _closed(error: Exception) -> Exception:
    """What the end of a WebSocket means."""
    if isinstance(error, ConnectionClosed) and error.rcvd and error.rcvd.code == FINAL:
        return OverError(error.rcvd.reason)
    return BrokenError(gettext("the connection is lost"))


def _refused(status: int, body: bytes) -> Exception:
    """What a refused request means."""
    try:
        detail = str(json.loads(body)["detail"])
    except (ValueError, KeyError, TypeError):
        detail = gettext("the server answers by status %(number)s", number=status)
    if status == 429 or status >= 500:
        return BrokenError(detail)
    return OverError(detail)


class _Polls:
    """Questions to an arena, of which one waits for something to be said."""

    def __init__(self, server: RemoteArena, version: int, session: Callable[[], str]) -> None:
        self._server, self._version, self._session = server, version, session
        self._is_closed = False

    def exchange(self, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """As `_Connection.exchange`."""
        answer: Mapping[str, Any] = self._ask(said)
        return answer

    def hear(self, got: int) -> Parcel | None:
        """As `_Connection.hear`."""
        return self._say(Parcel(got, 1), waits=True)

    def send(self, parcel: Parcel) -> Parcel | None:
        """As `_Connection.send`."""
        if not parcel.says:
            return None  # the next question that waits says up to where this end has heard
        for _ in range(RETRIES):
            try:
                return self._say(parcel, waits=False)
            except BrokenError:
                time.sleep(SHORTEST_PAUSE)  # what comes twice is heard once
        return self._say(parcel, waits=False)

    def _say(self, parcel: Parcel, *, waits: bool) -> Parcel:
        session = self._session()
        answer = self._ask({"session": session, **parcel.to_json(), "waits": waits})
        if answer["session"] != session:
            raise BrokenError(gettext("the session is over"))
        return Parcel.from_json(answer)

    def _ask(self, said: Mapping[str, Any]) -> Any:
        if self._is_closed:
            raise BrokenError(gettext("the connection is closed"))
        try:
            return self._server.send("POST", f"{PATH}?version={self._version}", said)
        except ServerFault as error:
            raise BrokenError(error.message) from None
        except InputError as error:
            raise OverError(error.message) from None

    def close(self) -> None:
        """As `_Connection.close`."""
        self._is_closed = True
