"""Who plays: a version with its options, as a name in words stands for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, joinedload

from arena.deeds import By
from arena.ground import bot_names
from arena.ground.db import LOOKED_UP
from arena.ground.guesses import meant
from arena.ground.refusals import Refusal
from arena.models import (
    Bot,
    BotVersion,
    Check,
    Competition,
    Entrant,
    VersionStatus,
    own_words,
    player_label,
)
from engine.bot_options import (
    BotOptionError,
    check_chosen,
    chosen_words,
    read_chosen,
    read_options,
)
from engine.translation import gettext


class NamedPlayer(NamedTuple):
    """A version with its options."""

    version: BotVersion
    options: str = ""
    """The options as ``depth=8,style=fast``, each as the bot is told it; empty if nothing is
    chosen."""
    own_time: str = ""
    """Its time control in the words of `TimeControl`, if that is not the competition's."""
    own_threads: int = 0
    """How many threads it may have at a time; 0 for as many as the competition grants."""

    @property
    def label(self) -> str:
        """What people call it, as `player_label` says."""
        return player_label(self, self.options)

    @property
    def own_words(self) -> str:
        """What it is granted of its own; empty if nothing."""
        return own_words(self)


def player_of(entrant: Entrant) -> NamedPlayer:
    """Who plays as an entrant."""
    return NamedPlayer(entrant.version, entrant.options, entrant.own_time, entrant.own_threads)


def handed_in() -> sa.ColumnElement[bool]:
    """The condition that a version was handed in, and not only tried; one of a mask, if its real
    one was."""
    its = aliased(Check)
    checked = sa.exists().where(its.version_id == BotVersion.id)
    # Asked of the tables: readers do not see what tells whose a mask is.
    behind, mask = Check.__table__.alias(), Bot.__table__.alias()
    masked = sa.exists().where(
        behind.c.version_id == BotVersion.masks_id,
        mask.c.id == BotVersion.bot_id,
        behind.c.ladder_id == mask.c.masked_in,
    )
    is_in = sa.or_(~checked, checked.where(its.enters))
    return sa.and_(is_in, sa.or_(~masked, masked.where(behind.c.enters)))


def named_players(
    session: Session, names: Iterable[str], by: By | None = None
) -> list[NamedPlayer]:
    """The players of names such as ``greedy`` (its newest version that is ready), ``greedy:2`` and
    ``greedy:2:depth=8,style=fast``.

    Args:
        by: who names them: a version that was only tried is there for its owners, who say its
            number.

    Raises:
        Refusal: there is no such bot or version, or it has no such option or value.
    """
    found = []
    for name in names:
        named = bot_names.read_player(name)
        query = (
            sa.select(BotVersion)
            .join(BotVersion.bot)
            .where(Bot.named(named.name))
            .order_by(BotVersion.number.desc())
            .limit(1)
            .options(joinedload(BotVersion.bot))
            .execution_options(**LOOKED_UP)
        )
        if named.version is None:
            is_ready = BotVersion.status == VersionStatus.READY
            version = session.scalar(query.where(is_ready, handed_in()))
            words = gettext("there is no bot %(name)r that is ready", name=named.name[:60])
        else:
            numbered = query.where(BotVersion.number == named.version)
            version = session.scalar(numbered.where(handed_in()))
            if version is None and by is not None:
                tried = session.scalar(numbered)
                version = tried if tried is not None and by.owns(tried.bot) else None
            words = gettext(
                "there is no version %(number)s of a bot %(name)r",
                number=named.version,
                name=named.name[:60],
            )
        if version is None:
            raise Refusal(f"{words}{meant(session, Bot.name, named.name)}")
        found.append(NamedPlayer(version, choose(version, named.options)))
    return found


def choose(version: BotVersion, options: str) -> str:
    """What is chosen about a version, each value as the bot is told it.

    Args:
        options: as ``style=fast,depth=08``; empty for nothing.

    Raises:
        Refusal: it has no such option or none of such a value, or it isn't known which it has.
    """
    if not options:
        return ""
    if version.options is None:
        raise Refusal(
            gettext(
                "nobody has asked %(label)s for its options: submit it again, and its check does",
                label=version.label,
            )
        )
    try:
        declared = read_options(version.options)
        return chosen_words(check_chosen(declared, read_chosen(options), version.label))
    except BotOptionError as error:
        raise Refusal(str(error)) from None


def demand_allowed(competition: Competition, players: Iterable[NamedPlayer]) -> None:
    """Refuses players with options where the organiser allows none.

    Raises:
        Refusal: one of them has some.
    """
    if competition.allows_options:
        return
    for player in players:
        if player.options:
            raise Refusal(
                gettext(
                    "%(name)s takes no options: name %(label)s without %(options)s",
                    name=competition.name,
                    label=player.version.label,
                    options=player.options[:60],
                )
            )


def told(options: str) -> Mapping[str, str]:
    """What a player is told that plays with these options."""
    return read_chosen(options) if options else {}
