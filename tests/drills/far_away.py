"""`make far`: a bot at home behind bad networks: far away, with jitter, cut off and cut short.

The arena runs on this machine, and `arena connect` in a network namespace behind a link whose delay
the kernel makes (tc, netem); where it can't, the client is led through a relay that is as slow. In
each kind of network the bot plays matches, thinking 40 ms a move where it may take 400; what it was
charged stands in the records. No game may be lost by the network alone.

Run it as ``python -m tests.drills.far_away``; as root for a link of the kernel's. It ends with 1 if
a game was lost.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import NamedTuple, Protocol

import sqlalchemy as sa

from arena.ground.db import Database
from arena.keeping.packing import unpack
from arena.models import BotVersion, Entrant, GameSeat, PlayedGame
from engine.game import Termination
from engine.record import GameRecord
from tests.arena.running import COMMAND, environment, short_folder, until
from tests.arena.test_at_home_end_to_end import furnish_home
from tests.arena.test_end_to_end import LADDER, Watched
from tests.drills.relay import Relay

THINKS_SECONDS, MOVE_MS = 0.04, 400
SUBNET = "10.214.77"
CUT_SECONDS, BETWEEN_CUTS = 2.0, 4.0
BOT = f"""\
import sys, time
for line in sys.stdin:
    verb, *words = line.split()
    if verb == "hello": print("ready far want=legal", flush=True)
    elif verb == "newgame": print("ok", flush=True)
    elif verb == "legal": legal = words
    elif verb == "go":
        time.sleep({THINKS_SECONDS})
        print("move", legal[0], flush=True)
    elif verb == "quit": break
"""


class Kind(NamedTuple):
    """A kind of network."""

    words: str
    base_ms: int = 0
    """How long the way takes in one direction."""
    jitter_ms: int = 0
    cut: str = ""
    """``silent`` if nothing comes through now and then, ``short`` if connections break off."""


KINDS = (
    Kind("a wire"),
    Kind("100 ms there and back", 50),
    Kind("0 to 400 ms there and back", 100, 100),
    Kind("300 to 500 ms there and back", 200, 50),
    Kind("100 ms, and silent for 2 s again and again", 50, 0, "silent"),
    Kind("100 ms, and broken off again and again", 50, 0, "short"),
)


class Way(Protocol):
    """What lies between the client and the arena."""

    address: str
    """The address of the arena, as the client knows it."""

    def command(self, *words: str) -> list[str]:
        """A command on the client's side."""

    def make(self, kind: Kind) -> None:
        """Makes the network of a kind."""

    def cut(self) -> None:
        """Lets nothing through."""

    def heal(self) -> None:
        """Lets all through again."""

    def break_off(self) -> None:
        """Ends the connections."""


class RelayedWay:
    """A relay on this machine."""

    def __init__(self, port: int) -> None:
        self._relay = Relay(port)
        self.address = f"http://127.0.0.1:{self._relay.port}"
        self.cut, self.heal = self._relay.cut, self._relay.heal
        self.break_off = self._relay.break_off

    def command(self, *words: str) -> list[str]:
        return list(words)

    def make(self, kind: Kind) -> None:
        self._relay.base_ms, self._relay.jitter_ms = kind.base_ms, kind.jitter_ms


class KernelsWay:
    """A link of the kernel's, to a network namespace."""

    def __init__(self, port: int) -> None:
        number = os.getpid() % 100_000
        self.name, self.link = f"far-{number}", f"fa{number}"
        self.address = f"http://{SUBNET}.1:{port}"

    def command(self, *words: str) -> list[str]:
        return ["ip", "netns", "exec", self.name, *words]

    def make(self, kind: Kind) -> None:
        delay = f"netem delay {kind.base_ms}ms {kind.jitter_ms}ms limit 10000"
        for where in ("", f"-n {self.name} "):
            device = f"{self.link}i" if where else self.link
            _run(f"tc {where}qdisc replace dev {device} root {delay}")

    def cut(self) -> None:
        _run(f"ip link set {self.link} down")

    def heal(self) -> None:
        _run(f"ip link set {self.link} up")

    def break_off(self) -> None:
        _run(f"ip netns exec {self.name} ss -K dst {SUBNET}.1")


def _run(words: str) -> None:
    subprocess.run(words.split(), check=True, capture_output=True)


