"""Strength tests on the site: how one is made, what it plays next, and when it is decided.

Theory of operation. The test itself is `arena.strength.sequential`; here its matches are
played by the arena's workers, and its counts are kept by worker (`TestTally`), so that one whose
results differ can be told. Match n of a test, in the order in which they are made, has opening n
of the series, or of the book, by the test's seed: no opening comes twice, and which one a match
has depends on nobody's speed.

Results count as they come in, and the test is asked after each: a verdict does not wait for a
match that a dead worker took with it. Matches under way at that moment are played to their end
and counted too, for no result is ever thrown away; the verdict stands. That short matches come
in first can shift the counts by no more than the few matches that are under way at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import ARENA, Actor
from arena.competitions.books import demand_fitting, policy_of
from arena.competitions.comparisons import ComparisonKind, hold
from arena.competitions.fields import demand_proven, enter_field
from arena.competitions.founding import TEST, add_by_number, come_back, demand_few, fair_start
from arena.competitions.kind import Conclusion, Moment
from arena.competitions.opening_series import opening_series
from arena.competitions.pairings import Pairing, under_way
from arena.competitions.players import NamedPlayer
from arena.competitions.strength_plans import StrengthPlan
from arena.competitions.strength_speeds import note_speed, speed_differences
from arena.competitions.strength_tallies import (
    add,
    differences,
    empty_tally,
    outcomes_in,
    standing_of,
    tallies_of,
)
from arena.competitions.visibility import put_within
from arena.ground import locks
from arena.ground.db import count_rows
from arena.ground.locks import lock
from arena.ground.refusals import NotThere
from arena.ground.texts import cut
from arena.lists.rows import speed_of
from arena.models import (
    CompetitionState,
    Entrant,
    JobStatus,
    Ladder,
    Match,
    StrengthTest,
    TestTally,
    TestVerdict,
)
from arena.models.competitions import LONGEST_TITLE
from arena.ratings.sprt import Decision
from arena.strength.outcomes import outcome
from arena.strength.sequential import StrengthError
from engine.games import GAMES
from engine.openings import Opening
from engine.plurals import counted
from engine.record import GameRecord
from engine.translation import N_, gettext, pgettext, translated

MOST_ASIDE = 3
"""A test of which so many matches could not be played is stopped: no more can be."""

ENTERS_NOTHING = StrengthTest.ladder_id.is_(None)
"""Tests after which no version enters; of those with which one does, a person may have any number.
"""
VERDICTS = {
    Decision.ACCEPT: TestVerdict.PASSED,
    Decision.REJECT: TestVerdict.FAILED,
    Decision.UNDECIDED: TestVerdict.UNDECIDED,
}
OUT_OF_OPENINGS = N_("the board has no more different openings")
OUT_OF_BOOK = N_("all openings of its book were played")


def is_out_of_openings(test: StrengthTest) -> bool:
    """Whether it ended because no opening was left to play."""
    return test.reason in (OUT_OF_OPENINGS, OUT_OF_BOOK)


def create(
    session: Session,
    plan: StrengthPlan,
    candidate: NamedPlayer,
    baseline: NamedPlayer,
    now: datetime,
    actor: Actor,
    *,
    ladder: Ladder | None = None,
    follows: bool = False,
) -> StrengthTest:
    """Makes a test, which runs at once, or as soon as somebody has approved it.

    Args:
        ladder: what the candidate enters when it passes.
        follows: it follows from something else, and is not one too many.

    Raises:
        StrengthError: it can't be tested so, or too many of this person's tests are running.
        Refusal: a version has passed no check of the game.
    """
    _refuse(session, plan, candidate, baseline)
    policy = policy_of(plan.openings)
    demand_fitting(session, policy["book_name"], plan.variant)
    if ladder is None and not follows:
        demand_few(session, StrengthTest, actor.id, ENTERS_NOTHING)
    terms = plan.terms
    make = partial(
        StrengthTest,
        title=cut(f"{candidate.label} against {baseline.label}", LONGEST_TITLE),
        note=plan.note,
        creator_id=actor.id,
        variant=plan.variant,
        **policy,
        time=plan.time,
        limits=plan.limits,
        state=CompetitionState.OPEN,
        seed=plan.seed,
        weight=plan.weight,
        head_start=fair_start(session, plan.weight),
        created=now,
        elo0=terms.elo0,
        elo1=terms.elo1,
        alpha=terms.alpha,
        beta=terms.beta,
        elo_model=terms.model,
        max_games=None if terms.games else terms.max_games,
        fixed_games=terms.games,
        most_hours=plan.hours,
        opening_plies=plan.plies,
        allow_faults=terms.allow_faults,
        verdict=TestVerdict.RUNNING,
        reason="",
        ladder_id=ladder and ladder.id,
        excluded={},
        boards=[dict(other.options) for other in plan.others],
    )
    test = add_by_number(session, make)
    hold(session, test, actor, asks=plan.needs_approval)
    put_within(session, test, (candidate.version, baseline.version), now, ladder)
    enter_field(session, test, (candidate, baseline), now)
    audit.note(session, actor, "create test", f"test {test.id}", test.title, now=now)
    return test


def _refuse(
    session: Session, plan: StrengthPlan, candidate: NamedPlayer, baseline: NamedPlayer
) -> None:
    """Refuses what can't be tested, before anything is made."""
    plan.settings(candidate, baseline)
    if candidate == baseline:
        raise StrengthError(
            gettext(
                "the version %(label)s can't be tested against itself: name two, or one with "
                "other options",
                label=candidate.label,
            )
        )
    both = candidate.version, baseline.version
    demand_proven(session, plan.variant.game, both, TEST)


