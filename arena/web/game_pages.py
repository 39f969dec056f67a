"""The pages of lists of games: the games that a filter wants, what came of them, selections."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

import sqlalchemy as sa
from flask import Blueprint, abort, redirect, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as Answer

from arena.deeds import Done
from arena.ground.refusals import Refusal, WrongField
from arena.lists import counts
from arena.lists.counts import Share
from arena.lists.filters import LONGEST_WORD, WORDS, GameFilter, Order, opening_word
from arena.lists.search import find, known_words
from arena.lists.selection_deeds import KeepSelection, RemoveSelection
from arena.models import (
    Competition,
    GameTag,
    GameValue,
    Ladder,
    PlayedGame,
    Scope,
    SeatResult,
    Selection,
)
from arena.web import charts, picking, queries
from arena.web.api.count_shapes import month_word
from arena.web.api.game_shapes import its_opening
from arena.web.deeds import REFUSED, DeedForm, add_deed, form_of
from arena.web.game_lists import CURSOR, counted_games, cursor, read_cursor, read_filter
from arena.web.identity import current
from arena.web.lookup import reading
from arena.web.words import ending, opening_words, sentence
from engine.game import Termination
from engine.games import GAMES
from engine.protocol import parse_value
from engine.translation import N_, gettext, pgettext, translated

lists = Blueprint("lists", __name__)

PAGE = 50
OFFERED = 50
"""How many ladders, tags and numbers fields offer; others can be typed."""

KeepForm = form_of(KeepSelection)


@lists.get("/games")
def games() -> Any:
    """The games that an address wants, a page at a time."""
    return _games(request.args, None, "")


def _games(asked: Mapping[str, str], form: DeedForm | None, problem: str) -> Any:
    """The list of games.

    Args:
        form: by which the list was to be kept, if that was refused.
        problem: what else was wrong with that.
    """
    place = None
    if text := asked.get("cursor", ""):
        if not re.fullmatch(CURSOR, text):
            abort(404, gettext("There is no such page of games."))
        place = read_cursor(text)
    account = current()
    with reading() as session:
        view, found = _View.of(session, asked), None
        shown: list[PlayedGame] = []
        try:
            found = find(session, view.demanded(), most=PAGE, after=place)
            shown = queries.games_in_order(session, found.games)
        except Refusal as error:
            problem = problem or sentence(error)
        own = [] if account is None else _kept(session, account.id)
        page = render_template(
            "games.html",
            view=view,
            found=found,
            is_first=place is None,
            games=[ListedGame(game, *_opening(game)) for game in shown],
            further=None if found is None else cursor(found.further),
            problem=problem,
            form=_keeping(view, form),
            kept=own,
            offered=_offered(session),
        )
    return page, REFUSED if problem or form is not None else 200


def _keeping(view: _View, form: DeedForm | None) -> DeedForm | None:
    """The form by which a list is kept, for who may and where there is something to keep."""
    account = current()
    if account is None or not account.may(Scope.SUBMIT) or not view.words:
        return None
    return form or KeepForm(formdata=None, data={"filter": urlencode(view.words)})


@lists.get("/games/charts")
def game_charts() -> Any:
    """What came of the newest of the games that an address wants."""
    problem, details = "", dict[str, Any]()
    with reading() as session:
        view = _View.of(session, request.args)
        try:
            details = _details(session, counted_games(view.demanded()))
        except Refusal as error:
            problem = sentence(error)
        page = render_template(
            "game_charts.html", view=view, problem=problem, offered=_offered(session), **details
        )
    return page, REFUSED if problem else 200


@dataclass(frozen=True, slots=True)
class _View:
    """What an address asks for, as its form shows it."""

    words: dict[str, str]
    """The words of its filter, as they were typed where they can't be meant."""
    wanted: GameFilter | None
    refusal: Refusal | None
    competition: Competition | None

    @classmethod
    def of(cls, session: Session, asked: Mapping[str, str]) -> _View:
        typed = {word: asked.get(word, "").strip()[: LONGEST_WORD + 1] for word in WORDS}
        words = {word: text for word, text in typed.items() if text}
        try:
            wanted = read_filter(words)
        except Refusal as refusal:
            return cls(words, None, refusal, None)
        its = sa.select(Competition).where(Competition.named(wanted.competition or ""))
        competition = session.scalar(its) if wanted.competition else None
        return cls(wanted.words, wanted, None, competition)

    def demanded(self) -> GameFilter:
        """The filter that it asks for.

        Raises:
            Refusal: it can't be meant, or is not for who asks.
        """
        if self.wanted is None:
            assert self.refusal is not None
            raise self.refusal
        return self.wanted

    def address(self, endpoint: str = "lists.games", **changes: str | None) -> str:
        """The address of this filter with some words changed."""
        return url_for(endpoint, **{**self.words, **changes})  # type: ignore[arg-type]

    def without(self, word: str) -> str:
        """The address of this filter without a word."""
        rest: dict[str, Any] = {key: text for key, text in self.words.items() if key != word}
        is_charts = request.endpoint == "lists.game_charts"
        return url_for("lists.game_charts" if is_charts else "lists.games", **rest)

    @property
    def chips(self) -> list[tuple[str, str, str]]:
        """Each word that narrows it: what it is called, what it says, the address without it."""
        return [
            (translated(WORDS[word].label), self._shown(word, text), self.without(word))
            for word, text in self.words.items()
            if word != "sort"
        ]

    def _shown(self, word: str, text: str) -> str:
        if self.wanted is not None and word in ("ending", "fault"):
            return ending(Termination(text))
        if word == "line":
            return gettext("as the explorer told")
        return text


