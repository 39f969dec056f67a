"""Two bots side by side, counted by hand."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from arena.bots.furnish import open_ladder
from arena.formats.score import Score
from arena.ground.db import Database
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
from arena.web.api.results import EncounterResultsShape
from arena.web.encounters import Side, competitions_of_both, results_in
from engine.game import Termination
from engine.games import GAMES
from tests.arena.web.conftest import Site
from tests.conftest import on_both

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
            versions = [*((bot, 1) for bot in self.bots), (self.bots[0], 2)]
            self.entrants = [
                Entrant(
                    competition=self.ladder,
                    version=BotVersion(
                        bot=bot,
                        number=number,
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
                for bot, number in versions
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


ANNA, BERT, CARL, NEW_ANNA = range(4)


def test_a_pair_of_bots_is_counted_by_hand(database: Database) -> None:
    """Three game pairs: Anna wins one twice, the next is shared, in the last Bert crashes once.

    That Anna gave a game up is no fault.
    """
    hall = Hall(database, "clobber", size="4x4")
    hall.match([(ANNA, 1, None), (BERT, 2, None)], [(BERT, 2, None), (ANNA, 1, None)])
    hall.match([(ANNA, 1, None), (BERT, 2, None)], [(BERT, 1, None), (ANNA, 2, Termination.RESIGN)])
    hall.match(
        [(BERT, 2, Termination.CRASH), (ANNA, 1, None)],
        [(ANNA, 2, None), (BERT, 1, None)],
        opening="a1a2",
    )
    hall.meet(ANNA, BERT, games=6, wins=4)
    hall.meet(ANNA, CARL, games=2, wins=1, draws=1)
    hall.meet(BERT, CARL, games=4, wins=1)
    with database.read() as session:
        anna, bert = (Side(session.get_one(Bot, hall.bots[n].id)) for n in (ANNA, BERT))
        (ladder,) = competitions_of_both(session, anna, bert)
        found = results_in(session, anna, bert, ladder)
        back = results_in(session, bert, anna, ladder)
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


@pytest.mark.parametrize(
    ("read", "partial", "score"), [(2, False, (1, 0, 1)), (1, True, (0, 0, 1))]
)
def test_of_too_many_games_the_last_are_counted(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    read: int,
    partial: bool,
    score: tuple[int, int, int],
) -> None:
    """And that there are more is said."""
    monkeypatch.setattr("arena.web.encounters.GAMES_READ", read)
    hall = Hall(database, "clobber", size="4x4")
    hall.match([(ANNA, 1, None), (BERT, 2, None)], [(BERT, 1, None), (ANNA, 2, None)])
    with database.read() as session:
        anna, bert = (Side(session.get_one(Bot, hall.bots[n].id)) for n in (ANNA, BERT))
        found = results_in(session, anna, bert, session.merge(hall.ladder))
    assert (found.partial, found.score) == (partial, Score(*score))
    assert EncounterResultsShape.of(found).partial is partial


@pytest.mark.parametrize(
    ("game", "options", "games", "score", "seats"),
    [
        # The first seat is alone. Anna wins as the one, and as an ally against Bert; Carl's turn,
        # in which Anna and Bert are allies, is no game of the two.
        (
            "siege",
            {},
            [
                [(ANNA, 1), (BERT, 2), (CARL, 2)],
                [(BERT, 2), (CARL, 1), (ANNA, 1)],
                [(CARL, 2), (ANNA, 1), (BERT, 1)],
            ],
            Score(2, 0, 0),
            {"Black": Score(1, 0, 0), "Yellow": Score(1, 0, 0)},
        ),
        # Each holds both seats of a side, and there are two games.
        (
            "blokus",
            {"mode": "teams"},
            [
                [(ANNA, 1), (BERT, 3), (ANNA, 1), (BERT, 3)],
                [(BERT, 1), (ANNA, 3), (BERT, 1), (ANNA, 3)],
            ],
            Score(1, 0, 1),
            {
                "Blue": Score(1, 0, 0),
                "Red": Score(1, 0, 0),
                "Yellow": Score(0, 0, 1),
                "Green": Score(0, 0, 1),
            },
        ),
    ],
    ids=["allies", "two seats each"],
)
def test_games_of_many_seats_count_once_and_against_each_other(
    database: Database,
    game: str,
    options: dict[str, str],
    games: list[list[tuple[int, int]]],
    score: Score,
    seats: dict[str, Score],
) -> None:
    """One match is counted by hand; in its last game everybody crashes in every seat."""
    hall = Hall(database, game, **options)
    *first, last = games
    hall.match(
        *([(e, rank, None) for e, rank in one] for one in first),
        [(e, rank, Termination.CRASH) for e, rank in last],
    )
    with database.read() as session:
        anna, bert = (Side(session.get_one(Bot, hall.bots[n].id)) for n in (ANNA, BERT))
        found = results_in(session, anna, bert, session.get_one(Ladder, hall.ladder.id))
    assert found.score == score
    assert {split.name: split.score for split in found.seats} == seats
    assert [split.score for split in (*found.openings, *found.versions)] == [score, score]
    assert found.faults == ((0, 0) if game == "siege" else (1, 1))
    assert len(found.games) == 2
    # All of the two games or half of them; the empty cells count for a little.
    assert found.elo is not None
    assert found.elo.elo == pytest.approx(0, abs=1) if score.losses else found.elo.elo > 800


@on_both("database")
def test_a_race_is_compared_start_by_start(database: Database) -> None:
    """Each raced alone: the ranks of the two games of a match say who was better."""
    hall = Hall(database, "puzzle", task="full")
    hall.match([(ANNA, 1, None)], [(BERT, 2, None)])
    hall.meet(ANNA, BERT, games=1, wins=1)
    with database.read() as session:
        anna, bert = (Side(session.get_one(Bot, hall.bots[n].id)) for n in (ANNA, BERT))
        found = results_in(session, anna, bert, session.get_one(Ladder, hall.ladder.id))
    assert found.score == Score(1, 0, 0)
    assert found.elo is None


def test_who_never_met_is_said_so(database: Database) -> None:
    """Without a meeting there is no competition of both."""
    hall = Hall(database, "clobber", size="4x4")
    with database.read() as session:
        bots = [Side(session.get_one(Bot, hall.bots[n].id)) for n in (ANNA, CARL)]
        assert competitions_of_both(session, *bots) == []


@on_both("database")
def test_versions_are_told_apart(database: Database) -> None:
    """Old and new Anna each met Bert, and each other; a side is one of them, or both."""
    hall = Hall(database, "clobber", size="4x4")
    hall.match([(ANNA, 1, None), (BERT, 2, None)], [(BERT, 1, None), (ANNA, 2, None)])
    hall.match([(NEW_ANNA, 1, None), (BERT, 2, None)], [(BERT, 2, None), (NEW_ANNA, 1, None)])
    hall.match([(NEW_ANNA, 1, None), (ANNA, 2, None)], [(ANNA, 2, None), (NEW_ANNA, 1, None)])
    hall.meet(ANNA, BERT, games=2, wins=1)
    hall.meet(BERT, NEW_ANNA, games=2, wins=0)
    hall.meet(ANNA, NEW_ANNA, games=2, wins=0)
    with database.read() as session:
        anna, bert = (session.get_one(Bot, hall.bots[n].id) for n in (ANNA, BERT))
        for first, second, score in (
            (Side(anna), Side(bert), Score(3, 0, 1)),
            (Side(anna, 1), Side(bert), Score(1, 0, 1)),
            (Side(bert), Side(anna, 2), Score(0, 0, 2)),
            (Side(anna, 2), Side(anna, 1), Score(2, 0, 0)),
        ):
            assert first.meets(second)
            (ladder,) = competitions_of_both(session, first, second)
            assert results_in(session, first, second, ladder).score == score
        both = results_in(session, Side(anna), Side(bert), ladder)
        assert [(one.first, one.second, one.score) for one in both.versions] == [
            (1, 1, Score(1, 0, 1)),
            (2, 1, Score(2, 0, 0)),
        ]
        assert not Side(anna).meets(Side(anna, 2))
        assert not Side(anna, 2).meets(Side(anna, 2))


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/bots/bot-0:1/against/bot-1:1", 200, "bot-0</bdi> v1"),
        ("/bots/bot-0:1/against/bot-1", 200, "Versions"),
        ("/bots/bot-0:2/against/bot-0:1", 200, "They have not met."),
        ("/bots/bot-0/against/bot-0:1", 404, "Nobody has games against itself here"),
        ("/bots/bot-0/against/bot-0", 404, "Nobody has games against itself here"),
        ("/bots/bot-0:9/against/bot-1", 404, "The bot bot-0 has no version 9."),
        ("/bots/bot-0:x/against/bot-1", 404, "names no bot: write greedy, or greedy:2"),
        ("/bots/bot-0:/against/bot-1", 404, "names no bot: write greedy, or greedy:2"),
        (f"/bots/bot-0:{'9' * 30}/against/bot-1", 404, "names no bot: write greedy, or greedy:2"),
        ("/bots/none:1/against/bot-1", 404, "There is no bot none."),
    ],
)
def test_addresses_name_bots_or_versions(site: Site, address: str, status: int, words: str) -> None:
    """As commands do; what is not there is said, on pages and by the API."""
    answer = site.client.get(address)
    assert (answer.status_code, words in answer.text) == (status, True)
    told = site.client.get(f"/api/v1{address}")
    assert told.status_code == status
    if status == 404:
        assert words in told.json["detail"]
    else:
        assert told.json["bots"] == address.removeprefix("/bots/").split("/against/")
