"""The rosters of ladders, made of what the database has.

Whoever makes matches again and again keeps them (`Rosters`). Each time all entrants are read, which
is little to read of each, but only of those who are not as they were before is anything made anew:
so nothing that happens to them has to be told. Only whose a bot is is looked at less often.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from itertools import groupby

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from arena.formats.roster import Meetings, Met, Rival, Roster
from arena.models import (
    AT_HOME,
    HOUSE,
    Bot,
    BotVersion,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Meeting,
    Place,
    Team,
    User,
)
from arena.ratings.trueskill import Rating
from engine.match import entrants_needed

LATELY_A_PERSON, LATELY_AT_MOST = 50, 2000
"""How many of a ladder's last matches people take turns by: so many for each who has a bot there.
Enough that who begins with a placement all the time gets a tenth more than others at most."""
OWNERS_SECONDS = 30.0
"""How long a kept roster may not know that a bot has got another owner."""
MOST_KEPT = 100_000
"""Entrants of all rosters that are kept, each of which takes a kilobyte."""
MOST_NAMED = 500
"""The most versions of which it is asked by their ids whose they are; of more, it is of all of a
ladder."""
AT_ONCE = 500
"""Rows that are read, compared and let go together: with all of them in hand, the interpreter would
look through all that is kept for garbage."""
Row = tuple[int, float, float, int, int]
"""An entrant's id, mu, sigma, games, and version."""

_LADDER: sa.BindParameter[int] = sa.bindparam("ladder")
_IS_ACTIVE = Entrant.competition_id == _LADDER, Entrant.state == EntrantState.ACTIVE
# With their finished games since they came, or came back: else one could be chosen for its luck,
# and rest with it.
_ROWS = sa.select(
    Entrant.id, Entrant.mu, Entrant.sigma, Entrant.games - Entrant.games_before, Entrant.version_id
).where(*_IS_ACTIVE)
# As `Bot.person_id`, but for captains, which is asked for each bot by itself; and the house's bots,
# by whom all others are measured, are nobody's: each takes turns as a person does.
_MASKED = aliased(Bot)
_HOUSE = sa.select(User.id).where(User.name == HOUSE).scalar_subquery()
_OWNER = sa.case(
    (Bot.owner_id == _HOUSE, -Bot.id),
    else_=sa.func.coalesce(_MASKED.owner_id, Bot.owner_id),
)
_IS_MASKED = _MASKED.id == Bot.masks_id
_OWNERS = (
    sa.select(BotVersion.id, BotVersion.language, _OWNER)
    .join(BotVersion.bot)
    .outerjoin(_MASKED, _IS_MASKED)
)
_OF_ALL = _OWNERS.join(Entrant, Entrant.version_id == BotVersion.id).where(*_IS_ACTIVE)
_RATED = Match.competition_id == _LADDER, Match.status == JobStatus.FIXED, Match.rated
_PLAYED = (
    sa.select(Match.seq, Place.entrant_id, _OWNER)
    .join(Place.match)
    .join(Place.entrant)
    .join(Entrant.version)
    .join(BotVersion.bot)
    .outerjoin(_MASKED, _IS_MASKED)
)
_LAST = _PLAYED.where(
    Match.id.in_(
        sa.select(Match.id)
        .where(*_RATED)
        .order_by(Match.seq.desc())
        .limit(sa.bindparam("most"))
        .scalar_subquery()
    )
).order_by(Match.seq)
_SINCE: sa.BindParameter[int] = sa.bindparam("seq")
_AFTER = _PLAYED.where(*_RATED, Match.seq > _SINCE).order_by(Match.seq)
_VOIDS = sa.select(sa.func.count()).where(
    Match.competition_id == _LADDER, Match.status == JobStatus.VOID, Match.seq.is_not(None)
)


