"""Teams: whose their bots are, what counts for whom, and how one comes and goes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA, Actor
from arena.bots import entries, quota, sharing, teams
from arena.bots.account_deletion import DeleteUser
from arena.bots.bot_deeds import ShareBot
from arena.bots.deletion import DeleteBot
from arena.bots.ladder_quotas import quotas_of
from arena.bots.submissions import SubmissionError, submit
from arena.bots.team_deeds import (
    DescribeTeam,
    DissolveTeam,
    FoundTeam,
    GiveBot,
    HandOverTeam,
    JoinTeam,
    LeaveTeam,
    RemoveTeamMember,
    RenameTeam,
    RenewTeamCode,
)
from arena.competitions.rosters import Rosters
from arena.deeds import By, Deed, perform
from arena.ground.db import Database
from arena.ground.refusals import NotAllowed, NotThere, Refusal
from arena.models import (
    SCOPES,
    Bot,
    CompetitionDate,
    DateKind,
    Entrant,
    EntrantState,
    Ladder,
    MemberRole,
    Membership,
    Notification,
    Role,
    Team,
    User,
    Visibility,
)
from arena.people import accounts
from arena.people.accounts import PeopleError
from arena.people.notifications import text_of
from tests.arena.bots.test_entries import NOW, version
from tests.arena.bots.test_ladder_quotas import passes, set_quotas
from tests.arena.bots.test_submissions import furnished, ladder, person, take_in
from tests.arena.doing import do


def by(session: Session, user: User, *, stored: int | None = None) -> By:
    shared = sharing.shared_with(session, user.id)
    scopes = SCOPES[Role.PARTICIPANT]
    return By(Actor(user.id, user.name, ""), scopes, NOW, shared, stored_bytes=stored)


def does(session: Session, user: User, deed: Deed) -> object:
    return perform(session, deed, by(session, user)).answer


def people(session: Session, *names: str) -> list[User]:
    return [accounts.add(session, ARENA, name, now=NOW) for name in names]


def founded(session: Session, captain: User, *others: User) -> Team:
    team = does(session, captain, FoundTeam("Knights"))
    assert isinstance(team, Team)
    code = does(session, captain, RenewTeamCode("knights")).code  # type: ignore[attr-defined]
    for one in others:
        does(session, one, JoinTeam(code.upper()))
    return team


def told(session: Session, user: User) -> list[str]:
    its = sa.select(Notification).where(Notification.user_id == user.id)
    return [text_of(one) for one in session.scalars(its.order_by(Notification.id))]


def test_a_teams_bots_are_its_members(database: Database) -> None:
    """Each hands in versions, and reads what an owner may; who leaves may no more, and the bot
    stays."""
    with database.begin() as session:
        ada, bob, eve = people(session, "ada", "bob", "eve")
        bot = version(session, bob, "knight").bot
        team = founded(session, ada, bob)
        does(session, bob, GiveBot("knight", "KNIGHTS"))
        assert (bot.owner, bot.person_id) == (team, ada.id)
        assert session.scalars(sa.select(Bot.person_id).where(Bot.is_of(ada.id))).all() == [ada.id]
        assert session.scalars(sa.select(Bot).where(Bot.is_of(bob.id))).all() == []
        assert sharing.owners(session, bot) == {team.id, ada.id, bob.id}
        assert version(session, ada, "knight", "b").label == "knight v2"
        with pytest.raises(SubmissionError, match="of another owner"):
            version(session, eve, "knight", "c")
        assert [one.name for one, _, _ in entries.bots_of(session, ada.id)] == ["knight"]
        with pytest.raises(NotAllowed, match="only Knights can"):
            does(session, bob, DeleteBot("knight"))
        with pytest.raises(NotAllowed, match="only Knights can give"):
            does(session, bob, GiveBot("knight", "bob"))
        does(session, ada, ShareBot("knight", "eve"))
        does(session, bob, LeaveTeam("knights"))
        with pytest.raises(SubmissionError, match="of another owner"):
            version(session, bob, "knight", "c")
        assert bot.owner is team
        does(session, ada, GiveBot("knight", "ada"))
        assert bot.owner is ada
        assert told(session, ada) == [
            "bob joined the team Knights",
            "the bot knight is the team Knights's now",
            "bob left the team Knights",
        ]


def test_nobody_has_more_by_founding_teams(database: Database) -> None:
    """A team has what its captain has, and takes turns as the captain does, whoever hands in."""
    with database.begin() as session:
        furnished(session)
        ada, bob = person(session), person(session, "bob")
        take_in(session, ada, "one")
        take_in(session, ada, "two", "b")
        passes(session)
        founded(session, ada, bob)

        def counted() -> list[tuple[int, ...]]:
            return [
                tuple(part.had for part in quotas_of(session, ladder(session), who.id, NOW))
                for who in (ada, bob)
            ]

        def turns() -> set[int]:
            read = Rosters().read(session, ladder(session), boxed=True, at_home=False)
            return {one.person for one in read.roster.all}

        does(session, ada, GiveBot("two", "knights"))
        assert (counted(), turns()) == ([(2, 2, 2), (0, 0, 0)], {ada.id})
        take_in(session, bob, "two", "c")
        assert counted() == [(2, 2, 3), (0, 0, 0)]
        assert quota.stored_bytes(session, bob.id) == 0
        with pytest.raises(Refusal, match="nobody can be it of two teams"):
            does(session, ada, FoundTeam("more"))
        does(session, ada, HandOverTeam("knights", "bob"))
        assert (counted(), turns()) == ([(1, 1, 1), (1, 1, 2)], {ada.id, bob.id})


TOO_MUCH: list[tuple[dict[str, int], Deed, str]] = [
    ({"bots": 1}, GiveBot("three", "knights"), "ada would have 2 bots on"),
    ({"active": 1}, GiveBot("three", "knights"), "ada would have 2 bots active on"),
    ({"uploads": 1}, GiveBot("three", "knights"), "ada would have handed in 2 versions to"),
    ({"bots": 1}, HandOverTeam("knights", "bob"), "bob would have 2 bots on"),
    ({"bots": 2}, GiveBot("three", "knights"), ""),
    ({"bots": 2}, HandOverTeam("knights", "bob"), ""),
    # What one has already is not too much, wherever it is.
    ({"bots": 0, "active": 0, "uploads": 0}, GiveBot("one", "ada"), ""),
]


def test_nobody_has_more_by_what_is_given(
    sqlite_database: Database, subtests: pytest.Subtests
) -> None:
    """Neither a bot nor a team is taken over beside as much as each person may have."""
    with sqlite_database.begin() as session:
        furnished(session)
        ada, bob = person(session), person(session, "bob")
        for who, name in ((ada, "one"), (bob, "three")):
            take_in(session, who, name, name[1])
        passes(session)
        founded(session, ada, bob)
        does(session, ada, GiveBot("one", "knights"))
    for most, deed, words in TOO_MUCH:
        with subtests.test(deed=deed, most=most), sqlite_database.begin() as session:
            set_quotas(session, **most)
            user = accounts.get(session, "bob" if deed == GiveBot("three", "knights") else "ada")
            if words:
                with pytest.raises(Refusal, match=words):
                    does(session, user, deed)
            else:
                does(session, user, deed)
            session.rollback()
    with sqlite_database.begin() as session:
        ada, bob = accounts.get(session, "ada"), accounts.get(session, "bob")
        stored = quota.stored_bytes(session, ada.id)
        with pytest.raises(Refusal, match="that you may have stored"):
            perform(session, GiveBot("three", "knights"), by(session, bob, stored=stored))
        session.rollback()
    with sqlite_database.begin() as session:
        his = by(session, accounts.get(session, "bob"))
        with pytest.raises(Refusal, match="ada would have 2 bots here, and each person may have 1"):
            perform(session, GiveBot("three", "knights"), replace(his, bots_a_person=1))
        session.rollback()


REFUSED: list[tuple[str, Deed, type[Exception], str]] = [
    ("eve", FoundTeam("ada"), Refusal, "the name ada is taken"),
    ("eve", FoundTeam("knights"), Refusal, "the name knights is taken"),
    ("eve", FoundTeam("Arena"), Refusal, "the name Arena is taken"),
    ("eve", FoundTeam("a b"), Refusal, "'a b' is no name"),
    ("eve", JoinTeam("none"), NotThere, "nothing is joined by the code 'none'"),
    ("eve", LeaveTeam("knights"), Refusal, "eve is no member of the team Knights"),
    ("ada", LeaveTeam("knights"), Refusal, "ada is the captain of the team Knights"),
    ("ada", LeaveTeam("nobody"), NotThere, "there is no team 'nobody'"),
    ("ada", LeaveTeam("eve"), NotThere, "there is no team 'eve'"),
    ("bob", DescribeTeam("knights"), NotAllowed, "only its captain decides"),
    ("bob", RenameTeam("knights", "rooks"), NotAllowed, "only its captain decides"),
    ("bob", RenewTeamCode("knights"), NotAllowed, "only its captain decides"),
    ("bob", RemoveTeamMember("knights", "ada"), NotAllowed, "only its captain decides"),
    ("bob", HandOverTeam("knights", "bob"), NotAllowed, "only its captain decides"),
    ("bob", DissolveTeam("knights"), NotAllowed, "only its captain decides"),
    ("ada", RemoveTeamMember("knights", "nobody"), NotThere, "there is no user 'nobody'"),
    ("ada", RemoveTeamMember("knights", "ada"), Refusal, "ada is the captain"),
    ("ada", RemoveTeamMember("knights", "eve"), Refusal, "eve is no member"),
    ("ada", HandOverTeam("knights", "eve"), Refusal, "eve is no member"),
    ("ada", RenameTeam("knights", "bob"), Refusal, "the name bob is taken"),
    ("ada", DissolveTeam("knights"), Refusal, "has bots (knight)"),
    ("ada", GiveBot("knight", "knights"), Refusal, "is Knights's already"),
    ("ada", GiveBot("knight", "eve"), Refusal, "eve is no member"),
    ("eve", GiveBot("hers", "knights"), Refusal, "eve is no member"),
    ("eve", GiveBot("hers", "bob"), NotThere, "there is no team 'bob'"),
    ("eve", GiveBot("knight", "knights"), NotAllowed, "only Knights can give"),
    ("eve", ShareBot("hers", "knights"), PeopleError, "Knights is a team"),
]  # fmt: skip


def test_what_can_not_be_done_is_said(sqlite_database: Database, subtests: pytest.Subtests) -> None:
    """It is told to whom a team is not given, and what is not there."""
    with sqlite_database.begin() as session:
        some = {one.name: one for one in people(session, "ada", "bob", "eve")}
        version(session, some["ada"], "knight")
        version(session, some["eve"], "hers")
        founded(session, some["ada"], some["bob"])
        does(session, some["ada"], GiveBot("knight", "knights"))
    for who, deed, error, words in REFUSED:
        with subtests.test(who=who, deed=deed), sqlite_database.begin() as session:
            user = accounts.get(session, who)
            with pytest.raises(error) as raised:
                does(session, user, deed)
            assert words in str(raised.value)
            session.rollback()


def test_who_is_deactivated_is_given_nothing(sqlite_database: Database) -> None:
    """Neither the captaincy nor a bot; they are removed as others are."""
    with sqlite_database.begin() as session:
        ada, bob = people(session, "ada", "bob")
        version(session, ada, "knight")
        founded(session, ada, bob)
        does(session, ada, GiveBot("knight", "knights"))
        bob.active = False
        for deed in (HandOverTeam("knights", "bob"), GiveBot("knight", "bob")):
            with pytest.raises(Refusal, match="the account bob is deactivated"):
                does(session, ada, deed)
        does(session, ada, RemoveTeamMember("knights", "bob"))


def test_a_captain_goes(database: Database) -> None:
    """The team is the next one's then; with the last member it goes, and its bots with it."""
    with database.begin() as session:
        ada, bob, eve = people(session, "ada", "bob", "eve")
        version(session, ada, "knight")
        team = founded(session, ada, bob)
        join = does(session, ada, RenewTeamCode("knights")).code  # type: ignore[attr-defined]
        teams.join(session, team, eve, NOW + timedelta(hours=1))
        does(session, ada, GiveBot("knight", "knights"))
        do(session, DeleteUser("ada", "ada"), NOW)
        assert (team.captain, [one.user for one in teams.members_of(session, team)]) == (
            bob,
            [bob, eve],
        )
        does(session, bob, HandOverTeam("knights", "eve"))
        does(session, eve, RemoveTeamMember("knights", "bob"))
        assert told(session, bob)[-1] == "you are not in the team Knights any more"
        do(session, DeleteUser("eve", "eve"), NOW)
        assert (team.name, team.captain_id) == (f"deleted team {team.id}", None)
        assert session.scalars(sa.select(Bot).where(Bot.deleted.is_(None))).all() == []
        with pytest.raises(NotThere):
            does(session, bob, JoinTeam(join))
        does(session, bob, FoundTeam("Knights"))


