"""Tournaments for which bots sign up: places, the waiting list, check-in, and the field drawn.

Moments are by the clock of the database: dates that are past are laid into the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Thread
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import Actor
from arena.bots.deletion import DeleteBot
from arena.bots.submissions import enter
from arena.competitions import drawn_fields, sign_ups
from arena.competitions.fields import MOST_ENTRANTS, entrants_of
from arena.competitions.happenings import happen_next
from arena.competitions.results import results
from arena.competitions.sign_up_deeds import CheckInBot, SignOffBot, SignUpBot
from arena.competitions.tournament_deeds import (
    ChangeTournament,
    CreateTournament,
    EnterTournament,
)
from arena.competitions.tournament_progress import new_frame
from arena.deeds import By, perform
from arena.ground.db import Database, database_time
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import (
    SIGNING_UP,
    AuditEntry,
    Bot,
    BotVersion,
    CompetitionDate,
    CompetitionState,
    Entrant,
    EntrantState,
    Ladder,
    Notification,
    Scope,
    SignUp,
    Tournament,
    User,
    VersionStatus,
    Visibility,
)
from arena.people.notifications import text_of
from arena.schedule import matchmaking
from arena.sight import Reader
from engine.games import GAMES
from tests.arena.simulator import CALM, Simulation

MINUTE = timedelta(minutes=1)
BOTS = 6


@dataclass
class Hall:
    """A ladder of six bots: the first two are ada's, the others each somebody's."""

    database: Database
    now: datetime

    def create(self, **chosen: Any) -> None:
        given: dict[str, Any] = {"format": "swiss", "ladder": "ladder-0", "sign_up": True}
        until = (self.now + 60 * MINUTE).isoformat()
        given |= {"dates": {"entries-close": until}} | chosen
        self.do(CreateTournament("cup", **given))

    def do(self, deed: Any, who: int | None = None, minutes: float = 0) -> str:
        """Does a deed for a user by number, or for an organiser."""
        scopes = {Scope.SUBMIT, Scope.READ} if who else set(Scope)
        actor = Actor(who, f"user {who}" if who else "organiser", "a test")
        with self.database.begin() as session:
            # An organiser of the site sees all.
            by = By(
                actor, frozenset(scopes), self.now + minutes * MINUTE, reader=Reader(who, not who)
            )
            return perform(session, deed, by).said

    def sign_up(self, *bots: str) -> list[str]:
        return [self.do(SignUpBot("cup", bot)) for bot in bots]

    def listed(self, minutes: float = 0) -> list[tuple[str, str]]:
        """Those that signed up, each with its place, or why it would not play."""
        with self.database.read() as session:
            found = cup(session)
            now = self.now + minutes * MINUTE
            return [
                (
                    place.sign_up.bot.name,
                    place.hindered or f"{'waits ' * place.waits}{place.number}",
                )
                for place in sign_ups.places_of(session, found, now)
            ]

    def lay(self, minutes: float) -> None:
        """Has the entries close so many minutes from now."""
        with self.database.begin() as session:
            date = session.scalars(sa.select(CompetitionDate)).one()
            date.at = self.now + minutes * MINUTE

    def happen(self) -> None:
        while self.database.run(happen_next):
            pass

    def field(self) -> list[str]:
        with self.database.read() as session:
            return [one.version.label for one in entrants_of(session, cup(session))]

    def told(self) -> list[tuple[str, str]]:
        with self.database.read() as session:
            rows = session.execute(
                sa.select(User.name, Notification)
                .join(User, User.id == Notification.user_id)
                .order_by(Notification.id)
            )
            return [(name, text_of(one)) for name, one in rows]


def cup(session: Session) -> Tournament:
    return session.scalars(sa.select(Tournament)).one()


def hall_in(database: Database) -> Hall:
    Simulation(database, 0, CALM).furnish([("clobber", {"size": "4x3"})], bots=BOTS)
    with database.begin() as session:
        session.scalars(sa.select(User)).one().name = "ada"
        session.execute(sa.update(BotVersion).values(status=VersionStatus.READY))
        now = database_time(session)
        for number, bot in enumerate(session.scalars(sa.select(Bot).order_by(Bot.id))):
            if number > 1:
                bot.owner = User(name=f"p{number}", created=now)
        for number, one in enumerate(session.scalars(sa.select(Entrant).order_by(Entrant.id))):
            one.mu, one.games, one.wins = 20 + number, 10 * number, 10 * number
    return Hall(database, now)


@pytest.fixture
def hall(database: Database) -> Hall:
    return hall_in(database)


@pytest.fixture
def house(sqlite_database: Database) -> Hall:
    return hall_in(sqlite_database)


def test_a_tournament_waits_for_those_who_sign_up(hall: Hall) -> None:
    """Nothing is played, and its pages have nothing but who signed up; then it begins by itself."""
    hall.create(places=3, each_person=2)
    with hall.database.read() as session:
        found = cup(session)
        assert (found.standing, found.state) == (SIGNING_UP, CompetitionState.PAUSED)
        assert not results(session, found).standings
    hall.sign_up("bot-0", "bot-1", "bot-2")
    assert hall.sign_up("bot-3:1") == ["the bot bot-3 v1 is on the waiting list of cup"]
    assert hall.listed() == [
        ("bot-0", "1"),
        ("bot-1", "2"),
        ("bot-2", "3"),
        ("bot-3", "waits 1"),
    ]
    hall.happen()
    assert hall.field() == []
    hall.lay(-1)
    hall.happen()
    hall.happen()
    # By their ratings, the strongest first.
    assert hall.field() == ["bot-2 v1", "bot-1 v1", "bot-0 v1"]
    with hall.database.begin() as session:
        found = cup(session)
        assert (found.standing, found.settings["rounds"]) == ("open", 2)
        assert next(matchmaking.new_matches(session, hall.now, only="cup")).competition is found
        deeds = session.scalars(sa.select(AuditEntry.action)).all()
        assert deeds.count("draw field") == 1
    assert hall.told() == [
        ("p3", "bot-3 does not play in the tournament cup: all places were taken"),
        ("ada", "the tournament cup begins, and bot-0 plays in it"),
        ("ada", "the tournament cup begins, and bot-1 plays in it"),
        ("p2", "the tournament cup begins, and bot-2 plays in it"),
    ]


REFUSED: list[tuple[dict[str, Any], Any, int | None, str]] = [
    ({}, SignUpBot("cup", "nobody"), None, "there is no bot 'nobody'"),
    ({}, SignUpBot("cup", "bot-0"), 2, "the bot bot-0 is not yours"),
    ({}, SignUpBot("cup", "bot-0:7"), None, "there is no version 7 of the bot bot-0"),
    ({}, SignUpBot("cup", "bot-0:depth=3"), None, "bots sign up without options"),
    ({}, SignUpBot("cup", "retired"), None, "retired is not active on the ladder ladder-0"),
    (
        {"rated_games": 20},
        SignUpBot("cup", "bot-0"),
        None,
        "bot-0 has had 0 rated games on the ladder ladder-0, and needs 20",
    ),
    ({}, SignOffBot("cup", "bot-0"), None, "bot-0 is not signed up for cup"),
    ({}, CheckInBot("cup", "bot-0"), None, "bot-0 is not signed up for cup"),
    ({}, EnterTournament("cup", ("bot-0",)), None, "bots sign up for cup: arena tournament sign"),
]


@pytest.mark.parametrize(("chosen", "deed", "who", "said"), REFUSED)
def test_who_can_not_sign_up_is_told_why(
    house: Hall, chosen: dict[str, Any], deed: Any, who: int | None, said: str
) -> None:
    """And nothing is changed."""
    house.create(**chosen)
    with house.database.begin() as session:
        retired = session.scalars(sa.select(Bot).where(Bot.name == "bot-5")).one()
        retired.name = retired.lower_name = "retired"
        its = sa.select(BotVersion.id).where(BotVersion.bot_id == retired.id)
        gone = sa.update(Entrant).where(Entrant.version_id.in_(its))
        session.execute(gone.values(state=EntrantState.RETIRED))
    with pytest.raises(Refusal, match=said):
        house.do(deed, who)
    assert house.listed() == []


def test_who_is_suspended_everywhere_signs_up_nowhere(house: Hall) -> None:
    """Without a ladder, too; one that is active on another ladder of the game does."""
    with house.database.begin() as session:
        for one in session.scalars(sa.select(Entrant).order_by(Entrant.id).limit(2)).all():
            one.state, one.reason = EntrantState.SUSPENDED, "6 of its last 10 games"
        ladder = session.scalars(sa.select(Ladder)).one()
        other = Ladder(
            name="other", title="Other", variant=ladder.variant, time=ladder.time,
            memory_bytes=ladder.memory_bytes, draw_probability=0.1, seed=1, created=house.now,
            state=CompetitionState.OPEN,
        )  # fmt: skip
        session.add(other)
        session.flush()
        enter(session, other, one.version, house.now)
    house.create(ladder="", game="clobber size=4x3")
    with pytest.raises(Refusal, match="bot-0 is suspended for its faults: bring it back on a"):
        house.sign_up("bot-0")
    house.sign_up("bot-1", "bot-2")
    assert [name for name, _ in house.listed()] == ["bot-1", "bot-2"]


CREATED: list[tuple[dict[str, Any], str]] = [
    ({"dates": {}}, "say until when bots sign up"),
    ({"top": 3}, "leave out bots, top and as_given"),
    ({"bots": ("bot-0", "bot-1")}, "leave out bots, top and as_given"),
    ({"format": "round-robin", "places": 200}, "these are 19900 matches"),
    ({"settings": {"cycles": 2}}, "no setting"),
    ({"dates": {"entries-close": "2020-01-01"}}, "is past"),
]


@pytest.mark.parametrize(("chosen", "said"), CREATED)
def test_what_can_be_no_such_tournament_is_refused(
    house: Hall, chosen: dict[str, Any], said: str
) -> None:
    with pytest.raises(Refusal, match=said):
        house.create(**chosen)


@pytest.mark.parametrize(
    ("form", "game", "options", "places"),
    [
        ("round-robin", "clobber", {}, 100),  # 100 * 99 / 2 = 4950 matches; 101 have 5050
        ("gauntlet", "clobber", {}, MOST_ENTRANTS),
        # 86 rounds of 57 tables have places for all pairs, 4902 matches; 173 bots need 88.
        ("balanced", "blokus", {"mode": "trio"}, 172),
    ],
)
def test_as_many_places_as_a_tournament_can_have(
    form: str, game: str, options: dict[str, str], places: int
) -> None:
    """It has 5000 matches at most. No schedule is made, which of large fields takes minutes."""
    variant = GAMES[game].variant(**options)
    assert sign_ups.most_places(form, lambda size: new_frame(variant, size, 1), {}) == places


def test_no_version_is_drawn_that_few_may_know(house: Hall) -> None:
    """But the one that its owner named for it."""
    game = {"game": "clobber size=4x3", "move": 100, "ladder": "", "each_person": 2}
    house.create(**game)
    house.sign_up("bot-0", "bot-1", "bot-2:1")
    with house.database.begin() as session:
        session.scalars(sa.select(Ladder)).one().visibility = Visibility.PRIVATE
    hidden = "no version of bot-0 has passed its check"
    assert house.listed() == [
        ("bot-0", hidden),
        ("bot-1", hidden.replace("0", "1")),
        ("bot-2", "3"),
    ]


def test_nobody_else_enters_a_version_that_few_may_know(house: Hall) -> None:
    """They can't by its number, in a tournament that is there, or in one that is to be public."""
    with house.database.begin() as session:
        session.scalars(sa.select(Ladder)).one().visibility = Visibility.PRIVATE
    words = "bot-0 v1 is known only where not everybody sees it who sees cup: its owner can enter"
    game = {"game": "clobber size=4x3", "move": 100, "ladder": ""}
    with pytest.raises(NotAllowed, match=words):
        house.create(
            **game, sign_up=False, bots=("bot-0:1", "bot-1:1"), visibility="public", dates={}
        )
    house.create(**game)
    with pytest.raises(NotAllowed, match=words):
        house.do(SignUpBot("cup", "bot-0:1"))
    assert house.do(SignUpBot("cup", "bot-0:1"), 1) == "the bot bot-0 v1 is signed up for cup"
    with house.database.begin() as session:
        cup(session).signing_up, cup(session).sign_up = False, None
    with pytest.raises(NotAllowed, match="bot-1 v1 is known only where"):
        house.do(EnterTournament("cup", ("bot-1",)))


