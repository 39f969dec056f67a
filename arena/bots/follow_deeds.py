"""What people choose to hear of: they follow bots and competitions, and mute what is theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from sqlalchemy.orm import Session

from arena import audit
from arena.bots.bot_deeds import find_bot
from arena.competitions.founding import find_named
from arena.deeds import By, Deed, Done, asked
from arena.ground import locks
from arena.ground.db import count_rows
from arena.ground.refusals import Refusal
from arena.models import Bot, Competition, Follow, Scope
from arena.people import accounts, audience
from engine.translation import N_, gettext

MOST = 1000
"""Bots and competitions that one person may choose about."""


class Heard(NamedTuple):
    """What somebody hears of something."""

    kind: str
    """``bot``, or what the competition is."""
    name: str
    hears: bool


@dataclass(frozen=True)
class FollowDeed(Deed):
    """Changes what one hears of something."""

    scope = Scope.SUBMIT
    subject = "notifications"
    answers = Heard
    hears: ClassVar[bool]
    """Whether they hear of it from now on."""
    said: ClassVar[str]
    """What is said then, as `gettext` takes it."""

    def _choose(self, session: Session, by: By, subject: Bot | Competition) -> bool:
        """Hears of something from now on, or does not; says whether that was so before.

        Raises:
            Refusal: they have chosen about as much as one may.
        """
        hears = self.hears
        person = accounts.person_of(session, by.actor, by.now)
        locks.lock(session, person)  # two at once would each write a row
        usually = audience.usually_hears(session, person.id, subject)
        found = audience.follow_of(session, person.id, subject)
        before = usually if found is None else not found.muted
        if found is not None and hears == usually:
            session.delete(found)
        elif found is not None:
            found.muted = not hears
        elif hears != usually:
            if count_rows(session, Follow, Follow.user_id == person.id) >= MOST:
                raise Refusal(
                    gettext(
                        "you follow %(most)s bots and competitions, and no more can be", most=MOST
                    )
                )
            session.add(audience.make_follow(person.id, subject, muted=not hears, now=by.now))
        action = "follow" if hears else "follow no more"
        kind = "bot" if isinstance(subject, Bot) else subject.kind
        audit.note(session, by.actor, action, f"{kind} {subject.name}", now=by.now)
        session.flush()
        return before == hears


@dataclass(frozen=True)
class BotFollowDeed(FollowDeed):
    """Changes what one hears of a bot."""

    name: str = asked("The bot's name")

    def do(self, session: Session, by: By) -> Done:
        bot = find_bot(session, self.name)
        other = UnfollowBot if self.hears else FollowBot
        undo = () if self._choose(session, by, bot) else (other(bot.name),)
        return Done(gettext(self.said, bot=bot.name), Heard("bot", bot.name, self.hears), undo)


@dataclass(frozen=True)
class FollowBot(BotFollowDeed):
    """Hear of a bot: its checks, its suspensions."""

    address = "POST /bots/<name>/follow"
    hears, said = True, N_("you hear of the bot %(bot)s from now on")


@dataclass(frozen=True)
class UnfollowBot(BotFollowDeed):
    """Hear nothing of a bot any more; of one's own neither."""

    address = "POST /bots/<name>/unfollow"
    hears, said = False, N_("you hear nothing of the bot %(bot)s any more")


@dataclass(frozen=True)
class CompetitionFollowDeed(FollowDeed):
    """Changes what one hears of a competition."""

    name: str = asked("The competition's name")

    def do(self, session: Session, by: By) -> Done:
        found = find_named(session, Competition, self.name)
        other = UnfollowCompetition if self.hears else FollowCompetition
        undo = () if self._choose(session, by, found) else (other(found.name),)
        heard = Heard(found.kind, found.name, self.hears)
        return Done(gettext(self.said, title=found.title), heard, undo)


@dataclass(frozen=True)
class FollowCompetition(CompetitionFollowDeed):
    """Hear of a ladder, a tournament, a strength test, a tuning or a gauntlet: how it ends."""

    address = "POST /competitions/<name>/follow"
    hears, said = True, N_("you hear of %(title)s from now on")


@dataclass(frozen=True)
class UnfollowCompetition(CompetitionFollowDeed):
    """Hear nothing of a competition any more, though one made it or has a bot in it."""

    address = "POST /competitions/<name>/unfollow"
    hears, said = False, N_("you hear nothing of %(title)s any more")
