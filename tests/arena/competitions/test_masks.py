"""Anonymous competitions: bots enter by masks, which are theirs and tell nobody so, and stand in
their own names again when it is over."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA, Actor
from arena.bots import directory, entries, ladder_quotas, sharing, teams
from arena.bots.bar_deeds import BarBot, UnbarBot
from arena.bots.bot_deeds import EnterBot, RetireBot, ShareBot, WithdrawBot
from arena.bots.deletion import DeleteBot, delete
from arena.bots.first_tests import admit
from arena.bots.home_deeds import ConnectBot
from arena.bots.member_deeds import RemoveMember
from arena.bots.notifications import tell_check
from arena.bots.profile_deeds import DescribeBot, RenameBot
from arena.bots.submissions import submit
from arena.bots.team_deeds import GiveBot
from arena.competitions import happenings, ladder_settings, masks, members, sign_ups
from arena.competitions.date_deeds import SetDate
from arena.competitions.ladder_deeds import ChangeLadder
from arena.competitions.mask_deeds import LookBehindMasks, RevealCompetition
from arena.competitions.players import NamedPlayer, named_players
from arena.competitions.rosters import Rosters
from arena.competitions.seasons import begin_again
from arena.competitions.sign_up_deeds import CheckInBot, SignOffBot, SignUpBot
from arena.competitions.strength_plans import StrengthPlan
from arena.competitions.strength_tests import create as create_test
from arena.competitions.tournament_deeds import CreateTournament
from arena.competitions.visibility import change_visibility
from arena.deeds import By, Deed, asked_before, perform
from arena.ground.db import Database, database_time
from arena.ground.refusals import Refusal
from arena.models import (
    AuditEntry,
    Bot,
    BotVersion,
    Check,
    CompetitionState,
    CoOwner,
    Entrant,
    EntrantState,
    Follow,
    FormerName,
    JobStatus,
    Ladder,
    MemberRole,
    Notification,
    Scope,
    SignUp,
    StrengthTest,
    Tournament,
    User,
    VersionStatus,
    Visibility,
)
from arena.people import audience
from arena.schedule.requests import request_matches
from arena.sight import EVERYTHING, STRANGER, Reader, look
from engine.games import find_variant

NOW = datetime(2026, 11, 1, tzinfo=UTC)
CLOBBER = find_variant("clobber", ["size=4x3"])


def ladder_of(session: Session, name: str = "quiet", **settings: str) -> Ladder:
    chosen = {"anonymous": "yes", **settings}
    return ladder_settings.create(session, ARENA, name, CLOBBER, chosen, NOW)


def person(session: Session, name: str) -> User:
    user = User(name=name, created=NOW)
    session.add(user)
    session.flush()
    return user


def by(user: User, *, shared: frozenset[int] = frozenset()) -> By:
    session = sa.orm.object_session(user)
    assert session is not None
    shared = sharing.shared_with(session, user.id)
    reader = Reader(user.id, shared=shared)
    actor = Actor(user.id, user.name, "")
    return By(actor, frozenset({Scope.SUBMIT}), NOW, shared, reader=reader)


ORGANISER = By(ARENA, frozenset(Scope), NOW, at_machine=True, reader=EVERYTHING)


def handed_in(
    session: Session,
    user: User,
    name: str,
    ladder: Ladder,
    digest: str = "a",
    *,
    enters: bool = True,
    **more: Any,
) -> BotVersion:
    """A version that was handed in, checked and admitted."""
    version = submit(
        session, user, name, digest=digest * 64, size=70, language="C", ladder=ladder, now=NOW,
        note="of mine", **more,
    )  # fmt: skip
    version.status, version.files_bytes = VersionStatus.READY, 99
    for check in session.scalars(sa.select(Check).where(Check.version_id == version.id)):
        check.status, check.enters = JobStatus.FIXED, enters
        check.findings = [{"kept": True, "words": "it plays"}]
        admit(session, check, NOW)
    session.flush()
    return version


def unmask_all(session: Session) -> int:
    count = 0
    while masks.unmask_next(session, NOW):
        count += 1
    return count


def entrant_of(session: Session, ladder: Ladder, version: BotVersion) -> Entrant:
    entered = masks.entered_as(session, ladder, version)
    query = sa.select(Entrant).where(
        Entrant.competition_id == ladder.id, Entrant.version_id == entered.id
    )
    return session.scalars(query).one()


def test_a_bot_enters_by_a_mask(database: Database) -> None:
    """It tells nothing of the bot, has a name of its own, and is its owner's and co-owners'."""
    with database.begin() as session:
        ada, bob, eve = (person(session, name) for name in ("ada", "bob", "eve"))
        ladder, other = ladder_of(session), ladder_of(session, "other")
        first = handed_in(session, ada, "alpha", ladder)
        second = handed_in(session, ada, "alpha", ladder, "b")
        session.add(CoOwner(bot_id=first.bot_id, user_id=bob.id))
        session.flush()
        old, new = (entrant_of(session, ladder, one) for one in (first, second))
        mask = new.version.bot
        assert old.version.bot is mask is not first.bot
        assert [one.version.number for one in (old, new)] == [1, 2]
        assert (old.state, new.state) == (EntrantState.RETIRED, EntrantState.ACTIVE)
        assert new.predecessor_id == old.id
        assert (mask.owner.name, mask.description, mask.open_source) == (
            "anonymous owner",
            "",
            False,
        )
        its = new.version
        assert (its.digest, its.language) == (second.digest, "C")
        assert (its.told_digest, its.size, its.files_bytes, its.note) == ("", 0, None, "")
        assert masks.masked(session, ladder, its, NOW) is its
        assert masks.masked(session, other, second, NOW).bot is not mask
        for user, owns in ((ada, True), (bob, True), (eve, False)):
            assert by(user).owns(mask) is owns
            assert (mask.id in {bot.id for bot, _, _ in entries.bots_of(session, user.id)}) is owns
        assert audience.owners(session, [mask.id]) == {ada.id, bob.id}
        assert masks.who_is_who(session, ladder) == [(mask.name, "alpha", "ada")]


def test_what_is_only_tried_is_its_owners_alone(database: Database) -> None:
    """So is it by the mask's name, though nothing that others see says so."""
    with database.begin() as session:
        ada, eve = person(session, "ada"), person(session, "eve")
        ladder = ladder_of(session)
        for digest, enters in (("a", True), ("b", False)):
            handed_in(session, ada, "alpha", ladder, digest, enters=enters)
        mask = session.scalars(sa.select(Bot).where(Bot.masks_id.is_not(None))).one()
        assert [len(named_players(session, [f"{mask.name}:2"], by(ada)))] == [1]
        (player,) = named_players(session, [mask.name], by(eve))
        assert player.version.number == 1
        with pytest.raises(Refusal, match="there is no version 2"):
            named_players(session, [f"{mask.name}:2"], by(eve))


