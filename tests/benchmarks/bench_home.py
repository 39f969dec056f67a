"""What bots at home cost: one process with many connected, and many games at once.

The process does what a home worker does beside Celery: it holds the links, and plays each match in
a thread of its own. The bots are in one other process, behind real WebSockets over handed-over
sockets, and take their time for a move, as bots do. What the first process uses meanwhile is
divided by the plies that were played; in turn with it the same games are played in one thread with
bots that are processes of this machine and answer at once.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import resource
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

import psutil
from websockets.client import ClientProtocol
from websockets.frames import Frame
from websockets.protocol import State as Web
from websockets.uri import parse_uri

from engine.clock import TimeControl
from engine.game import State
from engine.games import GAMES
from engine.links import LinkEnd, Parcel
from engine.match import MatchSpec, play_match
from engine.process import BotProcess
from engine.program import PlainProgram
from engine.record import Ply
from engine.referee import Watch
from engine.unix_sockets import connect_to, listen_at
from tests.benchmarks.bench_arena import SMOKE_SECONDS
from tests.benchmarks.table import Table
from workers.at_home import HomePlayer
from workers.home.doors import receive
from workers.home.sessions import Lobby

BOTS, GAMES_AT_ONCE = 500, 200
THINKS_SECONDS = 0.5
"""How long a bot thinks on the average: by lot, up to twice as long."""
MOST_US = 1e6 * 2 * THINKS_SECONDS + 50_000
FILES = 8192
VARIANT = GAMES["clobber"].variant(size="8x8")
CONTROL = TimeControl(move_ms=60_000)
HEAD = (
    "GET / HTTP/1.1\r\nHost: arena\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
QUICK_BOT = """\
import sys
for line in sys.stdin:
    verb, *words = line.split()
    if verb == "hello": print("ready quick want=legal", flush=True)
    elif verb == "newgame": print("ok", flush=True)
    elif verb == "legal": legal = words
    elif verb == "go": print("move", legal[0], flush=True)
    elif verb == "quit": break
"""


class Client(asyncio.Protocol):
    """A connected bot, which plays the first legal move after a while."""

    def __init__(self, loop: asyncio.AbstractEventLoop, dice: Random) -> None:
        self._loop, self._dice = loop, dice
        self._head = b""
        self._web = ClientProtocol(parse_uri("ws://arena/"), state=Web.OPEN)
        self._end, self._is_greeted = LinkEnd(), False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send({"session": "", "client": "it", **Parcel(0, 1).to_json()})

    def data_received(self, data: bytes) -> None:
        if not self._head.endswith(b"\r\n\r\n"):
            self._head, end, data = (self._head + data).partition(b"\r\n\r\n")
            self._head += end
        self._web.receive_data(data)
        for event in self._web.events_received():
            if isinstance(event, Frame):
                self._hear(bytes(event.data))

    def _hear(self, text: bytes) -> None:
        parcel = Parcel.from_text(text)
        if not self._is_greeted:
            self._is_greeted = True
            self._end.connect(0)
            self._end.say({"is": "games", "games": 1})
        messages = self._end.take(parcel)
        self._flush()
        for message in messages:
            if message["is"] == "tell":
                self._play(message["program"], message["text"])

    def _play(self, program: int, text: str) -> None:
        legal = ""
        for line in text.splitlines():
            verb, _, rest = line.partition(" ")
            if verb == "hello":
                self._say(program, "ready far want=legal\n")
            elif verb == "newgame":
                self._say(program, "ok\n")
            elif verb == "legal":
                legal = rest.split(" ", 1)[0]
            elif verb == "go":
                seconds = THINKS_SECONDS * 2 * self._dice.random()
                self._loop.call_later(seconds, self._say, program, f"move {legal}\n")

    def _say(self, program: int, text: str) -> None:
        self._end.say({"is": "said", "program": program, "text": text})
        self._flush()

    def _flush(self) -> None:
        if parcel := self._end.parcel():
            self._send(parcel.to_json())

    def _send(self, data: object) -> None:
        self._web.send_text(json.dumps(data).encode())
        self._transport.write(b"".join(self._web.data_to_send()))


def connect_all(place: Path, bots: int) -> None:
    """A process of so many bots at home, until it is killed."""
    more_files()

    async def run() -> None:
        loop = asyncio.get_running_loop()
        for number in range(bots):
            near, far = socket.socketpair()
            caller = {"user": 1, "version": number + 1, "label": f"bot {number}"}
            letter = json.dumps({"kind": "websocket", **caller, "head": HEAD}).encode()
            with connect_to(place, 30.0) as home, far:
                socket.send_fds(home, [letter[:1]], [far.fileno()])
                home.sendall(letter[1:])
            near.setblocking(False)
            dice = Random(number)
            await loop.connect_accepted_socket(lambda dice=dice: Client(loop, dice), near)
        await asyncio.Event().wait()

    asyncio.run(run())


def more_files() -> None:
    """Lets this process open enough of them."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = FILES if most == resource.RLIM_INFINITY else min(FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))


