"""Leaving the games of a worker out of a strength test, and counting them again.

What is left out stays to be seen, and is counted by its worker as before; the test's numbers are
those of all other workers. It is a choice of who has seen the results, which is why both numbers
are shown before, why it is an organiser's, and why it never makes a verdict: a test that runs is
asked again after its next match, as after any other, and one that is over passes no more by it.
A verdict that was passed stands if what is left says the same; otherwise it is withdrawn, and
comes back with the games.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlalchemy.orm import Session

from arena import audit
from arena.competitions.strength_deeds import StrengthTestDeed
from arena.competitions.strength_tallies import counted_in, sides_of, standing, tallies_of
from arena.competitions.strength_tests import VERDICTS, verdict_words
from arena.deeds import LONGEST_LINE, By, Done, asked
from arena.ground.locks import lock
from arena.ground.refusals import NotThere
from arena.models import Scope, StrengthTest, TestVerdict
from arena.strength.exclusion import Odds, odds
from arena.strength.sequential import SequentialTest, StrengthError
from arena.strength.words import elo_words
from engine.plurals import counted
from engine.translation import ENGLISH, N_, gettext, speaking


class Exclusion(NamedTuple):
    """What a test says with a worker's games, and what without them."""

    worker: str
    excluded: bool
    """Whether they are left out now."""
    games: int
    """How many this worker played in this test."""
    counted: SequentialTest
    """The test with its games, and without those of the workers that are left out besides."""
    without: SequentialTest
    verdict: TestVerdict
    """The test's, as it is now."""
    turned: TestVerdict
    """What it becomes if they are left out, or counted again."""
    workers: int
    """How many have played for this test."""
    odds: Odds | None
    """How often tests pass wrongly of which somebody who has seen the results leaves out one of so
    many workers; None if it is the only one."""

    @property
    def words(self) -> str:
        """What becomes of the verdict, in a sentence without its full stop."""
        if self.turned is not self.verdict:
            if self.excluded:
                return gettext(
                    "the verdict %(verdict)s comes back", verdict=verdict_words(self.turned)
                )
            return gettext(
                "the verdict %(verdict)s is withdrawn: without them the test does not say so",
                verdict=verdict_words(self.verdict),
            )
        if self.verdict is TestVerdict.RUNNING:
            after = self.counted if self.excluded else self.without
            if said := VERDICTS.get(after.decision):
                return gettext(
                    "the next match ends the test as %(verdict)s, unless it brings the LLR back",
                    verdict=verdict_words(said),
                )
            return gettext("the test goes on")
        return gettext("the verdict stays %(verdict)s", verdict=verdict_words(self.verdict))


def exclusion(session: Session, test: StrengthTest, worker: str) -> Exclusion:
    """What leaving a worker's games out changes, or counting them again.

    Raises:
        NotThere: the worker has played no match of the test.
    """
    tallies = tallies_of(session, [test])[test.id]
    own = [tally for tally in tallies if tally.worker == worker]
    if not own:
        names = ", ".join(sorted({tally.worker for tally in tallies})) or gettext("none yet")
        raise NotThere(
            gettext(
                "%(worker)r has played no match of test %(number)s; who has: %(names)s",
                worker=worker[:80],
                number=test.id,
                names=names,
            )
        )
    sides = sides_of(session, [test])[test.id]
    others = [one for one in counted_in(test, tallies) if one.worker != worker]
    with_it, without = standing(test, sides, [*others, *own]), standing(test, sides, others)
    excluded = worker in test.excluded
    left = test.excluded.keys() - {worker} if excluded else {*test.excluded, worker}
    turned = _verdict(test, with_it if excluded else without, is_whole=not left)
    workers = len({tally.worker for tally in tallies})
    return Exclusion(
        worker,
        excluded,
        standing(test, sides, own).games,
        with_it,
        without,
        test.verdict,
        turned,
        workers,
        odds(workers),
    )


