"""Rounds of a Swiss stay as they were paired, whoever leaves and whatever is played anew."""

from __future__ import annotations

from itertools import count

import pytest
import sqlalchemy as sa

from arena.competitions import tournament_fields
from arena.competitions.fields import entrants_of
from arena.competitions.tournament_progress import progress_of
from arena.ground.db import Database
from arena.models import CompetitionState, Entrant, EntrantState, Match, Place, Tournament
from engine.player import GameSetup
from tests.arena.competitions.tournament_simulation import ORGANISER, TournamentSimulation
from tests.arena.simulator import CALM, LotPlayer

BOTS = 11
LEAVING = 4
SECONDS = 25


class MoodyPlayer(LotPlayer):
    """One that plays no game twice alike, so that what is played anew comes out another way."""

    _moods = count()

    def new_game(self, setup: GameSetup) -> None:
        super().new_game(setup)
        self._random.seed(next(self._moods))


class SmallArena(TournamentSimulation):
    """One in which a round is made bit by bit, and bots leave meanwhile."""

    player = MoodyPlayer
    workers = ("one",)

    def __init__(self, database: Database, seed: int) -> None:
        super().__init__(database, seed, CALM, "clobber", BOTS, size="4x3")
        self.rounds: dict[int, set[tuple[int, ...]]] = {}
        """What of each round was to be played, or was given, when it had begun."""

    def leave(self) -> None:
        """Somebody is withdrawn who is still there."""
        with self.database.begin() as session:
            cup = session.scalars(sa.select(Tournament)).one()
            if cup.matches_made and cup.state is CompetitionState.OPEN:
                there = [
                    one
                    for one in entrants_of(session, cup)
                    if one.state is not EntrantState.RETIRED
                ]
                one = self.random.choice(there)
                tournament_fields.withdraw(session, cup, one, "it hangs", self.now, ORGANISER)

    def look(self) -> None:
        """Compares the rounds that have begun with what they were, and the last one with what
        follows from games and walkovers alone."""
        with self.database.read() as session:
            cup = session.scalars(sa.select(Tournament)).one()
            begun = session.scalar(sa.select(sa.func.max(Match.round))) or 0
            progress = progress_of(session, cup)
            for number in range(1, begun + 1):
                fixtures = [*progress.due, *(one.fixture for one in progress.results)]
                now = {one.entrants for one in fixtures if one.round == number}
                assert self.rounds.setdefault(number, now) == now
            if begun:
                past = [one for one in progress.results if one.games and one.fixture.round < begun]
                paired = progress.format.fixtures(progress.field, past)
                assert {one.entrants for one in paired} == self.rounds[begun]
        self.later(1.5, self.look)

    def paired(self) -> dict[tuple[int, int], set[tuple[int, ...]]]:
        """The pairs of which a match was ever made, by round and entrant."""
        pairs: dict[int, tuple[int, list[int]]] = {}
        with self.database.read() as session:
            for match, round_, number in session.execute(
                sa.select(Match.id, Match.round, Entrant.number)
                .join(Place, Place.match_id == Match.id)
                .join(Entrant, Entrant.id == Place.entrant_id)
                .order_by(Match.id, Place.number)
            ):
                pairs.setdefault(match, (round_, []))[1].append(number)
        found: dict[tuple[int, int], set[tuple[int, ...]]] = {}
        for round_, pair in pairs.values():
            for number in pair:
                found.setdefault((round_, number), set()).add(tuple(pair))
        return found


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_a_round_that_has_begun_stays_when_bots_leave(sqlite_database: Database, seed: int) -> None:
    """Also what of it no match was made for yet."""
    arena = _begun(sqlite_database, seed)
    arena.look()
    arena.play_out(SECONDS)
    assert len(arena.rounds) == 4
    assert {len(pairs) for pairs in arena.rounds.values()} == {BOTS // 2}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_whoever_was_to_meet_in_a_round_meets(sqlite_database: Database, seed: int) -> None:
    """Matches of several rounds are void and come out another way, and bots leave."""
    arena = _begun(sqlite_database, seed)
    arena.play_out(SECONDS, voids=10)
    assert {len(pairs) for pairs in arena.paired().values()} == {1}
    assert len(arena.voided) == 10


def _begun(database: Database, seed: int) -> SmallArena:
    arena = SmallArena(database, seed)
    arena.create("cup", "swiss", rounds=4, seed=seed)
    for _ in range(LEAVING):
        arena.later(arena.random.random() * SECONDS, arena.leave)
    return arena
