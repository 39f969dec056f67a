"""Ladders: who meets whom next, from what the database holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA
from arena.competitions import ladder_settings
from arena.competitions.kind import CompetitionKind, Conclusion, Matchmaker, Moment, Placed
from arena.competitions.ladder_places import places_on
from arena.competitions.pairings import DueMatch, Pairing, due_matches_of, pairs_of
from arena.competitions.rosters import met_on
from arena.formats.ladder import all_met, next_match
from arena.formats.roster import PLACEMENT_GAMES, Met, Rival, Roster
from arena.models import (
    AT_HOME,
    HOUSE,
    Bot,
    BotVersion,
    Competition,
    CompetitionState,
    DateKind,
    Entrant,
    EntrantState,
    HomeRule,
    JobStatus,
    Ladder,
    Match,
    Place,
    Presence,
    Topic,
    User,
)
from arena.models.entrants import IS_UNCONVERGED
from engine.match import entrants_needed
from engine.seeds import derive
from engine.translation import N_, gettext, ngettext, translated

PEOPLE_IN_PLACEMENT, HOUSE_IN_PLACEMENT, ALL_PLACED = range(3)
"""How urgent a ladder is, the most urgent first: newcomers of people, then the house's."""


FEWEST_ASIDE = 3
"""Matches of a ladder that must have been set aside, however few its bots, before it rests."""
UNPLAYABLE_SECONDS = 300.0
"""How long a ladder rests after each match while its last ones could not be played."""
UNPLAYABLE = N_("Its last matches could not be played, so that one is tried only now and then.")


@dataclass(frozen=True, slots=True)
class Newcomer:
    """An active entrant that was in placement when it last finished a game."""

    entrant: int
    is_of_the_house: bool


def newcomers(
    session: Session, ladders: Sequence[Ladder], *, at_home: bool = False
) -> dict[int, list[Newcomer]]:
    """Those of each of these ladders that has any, by its id: few, once an arena has run.

    Args:
        at_home: those that stay at home, and not all others.
    """
    young = (
        sa.select(Entrant.competition_id, Entrant.id, User.name)
        .join(Entrant.version)
        .join(BotVersion.bot)
        .join(Bot.owner)
        .where(
            Entrant.competition_id.in_([ladder.id for ladder in ladders]),
            Entrant.state == EntrantState.ACTIVE,
            Entrant.games < PLACEMENT_GAMES,
            IS_UNCONVERGED,  # as all of them are, and few others
            (BotVersion.language == AT_HOME) == sa.literal(at_home),
        )
    )
    found: dict[int, list[Newcomer]] = {}
    for ladder, entrant, owner in session.execute(young):
        found.setdefault(ladder, []).append(Newcomer(entrant, owner == HOUSE))
    return found