def test_who_follows_a_bot_hears_nothing_of_its_masks(database: Database) -> None:
    """But for its owners, and for what it does under its own name."""
    with database.begin() as session:
        ada, eve = person(session, "ada"), person(session, "eve")
        ladders = ladder_of(session, "public", anonymous="no"), ladder_of(session)
        first = handed_in(session, ada, "alpha", ladders[0])
        session.add(Follow(user_id=eve.id, bot_id=first.bot_id, since=NOW))
        for ladder, heard in zip(ladders, ({ada.id, eve.id}, {ada.id}), strict=True):
            version = handed_in(session, ada, "alpha", ladder, "b")
            checks = sa.select(Check).where(
                Check.version_id == version.id, Check.ladder_id == ladder.id
            )
            session.execute(sa.delete(Notification))
            tell_check(session, session.scalars(checks).one(), NOW)
            session.flush()
            assert set(session.scalars(sa.select(Notification.user_id))) == heard


@pytest.mark.long
def test_a_team_s_mask_is_its_members(database: Database) -> None:
    """It counts as the captain's; nobody else sees whose it is, by the team's page neither."""
    with database.begin() as session:
        ada, bob, eve = (person(session, name) for name in ("ada", "bob", "eve"))
        team = teams.make(session, "knights", ada, NOW)
        teams.join(session, team, bob, NOW)
        ladders = ladder_of(session, each="1"), ladder_of(session, "public", anonymous="no")
        first = handed_in(session, ada, "alpha", ladders[1])
        first.bot.owner = team
        version = handed_in(session, ada, "alpha", ladders[0], "b")
        mask = entrant_of(session, ladders[0], version).version.bot
        whose = Bot.person_id.label("person")
        by_person = sa.select(whose, sa.func.count()).where(Bot.masked_in.is_not(None))
        assert session.execute(by_person.group_by(whose)).all() == [(ada.id, 1)]
        assert mask.person_id == ada.id
        for user, owns in ((ada, True), (bob, True), (eve, False)):
            assert by(user).owns(mask) is owns
            assert (mask.id in {bot.id for bot, _, _ in entries.bots_of(session, user.id)}) is owns
            assert audience.usually_hears(session, user.id, mask) is owns
            assert audience.usually_hears(session, user.id, ladders[0]) is owns
        assert audience.owners(session, [mask.id]) - {team.id} == {ada.id, bob.id}
        assert masks.who_is_who(session, ladders[0]) == [(mask.name, "alpha", "knights")]
        assert ladder_quotas.quotas_of(session, ladders[0], ada.id, NOW).bots.had == 1
        read = Rosters().read(session, ladders[0], boxed=True, at_home=False)
        assert [one.person for one in read.roster.all] == [ada.id]
        for deed in (GiveBot(mask.name, "ada"), ShareBot(mask.name, "eve")):
            with pytest.raises(Refusal, match="only stands for a bot"):
                perform(session, deed, by(ada))
        perform(session, GiveBot("alpha", "ada"), by(ada))
        assert not by(bob).owns(mask)
        perform(session, GiveBot("alpha", "knights"), by(ada))
    with database.read() as session:
        look(session, STRANGER)
        for name in ("knights", "ada", "bob"):
            listed = directory.bots(session, directory.Narrowing(owner=name)).items
            assert [one.bot.name for one in listed] == ["alpha"]
        for kind in (directory.people, directory.teams):
            assert {one.bots for one in kind(session, directory.ALL).items} == {1}


