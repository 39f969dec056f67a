"""What can be changed about tunings: one is made, paused, stopped, and let go on."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from arena import audit
from arena.competitions import tunings
from arena.competitions.comparisons import (
    CreateComparison,
    boards_ask_approval,
    may_change,
    most_weight,
    needs_approval,
    usable_players,
)
from arena.competitions.founding import TUNING
from arena.competitions.strength_plans import (
    MAX_GAMES,
    MOST_GAMES,
    MOST_WEIGHT,
)
from arena.competitions.tuning_standings import standing_of
from arena.competitions.tunings import MOST_BATCH, TuningPlan
from arena.deeds import By, Deed, Done, asked
from arena.ground.bot_names import LONGEST_PLAYER
from arena.ground.locks import lock
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import BotTuning, BotVersion, CompetitionState, Scope
from arena.strength.parameters import Parameter, read_parameter
from arena.strength.sequential import StrengthError
from arena.strength.terms import StrengthTerms
from arena.strength.tuning import MOST_PARAMETERS, Method
from engine.bot_options import chosen_words, read_options
from engine.plurals import counted
from engine.translation import N_, gettext

GAMES = 10_000
"""How many games a tuning has if nothing is said."""


@dataclass(frozen=True)
class CreateTuning(CreateComparison):
    """Begin to tune numbers that a bot lets be chosen, by games against itself.

    At the end what came out is tested against the start, which alone counts as a proof. Workers
    begin at once, by the rules of a ladder; those of a game, or another time, are for organisers
    to choose.
    """

    scope = Scope.SUBMIT
    address = "POST /tunings"
    command = "tuning create BOT"
    example = "mybot --ladder beginners --parameters width,depth_weight=0.8:0:2:0.1"
    subject = "tunings"
    answers = BotTuning

    bot: str = asked(
        "The bot, as mybot, mybot:2 for one of its versions, or mybot:2:depth=8 with options "
        "that stay as they are",
        label="Bot",
        most=LONGEST_PLAYER,
    )
    parameters: tuple[str, ...] = asked(
        "What is tuned: NAME, or NAME=START:LEAST:MOST, and :STEP:RATE behind it",
        label="What is tuned",
        most=MOST_PARAMETERS,
    )
    games: int = asked(
        "By how many games, rounded up to whole batches",
        label="Games",
        default=GAMES,
        least=1,
        most=MOST_GAMES,
    )
    method: str = asked(
        "spsa; or bayes, for few numbers and games, where the arena has its library",
        label="Method",
        default=str(Method.SPSA),
        choices=tuple(Method),
    )
    batch: int | None = asked(
        "Matches from the same values; by default 16, and of bayes at least a thirtieth of all",
        label="Batch",
        default=None,
        least=1,
        most=MOST_BATCH,
    )
    elo0: float = asked(
        "The test at the end fails if what came out is no stronger than this",
        label="Elo 0",
        default=0.0,
        least=-1000,
        most=1000,
    )
    elo1: float = asked(
        "It passes if what came out is so strong",
        label="Elo 1",
        default=5.0,
        least=-1000,
        most=1000,
    )
    proof_games: int = asked(
        "Of that test, at most",
        label="Games of the test, at most",
        default=MAX_GAMES,
        least=1,
        most=MOST_GAMES,
    )
    weight: float = asked(
        "Its share of the workers' time, with 1 for a ladder's; 1 at most unless one organises",
        label="Priority",
        default=1.0,
        least=0,
        most=MOST_WEIGHT,
    )

    def do(self, session: Session, by: By) -> Done:
        (player,) = usable_players(session, by, [self.bot], TUNING)
        self.demand_ladders_rules(
            by, gettext("a tuning by other rules than a ladder's is for organisers to make")
        )
        self.demand_some_openings(
            gettext("a tuning has no empty openings, as it plays none twice: choose a book")
        )
        rules = self.rules(session)
        plan = TuningPlan(
            rules.variant,
            rules.time,
            player,
            tuple(read_parameters(player.version, self.parameters)),
            self.games,
            self.batch,
            Method(self.method),
            StrengthTerms(self.elo0, self.elo1, max_games=self.proof_games),
            min(self.weight, most_weight(by)),
            rules.limits,
            self.note,
            self.chosen_seed(),
            self.chosen_openings(rules.ladder),
            needs_approval(session, rules),
        )
        made = tunings.create(session, plan, by.now, by.actor)
        games = counted(made.max_games, "game")
        words = (
            N_("tuning %(number)s was made, of %(games)s, and waits for approval: %(title)s")
            if made.waits
            else N_("tuning %(number)s was made, of %(games)s: %(title)s")
        )
        return Done(gettext(words, number=made.id, games=games, title=made.title), made)


def read_parameters(version: BotVersion, words: tuple[str, ...]) -> list[Parameter]:
    """What is to be tuned about a version.

    Raises:
        Refusal: it isn't known which options it has.
        StrengthError: there is no such option, or it can't be tuned so.
    """
    if version.options is None:
        raise Refusal(
            gettext(
                "nobody has asked %(label)s for its options: submit it again, and its check does",
                label=version.label,
            )
        )
    options = read_options(version.options)
    return [read_parameter(options, version.label, one) for one in words]


@dataclass(frozen=True)
class TuningDeed(Deed):
    """Does something with a tuning, and answers it."""

    scope = Scope.SUBMIT
    subject = "tunings"
    answers = BotTuning

    number: int = asked("The tuning's number")

    def own_tuning(self, session: Session, by: By) -> BotTuning:
        """The one of this number, if it is somebody's to change, locked with what was set aside.

        Raises:
            NotThere: there is none.
            NotAllowed: it is another's.
        """
        found = tunings.find(session, self.number)
        if not may_change(by, found):
            raise NotAllowed(gettext("this tuning is not yours"))
        tunings.set_aside(session, found)
        lock(session, found)  # the recorder may just be ending it
        return found


@dataclass(frozen=True)
class PauseTuning(TuningDeed):
    """Make no more matches of a tuning of one's own for now; those under way are counted."""

    address = "POST /tunings/<int:number>/pause"
    command = "tuning pause NUMBER"
    example = "17"

    def do(self, session: Session, by: By) -> Done:
        tuning = self.own_tuning(session, by)
        if tuning.state is not CompetitionState.OPEN:
            is_so = (
                N_("%(name)s is closed")
                if tuning.state is CompetitionState.CLOSED
                else N_("%(name)s is paused")
            )
            raise StrengthError(gettext(is_so, name=tuning.name))
        tuning.state = CompetitionState.PAUSED
        audit.note(session, by.actor, "pause tuning", tuning.name, now=by.now)
        return Done(
            gettext("tuning %(number)s is paused", number=tuning.id),
            tuning,
            (ResumeTuning(self.number),),
        )


