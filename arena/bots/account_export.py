"""All that an arena keeps of a person's own, in one archive that is written as it is read.

It is a ZIP of these files: ``account.json`` (the account, tokens, sessions, kept lists, analyses,
what is followed, and the audit log's entries of what they did), ``bots.json`` (bots with versions
and checks), ``games/BOT.jsonl`` (as exports have games), ``sittings.jsonl``, ``logs/BOT.jsonl``
(what versions wrote, by game and seat), ``bundles/BOT-vN.tar``. Of games there are those that they
see. What their masks play is there by the masks' names. Of bots that are shared with them there is
nothing: these are their owners', and those of a team its captain's.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import IO, Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Session, undefer

from arena.bots import sharing, stored_files, teams
from arena.competitions.masks import masks_of
from arena.ground.bot_names import Named
from arena.ground.db import Database
from arena.lists import exported
from arena.lists.filters import GameFilter
from arena.models import (
    SCOPES,
    Analysis,
    ApiToken,
    AuditEntry,
    Bot,
    BotVersion,
    BrowserSession,
    Check,
    Competition,
    Entrant,
    Follow,
    GameSeat,
    Scope,
    Selection,
    Sitting,
    User,
    Visibility,
)
from arena.sight import Reader, Reads, SeenBy, roles_of

AT_A_TIME = 200
SECRET = frozenset(
    {"password", "totp_secret", "totp_counter", "digest", "key", "handle", "user_id", "owner_id"}
)
"""Columns of a person's rows that are for nobody to read, or say nothing."""

CHECK = frozenset(
    {
        "id", "version_id", "ladder_id", "at_home", "status", "created", "ended", "findings", "log",
        "enters", "test_first", "cancelled",
    }
)  # fmt: skip
"""Columns of a check that are its bot's; the others say how workers came by it."""


class _Parts:
    """Where an archive is written to, and taken from in parts."""

    def __init__(self) -> None:
        self._kept: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> int:
        """Keeps it until it is taken."""
        self._kept.append(bytes(data))
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        """How much was written."""
        return self._size

    def flush(self) -> None:
        """Does nothing: everything is kept already."""

    def take(self) -> bytes:
        """What was written since the last time."""
        taken = b"".join(self._kept)
        self._kept.clear()
        return taken


def export(database: Database, store: Path, user_id: int) -> Iterator[bytes]:
    """The archive of a person, part by part."""
    parts = _Parts()
    with zipfile.ZipFile(cast("IO[bytes]", parts), "w", allowZip64=True) as archive:
        for name, content in _files(database, store, user_id):
            packed = zipfile.ZIP_STORED if name.endswith(".tar") else zipfile.ZIP_DEFLATED
            about = zipfile.ZipInfo(name)
            about.compress_type = packed
            with archive.open(about, "w", force_zip64=True) as file:
                for part in content:
                    file.write(part)
                    yield parts.take()
            yield parts.take()
    yield parts.take()


def _files(database: Database, store: Path, user_id: int) -> Iterator[tuple[str, Iterable[bytes]]]:
    with database.read() as session:
        yield "account.json", [_json(_account(session, user_id))]
        bots = session.scalars(
            sa.select(Bot).where(Bot.is_of(user_id), Bot.deleted.is_(None)).order_by(Bot.id)
        ).all()
        masks = masks_of(session, [bot.id for bot in bots])  # whose files are the bots'
        yield "bots.json", [_json([_bot(session, bot) for bot in (*bots, *masks)])]
        versions = [
            (bot.name, version.number, version.digest)
            for bot in bots
            for version in session.scalars(
                sa.select(BotVersion)
                .where(BotVersion.bot_id == bot.id, BotVersion.digest != "")
                .order_by(BotVersion.number)
            )
        ]
        named = [(bot.id, bot.name) for bot in (*bots, *masks)]
        seen = SeenBy(database, _reader(session, user_id))
    yield "sittings.jsonl", _sittings(database, user_id)
    for number, name in named:
        games = exported.lines(seen, GameFilter(bot=Named(name, None)), 0)
        yield f"games/{name}.jsonl", (line + b"\n" for some in games for line in some)
        yield f"logs/{name}.jsonl", _logs(seen, number)
    for name, number, digest in versions:
        try:
            content, _ = stored_files.whole_tar(store, digest)
        except OSError:
            continue  # lost, or on another server
        yield f"bundles/{name}-v{number}.tar", content


