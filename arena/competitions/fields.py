"""Fields that are set before a competition begins, and stay."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import (
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
    found = set(session.scalars(entered.where(of_it, Entrant.version_id.in_(ids))))
    return found | {check.version_id for check in session.scalars(checks) if check.passed}


def demand_proven(
    session: Session,
    game: str,
    versions: Sequence[BotVersion],
    what: str,
    refusal: type[ValueError],
) -> None:
    """Refuses versions that passed no check of a game.

    Args:
        what: what they are for, as ``play``.
        refusal: what is raised.
    """
    checked = proven(session, game, versions)
    for version in versions:
        if version.status is VersionStatus.REFUSED:
            raise refusal(f"the version {version.label} can't {what}: its check is refused")
        if version.status is VersionStatus.CHECKING:
            raise refusal(f"the version {version.label} can't {what} yet: it has passed no check")
        if version.id not in checked:
            raise refusal(
                f"the version {version.label} has passed no check for {game}: submit it to a "
                "ladder of that game first"
            )


def enter_field(
    session: Session,
    competition: Competition,
    versions: Sequence[BotVersion],
    now: datetime,
    *,
    first: int = 1,
) -> None:
    """Enters versions in a competition that has not begun, numbered in their order.

    Args:
        first: the number of the first of them.
    """
    last = session.scalar(sa.select(sa.func.max(Match.seq))) or 0
    session.add_all(
        Entrant(
            competition=competition,
            version=version,
            state=EntrantState.ACTIVE,
            number=number,
            entered=now,
            entered_after=last,
            mu=NEW.mu,
            sigma=NEW.sigma,
        )
        for number, version in enumerate(versions, first)
    )
    session.flush()
