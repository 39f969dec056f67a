"""Who sees a competition is chosen, or follows from what it is made of.

What is made of bots that are known in a private competition alone is *within* that one: the same
people see it. So nobody learns of them from a test.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import Actor
from arena.deeds import By
from arena.ground.db import count_rows
from arena.ground.locks import lock, locking
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import (
    BotVersion,
    Check,
    Competition,
    Entrant,
    GameDay,
    GameDayCount,
    Ladder,
    ListedSeat,
    StrengthTest,
    Visibility,
)
from engine.translation import gettext


def change_visibility(
    session: Session, competition: Competition, visibility: Visibility, actor: Actor, now: datetime
) -> Visibility:
    """Chooses who sees a competition, and what is within it; gives who did before.

    Raises:
        Refusal: it is within another.
    """
    lock(session, competition)  # the recorder may be writing games of it
    if competition.within_id is not None:
        around = session.get_one(Competition, competition.within_id)
        raise Refusal(
            gettext(
                "who sees %(around)s sees %(name)s: change that one",
                around=around.name,
                name=competition.name,
            )
        )
    before = competition.visibility
    if visibility is before:
        return before
    _set(session, competition, visibility, now)
    within = sa.select(Competition).where(Competition.within_id == competition.id)
    for one in session.scalars(within).all():
        _set(session, one, visibility, now)
        if visibility is Visibility.PUBLIC and not one.organised:
            one.within_id = None  # what came of it stays a part of it
    session.flush()
    if before is Visibility.PUBLIC:
        for made in _made_of(session, competition):
            its = session.scalars(
                sa.select(BotVersion).join(Entrant).where(Entrant.competition_id == made.id)
            )
            enters = getattr(made, "ladder_id", None) == competition.id
            _put_within(session, made, list(its), now, competition if enters else None)
    words = f"{before} to {visibility}"
    audit.note(
        session, actor, "change visibility", f"{competition.kind} {competition.name}", words,
        now=now,
    )  # fmt: skip
    return before


def _set(session: Session, competition: Competition, visibility: Visibility, now: datetime) -> None:
    were_counted, are_counted = (
        one is Visibility.PUBLIC for one in (competition.visibility, visibility)
    )
    competition.visibility = visibility
    if were_counted is not are_counted:
        _count_today(session, competition, 1 if are_counted else -1, now)


def make_part(competition: Competition, around: Competition) -> None:
    """Has a competition that came of another be within that one, whoever sees it: the same people
    see it, and organise it."""
    competition.within_id = around.within_id or around.id
    competition.visibility, competition.creator_id = around.visibility, around.creator_id


def put_within(
    session: Session,
    competition: Competition,
    versions: Collection[BotVersion],
    now: datetime,
    ladder: Ladder | None = None,
) -> None:
    """Puts a competition within another if it is made of what not everybody sees.

    Args:
        versions: who plays in it.
        ladder: what it names besides.

    Raises:
        Refusal: these are known in different ones, and in none together.
    """
    _lock_known(session, versions, ladder)
    _put_within(session, competition, versions, now, ladder)


def _lock_known(session: Session, versions: Collection[BotVersion], ladder: Ladder | None) -> None:
    """Locks what versions are known in: who sees that may just be changed."""
    ids = [version.id for version in versions]
    known = {
        *session.scalars(sa.select(Entrant.competition_id).where(Entrant.version_id.in_(ids))),
        *session.scalars(sa.select(Check.ladder_id).where(Check.version_id.in_(ids))),
        *([] if ladder is None else [ladder.id]),
    }
    around = sa.select(Competition.within_id).where(Competition.id.in_(known))
    which = Competition.id.in_(known | {*session.scalars(around)} - {None})
    found = sa.select(Competition).where(which, Competition.is_organised())
    session.scalars(locking(found, Competition, anew=True)).all()


def _put_within(
    session: Session,
    competition: Competition,
    versions: Collection[BotVersion],
    now: datetime,
    ladder: Competition | None,
) -> None:
    known = [*_hidden_in(session, versions).values()]
    if ladder is not None and ladder.visibility is not Visibility.PUBLIC:
        known.append({ladder.within_id or ladder.id})
    if not known:
        return
    together = set.intersection(*known) - {competition.id}
    if not together:
        raise Refusal(
            gettext("these bots are known in different competitions that not everybody sees")
        )
    around = session.get_one(Competition, min(together))
    competition.within_id = around.id
    _set(session, competition, around.visibility, now)


def shows_none(
    session: Session, competition: Competition, versions: Collection[BotVersion]
) -> list[BotVersion]:
    """Those of some versions by which a competition shows nothing that those who see it don't see
    elsewhere; what was handed in for an anonymous one alone is nowhere seen."""
    root = competition.within_id or competition.id
    hidden = _hidden_in(session, versions, named=not competition.anonymous)
    return [one for one in versions if root in hidden.get(one.id, (root,))]


def demand_shown(
    session: Session,
    name: str,
    versions: Collection[BotVersion],
    by: By,
    competition: Competition | None = None,
) -> None:
    """Refuses versions that those would learn of who see a competition, but for the owner's own.

    Args:
        name: the competition's.
        competition: itself; None of one that everybody is to see.

    Raises:
        NotAllowed: one is such.
    """
    named = competition is None or not competition.anonymous
    hidden = _hidden_in(session, versions, named=named)
    if competition is not None:
        for version in shows_none(session, competition, versions):
            hidden.pop(version.id, None)
    for version in versions:
        if version.id in hidden and not by.owns(version.bot):
            raise NotAllowed(
                gettext(
                    "%(version)s is known only where not everybody sees it who sees %(name)s: its "
                    "owner can enter it there",
                    version=version.label,
                    name=name,
                )
            )


def _hidden_in(
    session: Session, versions: Collection[BotVersion], *, named: bool = False
) -> dict[int, set[int]]:
    """The competitions in which each version is known that not everybody may know, by its id.

    Args:
        named: of what is known by another name, as in anonymous ones, is not known.
    """
    ids = [version.id for version in versions]
    columns = Competition.id, Competition.within_id, Competition.visibility, Competition.anonymous
    entered = sa.select(Entrant.version_id, *columns).join(
        Competition, Competition.id == Entrant.competition_id
    )
    entered = entered.where(Entrant.version_id.in_(ids), Competition.is_organised())
    checked = sa.select(Check.version_id, *columns).join(
        Competition, Competition.id == Check.ladder_id
    )
    checked = checked.where(Check.version_id.in_(ids))
    roots: dict[int, set[int]] = {}
    public = set()
    for query in (entered, checked):
        for version, number, within, visibility, anonymous in session.execute(query):
            roots.setdefault(version, set()).add(within or number)
            if visibility is Visibility.PUBLIC and not (named and anonymous and query is checked):
                public.add(version)
    return {version: its for version, its in roots.items() if version not in public}


def _made_of(session: Session, competition: Competition) -> list[Competition]:
    """What everybody sees that is made of bots which play in a competition, too, or names it."""
    checked = sa.select(Check.version_id).where(Check.ladder_id == competition.id)
    entered = sa.select(Entrant.version_id).where(Entrant.competition_id == competition.id)
    made_of = sa.select(Entrant.competition_id).where(
        sa.or_(Entrant.version_id.in_(checked), Entrant.version_id.in_(entered))
    )
    # The class in the query itself would have it find tests alone.
    naming = sa.select(StrengthTest.id).where(StrengthTest.ladder_id == competition.id)
    query = sa.select(Competition).where(
        sa.or_(Competition.id.in_(made_of), Competition.id.in_(naming)),
        ~Competition.is_organised(),
        Competition.visibility == Visibility.PUBLIC,
    )
    return list(session.scalars(query))


def _count_today(session: Session, competition: Competition, sign: int, now: datetime) -> None:
    """Adds its games of today to those that everybody finds, or takes them out."""
    day = session.get(GameDay, now.astimezone(UTC).toordinal())
    if day is None:
        return
    games = count_rows(
        session,
        ListedSeat,
        ListedSeat.competition_id == competition.id,
        ListedSeat.seat == sa.literal_column("0"),
        ListedSeat.game_id.between(day.first_id, day.last_id),
    )
    if not games:
        return
    its = GameDayCount.day == day.day, GameDayCount.game == competition.game
    changed = GameDayCount.games + sign * games
    done = session.execute(
        sa.update(GameDayCount).where(*its).values(games=changed).returning(GameDayCount.day)
    )
    if done.first() is None and sign > 0:
        session.add(GameDayCount(day=day.day, game=competition.game, games=games))
