"""The pages of ladders: a ladder's board, and what organisers do: make one, change it, close it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

from flask import Blueprint, Response, abort, jsonify, render_template, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WsgiResponse
from wtforms import Field, SelectField, StringField

from arena.bots.bar_deeds import BarBot, UnbarBot
from arena.bots.bars import all_barred
from arena.competitions.dates import dates_of, is_shut, next_dates, seasons_of
from arena.competitions.final_tables import PODIUM, final_table
from arena.competitions.ladder_deeds import ChangeLadder, CreateLadder
from arena.competitions.ladder_settings import CHANGED_TO_THE_LAST, SETTINGS
from arena.competitions.ladders import Ladders
from arena.competitions.round_tables import MOST_ROUNDS, round_table
from arena.deeds import Done
from arena.lists import explorer
from arena.lists.accuracy import is_solved
from arena.lists.explorer import BranchTally, total_of
from arena.lists.lines import root_of
from arena.models import AT_HOME, CompetitionState, Ladder, Scope, TaughtCourse
from arena.web import exports, leaderboards, queries
from arena.web.api.ladder_shapes import FinalLineShape, FinalTableShape
from arena.web.api.round_shapes import CSV, LadderRoundsShape, csv_lines
from arena.web.dates import given_dates
from arena.web.deeds import DeedForm, add_deed, form_of, sent
from arena.web.downloads import Download
from arena.web.forms import NEEDED, later
from arena.web.identity import began, seen_database, settings, signed_in
from arena.web.leaderboards import SORTS, LadderBoard, View
from arena.web.live_parts import Whose, live_part, part
from arena.web.lookup import asked_page, find_ladder, reading
from arena.web.permissions import demand_organiser, needs
from arena.web.traces import of_competition
from arena.web.validators import answer_if_known
from engine.game import Game
from engine.games import GAMES
from engine.translation import N_, gettext, translated

ladders = Blueprint("ladders", __name__)

SHOWN_PLACES = 100
"""So many of a final table stand on the page of its ladder; CSV and JSON have all."""
SHOWN_ROUNDS = 8
"""So many rounds stand there."""
SHOWN_LINES = 100
"""So many bots of the table of rounds stand there; CSV and JSON have all."""
LAST_PAGE = 1_000_000
"""Nobody asks for a later one in earnest."""
LABELS = {
    "title": N_("Title"),
    "note": N_("Note"),
    "visibility": N_("Who sees it"),
    "anonymous": N_("Anonymous"),
    "state": N_("State"),
    "openings": N_("Openings"),
    "draws": N_("Draws"),
    "weight": N_("Share of the workers"),
    "time": N_("Time a game"),
    "move": N_("Time a move"),
    "charge": N_("Clocks count"),
    "machine": N_("Whose milliseconds"),
    "home": N_("Home"),
    "options": N_("Options"),
    "approval": N_("Approval"),
    "each": N_("Bots a person"),
    "active": N_("Active bots a person"),
    "uploads": N_("Versions a person and day"),
    "memory": N_("Memory"),
    "threads": N_("Threads"),
    "processes": N_("Processes"),
    "bundle": N_("Files"),
    "log": N_("Standard error"),
}
"""What the fields of the settings are called."""
SHOWN = "shown-"
"""What the names of fields begin with that say what was there before."""
OPTION = "option-"
"""What the names of a game's options begin with in a form, apart from those of settings."""


@ladders.get("/ladders")
def listing() -> str:
    """All ladders, game by game."""
    with reading() as session:
        found = queries.page_of_ladders(session, asked_page())
        return render_template(
            "ladders.html",
            found=found,
            by_game=[
                (name, translated(GAMES[name].title) if name in GAMES else "", [*its])
                for name, its in groupby(found.items, attrgetter("game"))
            ],
            leaders=leaderboards.leaders(session, found.items),
            next=next_dates(session, found.items),
        )


