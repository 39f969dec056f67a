"""What people get of a ladder, however many bots they have there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import pytest
import sqlalchemy as sa

from arena.competitions.kind import Moment
from arena.competitions.ladders import PEOPLE_IN_PLACEMENT, LadderField, Newcomer
from arena.competitions.pairings import DueMatch
from arena.formats.roster import Met, Rival, Roster
from arena.ground.db import Database
from arena.models import (
    HOUSE,
    Bot,
    BotVersion,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    User,
)
from arena.ratings.book import NEW
from arena.schedule.matchmaking import new_matches
from tests.arena.formats.fields import by_the_ladder, play_field
from tests.arena.simulator import CALM, START, Simulation

CLOBBER = [("clobber", {"size": "4x3"})]


def furnish(database: Database, bots: Sequence[int], ladders: int = 1) -> None:
    """Ladders on which each person, numbered from 1, has so many bots."""
    Simulation(database, 0, CALM).furnish(CLOBBER * ladders, bots=sum(bots))
    with database.begin() as session:
        owners = [owner for owner, its in enumerate(bots, 1) for _ in range(its)]
        session.add_all(User(name=f"p{owner}", created=START) for owner in range(2, len(bots) + 1))
        session.flush()
        for bot, owner in zip(
            session.scalars(sa.select(Bot).order_by(Bot.id)), owners, strict=True
        ):
            bot.owner_id = owner


def make(session: sa.orm.Session, count: int) -> Counter[int]:
    """Makes so many matches, and tells how many games each person has of them."""
    made = list(islice(new_matches(session, START), count))
    session.flush()
    whose = dict(
        session.execute(
            sa.select(Entrant.id, Bot.owner_id).join(Entrant.version).join(BotVersion.bot)
        ).all()
    )
    return Counter(
        whose[place.entrant_id] for match in made for place in match.places for _ in "12"
    )


def play(session: sa.orm.Session) -> None:
    """Has all that is made played, without a rating."""
    games = Counter[int]()
    for seq, match in enumerate(session.scalars(sa.select(Match).order_by(Match.id)), 1):
        if match.status is JobStatus.OPEN:
            match.status, match.seq = JobStatus.FIXED, seq
            games.update(place.entrant_id for place in match.places)
    for entrant, matches in games.items():
        its = session.get_one(Entrant, entrant)
        its.games = its.wins = its.games + 2 * matches
    session.flush()


@pytest.mark.long
def test_fifty_bots_of_one_person_get_what_one_gets(sqlite_database: Database) -> None:
    """Beside 20 people with one bot each, all of them new: docs/ladders.md has the figures.

    In the mean a person has 40 games. One with fifty bots in placement is ahead of the others by
    one placement, 20 games, at most; and by another match, of its own bots.
    """
    furnish(sqlite_database, [50, *[1] * 20])
    with sqlite_database.begin() as session:
        had = make(session, 210)
        play(session)
        had += make(session, 210)
        others = [had[person] for person in range(2, 22)]
        assert max(others) - min(others) <= 8
        assert max(others) - 4 <= had[1] <= max(others) + 20 + 8


@pytest.mark.long
def test_a_person_with_many_bots_makes_nobody_elses_less_known() -> None:
    """20 people with a bot each, and one with 50. Once those have had a placement each, the board
    is nearly the truth; that of the 20 is it sooner.
    """
    people = [*range(1, 21), *[21] * 50]
    early, late = (
        play_field(by_the_ladder, 1, bots=70, games=games, people=people) for games in (20, 320)
    )
    assert early.of_those_with_one > 0.96
    assert late.correlation > 0.95
    assert late.fewest >= 20
    assert late.by_person[21] <= max(late.by_person[one] for one in range(1, 21)) + 20 + 8


def test_one_persons_newcomers_do_not_keep_other_ladders_waiting(
    sqlite_database: Database,
) -> None:
    """On the first of two ladders 9 bots come in of somebody who has them there alone.

    The second waits for about one placement, not for nine; then the ladders share.
    """
    furnish(sqlite_database, [9, 1, 1], ladders=2)
    with sqlite_database.begin() as session:
        first, second = session.scalars(sa.select(Ladder).order_by(Ladder.id))
        old = sa.select(Entrant.id).join(Entrant.version).join(BotVersion.bot)
        old = old.where(sa.or_(Bot.owner_id > 1, Entrant.competition_id == second.id))
        session.execute(
            sa.update(Entrant).where(Entrant.id.in_(old)).values(games=100, wins=100, sigma=2)
        )
        session.flush()
        turns = [match.competition for match in islice(new_matches(session, START), 100)]
    at_first = turns.index(second)
    assert 5 <= at_first <= 30
    after = turns[at_first + at_first :]
    assert 0.4 < after.count(first) / len(after) < 0.6


def test_each_bot_of_the_house_takes_turns_as_a_person_does(sqlite_database: Database) -> None:
    """A guest beside eight of them, all placed, has a ninth of the games and not half of them."""
    furnish(sqlite_database, [8, 1])
    with sqlite_database.begin() as session:
        session.execute(sa.update(User).where(User.id == 1).values(name=HOUSE))
        session.execute(sa.update(Entrant).values(games=100, wins=100, sigma=4))
        session.flush()
        had = make(session, 180)
    assert sum(had.values()) == 720
    assert 72 <= had[2] <= 88


def test_a_ladder_with_a_guest_does_not_wait_for_those_of_the_house_alone(
    sqlite_database: Database,
) -> None:
    """On the first of two ladders somebody's bot is placed, and has played with all of the house's;
    on the second these have just come in. Both go on."""
    furnish(sqlite_database, [8, 1], ladders=2)
    with sqlite_database.begin() as session:
        first, second = session.scalars(sa.select(Ladder).order_by(Ladder.id))
        session.execute(sa.update(User).where(User.id == 1).values(name=HOUSE))
        guests = sa.select(Entrant).join(Entrant.version).join(BotVersion.bot)
        for guest in session.scalars(guests.where(Bot.owner_id == 2)):
            guest.games, guest.wins, guest.losses = 22, 5, 17
            if guest.competition_id == second.id:
                guest.state = EntrantState.RETIRED
        of_first = Entrant.competition_id == first.id, Entrant.games == 0
        session.execute(sa.update(Entrant).where(*of_first).values(games=6, wins=6))
        session.flush()
        turns = [match.competition for match in islice(new_matches(session, START), 40)]
    assert 0.4 < turns.count(first) / len(turns) < 0.6


HAD: list[tuple[dict[int, int], list[tuple[int, int]], bool]] = [
    # The games that people had, their newcomers, and whether one of these is due first. The other
    # one's placed bot has had 50.
    ({1: 50, 2: 50}, [(1, 0)], True),
    ({1: 70, 2: 50}, [(1, 0)], True),
    ({1: 71, 2: 50}, [(1, 0)], False),
    ({1: 71, 2: 50, 3: 60}, [(1, 0), (3, 0)], True),
    ({1: 71, 2: 50}, [(1, 0), (1, 19)], False),
]


@pytest.mark.parametrize(("had", "young", "is_urgent"), HAD)
def test_a_newcomer_goes_first_until_its_person_is_a_placement_ahead(
    had: dict[int, int], young: list[tuple[int, int]], is_urgent: bool
) -> None:
    """Not even then is anybody due again and again: then the others catch up."""
    rivals = [Rival(99, NEW, 100, 2)]
    rivals += [Rival(number, NEW, games, whose) for number, (whose, games) in enumerate(young)]
    field = LadderField(Ladder(game="clobber", options={}), Roster(rivals, had), Met(), [])
    newcomers = [Newcomer(number, is_of_the_house=False) for number in range(len(young))]
    assert (field.urgency(newcomers) == PEOPLE_IN_PLACEMENT) is is_urgent
    field.add(DueMatch((99, 0), rated=True))
    assert field.roster.had == {**had, 2: had[2] + 2, young[0][0]: had[young[0][0]] + 2}


def test_what_people_had_is_that_of_all_their_bots_lately(database: Database) -> None:
    """Those that were retired meanwhile, too; void and unrated matches are no games of a ladder's.

    Who has come alone has nobody to take turns with.
    """
    furnish(database, [2, 1])
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        made = list(islice(new_matches(session, START), 6))
        play(session)
        made[0].status, made[1].rated = JobStatus.VOID, False
        retired = session.get_one(Entrant, made[2].places[0].entrant_id)
        retired.state = EntrantState.RETIRED
        session.flush()
        moment = Moment(session, START, {})
        field = LadderField.read(ladder, moment)
        whose = {1: 1, 2: 1, 3: 2}
        counted = Counter(
            whose[place.entrant_id] for m in made[2:] for place in m.places for _ in "12"
        )
        expected = counted if len({whose[one.id] for one in field.roster.all}) > 1 else {}
        assert field.roster.had == expected