def test_a_team_has_a_name_of_before(database: Database) -> None:
    """As people have: it leads there, and no person can have it."""
    with database.begin() as session:
        (ada,) = people(session, "ada")
        team = founded(session, ada)
        does(session, ada, RenameTeam("knights", "Rooks"))
        does(session, ada, DescribeTeam("KNIGHTS", "We are *rooks*."))
        assert (team.name, team.description) == ("Rooks", "We are *rooks*.")
        with pytest.raises(PeopleError, match="is taken"):
            accounts.add(session, ARENA, "knights", now=NOW)
        with pytest.raises(PeopleError, match="Rooks is a team: name one of its members"):
            accounts.get(session, "knights")
        assert [one.name for one in accounts.listed(session)] == ["ada"]
        does(session, ada, DissolveTeam("rooks"))
        assert accounts.add(session, ARENA, "rooks", now=NOW)


def test_a_private_ladder_is_its_members(database: Database) -> None:
    """A team's bot plays on a private ladder as long as one of the team is a member there."""
    with database.begin() as session:
        furnished(session)
        ada, bob = person(session), person(session, "bob")
        take_in(session, bob, "knight")
        passes(session)
        founded(session, ada, bob)
        does(session, bob, GiveBot("knight", "knights"))
        its = ladder(session)
        its.visibility = Visibility.PRIVATE
        session.add(
            Membership(competition_id=its.id, user_id=bob.id, role=MemberRole.MEMBER, joined=NOW)
        )
        session.flush()
        (entrant,) = (
            one for one in session.scalars(sa.select(Entrant)) if one.version.bot.name == "knight"
        )
        does(session, ada, RemoveTeamMember("knights", "bob"))
        assert entrant.state is EntrantState.RETIRED


