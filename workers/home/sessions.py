"""Who is connected: a session for each bot at home, which outlives its connections.

Theory of operation. All of this lives in one thread with an event loop, that of `Lobby`; what other
threads may call says so. A session is of one version and whoever connected it, and has a name that
nobody can guess: by it a client that lost its connection comes back to its games. The end of a
session is the end of its programs, which is their fault: it comes when no connection was there for
`AWAY_SECONDS`, when the client says that it leaves, or when it breaks the rules of the link. A
client that comes without a session while there is one takes its place, unless that is connected.

Messages to a client: ``open`` (a program is to be started, by a number), ``tell`` (lines for it),
``close`` (it is to be ended), ``beat`` (nothing; it is acknowledged like all others). From it:
``said`` (what a program wrote), ``ended`` (and how), ``games`` (how many it takes from now on).
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from typing import Any, Protocol

from engine.links import LinkEnd, LinkError, Message, Parcel, count_in
from engine.reporting import MOST_AT_HOME, MOST_GAMES_AT_HOME
from workers.at_home import AwayError
from workers.home.hearing import Hearing
from workers.home.program import HomeProgram

AWAY_SECONDS = 60.0
"""How long a session is kept without a connection: longer than any grace lasts."""
BEAT_SECONDS, IDLE_BEAT_SECONDS = 2.0, 5.0
"""How often a client is asked for a sign of life while a bot of it is asked, and else."""
DEAD_SECONDS = 15.0
"""How long one may owe an acknowledgement until its connection is ended."""
LOOK_SECONDS = 0.5
"""How often it is looked who is to be asked, or ended."""
LAST_SECONDS = 0.01
"""What aborted connections get to be closed."""
SLEPT_NS = 2_000_000_000
"""So late a look is by no load: this process did not run."""
MOST_TEXT = 65_536
"""Characters that a program says at once; a client cuts what is longer."""

log = logging.getLogger("workers.home")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who connects, as the pages tell, which have proved it."""

    user: int
    version: int
    label: str
    """The bot's, with its version."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Caller:
        return cls(int(data["user"]), int(data["version"]), str(data["label"])[:100])


class Carrier(Protocol):
    """What carries parcels to a client."""

    def send(self, parcel: Parcel) -> None:
        """Sends a parcel."""

    def is_free(self) -> bool:
        """Whether it takes a parcel now; else `Session.flush` is called once it does."""

    def seconds_left(self) -> float:
        """The seconds until it counts as lost at the latest, if nothing more is heard."""

    def close(self, words: str) -> None:
        """Ends it, with the reason for whoever looks at the client."""


class Session:
    """A client's bot, and its programs. An end of a link (see `workers.home.program.BotLink`)."""

    def __init__(self, lobby: Lobby, caller: Caller, client: str) -> None:
        self.name = secrets.token_hex(16)
        self.caller = caller
        self.client = client
        """What its client calls itself: the same while that runs, and for its successor."""
        self.games = 0
        """How many games it takes at once."""
        self.hearing = Hearing(time.monotonic_ns())
        self._lobby = lobby
        self._end = LinkEnd()
        self._connection: Carrier | None = None
        self._programs: dict[int, HomeProgram] = {}
        self._numbers = 0
        self._beaten = 0.0
        self._heard_of = 0
        """The last message whose acknowledgement came, and all before it was taken in."""
        self.lost_at = time.monotonic()
        """When it lost its last connection."""

    @property
    def connection(self) -> Carrier | None:
        """Its connection, if it has one."""
        return self._connection

    @property
    def is_connected(self) -> bool:
        """Whether it has a connection."""
        return self._connection is not None

    @property
    def is_leaving(self) -> bool:
        """Whether it takes no games any more, and has none."""
        return not (self.games or self._programs)

    def connect(self, connection: Carrier, got: int) -> None:
        """It has a new connection, on which it told up to where it has heard.

        Raises:
            LinkError: that can't be.
        """
        self._end.connect(got)
        before, self._connection = self._connection, connection
        if before is not None:
            before.close("another connection took its place")
        self._lobby.changed()

    def rewind(self, got: int) -> None:
        """Its connection may have lost what it has not heard; errors as for `connect`."""
        self._end.rewind(got)

    def disconnect(self, connection: Carrier) -> None:
        """It lost a connection, if it has no other."""
        if self._connection is connection:
            self._connection = None
            self.lost_at = time.monotonic()
            self.hearing.lose(time.monotonic_ns())
            self._lobby.changed()

    def take(self, parcel: Parcel) -> None:
        """Takes in what it says.

        Raises:
            LinkError: no client of ours says that.
        """
        now = time.monotonic_ns()
        new = self._end.take(parcel)
        self._heard(parcel.got, now)
        for message in new:
            self._take(message, now)
        self._heard_of = parcel.got
        self.flush()

    def _heard(self, got: int, now: int | None = None) -> None:
        now = now or time.monotonic_ns()
        self.hearing.hear(got, now)
        for program in self._programs.values():
            program.acknowledge(got, now)

    def _take(self, message: Message, now: int) -> None:
        what = message.get("is")
        if what == "games":
            games = count_in(message, "games")
            if games > MOST_GAMES_AT_HOME:
                raise LinkError(f"a bot takes at most {MOST_GAMES_AT_HOME} games at once")
            self.games = games
            self._lobby.changed()
            return
        # Of a program that has ended here it may not know yet.
        program = self._programs.get(count_in(message, "program"))
        if what == "said":
            text = message.get("text")
            if not isinstance(text, str) or len(text) > MOST_TEXT:
                raise LinkError(f"what a program says is a text of {MOST_TEXT} characters at most")
            if program:
                program.hear(text, now)
        elif what == "ended":
            if program:
                program.hear_end(str(message.get("how", ""))[:200])
        else:
            raise LinkError(f"there is no message {str(what)[:40]!r}")

    def say(self, message: Message) -> int:
        """Says something to the client; returns its number."""
        number = self._end.say(message)
        self.hearing.say(number, time.monotonic_ns())
        self.flush()
        return number

    def flush(self) -> None:
        """Sends what waits, if there is a connection that takes it."""
        while (connection := self._connection) and connection.is_free():
            if (parcel := self._end.parcel()) is None:
                return
            connection.send(parcel)

    def parcel(self) -> Parcel:
        """What waits, and be it nothing, for a connection that is to answer now."""
        return self._end.parcel() or Parcel(self._end.got, self._end.said + 1)

    def open(self) -> HomeProgram:
        """A new program of it."""
        self._numbers += 1
        program = HomeProgram(self, self._numbers)
        self._programs[program.number] = program
        loop = self._lobby.loop
        loop.add_reader(program.far, self._read, program)
        self.say({"is": "open", "program": program.number})
        return program

    def _read(self, program: HomeProgram) -> None:
        try:
            if not program.read():
                self._lobby.loop.remove_reader(program.far)
        except LinkError as error:
            self._lobby.drop(self, str(error))

    def tell(self, program: HomeProgram, text: str) -> None:
        """As `BotLink.tell`."""
        number = self.say({"is": "tell", "program": program.number, "text": text})
        program.said(number, time.monotonic_ns())

    def end(self, program: HomeProgram) -> None:
        """As `BotLink.end`; for any thread."""
        self._lobby.call(self._close, program)

    def _close(self, program: HomeProgram) -> None:
        self._lobby.loop.remove_reader(program.far)
        program.read()  # its last words to it, such as ``quit``
        program.close_far()
        if self._programs.pop(program.number, None):
            with suppress(LinkError):
                self.say({"is": "close", "program": program.number})

    def probe(self) -> int:
        """As `BotLink.probe`; for any thread."""
        asked: Future[int] = Future()
        self._lobby.call(lambda: asked.set_result(self._beat()))
        return asked.result()

    def _beat(self) -> int:
        self._beaten = time.monotonic()
        with suppress(LinkError):
            return self.say({"is": "beat"})
        return self._end.said

    def heard_of(self, probe: int) -> bool:
        """As `BotLink.heard_of`; for any thread."""
        return self._heard_of >= probe

    def look(self, now: float) -> str | None:
        """Asks for a sign of life if it is time; says why the session is over, if it is."""
        if not self.is_connected:
            late = now - self.lost_at > AWAY_SECONDS
            return f"no connection for {AWAY_SECONDS:.0f} s" if late else None
        oldest = self.hearing.oldest()
        if oldest is not None and time.monotonic_ns() - oldest > DEAD_SECONDS * 1e9:
            assert self._connection is not None
            self._connection.close("nothing was heard for too long")
        elif oldest is None and now - self._beaten > (
            BEAT_SECONDS if self._programs else IDLE_BEAT_SECONDS
        ):
            self._beat()
        return None

    def finish(self, words: str) -> None:
        """The session is over, and so are its programs."""
        for program in self._programs.values():
            program.hear_end(words)
        if self._connection:
            self._connection.close(words)
            self._connection = None