def _reader(session: Session, user_id: int) -> Reader:
    """The person, who is given no games that they do not see, as those by which they are marked."""
    sees_all = Scope.ORGANISE in SCOPES[session.get_one(User, user_id).role]
    # They know of what is unlisted that their bots are in.
    unlisted = sa.select(Competition.id).where(Competition.visibility == Visibility.UNLISTED)
    seen = frozenset((*roles_of(session, user_id), *session.scalars(unlisted)))
    return Reader(user_id, sees_all, seen, sharing.shared_with(session, user_id))


def _account(session: Session, user_id: int) -> dict[str, Any]:
    user = session.get_one(User, user_id)
    its: Mapping[str, sa.Select[Any]] = {
        "tokens": sa.select(ApiToken).where(ApiToken.user_id == user_id),
        "sessions": sa.select(BrowserSession).where(BrowserSession.user_id == user_id),
        "lists": sa.select(Selection).where(Selection.owner_id == user_id),
        "analyses": sa.select(Analysis).where(Analysis.owner_id == user_id),
        "follows": sa.select(Follow).where(Follow.user_id == user_id),
        "done": sa.select(AuditEntry).where(AuditEntry.actor_id == user_id).order_by(AuditEntry.id),
    }
    found = {key: [_row(one) for one in session.scalars(query)] for key, query in its.items()}
    return _row(user) | found | {"teams": [one.name for one in teams.teams_of(session, user_id)]}


def _bot(session: Session, bot: Bot) -> dict[str, Any]:
    versions = sa.select(BotVersion).where(BotVersion.bot_id == bot.id)
    checks = sa.select(Check).join(Check.version).where(BotVersion.bot_id == bot.id)
    return _row(bot) | {
        "tags": [one.tag for one in bot.tags],
        "versions": [_row(one) for one in session.scalars(versions.order_by(BotVersion.number))],
        "checks": [_row(one, CHECK) for one in session.scalars(checks.order_by(Check.id))],
    }


def _sittings(database: Database, user_id: int) -> Iterator[bytes]:
    query = sa.select(Sitting).where(Sitting.user_id == user_id).options(undefer(Sitting.game))
    last = 0
    while True:
        with database.read() as session:
            some = session.scalars(
                query.where(Sitting.id > last).order_by(Sitting.id).limit(AT_A_TIME)
            ).all()
            for one in some:
                last = one.id
                yield _json({"number": one.id, "finished": one.finished, "record": one.game})
        if len(some) < AT_A_TIME:
            return


def _logs(database: Reads, bot_id: int) -> Iterator[bytes]:
    query = (
        sa.select(GameSeat.game_id, GameSeat.seat, GameSeat.log)
        .join(Entrant, Entrant.id == GameSeat.entrant_id)
        .join(BotVersion, BotVersion.id == Entrant.version_id)
        .where(BotVersion.bot_id == bot_id, GameSeat.log != "")
        .order_by(GameSeat.game_id, GameSeat.seat)
        .limit(AT_A_TIME)
    )
    last = 0, -1
    while True:
        after = sa.tuple_(GameSeat.game_id, GameSeat.seat) > last
        with database.read() as session:
            some = session.execute(query.where(after)).all()
        for game, seat, log in some:
            last = game, seat
            yield _json({"game": game, "seat": seat + 1, "log": log})
        if len(some) < AT_A_TIME:
            return


def _row(row: Any, only: Collection[str] = ()) -> dict[str, Any]:
    """The columns of a row but what is secret; those that are read at once.

    Args:
        only: the columns that are meant, if not all are.
    """
    mapper = sa.inspect(type(row))
    return {
        one.key: getattr(row, one.key)
        for one in mapper.column_attrs
        if one.key not in SECRET
        and (not only or one.key in only)
        and not isinstance(getattr(row, one.key), bytes)
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, default=_plain).encode() + b"\n"


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else str(value)
