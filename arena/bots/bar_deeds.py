"""What the organisers of a ladder can do about bots of others there: take one off, and let it come
back.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.bots import entries
from arena.bots.bars import barred
from arena.bots.bot_deeds import find_bot
from arena.bots.submissions import demand_admission, enter
from arena.bots.telling import tell_barred
from arena.competitions.founding import find_named
from arena.competitions.masks import is_named_there
from arena.competitions.organised import OrganisedDeed
from arena.deeds import LONGEST_NAME, LONGEST_NOTE, By, Done, asked
from arena.ground import texts
from arena.ground.locks import locking
from arena.ground.refusals import NotThere, Refusal, WrongField
from arena.models import (
    BARRED,
    Bot,
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    Ladder,
)
from engine.translation import gettext


def _find(session: Session, ladder_name: str, bot_name: str) -> tuple[Ladder, Bot]:
    """A ladder, and a bot by the name that it has there: who tries another is not told that it is
    behind a mask."""
    ladder = find_named(session, Ladder, ladder_name)
    try:
        bot = find_bot(session, bot_name)
    except NotThere as error:
        raise WrongField("bot", str(error)) from None
    if not is_named_there(ladder, bot):
        raise _not_there(ladder, bot)
    return ladder, bot


def _not_there(ladder: Ladder, bot: Bot) -> Refusal:
    its = {"bot": bot.name, "ladder": ladder.name}
    return Refusal(gettext("the bot %(bot)s is not on the ladder %(ladder)s", **its))


@dataclass(frozen=True)
class BarBot(OrganisedDeed):
    """Take somebody's bot off a ladder, on which it does not come back until an organiser lets it.

    Its owners are told why. Its games and its rating stay. It can be done while bots are frozen.
    """

    kind = Ladder
    address = "POST /ladders/<name>/bar"
    command = "ladder bar NAME BOT"
    example = 'course mybot --note "it is somebody else\'s work"'
    subject = "ladders"

    name: str = asked("The ladder's name")
    bot: str = asked("The bot's name", label="Bot", most=LONGEST_NAME)
    note: str = asked("Why, for its owners", most=LONGEST_NOTE)

    def asks(self, session: Session, by: By) -> str:
        ladder, bot = _find(session, self.name, self.bot)
        if ladder.takes_bots and not entries.ending(session, bot, ladder):
            return ""
        return gettext(
            "The bot %(bot)s leaves the ladder %(ladder)s, and so does what of it is being checked "
            "or tested for it. This can't be undone.",
            bot=bot.name,
            ladder=ladder.name,
        )

    def do(self, session: Session, by: By) -> Done:
        ladder, bot = _find(session, self.name, self.bot)
        note = texts.typed(self.note)
        if not note:
            raise Refusal(gettext("say why: its owners are told"))
        if ladder.state is CompetitionState.CLOSED:
            raise Refusal(
                gettext("the ladder %(ladder)s is closed, and its table final", ladder=ladder.name)
            )
        ends = entries.ending(session, bot, ladder)
        entries.stop_entering(session, bot, f"{BARRED}: {note}", by.now, ladder)
        there = (
            sa.select(Entrant)
            .join(Entrant.version)
            .where(
                Entrant.competition_id == ladder.id,
                BotVersion.bot_id == bot.id,
                Entrant.state != EntrantState.RETIRED,
            )
        )
        found = session.scalars(locking(there, Entrant, anew=True)).all()
        its = {"bot": bot.name, "ladder": ladder.name}
        if not found and not ends:
            raise _not_there(ladder, bot)
        for entrant in found:
            entrant.state, entrant.reason = EntrantState.RETIRED, f"{BARRED}: {note}"
        words = f"{bot.name}: {note}"
        audit.note(session, by.actor, "bar bot", f"ladder {ladder.name}", words, now=by.now)
        tell_barred(session, bot, ladder, note, by)
        undo = (UnbarBot(ladder.name, bot.name),) if ladder.takes_bots and not ends else ()
        return Done(gettext("the bot %(bot)s is off the ladder %(ladder)s", **its), undo=undo)


@dataclass(frozen=True)
class UnbarBot(OrganisedDeed):
    """Let a bot come back to a ladder which an organiser took off it: it is active again at once,
    with the rating that it had, held less firmly.
    """

    kind = Ladder
    address = "POST /ladders/<name>/unbar"
    command = "ladder unbar NAME BOT"
    example = "course mybot"
    subject = "ladders"
    adds = True

    name: str = asked("The ladder's name")
    bot: str = asked("The bot's name", label="Bot", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        ladder, bot = _find(session, self.name, self.bot)
        its = {"bot": bot.name, "ladder": ladder.name}
        there = barred(session, ladder, bot.id)
        if not there:
            raise Refusal(gettext("no organiser took %(bot)s off %(ladder)s", **its))
        demand_admission(ladder, at_home=there[0].version.is_at_home)
        enter(session, ladder, there[0].version, by.now)
        for entrant in there[1:]:
            entrant.reason = "an organiser let it come back"
        audit.note(session, by.actor, "unbar bot", f"ladder {ladder.name}", bot.name, now=by.now)
        return Done(gettext("the bot %(bot)s is active on %(ladder)s again", **its))