class Lobby:
    """All sessions, and the thread in which they live."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        """Starts the thread that serves all sessions.

        Args:
            changed: called, in it, when somebody came or went.
        """
        self.changed = changed
        self.loop = asyncio.new_event_loop()
        self.transports: set[asyncio.Transport] = set()
        """All that is open to clients."""
        self._sessions: dict[int, Session] = {}
        self._looked = time.monotonic_ns()
        self._thread = threading.Thread(target=self._run, name="links", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.call_soon(self._look)
        self.loop.run_forever()
        for transport in self.transports:
            transport.abort()
        self.loop.run_until_complete(asyncio.sleep(LAST_SECONDS))
        self.loop.close()

    def call(self, do: Callable[..., object], *given: Any) -> None:
        """Has something done in the thread of the links; for any thread."""
        self.loop.call_soon_threadsafe(do, *given)

    def close(self) -> None:
        """Ends all sessions and the thread; for another thread."""
        self.call(self._finish)
        self._thread.join()

    def _finish(self) -> None:
        for session in list(self._sessions.values()):
            self.drop(session, "the arena's home worker ends; it may be there again at once")
        # What was said last is still to be sent.
        self.loop.call_later(0.05, self.loop.stop)

    def _look(self) -> None:
        now = time.monotonic_ns()
        for session in list(self._sessions.values()):
            if now - self._looked > SLEPT_NS:
                session.hearing.skip(self._looked, now)
            if words := session.look(now / 1e9):
                self.drop(session, words)
        self._looked = time.monotonic_ns()
        self.loop.call_later(LOOK_SECONDS, self._look)

    def drop(self, session: Session, words: str) -> None:
        """Ends a session."""
        if self._sessions.get(session.caller.version) is session:
            del self._sessions[session.caller.version]
        log.info("%s is gone: %s", session.caller.label, words)
        session.finish(words)
        self.changed()

    def find(self, caller: Caller, name: str) -> Session | None:
        """The session of a name, if it is one of that client.

        Raises:
            LinkError: it is another's.
        """
        found = self._sessions.get(caller.version)
        if found is None or not secrets.compare_digest(found.name.encode(), name.encode()):
            return None
        if found.caller.user != caller.user:
            raise LinkError("this session is another's")
        return found

    def session(self, caller: Caller, name: str, client: str) -> tuple[Session, bool]:
        """The session of a client that greets, and whether it is new.

        Args:
            name: of the session that it had; empty for none.
            client: what it calls itself.

        Raises:
            LinkError: it can have none.
        """
        if found := self.find(caller, name):
            return found, False
        found = self._sessions.get(caller.version)
        # Of a client that greets again the answer to its first greeting was lost.
        is_its_own = found and found.client == client and found.caller.user == caller.user
        if found and found.connection and not is_its_own:
            seconds = found.connection.seconds_left()
            raise LinkError(
                f"{caller.label} is connected already: end the other one first; if that is gone, "
                f"it is known within {ceil(seconds)} s"
            )
        if len(self._sessions) >= MOST_AT_HOME:
            raise LinkError(f"{MOST_AT_HOME} bots are connected, which is as many as may be")
        if found:
            self.drop(found, "its client came back without its games")
        made = Session(self, caller, client)
        self._sessions[caller.version] = made
        log.info("%s is here", caller.label)
        return made, True

    def connected(self) -> dict[int, int]:
        """How many games each bot takes at once that is connected, by versions; for any thread."""
        return {
            version: session.games
            for version, session in list(self._sessions.items())
            if session.is_connected and session.games
        }

    def start(self, version: int) -> HomeProgram:
        """Starts a program of a bot; for any other thread.

        Raises:
            AwayError: it is not connected.
        """
        started: Future[HomeProgram] = Future()
        self.call(self._start, version, started)
        return started.result()

    def _start(self, version: int, started: Future[HomeProgram]) -> None:
        try:
            session = self._sessions.get(version)
            since = session and session.hearing.silent_since(time.monotonic_ns())
            if session is None or since is not None or session.is_leaving:
                raise AwayError("the bot at home is away")
            started.set_result(session.open())
        except Exception as error:
            started.set_exception(error)
