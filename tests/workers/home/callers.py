"""A client of the home worker that does as it is told: a bot at home behind a real WebSocket.

It stands for any program that somebody may write, not only for ours; `arena connect` itself is
tried in `tests.arena.test_at_home_end_to_end`.
"""

from __future__ import annotations

import json
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from engine.handover import hand_over
from engine.links import LinkEnd, Message, Parcel
from engine.unix_sockets import connect_to, listen_at
from workers.home.doors import receive
from workers.home.sessions import Lobby

CALLER = {"user": 1, "version": 7, "label": "giant v1"}


class HomeWorker:
    """A lobby with its door, and what the pages would do."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.lobby = Lobby()
        self.sockets: list[ClientConnection] = []
        self._listener = listen_at(place)
        receive(self._listener, self.lobby)

    def hand_over(self, letter: Mapping[str, Any], connection: socket.socket) -> None:
        """Hands a connection over, as the pages do."""
        with connect_to(self.place, 5.0) as home, connection:
            hand_over(connection.fileno(), letter, home)

    def close(self) -> None:
        for one in self.sockets:
            one.close_socket()
        self.lobby.close()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextmanager
def home_worker() -> Iterator[HomeWorker]:
    with tempfile.TemporaryDirectory() as folder:
        made = HomeWorker(Path(folder, "home.sock"))
        try:
            yield made
        finally:
            made.close()


class RefusedError(Exception):
    """The home worker lets a client in no more."""


class Client:
    """Says and hears messages; each of them is acknowledged `ack_seconds` after it came."""

    def __init__(
        self,
        worker: HomeWorker,
        *,
        session: str = "",
        client: str = "",
        end: LinkEnd | None = None,
        games: int = 1,
        caller: Mapping[str, Any] = CALLER,
    ) -> None:
        self.worker = worker
        self.caller = caller
        self.end = end or LinkEnd()
        self.ack_seconds = 0.0
        self._lock = threading.RLock()
        self._socket = _open(worker, caller)
        worker.sockets.append(self._socket)
        where = Parcel(self.end.got, 1).to_json()
        self._send({"session": session, "client": client, **where})
        try:
            answer = json.loads(self._socket.recv(timeout=60))
        except ConnectionClosed as error:
            raise RefusedError(error.rcvd.reason if error.rcvd else "") from None
        self.session, self.is_new = answer["session"], answer["new"]
        if self.is_new:
            self.end = LinkEnd()
        first = Parcel.from_json(answer)
        self.end.connect(first.got)
        self._waiting = list(self.end.take(first))
        if self.is_new:
            self.say({"is": "games", "games": games})
        else:
            self.flush()

    def hear(self, seconds: float = 60.0) -> Message | None:
        """The next message; None once the connection is over, or if none comes."""
        deadline = time.monotonic() + seconds
        while not self._waiting:
            try:
                text = self._socket.recv(timeout=max(0.0, deadline - time.monotonic()))
            except (ConnectionClosed, TimeoutError, OSError, EOFError):
                return None
            with self._lock:
                new = self.end.take(Parcel.from_text(text))
            self._waiting += new
            if new:
                if self.ack_seconds:
                    threading.Timer(self.ack_seconds, self.flush).start()
                else:
                    self.flush()
        return self._waiting.pop(0)

    def say(self, message: Message) -> None:
        with self._lock:
            self.end.say(message)
            self.flush()

    def flush(self) -> None:
        """Says what waits, and what came."""
        with self._lock:
            if parcel := self.end.parcel():
                self._send(parcel.to_json())

    def _send(self, data: Mapping[str, Any]) -> None:
        try:
            self._socket.send(json.dumps(data))
        except (ConnectionClosed, OSError):
            pass

    def send_raw(self, data: Any) -> None:
        """Sends what is maybe no parcel."""
        self._socket.send(data if isinstance(data, str | bytes) else json.dumps(data))

    def cut(self) -> None:
        """Loses the connection."""
        self._socket.close_socket()

    def come_back(self, **other: Any) -> Client:
        """A new connection to the same session."""
        return Client(self.worker, session=self.session, end=self.end, caller=self.caller, **other)

    @property
    def reason(self) -> str:
        """Why the other end closed the connection."""
        try:
            while True:
                self._socket.recv(timeout=60)
        except ConnectionClosed as error:
            return error.rcvd.reason if error.rcvd else ""


def _open(worker: HomeWorker, caller: Mapping[str, Any]) -> ClientConnection:
    """A WebSocket whose request a page would read."""
    near, far = socket.socketpair()

    def hand_over() -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += far.recv(4096)
        with far, suppress(OSError):  # the test is over
            worker.hand_over({"kind": "websocket", **caller, "head": head.decode()}, far)

    threading.Thread(target=hand_over, daemon=True).start()
    opening = connect("ws://arena/", sock=near, compression=None, ping_interval=None)
    return opening.__enter__()


Bot = Callable[[Client, int, str], Client | None]
"""What is done when a program is asked for a move, of which a legal one is given; it may give
another client to go on with."""


class HomeBot:
    """A client that plays, in a thread: it says ``ready`` and ``ok``, and moves are for `bot`."""

    def __init__(self, client: Client, bot: Bot) -> None:
        self.client = client
        self._bot = bot
        self.heard: list[Message] = []
        """All that it was told."""
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        with suppress(OSError, EOFError, RefusedError, WebSocketException):  # the test is over
            self._play()

    def _play(self) -> None:
        while message := self.client.hear(30.0):
            self.heard.append(message)
            if message["is"] != "tell":
                continue
            number, legal = message["program"], ""
            for line in message["text"].splitlines():
                verb, _, rest = line.partition(" ")
                if verb in ("hello", "newgame"):
                    words = "ready giant want=legal\n" if verb == "hello" else "ok\n"
                    self.client.say({"is": "said", "program": number, "text": words})
                elif verb == "legal":
                    legal = rest.split()[0]
                elif verb == "go":
                    self.client = self._bot(self.client, number, legal) or self.client


@contextmanager
def playing(
    bot: Bot, *, games: int = 1, ack_seconds: float = 0.0
) -> Iterator[tuple[HomeWorker, HomeBot]]:
    """A bot at home that is connected to a home worker."""
    with ExitStack() as stack:
        worker = stack.enter_context(home_worker())
        client = Client(worker, games=games)
        client.ack_seconds = ack_seconds
        deadline = time.monotonic() + 5.0
        while not worker.lobby.connected():
            assert time.monotonic() < deadline
            time.sleep(0.005)
        yield worker, HomeBot(client, bot)