class LadderField:
    """Who can be paired on a ladder, with what is due counted as finished."""

    def __init__(
        self,
        ladder: Ladder,
        roster: Roster,
        met: Met,
        due: Iterable[DueMatch],
        at_home: Mapping[int, int] | None = None,
        moment: Moment | None = None,
        other: set[int] | None = None,
    ) -> None:
        """Takes who can be paired, and what is due.

        Args:
            roster: without what is due.
            at_home: the versions of those in it that are at home, by their ids.
            moment: in which it is asked who is there, and can meet; else everybody is and can.
            other: takes who is not in the roster any more as it was.
        """
        self._ladder, self._moment = ladder, moment
        self._at_home = at_home or {}
        self._games_a_match = entrants_needed(ladder.variant)
        self._roster, self._out = roster, dict[int, Rival]()
        self._other = set() if other is None else other
        made_for = moment.made_for if moment else {}
        self._made_for = {one: made_for[one] for one in made_for if one in roster}
        self.met = met
        self.is_unplayable = False
        """Whether nothing has come of the last matches (see `is_unplayable`)."""
        for match in due:
            self.add(match)

    @classmethod
    def read(cls, ladder: Ladder, moment: Moment) -> LadderField:
        """Who can be paired on a ladder now; bots at home only where the moment is one for them."""
        session, due = moment.session, moment.due_of(ladder)
        read = moment.rosters.read(
            session,
            ladder,
            boxed=ladder.home is not HomeRule.ONLY,
            at_home=moment.free_at_home is not None and ladder.home is not HomeRule.NO,
        )
        met = met_on(session, ladder)
        found = cls(ladder, read.roster, met, due, read.homes, moment, read.other)
        if sum(match.is_set_aside for match in due) >= FEWEST_ASIDE:
            found.is_unplayable = is_unplayable(session, ladder, len(found.roster))
        return found

    @property
    def roster(self) -> Roster:
        """The active entrants that can be paired now."""
        if self._at_home or self._made_for:
            there = self._there([*self._roster.all, *self._out.values()])
            for one in self._roster.all:
                if one.id not in there:
                    self._out[one.id] = one
                    self._other.add(one.id)
                    self._roster.remove(one.id)
            for number in self._out.keys() & there:
                self._roster.put(self._out.pop(number))
        return self._roster

    def _there(self, rivals: Sequence[Rival]) -> set[int]:
        """Those of some that are there, and have somebody to meet."""
        there = [one.id for one in rivals if self._is_free(one.id)]
        if not self._made_for:
            return set(there)
        # Few runtimes make for few sorts of bots, and whom one can meet goes by these.
        sorts: dict[str | None, list[int]] = {}
        for one in there:
            sorts.setdefault(self._made_for.get(one), []).append(one)
        able = {
            sort
            for sort, its in sorts.items()
            if any(
                others[-1] != its[0] and self.can_meet((its[0], others[-1]))
                for others in sorts.values()
            )
        }
        return {one for one in there if self._made_for.get(one) in able}

    def can_meet(self, entrants: Sequence[int]) -> bool:
        """Whether there is room now for a match of these, with their runtimes."""
        return self._moment is None or self._moment.can_meet(self._ladder, entrants)

    @property
    def has_runtimes(self) -> bool:
        """Whether any of them has a runtime."""
        return bool(self._made_for)

    @property
    def at_home(self) -> frozenset[int]:
        """The ids of those among them that are at home."""
        return frozenset(entrant for entrant in self._at_home if self._is_free(entrant))

    @property
    def away(self) -> int:
        """How many are at home and can't be paired, since they are not there."""
        return len(self._at_home) - len(self.at_home)

    def _is_free(self, entrant: int) -> bool:
        version = self._at_home.get(entrant)
        free = self._moment and self._moment.free_at_home
        return version is None or (free or {}).get(version, 0) > 0

    def urgency(self, young: Sequence[Newcomer]) -> int:
        """Whether somebody in placement is due before all others, and whose bot that is.

        Who has more newcomers than one person's turns can place lets no other ladder wait for them.
        """
        roster = self.roster
        most = roster.least_had(placed=True) + PLACEMENT_GAMES

        def is_due(entrant: int) -> bool:
            rival = roster.get(entrant)
            return rival is not None and rival.in_placement and roster.had[rival.person] <= most

        for urgency, is_of_the_house in ((PEOPLE_IN_PLACEMENT, False), (HOUSE_IN_PLACEMENT, True)):
            its = (one.entrant for one in young if one.is_of_the_house is is_of_the_house)
            if any(map(is_due, its)):
                return urgency
        return ALL_PLACED

    def add(self, match: DueMatch) -> None:
        """Counts one more that is due."""
        for entrant in match.entrants if match.counts_as_played else ():
            if rival := self._roster.get(entrant) or self._out.get(entrant):
                self._other.add(entrant)
                rival = replace(rival, games=rival.games + self._games_a_match)
                if entrant in self._out:
                    self._out[entrant] = rival
                else:
                    self._roster.put(rival)
                had = self._roster.had[rival.person] + self._games_a_match
                self._roster.set_had(rival.person, had)
        for pair in pairs_of(match.entrants) if match.rated else ():
            self.met.add(*pair)


