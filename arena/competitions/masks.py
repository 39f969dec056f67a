"""Anonymous competitions: a bot enters by a *mask*, a bot of a made-up name that nobody owns.

Theory of operation. What is kept is pseudonymous, and not what is shown: the entrant of such a
competition is a version of the mask, so that every page, feed, picture, file and record tells the
made-up name without knowing of it. What names the real bot there (its checks for the competition)
is seen by its owners alone (`arena.sight`), who own the mask as well. A bot has a mask for each
such competition, and the arena's own bots have none: they are nobody's secret.

When the competition is over, or its organiser says so, it is anonymous no more (`unmask`), and the
recorder puts the real bots in the place of their masks, at most one in each transaction
(`unmask_next`): each row that names the mask names the bot from then on, and the made-up name leads
to it, as a former name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from random import SystemRandom
from typing import NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, joinedload

from arena import audit
from arena.audit import ARENA, Actor
from arena.competitions.players import NamedPlayer
from arena.ground.locks import lock, locking
from arena.ground.refusals import Refusal
from arena.models import (
    HOUSE,
    Base,
    Bot,
    BotVersion,
    Competition,
    CompetitionState,
    Entrant,
    FormerName,
    ListedSeat,
    Tournament,
    User,
)
from arena.models.competitions import IS_ANONYMOUS
from arena.people import accounts
from engine.translation import gettext

FIRST = """
amber ample azure brave brief bright brisk bronze calm clear clever coral cosy crisp deep eager
early fair fleet fond frosty gentle glad golden grand green happy hazel honest humble jolly keen
kind light lively lucky mellow mild misty modest neat noble olive patient placid proud quick quiet
rapid rosy ruby rustic sharp silent silver sleek smooth snowy sober sound steady still stout sunny
swift tidy vivid warm wise witty
"""
SECOND = """
badger bear beaver bee bison bittern buzzard camel carp cobra condor cormorant crane cricket crow
curlew deer dingo dolphin dove eagle eel egret elk falcon ferret finch fox gecko gibbon goose
grouse gull hare hawk heron hornet ibex ibis jackal jay kestrel kite koala lark lemur linnet
lizard llama lynx magpie marten mole moose newt osprey otter owl oyster panda parrot pelican perch
pike plover puffin quail rabbit raven robin salmon seal shrew snipe sparrow squid stork swan tapir
tern thrush tiger toad trout turtle viper vole walrus weasel whale wombat wren yak zebra
"""
"""A name is one of each and a number, as ``brisk-otter-17``: they mean nothing of a bot."""

T = TypeVar("T")
_lots = SystemRandom()


class WhoIsWho(NamedTuple):
    """A mask, and whose it is."""

    mask: str
    bot: str
    owner: str


def masked(
    session: Session, competition: Competition, version: BotVersion, now: datetime
) -> BotVersion:
    """The version by which a version enters a competition: its mask's, if that is anonymous, or was
    until now and it has one still.

    What is a mask's, or the arena's own, enters as it is.

    Args:
        competition: locked, or just made.
    """
    bot = version.bot
    if version.masks_id is not None or bot.owner.name == HOUSE:
        return version
    if not competition.anonymous:
        return entered_as(session, competition, version)
    mask = _mask_of(session, competition, bot, now)
    numbers = sa.select(BotVersion).where(BotVersion.bot_id == mask.id)
    known = session.scalars(numbers.order_by(BotVersion.number)).all()
    for one in known:
        if one.masks_id == version.id:
            return one
    # Neither its size nor what its author says of it goes with it, nor when it was handed in.
    made = BotVersion(
        bot=mask,
        number=len(known) + 1,
        digest=version.digest,
        size=0,
        language=version.language,
        runtime=version.runtime,
        status=version.status,
        created=now,
        masks=version,
    )
    session.add(made)
    session.flush()
    return made


def is_named_there(competition: Competition, bot: Bot) -> bool:
    """Whether a bot may be in a competition by this name."""
    is_its = bot.masked_in == competition.id or bot.owner.name == HOUSE
    return not competition.anonymous or is_its


def masked_players(
    session: Session, competition: Competition, players: Iterable[NamedPlayer], now: datetime
) -> list[NamedPlayer]:
    """Players as they enter a competition: behind their masks, if it is anonymous."""
    return [one._replace(version=masked(session, competition, one.version, now)) for one in players]


def in_lots(those: Iterable[T]) -> list[T]:
    """Those of whom nothing is to be told by their order."""
    found = list(those)
    _lots.shuffle(found)
    return found


def mask_on(session: Session, competition: Competition, bot: Bot) -> Bot:
    """What a bot is in a competition: its mask, if it has one there, else itself."""
    its = sa.select(Bot).where(Bot.masks_id == bot.id, Bot.masked_in == competition.id)
    return session.scalar(its) or bot


def entered_as(session: Session, competition: Competition, version: BotVersion) -> BotVersion:
    """The version of a mask by which a version has entered a competition; else itself."""
    its = (
        sa.select(BotVersion)
        .join(BotVersion.bot)
        .where(BotVersion.masks_id == version.id, Bot.masked_in == competition.id)
    )
    return session.scalar(its) or version


def demand_no_mask(bot: Bot) -> None:
    """Refuses what is the real bot's alone: a mask only plays, where it stands for that.

    Raises:
        Refusal: the bot is a mask.
    """
    if bot.masks_id is not None:
        raise Refusal(
            gettext(
                "%(mask)s only stands for a bot in an anonymous competition: do it with that bot",
                mask=bot.name,
            )
        )


def unmask(session: Session, competition: Competition, actor: Actor, now: datetime) -> None:
    """Has a competition be anonymous no more, which is locked; the recorder does what follows."""
    competition.anonymous = False
    subject = f"{competition.kind} {competition.name}"
    audit.note(session, actor, "reveal", subject, now=now)


OVER = sa.select(Competition).where(IS_ANONYMOUS, Competition.state == CompetitionState.CLOSED)
"""The competitions whose anonymity is to end."""
SHOWN = (
    sa.select(Bot)
    .join(Competition, Competition.id == Bot.masked_in)
    .where(Bot.masks_id.is_not(None), ~Competition.anonymous)
)
"""The masks in whose place a real bot is to be put."""


def unmask_next(session: Session, now: datetime) -> bool:
    """Ends the anonymity of competitions that are over, and puts a real bot in the place of one
    mask; gives whether there may be more."""
    for competition in session.scalars(OVER.order_by(Competition.id)).all():
        lock(session, competition)
        if competition.anonymous and competition.state is CompetitionState.CLOSED:
            unmask(session, competition, ARENA, now)
    session.flush()
    mask = session.scalar(SHOWN.order_by(Bot.id).limit(1))
    if mask is None:
        return False
    _take_off(session, mask, now)
    return True


def who_is_who(session: Session, competition: Competition) -> list[WhoIsWho]:
    """The masks of a competition by name, each with its bot and owner."""
    real = aliased(Bot)
    query = (
        sa.select(Bot.name, real.name, User.name)
        .join(real, real.id == Bot.masks_id)
        .join(User, User.id == real.owner_id)
        .where(Bot.masked_in == competition.id)
        .order_by(Bot.lower_name)
    )
    return [WhoIsWho(*row) for row in session.execute(query)]


def masks_of(session: Session, bots: Collection[int]) -> Sequence[Bot]:
    """The masks of some bots, in the order in which they were made."""
    query = sa.select(Bot).where(Bot.masks_id.in_(bots)).order_by(Bot.id)
    return session.scalars(query).all()


def with_masks(bots: sa.Select[int]) -> sa.CompoundSelect[int]:
    """The ids of some bots, and of their masks."""
    return sa.union(bots, sa.select(Bot.id).where(Bot.masks_id.in_(bots)))


def _mask_of(session: Session, competition: Competition, bot: Bot, now: datetime) -> Bot:
    found = mask_on(session, competition, bot)
    if found is not bot:
        return found
    mask = Bot(
        name=_free_name(session),
        owner=accounts.anonymous(session, now),
        created=now,
        masks=bot,
        masked_in=competition.id,
    )
    session.add(mask)
    session.flush()
    return mask


def _free_name(session: Session) -> str:
    """One that no bot has, or had."""
    first, second = FIRST.split(), SECOND.split()
    while True:
        name = f"{_lots.choice(first)}-{_lots.choice(second)}-{_lots.randrange(10, 100)}"
        if session.scalar(sa.select(Bot.id).where(Bot.named(name))) is None:
            return name


def _take_off(session: Session, mask: Bot, now: datetime) -> None:
    """Puts the real bot in the place of a mask, wherever that is named; if it has played much, a
    part of it."""
    if not _lock(session, mask):
        return  # another recorder did it
    real, name = mask.real, mask.name
    query = sa.select(BotVersion).where(BotVersion.bot_id == mask.id).order_by(BotVersion.number)
    versions = session.scalars(query.options(joinedload(BotVersion.masks))).all()
    beside = [one for one in versions if _are_both_in_one(session, one, one.real)]
    room = SEATS_AT_ONCE
    for version in versions:
        if version not in beside:
            room -= _move_seats(session, version, room)
    if room <= 0:
        return
    labels = [version.label for version in versions]
    numbers = {}
    for version in versions:
        stands_for, number = version.real, version.number
        if version in beside:
            # Two rows of one competition can't be one player: it stays a version of its own.
            last = sa.select(sa.func.max(BotVersion.number)).where(BotVersion.bot_id == real.id)
            version.number = (session.scalar(last) or 0) + 1
            version.bot, version.masks = real, None
            version.size, version.files_bytes = stands_for.size, stands_for.files_bytes
            session.flush()
            its = sa.update(ListedSeat).where(ListedSeat.version_id == version.id)
            session.execute(its.values(bot_id=real.id), execution_options=WHOLE)
            stands_for = version
        else:
            _put(session, BotVersion, version.id, stands_for.id)
        numbers[str(number)] = stands_for.number
    for old, number in zip(labels, numbers.values(), strict=True):
        _rename_winner(session, old, f"{real.name} v{number}")
    gone = [version.id for version in versions if version not in beside]
    session.expire_all()
    session.execute(sa.delete(BotVersion).where(BotVersion.id.in_(gone)))
    _put(session, Bot, mask.id, real.id)
    session.expire_all()
    session.delete(mask)
    session.flush()
    session.add(FormerName(kind="bot", lower_name=name.lower(), bot_id=real.id, versions=numbers))
    audit.note(session, ARENA, "reveal", f"bot {real.name}", f"was {name}", now=now)
    session.flush()


def _lock(session: Session, mask: Bot) -> bool:
    """Locks what a mask is in, the mask and the real bot: whoever enters one of them, or hands in
    a version, waits; and so does who is about to refer to the mask, which goes. Gives whether it is
    still there."""
    its = sa.select(BotVersion.id).where(BotVersion.bot_id == mask.id)
    entered = sa.select(Entrant.competition_id).where(Entrant.version_id.in_(its))
    within = sa.or_(Competition.id == mask.masked_in, Competition.id.in_(entered))
    session.scalars(locking(sa.select(Competition).where(within), Competition, anew=True)).all()
    both = sa.select(Bot).where(Bot.id.in_([mask.id, mask.masks_id]))
    versions = sa.select(BotVersion).where(BotVersion.bot_id == mask.id)
    there = session.scalars(locking(both, Bot, to="remove", anew=True)).all()
    session.scalars(locking(versions, BotVersion, to="remove", anew=True)).all()
    return mask in there


def _move_seats(session: Session, version: BotVersion, most: int) -> int:
    """Has games of a mask's version be listed as the real one's, so many of them at the most; gives
    how many."""
    games = sa.select(ListedSeat.game_id).where(ListedSeat.version_id == version.id)
    which = ListedSeat.version_id == version.id, ListedSeat.game_id.in_(games.limit(max(0, most)))
    its = {"bot_id": version.real.bot_id, "version_id": version.real.id}
    query = sa.update(ListedSeat).where(*which).values(its)
    moved = session.execute(query, execution_options=WHOLE)
    return int(moved.rowcount)  # type: ignore[attr-defined]  # of an update there is one


WHOLE = {"synchronize_session": False}
SEATS_AT_ONCE = 5000
"""The most games in which the player is named anew by one transaction."""


def _are_both_in_one(session: Session, mask: BotVersion, real: BotVersion) -> bool:
    """Whether both play as the same in one competition, as in a test of one against the other."""
    one, other = aliased(Entrant), aliased(Entrant)
    query = sa.select(one.id).join(
        other,
        sa.and_(
            other.competition_id == one.competition_id,
            other.options == one.options,
            other.own_time == one.own_time,
            other.own_threads == one.own_threads,
        ),
    )
    both = query.where(one.version_id == mask.id, other.version_id == real.id)
    return session.scalar(both.limit(1)) is not None


def _put(session: Session, kind: type[Base], old: int, new: int) -> None:
    """Has every row that refers to a mask, or a version of one, refer to the real one; what would
    be there twice then is there once.

    Args:
        kind: of what the ids are.
    """
    key = kind.__table__.c.id
    for table in Base.metadata.sorted_tables:
        for column in table.columns:
            if table in KEPT or not any(one.column is key for one in column.foreign_keys):
                continue
            for unique in table.constraints:
                if isinstance(unique, UNIQUE) and column.name in unique.columns:
                    there = table.alias()
                    same = [there.c[one.name] == one for one in unique.columns if one is not column]
                    twice = sa.exists().where(there.c[column.name] == new, *same)
                    session.execute(sa.delete(table).where(column == old, twice))
            session.execute(sa.update(table).where(column == old).values({column: new}))


KEPT = Bot.__table__, BotVersion.__table__
"""What is a mask's own."""
UNIQUE = sa.PrimaryKeyConstraint, sa.UniqueConstraint


def _rename_winner(session: Session, old: str, new: str) -> None:
    """The winner of a tournament is kept as a text, of all who share that."""
    won = sa.select(Tournament).where(Tournament.winner.contains(old, autoescape=True))
    for tournament in session.scalars(won).all():
        tournament.winner = _in_words(tournament.winner or "", old, new)


def _in_words(text: str, old: str, new: str) -> str:
    """A text with a label replaced, but not where it begins a longer one, as v1 does v12."""
    parts = text.split(old)
    found = parts[0]
    for part in parts[1:]:
        found += (old if part[:1].isdigit() else new) + part
    return found
