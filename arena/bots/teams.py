"""Teams: several people whose bots are each one's.

A team is called as people are, is described as they are, and has bots as they have: it is a user
that nobody signs in as. So whatever counts for a bot's owner counts for the team, and whatever
names a bot's owner names it. Whoever leaves loses its bots, which stay.

Nobody has more by founding teams: each person is the captain of one at most, and what it has counts
as the captain's (`arena.models.Bot.person_id`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, joinedload

from arena import naming
from arena.bots import entries, ladder_quotas, quota, sharing
from arena.competitions import sign_ups
from arena.competitions.dates import frozen
from arena.competitions.masks import with_masks
from arena.competitions.members import typed_code
from arena.deeds import By
from arena.ground import locks
from arena.ground.db import SUGGESTED, count_rows
from arena.ground.refusals import NotThere, Refusal
from arena.models import (
    Bot,
    BotVersion,
    Check,
    Competition,
    CompetitionState,
    CoOwner,
    Entrant,
    EntrantState,
    FormerMember,
    Ladder,
    Membership,
    SignUp,
    TaughtCourse,
    Team,
    TeamMember,
    Tournament,
    User,
    Visibility,
)
from engine.plurals import counted
from engine.translation import N_, gettext

MOST_MEMBERS = 20
MOST_TEAMS = 10
"""The most that somebody may be a member of."""


def find(session: Session, name: str) -> Team:
    """The team of a name, or of one that it had.

    Raises:
        NotThere: there is none.
    """
    found = session.scalar(sa.select(Team).where(Team.named(name.strip())))
    if found is None or found.deleted:
        raise NotThere(gettext("there is no team %(name)r", name=name[:60]))
    naming.note(name, found)
    return found


def by_code(session: Session, code: str) -> Team:
    """The team that is joined by a code.

    Raises:
        NotThere: there is none.
    """
    found = session.scalar(sa.select(Team).where(Team.join_code == typed_code(code)))
    if found is None:
        raise NotThere(gettext("nothing is joined by the code %(code)r", code=code[:20]))
    return found


def members_of(session: Session, team: Team) -> list[TeamMember]:
    """Who belongs to a team, in the order in which they came."""
    query = sa.select(TeamMember).where(TeamMember.team_id == team.id)
    query = query.order_by(TeamMember.joined, TeamMember.user_id)
    return list(session.scalars(query.options(joinedload(TeamMember.user))))


def teams_of(session: Session, user_id: int) -> list[Team]:
    """The teams that somebody belongs to, by name."""
    query = sa.select(Team).join(TeamMember, TeamMember.team_id == Team.id)
    query = query.where(TeamMember.user_id == user_id).order_by(Team.lower_name)
    return list(session.scalars(query.options(joinedload(Team.captain))))


def led_by(session: Session, user_id: int) -> Team | None:
    """The team that somebody is the captain of."""
    return session.scalar(sa.select(Team).where(Team.captain_id == user_id))


def others_in(session: Session, team: Team, user: User) -> list[User]:
    """A team's members but for somebody, in the order in which they came."""
    return [one.user for one in members_of(session, team) if one.user_id != user.id]


def own(session: Session, name: str, user: User) -> Team:
    """The team of a name that somebody belongs to.

    Raises:
        NotThere: there is none of that name.
        Refusal: they do not belong to it.
    """
    team = find(session, name)
    sharing.demand_member(session, team, user)
    return team


def make(session: Session, name: str, captain: User, now: datetime) -> Team:
    """Makes a team of a name that is free, without a note.

    Raises:
        Refusal: who is to be its captain has a team, or belongs to too many.
    """
    locks.lock(session, captain)
    demand_no_captain(session, captain)
    _demand_few(session, captain)
    team = Team(name=name, created=now, captain_id=captain.id)
    session.add(team)
    try:
        session.flush()
    except IntegrityError:
        raise naming.taken(name) from None
    naming.demand_never(session, team)
    session.add(TeamMember(team_id=team.id, user_id=captain.id, joined=now))
    session.flush()
    return team


def join(session: Session, team: Team, user: User, now: datetime) -> None:
    """Makes somebody a member of a team, without a note.

    Raises:
        Refusal: it has too many, they belong to too many, or it is gone.
    """
    _lock_all(session, team, user)
    if team.deleted or sharing.is_member(session, team, user.id):
        raise Refusal(gettext("you are in the team %(team)s already", team=team.name))
    _demand_few(session, user)
    if count_rows(session, TeamMember, TeamMember.team_id == team.id) >= MOST_MEMBERS:
        raise Refusal(
            gettext(
                "the team %(team)s has %(most)s members, and no more can be",
                team=team.name,
                most=MOST_MEMBERS,
            )
        )
    session.add(TeamMember(team_id=team.id, user_id=user.id, joined=now))
    session.flush()


