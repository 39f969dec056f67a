"""Who sees a competition, who belongs to it, and what follows for the bots in it."""

from __future__ import annotations

import csv
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA, Actor
from arena.bots.member_deeds import (
    AddMember,
    ChangeVisibility,
    ImportMembers,
    JoinCompetition,
    LeaveCompetition,
    RemoveMember,
    RenewJoinCode,
)
from arena.competitions import strength_plans, strength_tests
from arena.competitions.date_deeds import SetDate
from arena.competitions.ladder_deeds import ChangeLadder
from arena.competitions.ladder_settings import SETTINGS
from arena.competitions.players import NamedPlayer
from arena.competitions.renaming import RenameCompetition
from arena.deeds import By, Deed, perform
from arena.ground.db import Database
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import (
    SCOPES,
    AccountLink,
    Bot,
    BotVersion,
    Check,
    CompetitionDate,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Membership,
    Role,
    Scope,
    User,
    Visibility,
)
from arena.people import accounts
from arena.sight import Reader, roles_of
from tests.arena.test_sight import LADDERS, NOW, furnish


def by(session: Session, name: str) -> By:
    """Somebody as they are at a page."""
    user = session.scalars(sa.select(User).where(User.name == name)).one()
    roles = roles_of(session, user.id)
    return By(
        Actor(user.id, user.name, ""),
        SCOPES[user.role],
        NOW,
        reader=Reader(user.id, False, frozenset(roles)),
        organised=frozenset(one for one, role in roles.items() if role == "organiser"),
    )


SHUT = sa.select(Ladder).where(Ladder.name == "shut")
ALL = By(ARENA, frozenset(Scope), NOW, reader=Reader(sees_all=True))


def done(session: Session, deed: Deed, name: str = "") -> Any:
    found = perform(session, deed, by(session, name) if name else ALL)
    session.flush()
    return found.answer


def test_one_joins_by_code_and_leaves_with_one_s_bots(sqlite_database: Database) -> None:
    its = furnish(sqlite_database)
    with sqlite_database.begin() as session:
        code = done(session, RenewJoinCode("shut")).code
        typed = code.upper().replace("-", " ")
        with pytest.raises(Refusal, match="there is no competition 'shut'"):
            done(session, LeaveCompetition("shut"), "ada")
        assert done(session, JoinCompetition(typed), "ada").id == its["shut"]
        assert "already" in perform(session, JoinCompetition(code), by(session, "ada")).said
        active = sa.select(sa.func.count()).select_from(Entrant)
        active = active.where(
            Entrant.competition_id == its["shut"], Entrant.state == EntrantState.ACTIVE
        )
        assert session.scalar(active) == 2
        leaving = LeaveCompetition("shut")
        assert "no other member has" in leaving.asks(session, by(session, "ada"))
        done(session, leaving, "ada")
        assert session.scalar(active) == 0
        assert session.scalars(sa.select(Membership)).all() == []
        assert done(session, RenewJoinCode("shut", off=True)).code is None
        with pytest.raises(Refusal, match="nothing is joined by"):
            done(session, JoinCompetition(code), "bob")


def test_bots_stay_that_another_member_owns_and_where_all_may_play(
    sqlite_database: Database,
) -> None:
    its = furnish(sqlite_database)
    with sqlite_database.begin() as session:
        for name in ("shut", "open"):
            done(session, AddMember(name, "ada"))
            removing = RemoveMember(name, "ada")
            assert bool(removing.asks(session, ALL)) is (name == "shut")
        done(session, RemoveMember("open", "ada"))
        there = session.scalars(sa.select(Entrant).where(Entrant.competition_id == its["open"]))
        assert {one.state for one in there} == {EntrantState.ACTIVE}


