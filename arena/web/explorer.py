"""The explorer: how games go on from a line, what came of it, and who played it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from sqlalchemy.orm import Session

from arena.ground.refusals import Refusal
from arena.lists import counts, explorer
from arena.lists.counts import Share
from arena.lists.explorer import MOST_STARTS, BranchTally, total_of
from arena.lists.filters import line_word
from arena.lists.lines import END, PLIES, move_code, root_of, start_code
from arena.models import Competition
from arena.web import boards, queries
from arena.web.boards import Clickable, Reached, position_drawn
from arena.web.deeds import REFUSED
from arena.web.lines import ChosenLine, ladder_for, line_at, read_line
from arena.web.lookup import find_competition, find_game, reading
from arena.web.words import sentence
from engine import clicks
from engine.clicks import Clicks, illustrate
from engine.shelf import Missing

pages = Blueprint("explorer", __name__)

LAST_GAMES = 10


@dataclass(frozen=True, slots=True)
class BranchLine:
    """A way on from a line."""

    move: str | None
    """None where games ended; of one that the rules of now do not have, too."""
    ended: bool
    tally: BranchTally


@dataclass(frozen=True, slots=True)
class StartLine:
    """A start of a variant that has several."""

    own: Mapping[str, str]
    """The options in which it differs from the variant."""
    tally: BranchTally


@dataclass(frozen=True, slots=True)
class Explored:
    """What is told of a line."""

    competition: Competition
    everywhere: bool
    """Whether games of all competitions of this variant are counted."""
    line: ChosenLine | None
    """None where there are several starts, of which none was chosen."""
    word: str
    """How the line is called by filters of games."""
    total: BranchTally
    branches: Sequence[BranchLine] = ()
    starts: Sequence[StartLine] = ()
    players: Sequence[tuple[str, Share]] = ()
    last_games: Sequence[int] = field(default=())

    @property
    def is_counted(self) -> bool:
        """Whether games are counted so far from the start."""
        return self.line is None or len(self.line.opening.moves) <= PLIES


def explore(
    session: Session, competition: Competition, line: ChosenLine | None, *, everywhere: bool
) -> Explored:
    """What is told of a line of a competition's variant.

    Args:
        line: by default the only start, if there is one alone.
        everywhere: counts all competitions of the variant.

    Of a variant whose rules are not here it is only told how many games there are.
    """
    variant = competition.variant
    where = None if everywhere else competition.id
    root = root_of(competition.game, competition.options)
    if isinstance(variant, Missing):
        total = total_of(explorer.branches(session, root, where))
        last = explorer.last_games(session, root, where, most=LAST_GAMES)
        word = line_word(root)
        return Explored(competition, everywhere, None, word, total, last_games=last)
    if line is None:
        found = explorer.branches(session, root, where)
        if len(found) > 1:
            return _of_starts(session, competition, root, found, everywhere=everywhere)
        known = explorer.starts_of(session, root, list(found))
        options = next(iter(known.values()), dict(variant.drawn(0).options))
        line = line_at(variant, options, ())
    moves = line.opening.moves
    key = root + start_code(line.opening.variant.options) + b"".join(map(move_code, moves))
    if len(moves) > PLIES:
        return Explored(competition, everywhere, line, "", BranchTally())
    found = explorer.branches(session, key, where)
    words = {move_code(move): move for move in line.state.legal_moves()}
    total = total_of(found)
    if len(moves) == PLIES:
        total = explorer.branches(session, key[:-4], where).get(key[-4:], total)
    mover = line.last_mover
    shares = [] if mover is None else explorer.players(session, key, mover, where)
    names = counts.bots_of(session, [one.key for one in shares])
    return Explored(
        competition,
        everywhere,
        line,
        line_word(key),
        total,
        [BranchLine(words.get(move), move == END, tally) for move, tally in found.items()],
        players=[(names[one.key], one) for one in shares],
        last_games=explorer.last_games(session, key, where, most=LAST_GAMES),
    )


def _of_starts(
    session: Session,
    competition: Competition,
    root: bytes,
    found: Mapping[bytes, BranchTally],
    *,
    everywhere: bool,
) -> Explored:
    known = explorer.starts_of(session, root, list(found)[:MOST_STARTS])
    usual = competition.options
    starts = [
        StartLine(
            {key: its for key, its in known[code].items() if usual.get(key) != its}, found[code]
        )
        for code in list(found)[:MOST_STARTS]
        if code in known
    ]
    total = total_of(found)
    return Explored(competition, everywhere, None, line_word(root), total, starts=starts)


@pages.get("/explorer/<name>")
def explored(name: str) -> Any:
    """How games go on from a line: ``?moves=a1b1+c2c3``, and what else `arena.web.lines` tells."""
    everywhere, problem = request.args.get("all") == "yes", ""
    with reading() as session:
        competition = find_competition(session, name)
        found = None
        try:
            line = read_line(session, competition.variant, request.args)
            found = explore(session, competition, line, everywhere=everywhere)
        except Refusal as error:
            problem = sentence(error)
        page = render_template(
            "explorer.html",
            competition=competition,
            found=found,
            problem=problem,
            chosen=found and _board(found),
            last=found and queries.games_in_order(session, found.last_games),
            ladder=ladder_for(session, competition),
            PLIES=PLIES,
            there=lambda *moves: _address(found, *moves),
            there_from=lambda one: _address(found, start=_words(one.own)),
        )
    return page, REFUSED if problem else 200


def _words(own: Mapping[str, str]) -> list[str]:
    return [f"{key}={its}" for key, its in own.items()]


def _address(found: Explored | None, *moves: str, **more: Any) -> str:
    """The address of a line that goes on by some moves."""
    assert found is not None
    words = found.line.after(*moves) if found.line else {}
    all_ = "yes" if found.everywhere else None
    return url_for("explorer.explored", name=found.competition.name, all=all_, **words, **more)


def _board(found: Explored) -> Clickable | Any:
    """The position, where every click that is all of a move leads on."""
    line = found.line
    if line is None:
        return None
    reached = Reached(line.state)
    if line.state.to_move is None or not reached.ways or not found.is_counted:
        return {"board": position_drawn(line.state, line.last, line.before)}

    def address(way: Clicks) -> str:
        for move in clicks.beginning(reached.ways, way):
            if reached.ways[move] == way:
                return _address(found, move)
        return _address(found, at=list(way))

    clicked = tuple(request.args.getlist("at")[:8])
    seen = illustrate(line.state, last=line.last, before=line.before)
    return boards.clickable(reached, clicked, address, seen=seen)


@pages.get("/games/<int:number>/<int:ply>/explore")
def of_game(number: int, ply: int) -> Any:
    """Leads to the line of a game up to one of its plies."""
    with reading() as session:
        game, _ = find_game(session, number)
        name = game.competition.name
    return redirect(url_for("explorer.explored", name=name, game=number, ply=ply))
