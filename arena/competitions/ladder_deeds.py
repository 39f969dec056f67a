"""What can be changed about ladders: one is made, and what can be chosen about it changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from arena.competitions import ladder_settings
from arena.competitions.founding import find_named
from arena.competitions.ladder_settings import SETTINGS
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground.refusals import Refusal
from arena.models import CompetitionState, Ladder, Scope
from engine.game import GameError
from engine.games import find_variant

CHOSEN = "Texts by their names: " + "; ".join(
    f"{key}: {its.words}" for key, its in SETTINGS.items()
)


@dataclass(frozen=True)
class CreateLadder(Deed):
    """Make a ladder, which is open at once unless its state is chosen."""

    scope = Scope.ORGANISE
    address = "POST /ladders"
    subject = "ladders"
    answers = Ladder
    makes = True

    name: str = asked("What addresses and commands call it", label="Name", most=LONGEST_NAME)
    game: str = asked("Its game", most=LONGEST_NAME)
    options: Mapping[str, str] = asked("The game's, e.g. size", default={})
    settings: Mapping[str, str] = asked(CHOSEN, default={})

    def do(self, session: Session, by: By) -> Done:
        try:
            options = [f"{key}={value}" for key, value in self.options.items()]
            variant = find_variant(self.game, options)
        except GameError as error:
            raise Refusal(str(error)) from None
        made = ladder_settings.create(session, by.actor, self.name, variant, self.settings, by.now)
        is_open = made.state is CompetitionState.OPEN
        then = "; it plays as soon as two bots have entered" if is_open else ""
        words = f"the ladder {made.name} is {made.state}: {variant}, {made.time.words}{then}"
        return Done(words, made)


@dataclass(frozen=True)
class ChangeLadder(Deed):
    """Change settings of a ladder; open, pause, freeze or close it.

    What games are played by stays as it is once there are matches.
    """

    scope = Scope.ORGANISE
    address = "PATCH /ladders/<name>"
    subject = "ladders"
    answers = Ladder

    name: str = asked("The ladder's name")
    settings: Mapping[str, str] = asked(CHOSEN)

    def asks(self, session: Session, by: By) -> str:
        if self.settings.get("state") != CompetitionState.CLOSED:
            return ""
        return (
            f"The ladder {self.name} is over for ever, and its table final: nothing is played on "
            "it any more, and no bot enters or leaves it. This can't be undone."
        )

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Ladder, self.name)
        before = self._before(found)
        words = ladder_settings.change(session, by.actor, found, self.settings, by.now)
        nothing = f"nothing is different: the ladder {self.name} is so already"
        undone = words and found.state is not CompetitionState.CLOSED
        undo = (ChangeLadder(self.name, before),) if undone else ()
        return Done("; ".join(words) or nothing, found, undo)

    def _before(self, ladder: Ladder) -> dict[str, str]:
        """How what is to be changed is now; of the two kinds of time controls the one it has."""
        either = {"time", "move"}
        keys = self.settings.keys() | (either if either & self.settings.keys() else set())
        shown = {key: SETTINGS[key].show(ladder) for key in keys & SETTINGS.keys()}
        return {key: text for key, text in shown.items() if text or key not in either}