def pairing_of(
    ladder: Ladder,
    field: LadderField,
    now: datetime,
    trickle_seconds: float,
    *,
    at_home: bool = False,
) -> Pairing | None:
    """Who meets next on a ladder; None if it rests, or no match can be made.

    Args:
        trickle_seconds: how long a ladder of which all is known well rests after each match.
        at_home: whether a bot at home is to be in it.
    """
    if _is_resting(ladder, field, now, trickle_seconds):
        return None
    race = ladder.variant.seats == 1
    chosen = next_match(
        field.roster,
        field.met,
        seats=2 if race else entrants_needed(ladder.variant),
        random=Random(derive(ladder.seed, "pairing", ladder.matches_made)),
        rematches=not race,
        one_of=field.at_home if at_home else None,
        can_meet=field.can_meet if field.has_runtimes else None,
    )
    return None if chosen is None else Pairing(chosen, at_home=at_home)


def _is_resting(ladder: Ladder, field: LadderField, now: datetime, trickle_seconds: float) -> bool:
    """Whether a ladder waits until its next match is due.

    It does where all is known well, and where nothing comes of its matches: to try them costs the
    workers more than to play them.
    """
    seconds = trickle_seconds if field.roster.is_converged else 0.0
    if field.is_unplayable:
        seconds = max(seconds, UNPLAYABLE_SECONDS)
    if not seconds or ladder.last_match is None:
        return False
    # One of a time to come was made before the arena's clock was set back.
    return abs(now - ladder.last_match) < timedelta(seconds=seconds)


def is_unplayable(session: Session, ladder: Ladder, bots: int) -> bool:
    """Whether the last matches of a ladder were all set aside, as many as it has bots.

    Those do not count in which somebody was who has never finished a game there: a bot with which
    no match could ever be played costs its own matches. But when bots that have played can't be
    played any more, whoever meets whom, what is wrong is the ladder's, such as a limit.
    """
    never_played = sa.exists().where(
        Place.match_id == Match.id, Place.entrant_id == Entrant.id, Entrant.games == 0
    )
    ended = (JobStatus.FIXED, JobStatus.SET_ASIDE)
    enough = max(FEWEST_ASIDE, bots)
    last = session.scalars(
        sa.select(Match.status)
        .where(Match.competition_id == ladder.id, Match.status.in_(ended), ~never_played)
        .order_by(Match.id.desc())
        .limit(enough)
    ).all()
    return last.count(JobStatus.SET_ASIDE) == enough


def _connected(session: Session) -> dict[int, int]:
    """The versions at home that are there, each with how many games it takes."""
    there = sa.select(Presence.version_id, Presence.games).where(Presence.games > 0)
    return dict(session.execute(there).all())


STATE_WORDS = {
    CompetitionState.PAUSED: N_("The ladder is paused: no matches are made for now."),
    CompetitionState.FROZEN: N_("The ladder is frozen: it takes no bots and plays no games."),
    CompetitionState.CLOSED: N_("The ladder is closed: this is its final table."),
}

TOO_FEW = {
    0: N_("A match takes %(needed)s active bots, and there is none."),
    1: N_("A match takes %(needed)s active bots, and there is one."),
}
TOO_FEW_OF_MORE = N_("A match takes %(needed)s active bots, and there are %(count)s.")


def _away_words(count: int) -> str:
    return ngettext(
        "%(count)s bot at home is away.", "%(count)s bots at home are away.", count, count=count
    )