ENDED = {
    TestVerdict.RUNNING: N_("Strength test %(number)s goes on: %(title)s"),
    TestVerdict.PASSED: N_("Strength test %(number)s passed: %(title)s"),
    TestVerdict.FAILED: N_("Strength test %(number)s failed: %(title)s"),
    TestVerdict.UNDECIDED: N_("Strength test %(number)s undecided: %(title)s"),
    TestVerdict.STOPPED: N_("Strength test %(number)s stopped: %(title)s"),
}
"""How a test ended, in a sentence."""


def verdict_words(verdict: TestVerdict) -> str:
    """What became of a test, in a word."""
    match verdict:
        case TestVerdict.RUNNING:
            return pgettext("a strength test", "running")
        case TestVerdict.PASSED:
            return pgettext("a strength test", "passed")
        case TestVerdict.FAILED:
            return pgettext("a strength test", "failed")
        case TestVerdict.UNDECIDED:
            return pgettext("a strength test", "undecided")
        case TestVerdict.STOPPED:
            return pgettext("a strength test", "stopped")


def out_of_hours(test: StrengthTest) -> str | None:
    """Why it has had all the time of workers that it may have; None as long as it has some."""
    hours = test.most_hours
    if hours is None or test.worker_seconds < hours * 3600:
        return None
    return gettext(
        "the limit of %(hours)s of workers' time is reached", hours=counted(hours, "hour")
    )


def _next_opening(session: Session, test: StrengthTest) -> Opening | None:
    """The opening of a test's next match; None if there are no more."""
    if test.book is None:
        boards = test.variants
        turn, board = divmod(test.matches_made, len(boards))
        series = opening_series(boards[board], test.seed, test.opening_plies)
        return series.opening(turn, lambda: _openings_so_far(session, test)[board :: len(boards)])
    if test.matches_made >= test.book.size:
        return None
    return test.book.opening(test.seed, test.matches_made)


def _openings_so_far(session: Session, test: StrengthTest) -> list[Opening]:
    query = sa.select(Match.options, Match.opening).where(Match.competition_id == test.id)
    game = GAMES[test.game]
    return [
        Opening(game.variant(**options), tuple(moves))
        for options, moves in session.execute(query.order_by(Match.id))
    ]


def _played(session: Session, test: StrengthTest) -> int:
    """How many matches of a test were played, those of excluded workers too: its limit is on what
    it costs."""
    return sum(sum(tally.counts) for tally in tallies_of(session, [test])[test.id])


def end(
    session: Session, test: StrengthTest, verdict: TestVerdict, reason: str, now: datetime
) -> None:
    """Ends a test, for now or for good."""
    test.verdict, test.reason = verdict, reason
    test.state, test.finished = CompetitionState.CLOSED, now
    words = f"{verdict}{reason and f': {reason}'}"
    audit.note(session, ARENA, "end test", f"test {test.id}", words, now=now)