@ladders.get("/ladders/<name>")
def leaderboard(name: str) -> str:
    """A ladder's board; ``?sort=`` orders it, ``?against=ID`` shows games against one bot."""
    with reading() as session:
        board = leaderboards.board(session, find_ladder(session, name), _view())
        its_dates = dates_of(session, board.ladder)
        return render_template(
            "ladder.html",
            **_of_board(session, board),
            languages=leaderboards.languages(session, board.ladder),
            at_home=AT_HOME,
            is_solved=is_solved(board.ladder.variant),
            dates=its_dates,
            is_course=session.get(TaughtCourse, board.ladder.id) is not None,
            takes_bots=board.ladder.takes_bots and not is_shut(session, board.ladder, began()),
            seasons=seasons_of(session, board.ladder),
            placed=final_table(session, board.ladder, most=SHOWN_PLACES)
            if board.ladder.placed_games is not None
            else [],
            rounds=round_table(session, board.ladder, SHOWN_ROUNDS, most_lines=SHOWN_LINES),
            SHOWN_PLACES=SHOWN_PLACES,
            SHOWN_ROUNDS=SHOWN_ROUNDS,
            PODIUM=PODIUM,
        )


@ladders.get("/ladders/<name>/board")
@live_part(Whose.ALL)
def leaderboard_part(name: str) -> WsgiResponse:
    """The part of that page that changes while games are played."""
    with reading() as session:
        ladder = find_ladder(session, name)

        def make() -> str:
            board = leaderboards.board(session, ladder, _view())
            return render_template("_board.html", **_of_board(session, board))

        return part(session, of_competition(ladder), make)


def _of_board(session: Session, board: LadderBoard) -> dict[str, Any]:
    """What the live part of a ladder's page tells."""
    running, quiet = queries.happening(session, board.ladder, settings(), datetime.now(UTC))
    return {
        "ladder": board.ladder,
        "board": board,
        "sort": board.view.sort,
        "quiet": quiet,
        "running": running,
        "played": results_by_seat(session, board.ladder),
        "latest": queries.latest_games(session, board.ladder, count=12),
        "MOVEMENT_GAMES": leaderboards.MOVEMENT_GAMES,
    }


def results_by_seat(session: Session, ladder: Ladder) -> BranchTally:
    """What came of all games of a ladder that count, seat by seat."""
    root = root_of(ladder.game, ladder.options)
    return total_of(explorer.branches(session, root, ladder.id))


def _view() -> View:
    """The view of a board that an address asks for; what can't be meant is left out."""
    ask = request.args
    sort = ask.get("sort", "rank")
    bot, owner, language = (ask.get(key, "").strip()[:40] for key in ("bot", "owner", "language"))
    return View(
        sort=sort if sort in SORTS else "rank",
        page=min(max(ask.get("page", 1, type=int), 1), LAST_PAGE),
        bot=bot,
        owner=owner,
        language=language,
        picked_id=ask.get("against", type=int),
    )


def _board(session: Session, name: str) -> LadderBoard:
    """The board that an address asks for, as data."""
    view, ladder = replace(_view(), in_a_row=True), find_ladder(session, name)
    answer_if_known(session, of_competition(ladder))
    return leaderboards.board(session, ladder, view)


@ladders.get("/ladders/<name>.json")
def leaderboard_json(name: str) -> Response:
    """A ladder's board as JSON."""
    with reading() as session:
        return jsonify(exports.board_json(_board(session, name)))


@ladders.get("/ladders/<name>.csv")
def leaderboard_csv(name: str) -> Response:
    """A ladder's board as CSV."""
    with reading() as session:
        board = _board(session, name)
        return exports.csv_answer(exports.rows(board), exports.columns(board))


@ladders.get("/ladders/<name>/final.json")
def final_json(name: str) -> Response:
    """The final table of a ladder that is closed, as JSON."""
    with reading() as session:
        return jsonify(_final(session, name).model_dump(mode="json"))


@ladders.get("/ladders/<name>/final.csv")
def final_csv(name: str) -> Response:
    """The final table of a ladder that is closed, as CSV."""
    with reading() as session:
        lines = _final(session, name).bots
    return exports.csv_answer([one.model_dump() for one in lines], FinalLineShape.model_fields)


