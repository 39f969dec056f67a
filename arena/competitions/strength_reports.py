"""What there is to say of strength tests: by which workers, with and without the odd ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.players import NamedPlayer
from arena.competitions.strength_speeds import odd_speeds, speeds_of
from arena.competitions.strength_tallies import counted_in, sides_of, standing, tallies_of
from arena.competitions.strength_tests import verdict_words
from arena.ground.numbered_pages import Page, page_of
from arena.models import (
    Approval,
    Bot,
    BotVersion,
    Entrant,
    SpeedTally,
    StrengthTest,
    TestTally,
    TestVerdict,
    User,
)
from arena.ratings.outliers import Series, outliers
from arena.strength import sequential
from arena.strength.outcomes import faults_json
from arena.strength.words import result_rows
from engine.game import Termination
from engine.plurals import counted
from engine.translation import gettext, pgettext, translated

Colour = Literal["running", "passed", "failed", "close", "open"]


@dataclass(frozen=True, slots=True)
class StrengthReport:
    """A test with all that its page shows."""

    test: StrengthTest
    candidate: NamedPlayer
    baseline: NamedPlayer
    creator: str | None
    approver: str | None
    """Who approved it, where somebody had to."""
    tallies: tuple[TestTally, ...]
    standing: sequential.SequentialTest
    """How it stands by all workers but the excluded ones."""
    odd: dict[str, float]
    """The workers whose results differ from the others', with how likely chance does that."""
    speeds: tuple[SpeedTally, ...] = ()
    """Its counts by the speed of the machines."""
    odd_speeds: Mapping[str, float] = field(default_factory=dict)
    """The classes of speed whose results differ from the others', with how likely chance does
    that."""

    are_workers_named: bool = True
    """Whether its reader may know which workers played it; others are told them by numbers."""

    @property
    def names(self) -> Mapping[str, str]:
        """What its reader is told of each worker's name."""
        if self.are_workers_named:
            return {tally.worker: tally.worker for tally in self.tallies}
        return {
            tally.worker: gettext("worker %(number)s", number=number)
            for number, tally in enumerate(self.tallies, 1)
        }

    @property
    def without(self) -> sequential.SequentialTest:
        """The test without those workers' matches: to be looked at, not to be decided by."""
        its = counted_in(self.test, self.tallies)
        rest = [tally for tally in its if tally.worker not in self.odd]
        return standing(self.test, (self.candidate, self.baseline), rest)

    @property
    def odd_and_counted(self) -> list[str]:
        """The workers whose results differ from the others' and count all the same."""
        return [worker for worker in self.odd if worker not in self.test.excluded]

    @property
    def stands(self) -> str:
        """Its verdict in a word, or that it waits for approval."""
        if self.test.waits:
            return pgettext("a strength test", "waits for approval")
        return verdict_words(self.test.verdict)

    @property
    def colour(self) -> Colour:
        """How it looks: one that failed though it won more games than it lost comes close."""
        match self.test.verdict:
            case TestVerdict.PASSED:
                return "passed"
            case TestVerdict.FAILED:
                return "close" if self.standing.wins > self.standing.losses else "failed"
            case TestVerdict.RUNNING:
                return "open" if self.test.waits else "running"
            case _:
                return "open"

    @property
    def verdict(self) -> str:
        """What became of it, in words."""
        if not self.said:
            return self.stands
        return gettext("%(verdict)s: %(reason)s", verdict=self.stands, reason=self.said)

    @property
    def is_sentence(self) -> bool:
        """Whether `said` goes on from "the candidate is": by two hypotheses, not an interval."""
        decided = self.test.verdict in (TestVerdict.PASSED, TestVerdict.FAILED)
        return decided and self.test.fixed_games is None

    @property
    def said(self) -> str:
        """What there is to say of the verdict besides its name."""
        words = ""
        if self.test.verdict in (TestVerdict.PASSED, TestVerdict.FAILED):
            # Late matches do not change what was decided.
            passed = self.test.verdict is TestVerdict.PASSED
            its = self.standing
            words = its.settings.terms.decided(its.estimate, passed=passed)
        return "; ".join(
            filter(None, [words, translated(self.test.reason), *self._without_words()])
        )

    def _without_words(self) -> Iterator[str]:
        """What was left out, and what that did to the verdict."""
        test = self.test
        if test.withdrawn:
            yield (
                gettext("it had passed, which what is left does not bear out")
                if test.withdrawn == TestVerdict.PASSED
                else gettext("it had failed, which what is left does not bear out")
            )
        games = sum(
            self.standing.settings.games_a_match * sum(tally.counts)
            for tally in self.tallies
            if tally.worker in test.excluded
        )
        if test.excluded:
            yield gettext(
                "without %(games)s of %(workers)s",
                games=counted(games, "game"),
                workers=", ".join(sorted(test.excluded)),
            )

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What is known of it, as names and texts."""
        test, game, *rest = result_rows(self.standing)
        return [
            test,
            game,
            *([(gettext("book"), self.test.book_name)] if self.test.book_name else []),
            *rest,
        ]

    def crashes(self, side: int) -> int:
        """Games that a side lost by a fault other than its clock."""
        faults = self.standing.faults[side]
        return sum(faults.values()) - self.time_losses(side)

    def time_losses(self, side: int) -> int:
        """Games that a side lost on time."""
        return self.standing.faults[side].get(Termination.TIMEOUT, 0)

    def to_json(self) -> dict[str, Any]:
        """The test as JSON's types."""
        test, names = self.test, self.names
        found = {
            "id": test.id,
            "title": test.title,
            "verdict": str(test.verdict),
            "reason": test.reason,
            "withdrawn": test.withdrawn,
            "outcome": self.verdict,
            "told": self.rows,
            "creator": self.creator,
            "approval": str(test.approval or Approval.NO),
            "approver": self.approver,
            "note": test.note,
            "weight": test.weight,
            "hours": test.most_hours,
            "worker_hours": round(test.worker_seconds / 3600, 6),
            "created": test.created.isoformat(),
            "finished": test.finished and test.finished.isoformat(),
            **numbers(self.standing),
            "boards": [
                {"game": str(board), **its.to_json(), **its.estimate.to_json()}
                for board, its in zip(self.test.variants, self.standing.on_boards, strict=False)
            ],
            "settings": self.standing.settings.to_json()
            | {"book": test.book_name, "book_digest": test.book and test.book.digest},
            "workers": [
                {
                    "worker": names[tally.worker],
                    "counts": list(tally.counts),
                    "wins": tally.wins,
                    "draws": tally.draws,
                    "losses": tally.losses,
                    "faults": [dict(tally.candidate_faults), dict(tally.baseline_faults)],
                    "chance": self.odd.get(tally.worker),
                    "excluded": test.excluded.get(tally.worker),
                }
                for tally in self.tallies
            ],
        }
        found["speeds"] = [
            {
                "speeds": tally.speeds,
                "counts": list(tally.counts),
                "wins": tally.wins,
                "draws": tally.draws,
                "losses": tally.losses,
                "faults": tally.faults,
                "chance": self.odd_speeds.get(tally.speeds),
            }
            for tally in self.speeds
        ]
        if self.odd_and_counted:
            found["without_odd_workers"] = numbers(self.without)
        return found


