"""Two who do the same at the same moment: one of them is first, and the other is told so."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import sittings
from arena.audit import ARENA, Actor
from arena.bots import entries, first_tests
from arena.bots.bot_deeds import ShareBot, UnshareBot
from arena.bots.submissions import enter, submit
from arena.competitions import ladder_settings, strength_tests, tournament_fields, tournaments
from arena.competitions.players import NamedPlayer, named_players
from arena.competitions.strength_deeds import StopTest
from arena.competitions.strength_plans import StrengthPlan
from arena.competitions.tournament_deeds import ChangeTournament
from arena.ground.config import Settings
from arena.ground.db import Database
from arena.ground.locks import lock
from arena.ground.refusals import Refusal
from arena.models import (
    AuditEntry,
    Bot,
    BotVersion,
    Check,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Place,
    Role,
    Sitting,
    StrengthTest,
    TestVerdict,
    Tournament,
    User,
    VersionStatus,
)
from arena.people import accounts
from arena.people.accounts import PeopleError
from arena.schedule import allocation, matchmaking
from arena.strength.sequential import StrengthError
from engine.games import GAMES
from engine.reporting import Finding
from tests.arena.doing import do
from tests.arena.meanwhile import Deed, Pause, at_once, give_way
from tests.arena.simulator import give_sign
from tests.arena.web.signing_in import now, pages, person, signed_in

VARIANT = GAMES["clobber"].variant(size="4x3")


@pytest.fixture
def furnished(database: Database) -> Database:
    """An arena with a ladder, on which ada's bot has three versions, the last one active."""
    ada = person(database, "ada", Role.ADMINISTRATOR)
    person(database, "eve", Role.ADMINISTRATOR)
    with database.begin() as session:
        ladder_settings.create(session, ARENA, "ladder", VARIANT, {}, now())
    for digest in "123":
        with database.begin() as session:
            version = _submit(session, ada, digest)
            version.status = VersionStatus.READY
            enter(session, _ladder(session), version, now())
    return database


def _ladder(session: Session) -> Ladder:
    return session.scalars(sa.select(Ladder)).one()


def _submit(session: Session, owner: User, digest: str, name: str = "bot") -> BotVersion:
    files = {"digest": digest * 64, "size": 9, "language": "Python"}
    owner = session.get_one(User, owner.id)
    return submit(session, owner, name, **files, ladder=_ladder(session), now=now())


def _count(database: Database, kind: type[object], *where: sa.ColumnElement[bool]) -> int:
    with database.read() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(kind).where(*where)) or 0


@pytest.mark.parametrize(("digests", "versions"), [("44", 4), ("45", 5)], ids=["same", "other"])
def test_a_form_with_a_bot(furnished: Database, digests: str, versions: int) -> None:
    """The same files are one version with one check, others the next version."""
    ada = person(furnished, "ada")
    first, second = (lambda session, d=digest: _submit(session, ada, d) for digest in digests)
    at_once(furnished, first, second)
    assert _count(furnished, BotVersion) == _count(furnished, Check) == versions


def test_a_form_with_a_new_bot(furnished: Database) -> None:
    """It is one bot."""
    ada = person(furnished, "ada")
    at_once(furnished, *[lambda session: _submit(session, ada, "7", "newbot")] * 2)
    assert _count(furnished, Bot, Bot.name == "newbot") == 1


def test_two_versions_that_enter(furnished: Database) -> None:
    """One of a bot's versions is active in the end."""

    def entering(number: int) -> Deed:
        def deed(session: Session) -> None:
            version = sa.select(BotVersion).where(BotVersion.number == number)
            enter(session, _ladder(session), session.scalars(version).one(), now())

        return deed

    at_once(furnished, entering(1), entering(2))
    with furnished.read() as session:
        active = sa.select(BotVersion.number).join(Entrant, Entrant.version_id == BotVersion.id)
        found = session.scalars(active.where(Entrant.state == EntrantState.ACTIVE)).all()
    assert found == [2]


def _new_ladder(session: Session) -> None:
    ladder_settings.create(session, ARENA, "cup", VARIANT, {}, now())


def _new_tournament(session: Session, *, bots: int = 2) -> None:
    plan = tournaments.TournamentPlan("cup", VARIANT, _ladder(session).time, "round-robin")
    field = named_players(session, [f"bot:{number}" for number in range(1, bots + 1)])
    tournaments.create(session, plan, field, now(), ARENA)


@pytest.mark.parametrize(
    ("make", "error"),
    [(_new_ladder, Refusal), (_new_tournament, Refusal)],
    ids=["ladder", "tournament"],
)
def test_two_competitions_of_one_name(
    furnished: Database, make: Deed, error: type[Exception]
) -> None:
    """The second is told that the name is taken."""
    with pytest.raises(error, match="there is a competition cup already"):
        at_once(furnished, make, make)