def test_who_leaves_leaves_frozen_bots_there(sqlite_database: Database) -> None:
    its = furnish(sqlite_database)
    with sqlite_database.begin() as session:
        there = sa.select(Entrant.state).where(Entrant.competition_id == its["shut"])
        done(session, AddMember("shut", "ada"))
        session.add(CompetitionDate(competition_id=its["shut"], what="freeze", at=NOW, settings={}))
        session.flush()
        assert RemoveMember("shut", "ada").asks(session, ALL) == ""
        done(session, RemoveMember("shut", "ada"))
        done(session, AddMember("shut", "ada"))
        done(session, LeaveCompetition("shut"), "ada")
        assert session.scalars(sa.select(Membership)).all() == []
        assert set(session.scalars(there)) == {EntrantState.ACTIVE}


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("", "this is needed"),
        ("name\n\n", "the list is empty"),
        ("ann\nb b\n", "line 2: 'b b' is no name"),
        ("ann\nADA", "line 2: the name ADA is taken"),
        ("ann\nguest", "line 2: the name guest is taken"),
        ("ann\nbert\nAnn", "line 3: Ann stands in line 1, too"),
        ("ann,ann@example.org", "line 1: give a name alone"),
        ("\n".join(f"p{number}" for number in range(501)), "at most 500 names"),
        ("bob\n!\n", "line 1: bob is a member already; line 2: '!' is no name"),
    ],
)
def test_a_list_that_is_wrong_makes_nothing(
    sqlite_database: Database, names: str, words: str
) -> None:
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        done(session, AddMember("shut", "bob"))
        session.scalars(sa.select(User).where(User.name == "bob")).one().last_sign_in = NOW
        before = len(session.scalars(sa.select(User)).all())
        with pytest.raises(Refusal, match=words):
            done(session, ImportMembers("shut", names))
        assert len(session.scalars(sa.select(User)).all()) == before


def test_a_list_makes_accounts_and_renews_links(sqlite_database: Database) -> None:
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        first = done(session, ImportMembers("shut", "\ufeffname\nann\n bert \n".lstrip("\ufeff")))
        assert first.made == 2
        rows = list(csv.DictReader(first.links.splitlines()))
        assert [row["name"] for row in rows] == ["ann", "bert"]
        again = done(session, ImportMembers("shut", "ann\ncora"))
        assert again.made == 1
        old, new = (
            row["link"].rpartition("/")[2]
            for row in (rows[0], next(csv.DictReader(again.links.splitlines())))
        )
        later = NOW + timedelta(days=29)
        with pytest.raises(Refusal):
            accounts.find_link(session, "reset", old, later)
        assert accounts.find_link(session, "reset", new, later).user.name == "ann"
        assert len(session.scalars(sa.select(AccountLink)).all()) == 3
        # Somebody who has a bot is nobody whose account a list gives away.
        ann = session.scalars(sa.select(User).where(User.name == "ann")).one()
        bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-shut")).one()
        bot.owner_id = ann.id
        with pytest.raises(Refusal, match="ann is a member already"):
            done(session, ImportMembers("shut", "ann"))


def test_an_organiser_of_one_has_no_rights_elsewhere(sqlite_database: Database) -> None:
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        changing = {name: ChangeLadder(name, {"note": "x"}) for name in LADDERS}
        with pytest.raises(NotAllowed):
            done(session, changing["shut"], "bob")
        done(session, AddMember("shut", "bob", "organiser"))
        assert done(session, changing["shut"], "bob").note == "x"
        for name in ("open", "quiet"):
            with pytest.raises(NotAllowed):
                done(session, changing[name], "bob")
        with pytest.raises(Refusal, match="there is no ladder 'none'"):
            done(session, ChangeLadder("none", {"note": "x"}), "bob")
        # A token has it only if its owner gave it that.
        bob = session.scalars(sa.select(User).where(User.name == "bob")).one()
        ada = session.scalars(sa.select(User).where(User.name == "ada")).one()
        assert accounts.add_token(session, ARENA, bob, "t", [Scope.ORGANISE], NOW)
        with pytest.raises(Refusal, match="none that its owner has not"):
            accounts.add_token(session, ARENA, ada, "t", [Scope.ORGANISE], NOW)


