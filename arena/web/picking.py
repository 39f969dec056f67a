"""Names that forms offer to pick, so that nobody has to know them: browsers complete what is typed
from a list in the page, without a script. Whatever is not in it can be typed all the same.
"""

from __future__ import annotations

import sqlalchemy as sa

from arena.models import (
    Bot,
    BotVersion,
    Entrant,
    EntrantState,
    OpeningBook,
    User,
    owners_of_bots,
)
from arena.people.accounts import is_person
from arena.web.identity import current
from arena.web.lookup import reading
from engine.games import GAMES

OFFERED = 300
"""Names at most; a page must not become long by them."""


def offered(kind: str) -> list[str]:
    """Names to pick from, those first that who asks will most likely mean.

    Args:
        kind: ``bots``, ``people``, ``books``, or ``games``, which are told with their options.
    """
    if kind == "games":
        return sorted({str(variant) for game in GAMES.values() for variant in game.offered})
    with reading() as session:
        return list(session.scalars(_queries()[kind].limit(OFFERED)))


def _queries() -> dict[str, sa.Select[str]]:
    account = current()
    mine = Bot.owner_id == (account.id if account else None)
    # Read once: asked for each bot by itself, among ten thousand it took minutes.
    active = sa.select(BotVersion.bot_id).join(Entrant, Entrant.version_id == BotVersion.id)
    playing = Bot.id.in_(active.where(Entrant.state == EntrantState.ACTIVE))
    # Who has a bot is named beside it; of nobody else it is told that they are here.
    shown = User.id.in_(sa.select(owners_of_bots().subquery().c.user_id))
    return {
        "bots": sa.select(Bot.name)
        .where(sa.or_(mine, playing))
        .order_by(mine.desc(), Bot.id.desc()),
        "people": sa.select(User.name)
        .where(is_person(), User.active, shown)
        .order_by(User.lower_name),
        "books": sa.select(OpeningBook.name).order_by(OpeningBook.name),
    }