@dataclass(frozen=True)
class StopTuning(TuningDeed):
    """Stop a tuning of one's own before all is played; what it came to stays to be seen."""

    address = "POST /tunings/<int:number>/stop"
    command = "tuning stop NUMBER"
    example = "17"

    def do(self, session: Session, by: By) -> Done:
        tuning = self.own_tuning(session, by)
        if tuning.state is CompetitionState.CLOSED:
            raise StrengthError(gettext("%(name)s is over", name=tuning.name))
        tunings.end(session, tuning, f"by {by.actor.name}", by.now)
        audit.note(session, by.actor, "stop tuning", tuning.name, now=by.now)
        games = counted(standing_of(tuning).games, "game")
        undo = (ResumeTuning(self.number),)
        return Done(
            gettext("tuning %(number)s is stopped after %(games)s", number=tuning.id, games=games),
            tuning,
            undo,
        )


@dataclass(frozen=True)
class ResumeTuning(TuningDeed):
    """Let a tuning of one's own go on that was paused or stopped, from where it was."""

    address = "POST /tunings/<int:number>/resume"
    command = "tuning resume NUMBER"
    example = "17"

    def do(self, session: Session, by: By) -> Done:
        tuning = self.own_tuning(session, by)
        was_over = tuning.state is CompetitionState.CLOSED
        tunings.go_on(session, tuning, by.actor)
        audit.note(session, by.actor, "resume tuning", tuning.name, now=by.now)
        undo = StopTuning(self.number) if was_over else PauseTuning(self.number)
        values = chosen_words(standing_of(tuning).chosen)
        goes_on = (
            N_("tuning %(number)s goes on once it is approved: %(values)s")
            if tuning.waits
            else N_("tuning %(number)s goes on: %(values)s")
        )
        return Done(gettext(goes_on, number=tuning.id, values=values), tuning, (undo,))


@dataclass(frozen=True)
class ExtendTuning(TuningDeed):
    """Let a tuning of one's own have more games, also when it is over; its steps become smaller by
    the same formula, and what comes out is tested anew."""

    address = "POST /tunings/<int:number>/extend"
    command = "tuning extend NUMBER"
    example = "17 --games 40000"
    adds = True

    games: int = asked("How many games in all", label="Games in all", least=1, most=MOST_GAMES)

    def do(self, session: Session, by: By) -> Done:
        tuning = self.own_tuning(session, by)
        asks = boards_ask_approval(session, [tuning.variant])
        tunings.extend(session, tuning, self.games, by.now, by.actor, asks=asks)
        goes_on = (
            N_("tuning %(number)s goes on, to %(games)s games, once it is approved")
            if tuning.waits
            else N_("tuning %(number)s goes on, to %(games)s games")
        )
        return Done(gettext(goes_on, number=tuning.id, games=tuning.max_games), tuning)
