"""How far a tournament is, in the words of its format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.tournament_matches import SetMatch, matches_of, voided_fixtures
from arena.formats.catalogue import FORMATS
from arena.formats.fixtures import Fixture, Result
from arena.formats.format import Format
from arena.formats.settings import FormatSettings, Frame
from arena.formats.walkovers import earned, last_round, still_set, walkovers
from arena.ground.refusals import Refusal
from arena.models import Entrant, EntrantState, JobStatus, Tournament
from engine.game import Variant
from engine.match import entrants_needed
from engine.seeds import derive
from engine.translation import gettext

MOST_MATCHES = 5000
"""All of them are read whenever one is set or fixed."""
UNDER_WAY = (JobStatus.OPEN, JobStatus.ISSUED)
"""How matches stand that are to be played, or being played."""


@dataclass(frozen=True, slots=True)
class TournamentProgress:
    """How far a tournament is, as its format sees it."""

    format: Format
    ids: Mapping[int, int]
    """The id of each entrant by its number, in the order of the seeding."""
    withdrawn: Mapping[int, int]
    """The last round that each of those who left was in for."""
    suspended: frozenset[int]
    """Those who can't play for now."""
    made: list[SetMatch]
    playing: frozenset[Fixture]
    """Those of their fixtures that are under way: who is withdrawn meanwhile plays them still."""
    voided: list[Result]
    """What is due again as it was set, since its match is void."""
    walkovers: list[Result]
    """What was decided without a match, since somebody was withdrawn."""

    @property
    def field(self) -> list[int]:
        """The numbers of all entrants."""
        return list(self.ids)

    @property
    def results(self) -> list[Result]:
        """Those that the format takes."""
        return [*(one.result for one in self.made), *self.voided, *self.walkovers]

    @property
    def byes(self) -> list[Result]:
        """Who sits out which of the rounds that are set, with the points that stand."""
        return earned(self.format.byes(self.field, self.results), self.withdrawn)

    @property
    def due(self) -> list[Fixture]:
        """The fixtures that are not played yet."""
        return self.format.fixtures(self.field, self.results)

    def last_round_of(self, number: int, begun: int) -> int:
        """The last round that an entrant is in for if it begins no more from now on.

        Args:
            begun: the last round of which a match was made.
        """
        byes = [bye for bye in self.byes if bye.fixture.round <= begun]
        return last_round(number, self.due, [*self.results, *byes], self.playing)


def progress_of(
    session: Session, tournament: Tournament, entrants: Sequence[Entrant] | None = None
) -> TournamentProgress:
    """What of a tournament is set, played, given and due.

    Args:
        entrants: all of them in the order of the seeding, for who has read them already.
    """
    columns = Entrant.number, Entrant.id, Entrant.state, Entrant.last_round, Entrant.last_paired
    of_it = sa.select(*columns).where(Entrant.competition_id == tournament.id)
    rows = session.execute(of_it.order_by(Entrant.number)).all() if entrants is None else entrants
    ids = {row.number: row.id for row in rows}
    gone = [row for row in rows if row.state is EntrantState.RETIRED]
    withdrawn = {row.number: row.last_round or 0 for row in gone}
    paired = {row.number: row.last_paired or 0 for row in gone}
    suspended = frozenset(row.number for row in rows if row.state is EntrantState.SUSPENDED)
    frame = replace(frame_of(tournament, len(ids)), withdrawn=paired)
    form = FORMATS[tournament.format].build(frame, tournament.settings)
    matches = matches_of(session, tournament)
    playing = frozenset(one.result.fixture for one in matches if one.status in UNDER_WAY)
    # One that was set aside since somebody in it was withdrawn is not waited for.
    made = [
        one
        for one in matches
        if one.result.games
        or one.result.fixture in playing
        or withdrawn.keys().isdisjoint(one.result.fixture.entrants)
    ]
    results = [one.result for one in made]
    kept = voided_fixtures(session, tournament) if form.keeps_rounds else []
    voided = still_set(kept, results)
    given = walkovers(
        form, list(ids), [*results, *voided], withdrawn, games=frame.games, playing=playing
    )
    voided = [one for one in voided if withdrawn.keys().isdisjoint(one.fixture.entrants)]
    return TournamentProgress(form, ids, withdrawn, suspended, made, playing, voided, given)


def frame_of(tournament: Tournament, size: int) -> Frame:
    """What the format must know of a tournament of so many entrants."""
    return new_frame(tournament.variant, size, tournament.seed)


def new_frame(variant: Variant, size: int, seed: int) -> Frame:
    """What the format must know of a tournament of so many entrants that is not made yet."""
    race = variant.seats == 1
    entrants = 2 if race else entrants_needed(variant)
    return Frame(size, entrants, race, derive(seed, "format"))


def demand_not_too_long(name: str, frame: Frame, settings: FormatSettings) -> None:
    """Refuses a tournament of too many matches.

    Raises:
        Refusal: it is one.
    """
    matches = FORMATS[name].build(frame, settings).planned(frame.size)
    if matches is not None and matches > MOST_MATCHES:
        raise Refusal(
            gettext(
                "these are %(matches)s matches, and a tournament has %(most)s at most",
                matches=matches,
                most=MOST_MATCHES,
            )
        )