class Ladders(CompetitionKind[Ladder]):
    """Rated without end: whoever entered meets whom it teaches most."""

    model, word = Ladder, N_("ladder")
    rated = replays = takes_home = True
    waits = follows_up = False
    topic, dates = Topic.LADDER, tuple(DateKind)

    def matchmaker(self, competitions: Sequence[Ladder], moment: Moment) -> LadderMatchmaker:
        return LadderMatchmaker(self, competitions, moment)

    def at_rest(self, now: datetime, trickle_seconds: float) -> sa.ColumnElement[bool]:
        """Where nobody is left to learn of, and the last match was lately; and where nobody is, or
        one alone."""
        its = Entrant.competition_id == Competition.id
        uncertain = sa.exists().where(its, IS_UNCONVERGED)
        rest = timedelta(seconds=trickle_seconds)
        last = Competition.last_match
        is_lately = sa.and_(last.is_not(None), last > now - rest, last < now + rest)
        another = sa.select(Entrant.id).where(its, Entrant.state == EntrantState.ACTIVE)
        alone = another.order_by(Entrant.id).limit(1).offset(1).scalar_subquery().is_(None)
        return sa.and_(Competition.kind == self.name, sa.or_(sa.and_(is_lately, ~uncertain), alone))

    def next_pairing(self, competition: Ladder, moment: Moment) -> Pairing | None:
        return self.matchmaker([competition], moment).next_pairing(competition)

    def why_idle(
        self, session: Session, competition: Ladder, now: datetime, trickle_seconds: float
    ) -> str | None:
        if competition.state is not CompetitionState.OPEN:
            return translated(STATE_WORDS[competition.state])
        race = competition.variant.seats == 1
        needed = 2 if race else entrants_needed(competition.variant)
        moment = Moment(
            session,
            now,
            {competition.id: due_matches_of(session, competition)},
            free_at_home=_connected(session),
        )
        field = LadderField.read(competition, moment)
        rivals = field.roster.all
        count = len(rivals)
        if count < needed:
            words = gettext(TOO_FEW.get(count, TOO_FEW_OF_MORE), needed=needed, count=count)
            return f"{words} {_away_words(field.away)}" if field.away else words
        if race and all_met(rivals, field.met):
            return gettext(
                "Every two of these bots have met; a new bot or version will race again."
            )
        if _is_resting(competition, field, now, trickle_seconds):
            if field.is_unplayable:
                return translated(UNPLAYABLE)
            return gettext(
                "Every rating is known well, so that a match is played only now and then."
            )
        return None

    def draw_probability(self, competition: Ladder) -> float:
        return competition.draw_probability

    def close(self, session: Session, competition: Ladder, now: datetime) -> None:
        state = {"state": str(CompetitionState.CLOSED)}
        ladder_settings.change(session, ARENA, competition, state, now)

    def final_places(self, session: Session, competition: Ladder) -> Mapping[int, Placed]:
        return places_on(session, competition, self.result)

    def withdraw(
        self, session: Session, competition: Ladder, entrant: Entrant, why: str, now: datetime
    ) -> None:
        entrant.state, entrant.reason = EntrantState.RETIRED, why

    def play_no_more(self) -> sa.Select[int]:
        ended = CompetitionState.FROZEN, CompetitionState.CLOSED
        return sa.select(Ladder.id).where(Ladder.state.in_(ended))

    def conclusion(self, session: Session, competition: Ladder) -> Conclusion:
        return Conclusion(N_("The ladder %(title)s is closed"), {"title": competition.title})


class LadderMatchmaker(Matchmaker[Ladder]):
    """Who meets next on ladders, each of which is read once and kept up with what is made."""

    def __init__(self, kind: Ladders, ladders: Sequence[Ladder], moment: Moment) -> None:
        super().__init__(kind, moment)
        self._is_at_home = moment.free_at_home is not None
        self._newcomers = newcomers(moment.session, ladders, at_home=self._is_at_home)
        self._fields: dict[int, LadderField] = {}
        self._urgencies: dict[int, int] = {}

    def urgency(self, competition: Ladder) -> int:
        found = self._urgencies.get(competition.id)
        if found is None:
            young = self._newcomers.get(competition.id)
            found = self._field(competition).urgency(young) if young else ALL_PLACED
            self._urgencies[competition.id] = found
        return found

    def next_pairing(self, competition: Ladder) -> Pairing | None:
        moment, field = self.moment, self._field(competition)
        return pairing_of(
            competition, field, moment.now, moment.trickle_seconds, at_home=self._is_at_home
        )

    def _field(self, competition: Ladder) -> LadderField:
        field = self._fields.get(competition.id)
        if field is None:
            # What was made is no part of it, and is written all together at the end.
            with self.moment.session.no_autoflush:
                field = LadderField.read(competition, self.moment)
            self._fields[competition.id] = field
        return field

    def made(self, competition: Ladder, match: DueMatch) -> None:
        self._urgencies.pop(competition.id, None)
        if field := self._fields.get(competition.id):
            field.add(match)