def numbers(test: sequential.SequentialTest) -> dict[str, Any]:
    """What was played of a test and what it says, as JSON's types."""
    return {
        "matches": test.matches,
        "games": test.games,
        "wins": test.wins,
        "draws": test.draws,
        "losses": test.losses,
        "counts": list(test.counts),
        "faults": [faults_json(side) for side in test.faults],
        **test.estimate.to_json(),
        **test.llr_json(),
    }


def reports(session: Session, tests: Iterable[StrengthTest]) -> list[StrengthReport]:
    """What there is to say of some tests, in a fixed number of statements."""
    tests = list(tests)
    tallies, sides = tallies_of(session, tests), sides_of(session, tests)
    speeds = speeds_of(session, tests)
    people = {one for test in tests for one in (test.creator_id, test.approver_id) if one}
    rows = session.execute(sa.select(User.id, User.name).where(User.id.in_(people)))
    names = {row.id: row.name for row in rows}
    return [
        _report(
            test,
            sides[test.id],
            tallies[test.id],
            speeds[test.id],
            names.get(test.creator_id or 0),
            names.get(test.approver_id or 0),
        )
        for test in tests
    ]


def _report(
    test: StrengthTest,
    sides: Sequence[NamedPlayer],
    tallies: Sequence[TestTally],
    speeds: Sequence[SpeedTally],
    creator: str | None,
    approver: str | None,
) -> StrengthReport:
    stands = standing(test, sides, counted_in(test, tallies))
    size = stands.settings.games_a_match
    series = {
        tally.worker: Series(
            tally.counts,
            size * sum(tally.counts),
            # An upper bound where both sides of a game may fault; games of two end at the first.
            min(
                sum(tally.candidate_faults.values()) + sum(tally.baseline_faults.values()),
                size * sum(tally.counts),
            ),
        )
        for tally in tallies
    }
    candidate, baseline = sides
    return StrengthReport(
        test,
        candidate,
        baseline,
        creator,
        approver,
        tuple(tallies),
        stands,
        outliers(series),
        tuple(speeds),
        odd_speeds(speeds, size),
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tests are wanted; by default all."""

    verdict: TestVerdict | None = None
    waits: bool = False
    """Whether only those that wait for somebody's approval are."""
    bot: str = ""
    """The bot of which a version is tested."""
    creator: str = ""

    @property
    def query(self) -> sa.Select[StrengthTest]:
        """The tests, in no order."""
        found = sa.select(StrengthTest)
        if self.verdict is not None:
            found = found.where(StrengthTest.verdict == self.verdict)
        if self.waits:
            found = found.where(
                StrengthTest.verdict == TestVerdict.RUNNING,
                StrengthTest.approval == Approval.NEEDED,
            )
        if self.bot:
            found = found.where(
                sa.exists().where(
                    Entrant.competition_id == StrengthTest.id,
                    Entrant.version_id == BotVersion.id,
                    BotVersion.bot_id == Bot.id,
                    Bot.named(self.bot),
                )
            )
        if self.creator:
            creator = sa.select(User.id).where(User.named(self.creator))
            found = found.where(StrengthTest.creator_id == creator.scalar_subquery())
        return found


RUNNING_FIRST = StrengthTest.verdict != TestVerdict.RUNNING, StrengthTest.id.desc()
"""The order in which tests are listed: those that run, then the last made."""


def listed_tests(session: Session, wanted: Wanted = Wanted()) -> list[StrengthReport]:
    """All tests that are wanted."""
    return reports(session, session.scalars(wanted.query.order_by(*RUNNING_FIRST)).all())


def page_of_tests(session: Session, wanted: Wanted, page: int) -> Page[StrengthReport]:
    """A page of the tests that are wanted, from 1."""
    found = page_of(session, wanted.query, RUNNING_FIRST, page)
    return replace(found, items=reports(session, found.items))
