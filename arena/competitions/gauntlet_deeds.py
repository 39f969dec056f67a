"""What can be changed about gauntlets: one is made, or stopped."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from arena.competitions import gauntlets
from arena.competitions.comparisons import (
    CreateComparison,
    may_change,
    needs_approval,
    usable_players,
)
from arena.competitions.founding import find_named
from arena.competitions.gauntlets import Gauntlet, GauntletPlan
from arena.competitions.strength_plans import MOST_GAMES
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground.bot_names import LONGEST_PLAYER
from arena.ground.locks import lock
from arena.ground.refusals import NotAllowed
from arena.models import Scope
from engine.translation import N_, gettext

MOST_OPPONENTS = 32
USUAL_GAMES = 1000


@dataclass(frozen=True)
class CreateGauntlet(CreateComparison):
    """Compare two versions by their games against the same other bots.

    The two never meet: each plays the same openings against the same opponents. Workers begin at
    once, by the rules of a ladder; those of a game, or another time, are for organisers to choose.
    """

    scope = Scope.SUBMIT
    address = "POST /gauntlets"
    command = "gauntlet create CANDIDATE BASELINE AGAINST..."
    example = "mybot:2 mybot:1 greedy mcts --ladder beginners"
    subject = "gauntlets"
    answers = Gauntlet

    candidate: str = asked(
        "Does it do better; as mybot, mybot:2 for one of its versions, or mybot:2:depth=8",
        label="Candidate: does it do better",
        most=LONGEST_PLAYER,
    )
    baseline: str = asked("Than this one", label="than the baseline", most=LONGEST_PLAYER)
    against: tuple[str, ...] = asked(
        "Bots that both play against, as greedy mcts",
        label="against these bots?",
        most=MOST_OPPONENTS,
    )
    games: int = asked(
        "How many, of both together; whole turns of all opponents are played",
        label="Games of both together",
        default=USUAL_GAMES,
        least=1,
        most=MOST_GAMES,
    )
    allow_faults: bool = asked(
        "Decide although faults ended many of the games",
        label="Decide even if faults end many of the games",
        default=False,
    )

    def do(self, session: Session, by: By) -> Done:
        names = [self.candidate, self.baseline, *self.against]
        players = usable_players(session, by, names)
        self.demand_ladders_rules(
            by,
            gettext("a gauntlet by other rules than a ladder's is for organisers to make"),
        )
        self.demand_some_openings(gettext("a gauntlet has no empty openings: choose a book"))
        rules = self.rules(session)
        plan = GauntletPlan(
            rules,
            self.games,
            self.chosen_seed(),
            self.chosen_openings(rules.ladder),
            self.allow_faults,
            self.note,
            needs_approval(session, rules),
        )
        made = gauntlets.create(session, plan, players, by.now, by.actor)
        words = (
            N_("the %(name)s, %(title)s, was made, and waits for approval")
            if made.waits
            else N_("the %(name)s, %(title)s, was made")
        )
        return Done(gettext(words, name=made.name, title=made.title), made)


@dataclass(frozen=True)
class StopGauntlet(Deed):
    """Stop a gauntlet of one's own for good; what is under way is played to its end and counted."""

    scope = Scope.SUBMIT
    address = "POST /gauntlets/<name>/stop"
    command = "gauntlet stop NAME"
    example = "gauntlet-2"
    subject = "gauntlets"
    lasting = (
        "The gauntlet is over for good; what is under way is played to its end and counted. This "
        "can't be undone."
    )
    answers = Gauntlet

    name: str = asked("The gauntlet's name", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Gauntlet, self.name)
        if not may_change(by, found):
            raise NotAllowed(gettext("this gauntlet is not yours"))
        lock(session, found)  # the recorder may just be counting a round
        gauntlets.stop(session, found, by.now, by.actor)
        return Done(
            gettext("the %(name)s is stopped; matches under way still count", name=found.name),
            found,
        )
