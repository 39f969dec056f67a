"""What can be changed about ladders: one is made, and what can be chosen about it changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from arena.competitions import ladder_settings
from arena.competitions.date_deeds import DATES, set_dates
from arena.competitions.founding import find_named
from arena.competitions.ladder_settings import SETTINGS
from arena.competitions.organised import OrganisedDeed
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import CompetitionState, DateKind, Ladder, Scope
from engine.game import GameError
from engine.games import find_variant
from engine.translation import N_, gettext

CHOSEN = "Texts by their names: " + "; ".join(
    f"{key}: {its.words}" for key, its in SETTINGS.items()
)
MADE = {
    CompetitionState.OPEN: N_(
        "the ladder %(name)s is open: %(variant)s, %(time)s; it plays as soon as two bots have "
        "entered"
    ),
    CompetitionState.PAUSED: N_("the ladder %(name)s is paused: %(variant)s, %(time)s"),
    CompetitionState.FROZEN: N_("the ladder %(name)s is frozen: %(variant)s, %(time)s"),
    CompetitionState.CLOSED: N_("the ladder %(name)s is closed: %(variant)s, %(time)s"),
}


@dataclass(frozen=True)
class CreateLadder(Deed):
    """Make a ladder, which is open at once unless its state is chosen, or it opens at a date."""

    scope = Scope.ORGANISE
    address = "POST /ladders"
    subject = "ladders"
    answers = Ladder
    makes = True

    name: str = asked("What addresses and commands call it", label="Name", most=LONGEST_NAME)
    game: str = asked("Its game", most=LONGEST_NAME)
    options: Mapping[str, str] = asked("The game's, e.g. size", default={})
    settings: Mapping[str, str] = asked(CHOSEN, default={})
    dates: Mapping[str, str] = asked(DATES, default={})

    def do(self, session: Session, by: By) -> Done:
        try:
            options = [f"{key}={value}" for key, value in self.options.items()]
            variant = find_variant(self.game, options)
        except GameError as error:
            raise Refusal(str(error)) from None
        chosen = self.settings
        if DateKind.OPENS in self.dates:
            chosen = {"state": str(CompetitionState.PAUSED), **chosen}
        made = ladder_settings.create(session, by.actor, self.name, variant, chosen, by.now)
        set_dates(session, made, self.dates, by)
        said = gettext(MADE[made.state], name=made.name, variant=variant, time=made.time.words)
        return Done(said, made)


@dataclass(frozen=True)
class ChangeLadder(OrganisedDeed):
    """Change settings of a ladder; open, pause, freeze or close it.

    What games are played by stays as it is once there are matches. What takes of the machines that
    all competitions share is for organisers of the site.
    """

    kind = Ladder
    address = "PATCH /ladders/<name>"
    subject = "ladders"
    answers = Ladder

    name: str = asked("The ladder's name")
    settings: Mapping[str, str] = asked(CHOSEN)

    def asks(self, session: Session, by: By) -> str:
        if self.settings.get("state") != CompetitionState.CLOSED:
            return ""
        return gettext(
            "The ladder %(name)s is over for ever, and its table final: nothing is played on it "
            "any more, and no bot enters or leaves it. This can't be undone.",
            name=self.name,
        )

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Ladder, self.name)
        self._demand_site(found, by)
        before = self._before(found)
        words = ladder_settings.change(session, by.actor, found, self.settings, by.now)
        nothing = gettext("nothing is different: the ladder %(name)s is so already", name=self.name)
        undone = words and found.state is not CompetitionState.CLOSED
        undo = (ChangeLadder(self.name, before),) if undone else ()
        return Done("; ".join(words) or nothing, found, undo)

    def _demand_site(self, ladder: Ladder, by: By) -> None:
        if by.may(Scope.ORGANISE):
            return
        for key, text in self.settings.items():
            its = SETTINGS.get(key)
            if its is not None and its.of_site and text != its.show(ladder):
                raise NotAllowed(
                    gettext(
                        "%(key)s takes of what all competitions share: ask an organiser of the "
                        "site to change it",
                        key=key,
                    )
                )

    def _before(self, ladder: Ladder) -> dict[str, str]:
        """How what is to be changed is now; of the two kinds of time controls the one it has."""
        either = {"time", "move"}
        keys = self.settings.keys() | (either if either & self.settings.keys() else set())
        shown = {key: SETTINGS[key].show(ladder) for key in keys & SETTINGS.keys()}
        return {key: text for key, text in shown.items() if text or key not in either}
