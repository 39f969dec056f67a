"""What can be changed about strength tests: one is made, stopped, and made again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from arena import audit
from arena.competitions import presets, strength_tests
from arena.competitions.comparisons import (
    MOST_OF_ANYBODY,
    CreateComparison,
    any_seed,
    boards_ask_approval,
    may_change,
    may_test,
    most_weight,
    needs_approval,
    usable_players,
)
from arena.competitions.founding import find_named, weigh_anew
from arena.competitions.players import NamedPlayer
from arena.competitions.presets import TermsAsked
from arena.competitions.rules import Rules
from arena.competitions.strength_plans import (
    MOST_GAMES,
    MOST_WEIGHT,
    StrengthPlan,
    plan_of,
)
from arena.competitions.strength_tallies import sides_of, standing_of
from arena.competitions.strength_tests import verdict_words
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground.bot_names import LONGEST_PLAYER
from arena.ground.locks import lock
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import (
    Ladder,
    Scope,
    StrengthTest,
    TestVerdict,
)
from arena.strength.sequential import StrengthError
from engine.clock import LONGEST_MS, own_time
from engine.game import GameError
from engine.plurals import counted
from engine.translation import N_, gettext

MOST_HOURS = 100_000.0
MOST_THREADS = 1024
USUAL_PLIES = 60
"""The plies of a game in which it is seen which of two time controls is the longer one."""
MOST_BOARDS = 16


@dataclass(frozen=True)
class CreateTest(CreateComparison, TermsAsked):
    """Begin a strength test between two versions that one may use.

    Workers begin at once, by the rules of a ladder. Those of a game, or another time, are for
    organisers to choose, by themselves or by a preset: they say how long workers are busy.
    """

    scope = Scope.SUBMIT
    address = "POST /tests"
    subject = "strength tests"
    answers = StrengthTest

    candidate: str = asked(
        "Is it stronger; as greedy, greedy:2 for one of its versions, or greedy:2:depth=8 with "
        "options",
        label="Candidate: is it stronger",
        most=LONGEST_PLAYER,
    )
    baseline: str = asked(
        "Than this one; it may be the same version with other options",
        label="than the baseline?",
        most=LONGEST_PLAYER,
    )
    candidate_time: str = asked(
        "Its own clock, as in 10+0.1; more than the ladder's is for organisers to give",
        label="The candidate's own clock",
        default="",
        most=20,
    )
    candidate_move: int | None = asked(
        "Its own milliseconds a move, likewise",
        label="The candidate's own time a move",
        default=None,
        least=1,
        most=LONGEST_MS,
    )
    candidate_threads: int | None = asked(
        "Its own threads, likewise",
        label="The candidate's own threads",
        default=None,
        least=1,
        most=MOST_THREADS,
    )
    baseline_time: str = asked(
        "As of the candidate", label="The baseline's own clock", default="", most=20
    )
    baseline_move: int | None = asked(
        "As of the candidate",
        label="The baseline's own time a move",
        default=None,
        least=1,
        most=LONGEST_MS,
    )
    baseline_threads: int | None = asked(
        "As of the candidate",
        label="The baseline's own threads",
        default=None,
        least=1,
        most=MOST_THREADS,
    )
    preset: str = asked(
        "What it is asked to be, but for what is said besides", default="", most=LONGEST_NAME
    )
    hours: float | None = asked(
        "Undecided after so many hours of workers' time",
        label="Hours of workers' time, at most",
        default=None,
        least=0.01,
        most=MOST_HOURS,
    )
    weight: float = asked(
        "Its share of the workers' time, with 1 for a ladder's; 1 at most unless one organises",
        label="Priority",
        default=1.0,
        least=0,
        most=MOST_WEIGHT,
    )
    allow_faults: bool = asked(
        "Decide although faults ended many of the games",
        label="Decide even if faults end many of the games",
        default=False,
    )
    also: tuple[str, ...] = asked(
        "Further ladders of the game on whose boards it is played, too, in turns",
        label="Also on the boards of these ladders",
        default=(),
        most=MOST_BOARDS,
    )

    def do(self, session: Session, by: By) -> Done:
        mine, theirs = usable_players(session, by, [self.candidate, self.baseline])
        plan = self.plan(session, by)
        rules = Rules(None, plan.variant, plan.time, plan.limits)
        own = (self.candidate_time, self.candidate_move, self.candidate_threads)
        mine = granted_of(mine, *own, rules, by)
        own = (self.baseline_time, self.baseline_move, self.baseline_threads)
        theirs = granted_of(theirs, *own, rules, by)
        return _made(strength_tests.create(session, plan, mine, theirs, by.now, by.actor))

    def plan(self, session: Session, by: By) -> StrengthPlan:
        """What is asked for, if they may.

        Raises:
            Refusal: it can't be so, or not for them.
        """
        self.demand_ladders_rules(
            by, gettext("a test by other rules than a ladder's is for organisers to make")
        )
        found = self.wanted(session)
        return replace(found, weight=min(found.weight, most_weight(by)))

    def wanted(self, session: Session) -> StrengthPlan:
        """What is asked for, with what the preset says, whoever asks.

        Raises:
            Refusal: it can't be so.
        """
        self.demand_some_openings(
            gettext("a test has no empty openings, as it plays none twice: choose a book")
        )
        whole = replace(self, **presets.filled(session, self.preset, vars(self)))
        rules = whole.rules(session)
        others = [find_named(session, Ladder, name) for name in self.also]
        return StrengthPlan(
            rules.variant,
            rules.time,
            replace(whole.terms(), allow_faults=self.allow_faults),
            self.weight,
            rules.limits,
            self.note,
            self.chosen_seed(),
            self.chosen_openings(None if self.also else rules.ladder),
            whole.plies,
            self.hours,
            needs_approval(session, rules, others),
            tuple(other.variant for other in others),
        )


def granted_of(
    player: NamedPlayer, time: str, move: int | None, threads: int | None, rules: Rules, by: By
) -> NamedPlayer:
    """A player with what it is granted of its own.

    Args:
        time, move, threads: as `CreateTest` has them; nothing of one is the competition's.
        rules: what the competition grants.

    Raises:
        Refusal: there is no such time control.
        NotAllowed: it is more than that, for somebody who is no organiser.
    """
    try:
        own = own_time(time, move, rules.time)
    except GameError as error:
        raise Refusal(str(error)) from None
    many = rules.limits.threads if threads is None else threads
    length, usual = (one.longest_ms(2, USUAL_PLIES) for one in (own, rules.time))
    if (length > usual or many > rules.limits.threads) and not by.may(Scope.ORGANISE):
        raise NotAllowed(
            gettext("more time or threads than the ladder grants is for organisers to give")
        )
    return player._replace(
        own_time="" if own == rules.time else own.words,
        own_threads=0 if many == rules.limits.threads else many,
    )


def _made(test: StrengthTest) -> Done:
    made = (
        N_("test %(number)s, %(title)s, was made, and waits for approval")
        if test.waits
        else N_("test %(number)s, %(title)s, was made")
    )
    return Done(gettext(made, number=test.id, title=test.title), test)


@dataclass(frozen=True)
class StrengthTestDeed(Deed):
    """Does something with a strength test; answers it, or the new one."""

    scope = Scope.SUBMIT
    subject = "strength tests"
    answers = StrengthTest

    number: int = asked("The test's number")

    def own_test(self, session: Session, by: By) -> StrengthTest:
        """The one of this number, if it is somebody's to change.

        Raises:
            NotThere: there is none.
            NotAllowed: it is another's.
        """
        found = strength_tests.find(session, self.number)
        if not may_change(by, found):
            raise NotAllowed(gettext("this test is not yours"))
        return found


@dataclass(frozen=True)
class StopTest(StrengthTestDeed):
    """Stop a strength test of one's own; what is under way is played to its end and counted."""

    address = "POST /tests/<int:number>/stop"
    command = "strength stop NUMBER"
    example = "17"
    lasting = (
        "The test ends without a verdict; what is under way is played to its end and counted. It "
        "goes on only if it is allowed more than it was to have."
    )

    def do(self, session: Session, by: By) -> Done:
        test = self.own_test(session, by)
        lock(session, test)  # the recorder may just be deciding it
        if test.verdict is not TestVerdict.RUNNING:
            raise StrengthError(
                gettext(
                    "test %(number)s is over: %(verdict)s",
                    number=test.id,
                    verdict=verdict_words(test.verdict),
                )
            )
        strength_tests.end(session, test, TestVerdict.STOPPED, f"by {by.actor.name}", by.now)
        audit.note(session, by.actor, "stop test", f"test {test.id}", now=by.now)
        games = counted(standing_of(session, test).games, "game")
        return Done(
            gettext(
                "test %(number)s is stopped after %(games)s; matches under way still count",
                number=test.id,
                games=games,
            ),
            test,
        )