def test_each_person_signs_up_so_many(house: Hall) -> None:
    """Whose the bot is counts; an organiser who adds one is held by it, too."""
    house.create()
    house.do(SignUpBot("cup", "bot-0"), 1)
    for who in (1, None):
        with pytest.raises(Refusal, match="each person may sign up so many bots for cup: 1"):
            house.do(SignUpBot("cup", "bot-1"), who)
    # Again is no other sign-up: it says which version plays.
    assert house.do(SignUpBot("cup", "bot-0:1"), 1) == "the bot bot-0 v1 is signed up for cup"
    house.do(SignOffBot("cup", "bot-0"), 1)
    house.do(SignUpBot("cup", "bot-1"), 1)


def test_who_signs_off_makes_room_for_the_next(house: Hall) -> None:
    """The next on the list is told; who leaves the list itself moves nobody into the field. Whose
    bot an organiser takes out is told why."""
    house.create(places=2, each_person=2)
    house.sign_up("bot-0", "bot-1", "bot-2", "bot-3")
    house.do(SignOffBot("cup", "bot-2", "it is a copy"))
    taken_out = "An organiser took bot-2 out of the tournament cup: it is a copy"
    assert house.told() == [("p2", taken_out)]
    house.do(SignOffBot("cup", "bot-0"), 1)
    assert house.told()[1:] == [("p3", "bot-3 has a place in the tournament cup now")]
    house.sign_up("bot-0")
    assert house.listed() == [("bot-1", "1"), ("bot-3", "2"), ("bot-0", "waits 1")]