def test_bots_leave_private_ladders_with_the_last_account_that_is_a_member(
    sqlite_database: Database,
) -> None:
    """A team's, one that is shared with whoever goes, and one that passes to somebody else."""
    with sqlite_database.begin() as session:
        furnished(session)
        ada, bob = person(session), person(session, "bob")
        for owner, name, content in (
            (ada, "knight", "a"), (ada, "shared", "b"), (bob, "passed", "c"), (ada, "own", "d"),
        ):  # fmt: skip
            take_in(session, owner, name, content)
        passes(session)
        founded(session, ada, bob)
        does(session, ada, GiveBot("knight", "knights"))
        does(session, ada, ShareBot("shared", "bob"))
        does(session, bob, ShareBot("passed", "ada"))
        its = ladder(session)
        its.visibility = Visibility.PRIVATE
        session.add(
            Membership(competition_id=its.id, user_id=bob.id, role=MemberRole.MEMBER, joined=NOW)
        )
        session.flush()
        does(session, bob, DeleteUser("bob", "bob"))
        states = {one.version.bot.name: one.state for one in session.scalars(sa.select(Entrant))}
        assert {states[one] for one in ("knight", "shared", "passed")} == {EntrantState.RETIRED}
        assert states["own"] is EntrantState.ACTIVE, "nobody left it"