def test_its_owners_ask_for_matches_by_either_name(database: Database) -> None:
    """Others by the mask's alone."""
    with database.begin() as session:
        ada, bob = person(session, "ada"), person(session, "bob")
        ladder = ladder_of(session)
        handed_in(session, ada, "alpha", ladder_of(session, "public", anonymous="no"), "0")
        for owner, name, digest in ((ada, "alpha", "a"), (bob, "beta", "a"), (ada, "alpha", "b")):
            handed_in(session, owner, name, ladder, digest, enters=digest == "a")
        rows = session.execute(sa.select(Bot.name, Bot.masks_id).where(Bot.masks_id.is_not(None)))
        real = {session.get_one(Bot, row.masks_id).name: row.name for row in rows}
        alpha, beta = real["alpha"], real["beta"]

        def ask(user: User, *bots: str) -> list[str]:
            (match,) = request_matches(session, user, ladder, bots, NOW, quota=9)
            return [place.entrant.version.label for place in match.places]

        for name in ("alpha", alpha, "alpha:2", f"{alpha}:1"):
            assert ask(ada, name, beta) == [f"{alpha} v1", f"{beta} v1"]
        for name in ("alpha:3", f"{alpha}:2"):  # which was only tried
            assert ask(ada, name, beta) == [f"{alpha} v2", f"{beta} v1"]
        for name in ("alpha", "alpha:2", f"{alpha}:2"):
            with pytest.raises(Refusal, match="on the ladder quiet"):
                ask(bob, name, beta)