def test_a_pause_as_a_tournament_ends(furnished: Database) -> None:
    """It is over, and stays so."""
    with furnished.begin() as session:
        _new_tournament(session)

    def end(session: Session) -> None:
        cup = session.scalars(sa.select(Tournament)).one()
        cup.state, cup.finished = CompetitionState.CLOSED, now()

    def pause(session: Session) -> None:
        cup = session.scalars(sa.select(Tournament)).one()
        do(session, ChangeTournament(cup.name, "paused"), now())

    with pytest.raises(Refusal, match="the tournament cup is over"):
        at_once(furnished, end, pause)


@pytest.mark.parametrize("recording", [False, True], ids=["all else is done", "recording a match"])
def test_who_is_withdrawn_as_matches_are_issued(furnished: Database, recording: bool) -> None:
    """Its own are not if it was first, else they are played; neither holds what the other waits
    for."""
    with furnished.begin() as session:
        _new_tournament(session, bots=3)
        give_sign(session, "worker", now(), slots=8)
        assert len(list(matchmaking.new_matches(session, now()))) == 3
        (gone,) = session.scalars(sa.select(Entrant).where(Entrant.number == 1))
        its = sa.select(Match.id).where(Match.places.any(Place.entrant_id == gone.id))
        *_, last = session.scalars(its.order_by(Match.id))

    def leave(session: Session) -> None:
        cup = session.scalars(sa.select(Tournament)).one()
        entrant = session.get_one(Entrant, gone.id)
        tournament_fields.withdraw(session, cup, entrant, "it hangs", now(), ARENA)

    def record(session: Session) -> None:
        session.get_one(Match, last, with_for_update=True)

    def issue(session: Session) -> None:
        allocation.fill(session, Settings(), now())

    if recording:
        at_once(furnished, record, leave, rest=issue)
    else:
        at_once(furnished, leave, issue)
    void = _count(furnished, Match, Match.status == JobStatus.VOID)
    assert _count(furnished, Match, Match.status == JobStatus.ISSUED) == 3 - void
    assert void == 2 or (recording and void < 2)


def test_a_stop_as_a_test_is_decided(furnished: Database) -> None:
    """The verdict stands."""
    with furnished.begin() as session:
        new, old = named_players(session, ["bot:2", "bot:1"])
        plan = StrengthPlan.on(_ladder(session))
        strength_tests.create(session, plan, new, old, now(), ARENA)

    def decide(session: Session) -> None:
        test = session.scalars(sa.select(StrengthTest)).one()
        strength_tests.end(session, test, TestVerdict.PASSED, "", now())

    def stop(session: Session) -> None:
        test = session.scalars(sa.select(StrengthTest)).one()
        do(session, StopTest(test.id), now())

    with pytest.raises(StrengthError, match="is over: passed"):
        at_once(furnished, decide, stop)


def _retire(session: Session) -> None:
    on_ladder = sa.select(Entrant).where(Entrant.competition_id == _ladder(session).id)
    third = on_ladder.join(Entrant.version).where(BotVersion.number == 3)
    entries.retire(session, ARENA, session.scalars(third).one(), now())


def _withdraw(session: Session) -> None:
    bot = session.scalars(sa.select(Bot)).one()
    entries.withdraw(session, ARENA, bot, now())


@pytest.mark.parametrize(
    ("leave", "active"), [(_retire, [4]), (_withdraw, [])], ids=["version", "bot"]
)
def test_who_leaves_as_a_test_for_its_place_is_passed(
    furnished: Database, leave: Deed, active: list[int]
) -> None:
    """Neither holds what the other waits for. The test was first: of the version that it let
    enter nobody said that it is to leave, but of the whole bot."""
    ada = person(furnished, "ada")
    with furnished.begin() as session:
        ladder, new = _ladder(session), _submit(session, ada, "4")
        new.status = VersionStatus.READY
        passed = [Finding(True, "played").to_json()]
        session.execute(sa.update(Check).values(status=JobStatus.FIXED, findings=passed))
        (old,) = named_players(session, ["bot:3"])
        strength_tests.create(
            session, StrengthPlan.on(ladder), NamedPlayer(new), old, now(), ARENA, ladder=ladder
        )
    lock_and_rest = Pause(lock)

    def pass_it(session: Session) -> None:
        test = session.scalars(sa.select(StrengthTest)).one()
        lock_and_rest(session, test)  # as the recorder does
        strength_tests.end(session, test, TestVerdict.PASSED, "", now())
        first_tests.conclude(session, test, now())

    lock_and_rest.between(furnished, pass_it, leave)
    with furnished.read() as session:
        test = session.scalars(sa.select(StrengthTest)).one()
        assert test.verdict is TestVerdict.PASSED
        there = sa.select(BotVersion.number).join(Entrant, Entrant.version_id == BotVersion.id)
        there = there.where(
            Entrant.competition_id == _ladder(session).id, Entrant.state == EntrantState.ACTIVE
        )
        assert session.scalars(there).all() == active


