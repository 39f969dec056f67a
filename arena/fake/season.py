"""All matches of one made-up ladder: who met whom, what came of it, and what that counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.ladders import Ladders
from arena.competitions.ranks import games_to_be_ranked
from arena.fake.stock import StoredMatch
from arena.lists.rows import (
    GivenByBots,
    OfMatch,
    line_row,
    listed_seats,
    opening_number,
    start_of,
)
from arena.models import Entrant, JobStatus, Ladder, Meeting
from arena.ratings.book import RatingBook
from arena.ratings.trends import Trends
from arena.ratings.trueskill import Rating, TrueSkill
from arena.recorder.recording import results_of
from arena.recorder.storage import EntrantTally, Tally, seat_rows, tally
from engine.match import MatchSpec, entrants_needed

DAYS = 120
"""How many days ago the first match was played, unless it is said."""
WORKERS = tuple(f"worker-{number}" for number in range(1, 9))
LOOK_MATCHES = 100
"""Matches between two looks at who has a better rank than ever."""


@dataclass(slots=True)
class MatchRows:
    """What a match is in the database, table by table."""

    match: dict[str, Any]
    places: list[dict[str, Any]]
    games: list[dict[str, Any]]
    seats: list[list[dict[str, Any]]]
    listed: list[list[dict[str, Any]]]
    given: Sequence[GivenByBots]
    lines: Sequence[dict[str, Any] | None]


class Season:
    """All matches of one ladder, with its counters."""

    def __init__(
        self,
        ladder: Ladder,
        field: Sequence[Entrant],
        stock: Sequence[StoredMatch],
        random: Random,
        *,
        bots: Mapping[int, int],
        began: datetime,
        now: datetime,
    ) -> None:
        """Begins a season.

        Args:
            bots: the bot of each version, by their ids.
            began: when its first match was played.
            now: when its last one was, or soon after that.
        """
        self.ladder, self.random, self.began, self.now = ladder, random, began, now
        self.versions = {one.id: (one.version_id, bots[one.version_id]) for one in field}
        self.field = sorted(field, key=lambda entrant: entrant.id)
        self.strength = {entrant.id: random.gauss(25, 6) for entrant in self.field}
        self.order = sorted(self.strength, key=lambda e: self.strength[e])
        self.book = RatingBook[int](TrueSkill(draw_probability=ladder.draw_probability))
        for entrant in self.field:
            self.book.enter(entrant.id)
        self.trends = Trends[int]()
        self.total = Tally()
        self.last: dict[int, datetime] = {}
        self.best: dict[int, tuple[int, datetime]] = {}
        """The best rank of each that was ever ranked, and when it was first seen."""
        self.matches_made = 0
        self.stock = stock

    def matches(self, games: int) -> Iterator[MatchRows]:
        """The rows of matches, but for their places among all, until so many games are made."""
        while self.total.games < games:
            when = self.began + (self.now - self.began) * (self.total.games / games)
            yield self._match(when)
            if self.matches_made % LOOK_MATCHES == 0:
                self._note_ranks(when)
        self._note_ranks(self.now)

    def _note_ranks(self, when: datetime) -> None:
        """Notes best ranks, as `arena.competitions.ranks.note_best` does in an arena that plays."""
        needed = games_to_be_ranked(self.ladder, len(self.field))
        played = self.total.entrants
        ranked = [e for e in self.strength if e in played and played[e].games >= needed]
        ranked.sort(key=lambda e: (-self.book[e].conservative, e))
        for rank, entrant in enumerate(ranked, start=1):
            if entrant not in self.best or rank < self.best[entrant][0]:
                self.best[entrant] = rank, when

    def _match(self, when: datetime) -> MatchRows:
        chosen = self._chosen()
        stored = self._nearest(chosen)
        spec = stored.spec
        seatings = [spec.seating(game) for game in range(spec.games)]
        results = results_of(stored.records, chosen, seatings, Ladders())
        changes = [self.book.apply(result) for result in results]
        for change in changes:
            self.trends.note(change)
        row = self._match_row(spec, when)
        about = OfMatch(
            self.ladder.id,
            self.ladder.game,
            opening_number(row["options"], row["opening"]),
            when,
            row["played_by"],
            counts=True,
            start=start_of(self.ladder.game, self.ladder.options, row["options"]),
            set_plies=len(spec.opening),
        )
        seats, listed = [], []
        for number, (record, seating) in enumerate(zip(stored.records, seatings, strict=True)):
            told = number if len(results) == spec.games else 0
            its = seat_rows(record, seating, chosen, results[told], changes[told])
            listed.append(listed_seats(record, its, self.versions, about))
            seats.append([seat | {"log": ""} for seat in its])
        rows = MatchRows(
            row,
            [{"number": n, "entrant_id": e} for n, e in enumerate(chosen)],
            self._game_rows(stored, when),
            seats,
            listed,
            stored.given,
            [line_row(record, about) for record in stored.records],
        )
        faults = [
            (chosen[seating[fault.seat]], fault.termination)
            for record, seating in zip(stored.records, seatings, strict=True)
            for fault in record.faults
        ]
        counted = tally(results, faults, games=len(stored.records))
        self.total.add(counted)
        self.last.update(dict.fromkeys(counted.entrants, when))
        self.matches_made += 1
        return rows

    def _nearest(self, chosen: Sequence[int]) -> StoredMatch:
        """The stock's match whose score is nearest to what these bots would do today."""
        first = self.strength[chosen[0]]
        rest = sum(self.strength[e] for e in chosen[1:]) / (len(chosen) - 1)
        expected = 1 / (1 + math.exp((rest - first) / 4))
        aim = min(1.0, max(0.0, self.random.gauss(expected, 0.3)))
        return min(self.stock, key=lambda s: (abs(s.score - aim), self.random.random()))

    def _game_rows(self, stored: StoredMatch, when: datetime) -> list[dict[str, Any]]:
        return [
            {
                "competition_id": self.ladder.id,
                "number": number,
                "termination": record.termination,
                "plies": len(record.plies),
                "finished": when,
                "digest": stored.digests[number],
                "record": stored.packed[number],
            }
            for number, record in enumerate(stored.records)
        ]

    def _chosen(self) -> list[int]:
        """Entrants of about the same strength."""
        size = max(2, entrants_needed(self.ladder.variant))
        width = min(len(self.order), max(size, 40))
        start = self.random.randrange(len(self.order) - width + 1)
        return self.random.sample(self.order[start : start + width], size)

    def _match_row(self, spec: MatchSpec, when: datetime) -> dict[str, Any]:
        return {
            "competition_id": self.ladder.id,
            "leg": 1,
            "rated": True,
            "options": dict(spec.variant.options),
            "opening": list(spec.opening),
            "seed": spec.seed,
            "fixed": when,
            "status": JobStatus.FIXED,
            "attempt": 1,
            "failures": 0,
            "problem": "",
            "created": when - timedelta(minutes=1),
            "played_by": self.random.choice(WORKERS),
        }

    def write_totals(self, session: Session) -> None:
        """Stores what was counted."""
        ratings: dict[int, Rating] = {entrant.id: self.book[entrant.id] for entrant in self.field}
        session.execute(
            sa.update(Entrant),
            [
                {
                    "id": entrant,
                    "mu": rating.mu,
                    "sigma": rating.sigma,
                    "trend": self.trends[entrant],
                    "last_game": self.last.get(entrant),
                    "best_rank": self.best[entrant][0] if entrant in self.best else None,
                    "best_rank_at": self.best[entrant][1] if entrant in self.best else None,
                    **asdict(self.total.entrants.get(entrant, EntrantTally())),
                }
                for entrant, rating in ratings.items()
            ],
        )
        session.execute(
            sa.insert(Meeting),
            [
                {
                    "first_id": first,
                    "second_id": second,
                    "competition_id": self.ladder.id,
                    **asdict(counts),
                }
                for (first, second), counts in self.total.meetings.items()
            ],
        )
        ladder = session.get_one(Ladder, self.ladder.id)
        ladder.matches_made = self.matches_made
        ladder.games = self.total.games
        ladder.neighbours, ladder.ties = self.total.neighbours, self.total.ties
        ladder.last_game = max(self.last.values(), default=None)
        ladder.worker_seconds = 2.0 * self.total.games