@ladders.get("/ladders/<name>/rounds.json")
def rounds_json(name: str) -> Response:
    """The rounds of a ladder, and its divisions, as JSON."""
    return _rounds(name, lambda told: told.model_dump_json().encode(), "application/json")


@ladders.get("/ladders/<name>/rounds.csv")
def rounds_csv(name: str) -> Response:
    """The rounds of a ladder as CSV, a line for each bot in each round."""
    return _rounds(
        name,
        lambda told: exports.csv_bytes(csv_lines(told.model_dump(mode="json")), CSV),
        "text/csv",
    )


def _rounds(name: str, written: Callable[[LadderRoundsShape], bytes], media: str) -> Response:
    """The whole table of a ladder's rounds as a file. It may take seconds, as a download does, and
    has a place of one."""
    with reading() as session:
        number = find_ladder(session, name).id
    database = seen_database()

    def parts() -> Iterator[bytes]:
        with database.read() as session:
            table = round_table(session, session.get_one(Ladder, number), MOST_ROUNDS)
            told = LadderRoundsShape.shown(table)
        yield written(told)

    return Response(Download(parts()), mimetype=media)


def _final(session: Session, name: str) -> FinalTableShape:
    return FinalTableShape.read(session, find_ladder(session, name))


def _field(key: str) -> Any:
    """The field of a setting; every rule of it is the setting's own."""
    label, its = later(LABELS[key]), SETTINGS[key]
    if its.choices:
        return SelectField(label, choices=list(its.choices), default=its.default)
    # Milliseconds a move are the default only as long as no time a game is given.
    return StringField(label, default="" if key == "move" else its.default)


class LadderForm(DeedForm):
    """The settings of a ladder but its state; each field has the setting's name."""

    @property
    def chosen(self) -> dict[str, str]:
        """What was typed, by the settings' names; an empty field says nothing."""
        texts = {key: (self[key].data or "").strip() for key in SETTINGS if key in self}
        return {key: text for key, text in texts.items() if text or key in ("title", "note")}

    @property
    def shown(self) -> dict[str, str]:
        """What the fields held when the page was asked for, by the names of those that say it."""
        return {
            f"{SHOWN}{key}": request.form.get(f"{SHOWN}{key}", self[key].object_data or "")
            for key in SETTINGS
            if key in self
        }

    @property
    def changed(self) -> dict[str, str]:
        """What was typed over what was shown, so that nobody undoes what another changed."""
        return {
            key: text
            for key, text in self.chosen.items()
            if text != request.form.get(f"{SHOWN}{key}")
        }


for _key in SETTINGS:
    if _key != "state":
        setattr(LadderForm, _key, _field(_key))


class NewLadderForm(LadderForm):
    """A ladder to be made."""

    name = StringField(later(N_("Name")), [NEEDED], render_kw={"autocomplete": "off"})

    @property
    def options(self) -> list[Field]:
        """The fields of the game's options."""
        return [field for field in self if field.name.startswith(OPTION)]


def _form_of(game: Game) -> type[NewLadderForm]:
    """The form for a ladder of a game, with a field for each of its options."""
    fields = {
        f"{OPTION}{key}": StringField(key.capitalize(), default=option.default)
        for key, option in game.options.items()
    }
    return type("NewLadderForm", (NewLadderForm,), fields)


@ladders.get("/new-ladder")
@needs(Scope.ORGANISE)
def choose_game() -> str:
    """Asks of which game the ladder is to be."""
    return render_template("new_ladder.html", games=GAMES, game=None)


