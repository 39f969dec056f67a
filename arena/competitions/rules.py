"""The rules by which something is played: those of a ladder, or of a game by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlalchemy.orm import Session

from arena.competitions.founding import find_named
from arena.competitions.machines import MACHINES, is_reference
from arena.deeds import LONGEST_LINE, LONGEST_NAME, By, Deed, asked
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import USUAL_LIMITS, CompetitionLimits, Ladder, Scope
from engine.clock import DEFAULT_MOVE_MS, TimeControl, parse_time
from engine.game import GameError, Variant
from engine.games import find_variant
from engine.translation import gettext


class Rules(NamedTuple):
    """The rules by which a competition is played."""

    ladder: Ladder | None
    """Whose rules they are; None if they are a game's."""
    variant: Variant
    time: TimeControl
    limits: CompetitionLimits


def read_variant(words: str) -> Variant:
    """The variant of a game and its options, as in ``GAME size=5x6``.

    Raises:
        OptionError: there is no such thing.
    """
    name, *options = words.split() or [""]
    return find_variant(name, options)


@dataclass(frozen=True, kw_only=True)
class CreateByRules(Deed):
    """Makes a competition that is played by a ladder's rules, or by a game's."""

    makes = True

    ladder: str = asked(
        "Its game, time and limits; a tournament's seeding is by its ratings",
        label="Ladder",
        default="",
        most=LONGEST_NAME,
    )
    game: str = asked(
        "Without a ladder, the game and its options, as in GAME size=5x6", default="", most=200
    )
    time: str = asked(
        "Seconds a game and more a move, as in 10+0.1, where it is not the ladder's",
        default="",
        most=20,
    )
    move: int | None = asked(
        f"Milliseconds a move; by default the ladder's, else {DEFAULT_MOVE_MS}",
        default=None,
        least=1,
    )
    machine: str | None = asked(
        "Whose milliseconds those are: own (of whichever machine plays) or reference (of the "
        "reference machine, so that a slower one grants more); by default the ladder's, else own",
        label="Whose milliseconds",
        default=None,
        choices=MACHINES,
    )
    note: str = asked("For everybody, on its page", label="Note", default="", most=LONGEST_LINE)

    def demand_ladders_rules(self, by: By, words: str) -> None:
        """Refuses rules that are not a ladder's: they say how long workers are busy.

        Args:
            words: that they are for organisers alone.

        Raises:
            NotAllowed: they are no organiser.
        """
        is_other = self.game or self.time or self.move is not None or self.machine
        if is_other and not by.may(Scope.ORGANISE):
            raise NotAllowed(words)

    def rules(self, session: Session) -> Rules:
        """The rules that are meant.

        Raises:
            Refusal: ladder and game are given or none, or two times, or there is no such thing.
        """
        if bool(self.ladder) == bool(self.game):
            raise Refusal(gettext("say what is played: a ladder, which has its game, or a game"))
        if self.time and self.move is not None:
            raise Refusal(gettext("give a time a game or a time a move, not both"))
        ladder = find_named(session, Ladder, self.ladder) if self.ladder else None
        try:
            if ladder is not None:
                variant, time, limits = ladder.variant, ladder.time, ladder.limits
            else:
                variant = read_variant(self.game)
                time, limits = TimeControl(move_ms=DEFAULT_MOVE_MS), USUAL_LIMITS
            if self.time:
                time = parse_time(self.time)
            elif self.move is not None:
                time = TimeControl(move_ms=self.move)
            reference = ladder is not None and ladder.reference
            if self.machine is not None:
                reference = is_reference(self.machine)
            time = replace(time, reference=reference)
        except GameError as error:
            raise Refusal(str(error)) from None
        return Rules(ladder, variant, time, limits)