# What people do with one.


def find(session: Session, number: int) -> StrengthTest:
    """The test of this number.

    Raises:
        NotThere: there is none.
    """
    test = locks.find(session, StrengthTest, number)
    if test is None:
        raise NotThere(gettext("there is no strength test %(number)s", number=number))
    return test


def extend(
    session: Session,
    test: StrengthTest,
    max_games: int | None,
    now: datetime,
    actor: Actor,
    *,
    hours: float | None = None,
    asks: bool = False,
) -> None:
    """Lets a test that was not decided have more, and go on.

    Args:
        max_games: so many games in all; None for as many as it may have already.
        hours: so many hours of workers' time in all; None for as many as it may have already.
        asks: whether more of it needs approval, even if the test did not when it was made.

    Raises:
        StrengthError: it was decided, is spoilt by faults, has used up its openings, or has had or
            may have so many; or it is over, and too many of this person's tests are running.
    """
    lock(session, test)
    standing = standing_of(session, test)
    was = test.withdrawn or test.verdict
    if was in (TestVerdict.PASSED, TestVerdict.FAILED) or standing.decision in (
        # A test that was stopped, by the matches that were under way then.
        Decision.ACCEPT,
        Decision.REJECT,
    ):
        raise StrengthError(
            gettext(
                "test %(number)s is decided: to go on would make another test of it; clone it",
                number=test.id,
            )
        )
    if standing.is_spoilt:
        raise StrengthError(
            gettext(
                "test %(number)s can't go on: %(reason)s; mend the bots and test them anew",
                number=test.id,
                reason=standing.spoilt_words,
            )
        )
    if is_out_of_openings(test):
        raise StrengthError(
            gettext(
                "test %(number)s can't go on: %(reason)s",
                number=test.id,
                reason=translated(test.reason),
            )
        )
    may_have = standing.settings.terms.most_games
    assert may_have is not None
    most = may_have if max_games is None else max_games
    if test.fixed_games is not None and most != test.fixed_games:
        raise StrengthError(
            gettext(
                "test %(number)s is one of %(games)s: to play on until one likes the answer "
                "is no test; clone it",
                number=test.id,
                games=counted(test.fixed_games, "game"),
            )
        )
    games = _played(session, test) * standing.settings.games_a_match
    if most <= games:
        raise StrengthError(
            gettext(
                "test %(number)s has had %(games)s: allow it more",
                number=test.id,
                games=counted(games, "game"),
            )
        )
    if most < may_have:
        raise StrengthError(
            gettext(
                "test %(number)s may have %(games)s already",
                number=test.id,
                games=counted(may_have, "game"),
            )
        )
    limit = test.most_hours
    if hours is not None and (limit is None or hours < limit):
        if limit is None:
            raise StrengthError(
                gettext("test %(number)s may have any number of hours already", number=test.id)
            )
        raise StrengthError(
            gettext(
                "test %(number)s may have %(hours)s already",
                number=test.id,
                hours=counted(limit, "hour"),
            )
        )
    is_over = test.verdict is not TestVerdict.RUNNING
    if is_over and test.ladder_id is None and actor.id == test.creator_id:
        demand_few(session, StrengthTest, actor.id, ENTERS_NOTHING)
    changes = []
    if test.fixed_games is None:
        test.max_games = most
        changes.append(f"from {may_have} to {most} games")
        standing_of(session, test)  # refuses a limit that is none
    if hours is not None:
        test.most_hours = hours
        changes.append(f"from {limit:g} to {hours:g} hours")
    if (reason := out_of_hours(test)) is not None:
        raise StrengthError(
            gettext(
                "test %(number)s can't go on: %(reason)s; allow it more hours",
                number=test.id,
                reason=reason,
            )
        )
    if is_over:
        test.verdict, test.reason, test.finished = TestVerdict.RUNNING, "", None
        test.state = CompetitionState.OPEN
        come_back(session, test)
    # What was approved was less.
    hold(session, test, actor, asks=asks or test.asks_approval)
    audit.note(session, actor, "extend test", f"test {test.id}", ", ".join(changes), now=now)


