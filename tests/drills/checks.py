"""What must hold after a drill, whatever was done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.tournament_matches import digest
from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    Competition,
    Entrant,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    PlayedGame,
    Tournament,
)
from arena.schedule import shards
from arena.schedule.jobs import spec_of
from engine.game import Termination
from tests.drills.fields import MATCHES, TOURNAMENT
from tests.drills.homes import FRAIL, GAMES, Homes
from tests.drills.sites import Site
from tests.scale import counting


@dataclass(frozen=True, slots=True)
class Check:
    """Whether something holds, and in what numbers."""

    holds: bool
    what: str
    found: str


def results(database: Database, homes: Homes) -> Sequence[Check]:
    """Every match is fixed exactly once, with all its games, and nobody is blamed for the blows."""
    with database.read() as session:
        return [*fixtures(session), *_at_home(session, homes.kills)]


def counted(database: Database) -> Check:
    """Each match is counted once, by SQL and the trueskill package: by nothing of the arena's."""
    with database.engine.connect() as connection:
        found = counting.problems(connection)
        said = "; ".join(found[:3]) or f"{counting.fixed(connection)} matches"
    return Check(not found, "each match is counted once, seen by SQL alone", said)


def fixtures(session: Session) -> Sequence[Check]:
    """Every match is fixed exactly once, with all its games."""
    cup = session.scalars(sa.select(Tournament)).one()
    query = sa.select(Match).order_by(Match.id)
    matches = session.scalars(query).all()
    fixed = [match for match in matches if match.status is JobStatus.FIXED]
    mine = [match for match in fixed if match.competition_id == cup.id]
    others = {str(match.status) for match in matches} - {"fixed"}
    missed = torn(session)
    return [
        Check(len(mine) == MATCHES, "every fixture is played", f"{len(mine)} of {MATCHES} fixed"),
        Check(not others, "nothing is left open", ", ".join(sorted(others)) or "all fixed"),
        fixed_once(session),
        Check(not missed, "every match has all its games", f"torn: {missed}" if missed else "all"),
    ]


def _at_home(session: Session, kills: int) -> Sequence[Check]:
    """Bots at home played, and what was lost is what was played as a client was killed.

    Args:
        kills: how often that was.
    """
    played = session.scalar(
        sa.select(sa.func.count()).where(Match.status == JobStatus.FIXED, Match.at_home)
    )
    faults = session.execute(
        sa.select(Bot.name, GameSeat.fault)
        .join(Entrant, Entrant.id == GameSeat.entrant_id)
        .join(BotVersion, BotVersion.id == Entrant.version_id)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(GameSeat.fault.is_not(None))
    ).all()
    ours = [(name, fault) for name, fault in faults if (name, fault) != (FRAIL, Termination.CRASH)]
    lost = len(faults) - len(ours)
    return [
        Check(bool(played), "bots at home played", f"{played} matches"),
        Check(
            not ours,
            "no bot lost by a fault",
            ", ".join(f"{name} by {fault}" for name, fault in ours) or "none",
        ),
        Check(
            lost <= GAMES * kills,
            "a killed client lost the games that it played, and no others",
            f"{lost} games by {kills} kills of a client that plays {GAMES} at once",
        ),
    ]


def fixed_once(session: Session) -> Check:
    """Every match that was ever fixed has a place of its own in the order of completion."""
    order = sa.select(Match.seq, Match.fixed, Match.competition_id)
    found = session.execute(order.where(Match.seq.is_not(None)).order_by(Match.seq)).all()
    given = len(found)
    if shards.count(session) > 1:
        # One that was killed has taken some along.
        given = session.scalar(sa.text("SELECT last_value FROM match_seq"))
    numbers = [number for number, *_ in found]
    moments: dict[int, list[datetime]] = {}
    for _, fixed, competition in found:
        moments.setdefault(competition, []).append(fixed)
    again = session.scalar(sa.select(sa.func.sum(Match.attempt - 1)).where(Match.attempt > 1))
    return Check(
        len(set(numbers)) == len(numbers)
        and all(1 <= number <= given for number in numbers)
        and all(its == sorted(its) for its in moments.values()),
        "every match is fixed exactly once",
        f"{len(found)} matches, {again or 0} attempts did not count",
    )


def torn(session: Session) -> list[int]:
    """Matches that have not just the games that they should: all if they were fixed, else none."""
    counts = sa.select(PlayedGame.match_id, sa.func.count()).group_by(PlayedGame.match_id)
    games = dict(session.execute(counts).all())
    return [
        match.id
        for match in session.scalars(sa.select(Match).order_by(Match.id))
        if games.get(match.id, 0) != (spec_of(match).games if match.seq else 0)
    ]


def digest_in(database: Database) -> str:
    """The digest of the tournament's games."""
    with database.read() as session:
        return digest(session, session.scalars(sa.select(Tournament)).one())


def as_calm(site: Site, calm: str) -> Check:
    """The tournament came out as on a calm day, by what the command says."""
    done = site.arena("tournament", "show", TOURNAMENT, "--json")
    found = str(json.loads(done.stdout)["digest"]) if done.returncode == 0 else done.stderr[-200:]
    return Check(found == calm, "the results are those of the calm run", f"digest {found[:16]}")


def rebuilt(site: Site) -> Check:
    """Ratings and counters are what a rebuild makes of the results."""
    done = site.arena("ratings", "rebuild", "--check")
    lines = done.stdout.strip().splitlines()
    return Check(
        done.returncode == 0 and len(lines) == 2,
        "ratings equal a rebuild",
        "; ".join(lines) or done.stderr[-500:],
    )


def nothing_left(site: Site, mounts: frozenset[str]) -> Sequence[Check]:
    """Checks that no process of a site is left after its end, no mount, no control group."""
    processes, groups = site.left_processes(), site.left_groups()
    new = mounted() - mounts
    return [
        Check(not processes, "no process is left", "; ".join(processes) or "none"),
        Check(not groups, "no control group is left", ", ".join(groups) or "none"),
        Check(not new, "no mount is left", ", ".join(sorted(new)) or "none"),
    ]


def mounted() -> frozenset[str]:
    """The mount points of this machine."""
    lines = Path("/proc/self/mounts").read_text().splitlines()
    return frozenset(line.split()[1] for line in lines)


def under_way(session: Session) -> int:
    """How many matches of the ladder are not over."""
    waiting = Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED])
    query = sa.select(sa.func.count()).select_from(Match).join(Match.competition)
    of_ladders = sa.select(Ladder.id)
    return session.scalar(query.where(waiting, Competition.id.in_(of_ladders))) or 0