def test_an_organiser_takes_a_mask_off(database: Database) -> None:
    """It does not come back by another version; and whose it is can't be tried out."""
    with database.begin() as session:
        ada = person(session, "ada")
        ladder = ladder_of(session)
        version = handed_in(session, ada, "alpha", ladder)
        entrant = entrant_of(session, ladder, version)
        mask = entrant.version.bot
        for deed in (BarBot("quiet", "alpha", "why"), UnbarBot("quiet", "alpha")):
            with pytest.raises(Refusal, match="alpha is not on the ladder"):
                perform(session, deed, ORGANISER)
        with pytest.raises(Refusal, match="alpha is not on the ladder"):
            asked_before(session, BarBot("quiet", "alpha", "why"), ORGANISER)
        handed_in_late = handed_in(session, ada, "alpha", ladder_of(session, "x"), "b")
        perform(session, BarBot("quiet", mask.name, "it is a copy"), ORGANISER)
        (told,) = session.scalars(sa.select(Notification))
        assert (told.user_id, told.places["bot"]) == (ada.id, mask.name)
        for deed in (
            EnterBot("alpha", "quiet"),
            EnterBot("alpha", "quiet", handed_in_late.number),
            EnterBot(mask.name, "quiet"),
        ):
            with pytest.raises(Refusal, match="until an organiser of it lets it"):
                perform(session, deed, by(ada))
        with (
            pytest.raises(Refusal, match="until an organiser of it lets it"),
            session.begin_nested(),
        ):
            handed_in(session, ada, "alpha", ladder, "c")
        perform(session, UnbarBot("quiet", mask.name), ORGANISER)
        assert entrant.state is EntrantState.ACTIVE


def test_organisers_of_one_find_no_mask_by_people_or_bots(sqlite_database: Database) -> None:
    """Neither by asking what removing somebody would do, nor by signing a bot up or off."""
    with sqlite_database.begin() as session:
        ada, olga = person(session, "ada"), person(session, "olga")
        quiet, known = ladder_of(session), ladder_of(session, "known", anonymous="no")
        change_visibility(session, quiet, Visibility.PRIVATE, ARENA, NOW)
        members.add(session, ARENA, quiet, ada, MemberRole.MEMBER, NOW)
        handed_in(session, ada, "alpha", quiet)
        handed_in(session, ada, "beta", known, "b")
        later = (database_time(session) + timedelta(hours=1)).isoformat()
        perform(
            session,
            CreateTournament(
                "cup", "round-robin", ladder="known", sign_up=True, anonymous=True,
                dates={"entries-close": later},
            ),
            ORGANISER,
        )  # fmt: skip
        perform(session, SignUpBot("cup", "beta"), by(ada))
        (mask,) = session.scalars(sa.select(Bot).where(Bot.masked_in != quiet.id))
        cup = session.scalars(sa.select(Tournament)).one()
        organised = frozenset({quiet.id, cup.id})
        reader = Reader(olga.id, member_of=organised)
        hers = replace(by(olga), reader=reader, organised=organised)
        asks = asked_before(session, RemoveMember("quiet", "ada"), hers)
        assert asks == "With ada all bots leave quiet that no other member has."
        for deed in (
            SignUpBot("cup", "beta:1"),
            CheckInBot("cup", "beta"),
            SignOffBot("cup", "beta"),
        ):
            with pytest.raises(Refusal, match="beta is not yours"):
                perform(session, deed, hers)
        perform(session, SignOffBot("cup", mask.name), hers)
        assert not session.scalars(sa.select(SignUp)).all()


def test_people_take_turns_and_have_quotas_by_the_bots_behind(database: Database) -> None:
    with database.begin() as session:
        ada, bob = person(session, "ada"), person(session, "bob")
        ladder = ladder_of(session, each="2", active="1")
        one = handed_in(session, ada, "alpha", ladder)
        handed_in(session, bob, "beta", ladder)
        found = session.scalars(sa.select(Bot).where(Bot.masked_in == ladder.id)).all()
        assert {bot.person_id for bot in found} == {ada.id, bob.id}
        whose = Bot.person_id.label("person")
        people = sa.select(whose, sa.func.count()).where(Bot.masked_in == ladder.id)
        assert dict(session.execute(people.group_by(whose)).all()) == {ada.id: 1, bob.id: 1}
        its = ladder_quotas.quotas_of(session, ladder, ada.id, NOW)
        assert (its.bots.had, its.active.had) == (1, 1)
        assert ladder_quotas.why_no_room(session, ladder, ada.id, one.bot_id, NOW) == ""
        with pytest.raises(Refusal, match="active on quiet"):
            handed_in(session, ada, "gamma", ladder)


