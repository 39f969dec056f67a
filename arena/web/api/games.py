"""Operations on matches and games: to ask for one, to read them, one by one or all at once."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Annotated, Any

import sqlalchemy as sa
from flask import Response, request
from pydantic import Field, create_model
from sqlalchemy.orm import Session, joinedload

from arena.ground.refusals import NotThere, Refusal, WrongField
from arena.lists.exported import lines
from arena.lists.filters import LONGEST_WORD, WORDS, GameFilter
from arena.lists.parts import look_up
from arena.lists.search import find
from arena.models import JobStatus, Match, PlayedGame, Scope
from arena.sight import Reads
from arena.web import queries, submissions
from arena.web.api.count_shapes import CountsShape, told
from arena.web.api.game_shapes import (
    GameList,
    GameShape,
    MatchDetail,
    MatchList,
    Record,
)
from arena.web.api.paging import Pages, address, page
from arena.web.api.shapes import Id, Name, Number, Shape
from arena.web.api.specification import operation
from arena.web.downloads import Download
from arena.web.exports import game_rows
from arena.web.game_lists import (
    CURSOR,
    counted_games,
    cursor,
    of_entrant,
    read_cursor,
    read_filter,
)
from arena.web.games import PGN, pgn_file
from arena.web.identity import seen_database, settings, signed_in
from arena.web.live import NOTHING_PLAYED, best_running
from arena.web.lookup import (
    find_competition,
    find_game,
    find_ladder,
    find_match,
    find_record,
    reading,
)
from arena.web.unchanging import DAY
from engine.translation import translated

TAG = "games"
LINES, CSV = "application/x-ndjson", "text/csv"


class MatchPages(Pages):
    """Which matches are wanted."""

    competition: Name | None = None
    status: JobStatus | None = None


Asked = Annotated[str | None, Field(max_length=LONGEST_WORD)]


def _with_words(name: str, base: type[Shape]) -> type[Any]:
    """A shape that takes the words of a filter besides its own."""
    fields: dict[str, Any] = {
        word: (
            Asked,
            Field(
                None,
                description=f"{its.help}.",
                pattern=f"^({'|'.join(its.choices)})$" if its.choices else None,
            ),
        )
        for word, its in WORDS.items()
    }
    return create_model(name, __base__=base, __doc__=base.__doc__, **fields)


class _GamePages(Pages):
    """Which games are wanted, and which page of them."""

    cursor: Annotated[
        str | None,
        Field(pattern=f"^{CURSOR}$", description="Where to go on: see next of the page before"),
    ] = None
    entrant: Annotated[Id | None, Field(description="The id of one of its players.")] = None


class LadderExport(Shape):
    """Which games of a ladder are exported."""

    after: Annotated[Number, Field(description="Only those of higher numbers.")] = 0


class _Export(LadderExport):
    """Which games are exported."""


class _Counted(Shape):
    """Which games are counted."""


GamePages: Any = _with_words("GamePages", _GamePages)
Export: Any = _with_words("Export", _Export)
Counted: Any = _with_words("Counted", _Counted)


def _filter(query: Any) -> GameFilter:
    said = {word: getattr(query, word) for word in WORDS}
    try:
        return read_filter({word: text for word, text in said.items() if text})
    except WrongField as error:
        # It is as the document says, and yet can't be meant.
        raise Refusal(str(error)) from None


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


@operation("GET /matches/best", MatchDetail, tag=TAG, errors=[404])
def get_best_match() -> MatchDetail:
    """The match being played whose players are rated highest."""
    with reading() as session:
        number = best_running(session)
        if number is None:
            raise NotThere(translated(NOTHING_PLAYED))
        match = find_match(session, number)
        return MatchDetail.of(match, waits="")


@operation("GET /matches/<int:number>", MatchDetail, tag=TAG)
def get_match(number: int) -> MatchDetail:
    """One opening from every seat: who plays, how it stands, what was played of it."""
    with reading() as session:
        match = find_match(session, number)
        return MatchDetail.of(match, waits=queries.why_waiting(session, match, settings()))


@operation("GET /games", GameList, tag=TAG, errors=[403, 404, 409])
def list_games(query: GamePages) -> GameList:
    """The games that were played and are as they are asked for.

    A page may have fewer than its limit, even none, and still tell of a next one: then so many
    games were looked at that the rest is left for that.
    """
    wanted = _filter(query)
    with reading() as session:
        if query.entrant is not None:
            narrowed = of_entrant(session, wanted, query.entrant)
            if narrowed is None:
                return GameList(items=[], next=None)
            wanted = narrowed
        found = find(session, wanted, most=query.limit, after=read_cursor(query.cursor))
        games = queries.games_in_order(session, found.games)
        further = cursor(found.further)
        return GameList(
            items=GameShape.each(session, games), next=further and address(cursor=further)
        )


@operation("GET /games/counts", CountsShape, tag=TAG, errors=[403, 404, 409])
def count_games(query: Counted) -> CountsShape:
    """What came of the newest 10,000 games that are as they are asked for.

    Games that do not count are left out, unless counts=no asks for them.
    """
    with reading() as session:
        return told(session, counted_games(_filter(query)))


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
    return Record(record.to_json()), 200, {"Cache-Control": f"public, max-age={DAY}"}


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
        find_ladder(session, name)
        return _export(session, GameFilter(competition=name), query.after)


@operation("GET /games.jsonl", None, tag=TAG, media=LINES, errors=[403, 404, 409, 429, 503])
def export_games(query: Export) -> Response:
    """All games that are as they are asked for as JSON Lines, the first played first.

    Each line is the record of a game, with its number, its match and competition, when it ended,
    whether it counts or is void, and of each seat who sat there and what became of its rating.
    What is interrupted goes on after the last number that came. Of all games, and of those of a
    competition, X-Total-Count says how many there are.
    """
    wanted = _filter(query)
    with reading() as session:
        look_up(session, wanted)
        return _export(session, wanted, query.after)


@operation("GET /games.csv", None, tag=TAG, media=CSV, errors=[403, 404, 409, 429, 503])
def export_games_csv(query: Export) -> Response:
    """All games that are as they are asked for as CSV: a line for each, without its moves."""
    wanted = _filter(query)
    with reading() as session:
        look_up(session, wanted)
    return _sent(game_rows(seen_database(), wanted, query.after), CSV, {})


def _export(session: Session, wanted: GameFilter, after: int) -> Response:
    headers = {}
    if set(wanted.words) <= {"competition", "sort"}:
        total = sa.select(sa.func.count()).select_from(PlayedGame).where(PlayedGame.id > after)
        if wanted.competition is not None:
            competition = find_competition(session, wanted.competition)
            total = total.where(PlayedGame.competition_id == competition.id)
        headers["X-Total-Count"] = str(session.scalar(total))
    return _sent(_lines(seen_database(), wanted, after), LINES, headers)


def _sent(parts: Iterator[bytes], media: str, headers: dict[str, str]) -> Response:
    headers["Vary"] = "Accept-Encoding"
    if request.accept_encodings["gzip"]:
        parts, headers["Content-Encoding"] = _compressed(parts), "gzip"
    return Response(Download(parts), mimetype=media, headers=headers)


def _lines(database: Reads, wanted: GameFilter, after: int) -> Iterator[bytes]:
    for some in lines(database, wanted, after):
        yield b"\n".join([*some, b""])


def _compressed(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Compresses parts as a gzip file."""
    packer = zlib.compressobj(level=6, wbits=zlib.MAX_WBITS | 16)
    for part in parts:
        yield packer.compress(part)
    yield packer.flush()