@contextmanager
def way_to(port: int) -> Iterator[Way]:
    """A way to a port of this machine."""
    made = KernelsWay(port)
    steps = (
        f"ip netns add {made.name}",
        f"ip link add {made.link} type veth peer name {made.link}i",
        f"ip link set {made.link}i netns {made.name}",
        f"ip addr add {SUBNET}.1/24 dev {made.link}",
        f"ip link set {made.link} up",
        f"ip -n {made.name} addr add {SUBNET}.2/24 dev {made.link}i",
        f"ip -n {made.name} link set {made.link}i up",
        f"ip -n {made.name} link set lo up",
    )
    try:
        try:
            if os.geteuid() != 0 or not (shutil.which("tc") and shutil.which("ss")):
                raise OSError("a link of its own needs root, and the programs ip, tc and ss")
            for step in steps:
                _run(step)
            made.make(KINDS[0])
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"led through a relay, since the kernel makes no slow link here: {error}")
            yield RelayedWay(port)
            return
        yield made
    finally:
        for words in (f"ip link del {made.link}", f"ip netns del {made.name}"):
            subprocess.run(words.split(), check=False, capture_output=True)


def games_since(database: Database, last: int) -> list[tuple[GameRecord, int]]:
    """The games of the far bot behind a number, each with its seat."""
    with database.read() as session:
        query = (
            sa.select(PlayedGame.record, GameSeat.seat)
            .join(GameSeat, GameSeat.game_id == PlayedGame.id)
            .join(Entrant, Entrant.id == GameSeat.entrant_id)
            .join(BotVersion, BotVersion.id == Entrant.version_id)
            .where(BotVersion.language == "home", PlayedGame.id > last)
        )
        return [(unpack(record), seat) for record, seat in session.execute(query)]


def try_kind(database: Database, way: Way, kind: Kind, seconds: float) -> int:
    """Plays in a kind of network, and tells of it; how many games were lost."""
    way.make(kind)
    with database.read() as session:
        last = session.scalar(sa.select(sa.func.max(PlayedGame.id))) or 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(BETWEEN_CUTS)
        if kind.cut == "silent":
            way.cut()
            time.sleep(CUT_SECONDS)
            way.heal()
        elif kind.cut:
            way.break_off()
    games = games_since(database, last)
    charged = [
        ply.wall_us / 1000
        for game, seat in games
        for ply in game.plies[game.opening :]
        if ply.seat == seat and ply.wall_us is not None
    ]
    faults = [
        fault.detail
        for game, seat in games
        for fault in game.faults
        if fault.seat == seat and fault.termination is not Termination.RESIGN
    ]
    spread = ", ".join(f"{one(charged):.0f}" for one in (min, median, max)) if charged else "none"
    print(
        f"{kind.words}: {len(games)} games, {len(charged)} moves of {1000 * THINKS_SECONDS:.0f} "
        f"ms, charged {spread} ms (least, middle, most); lost: {faults or 'none'}",
        flush=True,
    )
    return len(faults) if games else 1


def play(kinds: tuple[Kind, ...], seconds: float, options: tuple[str, ...] = ()) -> int:
    """Tries kinds of networks, each for some seconds; how many games were lost."""
    with ExitStack() as stack:
        data = stack.enter_context(short_folder()) / "data"
        data.mkdir()
        database = Database(f"sqlite:///{data}/arena.db")
        stack.callback(database.close)
        token = furnish_home(database, MOVE_MS)
        variables = {"ARENA_TRICKLE_SECONDS": "0.1", "ARENA_HOST": "0.0.0.0"}
        running = stack.enter_context(Watched(data, database, **variables))
        running.start()
        way = stack.enter_context(way_to(running.port))
        bot = data.parent / f"far_{running.mark}.py"
        bot.write_text(BOT)
        words = ("connect", str(bot), "--name", "far", "--ladder", LADDER, "--games", "2")
        with (data.parent / "said").open("w") as said:
            client = subprocess.Popen(
                way.command(*COMMAND, *words, "--server", way.address, *options),
                env=environment(ARENA_TOKEN=token, XDG_CONFIG_HOME=str(data.parent)),
                stdout=said,
                stderr=said,
            )
        stack.callback(client.kill)
        until(lambda: games_since(database, 0), "its first game")
        lost = sum(try_kind(database, way, kind, seconds) for kind in kinds)
        way.make(KINDS[0])
        client.send_signal(signal.SIGINT)
        until(lambda: client.poll() is not None, "the end of its games")
        running.interrupt()
        running.wait()
        return lost


def main(do: Callable[..., int] = play) -> int:
    """Tries every kind of network."""
    return 1 if do(KINDS, float(os.environ.get("DRILL_SECONDS", "20"))) else 0


if __name__ == "__main__":
    sys.exit(main())
