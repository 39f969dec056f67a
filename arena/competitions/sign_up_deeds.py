"""What can be changed about who signs up for a tournament."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.competitions import sign_ups
from arena.competitions.founding import find_named
from arena.competitions.masks import is_named_there
from arena.competitions.tournament_deeds import TournamentDeed
from arena.competitions.tournament_notifications import tell_taken_out
from arena.competitions.visibility import demand_shown
from arena.deeds import LONGEST_NOTE, By, Done, asked
from arena.ground import bot_names, texts
from arena.ground.bot_names import LONGEST_PLAYER
from arena.ground.db import LOOKED_UP
from arena.ground.guesses import meant
from arena.ground.refusals import NotAllowed, NotThere, Refusal
from arena.models import Bot, BotVersion, Scope, Tournament
from engine.translation import N_, gettext


@dataclass(frozen=True)
class SignUpBot(TournamentDeed):
    """Sign a bot of one's own up for a tournament, or any bot as an organiser.

    Done again it says which version is to play. Those who come when all places are taken wait, in
    their order.
    """

    scope = Scope.SUBMIT
    address = "POST /tournaments/<name>/sign-up"
    command = "tournament sign-up NAME BOT"
    example = "cup mybot"
    adds = True

    bot: str = asked(
        "The bot, as greedy for the version that it has when the field is drawn, or as greedy:2",
        label="Bot",
        most=LONGEST_PLAYER,
    )

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Tournament, self.name)
        bot, version = _named(session, found, self.bot, by)
        if version is not None:
            demand_shown(session, found.name, [version], by, found)
        made, waits = sign_ups.sign_up(session, found, bot, version, by.now, by.actor)
        label = bot.name if made.version is None else made.version.label
        is_so = (
            N_("the bot %(bot)s is on the waiting list of %(name)s")
            if waits
            else N_("the bot %(bot)s is signed up for %(name)s")
        )
        return Done(gettext(is_so, bot=label, name=found.name), found)


@dataclass(frozen=True)
class SignOffBot(TournamentDeed):
    """Take back that a bot is signed up for a tournament: one's own, or any as an organiser."""

    scope = Scope.SUBMIT
    address = "POST /tournaments/<name>/sign-off"
    command = "tournament sign-off NAME BOT"
    example = "cup mybot"
    lasting = (
        "Its place goes to the first on the waiting list. If it is signed up again, it comes last."
    )

    bot: str = asked("The bot", label="Bot", most=LONGEST_PLAYER)
    note: str = asked("Why, for its owners, if it is another's", default="", most=LONGEST_NOTE)

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Tournament, self.name)
        bot, _ = _named(session, found, self.bot, by)
        sign_ups.sign_off(session, found, bot, by.now, by.actor)
        tell_taken_out(session, found, bot, texts.typed(self.note), by)
        its = {"bot": bot.name, "name": found.name}
        return Done(gettext("the bot %(bot)s is not signed up for %(name)s any more", **its), found)


@dataclass(frozen=True)
class CheckInBot(TournamentDeed):
    """Confirm that a bot that is signed up for a tournament is to play, while its check-in is open.

    Who is not checked in when the field is drawn does not play.
    """

    scope = Scope.SUBMIT
    address = "POST /tournaments/<name>/check-in"
    command = "tournament check-in NAME BOT"
    example = "cup mybot"
    adds = True

    bot: str = asked("The bot", label="Bot", most=LONGEST_PLAYER)

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Tournament, self.name)
        bot, _ = _named(session, found, self.bot, by)
        sign_ups.check_in(session, found, bot, by.now, by.actor)
        its = {"bot": bot.name, "name": found.name}
        return Done(gettext("the bot %(bot)s is checked in for %(name)s", **its), found)


def _named(
    session: Session, tournament: Tournament, name: str, by: By
) -> tuple[Bot, BotVersion | None]:
    """The bot of somebody's that a name such as ``greedy`` or ``greedy:2`` stands for, and the
    version if it says one; any bot for an organiser, by the name that it has there.

    Raises:
        Refusal: there is none, or it is another's.
    """
    named = bot_names.read_player(name)
    if named.options:
        raise Refusal(gettext("bots sign up without options: leave them out"))
    query = sa.select(Bot).where(Bot.named(named.name)).options(joinedload(Bot.owner))
    bot = session.scalar(query, execution_options=LOOKED_UP)
    if bot is None:
        raise NotThere(
            gettext(
                "there is no bot %(name)r%(meant)s",
                name=named.name[:60],
                meant=meant(session, Bot.name, named.name),
            )
        )
    may_name = by.organises(tournament) and is_named_there(tournament, bot)
    if not by.owns(bot) and not may_name:
        raise NotAllowed(gettext("the bot %(bot)s is not yours", bot=bot.name))
    if named.version is None:
        return bot, None
    its = BotVersion.bot_id == bot.id, BotVersion.number == named.version
    version = session.scalar(sa.select(BotVersion).where(*its), execution_options=LOOKED_UP)
    if version is None:
        raise NotThere(
            gettext(
                "there is no version %(version)s of the bot %(bot)s",
                version=named.version,
                bot=bot.name,
            )
        )
    return bot, version
