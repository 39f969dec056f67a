"""Bots and their versions, and what their owners say of them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column, relationship

from arena.ground.bot_names import Named
from arena.models.base import NUMBERED_ONCE, Base, Words
from arena.models.naming import FormerName
from arena.models.people import Team, TeamMember, User, lower_name
from arena.models.runtimes import Runtime


class VersionStatus(StrEnum):
    """What is known of an uploaded version."""

    CHECKING = "checking"
    """No check of it has come to its end."""
    READY = "ready"
    REFUSED = "refused"


AT_HOME = "home"
"""What stands for the language of a version that stays on its author's machine."""


class Bot(Base):
    """A playing program, through all its versions."""

    __tablename__ = "bot"
    __table_args__ = NUMBERED_ONCE

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(sa.String(40), unique=True)
    lower_name: Mapped[str] = mapped_column(sa.String(40), unique=True, default=lower_name)
    """No bot may pass for another by the size of letters."""
    owner_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    owned: Mapped[datetime | None]
    """When its owner got it; None of whoever made it."""
    open_source: Mapped[bool] = mapped_column(default=False)
    """Whether its code and its logs are for everybody, and not its owner's alone."""
    created: Mapped[datetime]
    description: Mapped[str] = mapped_column(sa.Text, default="")
    """What its owners say of it, in Markdown."""
    links: Mapped[list[Any]] = mapped_column(default=list)
    """Addresses that they give."""
    picture: Mapped[str | None] = mapped_column(sa.String(64), index=True)
    """The digest of its `Picture`; None if it has none."""
    deleted: Mapped[datetime | None]
    """When it was deleted, of one that games still name: it is nameless, and nobody's."""
    masks_id: Mapped[int | None] = mapped_column(ForeignKey("bot.id"), index=True)
    """The bot that plays under this one's name; None of all that are no mask."""
    masked_in: Mapped[int | None] = mapped_column(ForeignKey("competition.id"), index=True)
    """The competition that it does so in."""

    owner: Mapped[User] = relationship()
    masks: Mapped[Bot | None] = relationship(remote_side=[id])
    tags: Mapped[list[BotTag]] = relationship(
        order_by="BotTag.tag", cascade="all, delete-orphan", lazy="select"
    )

    @hybrid_property
    def person_id(self) -> int:
        """Whose it is where people take turns and have so much each, and who decides whose it is:
        its owner, or of a team the captain; of a mask that of the bot behind it."""
        return self.real.owner.person_id

    @person_id.inplace.expression
    @classmethod
    def _person_id(cls) -> sa.ColumnElement[int]:
        # Always by the same names: PostgreSQL groups by what is written alike.
        real, team = Bot.__table__.alias("real"), User.__table__.alias("team")
        captain = sa.select(team.c.captain_id).where(team.c.id == cls.owner_id)
        behind = (
            sa.select(sa.func.coalesce(team.c.captain_id, real.c.owner_id).label("behind"))
            .select_from(real.outerjoin(team, team.c.id == real.c.owner_id))
            .where(real.c.id == cls.masks_id)
        )
        return sa.func.coalesce(
            behind.scalar_subquery(),
            captain.scalar_subquery(),
            sa.type_coerce(cls.owner_id, sa.Integer),
        )

    @property
    def real(self) -> Bot:
        """The bot behind a mask; else itself."""
        return self.masks or self

    @classmethod
    def is_of(cls, person_id: int) -> sa.ColumnElement[bool]:
        """The condition that a bot is this person's, and no mask; found by the index of owners."""
        team = sa.select(Team.id).where(Team.captain_id == person_id).scalar_subquery()
        return cls.owner_id.in_((person_id, team))

    @classmethod
    def named(cls, name: str) -> sa.ColumnElement[bool]:
        """The condition that a bot is called so, or was, in whatever letters' size."""
        return sa.or_(cls.lower_name == name.lower(), cls.id == FormerName.of("bot", name))


class BotTag(Base):
    """One of the words that a bot's owners have chosen for it."""

    __tablename__ = "bot_tag"

    bot_id: Mapped[int] = mapped_column(ForeignKey("bot.id"), primary_key=True)
    tag: Mapped[str] = mapped_column(sa.String(30), primary_key=True, index=True)


class Picture(Base):
    """A bot's picture, as it was drawn anew from what was sent."""

    __tablename__ = "picture"

    digest: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    content: Mapped[bytes] = mapped_column(sa.LargeBinary)
    """A WebP file of at most 20 kB."""


class DiscardedFile(Base):
    """A file of the store that nobody has any more (`arena.bots.discarding`)."""

    __tablename__ = "discarded_file"

    digest: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    after: Mapped[datetime]
    """The moment at which it goes: what runs with it has ended by then."""


