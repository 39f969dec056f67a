"""Who plays in a competition: a field that is proved, seeded and entered."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session, contains_eager, joinedload

from arena.competitions.founding import TEST, TUNING
from arena.competitions.masks import masked_players
from arena.competitions.players import NamedPlayer
from arena.ground.refusals import Refusal
from arena.models import (
    AT_HOME,
    Bot,
    BotVersion,
    Check,
    Competition,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    VersionStatus,
)
from arena.ratings.book import NEW
from engine.game import Variant
from engine.translation import N_, gettext

MOST_ENTRANTS = 256
PLAY = "play"
"""What versions are for that are neither tested nor tuned."""
# What is said of a version, by what it is for.
_AT_HOME = {
    PLAY: N_(
        "the version %(label)s is at home, and can't play: whoever is waited for must be there, so "
        "bots at home play on ladders alone"
    ),
    TEST: N_(
        "the version %(label)s is at home, and can't be tested: whoever is waited for must be "
        "there, so bots at home play on ladders alone"
    ),
    TUNING: N_(
        "the version %(label)s is at home, and can't be tuned: whoever is waited for must be "
        "there, so bots at home play on ladders alone"
    ),
}
_REFUSED = {
    PLAY: N_("the version %(label)s can't play: its check is refused"),
    TEST: N_("the version %(label)s can't be tested: its check is refused"),
    TUNING: N_("the version %(label)s can't be tuned: its check is refused"),
}
_CHECKING = {
    PLAY: N_("the version %(label)s can't play yet: it has passed no check"),
    TEST: N_("the version %(label)s can't be tested yet: it has passed no check"),
    TUNING: N_("the version %(label)s can't be tuned yet: it has passed no check"),
}


def field_of(session: Session, ladder: Ladder) -> list[NamedPlayer]:
    """The active versions of a ladder by what is surely believed of each, the strongest first.

    Bots at home are no field of anything else.
    """
    query = (
        sa.select(Entrant)
        .join(Entrant.version)
        .where(
            Entrant.competition_id == ladder.id,
            Entrant.state == EntrantState.ACTIVE,
            BotVersion.language != AT_HOME,
        )
        .order_by(Entrant.conservative.desc(), Entrant.id)
        .options(contains_eager(Entrant.version).joinedload(BotVersion.bot))
    )
    return [NamedPlayer(entrant.version) for entrant in session.scalars(query)]


def seeded_by(
    session: Session, ladder: Ladder, players: Sequence[NamedPlayer]
) -> list[NamedPlayer]:
    """Players in the order of their versions' ratings on a ladder; those without one come last."""
    query = sa.select(Entrant.version_id, Entrant.conservative)
    its = query.where(Entrant.competition_id == ladder.id)
    rated = {row.version_id: row.conservative for row in session.execute(its)}
    least = min(rated.values(), default=0.0) - 1
    return sorted(players, key=lambda player: -rated.get(player.version.id, least))


def demand_field(session: Session, variant: Variant, players: Sequence[NamedPlayer]) -> None:
    """Refuses a field that is too large, or in which a version stands twice with the same options
    or can't play.

    Raises:
        Refusal: it is one of these.
    """
    if len(players) > MOST_ENTRANTS:
        raise Refusal(
            gettext(
                "a field has %(most)s bots at most, not %(many)s",
                most=MOST_ENTRANTS,
                many=len(players),
            )
        )
    seen: set[tuple[int, str]] = set()
    for player in players:
        if (who := (player.version.id, player.options)) in seen:
            raise Refusal(
                gettext("the version %(label)s stands in the field twice", label=player.label)
            )
        seen.add(who)
    demand_proven(session, variant.game, [player.version for player in players])


def proven(session: Session, game: str, versions: Sequence[BotVersion]) -> set[int]:
    """The ids of those of some versions that can play a game: they passed a check of it, or were on
    a ladder of it.

    That one was not entered, for a test that it failed, or since the ladder was closed, is no
    reason against it.
    """
    ids, of_it = [version.id for version in versions], Ladder.game == game
    entered = sa.select(Entrant.version_id).join(Ladder, Ladder.id == Entrant.competition_id)
    checks = sa.select(Check).join(Check.ladder)
    checks = checks.where(of_it, Check.version_id.in_(ids), Check.status == JobStatus.FIXED)
    # Of a mask there is no check: it is made of what was proved where it is to play.
    masked = sa.select(BotVersion.id).join(BotVersion.bot)
    masked = masked.join(Competition, Competition.id == Bot.masked_in)
    masked = masked.where(BotVersion.id.in_(ids), Competition.game == game)
    found = set(session.scalars(masked)) | set(
        session.scalars(entered.where(of_it, Entrant.version_id.in_(ids)))
    )
    return found | {check.version_id for check in session.scalars(checks) if check.passed}


def demand_proven(
    session: Session, game: str, versions: Sequence[BotVersion], use: str = PLAY
) -> None:
    """Refuses versions that passed no check of a game.

    Args:
        use: what they are for: to play, or a test, or a tuning.

    Raises:
        Refusal: one of them has not.
    """
    checked = proven(session, game, versions)
    for version in versions:
        if version.is_at_home:
            raise Refusal(gettext(_AT_HOME[use], label=version.label))
        if version.status is VersionStatus.REFUSED:
            raise Refusal(gettext(_REFUSED[use], label=version.label))
        if version.status is VersionStatus.CHECKING:
            raise Refusal(gettext(_CHECKING[use], label=version.label))
        if version.id not in checked:
            raise Refusal(
                gettext(
                    "the version %(label)s has passed no check for %(game)s: submit it to a ladder "
                    "of that game first",
                    label=version.label,
                    game=game,
                )
            )


def enter_field(
    session: Session,
    competition: Competition,
    players: Sequence[NamedPlayer],
    now: datetime,
    *,
    first: int = 1,
) -> None:
    """Enters players in a competition that has not begun, numbered in their order; in one that is
    anonymous by their masks.

    Args:
        first: the number of the first of them.
    """
    last = session.scalar(sa.select(sa.func.max(Match.seq))) or 0
    session.add_all(
        Entrant(
            competition=competition,
            version=player.version,
            options=player.options,
            own_time=player.own_time,
            own_threads=player.own_threads,
            state=EntrantState.ACTIVE,
            number=number,
            entered=now,
            entered_after=last,
            mu=NEW.mu,
            sigma=NEW.sigma,
        )
        for number, player in enumerate(masked_players(session, competition, players, now), first)
    )
    session.flush()


def entrants_of(session: Session, competition: Competition) -> Sequence[Entrant]:
    """All of a competition in the order of the seeding, with their bots and owners."""
    query = (
        sa.select(Entrant)
        .where(Entrant.competition_id == competition.id)
        .order_by(Entrant.number)
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot).joinedload(Bot.owner))
    )
    return session.scalars(query).all()