def test_an_organiser_of_one_takes_no_more_of_the_workers(sqlite_database: Database) -> None:
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        done(session, AddMember("shut", "bob", "organiser"))
        of_site = [key for key, its in SETTINGS.items() if its.of_site]
        for key in of_site:
            as_it_is = SETTINGS[key].show(session.scalars(SHUT).one())
            done(session, ChangeLadder("shut", {key: as_it_is}), "bob")
            with pytest.raises(NotAllowed, match=f"{key} takes of what all competitions share"):
                done(session, ChangeLadder("shut", {key: "7"}), "bob")
        assert len(of_site) == 8
        final = partial(SetDate, "shut", "final", "2027-01-01T00:00Z")
        assert done(session, final({"reserve": "50"}), "bob").settings["reserve"] == 50
        with pytest.raises(NotAllowed, match="of more than 50 percent"):
            done(session, final({"reserve": "51"}), "bob")
    with sqlite_database.begin() as session:
        assert done(session, final({"reserve": "80"})).settings["reserve"] == 80
        # It can be moved and given less by who could not have given it as much.
        assert done(session, final({"top": "4"}), "bob").settings["reserve"] == 80
        assert done(session, final({"reserve": "20"}), "bob").settings["reserve"] == 20


def test_what_is_made_of_hidden_bots_is_hidden_with_them(sqlite_database: Database) -> None:
    its = furnish(sqlite_database)
    with sqlite_database.begin() as session:
        for check in session.scalars(sa.select(Check)):
            check.status, check.findings = JobStatus.FIXED, [{"kept": True, "words": "x"}]
        made = {}
        for name in LADDERS:
            ladder = session.get_one(Ladder, its[name])
            versions = session.scalars(
                sa.select(BotVersion)
                .join(Entrant)
                .where(Entrant.competition_id == ladder.id)
                .order_by(BotVersion.id.desc())
            ).all()
            plan = strength_plans.StrengthPlan.on(ladder)
            players = (NamedPlayer(one) for one in versions[:2])
            made[name] = strength_tests.create(session, plan, *players, NOW, ARENA)
            session.flush()
        seen = [(one.visibility, one.within_id) for one in made.values()]
        assert seen == [
            (Visibility.PUBLIC, None),
            (Visibility.UNLISTED, its["quiet"]),
            (Visibility.PRIVATE, its["shut"]),
        ]
        with pytest.raises(Refusal, match="who sees shut sees"):
            done(session, ChangeVisibility(made["shut"].name, "public"))
        done(session, ChangeVisibility("shut", "public"))
        assert (made["shut"].visibility, made["shut"].within_id) == (Visibility.PUBLIC, None)
        done(session, ChangeVisibility("open", "private"))
        assert made["open"].within_id == its["open"]
        done(session, ChangeVisibility("shut", "private"))
        assert made["shut"].within_id == its["shut"]


def test_a_list_gives_no_link_to_an_account_that_it_did_not_make(
    sqlite_database: Database,
) -> None:
    """As one that an administrator made, or another competition's list; nor does what it made
    before keep its link once it may more."""
    furnish(sqlite_database)
    with sqlite_database.begin() as session:
        prof = accounts.add(session, ARENA, "prof", now=NOW)
        done(session, ImportMembers("open", "ann"))
        done(session, ImportMembers("shut", "bert\ncleo"))
        done(session, RemoveMember("open", "ann"))
        for name in ("prof", "ann"):
            done(session, AddMember("shut", name))
            with pytest.raises(Refusal, match=f"{name} is a member already"):
                done(session, ImportMembers("shut", name))
        done(session, RenameCompetition("shut", "closed"))
        assert "bert" in done(session, ImportMembers("closed", "bert")).links
        kept = sa.select(User.name).join(AccountLink, AccountLink.user_id == User.id)
        assert set(session.scalars(kept)) == {"ann", "bert", "cleo"}
        done(session, AddMember("closed", "bert", "organiser"))
        cleo = accounts.get(session, "cleo")
        accounts.set_role(session, ARENA, cleo, Role.ORGANISER, NOW)
        assert session.scalars(kept).all() == ["ann"]
        assert prof.password is None