class StrengthTests(ComparisonKind[StrengthTest]):
    """Candidate against baseline until a sequential test decides."""

    model, word = StrengthTest, N_("strength test")
    suspends = False  # it ends by itself when its matches fail
    checked = False  # it is over before long

    def next_pairing(self, competition: StrengthTest, moment: Moment) -> Pairing | None:
        """The next match; None if there is none for now.

        A test that can't go on ends here: one that has used up the openings of its board once
        nothing is under way any more, and one of which several matches could not be played.
        """
        session, test, now = moment.session, competition, moment.now
        waiting = under_way(moment.due_of(test))
        standing = standing_of(session, test)
        of_it = Match.competition_id == test.id
        aside = count_rows(session, Match, of_it, Match.status == JobStatus.SET_ASIDE)
        if aside >= MOST_ASIDE:
            reason = f"{aside} of its matches could not be played, through no bot's fault"
            end(session, test, TestVerdict.STOPPED, reason, now)
            return None
        most = standing.settings.most_matches
        if most is not None and _played(session, test) + waiting >= most:
            return None
        opening = _next_opening(session, test)
        if opening is None:
            if not waiting:
                reason = OUT_OF_OPENINGS if test.book is None else OUT_OF_BOOK
                end(session, test, TestVerdict.UNDECIDED, reason, now)
            return None
        of_it = Entrant.competition_id == test.id
        ids = session.scalars(sa.select(Entrant.id).where(of_it).order_by(Entrant.number))
        leg = 1 + test.matches_made % (1 + len(test.boards))
        return Pairing(tuple(ids), leg=leg, opening=opening)

    def options_of(self, match: Match) -> Mapping[str, Any]:
        return self._own(match).variants[match.leg - 1].options

    def follow_up(
        self, session: Session, match: Match, games: Sequence[GameRecord], now: datetime
    ) -> None:
        """Counts the match, and ends the test if that decides it."""
        test, worker = self._own(match), match.played_by
        assert worker is not None
        tally = session.get(TestTally, (test.id, worker))
        if tally is None:
            tally = empty_tally(test, worker)
            session.add(tally)
        its = outcome(test.variants[match.leg - 1], games)
        add(tally, its, match.leg)
        note_speed(session, test, speed_of(games[0]), its)
        session.flush()
        if test.verdict is not TestVerdict.RUNNING:
            return
        standing = standing_of(session, test)
        said, most = standing.decision, standing.settings.most_matches
        if most is not None and _played(session, test) >= most and said is Decision.CONTINUE:
            # Of a fixed number those of excluded workers are missing: the others say what they say.
            standing = standing.shortened
            said = standing.decision
            said = Decision.UNDECIDED if said is Decision.CONTINUE else said
        if said is not Decision.CONTINUE:
            reason = ""
            if standing.is_spoilt:
                reason = standing.spoilt_words
            elif said is Decision.UNDECIDED:
                reason = standing.settings.terms.why_undecided
            end(session, test, VERDICTS[said], reason, now)
        elif (no_more := out_of_hours(test)) is not None:
            end(session, test, TestVerdict.UNDECIDED, no_more, now)

    def withdraw(
        self, session: Session, competition: StrengthTest, entrant: Entrant, why: str, now: datetime
    ) -> None:
        end(session, competition, TestVerdict.STOPPED, why, now)

    def why_not_void(self, competition: StrengthTest, match: Match) -> str | None:
        return gettext(
            "match %(number)s is of the strength test %(name)s, which decides by its matches in "
            "their order: start the test anew",
            number=match.id,
            name=competition.name,
        )

    def recount(self, session: Session, competition: StrengthTest, *, write: bool) -> list[str]:
        matches = (
            (match.id, its)
            for match, its in outcomes_in(session, competition, boards=competition.variants)
        )
        return [
            *differences(session, competition, write=write),
            *speed_differences(session, competition, matches, write=write),
        ]

    def conclusion(self, session: Session, competition: StrengthTest) -> Conclusion:
        places: dict[str, str | int] = {"number": competition.id, "title": competition.title}
        return Conclusion(ENDED[competition.verdict], places, translated(competition.reason))
