"""What can be changed about gauntlets: one is made, or stopped."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy.orm import Session

from arena.competitions import gauntlets
from arena.competitions.founding import find_named
from arena.competitions.gauntlets import Gauntlet, GauntletPlan
from arena.competitions.players import named_players
from arena.competitions.rules import CreateByRules
from arena.competitions.strength_deeds import SEED_BITS, demand_no_approval, may_test
from arena.competitions.strength_plans import MOST_GAMES, openings_on
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground.bot_names import LONGEST_PLAYER
from arena.ground.locks import lock
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import OpeningPolicy, Scope

MOST_OPPONENTS = 32
USUAL_GAMES = 1000


@dataclass(frozen=True)
class CreateGauntlet(CreateByRules):
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
    openings: str = asked(
        "random: balanced ones; or the name of a book; by default the ladder's book, if it has one",
        label="Openings",
        default="",
        most=LONGEST_NAME,
    )
    seed: int | None = asked(
        "Of openings and dice; by default any", default=None, least=0, most=2**SEED_BITS - 1
    )

    def do(self, session: Session, by: By) -> Done:
        names = [self.candidate, self.baseline, *self.against]
        players = named_players(session, names)
        for player in players:
            if not may_test(by, player.version):
                raise NotAllowed(f"the bot {player.version.bot.name} is not for you to test")
        self.demand_ladders_rules(by, "a gauntlet")
        if self.openings == OpeningPolicy.EMPTY:
            raise Refusal("a gauntlet has no empty openings: choose a book")
        rules = self.rules(session)
        demand_no_approval(session, rules, by, "a gauntlet")
        usual = openings_on(rules.ladder) if rules.ladder else "random"
        plan = GauntletPlan(
            rules,
            self.games,
            secrets.randbits(SEED_BITS) if self.seed is None else self.seed,
            self.openings or usual,
            self.allow_faults,
            self.note,
        )
        made = gauntlets.create(session, plan, players, by.now, by.actor)
        return Done(f"the {made.name}, {made.title}, was made", made)


def may_stop(by: By, gauntlet: Gauntlet) -> bool:
    """Whether a gauntlet is somebody's to stop."""
    mine = by.may(Scope.SUBMIT) and gauntlet.creator_id == by.actor.id
    return mine or by.may(Scope.ORGANISE)


@dataclass(frozen=True)
class StopGauntlet(Deed):
    """Stop a gauntlet of one's own for good; what is under way is played to its end and counted."""

    scope = Scope.SUBMIT
    address = "POST /gauntlets/<name>/stop"
    command = "gauntlet stop NAME"
    example = "gauntlet-2"
    subject = "gauntlets"
    answers = Gauntlet

    name: str = asked("The gauntlet's name", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Gauntlet, self.name)
        if not may_stop(by, found):
            raise NotAllowed("this gauntlet is not yours")
        lock(session, found)  # the recorder may just be counting a round
        gauntlets.stop(session, found, by.now, by.actor)
        return Done(f"the {found.name} is stopped; matches under way still count", found)