def test_a_bot_that_is_deleted_signs_off(hall: Hall) -> None:
    """And the next moves up, as if its owner had signed it off."""
    hall.create(places=1 + 1)
    hall.sign_up("bot-2", "bot-3", "bot-4")
    with hall.database.begin() as session:
        owner = session.scalars(sa.select(Bot.owner_id).where(Bot.name == "bot-2")).one()
    hall.do(DeleteBot("bot-2"), owner)
    assert hall.listed() == [("bot-3", "1"), ("bot-4", "2")]
    assert hall.told() == [("p4", "bot-4 has a place in the tournament cup now")]


def test_who_is_not_checked_in_does_not_play(hall: Hall) -> None:
    """It opens ten minutes before; whoever signs up then need not. The waiting list moves up."""
    hall.create(places=2, each_person=2, check_in=10, seeding="order")
    hall.sign_up("bot-0", "bot-1", "bot-2", "bot-3")
    hall.database.run(drawn_fields.open_check_ins)
    assert hall.told() == []
    with pytest.raises(Refusal, match="the check-in of cup opens later"):
        hall.do(CheckInBot("cup", "bot-0"))
    hall.lay(5)
    hall.database.run(drawn_fields.open_check_ins)
    hall.database.run(drawn_fields.open_check_ins)
    told = hall.told()
    assert [name for name, _ in told] == ["ada", "ada", "p2", "p3"]
    assert told[2][1].startswith("the check-in of the tournament cup is open until 2")
    hall.do(CheckInBot("cup", "bot-1"), 1)
    hall.do(CheckInBot("cup", "bot-3"))
    hall.sign_up("bot-4")
    assert hall.listed()[0] == ("bot-0", "it is not checked in")
    assert hall.listed()[-1] == ("bot-4", "waits 3")
    hall.lay(-1)
    with pytest.raises(Refusal, match="nobody signs up for cup since"):
        hall.do(CheckInBot("cup", "bot-0"))
    hall.happen()
    assert hall.field() == ["bot-1 v1", "bot-3 v1"]
    assert hall.told()[4:] == [
        ("ada", "bot-0 does not play in the tournament cup: it was not checked in"),
        ("p2", "bot-2 does not play in the tournament cup: it was not checked in"),
        ("p4", "bot-4 does not play in the tournament cup: all places were taken"),
        ("ada", "the tournament cup begins, and bot-1 plays in it"),
        ("p3", "bot-3 got a place in the tournament cup, which begins"),
    ]