class Rosters:
    """Those of several ladders, as they were when they were last read."""

    def __init__(self) -> None:
        """Begins with no roster."""
        self._kept: dict[tuple[int, bool, bool], LadderRoster] = {}
        self._size = 0
        """How many entrants are in them."""

    def clear(self) -> None:
        """Forgets all: the transaction in which they were read came to nothing."""
        self._kept.clear()
        self._size = 0

    def read(self, session: Session, ladder: Ladder, *, boxed: bool, at_home: bool) -> LadderRoster:
        """The roster of a ladder at this moment.

        Args:
            boxed, at_home: whether the bots are in it that were uploaded, and those at home.
        """
        key = ladder.id, boxed, at_home
        found = self._take_out(key) if key in self._kept else None
        if found is None:
            found = LadderRoster(boxed=boxed, at_home=at_home)
        found.look(session, ladder)
        self._kept[key] = found
        self._size += len(found)
        while self._size > MOST_KEPT and len(self._kept) > 1:
            self._take_out(next(iter(self._kept)))  # which was not read for the longest time
        return found

    def _take_out(self, key: tuple[int, bool, bool]) -> LadderRoster:
        found = self._kept.pop(key)
        self._size -= len(found)
        return found


class LadderRoster:
    """A roster, and what was read for it."""

    def __init__(self, *, boxed: bool, at_home: bool) -> None:
        """Begins with nobody."""
        self._takes = {False: boxed, True: at_home}
        self.roster = Roster()
        self.other: set[int] = set()
        """Who in it is not as it was read, since a match of it is due, or it was taken out."""
        self.homes: dict[int, int] = {}
        """The versions of those at home, by the entrants' ids."""
        self._rows: dict[int, Row] = {}
        self._rivals: dict[int, Rival] = {}
        self._owners: dict[int, tuple[str, int]] = {}
        """The language and the owner of each version."""
        self._owners_read: float | None = None
        self._captains: dict[int, int | None] = {}
        self._lately: _Lately | None = None

    def __len__(self) -> int:
        return len(self._rivals)

    def look(self, session: Session, ladder: Ladder) -> None:
        """Brings it up to date."""
        if session.autoflush:
            session.flush()
        found = session.connection().execute(_ROWS, {"ladder": ladder.id})
        known, new, there = self._rows, list[Row](), set[int]()
        for part in found.partitions(AT_ONCE):
            # As plain tuples, which are compared in a tenth of the time.
            rows = [(one, mu, sigma, games, of) for one, mu, sigma, games, of in part]
            there.update(row[0] for row in rows)
            new += [row for row in rows if known.get(row[0]) != row]
        gone = known.keys() - there
        captains = dict(session.execute(sa.select(Team.id, Team.captain_id)).all())
        known.update((row[0], row) for row in new)
        for number in gone:
            del known[number]
        is_other = self._look_at_owners(session, ladder, {row[-1] for row in new})
        is_other = is_other or captains != self._captains
        if is_other:
            self._captains, self._lately = captains, None
        if is_other or 4 * len(new) > len(known):
            self._rivals, self.homes = {}, {}
            self._take(known.values())
            self.roster = Roster(self._rivals.values())
        else:
            other = gone.union(row[0] for row in new)
            for number in other:
                self._rivals.pop(number, None)
                self.homes.pop(number, None)
            self._take(new)
            for number in other | self.other:
                if number in self._rivals:
                    self.roster.put(self._rivals[number])
                elif number in self.roster:
                    self.roster.remove(number)
        self.other.clear()
        self._count_lately(session, ladder)

    def _take(self, rows: Iterable[Row]) -> None:
        for number, mu, sigma, games, version in rows:
            language, owner = self._owners[version]
            is_home = language == AT_HOME
            if self._takes[is_home]:
                self._rivals[number] = Rival(number, Rating(mu, sigma), games, self._person(owner))
                if is_home:
                    self.homes[number] = version

    def _person(self, owner: int) -> int:
        return self._captains.get(owner) or owner

    def _look_at_owners(self, session: Session, ladder: Ladder, versions: set[int]) -> bool:
        """Reads whose some versions are, and now and then whose all are.

        Returns:
            Whether one of those that were known has another owner.
        """
        unknown, now = versions - self._owners.keys(), time.monotonic()
        last, connection = self._owners_read, session.connection()
        is_whole = last is None or now - last > OWNERS_SECONDS or len(unknown) > MOST_NAMED
        if is_whole:
            self._owners_read, self._lately = now, None
            rows = connection.execute(_OF_ALL, {"ladder": ladder.id})
        elif unknown:
            rows = connection.execute(_OWNERS.where(BotVersion.id.in_(unknown)))
        else:
            return False
        read = {version: (language, owner) for version, language, owner in rows}
        is_other = any(self._owners.get(version, its) != its for version, its in read.items())
        self._owners = read if is_whole else self._owners | read
        return is_other

    def _count_lately(self, session: Session, ladder: Ladder) -> None:
        """Finds out how many games each person had in the last rated matches of a ladder, by
        whichever bot; who has come alone has nobody to take turns with."""
        people = self.roster.people
        most = min(people * LATELY_A_PERSON, LATELY_AT_MOST) if people > 1 else 0
        if self._lately is None or not self._lately.look(session, ladder, most):
            self._lately = _Lately(session, ladder, most, self._person)
        had, times = self.roster.had, self._lately.times
        games = entrants_needed(ladder.variant)
        for person in [p for p in {*had, *times} if had.get(p, 0) != times.get(p, 0) * games]:
            self.roster.set_had(person, times[person] * games)


