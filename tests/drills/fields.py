"""Who plays in a drill: twelve bots whose games come out the same wherever they are played."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import Actor
from arena.bots.submissions import enter, submit
from arena.competitions.players import NamedPlayer
from arena.competitions.tournaments import TournamentPlan, create
from arena.ground.db import Database
from arena.models import (
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    HomeRule,
    Ladder,
    User,
    VersionStatus,
)
from engine.clock import TimeControl
from tests.arena.test_end_to_end import VARIANT, furnish_small
from workers import bundles

TOURNAMENT = "drill"
BOTS = 12
OWNER = "villager"
MATCHES = BOTS * (BOTS - 1)

# Each plays a different one of the legal moves, counted on from ply to ply. The rest before a
# move only makes a match last, and changes nothing.
BOT = """\
$| = 1;
while (<STDIN>) {{
  my ($verb, @words) = split;
  if ($verb eq "hello") {{ print "ready drill want=legal\\n" }}
  elsif ($verb eq "newgame") {{ $ply = {number}; print "ok\\n" }}
  elsif ($verb eq "legal") {{ @legal = @words }}
  elsif ($verb eq "go") {{
    select undef, undef, undef, {rest_seconds};
    print "move $legal[$ply % @legal]\\n";
    $ply = ($ply * 3 + {number} + 1) % 1000;
  }}
  elsif ($verb eq "quit") {{ exit }}
}}
"""


def furnish(
    database: Database, folder: Path, mark: str, *, rest_seconds: float, ladder_plays: bool
) -> None:
    """The bots, which need no check any more, a double round robin, and a ladder beside it.

    Args:
        folder: the data folder.
        mark: a part of the bots' file names, by which their processes are found.
        rest_seconds: how long a bot does nothing before each move.
    """
    furnish_small(database)
    now = datetime.now(UTC)
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        # Time enough: who plays may be stopped for longer than a lease, and is given up for
        # dead then; but no bot may lose by the clock what it would not lose on a calm day.
        ladder.move_ms = 60_000
        ladder.weight = 0.2
        ladder.home = HomeRule.BESIDE
        ladder.state = CompetitionState.OPEN if ladder_plays else CompetitionState.PAUSED
        owner = User(name=OWNER, created=now)
        session.add(owner)
        versions = []
        for number in range(BOTS):
            version = hand_in(
                session, owner, f"drill-{number}", ladder, folder, mark=f"drill_{mark}",
                number=number, rest_seconds=rest_seconds, now=now,
            )  # fmt: skip
            enter(session, ladder, version, now)
            versions.append(version)
        session.execute(sa.delete(Check))
        plan = TournamentPlan(
            TOURNAMENT, VARIANT, TimeControl(move_ms=60_000), "round-robin",
            settings={"cycles": 2}, seed=2026,
        )  # fmt: skip
        create(session, plan, [*map(NamedPlayer, versions)], now, Actor(None, "drill", "a test"))
        assert session.scalar(sa.select(sa.func.count()).select_from(Entrant)) == 2 * BOTS


def hand_in(
    session: Session, owner: User, name: str, ladder: Ladder, folder: Path,
    *, mark: str, number: int, rest_seconds: float, now: datetime,
) -> BotVersion:  # fmt: skip
    """A version of a bot, as if it were checked already.

    Args:
        folder: the data folder.
        mark: what its file's name begins with.
        number: of the way in which it plays.
    """
    path = folder / f"{mark}_{number}.pl"
    path.write_text(BOT.format(number=number, rest_seconds=rest_seconds))
    bundle = bundles.pack(path)
    path.unlink()
    bundles.store(folder / "bundles", bundle)
    version = submit(
        session, owner, name, digest=bundle.digest, size=len(bundle.archive),
        now=now, language=bundle.language, ladder=ladder,
    )  # fmt: skip
    version.status = VersionStatus.READY
    return version
