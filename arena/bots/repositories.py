"""Bots that follow git repositories: what is due to be asked, and what came of it.

Whoever tells of a push only makes a repository due. A process of its own asks for what is due
(`arena.cli.fetch`), which the recorder starts and never waits for (`arena.operation.fetching`).
A repository that failed is asked again later and later. What is kept of a failure is plain
English, one line, for the bot's owners.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit, sight
from arena.bots import sharing
from arena.bots.forges import Commit
from arena.bots.intake import TakenIn
from arena.bots.submissions import hand_in
from arena.competitions.strength_plans import SITE_TERMS
from arena.ground import locks
from arena.ground.config import Settings
from arena.ground.db import LOOKED_UP, At
from arena.ground.refusals import Refusal
from arena.models import SCOPES, Bot, Ladder, Repository, Scope, Topic, User
from arena.people.notifications import notify
from arena.present import maintenance
from arena.sight import Reader
from arena.signing import unseal
from engine.translation import N_

LEASE = timedelta(minutes=5)
"""How long whoever takes a repository to ask it has it, before somebody else may: more than that
takes."""
LEAST_PAUSE = timedelta(seconds=10)
"""The least time between two times that one is asked, whatever is told of pushes."""
LONGEST_PAUSE = timedelta(days=1)
WITH_PUSHES = 6
"""So many times as long a repository may rest of which pushes are told; one may be lost."""
FAIL = "fetch failed"
"""What the audit log calls the first failure in a row."""
FETCH = "git"
"""The place, in the audit log, from where what a repository brought was handed in."""


@dataclass(frozen=True, slots=True)
class WantedRepository:
    """A repository that is to be asked, apart from the database."""

    bot_id: int
    bot: str
    user_id: int
    address: str
    revision: str
    folder: str
    token: str = field(repr=False)
    commit: str
    """The commit that was looked at last; empty for none."""
    ladders: tuple[int, ...]
    """The ids of those that are there and that it is handed in to."""
    began: datetime
    """When it was begun to ask it, before which deadlines may lie."""
    until: datetime
    """The moment until which nobody else asks it."""
    most_bytes: int
    """How many bytes the largest of these takes."""
    problem: str = ""
    """Why it need not even be asked; empty if it can be."""


def find(session: Session, bot: Bot, *, to_change: bool = False) -> Repository | None:
    """The repository that a bot follows; None if it follows none."""
    return locks.find(session, Repository, bot.id, to_change=to_change)


def due(now: At) -> sa.Select[Repository]:
    """Those that are to be asked at a moment."""
    return sa.select(Repository).where(Repository.due <= now)


def is_any_due(session: Session, now: datetime) -> bool:
    """Whether one is to be asked, and may be."""
    found = session.scalar(sa.select(due(now).exists()))
    return bool(found) and maintenance(session) is None


def take_due(session: Session, busy: Collection[int], now: datetime) -> WantedRepository | None:
    """Takes the repository that is longest due; nobody else takes it meanwhile.

    Args:
        busy: the ids of people of whom one is asked at this moment, so that nobody who follows
            many slow ones holds up the others.
    """
    query = due(now).where(Repository.user_id.not_in(busy)).order_by(Repository.due).limit(1)
    query = locks.locking(query, Repository, free=True)
    found = None if maintenance(session) else session.scalar(query)
    if found is None:
        return None
    found.due = now + LEASE
    ladders = _ladders_seen(session, found)
    token = unseal(session, found.sealed) if found.sealed else ""
    return WantedRepository(
        bot_id=found.bot_id,
        bot=found.bot.name,
        user_id=found.user_id,
        address=found.address,
        revision=found.revision,
        folder=found.folder,
        token=token or "",
        commit=found.commit_hash,
        ladders=tuple(ladder.id for ladder in sorted(ladders, key=lambda one: one.id)),
        began=now,
        until=found.due,
        most_bytes=max((ladder.bundle_bytes for ladder in ladders), default=0),
        problem=_what_hinders(session, found, ladders, token),
    )


def _ladders_seen(session: Session, found: Repository) -> list[Ladder]:
    """The ladders that a repository is handed in to and that whoever had it followed still sees."""
    user, roles = found.user, sight.roles_of(session, found.user_id)
    sees_all = Scope.ORGANISE in SCOPES[user.role]
    sight.look_up(session, Reader(user.id, sees_all, frozenset(roles)))
    wanted = sa.select(Ladder).where(Ladder.id.in_(found.ladders))
    return list(session.scalars(wanted.execution_options(**LOOKED_UP)))


def _what_hinders(
    session: Session, found: Repository, ladders: Collection[Ladder], token: str | None
) -> str:
    """Why a repository need not even be asked; empty if it can be."""
    if not found.user.active or found.user_id not in sharing.owners(session, found.bot):
        return "who had it followed owns the bot no more: follow it anew"
    if token is None:
        return "the token can't be read any more, since the arena's secret was made anew: give it"
    if not any(ladder.takes_bots for ladder in ladders):
        return "no ladder that it is handed in to takes bots: choose another"
    return ""


def take_in(
    session: Session,
    wanted: WantedRepository,
    ladder_id: int,
    files: TakenIn,
    commit: Commit,
    settings: Settings,
) -> None:
    """Hands a commit's files in to one of the ladders, as of the moment when it began to come.

    Raises:
        Refusal: as `arena.bots.submissions.hand_in`.
    """
    found = session.get(Repository, wanted.bot_id)
    if found is None or found.address != wanted.address:
        return  # it is not followed any more
    user = session.get_one(User, wanted.user_id)
    hand_in(
        session,
        audit.Actor(user.id, user.name, FETCH),
        user,
        found.bot.name,
        files,
        session.get_one(Ladder, ladder_id),
        note="",
        test_first=SITE_TERMS if found.test_first else None,
        most_stored=settings.quota_bytes,
        commit=commit,
        now=wanted.began,
    )


def conclude(
    session: Session,
    wanted: WantedRepository,
    problem: str,
    settings: Settings,
    now: datetime,
    *,
    commit: str = "",
) -> None:
    """Keeps what came of asking a repository, and when it is asked next.

    Args:
        problem: what is wrong, in a line; empty if nothing is.
        commit: the one that was looked at, whatever became of it; empty if it came to none.
    """
    found = locks.find(session, Repository, wanted.bot_id, to_change=True)
    if found is None or found.address != wanted.address:
        return  # it is not followed any more
    # What was changed or told of meanwhile is seen to by asking once more.
    is_as_it_was = found.due == wanted.until
    if commit and is_as_it_was:
        found.commit_hash = commit
    found.fetched = now
    is_new = bool(problem) and not found.problem
    found.failures = found.failures + 1 if problem else 0
    found.problem = problem
    if is_as_it_was:
        found.due = now + _pause(found, settings, now)
    if is_new:
        detail = f"{found.address}: {problem}"
        bot = found.bot.name
        audit.note(session, audit.ARENA, FAIL, f"bot {bot}", detail, now=now)
        notify(
            session,
            sharing.owners(session, found.bot),
            N_("nothing new was handed in as %(bot)s from its git repository: %(problem)s"),
            {"bot": bot, "problem": problem},
            f"/bots/{bot}/repository",
            now,
            topic=Topic.CHECK,
        )


def _pause(found: Repository, settings: Settings, now: datetime) -> timedelta:
    usual = timedelta(seconds=settings.fetch_seconds)
    if found.problem:
        return min(usual * (1 << min(found.failures - 1, 20)), max(usual, LONGEST_PAUSE))
    is_told = found.pushed is not None and now - found.pushed < LONGEST_PAUSE * 7
    return min(usual * WITH_PUSHES, LONGEST_PAUSE) if is_told else usual


def want(found: Repository, now: datetime) -> None:
    """Has a repository asked soon, though not at every word."""
    earliest = now if found.fetched is None else max(now, found.fetched + LEAST_PAUSE)
    found.due = min(found.due, earliest)


def told_of_push(session: Session, code: str, now: datetime) -> bool:
    """Has the repository asked soon of which a push was told by a code; whether there is one."""
    query = sa.select(Repository).where(Repository.code == code)
    found = session.scalar(locks.locking(query, Repository))
    if found is None:
        return False
    found.pushed = now
    want(found, now)
    return True


def problems_of(refusals: Collection[Refusal]) -> str:
    """What ladders said that took nothing, in a line; each thing once."""
    return "; ".join(dict.fromkeys(map(str, refusals)))