def test_who_meets_the_conditions_no_more_is_left_out(house: Hall) -> None:
    """The version that plays is the one that is fielded then, unless one was chosen."""
    house.create(each_person=2, seeding="order")
    house.sign_up("bot-0", "bot-1", "bot-2:1", "bot-3")
    with house.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        for name, state in (("bot-0", None), ("bot-2", None), ("bot-3", EntrantState.SUSPENDED)):
            bot = session.scalars(sa.select(Bot).where(Bot.name == name)).one()
            old = session.scalars(sa.select(BotVersion).where(BotVersion.bot_id == bot.id)).one()
            its = session.scalars(sa.select(Entrant).where(Entrant.version_id == old.id)).one()
            its.state = state or EntrantState.RETIRED
            if state is None:
                new = BotVersion(
                    bot=bot,
                    number=2,
                    digest="1" * 64,
                    size=1,
                    language="Python",
                    status=VersionStatus.READY,
                    created=house.now,
                )
                session.add(
                    Entrant(
                        competition=ladder,
                        version=new,
                        state=EntrantState.ACTIVE,
                        entered=house.now,
                        entered_after=0,
                        mu=25.0,
                        sigma=8.0,
                    )
                )
    house.lay(-1)
    house.happen()
    assert house.field() == ["bot-0 v2", "bot-1 v1", "bot-2 v1"]
    with house.database.read() as session:
        dropped = session.scalars(sa.select(SignUp.dropped).where(SignUp.dropped != "")).all()
        assert dropped == ["bot-3 is not active on the ladder ladder-0"]


