"""Two bots side by side, counted by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arena.db import Database
from arena.furnish import open_ladder
from arena.models import (
    Bot,
    BotVersion,
    Entrant,
    EntrantState,
    GameSeat,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    Place,
    PlayedGame,
    User,
    VersionStatus,
)
from arena.web.duels import Score, competitions_of_both, duel
from engine.game import Termination
from engine.games import GAMES

NOW = datetime(2026, 5, 4, tzinfo=UTC)


class Hall:
    """A ladder whose games are written down by hand."""

    def __init__(self, database: Database, game: str, **options: str) -> None:
        found = GAMES[game]
        with database.begin() as session:
            self.ladder = open_ladder(found, found.variant(**options), NOW)
            self.bots = [
                Bot(name=name, owner=User(name=f"owner-of-{name}", created=NOW), created=NOW)
                for name in ("anna", "bert", "carl")
            ]
            self.entrants = [
                Entrant(
                    competition=self.ladder,
                    version=BotVersion(
                        bot=bot,
                        number=1,
                        digest="0" * 64,
                        size=1,
                        language="Python",
                        status=VersionStatus.READY,
                        created=NOW,
                    ),
                    state=EntrantState.ACTIVE,
                    entered=NOW,
                    entered_after=0,
                    mu=25.0,
                    sigma=8.0,
                )
                for bot in self.bots
            ]
            session.add_all(self.entrants)
        self.database = database
        self.seq = 0

    def match(self, *games: list[tuple[int, int, Termination | None]], opening: str = "") -> None:
        """A match; of each game, for each seat, who sat there, its rank, and its fault."""
        self.seq += 1
        with self.database.begin() as session:
            places = {entrant: None for game in games for entrant, _, _ in game}
            match = Match(
                competition_id=self.ladder.id,
                status=JobStatus.FIXED,
                rated=True,
                seq=self.seq,
                fixed=NOW,
                options={},
                opening=opening.split(),
                seed=0,
                created=NOW,
                places=[
                    Place(number=n, entrant_id=self.entrants[e].id) for n, e in enumerate(places)
                ],
            )
            for number, game in enumerate(games):
                match.games.append(
                    PlayedGame(
                        competition_id=self.ladder.id,
                        number=number,
                        termination=next((f for *_, f in game if f), Termination.NORMAL),
                        plies=10,
                        finished=NOW,
                        digest="",
                        record=b"",
                        seats=[
                            GameSeat(
                                seat=seat,
                                entrant_id=self.entrants[e].id,
                                score=0.0,
                                rank=rank,
                                points=0.0,
                                fault=fault,
                                cpu_us=0,
                                log="",
                            )
                            for seat, (e, rank, fault) in enumerate(game)
                        ],
                    )
                )
            session.add(match)

    def meet(self, one: int, other: int, *, games: int, wins: int, draws: int = 0) -> None:
        """What two did against each other, as the recorder keeps it."""
        with self.database.begin() as session:
            session.add(
                Meeting(
                    first_id=self.entrants[one].id,
                    second_id=self.entrants[other].id,
                    competition_id=self.ladder.id,
                    matches=1,
                    games=games,
                    wins=wins,
                    draws=draws,
                )
            )


ANNA, BERT, CARL = range(3)


def test_a_pair_of_bots_is_counted_by_hand(database: Database) -> None:
    """Three game pairs: Anna wins one twice, the next is shared, in the last Bert crashes once."""
    hall = Hall(database, "clobber", size="4x4")
    hall.match([(ANNA, 1, None), (BERT, 2, None)], [(BERT, 2, None), (ANNA, 1, None)])
    hall.match([(ANNA, 1, None), (BERT, 2, None)], [(BERT, 1, None), (ANNA, 2, None)])
    hall.match(
        [(BERT, 2, Termination.CRASH), (ANNA, 1, None)],
        [(ANNA, 2, None), (BERT, 1, None)],
        opening="a1a2",
    )
    hall.meet(ANNA, BERT, games=6, wins=4)
    hall.meet(ANNA, CARL, games=2, wins=1, draws=1)
    hall.meet(BERT, CARL, games=4, wins=1)
    with database.read() as session:
        anna, bert = (session.get_one(Bot, hall.bots[n].id) for n in (ANNA, BERT))
        (ladder,) = competitions_of_both(session, anna, bert)
        found = duel(session, anna, bert, ladder)
        back = duel(session, bert, anna, ladder)
    assert found.score == Score(4, 0, 2)
    assert back.score == Score(2, 0, 4)
    assert found.faults == (0, 1)
    assert back.faults == (1, 0)
    assert {split.name: split.score for split in found.seats} == {
        "White": Score(2, 0, 1),
        "Black": Score(2, 0, 1),
    }
    assert {split.name: split.score for split in found.openings} == {
        "from the start": Score(3, 0, 1),
        "a1a2": Score(1, 0, 1),
    }
    assert [split.name for split in found.versions] == ["v1 against v1"]
    (common,) = found.common
    assert (common.first, common.second) == (Score(1, 1, 0), Score(1, 0, 3))
    # Of three pairs one is worth 2 points and two are worth 1: a mean score of 4/6, which is
    # 400 log10(2) Elo, but for what empty cells count for.
    assert found.elo is not None
    assert found.elo.elo == pytest.approx(120.41, abs=0.5)
    assert len(found.games) == 6


def test_a_race_is_compared_start_by_start(database: Database) -> None:
    """Each raced alone: the ranks of the two games of a match say who was better."""
    hall = Hall(database, "puzzle", task="full")
    hall.match([(ANNA, 1, None)], [(BERT, 2, None)])
    hall.meet(ANNA, BERT, games=1, wins=1)
    with database.read() as session:
        anna, bert = (session.get_one(Bot, hall.bots[n].id) for n in (ANNA, BERT))
        found = duel(session, anna, bert, session.get_one(Ladder, hall.ladder.id))
    assert found.score == Score(1, 0, 0)
    assert found.elo is None


def test_who_never_met_is_said_so(database: Database) -> None:
    """Without a meeting there is no competition of both."""
    hall = Hall(database, "clobber", size="4x4")
    with database.read() as session:
        bots = [session.get_one(Bot, hall.bots[n].id) for n in (ANNA, CARL)]
        assert competitions_of_both(session, *bots) == []
