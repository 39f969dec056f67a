"""One more kind of competition, as somebody would add it: a file, and a line among the kinds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, Session, mapped_column

from arena.competitions.fields import enter_field
from arena.competitions.founding import add_named, set_over
from arena.competitions.kind import CompetitionKind, Conclusion, Moment
from arena.competitions.pairings import Pairing
from arena.competitions.players import NamedPlayer
from arena.models import (
    BotVersion,
    Competition,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
)


class Duel(Competition):
    """Two bots, so many matches, and a winner."""

    __mapper_args__ = {"polymorphic_identity": "duel"}  # noqa: RUF012

    settings: Mapped[dict[str, Any]] = mapped_column(nullable=True, use_existing_column=True)


class Duels(CompetitionKind[Duel]):
    """How one is played: the same two, until all matches are played."""

    model, word = Duel, "duel"

    def next_pairing(self, competition: Duel, moment: Moment) -> Pairing | None:
        if self._matches(moment.session, competition) == competition.settings["matches"]:
            return None
        return Pairing(tuple(one.id for one in self.entrants(moment.session, competition)))

    def end_or_reopen(self, session: Session, competition: Duel, now: datetime) -> None:
        played = self._matches(session, competition, JobStatus.FIXED)
        left = any(one.reason for one in self.entrants(session, competition))
        set_over(session, competition, left or played >= competition.settings["matches"], now)

    def withdraw(
        self, session: Session, competition: Duel, entrant: Entrant, why: str, now: datetime
    ) -> None:
        entrant.state, entrant.reason = EntrantState.RETIRED, why
        self.end_or_reopen(session, competition, now)

    def conclusion(self, session: Session, competition: Duel) -> Conclusion:
        first, second = sorted(
            self.entrants(session, competition), key=lambda one: one.points, reverse=True
        )
        winner = "nobody" if first.points == second.points else first.version.label
        score = f"{first.points:g}-{second.points:g}"
        places = {"winner": winner, "title": competition.title}
        return Conclusion("%(winner)s won %(title)s", places, score)

    def entrants(self, session: Session, competition: Duel) -> Sequence[Entrant]:
        query = sa.select(Entrant).where(Entrant.competition_id == competition.id)
        return session.scalars(query.order_by(Entrant.number)).all()

    def _matches(self, session: Session, competition: Duel, *status: JobStatus) -> int:
        wanted = status or tuple(set(JobStatus) - {JobStatus.VOID})
        query = sa.select(sa.func.count()).select_from(Match)
        query = query.where(Match.competition_id == competition.id, Match.status.in_(wanted))
        return session.scalar(query) or 0


def challenge(
    session: Session, ladder: Ladder, versions: Sequence[BotVersion], matches: int, now: datetime
) -> Duel:
    """A duel under the conditions of a ladder."""
    duel = Duel(
        name="duel",
        title=" against ".join(one.label for one in versions),
        variant=ladder.variant,
        time=ladder.time,
        limits=ladder.limits,
        state=CompetitionState.OPEN,
        seed=1,
        created=now,
        settings={"matches": matches},
    )
    add_named(session, duel)
    enter_field(session, duel, [*map(NamedPlayer, versions)], now)
    return duel
