"""Sets of matches: chosen by a filter, and carried out in batches, each match or none of it.

Which matches a set has is kept when it is chosen; what comes in later is none of it. What is
decided is kept, too, before it is done: so a process that ends in the middle leaves a set that says
what is done, and whoever goes on does the rest. Each batch is a transaction, and holds its matches'
and their competitions' locks for as long as that takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.competitions.kinds import kind_of
from arena.competitions.voids import make_all_void
from arena.ground.db import count_rows
from arena.ground.locks import find as find_row
from arena.ground.refusals import Refusal
from arena.lists.filters import GameFilter
from arena.lists.parts import look_up
from arena.lists.search import find
from arena.models import (
    BotVersion,
    Competition,
    Entrant,
    JobStatus,
    Match,
    MatchOfSet,
    MatchSet,
    MemberState,
    Place,
    PlayedGame,
    SetState,
    SetVerdict,
)
from arena.schedule.verdicts import hold, play_again, try_again, why_not_replayed, why_not_void
from engine.translation import ENGLISH, gettext, speaking

MOST_MATCHES = 20_000
"""The most matches that a set may have."""
MOST_PAGES = 50
"""The most pages of games that are looked at for a filter."""
PAGE = 8000
BATCH = 50
"""Matches that are decided on in one transaction."""
AT_A_TIME = 1000
"""The most numbers in one statement."""
STANDING = (Match.status, Match.competition_id, Match.round)
"""What of a match says whether it can be decided on."""
OF_UNPLAYED = frozenset({"competition", "game", "bot", "since", "until"})
"""The words that say something of a match without games."""


def choose(session: Session, wanted: GameFilter, *, aside: bool) -> list[int]:
    """The numbers of the matches that a filter wants, in their order.

    Args:
        wanted: of the games of played matches one has to be as it says.
        aside: those that were set aside instead of those that were played, of which only the words
            `OF_UNPLAYED` say something.

    Raises:
        NotThere: it names what is not there.
        Refusal: there are none, or too many, or it says something of games that there are not.
    """
    found = _aside(session, wanted) if aside else _played(session, wanted)
    if not found:
        raise Refusal(
            gettext("no match that was set aside is so")
            if aside
            else gettext("no match that was played is so")
        )
    return sorted(found)


def _parts(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Cuts numbers into parts, each as many as one statement takes."""
    for start in range(0, len(numbers), AT_A_TIME):
        yield numbers[start : start + AT_A_TIME]


def _too_many() -> Refusal:
    return Refusal(
        gettext("a set has at most %(most)s matches: say more of which", most=MOST_MATCHES)
    )


def _played(session: Session, wanted: GameFilter) -> set[int]:
    found: set[int] = set()
    after = None
    for _ in range(MOST_PAGES):
        page = find(session, wanted, most=PAGE, after=after)
        for games in _parts(page.games):
            its = sa.select(Match.id).join(PlayedGame, PlayedGame.match_id == Match.id)
            its = its.where(PlayedGame.id.in_(games), Match.status == JobStatus.FIXED)
            found.update(session.scalars(its))
        if len(found) > MOST_MATCHES:
            break
        after = page.further
        if after is None:
            return found
    raise _too_many()


def _aside(session: Session, wanted: GameFilter) -> set[int]:
    for word in wanted.words:
        if word not in OF_UNPLAYED:
            raise Refusal(
                gettext("matches that were set aside have no games: leave out %(word)s", word=word)
            )
    known = look_up(session, wanted)
    query = sa.select(Match.id).where(Match.status == JobStatus.SET_ASIDE)
    if known.competition_id is not None:
        query = query.where(Match.competition_id == known.competition_id)
    if wanted.game is not None:
        its = sa.select(Competition.id).where(Competition.game == wanted.game)
        query = query.where(Match.competition_id.in_(its))
    if known.bot is not None:
        sits = sa.select(Place.match_id).join(Entrant).join(BotVersion)
        who = known.bot
        is_its = BotVersion.bot_id == who.bot_id
        if who.version_id is not None:
            is_its = BotVersion.id == who.version_id
        query = query.where(Match.id.in_(sits.where(is_its)))
    if wanted.since is not None:
        query = query.where(Match.created >= wanted.since.begin)
    if wanted.until is not None:
        query = query.where(Match.created <= wanted.until.end)
    found = set(session.scalars(query.limit(MOST_MATCHES + 1)))
    if len(found) > MOST_MATCHES:
        raise _too_many()
    return found


def keep(session: Session, made: MatchSet, numbers: Sequence[int]) -> None:
    """Keeps which matches a set has, and which of them stay as they are."""
    session.add(made)
    session.flush()
    # Nobody else writes meanwhile where the database is SQLite: of those that stand alike one is
    # asked, and of the others only if they stay, since each is told by its number.
    stays: dict[tuple[Any, ...], bool] = {}
    for some in _parts(numbers):
        rows = []
        for number, *standing in session.execute(_standing(some)):
            alike, why = tuple(standing), None
            if stays.get(alike, True):
                why = why_not(made.verdict, session.scalars(_of_numbers([number])).one())
                stays[alike] = why is not None
            state = MemberState.LEFT if why else MemberState.WAITS
            rows.append({"set_id": made.id, "match_id": number, "state": state, "why": why or ""})
        session.execute(sa.insert(MatchOfSet), rows)
    its = MatchOfSet.set_id == made.id
    made.matches = count_rows(session, MatchOfSet, its)
    games = sa.select(sa.func.count()).select_from(PlayedGame)
    games = games.join(MatchOfSet, MatchOfSet.match_id == PlayedGame.match_id).where(its)
    made.games = session.scalars(games).one()


