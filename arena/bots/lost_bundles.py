"""Bots whose files were lost: found out once, when a match with one fails, and played no more.

The store is looked at only where the worker, too, said that it could not have these files, and only
where it can be seen: a recorder on another machine than the pages may have none, or one that is out
of date. Such a bot is suspended wherever it plays, with words for its owner and an alarm for the
operator, and nobody waits for its matches. In a tournament what it has to play is left until it is
entered somewhere again (its files stored anew), or is withdrawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session, contains_eager, joinedload

from arena import audit
from arena.audit import ARENA
from arena.bots.notifications import tell_suspension
from arena.bots.suspension import SUSPEND
from arena.competitions.kinds import kind_of, names_of
from arena.competitions.voids import make_void
from arena.ground.locks import locking
from arena.models import (
    BotVersion,
    Competition,
    Entrant,
    EntrantState,
    JobStatus,
    LargeFile,
    Match,
    Place,
)

LOST = "its files are lost or damaged on this server: submit them again"

NAMED = 12
"""Characters of a digest in workers' words for it, at the least."""


def is_lost(store: Path, *digests: str) -> bool:
    """Whether one of some files is not in a store as it was; never where no store is to be seen.

    Args:
        digests: of a bundle and its large files.
    """
    try:
        if next(store.iterdir(), None) is None:
            return False
        return any(_digest(store / digest) != digest for digest in digests)
    except FileNotFoundError:
        return store.is_dir()
    except OSError:
        return False


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_lost(session: Session, store: Path, version: BotVersion) -> bool:
    large = sa.select(LargeFile.digest).where(LargeFile.bundle == version.digest)
    return is_lost(store, version.digest, *session.scalars(large))


def suspend_lost(session: Session, match: Match, problem: str, store: Path, now: datetime) -> bool:
    """Suspends those in a match that failed whose files are lost; what they were to play is void.

    Args:
        problem: what the worker said of the match, with the digest of what it could not have.

    Returns:
        Whether there were any, in a competition that suspends.
    """
    if not kind_of(match.competition).suspends:
        return False
    versions = dict.fromkeys(place.entrant.version for place in match.places)
    missed = [one for one in versions if one.digest and one.digest[:NAMED] in problem]
    lost = [one for one in missed if _is_lost(session, store, one)]
    if not lost:
        return False
    where = names_of(lambda kind: kind.suspends)
    active = _entrants_with(session, {one.digest for one in lost}, EntrantState.ACTIVE, where)
    for version in lost:
        entrants = [one for one in active if one.version.digest == version.digest]
        for entrant in entrants:
            entrant.state, entrant.reason = EntrantState.SUSPENDED, LOST
            tell_suspension(session, entrant, now)
        for unplayed in _unplayed(session, [*(one.id for one in entrants)]):
            make_void(session, unplayed, f"{version.label}: {LOST}")
        detail = f"version {version.number}: {LOST}"
        audit.note(session, ARENA, SUSPEND, f"bot {version.bot.name}", detail, now=now)
    if match.status is not JobStatus.VOID:
        make_void(session, match, f"{lost[0].label}: {LOST}")
    return True


def _unplayed(session: Session, entrants: Collection[int]) -> Sequence[Match]:
    query = sa.select(Match).where(
        Match.status.in_([JobStatus.OPEN, JobStatus.ISSUED]),
        Match.places.any(Place.entrant_id.in_(entrants)),
    )
    # Who has one locked, as for a withdrawal, may wait for the one that failed, and will make it
    # void; if not, it fails in its turn.
    return session.scalars(locking(query, Match, free=True)).all()


def _entrants_with(
    session: Session,
    digests: Collection[str],
    state: EntrantState,
    where: Sequence[str],
) -> Sequence[Entrant]:
    """Those with some files that are in a state, in competitions of some kinds.

    They are locked: somebody may just be withdrawing one of them.
    """
    query = (
        sa.select(Entrant)
        .join(Entrant.version)
        .join(Entrant.competition)
        .where(BotVersion.digest.in_(digests), Entrant.state == state, Competition.kind.in_(where))
        .options(contains_eager(Entrant.version))
    )
    return session.scalars(locking(query, Entrant)).all()


def bring_back(session: Session, version: BotVersion) -> None:
    """Lets those play on that are waited for, and whose files are those of a version that enters
    a ladder."""
    where = names_of(lambda kind: kind.waits)
    for entrant in _entrants_with(session, {version.digest}, EntrantState.SUSPENDED, where):
        if entrant.reason == LOST:
            entrant.state, entrant.reason = EntrantState.ACTIVE, ""


def lost_versions(session: Session) -> Sequence[BotVersion]:
    """The versions that are suspended for it, the first made first."""
    ids = sa.select(Entrant.version_id).where(
        Entrant.state == EntrantState.SUSPENDED, Entrant.reason == LOST
    )
    query = sa.select(BotVersion).where(BotVersion.id.in_(ids)).order_by(BotVersion.id)
    return session.scalars(query.options(joinedload(BotVersion.bot))).all()
