"""How clients come in: sockets that the pages hand over, and what is spoken over them.

Theory of operation. A client asks the pages, which know who it is and may have any number of
processes. They read its request and hand the socket over, by a Unix socket of the arena's own, with
a letter that says who asks and what; they have no more to do with it. Here it becomes the
connection of a session: a WebSocket (RFC 6455) with a parcel in each message, or the answer to one
long poll, which waits until something is to be said, and ends its connection.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Callable, Mapping
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from engine.handover import Reception
from engine.links import LONGEST_PARCEL, LinkError, Parcel, read_json
from workers.home.sessions import DEAD_SECONDS, IDLE_BEAT_SECONDS, Caller, Lobby, Session

LONGEST_LETTER = 4 * LONGEST_PARCEL
GREETING_SECONDS = 10.0
"""What a client may take to its first word."""
POLL_SECONDS = 20.0
"""How long a poll waits for something to be said; proxies end what is silent for longer."""
GONE_SECONDS = 10.0
"""How long after the last poll a client may ask again until its connection counts as lost."""
PARTS = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)
"""Frames that carry what is said."""
MOST_WAITING = 1 << 20
"""Bytes that wait for a client to take them."""

log = logging.getLogger("workers.home")


class WebSocketDoor(asyncio.Protocol):
    """A client's WebSocket, whose request is read already."""

    def __init__(self, lobby: Lobby, caller: Caller, letter: Mapping[str, Any]) -> None:
        self._lobby, self._caller, self._letter = lobby, caller, letter
        self._protocol = ServerProtocol(max_size=LONGEST_PARCEL)
        self._session: Session | None = None
        self._transport: asyncio.Transport | None = None
        self._is_greeted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._lobby.transports.add(transport)
        self._lobby.loop.call_later(GREETING_SECONDS, self._demand_greeting)
        self._protocol.receive_data(str(self._letter["head"]).encode("latin-1"))
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                self._protocol.send_response(self._protocol.accept(event))
        self._write()

    def _demand_greeting(self) -> None:
        if not self._is_greeted:
            self.close("no word of where you are came")

    def data_received(self, data: bytes) -> None:
        self._protocol.receive_data(data)
        try:
            for event in self._protocol.events_received():
                if isinstance(event, Frame) and event.opcode in PARTS:
                    if event.opcode is not Opcode.TEXT or not event.fin:
                        raise LinkError("a parcel is one text, in one frame")
                    self._take(bytes(event.data))
        except LinkError as error:
            if self._session:
                self._lobby.drop(self._session, str(error))
            self.close(str(error))
        self._write()

    def _take(self, text: bytes) -> None:
        if self._session is not None:
            self._session.take(Parcel.from_text(text))
            return
        session, parcel, is_new = _greet(self._lobby, self._caller, read_json(text))
        session.connect(self, parcel.got)
        self._session = session
        self._send({"session": session.name, "new": is_new, **session.parcel().to_json()})
        self._is_greeted = True
        session.take(parcel)

    def connection_lost(self, error: Exception | None) -> None:
        if self._transport:
            self._lobby.transports.discard(self._transport)
        if self._session:
            self._session.disconnect(self)

    def is_free(self) -> bool:
        """As `Carrier.is_free`."""
        if self._transport is None or not self._is_greeted:
            return False
        return self._transport.get_write_buffer_size() < MOST_WAITING

    def seconds_left(self) -> float:
        """As `Carrier.seconds_left`; it is soon asked for a sign of life."""
        return DEAD_SECONDS + IDLE_BEAT_SECONDS

    def send(self, parcel: Parcel) -> None:
        """As `Carrier.send`."""
        self._send(parcel.to_json())

    def _send(self, data: Mapping[str, Any]) -> None:
        try:
            self._protocol.send_text(json.dumps(data).encode())
        except WebSocketException:
            return  # it is being closed
        self._write()

    def close(self, words: str) -> None:
        """As `Carrier.close`."""
        session, self._session = self._session, None
        if session:
            session.disconnect(self)
        try:
            reason = words.encode()[:120].decode("utf-8", "ignore")
            self._protocol.send_close(CloseCode.POLICY_VIOLATION, reason)
        except WebSocketException:
            pass  # it is being closed
        self._write()
        if self._transport:
            self._lobby.loop.call_later(1.0, self._transport.abort)

    def _write(self) -> None:
        assert self._transport is not None
        for data in self._protocol.data_to_send():
            if data:
                self._transport.write(data)
            else:
                self._transport.close()


def _greet(lobby: Lobby, caller: Caller, said: Any) -> tuple[Session, Parcel, bool]:
    """The session of a client by its first words, these as a parcel, and whether it is new.

    Raises:
        LinkError: it can have none.
    """
    parcel = Parcel.from_json(said)
    name, client = (str(said.get(key, ""))[:100] for key in ("session", "client"))
    session, is_new = lobby.session(caller, name, client)
    # What it said and heard in another session is nothing in this one.
    return session, Parcel(0, 1) if is_new else parcel, is_new