def test_nobody_has_more_by_a_captain_from_outside(sqlite_database: Database) -> None:
    """Nor by a bot that somebody shares who is no member of a private ladder with quotas."""
    with sqlite_database.begin() as session:
        furnished(session)
        ada, bob = person(session), person(session, "bob")
        take_in(session, bob, "own")
        take_in(session, ada, "another", "b")
        passes(session)
        team = founded(session, ada, bob)
        does(session, ada, ShareBot("another", "bob"))
        its = ladder(session)
        its.visibility, its.most_bots = Visibility.PRIVATE, 2
        joined = {"competition_id": its.id, "role": MemberRole.MEMBER, "joined": NOW}
        session.add(Membership(user_id=bob.id, **joined))
        session.flush()

        def hands_in(name: str, team: Team | None = None) -> None:
            submit(
                session, bob, name, digest="c" * 64, size=1, language="C", ladder=its, team=team,
                now=NOW,
            )  # fmt: skip

        for name, whose in (("new", team), ("another", None)):
            outside = pytest.raises(Refusal, match="ada, for whom the bot counts, is no member of")
            with outside, session.begin_nested():
                hands_in(name, whose)
        hands_in("own")
        session.add(Membership(user_id=ada.id, **joined))
        session.flush()
        hands_in("new", team)