def take_out(session: Session, by: By, team: Team, user: User) -> int:
    """Takes a member who is not the captain out of a team, without a note, and with them off
    private ladders the bots of it whose last member they were; gives how many those are.

    Raises:
        Refusal: they are its captain, or do not belong to it.
    """
    _lock_all(session, team, user)
    sharing.demand_member(session, team, user)
    if team.captain_id == user.id:
        raise Refusal(
            gettext(
                "%(user)s is the captain of the team %(team)s: make another member it, or dissolve "
                "the team",
                user=user.name,
                team=team.name,
            )
        )
    its = session.get_one(TeamMember, (team.id, user.id))
    session.merge(FormerMember(team_id=team.id, user_id=user.id, joined=its.joined, left=by.now))
    session.delete(its)
    session.flush()
    return leave_private(session, by, sa.select(Bot.id).where(Bot.owner_id == team.id))


def hand_over(session: Session, by: By, team: Team, to: User) -> None:
    """Makes a member the captain of a team, as whose its bots count, without a note.

    Raises:
        Refusal: they are one elsewhere, do not belong to it, or can't have its bots besides what
            they have.
    """
    _lock_all(session, team, to)
    sharing.demand_member(session, team, to)
    demand_no_captain(session, to)
    with _having_room(session, by, sa.select(Bot.id).where(Bot.owner_id == team.id), to):
        team.captain = to


def demand_no_captain(session: Session, user: User) -> None:
    """Refuses who is the captain of a team.

    Raises:
        Refusal: they are.
    """
    other = led_by(session, user.id)
    if other is not None:
        raise Refusal(
            gettext(
                "%(user)s is the captain of %(team)s, and nobody can be it of two teams",
                user=user.name,
                team=other.name,
            )
        )


def _demand_few(session: Session, user: User) -> None:
    if count_rows(session, TeamMember, TeamMember.user_id == user.id) >= MOST_TEAMS:
        raise Refusal(
            gettext(
                "%(user)s belongs to %(most)s teams, and to no more can be: leave one first",
                user=user.name,
                most=MOST_TEAMS,
            )
        )


def _lock_all(session: Session, *those: User) -> None:
    """Whoever changes one of them at the same moment waits."""
    for one in sorted(set(those), key=lambda one: one.id):
        locks.lock(session, one)


# Whose a bot is.


def give(session: Session, by: By, bot: Bot, to: User) -> int:
    """Makes a bot somebody else's, without a note; gives how many private ladders it leaves, on
    which it has no member any more.

    Args:
        to: a team of its owner's, or a member of the team that has it.

    Raises:
        Refusal: that one does not belong to the team, or can't have it besides what is there; or
            it is handed in to a course.
    """
    person = session.get_one(User, to.person_id)
    _lock_all(session, bot.owner, to, person)
    team, member = (to, bot.owner) if isinstance(to, Team) else (bot.owner, to)
    assert isinstance(team, Team)
    sharing.demand_member(session, team, member)
    _demand_not_handed_in(session, bot, by.now)
    with _having_room(session, by, sa.select(Bot.id).where(Bot.id == bot.id), person):
        bot.owner, bot.owned = to, by.now
        # Whose it is does not share it besides.
        session.execute(
            sa.delete(CoOwner).where(CoOwner.bot_id == bot.id, CoOwner.user_id == to.id)
        )
    return leave_private(session, by, sa.select(Bot.id).where(Bot.id == bot.id))


def _demand_not_handed_in(session: Session, bot: Bot, now: datetime) -> None:
    """Refuses to give away what counts for whose it was at the deadline of a course.

    Raises:
        Refusal: it does.
    """
    its = with_masks(sa.select(Bot.id).where(Bot.id == bot.id))
    courses = _open_ladders(its).where(Ladder.id.in_(sa.select(TaughtCourse.ladder_id)))
    if session.scalars(courses.where(Ladder.id.in_(frozen(now)))).first() is not None:
        raise Refusal(
            gettext(
                "the bot %(bot)s is handed in to a course whose deadline is past: it stays whose "
                "it was by then until that course is closed",
                bot=bot.name,
            )
        )


def _open_ladders(bots: sa.CompoundSelect[int]) -> sa.Select[Ladder]:
    """A query for the ladders that are not closed and that some bots were handed in for."""
    versions = sa.select(BotVersion.id).where(BotVersion.bot_id.in_(bots))
    entered = sa.select(Entrant.competition_id).where(
        Entrant.version_id.in_(versions), ~Entrant.is_tried
    )
    checked = sa.select(Check.ladder_id).where(Check.version_id.in_(versions), Check.enters)
    is_on = sa.or_(Ladder.id.in_(entered), Ladder.id.in_(checked))
    is_open = Ladder.state != CompetitionState.CLOSED
    return sa.select(Ladder).where(is_on, is_open).order_by(Ladder.id)