def at_home(seconds: float, bots: int, games: int) -> tuple[float, float, float, int]:
    """CPU milliseconds a ply, plies a second, megabytes, and how many plies were longer charged
    than their bot thought by more than 50 ms."""
    more_files()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "home.sock")
        lobby = Lobby()
        listener = listen_at(place)
        receive(listener, lobby)
        clients = multiprocessing.get_context("fork").Process(
            target=connect_all, args=(place, bots), daemon=True
        )
        clients.start()
        while len(lobby.connected()) < bots:
            time.sleep(0.02)
        plies, late, ended = [0] * games, [0] * games, threading.Event()

        def watch(number: int) -> Callable[[int], Watch]:
            def after_ply(_state: State, told: Sequence[Ply]) -> None:
                plies[number] += 1
                late[number] += told[-1].wall_us > MOST_US
                if ended.is_set():
                    raise TimeoutError

            return lambda _game: after_ply

        def play(number: int) -> None:
            pair = 2 * number + 1, 2 * number + 2
            spec = MatchSpec(VARIANT, ("a", "b"), CONTROL, seed=number)
            with suppress(TimeoutError):
                while not ended.is_set():
                    play_match(
                        spec,
                        lambda entrant: HomePlayer(lambda: lobby.start(pair[entrant])),
                        watch=watch(number),
                    )

        threads = [threading.Thread(target=play, args=(number,)) for number in range(games)]
        for one in threads:
            one.start()
        while not all(plies):
            time.sleep(0.02)  # until all of them are in a game
        before, began, usage = sum(plies), time.monotonic(), time.process_time()
        time.sleep(seconds)
        used, took = time.process_time() - usage, time.monotonic() - began
        count = sum(plies) - before
        memory = psutil.Process().memory_info().rss / 1e6
        ended.set()
        for one in threads:
            one.join()
        clients.kill()
        clients.join()
        lobby.close()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
    return 1000 * used / max(1, count), count / took, memory, sum(late)


def beside(seconds: float) -> float:
    """The referee's CPU milliseconds a ply with bots of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        bot = Path(folder, "bot.py")
        bot.write_text(QUICK_BOT)
        plies, used, end = 0, 0.0, time.monotonic() + seconds
        while time.monotonic() < end:
            usage = time.process_time()
            spec = MatchSpec(VARIANT, ("a", "b"), CONTROL)
            done = play_match(
                spec, lambda _: BotProcess(lambda: PlainProgram([sys.executable, str(bot)]))
            )
            used += time.process_time() - usage
            plies += sum(len(game.plies) for game in done.games)
    return 1000 * used / plies


def run(seconds: float) -> Table:
    """A row for each way to play, measured for about so many seconds in all."""
    bots, games = (BOTS, GAMES_AT_ONCE) if seconds >= SMOKE_SECONDS else (6, 2)
    near, far = [], []
    for _ in range(2):
        near.append(beside(seconds / 8))
        far.append(at_home(seconds / 4, bots, games))
    cpu, plies, memory, late = min(far)
    return Table(
        f"{bots} bots at home, {games} games of {VARIANT} at once in one process",
        ("bots", "referee's CPU ms/ply", "plies/s", "MB", "plies charged 50 ms too much"),
        (
            ("at home", f"{cpu:.2f}", f"{plies:.0f}", f"{memory:.0f}", late),
            ("of this machine, one game", f"{min(near):.2f}", "-", "-", "-"),
        ),
    )