def _verdict(test: StrengthTest, left: SequentialTest, *, is_whole: bool) -> TestVerdict:
    """The verdict of a test by what is left of it.

    Args:
        is_whole: whether that is all.
    """
    passed = test.withdrawn or test.verdict
    if passed not in (TestVerdict.PASSED, TestVerdict.FAILED):
        return test.verdict
    said = TestVerdict(passed)
    # By all of it, it was decided; matches that came in later do not change that.
    bears = is_whole or VERDICTS.get(left.shortened.decision) is said
    return said if bears else TestVerdict.UNDECIDED


@dataclass(frozen=True)
class WorkerOfTestDeed(StrengthTestDeed):
    """Does something with a worker's games in a strength test; answers the test."""

    scope = Scope.ORGANISE

    worker: str = asked("The worker, as the test's page calls it", label="Worker", most=120)

    def found(self, session: Session, by: By, *, excluded: bool) -> tuple[StrengthTest, Exclusion]:
        """The locked test, and what is changed by this.

        Args:
            excluded: whether its games are left out until now.

        Raises:
            NotThere: there is no such test, or the worker has no part in it.
            StrengthError: it is so already.
        """
        test = self.own_test(session, by)
        lock(session, test)  # the recorder may just be counting a match of it
        change = exclusion(session, test, self.worker)
        if change.excluded is not excluded:
            is_so = (
                N_("the games of %(worker)s in test %(number)s are left out already")
                if change.excluded
                else N_("the games of %(worker)s in test %(number)s are not left out")
            )
            raise StrengthError(gettext(is_so, worker=self.worker, number=test.id))
        return test, change


def _turn(session: Session, by: By, test: StrengthTest, change: Exclusion, why: str = "") -> Done:
    """Sets the verdict, notes what was done, and says it."""
    if change.turned is not test.verdict:
        withdraws = change.turned is TestVerdict.UNDECIDED
        test.withdrawn = str(test.verdict) if withdraws else None
        test.verdict = change.turned
    what, verb = ("include", "count again") if change.excluded else ("exclude", "are left out")
    with speaking(ENGLISH):
        numbers = f"Elo {elo_words(change.counted.estimate)} with them, "
        numbers += f"{elo_words(change.without.estimate)} without"
        details = f"{counted(change.games, 'game')} of {change.worker} {verb}: {numbers}; "
        details += f"{change.words}{why and f'; {why}'}"
    audit.note(session, by.actor, f"{what} worker", f"test {test.id}", details, now=by.now)
    said = (
        N_("%(games)s of %(worker)s count again in test %(number)s; %(words)s")
        if change.excluded
        else N_("%(games)s of %(worker)s are left out in test %(number)s; %(words)s")
    )
    games = counted(change.games, "game")
    words = gettext(said, games=games, worker=change.worker, number=test.id, words=change.words)
    return Done(words, test)


@dataclass(frozen=True)
class ExcludeWorker(WorkerOfTestDeed):
    """Leave all games of a worker out of a strength test's numbers, until they are counted again.

    To choose by the results is to make a wrong answer likelier: read before what the test says
    with and without them.
    """

    address = "POST /tests/<int:number>/exclude"

    why: str = asked("What is wrong with that machine", label="Why", most=LONGEST_LINE)

    def do(self, session: Session, by: By) -> Done:
        test, change = self.found(session, by, excluded=False)
        if change.without.matches == 0:
            raise StrengthError(gettext("nothing would be left of the test: stop it, and clone it"))
        test.excluded = {**test.excluded, self.worker: self.why}
        undo = IncludeWorker(self.number, self.worker)
        return replace(_turn(session, by, test, change, self.why), undo=(undo,))


@dataclass(frozen=True)
class IncludeWorker(WorkerOfTestDeed):
    """Count the games of a worker again that were left out of a strength test."""

    address = "POST /tests/<int:number>/include"
    command = "strength include NUMBER WORKER"
    example = "17 machine-2"

    def do(self, session: Session, by: By) -> Done:
        test, change = self.found(session, by, excluded=True)
        rest = {name: why for name, why in test.excluded.items() if name != self.worker}
        undo = ExcludeWorker(self.number, self.worker, test.excluded[self.worker])
        test.excluded = rest
        return replace(_turn(session, by, test, change), undo=(undo,))