@dataclass(frozen=True)
class ExtendTest(StrengthTestDeed):
    """Let a strength test of one's own that was not decided have more, and go on.

    Of a fixed number of games it has no more than these.
    """

    address = "POST /tests/<int:number>/extend"
    command = "strength extend NUMBER"
    example = "17 --max-games 40000"
    adds = True

    max_games: int | None = asked(
        "How many games in all",
        label="Games, at most",
        default=None,
        least=1,
        most=MOST_GAMES,
    )
    hours: float | None = asked(
        "How many hours of workers' time in all", default=None, least=0.01, most=MOST_HOURS
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_games is None and self.hours is None:
            raise Refusal(
                gettext("say what it may have in all: so many games (max_games), or hours")
            )

    def do(self, session: Session, by: By) -> Done:
        test = self.own_test(session, by)
        asks = boards_ask_approval(session, test.variants)
        strength_tests.extend(
            session, test, self.max_games, by.now, by.actor, hours=self.hours, asks=asks
        )
        most = counted(test.fixed_games or test.max_games or 0, "game")
        if test.most_hours is not None:
            hours = counted(test.most_hours, "hour")
            most = gettext("%(games)s or %(hours)s", games=most, hours=hours)
        goes_on = (
            N_("test %(number)s goes on, to %(most)s at most, once it is approved")
            if test.waits
            else N_("test %(number)s goes on, to %(most)s at most")
        )
        return Done(gettext(goes_on, number=test.id, most=most), test)


@dataclass(frozen=True)
class PrioritiseTest(StrengthTestDeed):
    """Give a strength test of one's own another share of the workers' time, while it runs too."""

    address = "POST /tests/<int:number>/priority"
    command = "strength prioritise NUMBER WEIGHT"
    example = "17 0.5"

    weight: float = asked(
        "Its share of the workers' time, with 1 for a ladder's; 1 at most unless one organises",
        label="Priority",
        least=0.01,
        most=MOST_WEIGHT,
    )

    def do(self, session: Session, by: By) -> Done:
        test = self.own_test(session, by)
        lock(session, test)  # the recorder may just be deciding it
        if test.verdict is not TestVerdict.RUNNING:
            raise StrengthError(
                gettext(
                    "test %(number)s is over: %(verdict)s",
                    number=test.id,
                    verdict=verdict_words(test.verdict),
                )
            )
        if self.weight > most_weight(by):
            raise NotAllowed(
                gettext(
                    "a priority above %(most)s is for organisers to give",
                    most=f"{MOST_OF_ANYBODY:g}",
                )
            )
        before, test.weight = test.weight, self.weight
        weigh_anew(test, before)
        words = f"priority: {before:g} → {self.weight:g}"
        audit.note(session, by.actor, "change test", f"test {test.id}", words, now=by.now)
        undo: tuple[Deed, ...] = ()
        if before != self.weight and before <= most_weight(by):
            undo = (PrioritiseTest(self.number, before),)
        said = gettext(
            "test %(number)s has the priority %(weight)s, and not %(before)s",
            number=test.id,
            weight=f"{self.weight:g}",
            before=f"{before:g}",
        )
        return Done(said, test, undo)


@dataclass(frozen=True)
class CloneTest(StrengthTestDeed):
    """Make the same strength test again, with other openings, if one may use its versions."""

    address = "POST /tests/<int:number>/clone"
    command = "strength clone NUMBER"
    example = "17"
    makes = True

    def do(self, session: Session, by: By) -> Done:
        test = strength_tests.find(session, self.number)
        mine, theirs = sides_of(session, [test])[test.id]
        if not (may_test(by, mine.version) and may_test(by, theirs.version)):
            raise NotAllowed(gettext("these bots are not for you to test"))
        plan = plan_of(test)
        weight = min(plan.weight, most_weight(by))
        asks = plan.needs_approval or boards_ask_approval(session, test.variants)
        seed = any_seed()
        plan = replace(plan, seed=seed, weight=weight, needs_approval=asks)
        return _made(strength_tests.create(session, plan, mine, theirs, by.now, by.actor))