def test_its_owner_does_with_either_name_what_the_bot_may(database: Database) -> None:
    with database.begin() as session:
        ada = person(session, "ada")
        ladder, other = ladder_of(session), ladder_of(session, "other", anonymous="no")
        version = handed_in(session, ada, "alpha", ladder)
        entrant = entrant_of(session, ladder, version)
        mask = entrant.version.bot.name
        for name in ("alpha", mask, mask):
            done = perform(session, RetireBot(name, "quiet"), by(ada))
            assert entrant.state is EntrantState.RETIRED
            for undo in done.undo:
                perform(session, undo, by(ada))
            assert entrant.state is EntrantState.ACTIVE
        perform(session, WithdrawBot("alpha"), by(ada))
        assert entrant.state is EntrantState.RETIRED
        for name in ("alpha", mask):
            perform(session, EnterBot(name, "quiet"), by(ada))
            assert entrant.state is EntrantState.ACTIVE
        entered = sa.select(sa.func.count()).select_from(Entrant)
        assert session.scalar(entered.where(Entrant.competition_id == ladder.id)) == 1
        for deed in (
            EnterBot(mask, other.name),
            RenameBot(mask, "alpha-2"),
            DescribeBot(mask, "it is alpha"),
            ConnectBot(mask, "quiet"),
        ):
            with pytest.raises(Refusal):
                perform(session, deed, by(ada))
        with pytest.raises(Refusal):
            perform(session, DeleteBot(mask), ORGANISER)


def test_a_test_first_is_of_masks_and_nobody_s(database: Database) -> None:
    """Who asked for it, and the version that is tested, tell nothing."""
    with database.begin() as session:
        ada = person(session, "ada")
        ladder, public = ladder_of(session), ladder_of(session, "public", anonymous="no")
        for digest in "xyz":  # so that the numbers of its versions are others than the mask's
            handed_in(session, ada, "alpha", public, digest)
        handed_in(session, ada, "alpha", ladder)
        terms = StrengthPlan.on(ladder).terms
        second = handed_in(session, ada, "alpha", ladder, "b", test_first=terms)
        test = session.scalars(sa.select(StrengthTest)).one()
        names = sa.select(Bot.name).join(BotVersion).join(Entrant)
        names = set(session.scalars(names.where(Entrant.competition_id == test.id)))
        assert names == set(session.scalars(sa.select(Bot.name).where(Bot.masked_in == ladder.id)))
        assert test.creator_id is None
        check = session.scalars(sa.select(Check).where(Check.version_id == second.id)).one()
        assert entries.fates(session, [check])[check.id] == ("to be tested", test.id)
        perform(session, RetireBot("alpha", "quiet"), by(ada))
        assert test.state is CompetitionState.CLOSED
        perform(session, EnterBot("alpha", "quiet", 4), by(ada))
        for digest, test_first in (("c", terms), ("d", terms), ("e", None)):
            handed_in(session, ada, "alpha", ladder, digest, test_first=test_first)
        reasons = session.scalars(sa.select(StrengthTest.reason).order_by(StrengthTest.id)).all()
        assert reasons[1:] == ["version 4 came after it", "version 5 entered meanwhile"]