@dataclass(frozen=True, slots=True)
class ListedGame:
    """A game of a list, with its opening."""

    game: PlayedGame
    opening: str
    """What the filter calls it."""
    moves: str
    """The moves of the opening in words."""


def _opening(game: PlayedGame) -> tuple[str, str]:
    match = game.match
    words = opening_words(game.competition.variant, match.options, match.opening)
    return opening_word(its_opening(match)), words


def _kept(session: Session, user: int) -> list[Selection]:
    query = sa.select(Selection).where(Selection.owner_id == user).order_by(Selection.name)
    return list(session.scalars(query))


def _offered(session: Session) -> dict[str, Any]:
    """What fields offer to choose from."""
    named = sa.select(Ladder.name).order_by(Ladder.name).limit(OFFERED)
    return {
        "competition": session.scalars(named).all(),
        "bot": picking.offered("bots"),
        "game": sorted(GAMES.singles),
        "tag": known_words(session, GameTag.tag, OFFERED),
        "value": known_words(session, GameValue.key, OFFERED),
        "result": {str(one): translated(one) for one in SeatResult},
        "fault": {str(one): ending(one) for one in Termination if one.is_fault},
        "ending": {str(one): ending(one) for one in Termination if one is not Termination.VOID},
        "sort": [str(one) for one in Order],
    }


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A line of a table of charts."""

    name: str
    share: Share
    address: str
    """Where the games are listed that it is about."""


def _details(session: Session, wanted: GameFilter) -> dict[str, Any]:
    """What the page of charts shows of some games."""
    found = counts.count(session, wanted)
    names = counts.bots_of(session, [one.key for one in found.bots])
    openings = counts.openings_of(session, [one.example for one in found.openings])
    other = "against" if wanted.is_of_seat else "bot"
    one_variant = wanted.competition is not None
    key = request.args.get("chart", "").strip()
    if key and parse_value(f"# {key} 0") is None:
        raise WrongField("chart", gettext("give the key of a number, as in depth"))

    def there(**changes: Any) -> str:
        return url_for("lists.games", **(wanted.words | changes))

    seats = [(one, gettext("seat %(number)s", number=one.key + 1)) for one in found.seats]
    if one_variant and found.games:
        variant = queries.games_in_order(session, [found.all.example])[0].competition.variant
        seats = [(one, translated(variant.seat_names[one.key])) for one in found.seats]
    tables = {
        N_("Seats"): [ChartLine(name, one, there(seat=one.key + 1)) for one, name in seats],
        N_("Opponents") if wanted.is_of_seat else N_("Players"): [
            ChartLine(names[one.key], one, there(**{other: names[one.key]})) for one in found.bots
        ],
        N_("Openings"): [
            ChartLine(
                openings[one.example] or opening_word(one.key),
                one,
                there(opening=opening_word(one.key)),
            )
            for one in found.openings
        ],
        N_("Months"): [
            ChartLine(month_word(one.key), one, there(**_month(one.key))) for one in found.months
        ],
    }
    game, ply = pgettext("games that were played", "game"), gettext("ply")
    return {
        "found": found,
        "tables": {title: lines for title, lines in tables.items() if len(lines) > 1},
        "there": there,
        "is_of_seat": wanted.is_of_seat,
        "key": key,
        "over_games": charts.curve(counts.over_games(session, wanted, key), game) if key else "",
        "over_plies": charts.curve(counts.over_plies(session, wanted, key), ply) if key else "",
    }


def _month(key: int) -> dict[str, str]:
    """The words that want a month alone."""
    year, month = divmod(key, 100)
    last = monthrange(year, month)[1]
    return {"since": f"{year}-{month:02}-01", "until": f"{year}-{month:02}-{last}"}


@lists.get("/selections/<int:number>")
def selection(number: int) -> Answer:
    """Leads to the games that a selection finds now."""
    with reading() as session:
        found = session.get(Selection, number)
        if found is None:
            abort(404, gettext("There is no selection %(number)s.", number=number))
        return redirect(f"{url_for('lists.games')}?{found.words}")


def _there(done: Done, **_: Any) -> str:
    return url_for("lists.selection", number=done.answer.id)


def _again(form: DeedForm, problem: str) -> Any:
    return _games(dict(parse_qsl(form["filter"].data or "")), form, problem)[0]


add_deed(lists, "/games/keep", KeepSelection, then=_there, again=_again)
add_deed(
    lists,
    "/selections/<int:number>/remove",
    RemoveSelection,
    then=lambda _, number: url_for("lists.games"),  # noqa: ARG005
)