def test_a_private_ladder_is_told_to_nobody(sqlite_database: Database) -> None:
    """Not to a captain who is no member there: neither why a bot is too much for somebody, nor that
    bots are frozen, which hinders nobody from leaving the team."""
    with sqlite_database.begin() as session:
        furnished(session)
        ada, bob = person(session), person(session, "bob")
        for name, content in (("knight", "a"), ("own", "b")):
            take_in(session, bob, name, content)
        passes(session)
        founded(session, ada, bob)
        does(session, bob, GiveBot("knight", "knights"))
        its = ladder(session)
        its.visibility, its.most_bots = Visibility.PRIVATE, 1
        session.add_all(
            (
                Membership(
                    competition_id=its.id, user_id=bob.id, role=MemberRole.MEMBER, joined=NOW
                ),
                CompetitionDate(
                    competition=its, what=DateKind.FREEZE, at=NOW - timedelta(hours=1), settings={}
                ),
            )
        )
    with sqlite_database.begin() as session:
        ada = accounts.get(session, "ada")
        much = pytest.raises(Refusal, match=r"^bob would have more than each person may have$")
        with much, session.begin_nested():
            does(session, ada, HandOverTeam("knights", "bob"))
        does(session, ada, RemoveTeamMember("knights", "bob"))
        states = sa.select(Entrant.state)
        assert set(session.connection().scalars(states)) == {EntrantState.ACTIVE}


def test_who_is_given_a_bot_shares_it_no_more(sqlite_database: Database) -> None:
    """Else it passed to themselves when they delete their account, and stayed."""
    with sqlite_database.begin() as session:
        ada, bob = people(session, "ada", "bob")
        bot = version(session, ada, "knight").bot
        founded(session, ada, bob)
        does(session, ada, ShareBot("knight", "bob"))
        for to in ("knights", "bob"):
            does(session, ada, GiveBot("knight", to))
        assert sharing.co_owners(session, bot) == []
        do(session, DeleteUser("bob", "bob"), NOW)
        assert session.scalars(sa.select(Bot.id)).all() == []


def test_nobody_gives_a_bot_to_a_team_that_ends(database: Database) -> None:
    """Who does so at the same moment is waited for; and members are told which one it was."""
    with database.begin() as session:
        ada, bob = people(session, "ada", "bob")
        version(session, bob, "knight")
        founded(session, ada, bob)

    def dissolve() -> str:
        with database.begin() as session:
            try:
                return perform(
                    session, DissolveTeam("knights"), by(session, accounts.get(session, "ada"))
                ).said
            except Refusal as error:
                return str(error)

    with ThreadPoolExecutor() as pool:
        with database.begin() as session:
            bob = accounts.get(session, "bob")
            does(session, bob, GiveBot("knight", "knights"))
            ending = pool.submit(dissolve)
            assert not wait([ending], timeout=0.3).done
        assert "the team Knights has bots (knight)" in ending.result(20)
    with database.begin() as session:
        does(session, accounts.get(session, "ada"), GiveBot("knight", "bob"))
        team, bob = session.scalars(sa.select(Team)).one(), accounts.get(session, "bob")
        does(session, accounts.get(session, "ada"), DissolveTeam("knights"))
        assert told(session, bob)[-1] == "the team Knights was dissolved"
        with pytest.raises(SubmissionError, match="bob is no member of the team"):
            submit(
                session, bob, "new", digest="c" * 64, size=1, language="C",
                ladder=session.scalars(sa.select(Ladder)).first(), team=team, now=NOW,
            )  # fmt: skip