class PollDoor:
    """The connection of a client that polls, as long as it does; one of its polls waits."""

    def __init__(self, lobby: Lobby, session: Session) -> None:
        self._lobby, self._session = lobby, session
        self._waiting: Poll | None = None
        self._end: asyncio.TimerHandle | None = None
        self.renew()

    def wait(self, poll: Poll) -> None:
        """A poll waits; one that did is answered."""
        self.release(self._waiting)
        self._waiting = poll

    def release(self, poll: Poll | None) -> None:
        """Answers a poll, if it waits, with what there is."""
        if poll and poll is self._waiting:
            self.send(self._session.parcel())

    def renew(self) -> None:
        """The client was heard of."""
        if self._end:
            self._end.cancel()
        self._end = self._lobby.loop.call_later(POLL_SECONDS + GONE_SECONDS, self.close, "")

    def is_free(self) -> bool:
        """As `Carrier.is_free`."""
        return self._waiting is not None

    def seconds_left(self) -> float:
        """As `Carrier.seconds_left`."""
        return max(0.0, self._end.when() - self._lobby.loop.time()) if self._end else 0.0

    def send(self, parcel: Parcel) -> None:
        """As `Carrier.send`."""
        poll, self._waiting = self._waiting, None
        assert poll is not None
        poll.tell(self._session, parcel)

    def lose(self, poll: Poll) -> None:
        """A client took its poll back."""
        if self._waiting is poll:
            self.close("")

    def close(self, words: str) -> None:
        """As `Carrier.close`."""
        if self._waiting:
            self._waiting.answer(409, {"detail": words})
            self._waiting = None
        if self._end:
            self._end.cancel()
        self._session.disconnect(self)


class Poll(asyncio.Protocol):
    """One question of a client that has no WebSocket."""

    def __init__(self, lobby: Lobby, caller: Caller, letter: Mapping[str, Any]) -> None:
        self._lobby, self._caller, self._letter = lobby, caller, letter
        self._transport: asyncio.Transport | None = None
        self._door: PollDoor | None = None
        """The door in which it waits."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._lobby.transports.add(transport)
        session: Session | None = None
        try:
            said = self._letter["body"]
            if "client" in said:
                session, parcel, is_new = _greet(self._lobby, self._caller, said)
                self._ask(session, parcel, is_new=is_new, waits=False)
            elif session := self._lobby.find(self._caller, str(said.get("session", ""))):
                waits = said.get("waits") is True
                self._ask(session, Parcel.from_json(said), is_new=False, waits=waits)
            else:
                self.answer(200, {"session": "", "new": False, **Parcel(0, 1).to_json()})
        except LinkError as error:
            if session:
                self._lobby.drop(session, str(error))
            self.answer(409, {"detail": str(error)})

    def _ask(self, session: Session, parcel: Parcel, *, is_new: bool, waits: bool) -> None:
        door = session.connection
        if isinstance(door, PollDoor):
            session.rewind(parcel.got)
        else:
            door = PollDoor(self._lobby, session)
            session.connect(door, parcel.got)
        door.renew()
        if waits:
            self._door = door
            door.wait(self)
            session.take(parcel)
            self._lobby.loop.call_later(POLL_SECONDS, door.release, self)
        else:
            session.take(parcel)
            self.tell(session, session.parcel(), is_new=is_new)

    def connection_lost(self, error: Exception | None) -> None:
        if self._transport:
            self._lobby.transports.discard(self._transport)
        if self._door:
            self._door.lose(self)

    def tell(self, session: Session, parcel: Parcel, *, is_new: bool = False) -> None:
        """Answers it with a parcel."""
        self.answer(200, {"session": session.name, "new": is_new, **parcel.to_json()})

    def answer(self, status: int, data: Mapping[str, Any]) -> None:
        """Answers it, and ends its connection."""
        if self._transport is None or self._transport.is_closing():
            return
        body = json.dumps(data).encode()
        words = {200: "OK", 409: "Conflict"}[status]
        head = (
            f"HTTP/1.1 {status} {words}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nCache-Control: private, no-store\r\n"
            "Connection: close\r\n\r\n"
        )
        self._transport.write(head.encode() + body)
        self._transport.close()


DOORS = {"websocket": WebSocketDoor, "poll": Poll}


def receive(listener: socket.socket, lobby: Lobby) -> None:
    """Lets in whom the pages hand over at a Unix socket, from now on."""
    coming: set[asyncio.Task[Any]] = set()

    def let_in(client: socket.socket, letter: Mapping[str, Any]) -> None:
        door, caller = DOORS[letter["kind"]], Caller.from_json(letter)
        lobby.call(connect, client, lambda: door(lobby, caller, letter))

    def connect(client: socket.socket, door: Callable[[], asyncio.Protocol]) -> None:
        task = lobby.loop.create_task(lobby.loop.connect_accepted_socket(door, client))
        coming.add(task)
        task.add_done_callback(coming.discard)

    Reception(listener, let_in, longest=LONGEST_LETTER)