def test_who_signs_up_does_so_by_a_mask(database: Database) -> None:
    """And is in the field by it; under its own name the bot is signed off."""
    with database.begin() as session:
        people = [person(session, name) for name in ("ada", "bob", "eve")]
        ladder = ladder_of(session, anonymous="no")
        for number, user in enumerate(people):
            handed_in(session, user, f"bot-{number}", ladder, str(number))
        now = database_time(session)
        later = (now + timedelta(hours=1)).isoformat()
        perform(
            session,
            CreateTournament(
                "cup", "round-robin", ladder="quiet", sign_up=True, anonymous=True,
                dates={"entries-close": later},
            ),
            By(ARENA, frozenset(Scope), now),
        )  # fmt: skip
        for number, user in enumerate(people):
            perform(session, SignUpBot("cup", f"bot-{number}"), by(user))
        perform(session, SignUpBot("cup", "bot-0:1"), by(people[0]))
        perform(session, SignOffBot("cup", "bot-2"), by(people[2]))
        perform(session, SignUpBot("cup", "bot-2"), by(people[2]))
        handed_in(session, people[0], "more", ladder, "7")
        with pytest.raises(Refusal, match="each person"), session.begin_nested():
            perform(session, SignUpBot("cup", "more"), by(people[0]))
        cup = session.scalars(sa.select(Tournament)).one()
        assert sign_ups.conditions_of(cup).seeding == "order"
        # What hinders a bot is known from its ladder, and so is which bot that is.
        perform(session, RetireBot("bot-1", "quiet"), by(people[1]))
        told = sign_ups.to_json(session, cup)["sign_ups"]
        assert [one["hindered"] for one in told if one["hindered"]] == [
            f"{told[1]['bot']} does not meet the conditions"
        ]
        perform(session, EnterBot("bot-1", "quiet"), by(people[1]))
        signed = session.scalars(sa.select(SignUp)).all()
        assert all(one.bot.masked_in == cup.id for one in signed)
        happenings.drawn_fields.draw(session, cup, now, now)
        field = session.scalars(sa.select(Entrant).where(Entrant.competition_id == cup.id)).all()
        assert {one.version.bot_id for one in field} == {one.bot_id for one in signed}
        assert {one.version.real.bot.name for one in field} == {"bot-0", "bot-1", "bot-2"}
        words = " ".join(map(str, session.scalars(sa.select(Notification.places))))
        assert "bot-" not in words


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        (
            CreateTournament(
                "cup", "round-robin", ladder="public", sign_up=True, anonymous=True,
                seeding="rating", dates={"entries-close": "2100-01-01T00:00:00Z"},
            ),
            "ratings on public would tell who is who",
        ),
        (
            SetDate("quiet", "season", "2100-01-01T00:00:00Z", {"keep": "50"}),
            "what they were would tell who is who",
        ),
    ],
    ids=["seeds", "seasons"],
)  # fmt: skip
def test_ratings_from_elsewhere_tell_nothing(
    sqlite_database: Database, deed: Deed, words: str
) -> None:
    with sqlite_database.begin() as session:
        ladder_of(session)
        ladder_of(session, "public", anonymous="no")
        with pytest.raises(Refusal, match=words):
            perform(session, deed, ORGANISER)


