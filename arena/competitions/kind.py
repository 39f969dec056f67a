"""What is asked of every kind of competition, and what most of them answer.

A kind is a class of rows (a subclass of `arena.models.Competition`, with a name that the database
knows it by) and a `CompetitionKind`, which says how such a competition is played. Scheduling,
recording, verdicts and pages ask that, and never what kind it is. One with a field that is set,
that plays each of its matches and is over then, has to say only who meets next and when it is over.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.founding import set_over
from arena.competitions.pairings import DueMatch, Pairing, due_matches_of, under_way
from arena.competitions.rosters import Rosters
from arena.models import Competition, CompetitionState, DateKind, Entrant, Match, Topic
from arena.ratings.bradley_terry import Strength
from arena.ratings.result import GameResult
from engine.game import Variant
from engine.record import GameRecord
from engine.translation import N_, gettext, translated

C = TypeVar("C", bound=Competition)

HasRoom = Callable[[Competition, frozenset[str]], bool]
"""Whether workers have room for one more match of a competition that keep the runtimes for some
platforms."""
NO_DUE: Sequence[DueMatch] = ()
ASIDE = N_("What was to be played next was set aside, and waits for the operator.")


@dataclass(frozen=True, slots=True)
class Moment:
    """What is there when new matches are made, in the transaction that makes them."""

    session: Session
    now: datetime
    due: Mapping[int, Sequence[DueMatch]]
    """The matches of each competition that are not fixed, by its id; kept up with what is made."""
    trickle_seconds: float = 0.0
    """How long a converged ladder rests after each match."""
    has_room: HasRoom = lambda *_: True
    made_for: Mapping[int, str] = field(default_factory=dict)
    """The platforms that the runtimes of entrants are made for, by their ids; who is not in it has
    none, and is played by any worker."""
    free_at_home: Mapping[int, int] | None = None
    """How many more matches each bot at home plays that is there, by its version, where matches
    with such bots are made; None where others are."""

    rosters: Rosters = field(default_factory=Rosters)
    """Those of ladders, which who makes matches again and again keeps."""

    def due_of(self, competition: Competition) -> Sequence[DueMatch]:
        """The matches of a competition that are not fixed."""
        return self.due.get(competition.id, NO_DUE)

    def can_meet(self, competition: Competition, entrants: Iterable[int]) -> bool:
        """Whether a worker has room for these entrants of a competition, with their runtimes."""
        its = frozenset(self.made_for[one] for one in entrants if one in self.made_for)
        return not its or self.has_room(competition, its)


class Conclusion(NamedTuple):
    """How a competition ended, for people."""

    message: str
    """The message in English, as catalogues know it."""
    places: Mapping[str, str | int]
    """What stands at its places."""
    words: str = ""
    """What else there is to say, in the language that is spoken."""

    @property
    def title(self) -> str:
        """The message in the language that is spoken."""
        return gettext(self.message, **self.places)


class Placed(NamedTuple):
    """Where an entrant came."""

    place: int | None
    strength: Strength | None = None
    points: float | None = None


class CompetitionKind(ABC, Generic[C]):
    """How the competitions of a kind are played."""

    model: type[C]
    """The class of their rows."""
    word: str
    """What people call one, which is translated where it is shown."""
    paused = N_("It is paused: no matches are made for now.")
    """What is said of one that is neither open nor over."""
    rated = False
    """Whether results move the ratings of entrants."""
    waits = True
    """Whether nothing goes on without a match that can't be played: somebody who was suspended is
    waited for, and where somebody has left, the match is given up."""
    suspends = True
    """Whether who can't be played is suspended, and the others play on."""
    replays = False
    """Whether a match that is made void is played again only if somebody asks for it; elsewhere
    it is due again by itself."""
    checked = True
    """Whether its counters are made anew in secret now and then, to see that they are right."""
    takes_home = False
    """Whether bots at home may play in them."""
    topic = Topic.TEST
    """The topic under which people are told of one."""
    dates: tuple[DateKind, ...] = ()
    """Which dates one can have."""
    follows_up = True
    """Whether something follows from every match (`follow_up`), and not only from faults."""

    @property
    def name(self) -> str:
        """What the database knows it by."""
        return str(self.model.__mapper__.polymorphic_identity)

    # What is played.

    def matchmaker(self, competitions: Sequence[C], moment: Moment) -> Matchmaker[C]:
        """Who says who meets next in open competitions, as long as a transaction makes matches."""
        return Matchmaker(self, moment)

    def at_rest(self, now: datetime, trickle_seconds: float) -> sa.ColumnElement[bool]:
        """The condition that one of its kind has no match to make now, where a statement can tell.

        Whether others have one their matchmaker finds out.

        Args:
            trickle_seconds: how long a converged ladder rests after each match.
        """
        return sa.false()

    @abstractmethod
    def next_pairing(self, competition: C, moment: Moment) -> Pairing | None:
        """Who meets next in an open competition; None if nobody can for now."""

    def seatings(self, variant: Variant) -> tuple[tuple[int, ...], ...]:
        """The place of the entrant in each seat, for each game of a match.

        By default, which is empty, all take turns in the seats, one in each.
        """
        return ()

    def options_of(self, match: Match) -> Mapping[str, Any]:
        """The options of the variant that a match is of, before its lots are drawn."""
        return match.competition.options

    def why_idle(
        self, session: Session, competition: C, now: datetime, trickle_seconds: float
    ) -> str | None:
        """Why none of its matches is made or played, in a sentence; None if it is only a matter
        of workers, or it is over."""
        if competition.state is CompetitionState.CLOSED:
            return None
        if competition.state is CompetitionState.OPEN:
            due = due_matches_of(session, competition) if self.waits else NO_DUE
            return translated(ASIDE) if due and not under_way(due) else None
        return translated(self.paused)

    # What comes of it.

    def result(
        self, entrants: Sequence[int], sides: Sequence[int], ranks: Sequence[int]
    ) -> GameResult[int]:
        """What a game says about its entrants.

        Args:
            entrants, sides, ranks: of each seat.
        """
        return GameResult(tuple(entrants), tuple(sides), tuple(ranks))

    def draw_probability(self, competition: C) -> float:
        """The probability of a draw between equals that results are rated by, if they are."""
        return 0.5

    def follow_up(
        self, session: Session, match: Match, games: Sequence[GameRecord], now: datetime
    ) -> None:
        """What follows from a match that was just fixed and stored."""
        self.end_or_reopen(session, self._own(match), now)

    def end_or_reopen(self, session: Session, competition: C, now: datetime) -> None:
        """Ends a competition that is over; opens one again that is not, since a match is void."""

    @abstractmethod
    def withdraw(
        self, session: Session, competition: C, entrant: Entrant, why: str, now: datetime
    ) -> None:
        """Takes an entrant out for good whose bot is gone, of a competition that is locked and not
        over: no more matches with it are made, and `end_or_reopen` doesn't change that later.

        Args:
            why: for people, in English.

        Raises:
            Refusal: it can't be spared.
        """

    def close(self, session: Session, competition: C, now: datetime) -> None:
        """Ends one whose date has come on which it closes; it is locked, and its matches that are
        not played. `end_or_reopen` doesn't change that later."""
        set_over(session, competition, over=True, now=now)

    def final_places(self, session: Session, competition: C) -> Mapping[int, Placed]:
        """Where everybody came in one that is over, by the entrants' ids; asked of those alone that
        are organised."""
        return {}

    def keep_winner(self, session: Session, competition: C) -> None:
        """Keeps who has won one that is over, where that is kept and is not yet."""

    def why_not_void(self, competition: C, match: Match) -> str | None:
        """Why a match that was played can't be made void, in a sentence; None if it can."""
        return None

    def play_no_more(self) -> sa.Select[int]:
        """The ids of those of which all that is not played is void."""
        return sa.select(self.model.id).where(sa.false())

    def recount(self, session: Session, competition: C, *, write: bool) -> list[str]:
        """Makes anew what is counted beside `arena.models.Competition`'s own counters.

        Args:
            write: keeps what came out.

        Returns:
            A line for each that differs from what was stored.
        """
        return []

    def stands(self, session: Session, competition: C) -> Mapping[str, str]:
        """How those in it stand by the results, by their labels, for who compares; in English.

        Nothing where ratings alone say so.
        """
        return {}

    def conclusion(self, session: Session, competition: C) -> Conclusion:
        """How a closed competition ended."""
        return Conclusion(N_("%(title)s is over"), {"title": competition.title})

    def _own(self, match: Match) -> C:
        assert isinstance(match.competition, self.model)
        return match.competition


class Matchmaker(Generic[C]):
    """Says who meets next in competitions of a kind; it may remember what it read."""

    def __init__(self, kind: CompetitionKind[C], moment: Moment) -> None:
        self.kind, self.moment = kind, moment

    def urgency(self, competition: C) -> int:
        """A number by which competitions of the kind take turns, the smallest first."""
        return 0

    def next_pairing(self, competition: C) -> Pairing | None:
        """Who meets next in a competition; None if nobody can for now."""
        return self.kind.next_pairing(competition, self.moment)

    def made(self, competition: C, match: DueMatch) -> None:
        """Keeps a match that was made of what it said."""


AnyKind = CompetitionKind[Any]