class CoOwner(Base):
    """Somebody who may do with a bot whatever its owner may (see `arena.bots.sharing`)."""

    __tablename__ = "co_owner"

    bot_id: Mapped[int] = mapped_column(ForeignKey("bot.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True, index=True)


def owners_of_bots() -> sa.CompoundSelect[int, int]:
    """Who may do with which bot whatever its owner may, as pairs of ``bot_id`` and ``user_id``: the
    owner, co-owners, and if a team has it its members."""
    own = sa.select(Bot.id.label("bot_id"), Bot.owner_id.label("user_id"))
    return sa.union_all(own, *_beside())


def sharers_of_bots() -> sa.CompoundSelect[int, int]:
    """Who may do so besides the owner, as `owners_of_bots` gives it."""
    return sa.union_all(*_beside())


def _beside() -> tuple[sa.Select[int, int], ...]:
    members = sa.select(Bot.id.label("bot_id"), TeamMember.user_id)
    return (
        sa.select(CoOwner.bot_id, CoOwner.user_id),
        members.join(TeamMember, TeamMember.team_id == Bot.owner_id),
    )


class BotVersion(Base):
    """One revision of a bot; its files never change and are named by their digest.

    Of a bot at home there are no files, and no digest: what it is its owner says.
    """

    __tablename__ = "bot_version"
    __table_args__ = (UniqueConstraint("bot_id", "number"), NUMBERED_ONCE)

    id: Mapped[int] = mapped_column(primary_key=True)
    bot_id: Mapped[int] = mapped_column(ForeignKey("bot.id"))
    number: Mapped[int]
    digest: Mapped[str] = mapped_column(sa.String(64), index=True)
    size: Mapped[int]
    """Bytes of its bundle, each of its large files counted once, as quotas have it."""
    files_bytes: Mapped[int | None] = mapped_column(sa.BigInteger)
    """Those of its files alone; None of one that was handed in before they were counted."""
    language: Mapped[str] = mapped_column(sa.String(40))
    note: Mapped[str] = mapped_column(sa.Text, default="")
    status: Mapped[VersionStatus]
    created: Mapped[datetime]
    runtime_id: Mapped[int | None] = mapped_column(ForeignKey("runtime.id"), index=True)
    """The runtime that it got when it was handed in, and keeps; None if it names none."""
    commit_hash: Mapped[str | None] = mapped_column(sa.String(64))
    """The commit of a git repository that its files are of; None if nobody said."""
    commit_subject: Mapped[str | None] = mapped_column(Words(200))
    """The first line of what its author said of that."""
    commit_repository: Mapped[str | None] = mapped_column(sa.String(500))
    """The https address of the repository; empty where it is not known."""
    commit_dirty: Mapped[bool | None]
    """Whether files were changed since that commit."""
    options: Mapped[list[Any] | None] = mapped_column(sa.JSON(none_as_null=True))
    """What can be chosen about it, each as `engine.bot_options` declares it: by its manifest, and
    by what it said in its last check. None if nobody has asked it yet."""
    masks_id: Mapped[int | None] = mapped_column(ForeignKey("bot_version.id"), index=True)
    """The version that a mask's stands for; None for all that are of no mask."""

    bot: Mapped[Bot] = relationship()
    masks: Mapped[BotVersion | None] = relationship(remote_side=[id])
    runtime: Mapped[Runtime | None] = relationship()

    @property
    def label(self) -> str:
        """The bot's name with the version's number: ``greedy v2``."""
        return f"{self.bot.name} v{self.number}"

    @property
    def written(self) -> str:
        """How forms, addresses and commands name it: ``greedy:2``."""
        return str(Named(self.bot.name, self.number))

    @property
    def real(self) -> BotVersion:
        """The version that a mask's stands for; else itself."""
        return self.masks or self

    @property
    def told_digest(self) -> str:
        """The digest as others are told it: a mask's would tell whose it is."""
        return "" if self.masks_id else self.digest

    @classmethod
    def is_of(cls, bot_id: Any) -> sa.ColumnElement[bool]:
        """The condition that a version is one of a bot, or of a mask of it."""
        behind = sa.select(Bot.__table__.c.id).where(Bot.__table__.c.masks_id == bot_id)
        return sa.or_(cls.bot_id == bot_id, cls.bot_id.in_(behind))

    @property
    def is_at_home(self) -> bool:
        """Whether it stays on its author's machine."""
        return self.language == AT_HOME


class LargeFile(Base):
    """A large file that a bundle has (`workers.large_files`), for as long as there are versions."""

    __tablename__ = "large_file"

    bundle: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    """The digest of the bundle, whichever versions have it."""
    digest: Mapped[str] = mapped_column(sa.String(64), primary_key=True, index=True)
    size: Mapped[int] = mapped_column(sa.BigInteger)


class SentFile(Base):
    """A large file that somebody sends in parts, or has sent in whole (`arena.bots.sending`)."""

    __tablename__ = "sent_file"

    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True)
    digest: Mapped[str] = mapped_column(sa.String(64), primary_key=True, index=True)
    size: Mapped[int] = mapped_column(sa.BigInteger)
    whole: Mapped[bool] = mapped_column(default=False)
    """Whether it came in whole and is what it was said to be: only then is it in the store."""
    used: Mapped[datetime]
    """When it was last asked for; a day after that it is forgotten."""
    begun: Mapped[datetime | None]
    ended: Mapped[datetime | None]
    """When its sender first said that it was to come, and when it had come."""


class Presence(Base):
    """Whether a version at home is connected, as the home worker says."""

    __tablename__ = "presence"
    __table_args__ = (CheckConstraint("games >= 0", name="games"),)

    version_id: Mapped[int] = mapped_column(ForeignKey("bot_version.id"), primary_key=True)
    worker: Mapped[str] = mapped_column(sa.String(120))
    """The home worker that last said so."""
    games: Mapped[int]
    """How many matches it plays at once; 0 if it is away."""
    since: Mapped[datetime]
    """When it came there, or went away."""
