"""What the owners of a bot say of it: its description, links and tags, its picture, its name."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from sqlalchemy.orm import Session

from arena import audit, naming
from arena.bots import pictures
from arena.bots.bot_deeds import BotDeed, find_bot
from arena.bots.submissions import free_of_refused
from arena.competitions.masks import demand_no_mask
from arena.deeds import LONGEST_NAME, By, Deed, Done, asked
from arena.ground import bot_names
from arena.ground.refusals import NotAllowed, Refusal
from arena.models import Bot, BotTag, Picture, Scope
from arena.people.profiles import (
    DESCRIPTION,
    LINKS,
    LONGEST_DESCRIPTION,
    MOST_LINKS,
    MOST_TAGS,
    read_description,
    read_links,
    read_tags,
)
from engine.translation import gettext

LONGEST_PICTURE = -(-pictures.MOST_SENT // 3) * 4
"""Characters of a picture in base64."""


def shown_bot(session: Session, by: By, name: str) -> Bot:
    """The bot of a name, if somebody may say what is told of it: its owners, and administrators.

    Raises:
        NotThere: there is none.
        NotAllowed: it is another's.
    """
    bot = find_bot(session, name)
    if bot.deleted or not (by.owns(bot) or by.may(Scope.ADMIN)):
        raise NotAllowed(gettext("the bot %(bot)s is not yours", bot=bot.name))
    demand_no_mask(bot)
    return bot


@dataclass(frozen=True)
class DescribeBot(BotDeed):
    """Say anew what a bot's page tells of it: a description, links, and tags to find it by.

    What is not said is gone.
    """

    address = "POST /bots/<name>/describe"
    command = "bot describe NAME"
    example = "mybot --description 'Alpha-beta, **depth 8**.' --tags alpha-beta,c++"

    description: str = asked(DESCRIPTION, label="Description", default="", most=LONGEST_DESCRIPTION)
    links: tuple[str, ...] = asked(LINKS, label="Links", default=(), most=MOST_LINKS)
    tags: tuple[str, ...] = asked(
        "Words to find it by, in small letters", label="Tags", default=(), most=MOST_TAGS
    )

    def do(self, session: Session, by: By) -> Done:
        bot = shown_bot(session, by, self.name)
        before = bot.description, tuple(bot.links), tuple(one.tag for one in bot.tags)
        links, tags = read_links(self.links), read_tags(self.tags)
        bot.description, bot.links = read_description(self.description), links
        known = {one.tag: one for one in bot.tags}
        bot.tags = [known.get(tag) or BotTag(tag=tag) for tag in tags]
        undo: tuple[Deed, ...] = ()
        if before != (bot.description, tuple(links), tuple(tags)):
            undo = (DescribeBot(bot.name, *before),)
            audit.note(session, by.actor, "describe", f"bot {bot.name}", now=by.now)
        return Done(gettext("the page of %(bot)s says so now", bot=bot.name), bot, undo)


@dataclass(frozen=True)
class PictureBot(BotDeed):
    """Give a bot a picture, or take away the one it has.

    It is a PNG, JPEG, WebP or GIF, and is drawn anew, small: nothing else of it is kept.
    """

    address = "POST /bots/<name>/picture"

    picture: str = asked(
        "The file in base64; nothing for no picture", default="", most=LONGEST_PICTURE
    )

    def do(self, session: Session, by: By) -> Done:
        bot = shown_bot(session, by, self.name)
        try:
            sent = base64.b64decode("".join(self.picture.split()).encode(), validate=True)
        except binascii.Error:
            raise Refusal(gettext("give the picture in base64")) from None
        content = pictures.drawn_anew(sent) if sent else None
        stored = session.get(Picture, bot.picture) if bot.picture else None
        before = stored.content if stored else b""
        undo: tuple[Deed, ...] = ()
        if (content or b"") != before:
            undo = (PictureBot(bot.name, base64.b64encode(before).decode()),)
            pictures.give(session, bot, content)
            what = "give picture" if content else "remove picture"
            audit.note(session, by.actor, what, f"bot {bot.name}", now=by.now)
        if content:
            return Done(gettext("the bot %(bot)s has this picture now", bot=bot.name), bot, undo)
        return Done(gettext("the bot %(bot)s has no picture", bot=bot.name), bot, undo)


@dataclass(frozen=True)
class RenameBot(BotDeed):
    """Give a bot another name; by the one before it is found, too.

    Games and tables call it by the new one; records that were written until now keep the old.
    """

    address = "POST /bots/<name>/rename"
    command = "bot rename NAME TO"
    example = "mybot deepbot"
    lasting = (
        "The name of before leads to this bot as long as it is there, and nobody else can have "
        "it. What was written down until now, such as in files that somebody keeps, has it still."
    )

    to: str = asked("What it is to be called", label="New name", most=LONGEST_NAME)

    def do(self, session: Session, by: By) -> Done:
        bot, name = shown_bot(session, by, self.name), self.to.strip()
        if words := bot_names.refusal(name):
            raise Refusal(words)
        if bot.name == name:
            raise Refusal(gettext("it is called so already"))
        free_of_refused(session, bot.owner_id, name, by.now)
        before = naming.rename(session, bot, name)
        audit.note(session, by.actor, "rename", f"bot {before}", f"to {bot.name}", now=by.now)
        said = gettext("the bot %(before)s is called %(name)s now", before=before, name=name)
        return Done(said, bot)