@pytest.mark.parametrize("bots", [(), ("bot-2",)])
def test_too_few_call_it_off(house: Hall, bots: tuple[str, ...]) -> None:
    house.create()
    house.sign_up(*bots)
    house.lay(-1)
    house.happen()
    with house.database.read() as session:
        found = cup(session)
        assert found.standing == "called off"
        assert found.reason == f"it takes 2 bots, and {len(bots)} could play"
        assert not results(session, found).standings
    said = "the tournament cup was called off: it takes 2 bots, and 1 could play"
    assert house.told() == [("p2", said)] * len(bots)


def test_an_organiser_begins_it_before(house: Hall) -> None:
    """Without a check-in that has not opened; the date that comes later does nothing more."""
    house.create(check_in=10, seeding="random", settings={"rounds": 5})
    house.sign_up("bot-2", "bot-3", "bot-4")
    house.do(ChangeTournament("cup", "open"))
    assert sorted(house.field()) == ["bot-2 v1", "bot-3 v1", "bot-4 v1"]
    with pytest.raises(Refusal, match="the field of cup is drawn"):
        house.sign_up("bot-5")
    before = house.field()
    house.lay(-1)
    house.happen()
    assert house.field() == before
    with house.database.read() as session:
        # As near to what was chosen as three bots can have it.
        assert cup(session).settings["rounds"] < 5


def test_two_sign_up_for_the_last_place_at_once(hall: Hall) -> None:
    """One of them has it, and the other is first on the waiting list; of one person's two bots one
    is refused."""
    hall.create(places=1 + 1)
    hall.sign_up("bot-2")
    said: list[str] = []

    def ask(bot: str) -> None:
        try:
            said.append(hall.do(SignUpBot("cup", bot)))
        except Refusal as error:
            said.append(str(error))

    for pair, ends in (
        (("bot-3", "bot-4"), {"is signed up for cup", "is on the waiting list of cup"}),
        (("bot-0", "bot-1"), {"is on the waiting list of cup", "bots for cup: 1"}),
    ):
        said.clear()
        threads = [Thread(target=ask, args=(bot,)) for bot in pair]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {next(end for end in ends if one.endswith(end)) for one in said} == ends
    assert [how for _, how in hall.listed()] == ["1", "2", "waits 1", "waits 2"]


def test_the_draw_is_as_of_its_moment(house: Hall) -> None:
    """A recorder that slept for a day draws whom it would have drawn then: a check-in that was
    open then is asked for, and who came too late was refused by the date itself."""
    house.create(each_person=2, check_in=30)
    house.sign_up("bot-0", "bot-1", "bot-2")
    house.lay(20)
    house.do(CheckInBot("cup", "bot-0"), 1)
    house.do(CheckInBot("cup", "bot-2"))
    house.lay(-24 * 60)
    with pytest.raises(Refusal, match="nobody signs up for cup since"):
        house.sign_up("bot-3")
    house.happen()
    assert sorted(house.field()) == ["bot-0 v1", "bot-2 v1"]