def test_a_field_is_numbered_by_lot(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so is who goes on in the next season: nobody is known by ranks or by the past one."""
    monkeypatch.setattr(masks, "_lots", Random(1))
    with sqlite_database.begin() as session:
        ladder, public = ladder_of(session), ladder_of(session, "public", anonymous="no")
        for number in range(6):
            user = person(session, f"user-{number}")
            for one in (ladder, public):
                handed_in(session, user, f"bot-{number}", one, str(number))
        perform(
            session, CreateTournament("cup", "swiss", ladder="public", anonymous=True), ORGANISER
        )
        cup = session.scalars(sa.select(Tournament)).one()
        new = begin_again(session, ladder, 0.0, NOW, NOW)
        for competition, order in ((cup, Entrant.number), (new, Entrant.id)):
            its = sa.select(Entrant).where(Entrant.competition_id == competition.id).order_by(order)
            names = [one.version.real.bot.name for one in session.scalars(its)]
            assert set(names) == {f"bot-{number}" for number in range(6)}
            assert names != sorted(names)


def test_in_the_end_the_bots_have_their_names(database: Database) -> None:
    """Every row that named the mask names the bot; the made-up name leads to it."""
    with database.begin() as session:
        ada, bob = person(session, "ada"), person(session, "bob")
        ladder = ladder_of(session)
        first = handed_in(session, ada, "alpha", ladder)
        second = handed_in(session, ada, "alpha", ladder, "b")
        rival = handed_in(session, bob, "beta", ladder)
        made = [entrant_of(session, ladder, one) for one in (first, second, rival)]
        mask, entrants = made[0].version.bot.name, [one.id for one in made]
        # One test of the bot against its mask, in which both can't be the same row.
        create_test(
            session,
            StrengthPlan.on(ladder),
            NamedPlayer(second),
            NamedPlayer(made[1].version),
            NOW,
            ARENA,
        )
        perform(session, ChangeLadder("quiet", {"state": "closed"}), ORGANISER)
        assert ladder.anonymous
        assert unmask_all(session) == 2
        assert not ladder.anonymous
        assert session.scalars(sa.select(Bot.name).order_by(Bot.name)).all() == ["alpha", "beta"]
        alpha = session.scalars(sa.select(Bot).where(Bot.named(mask))).one()
        assert alpha.name == "alpha"
        labels = [session.get_one(Entrant, one).version.label for one in entrants]
        assert labels == ["alpha v1", "alpha v3", "beta v1"]  # v3 has the files of v2
        of_test = sa.select(Entrant).join(StrengthTest, StrengthTest.id == Entrant.competition_id)
        both = sorted(one.version.label for one in session.scalars(of_test))
        assert both == ["alpha v2", "alpha v3"]
        assert session.scalar(sa.select(sa.func.count()).select_from(FormerName)) == 2


def test_names_are_shown_before_if_the_organiser_says_so(database: Database) -> None:
    """What enters meanwhile enters by its own name, and takes the place of its mask."""
    with database.begin() as session:
        ada = person(session, "ada")
        ladder = ladder_of(session)
        handed_in(session, ada, "alpha", ladder)
        with pytest.raises(Refusal, match="scope organise"):
            perform(session, LookBehindMasks("quiet"), by(ada))
        told = perform(session, LookBehindMasks("quiet"), ORGANISER).answer
        assert told.masks == 1
        assert told.names.endswith(",alpha,ada\n")
        assert (
            session.scalar(
                sa.select(AuditEntry.subject).where(AuditEntry.action == "look behind masks")
            )
            == "ladder quiet"
        )
        perform(session, RevealCompetition("quiet"), ORGANISER)
        second = handed_in(session, ada, "alpha", ladder, "b")
        active = sa.select(Entrant).where(
            Entrant.competition_id == ladder.id, Entrant.state == EntrantState.ACTIVE
        )
        assert [one.version_id for one in session.scalars(active)] == [second.id]
        assert unmask_all(session) == 1
        assert [one.version_id for one in session.scalars(active)] == [second.id]
        with pytest.raises(Refusal, match="is not anonymous"):
            perform(session, RevealCompetition("quiet"), ORGANISER)


def test_each_season_has_masks_of_its_own(database: Database) -> None:
    with database.begin() as session:
        ada = person(session, "ada")
        past = ladder_of(session)
        version = handed_in(session, ada, "alpha", past)
        before = masks.entered_as(session, past, version).bot.name
        new = begin_again(session, past, 0.0, NOW, NOW)
        its = masks.entered_as(session, new, version)
        assert its.bot.name not in (before, "alpha")
        assert unmask_all(session) == 1
        assert new.anonymous
        assert entrant_of(session, new, version).version is its
        assert session.scalar(sa.select(Bot.name).where(Bot.named(before))) == "alpha"


def test_a_bot_that_is_deleted_takes_its_masks_with_it(database: Database) -> None:
    with database.begin() as session:
        ada = person(session, "ada")
        ladder = ladder_of(session)
        version = handed_in(session, ada, "alpha", ladder)
        delete(session, [version.bot], NOW)
        assert session.scalars(sa.select(Bot.name)).all() == []


def test_the_arena_s_own_bots_keep_their_names(database: Database) -> None:
    with database.begin() as session:
        ladder = ladder_of(session)
        version = handed_in(session, person(session, "arena"), "greedy", ladder)
        assert entrant_of(session, ladder, version).version is version


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"home": "beside"}, "takes no bots at home"),
        ({"anonymous": "no"}, "chosen when it is made"),
    ],
)
def test_it_stays_so(sqlite_database: Database, chosen: dict[str, str], words: str) -> None:
    with sqlite_database.begin() as session:
        ladder = ladder_of(session)
        with pytest.raises(Refusal, match=words):
            ladder_settings.change(session, ARENA, ladder, chosen, NOW)
