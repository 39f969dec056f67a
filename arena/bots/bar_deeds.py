"""What the organisers of a ladder can do about bots of others there: take one off, and let it come
back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.bots import entries
from arena.bots.bars import bar_files, barred, unbar_files
from arena.bots.bot_deeds import find_bot
from arena.bots.notifications import tell_barred
from arena.bots.submissions import add_tried, demand_admission, enter
from arena.competitions.founding import find_named
from arena.competitions.masks import is_named_there
from arena.competitions.organised import OrganisedDeed
from arena.deeds import LONGEST_NAME, LONGEST_NOTE, By, Done, asked
from arena.ground import texts
from arena.ground.locks import lock, locking
from arena.ground.refusals import NotThere, Refusal, WrongField
from arena.models import (
    BARRED,
    BARRED_AWAY,
    TRIED,
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

    So it is with one that has retired there, or is only being checked for it. Its owners are told
    why. Its games and its rating stay. It can be done while bots are frozen.
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
        entries.stop_entering(session, bot, BARRED, by.now, ladder)
        lock(session, ladder)  # whoever has it enter at the same moment has done so, or is refused
        there = (
            sa.select(Entrant)
            .join(Entrant.version)
            .where(Entrant.competition_id == ladder.id, BotVersion.bot_id == bot.id)
        )
        known = session.scalars(locking(there, Entrant, anew=True)).all()
        its = {"bot": bot.name, "ladder": ladder.name}
        was_there = any(not one.is_tried for one in known)
        if not ends and (not was_there or any(one.is_barred for one in known)):
            raise _not_there(ladder, bot)
        found = [one for one in known if one.state is not EntrantState.RETIRED]
        if not found:  # it has retired, or was only coming
            found = [_last(known) or add_tried(session, ladder, _newest(session, bot), by.now)]
        for entrant in found:
            played = entrant.state is EntrantState.ACTIVE
            entrant.state = EntrantState.RETIRED
            entrant.reason = f"{BARRED if played else BARRED_AWAY}: {note}"
            bar_files(session, ladder, bot, entrant.version.real.digest)
        if ends:
            bar_files(session, ladder, bot, _newest(session, bot.real).real.digest)
        words = f"{bot.name}: {note}"
        audit.note(session, by.actor, "bar bot", f"ladder {ladder.name}", words, now=by.now)
        tell_barred(session, bot, ladder, note, by)
        undo = (UnbarBot(ladder.name, bot.name),) if ladder.takes_bots and not ends else ()
        return Done(gettext("the bot %(bot)s is off the ladder %(ladder)s", **its), undo=undo)


def _last(entrants: Sequence[Entrant]) -> Entrant | None:
    """The newest version of a bot that was on a ladder, or of one that was only tried there."""
    return max(entrants, key=lambda one: (not one.is_tried, one.version.number), default=None)


def _newest(session: Session, bot: Bot) -> BotVersion:
    its = sa.select(BotVersion).where(BotVersion.is_of(bot.id))
    return session.scalars(its.order_by(BotVersion.number.desc()).limit(1)).one()


@dataclass(frozen=True)
class UnbarBot(OrganisedDeed):
    """Let a bot come back to a ladder which an organiser took off it: if it was active then, it is
    again at once, with the rating that it had, held less firmly.
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
        played = next((one for one in there if not one.reason.startswith(BARRED_AWAY)), None)
        unbar_files(session, ladder, bot)
        for entrant in there:
            is_known = entrant.games or entrant is played
            entrant.reason = "an organiser let it come back" if is_known else TRIED
        if played is not None:
            demand_admission(ladder, at_home=played.version.is_at_home)
            enter(session, ladder, played.version, by.now)
        audit.note(session, by.actor, "unbar bot", f"ladder {ladder.name}", bot.name, now=by.now)
        if played is None:
            return Done(gettext("the bot %(bot)s may come back to %(ladder)s", **its))
        return Done(gettext("the bot %(bot)s is active on %(ladder)s again", **its))
