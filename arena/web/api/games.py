"""Operations on matches and games: to ask for one, to read them, one by one or all at once."""

from __future__ import annotations

import json as jsons
import zlib
from collections.abc import Iterator
from typing import Annotated

import sqlalchemy as sa
from flask import Response, request
from pydantic import Field
from sqlalchemy.orm import Session, joinedload

from arena.ground.db import Database
from arena.models import Competition, GameSeat, JobStatus, Match, PlayedGame, Scope
from arena.web import queries, submissions
from arena.web.api.game_shapes import (
    GameList,
    GameShape,
    MatchDetail,
    MatchList,
    Record,
)
from arena.web.api.paging import Pages, page
from arena.web.api.shapes import Id, Name, Number, Shape
from arena.web.api.specification import operation
from arena.web.downloads import Download
from arena.web.games import PGN, PICTURE_SECONDS, pgn_file
from arena.web.identity import database, signed_in
from arena.web.lookup import (
    find_competition,
    find_game,
    find_ladder,
    find_match,
    find_record,
    reading,
)

TAG = "games"
LINES = "application/x-ndjson"
CHUNK_GAMES = 100
"""How many games an export reads at a time."""


class MatchPages(Pages):
    """Which matches are wanted."""

    competition: Name | None = None
    status: JobStatus | None = None


class GamePages(Pages):
    """Which games are wanted."""

    competition: Name | None = None
    entrant: Annotated[Id | None, Field(description="The id of one of its players.")] = None


class LadderExport(Shape):
    """Which games of a ladder are exported."""

    after: Annotated[Number, Field(description="Only those of higher numbers.")] = 0


class Export(LadderExport):
    """Which games are exported."""

    competition: Annotated[
        Name, Field(description="A ladder, a tournament, or test-5 for strength test 5.")
    ]


@operation("GET /matches", MatchList, tag=TAG, errors=[404])
def list_matches(query: MatchPages) -> MatchList:
    """What is to be played, is being played and was; of a competition or a status, if asked."""
    wanted = sa.select(Match).options(joinedload(Match.competition), queries.places())
    with reading() as session:
        if query.competition is not None:
            competition = find_competition(session, query.competition)
            wanted = wanted.where(Match.competition_id == competition.id)
        if query.status is not None:
            wanted = wanted.where(Match.status == query.status)
        return page(MatchList, session, wanted, Match.id, query)


@operation("GET /account/matches", MatchList, tag=TAG, scope=Scope.READ)
def list_own_matches(query: Pages) -> MatchList:
    """The unrated ones that one asked for, whatever became of them."""
    wanted = sa.select(Match).options(joinedload(Match.competition), queries.places())
    with reading() as session:
        own = wanted.where(Match.requester_id == signed_in().id)
        return page(MatchList, session, own, Match.id, query)


@operation("GET /matches/<int:number>", MatchDetail, tag=TAG)
def get_match(number: int) -> MatchDetail:
    """One opening from every seat: who plays, how it stands, what was played of it."""
    with reading() as session:
        return MatchDetail.of(find_match(session, number))


@operation("GET /games", GameList, tag=TAG, errors=[404])
def list_games(query: GamePages) -> GameList:
    """The games that were played."""
    wanted = queries.with_seats()
    with reading() as session:
        if query.competition is not None:
            competition = find_competition(session, query.competition)
            wanted = wanted.where(PlayedGame.competition_id == competition.id)
        if query.entrant is not None:
            seats = sa.select(GameSeat.game_id).where(GameSeat.entrant_id == query.entrant)
            wanted = wanted.where(PlayedGame.id.in_(seats))
        return page(GameList, session, wanted, PlayedGame.id, query)


@operation("GET /games/<int:number>", GameShape, tag=TAG)
def get_game(number: int) -> GameShape:
    """A game: who played, and what came of it."""
    with reading() as session:
        found, _ = find_game(session, number)
        return GameShape.of(found)


@operation("GET /games/<int:number>/record", Record, tag=TAG)
def get_record(number: int) -> tuple[Record, int, dict[str, str]]:
    """The record of a game: every move with its times. It never changes."""
    with reading() as session:
        record = find_record(session, number)
    return Record(record.to_json()), 200, {"Cache-Control": f"public, max-age={PICTURE_SECONDS}"}


read_log = operation(
    "GET /games/<int:number>/logs/<int:seat>",
    None,
    tag=TAG,
    name="read_log",
    media="text/plain",
    errors=[401, 403],
)(submissions.log)


get_pgn = operation("GET /games/<int:number>/pgn", None, tag=TAG, name="get_pgn", media=PGN)(
    pgn_file
)


@operation("GET /ladders/<name>/games.jsonl", None, tag=TAG, media=LINES, errors=[429, 503])
def export_ladder(name: str, query: LadderExport) -> Response:
    """All games of a ladder, as `export_games` has them."""
    with reading() as session:
        return _export(session, find_ladder(session, name), query.after)


@operation("GET /games.jsonl", None, tag=TAG, media=LINES, errors=[404, 429, 503])
def export_games(query: Export) -> Response:
    """All games of a competition as JSON Lines, the first played first.

    Each line is the record of a game, with its number, its match and when it ended. What is
    interrupted goes on after the last number that came. X-Total-Count says how many there are.
    """
    with reading() as session:
        return _export(session, find_competition(session, query.competition), query.after)


def _export(session: Session, competition: Competition, after: int) -> Response:
    wanted = (PlayedGame.competition_id == competition.id, PlayedGame.id > after)
    total = session.scalar(sa.select(sa.func.count()).where(*wanted))
    lines = _lines(database(), competition.id, after)
    headers = {"Vary": "Accept-Encoding", "X-Total-Count": str(total)}
    if request.accept_encodings["gzip"]:
        lines, headers["Content-Encoding"] = _compressed(lines), "gzip"
    return Response(Download(lines), mimetype=LINES, headers=headers)


def _lines(database: Database, competition: int, after: int) -> Iterator[bytes]:
    """Games, read chunk by chunk: no transaction lasts as long as a download."""
    while True:
        rows = sa.select(
            PlayedGame.id, PlayedGame.match_id, PlayedGame.finished, PlayedGame.record
        ).where(PlayedGame.competition_id == competition, PlayedGame.id > after)
        with database.read() as session:
            found = session.execute(rows.order_by(PlayedGame.id).limit(CHUNK_GAMES)).all()
        if not found:
            return
        parts = []
        for row in found:
            about = {"number": row.id, "match": row.match_id, "finished": row.finished.isoformat()}
            # What is stored is JSON already: an object, which gets some keys more.
            parts.append(b"%s,%s" % (jsons.dumps(about)[:-1].encode(), _text(row.record)[1:]))
        yield b"\n".join([*parts, b""])
        after = found[-1].id


def _text(stored: bytes) -> bytes:
    return zlib.decompress(stored)


def _compressed(parts: Iterator[bytes]) -> Iterator[bytes]:
    """The same as a gzip file."""
    packer = zlib.compressobj(level=6, wbits=zlib.MAX_WBITS | 16)
    for part in parts:
        yield packer.compress(part)
    yield packer.flush()