TOO_MUCH = (
    N_(
        "%(user)s would have %(bots)s on %(ladder)s, those that have left it included, and each "
        "person may enter %(most)s"
    ),
    N_(
        "%(user)s would have %(bots)s active on %(ladder)s, and each person may have %(most)s: "
        "retire some first"
    ),
    N_(
        "%(user)s would have handed in %(versions)s to %(ladder)s within 24 hours, and each person "
        "may hand in %(most)s: wait until some are older"
    ),
)
"""What is said of each part of `ladder_quotas.Quotas`."""


@contextmanager
def _having_room(session: Session, by: By, bots: sa.Select[int], person: User) -> Iterator[None]:
    """Refuses what makes some bots count for a person who has more by that than each may have.

    Raises:
        Refusal: it is so; says of what.
    """
    there = with_masks(bots)
    ladders = session.scalars(_open_ladders(there)).all()
    signed_up = sa.select(SignUp.competition_id).where(SignUp.bot_id.in_(there))
    still = Tournament.id.in_(signed_up), Tournament.signing_up.is_(True)
    tournaments = session.scalars(sa.select(Tournament).where(*still)).all()
    counted_before = set(session.scalars(bots.where(Bot.is_of(person.id))))
    stored, had_bots = quota.stored_bytes(session, person.id), quota.bots_here(session, person.id)
    before = [ladder_quotas.quotas_of(session, one, person.id, by.now) for one in ladders]
    yield
    session.flush()
    if counted_before >= set(session.scalars(bots)):
        return  # it is theirs as it was
    for ladder, quotas in zip(ladders, before, strict=True):
        now = ladder_quotas.quotas_of(session, ladder, person.id, by.now)
        for words, had, has in zip(TOO_MUCH, quotas, now, strict=True):
            if has.most is not None and has.had > max(had.had, has.most):
                its = {"user": person.name, "ladder": ladder.name, "most": has.most}
                so_many = {f"{what}s": counted(has.had, what) for what in ("bot", "version")}
                _demand_seen(session, ladder, person)
                raise Refusal(gettext(words, **its, **so_many))
    for tournament in tournaments:
        try:
            sign_ups.demand_few(session, tournament, person.id)
        except Refusal:
            _demand_seen(session, tournament, person)
            raise
    here, most_bots = (
        quota.bots_here(session, person.id),
        quota.most_bots(person, by.bots_a_person),
    )
    if most_bots is not None and here > max(had_bots, most_bots):
        raise Refusal(
            gettext(
                "%(user)s would have %(bots)s here, and each person may have %(most)s",
                user=person.name,
                bots=counted(here, "bot"),
                most=most_bots,
            )
        )
    if by.stored_bytes is not None:
        after = quota.stored_bytes(session, person.id)
        most = quota.most_bytes(session, person.id, by.stored_bytes)
        if after > max(stored, most):
            raise Refusal(quota.refusal(stored, after - stored, most))


def _demand_seen(session: Session, competition: Competition, person: User) -> None:
    """Refuses what somebody has too much of in words that tell nothing of a competition which who
    asks does not see.

    Raises:
        Refusal: they don't see it.
    """
    its = sa.select(Competition.id).where(Competition.id == competition.id)
    if session.scalar(its, execution_options=SUGGESTED) is None:
        raise Refusal(
            gettext("%(user)s would have more than each person may have", user=person.name)
        )


def leave_private(session: Session, by: By, bots: sa.Select[int]) -> int:
    """Takes bots off private ladders of which no owner of theirs is a member, but for those where
    bots are frozen; gives how many."""
    query = (
        sa.select(Entrant)
        .join(Entrant.version)
        .join(Competition, Competition.id == Entrant.competition_id)
        .where(
            BotVersion.bot_id.in_(with_masks(bots)),
            Entrant.state == EntrantState.ACTIVE,
            Competition.kind == "ladder",
            Competition.visibility == Visibility.PRIVATE,
            Competition.state != CompetitionState.CLOSED,
            Competition.id.not_in(frozen(by.now)),
        )
    )
    left = 0
    for entrant in session.scalars(query.order_by(Entrant.id)).all():
        belong = sa.select(Membership.user_id).where(
            Membership.competition_id == entrant.competition_id
        )
        if not sharing.owners(session, entrant.version.bot) & set(session.scalars(belong)):
            entries.retire(session, by.actor, entrant, by.now)
            left += 1
    return left


def pass_on(session: Session, user: User) -> Team | None:
    """What becomes of the team whose captain somebody is that goes: another member is captain then,
    who has been one for longest; or gives the team, if it has no other member.

    Raises:
        Refusal: no other member can be its captain.
    """
    team = led_by(session, user.id)
    if team is None:
        return None
    _lock_all(session, team, user)
    others = others_in(session, team, user)
    if not others:
        return team
    elsewhere = sa.select(Team.captain_id).where(Team.captain_id.in_(one.id for one in others))
    taken = set(session.scalars(elsewhere))
    heir = next((one for one in others if one.active and one.id not in taken), None)
    if heir is None:
        raise Refusal(
            gettext(
                "no other member of the team %(team)s can be its captain: remove them first",
                team=team.name,
            )
        )
    team.captain = heir
    session.flush()
    return None
