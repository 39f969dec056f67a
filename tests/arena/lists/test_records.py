"""The records of ladders, compared with what all their games are."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from arena.lists.records import records_of
from arena.models import GameSeat, Ladder, PlayedGame
from arena.ratings.trueskill import Rating
from engine.game import Termination
from tests.arena.lists.conftest import Archive

# By equation (4) of Herbrich et al. (2007), with beta = 25 / 6: two equals have even chances, and
# beta * sqrt(2) is one deviation of the difference where nothing is unsure.
PERFORMANCES = [
    (Rating(25, 3), Rating(25, 8), 0.5),
    (Rating(25 + 25 / 6 * 2**0.5, 0), Rating(25, 0), 0.8413447460685429),
    (Rating(25, 0), Rating(25 + 25 / 6 * 2**0.5, 0), 0.15865525393145707),
]


@pytest.mark.parametrize(("one", "other", "expected"), PERFORMANCES)
def test_who_is_expected_to_win(one: Rating, other: Rating, expected: float) -> None:
    """As the normal distribution has it."""
    assert one.outperforms(other) == pytest.approx(expected)


@pytest.mark.long
def test_records_are_those_of_all_games(archive: Archive) -> None:
    """The longest, the shortest, and the win that the ratings expected least."""
    with archive.database.read() as session:
        for ladder in session.scalars(sa.select(Ladder)):
            found = records_of(session, ladder.id)
            ended = [
                (game.plies, game.number)
                for game in archive.games
                if game.counts
                and game.competition == ladder.name
                and game.ending is Termination.NORMAL
            ]
            assert found.longest == max(ended)[1]
            assert found.shortest == min(ended)[1]
            wins = []
            for number, *_ in session.execute(
                sa.select(PlayedGame.id).where(
                    PlayedGame.competition_id == ladder.id,
                    PlayedGame.termination == Termination.NORMAL,
                )
            ):
                seats = session.scalars(
                    sa.select(GameSeat).where(GameSeat.game_id == number, GameSeat.mu_before > -999)
                ).all()
                if len({seat.entrant_id for seat in seats if seat.rank == 1}) == 1 < len(seats):
                    beliefs = [
                        (seat.rank, Rating(seat.mu_before or 0, seat.sigma_before or 0))
                        for seat in seats
                    ]
                    best = max((one for rank, one in beliefs if rank > 1), key=lambda one: one.mu)
                    winner = next(one for rank, one in beliefs if rank == 1)
                    wins.append((winner.outperforms(best), -number))
            assert (found.expected, found.upset) == (
                (min(wins)[0], -min(wins)[1]) if wins else (0.0, None)
            )
            assert set(found.games) <= {game.number for game in archive.games}
