"""Two bots at home in a drill, whose clients reach the arena over a relay, and are kept alive.

The links of both are cut and broken off, for less than the grace: by that no game may be lost. The
client of one is killed, too, which costs it the games that it plays at that moment, and no other.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

import sqlalchemy as sa

from arena.audit import ARENA
from arena.ground.db import Database
from arena.models import Entrant, EntrantState, Ladder, Presence, Scope, User
from arena.people.accounts import add_token
from tests.arena.running import COMMAND, until
from tests.arena.test_end_to_end import LADDER
from tests.drills.fields import BOT, OWNER
from tests.drills.relay import Relay
from tests.drills.sites import Service, Site

STEADY, FRAIL = "steady", "frail"
"""The bots' names; the second one's client is killed."""
GAMES = 2
"""How many matches each plays at once."""
NUMBERS = {STEADY: 5, FRAIL: 7}
"""How many bots play in each of the ways."""
BREAKS, BREAK_SECONDS = 5, 0.7


class Homes:
    """The clients, as services of a site, and the relay."""

    def __init__(self, site: Site, database: Database, *, rest_seconds: float) -> None:
        """
        Args:
            rest_seconds: how long a bot does nothing before each move.
        """
        self._site, self._database = site, database
        self.kills = 0
        """How often the one client was killed."""
        self.relay = Relay(site.port, host=site.addresses.web)
        with database.begin() as session:
            owner = session.scalars(sa.select(User).where(User.name == OWNER)).one()
            scopes = [Scope.READ, Scope.CONNECT]
            token = add_token(session, ARENA, owner, "home", scopes, datetime.now(UTC))
        for name, options in ((STEADY, ()), (FRAIL, ("--poll",))):
            bot = site.folder / f"{name}_{site.mark}.pl"
            bot.write_text(BOT.format(number=NUMBERS[name], rest_seconds=rest_seconds))
            words = [
                *("connect", str(bot), "--name", name, "--ladder", LADDER, *options),
                *("--server", f"http://127.0.0.1:{self.relay.port}", "--games", str(GAMES)),
            ]
            variables = site.environment(ARENA_TOKEN=token, XDG_CONFIG_HOME=str(site.folder))
            site.add(Service(f"client {name}", [*COMMAND, *words], variables))

    def await_both(self) -> None:
        """Waits until both have passed their checks, and are connected."""
        until(lambda: self._there() == 2, "both bots at home on their ladder", seconds=120)

    def _there(self) -> int:
        with self._database.read() as session:
            query = (
                sa.select(sa.func.count())
                .select_from(Presence)
                .join(Entrant, Entrant.version_id == Presence.version_id)
                .join(Ladder, Ladder.id == Entrant.competition_id)
                .where(Entrant.state == EntrantState.ACTIVE, Presence.games > 0)
            )
            return session.scalar(query) or 0

    def cut(self, seconds: float) -> str:
        """Lets nothing through for a while."""
        self.relay.cut()
        time.sleep(seconds)
        self.relay.heal()
        return f"bots at home cut off for {seconds:.1f} s"

    def break_off(self) -> str:
        """Ends all their connections, several times."""
        for _ in range(BREAKS):
            self.relay.break_off()
            time.sleep(BREAK_SECONDS)
        return f"the connections of bots at home broken off {BREAKS} times"

    def kill(self) -> str:
        """Kills the client that may be killed."""
        tree = self._site.tree(f"client {FRAIL}")
        if not tree:
            return ""
        self.kills += 1
        tree[0].kill()
        return f"SIGKILL to the client of {FRAIL}"