def _standing(numbers: Iterable[int]) -> sa.Select[int, JobStatus, int, int | None]:
    """The numbers of some matches, each with what `STANDING` says."""
    return sa.select(Match.id, *STANDING).where(Match.id.in_(numbers)).order_by(Match.id)


def _of_numbers(numbers: Iterable[int]) -> sa.Select[Match]:
    """The matches of some numbers as they stand now, with their competitions."""
    query = sa.select(Match).where(Match.id.in_(numbers)).order_by(Match.id)
    return query.options(joinedload(Match.competition)).execution_options(populate_existing=True)


def why_not(verdict: SetVerdict, match: Match) -> str | None:
    """Why a match stays as it is, in English; None if it can be decided on so."""
    with speaking(ENGLISH):  # it is kept
        if verdict is SetVerdict.REQUEUE:
            is_aside = match.status is JobStatus.SET_ASIDE
            return None if is_aside else f"it is {match.status}, and not set aside"
        if problem := why_not_void(match):
            return problem
        return why_not_replayed(match) if verdict is SetVerdict.REPLAY else None


def members(number: int, state: MemberState | None = None) -> sa.Select[MatchOfSet]:
    """The matches of a set, all of them or those that stand so, by their numbers."""
    query = sa.select(MatchOfSet).where(MatchOfSet.set_id == number)
    if state is not None:
        query = query.where(MatchOfSet.state == state)
    return query.order_by(MatchOfSet.match_id)


def tally(session: Session, number: int) -> dict[MemberState, int]:
    """How many matches of a set stand how."""
    query = sa.select(MatchOfSet.state, sa.func.count()).where(MatchOfSet.set_id == number)
    rows = session.execute(query.group_by(MatchOfSet.state))
    return dict.fromkeys(MemberState, 0) | {row[0]: row[1] for row in rows}


def waiting(number: int) -> sa.Exists:
    """Whether a match waits in a set, as a condition on matches."""
    return sa.exists().where(
        MatchOfSet.set_id == number,
        MatchOfSet.match_id == Match.id,
        MatchOfSet.state == MemberState.WAITS,
    )


def carry_out(session: Session, number: int, now: datetime, most: int | None = None) -> bool:
    """Does what was decided to the next matches of a set, in the transaction of the caller.

    Args:
        most: how many; by default as many as one transaction should.

    Returns:
        Whether more are left.
    """
    most = most or BATCH
    its = members(number, MemberState.WAITS)
    ids = session.scalars(its.with_only_columns(MatchOfSet.match_id).limit(most)).all()
    # Matches are locked before all else, so it is only now that the set is looked at.
    hold(session, ids)
    found = find_row(session, MatchSet, number, to_change=True)
    if found is None or found.state is not SetState.DECIDED:
        return False
    its = its.where(MatchOfSet.match_id.in_(ids)).execution_options(populate_existing=True)
    some = session.scalars(its).all()
    its_matches = session.scalars(_of_numbers([one.match_id for one in some]))
    matches = {match.id: match for match in its_matches}
    _decide(session, found, [(one, matches[one.match_id]) for one in some], now)
    if len(ids) == most:
        return True
    found.state, found.done = SetState.DONE, now
    return False


def leave_next(session: Session, number: int, now: datetime, why: str) -> None:
    """Has the next match of a set that is carried out stay as it is; if none waits, the set is
    done.

    Args:
        why: the reason, in English.
    """
    found = find_row(session, MatchSet, number, to_change=True)
    if found is None or found.state is not SetState.DECIDED:
        return
    member = session.scalars(members(number, MemberState.WAITS).limit(1)).first()
    if member is None:
        found.state, found.done = SetState.DONE, now
    else:
        member.state, member.why = MemberState.LEFT, why


def _decide(
    session: Session, found: MatchSet, some: Sequence[tuple[MatchOfSet, Match]], now: datetime
) -> None:
    """Decides about some matches of a set, which are locked."""
    able = list(_able(found.verdict, some))
    for member, _ in able:
        member.state = MemberState.DONE
    matches = [match for _, match in able]
    if found.verdict is SetVerdict.REQUEUE:
        for match in matches:
            try_again(match)
        return
    make_all_void(session, matches, found.note)
    competitions = {match.competition_id: match.competition for match in matches}
    for _, competition in sorted(competitions.items()):
        kind_of(competition).end_or_reopen(session, competition, now)
    if found.verdict is SetVerdict.REPLAY:
        for member, match in able:
            if kind_of(match.competition).replays:
                member.replayed_as = play_again(session, match, now).id


def _able(
    verdict: SetVerdict, some: Iterable[tuple[MatchOfSet, Match]]
) -> Iterator[tuple[MatchOfSet, Match]]:
    """Those that can be decided on still; of all others it is kept why they stay as they are."""
    for member, match in some:
        if why := why_not(verdict, match):
            member.state, member.why = MemberState.LEFT, why
        else:
            yield member, match
