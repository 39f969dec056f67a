"""What can be changed about the rounds of ladders, besides their date: the bosses of divisions."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from arena import audit
from arena.competitions.founding import find_named
from arena.competitions.ladder_tournaments import ready_on
from arena.competitions.organised import OrganisedDeed
from arena.competitions.rounds import BOSS, bosses_of, tell
from arena.deeds import LONGEST_NAME, By, Done, asked
from arena.ground.locks import lock
from arena.ground.refusals import NotThere, Refusal
from arena.models import CompetitionState, DivisionPlace, Ladder
from engine.translation import gettext

MOST_DIVISIONS = 1000


@dataclass(frozen=True)
class NameBoss(OrganisedDeed):
    """Name the boss of a division of a ladder: a bot on it that has to be beaten there to rise.

    It plays in each round of the division from the next on, and neither rises nor falls.
    """

    kind = Ladder
    address = "POST /ladders/<name>/bosses"
    subject = "ladders"
    command = "ladder boss NAME DIVISION"
    example = "blitz 2 --bot greedy"

    name: str = asked("The ladder's name")
    division: int = asked(
        "The division, from 1, which is the highest",
        label="Division",
        least=1,
        most=MOST_DIVISIONS,
    )
    bot: str = asked("The bot; empty for none", label="Bot", default="", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        ladder = find_named(session, Ladder, self.name)
        lock(session, ladder)  # a round may be about to begin
        if ladder.state is CompetitionState.CLOSED:
            raise Refusal(gettext("the ladder %(name)s is closed", name=ladder.name))
        bosses = bosses_of(session, ladder)
        before = bosses.get(self.division)
        bot = self.bot.strip()
        its = {"name": ladder.name, "division": self.division, "bot": bot}
        if before is not None and before.bot.name == bot:
            nothing = gettext("%(bot)s is the boss of division %(division)s already", **its)
            return Done(nothing)
        if before is None and not bot:
            raise NotThere(gettext("division %(division)s of %(name)s has no boss", **its))
        named = self._add(session, ladder, bot, bosses) if bot else None
        if before is not None:
            session.delete(before)
        session.flush()
        if named is not None:
            tell(session, ladder, BOSS, named, by.now)
        was = before.bot.name if before is not None else ""
        detail = f"division {self.division}: {was or 'none'} → {bot or 'none'}"
        subject = f"ladder {ladder.name}"
        audit.note(session, by.actor, "name boss", subject, detail, now=by.now)
        if bot:
            said = gettext("%(bot)s is the boss of division %(division)s of %(name)s", **its)
        else:
            said = gettext("division %(division)s of %(name)s has no boss any more", **its)
        return Done(said, undo=(NameBoss(self.name, self.division, was),))

    def _add(
        self, session: Session, ladder: Ladder, bot: str, bosses: dict[int, DivisionPlace]
    ) -> DivisionPlace:
        for division, one in bosses.items():
            if one.bot.name == bot:
                raise Refusal(
                    gettext(
                        "%(bot)s is the boss of division %(division)s: name none there first",
                        bot=bot,
                        division=division,
                    )
                )
        able = {one.version.bot.name: one.version.bot_id for one in ready_on(session, ladder)}
        if bot not in able:
            raise NotThere(
                gettext(
                    "there is no bot %(bot)r on %(name)s that can play in a tournament",
                    bot=bot,
                    name=ladder.name,
                )
            )
        made = DivisionPlace(
            competition_id=ladder.id, bot_id=able[bot], division=self.division, is_boss=True
        )
        session.add(made)
        return made