@ladders.route("/new-ladder/<game>", methods=["GET", "POST"])
@needs(Scope.ORGANISE)
def create(game: str) -> Any:
    """Makes a ladder of a game."""
    chosen = GAMES.get(game) or abort(404, gettext("There is no game %(game)s.", game=game))
    form = _form_of(chosen)()

    def page(form: DeedForm, problem: str) -> str:
        return render_template(
            "new_ladder.html",
            games=GAMES,
            game=chosen,
            form=form,
            problem=problem,
            kinds=Ladders.dates,
            SETTINGS=SETTINGS,
        )

    if request.method == "GET":
        return page(form, "")
    options = {
        field.name.removeprefix(OPTION): field.data.strip() for field in form.options if field.data
    }
    settings = {key: text for key, text in form.chosen.items() if text}
    return sent(
        CreateLadder,
        form,
        again=page,
        then=lambda done: _there(done.answer.name),
        game=game,
        options=options,
        settings=settings,
        dates=given_dates(),
    )


def _there(name: str) -> str:
    return url_for("ladders.leaderboard", name=name)


@ladders.route("/ladders/<name>/settings", methods=["GET", "POST"])
@needs(Scope.ORGANISE, of_one=True)
def change(name: str) -> Any:
    """Changes what of a ladder may be changed."""
    ladder, form = _form(name)
    if request.method == "GET":
        return _page(ladder, form, "")
    return _sent(ladder, form, form.changed)


@ladders.post("/ladders/<name>/state")
@needs(Scope.ORGANISE, of_one=True)
def change_state(name: str) -> Any:
    """Opens, pauses, freezes or closes a ladder."""
    ladder, form = _form(name, formdata=None)
    state = request.form.get("state", "")
    return _sent(ladder, form, {"state": state})


BarForm = form_of(
    BarBot,
    # The form of settings, on the same page, has a field for a note, too.
    note=StringField(
        later(N_("Why, for its owners")), id="why", render_kw={"required": True, "maxlength": 2000}
    ),
)


def _bar_again(name: str, form: DeedForm, problem: str) -> str:
    """The page with what is wrong about taking a bot off."""
    ladder, settings = _form(name, formdata=None)
    return _page(ladder, settings, problem, form)


def _changed(_: Done, name: str) -> str:
    return url_for("ladders.change", name=name)


add_deed(ladders, "/ladders/<name>/bar", BarBot, then=_changed, again=_bar_again, form=BarForm)
add_deed(ladders, "/ladders/<name>/unbar", UnbarBot, then=_changed)


def _form(name: str, **how: Any) -> tuple[Ladder, LadderForm]:
    """A ladder, and the form of what can be changed about it."""
    with reading() as session:
        found = find_ladder(session, name)
        demand_organiser(found)
    form = LadderForm(data={key: its.show(found) for key, its in SETTINGS.items()}, **how)
    for key in (*stays(found), *_of_site(found)):
        del form[key]
    return found, form


def _sent(ladder: Ladder, form: LadderForm, settings: Mapping[str, str]) -> Any:
    return sent(
        ChangeLadder,
        form,
        again=partial(_page, ladder),
        then=lambda _: _there(ladder.name),
        name=ladder.name,
        settings=settings,
    )


def stays(ladder: Ladder) -> list[str]:
    """The settings of a ladder that can't be changed any more."""
    if ladder.state is CompetitionState.CLOSED:
        return [key for key in SETTINGS if key not in (*CHANGED_TO_THE_LAST, "state")]
    return [key for key, its in SETTINGS.items() if its.stays and ladder.matches_made]


def _of_site(ladder: Ladder) -> list[str]:
    """The settings that could be changed, but not by who organises this ladder alone."""
    if signed_in().may(Scope.ORGANISE):
        return []
    return [key for key, its in SETTINGS.items() if its.of_site and key not in stays(ladder)]


def _page(ladder: Ladder, form: DeedForm, problem: str, bar: DeedForm | None = None) -> str:
    with reading() as session:
        off = all_barred(session, ladder)
    return render_template(
        "change_ladder.html",
        ladder=ladder,
        form=form,
        bar=bar or BarForm(formdata=None),
        off=off,
        problem=problem,
        fixed={key: SETTINGS[key] for key in stays(ladder)},
        of_site={key: SETTINGS[key] for key in _of_site(ladder)},
        LABELS=LABELS,
        SETTINGS=SETTINGS,
    )