class _Lately:
    """The people whose bots played the last matches of a ladder."""

    def __init__(
        self, session: Session, ladder: Ladder, most: int, person: Callable[[int], int]
    ) -> None:
        """Reads who played them.

        Args:
            most: how many matches.
            person: gives whose an owner's bots are.
        """
        self.times = Counter[int]()
        """How often each person's bots were in one."""
        self._most, self._person = most, person
        self._matches: deque[list[int]] = deque()
        """Whose bots were in each match, the first match first."""
        self._last = 0
        # Counted before: what is made void meanwhile is seen at the next look.
        self._voids = _count_voids(session, ladder)
        self._add(session, _LAST, {"ladder": ladder.id, "most": most})

    def look(self, session: Session, ladder: Ladder, most: int) -> bool:
        """Reads those that were played since; False if others are missing, or one is void."""
        if most > self._most or self._voids != _count_voids(session, ladder):
            return False
        self._most = most
        self._add(session, _AFTER, {"ladder": ladder.id, "seq": self._last})
        return True

    def _add(
        self, session: Session, query: sa.Select[int | None, int, int], which: dict[str, int]
    ) -> None:
        """Counts more matches, if any are to be."""
        rows = session.connection().execute(query, which) if self._most else ()
        for seq, its in groupby(rows, key=lambda row: row[0]):
            self._matches.append([self._person(owner) for *_, owner in its])
            self.times.update(self._matches[-1])
            self._last = seq
        while len(self._matches) > self._most:
            self.times.subtract(self._matches.popleft())


def _count_voids(session: Session, ladder: Ladder) -> int:
    """How many matches of a ladder were played and are void."""
    return session.connection().scalars(_VOIDS, {"ladder": ladder.id}).one()


_MATCHES_MET = sa.select(Meeting.first_id, Meeting.second_id, Meeting.matches)
_OF_ONE: sa.BindParameter[int] = sa.bindparam("entrant")
# Each of them is looked up by an index of its own.
_MET_BY_ONE = sa.union_all(
    _MATCHES_MET.where(Meeting.first_id == _OF_ONE),
    _MATCHES_MET.where(Meeting.second_id == _OF_ONE),
)


def met_on(session: Session, ladder: Ladder) -> Met:
    """Finished matches between every two entrants of a ladder, read as they are asked for."""

    def read(entrant: int | None) -> Meetings:
        # What was made is no part of it, and is written all together at the end.
        connection = session.connection()
        if entrant is not None:
            return connection.execute(_MET_BY_ONE, {"entrant": entrant}).all()
        return connection.execute(_MATCHES_MET.where(Meeting.competition_id == ladder.id))

    return Met(read=read)