@pytest.mark.parametrize(
    ("who", "games"),
    [("ada ada", 1), ("ada eve", 2), ("guest guest", 1), ("ada guest", 2)],
)
def test_forms_of_one_number_that_begin_a_game(furnished: Database, who: str, games: int) -> None:
    """Each person begins one, whatever number others gave their form."""

    def beginning(name: str) -> Deed:
        here = (
            sittings.Person("guest", guest="digest")
            if name == "guest"
            else sittings.Person(name, person(furnished, name).id)
        )

        def deed(session: Session) -> None:
            opponent = sittings.opponent_named(session, _ladder(session), "bot")
            wish = sittings.Wish(_ladder(session), 0, (opponent,), False, "form", 5)
            assert here.plays(sittings.begin(session, here, wish, now(), most_open=5))

        return deed

    at_once(furnished, *map(beginning, who.split()))
    assert _count(furnished, Sitting) == games


def test_who_enters_while_ratings_are_made_anew(furnished: Database) -> None:
    """It takes over the rating that comes out."""
    ada = person(furnished, "ada")
    with furnished.begin() as session:
        _submit(session, ada, "8").status = VersionStatus.READY

    def make_anew(session: Session) -> None:
        ladder = _ladder(session)
        lock(session, ladder)  # as the last part of a rebuild does
        session.execute(sa.update(Entrant).values(mu=31.0))

    def enter_another(session: Session) -> None:
        version = session.scalars(sa.select(BotVersion).order_by(BotVersion.id.desc())).first()
        assert version is not None
        enter(session, _ladder(session), version, now())

    at_once(furnished, make_anew, enter_another)
    with furnished.read() as session:
        newest = sa.select(Entrant.mu).order_by(Entrant.id.desc()).limit(1)
        assert session.scalar(newest) == 31.0


def test_who_comes_back_while_ratings_are_made_anew(furnished: Database) -> None:
    """Neither holds what the other waits for."""
    with furnished.begin() as session:
        session.execute(sa.update(Entrant).values(state=EntrantState.SUSPENDED))

    lock_and_rest = Pause(lock)

    def make_anew(session: Session) -> None:
        lock_and_rest(session, _ladder(session))
        session.execute(sa.update(Entrant).values(mu=31.0))

    def come_back(session: Session) -> None:
        version = session.scalars(sa.select(BotVersion).order_by(BotVersion.id.desc())).first()
        assert version is not None
        enter(session, _ladder(session), version, now())

    lock_and_rest.between(furnished, make_anew, come_back)
    assert _count(furnished, Entrant, Entrant.mu == 31.0) == 3
    assert _count(furnished, Entrant, Entrant.state == EntrantState.ACTIVE) == 1


def test_two_administrators_who_shut_each_other_out(furnished: Database) -> None:
    """One remains."""

    def shutting_out(name: str) -> Deed:
        return lambda session: accounts.set_active(
            session, ARENA, accounts.get(session, name), active=False, now=now()
        )

    with pytest.raises(PeopleError, match="only administrator"):
        at_once(furnished, shutting_out("ada"), shutting_out("eve"))
    assert _count(furnished, User, User.active, User.role == Role.ADMINISTRATOR) == 1


def test_a_token_that_is_revoked_twice(furnished: Database) -> None:
    """The second is told that it is gone."""
    app = pages(furnished)
    browser = signed_in(app, "ada")
    browser.post("/account/tokens", {"name": "ci", "scopes": "read"}, page="/account")
    secret = browser.secret("/account")
    with ThreadPoolExecutor(1) as pool:
        with furnished.begin() as session:
            token = accounts.tokens_of(session, person(furnished, "ada").id)[0]
            accounts.revoke_token(session, ARENA, token, now())
            session.flush()
            address = f"/account/tokens/{token.id}/revoke"
            again = pool.submit(browser.client.post, address, data={"csrf_token": secret})
            give_way(furnished, again.done)
        assert again.result(60).status_code == 404
    app.extensions["arena.database"].close()


def test_a_share_that_is_ended_twice(furnished: Database) -> None:
    """The second is told that it is ended, and one note is kept."""

    def deed(which: type[ShareBot | UnshareBot]) -> Deed:
        def change(session: Session) -> None:
            do(session, which(session.scalars(sa.select(Bot)).one().name, "eve"), now())

        return change

    with furnished.begin() as session:
        deed(ShareBot)(session)
    with pytest.raises(Refusal, match="eve is no co-owner of the bot"):
        at_once(furnished, deed(UnshareBot), deed(UnshareBot))
    assert _count(furnished, AuditEntry, AuditEntry.action == "unshare") == 1


def _lock_ladder(session: Session) -> None:
    lock(session, _ladder(session))


def _submit_fourth(session: Session) -> None:
    _submit(session, accounts.get(session, "ada"), "4")


def _make_ladder(session: Session) -> None:
    ada = accounts.get(session, "ada")
    actor = Actor(ada.id, ada.name, "")
    ladder_settings.create(session, actor, "another", VARIANT, {}, now())


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    ("first", "second"),
    [(_lock_ladder, _submit_fourth), (_submit_fourth, _make_ladder)],
    ids=["the check's ladder", "the ladder's maker"],
)
def test_who_refers_to_what_another_has_locked(
    furnished: Database, first: Deed, second: Deed
) -> None:
    """They do not wait: two who each did so for the other would be a deadlock."""
    with furnished.begin() as session:
        first(session)
        with furnished.begin() as other:
            other.execute(sa.text("SET LOCAL lock_timeout = '1s'"))
            second(other)
