"""Strength tests on the site that are played on several boards of a game."""

from __future__ import annotations

from itertools import islice

import pytest
import sqlalchemy as sa

from arena.competitions import strength_tallies, strength_tests
from arena.competitions.ladder_deeds import CreateLadder
from arena.competitions.strength_deeds import CloneTest, CreateTest
from arena.competitions.strength_exclusions import ExcludeWorker
from arena.competitions.strength_reports import reports
from arena.ground.refusals import Refusal
from arena.lists.lines import root_of
from arena.models import GameLine, Ladder, Match, PlayedGame, StrengthTest
from arena.recorder.rebuild import rebuild
from engine.games import GAMES
from engine.openings import Opening, openings
from tests.arena.competitions.strength_simulation import OWNER, StrengthSimulation
from tests.arena.doing import do

OTHER = GAMES["clobber"].variant(size="3x4")


def test_boards_take_turns_and_decide_together(arena: StrengthSimulation) -> None:
    """Each match has the next opening of its board; counts are kept by board and worker, and made
    anew by a rebuild; an excluded worker's count on no board."""
    number = arena.create(max_games=80, elo0=-1.0, elo1=1.0, seed=5, others=(OTHER,))
    arena.play_out(number)
    with arena.database.begin() as session:
        test = arena.test(session, number)
        query = sa.select(Match).where(Match.competition_id == number).order_by(Match.id)
        matches = session.scalars(query).all()
        assert [match.leg for match in matches] == [1 + n % 2 for n in range(len(matches))]
        for board, its in zip(test.variants, (matches[::2], matches[1::2]), strict=True):
            played = [
                Opening(GAMES["clobber"].variant(**match.options), tuple(match.opening))
                for match in its
            ]
            assert played == [*islice(openings(board, 5), len(its))]
        standing = strength_tests.standing_of(session, test)
        assert standing.games == 80
        assert [sum(one.counts) for one in standing.on_boards] == [20, 20]
        sums = tuple(map(sum, zip(*(one.counts for one in standing.on_boards), strict=True)))
        assert sums == standing.counts
        assert sum(one.wins for one in standing.on_boards) == standing.wins
        # The games of either board are lines of that board.
        lines = sa.select(GameLine.line, Match.leg).join(
            PlayedGame, PlayedGame.id == GameLine.game_id
        )
        of_board = [root_of("clobber", board.options) for board in test.variants]
        for line, leg in session.execute(lines.join(PlayedGame.match)):
            assert line.startswith(of_board[leg - 1])
        (found,) = reports(session, [test])
        told = found.to_json()
        assert [one["game"] for one in told["boards"]] == ["clobber size=4x4", "clobber size=3x4"]
        assert told["settings"]["others"] == ["clobber size=3x4"]
        assert [name for name, _ in told["told"]].count("on") == 2
        assert rebuild(session, test, write=False).equal
        tally = strength_tallies.tallies_of(session, [test])[number][0]
        tally.boards = tally.boards[::-1]
        session.flush()
        assert not rebuild(session, test, write=True).equal
        assert strength_tests.standing_of(session, test) == standing
        do(session, ExcludeWorker(number, "one", "x"), arena.now)
        rest = strength_tests.standing_of(session, test)
        assert sum(sum(one.counts) for one in rest.on_boards) == rest.matches < standing.matches
        twin = do(session, CloneTest(number), arena.now, OWNER)
        assert isinstance(twin, StrengthTest)
        assert twin.variants == test.variants


def test_boards_are_those_of_ladders(arena: StrengthSimulation) -> None:
    """They are named so; one of another game, the same one and a book are refused."""
    with arena.database.begin() as session:
        own = session.scalars(sa.select(Ladder)).one().name
        for name, game, options in (
            ("small", "clobber", {"size": "3x4"}),
            ("other", "oxono", {}),
        ):
            do(session, CreateLadder(name, game=game, options=options), arena.now)

        def asked(*also: str, openings: str = "") -> CreateTest:
            return CreateTest("bot-0", "bot-1", ladder=own, also=also, openings=openings)

        made = do(session, asked("small"), arena.now)
        assert isinstance(made, StrengthTest)
        assert [*map(str, made.variants)] == ["clobber size=4x4", "clobber size=3x4"]
        for also, words in (
            (("other",), "is no further board of clobber size=4x4"),
            ((own,), "clobber size=4x4 is named twice"),
            (("small", "small"), "clobber size=3x4 is named twice"),
            (("nowhere",), "there is no ladder 'nowhere'"),
        ):
            with pytest.raises(Refusal, match=words):
                do(session, asked(*also), arena.now)
        with pytest.raises(Refusal, match="a book has the openings of one board"):
            do(session, asked("small", openings="some"), arena.now)
