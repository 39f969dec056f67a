"""Playing against bots: choosing them, and a game's page with a board to be clicked."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response, abort, jsonify, redirect, render_template, request, url_for
from flask import session as browser
from markupsafe import Markup
from sqlalchemy.orm import Session

from arena import sittings
from arena.ground.refusals import Refusal
from arena.models import GUEST, JobStatus, Ladder, Scope, Sitting
from arena.recorder.dispatch import wake
from arena.schedule import waits
from arena.sittings import Person, SittingError, Wish
from arena.web import boards, forms, queries, strips
from arena.web.boards import position_drawn
from arena.web.deeds import REFUSED
from arena.web.games import cacheable, position
from arena.web.identity import bearer, current, settings
from arena.web.lines import read_line
from arena.web.lookup import find_ladder, find_sitting, reading, writing
from arena.web.permissions import anybody
from arena.web.words import outcome, own_result, sentence
from engine import clicks, sitting, svg
from engine.clicks import illustrate
from engine.game import IllegalMoveError, Seat, State
from engine.games import GAMES
from engine.record import GameRecord, Ply, other_rules
from engine.scene import Held
from engine.shelf import Missing
from engine.translation import gettext, translated

pages = Blueprint("sittings", __name__)

TOO_LATE = 409
LATEST = 20
"""How many of a person's games are listed."""
SEED_BITS = 48
KINDS_SHOWN = 4
"""Hands of more kinds of pieces are not shown beside their players."""
MATCHES_NAMED = 3
"""How many matches are named for which a bot's move waits."""
AT_ONCE_COOKIE, AT_ONCE_LASTS = "arena-at-once", 365 * 24 * 60 * 60
""""yes" where moves are played without asking; how long that is remembered, in seconds."""


def who_asks() -> Person | None:
    """Whoever looks at a page, if known as somebody who may have games."""
    account = current()
    if account is not None:
        return Person(account.name, user_id=account.id)
    secret = browser.get("guest")
    if secret is None or settings().play != "everybody":
        return None
    return Person(GUEST, guest=hashlib.sha256(str(secret).encode()).hexdigest())


def player() -> Person:
    """Whoever wants to play, if that is allowed; a guest is known by a secret in the browser."""
    account, allowed = current(), settings().play
    if allowed == "nobody":
        abort(
            403,
            gettext("Nobody plays against bots here: whoever runs the arena has switched it off."),
        )
    if account is None:
        if allowed != "everybody":
            abort(401)
        if "guest" not in browser:
            browser["guest"] = secrets.token_hex(16)
            browser.permanent = True
    elif not account.may(Scope.SUBMIT):
        abort(403, gettext("This token has no scope %(scope)s.", scope=Scope.SUBMIT))
    elif account.must_change and bearer() is None:
        abort(redirect(url_for("accounts.password")))
    found = who_asks()
    assert found is not None
    return found


@pages.get("/play")
def listing() -> str:
    """What can be played, and the games of whoever asks."""
    person = who_asks()
    with reading() as session:
        own = sittings.latest(session, person, count=LATEST) if person else []
        ladders = [one for one in queries.ladders(session) if one.takes_bots]
        by_game: dict[str, list[Ladder]] = {}
        for ladder in (one for one in ladders if not isinstance(one.variant, Missing)):
            by_game.setdefault(translated(GAMES[ladder.game].title), []).append(ladder)
        return render_template(
            "sittings.html",
            games=by_game,
            own=[(one, sittings.record_of(one), sittings.own_seats(one)) for one in own],
            allowed=settings().play,
        )


@pages.route("/play/on/<name>", methods=["GET", "POST"])
@anybody
def begin(name: str) -> Any:
    """Chooses seat, opponents and opening, and begins a game."""
    person = player()
    problem, line = "", None
    if request.method == "POST":
        try:
            number = begin_game(person, lambda session: _wish(session, find_ladder(session, name)))
        except Refusal as error:
            problem = sentence(error)
        else:
            return redirect(url_for("sittings.game", number=number), 303)
    with reading() as session:
        ladder = find_ladder(session, name)
        try:
            asked = request.form if request.method == "POST" else request.args
            line = read_line(session, ladder.variant, asked)
        except Refusal as error:
            problem = problem or sentence(error)
        bots = sittings.bots_for(session, ladder, more=request.values.get("bot", ""))
        page = render_template(
            "new_sitting.html",
            ladder=ladder,
            places=sittings.places(ladder.variant),
            line=line,
            place=0 if line is None else line.next_place,
            bots=bots,
            form=secrets.token_hex(16),
            problem=problem,
            workers=queries.living_workers(session, datetime.now(UTC)),
            most_open=settings().open_games,
        )
    return page, REFUSED if problem else 200


def begin_game(person: Person, wish: Callable[[Session], Wish]) -> int:
    """Begins a game, has somebody woken if a bot is to move first, and gives its number.

    Raises:
        SittingError: it can't be begun.
    """
    now, most = datetime.now(UTC), settings().open_games
    with writing() as session:
        made = sittings.begin(session, person, wish(session), now, most_open=most)
        number, due = made.id, made.status is JobStatus.OPEN
    if due:
        wake(settings())
    return number


def any_place(ladder: Ladder) -> int:
    """One of the places that a person can have, drawn by lot."""
    return secrets.randbelow(len(sittings.places(ladder.variant)))


def any_seed() -> int:
    """The seed of a new game."""
    return secrets.randbits(SEED_BITS)


def _wish(session: Session, ladder: Ladder) -> Wish:
    form = request.form
    line = read_line(session, ladder.variant, form)
    places = sittings.places(ladder.variant)
    asked = form.get("place", "")
    place = any_place(ladder) if asked == "random" else forms.named_number(asked, -1)
    return Wish(
        ladder,
        place,
        tuple(forms.named_number(form.get(f"bot{n}", "")) for n in range(1, len(places))),
        form.get("opening") == "random",
        form.get("form", "")[:64] or secrets.token_hex(16),
        any_seed(),
        None if line is None else line.opening,
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """A person's game as a page shows it."""

    sitting: Sitting
    record: GameRecord
    own_seats: list[int]
    mine: bool
    """Whether it is the game of whoever looks."""
    to_move: int | None
    stuck: str
    """Why it can't go on, as its rules are not here any more; empty if it can."""

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.sitting.finished is not None

    @property
    def my_turn(self) -> bool:
        """Whether whoever looks is to move."""
        return self.mine and not self.over and self.to_move in self.own_seats

    @property
    def queues(self) -> bool:
        """Whether a bot's move waits for a worker."""
        return self.sitting.status is JobStatus.OPEN

    @property
    def waits(self) -> bool:
        """Whether the page will change by itself."""
        due = self.sitting.status in (JobStatus.OPEN, JobStatus.ISSUED)
        return due or (not self.over and not self.mine)

    @property
    def answers(self) -> tuple[Ply, ...]:
        """What the others played since the person's last move: heard, where it can't be seen."""
        played = self.record.plies[self.record.opening :]
        own = [number for number, ply in enumerate(played, 1) if ply.seat in self.own_seats]
        return played[max(own, default=0) :]

    @property
    def next_own_seat(self) -> Seat:
        """Which of the person's seats moves next."""
        seats, due = self.record.variant.seats, self.to_move or 0
        return min(self.own_seats, key=lambda seat: (seat - due) % seats)

    def hands(self, state: State) -> dict[Seat, Sequence[Held]]:
        """What each seat holds, where it is of few kinds."""
        held = {seat: clicks.held(state, seat) for seat in range(state.variant.seats)}
        return {seat: hand for seat, hand in held.items() if len(hand) <= KINDS_SHOWN}

    @property
    def words(self) -> str:
        """What came of it, in sentences; empty while it goes on."""
        if not self.over:
            return ""
        if self.sitting.status is JobStatus.VOID:
            return gettext("It was given up, for nobody moved any more.")
        return self._told(self.record)

    @property
    def if_given_up(self) -> str:
        """What would come of it if the person gave it up now, in sentences."""
        return self._told(sittings.given_up(self.sitting, self.record))

    def _told(self, record: GameRecord) -> str:
        if sitting.goes_on(record):
            return gettext("It ended when the person left; the bots did not play on.")
        said = outcome(record, self.own_seats)
        if not self.mine:
            return said
        own = own_result(record.ranks, record.variant.side_of, self.own_seats[0])
        return f"{own} {said}".lstrip()


def _show(session: Session, number: int) -> Shown:
    found = find_sitting(session, number)
    record = sittings.record_of(found)
    person = who_asks()
    stuck = "" if found.finished else other_rules(record)
    return Shown(
        found,
        record,
        sittings.own_seats(found),
        person is not None and person.plays(found),
        None if found.finished or stuck else boards.reached(record).state.to_move,
        stuck,
    )


@pages.get("/play/<int:number>")
@pages.get("/play/<int:number>/<int:ply>")
def game(number: int, ply: int | None = None) -> str:
    """A person's game: a board to be clicked, or, when it is over or at one ply, its replay."""
    return _page(number, ply)


def _page(number: int, ply: int | None = None, problem: str = "") -> str:
    with reading() as session:
        shown = _show(session, number)
        record = shown.record
        at = len(record.plies) if ply is None else ply
        board = None
        at_hand: dict[str, Any] = {"chosen": None, "slots": [], "hands": {}, "if_given_up": ""}
        if shown.to_move is not None and ply is None:
            board, at_hand = _at_hand(shown)
        return render_template(
            "sitting.html",
            shown=shown,
            record=record,
            ladder=shown.sitting.ladder,
            **at_hand,
            board=board or position_drawn(*position(record, at)),
            at_once=_plays_at_once(),
            may_take_back=shown.mine and sittings.may_take_back(shown.sitting, record),
            matches=queries.running_matches(session)[:MATCHES_NAMED] if shown.queues else [],
            busy_with=waits.busy_with(session) if shown.queues else "",
            ply=at,
            replaying=shown.over or ply is not None,
            clocks=sitting.clocks(record),
            points=strips.point_strips(record, at) if shown.over else [],
            times=strips.time_strips(record, at) if shown.over else [],
            values=strips.value_strips(record, at) if shown.over else [],
            problem=problem,
            rematch=_rematch(shown) if shown.over and shown.mine else None,
            workers=queries.living_workers(session, datetime.now(UTC)),
        )


def _plays_at_once() -> bool:
    return request.cookies.get(AT_ONCE_COOKIE) == "yes"


def _at_hand(shown: Shown) -> tuple[Markup, dict[str, Any]]:
    """The board of a game that goes on, and what stands beside it, by the names of the page."""
    found, number = boards.reached(shown.record), shown.sitting.id
    assert shown.to_move is not None
    seen = found.seen(max(1, len(shown.answers)))
    chosen = None
    if shown.my_turn:
        chosen = boards.clickable(
            found,
            tuple(request.args.getlist("at")[:8]),
            lambda way: url_for("sittings.game", number=number, at=list(way)),
            seen=seen,
            at_once=_plays_at_once(),
        )
        board, slots = chosen.board, chosen.tray
    else:
        board = boards.draw(seen)
        slots = boards.waiting_tray(found, shown.next_own_seat)
    return board, {
        "chosen": chosen,
        "slots": slots if shown.mine else [],
        "hands": shown.hands(found.state),
        "if_given_up": shown.if_given_up if shown.mine else "",
    }


@dataclass(frozen=True, slots=True)
class Rematch:
    """The same game once more, with the person at the next place."""

    form: str
    place: int
    bots: list[int | None]
    """The versions that have the other places, by their ids."""
    start: list[str]
    moves: str
    """The moves of the opening."""


def _rematch(shown: Shown) -> Rematch:
    variant = shown.record.variant
    usual, count = shown.sitting.ladder.options, len(sittings.places(variant))
    holders = dict(zip(variant.entrant_of, shown.sitting.seats, strict=True))
    mine = variant.entrant_of[shown.own_seats[0]]
    return Rematch(
        secrets.token_hex(16),
        (mine + 1) % count,
        [holders[place].version_id for place in range(count) if place != mine],
        [f"{key}={its}" for key, its in variant.options.items() if usual.get(key) != its],
        " ".join(shown.record.moves[: shown.record.opening]),
    )


@pages.get("/play/<int:number>/moves")
def moves(number: int) -> Response:
    """The legal moves that begin with some clicks, each with the rest of its clicks."""
    with reading() as session:
        shown = _show(session, number)
    if shown.over or shown.to_move is None:
        return jsonify({})
    known, clicked = boards.reached(shown.record).ways, tuple(request.args.getlist("at")[:8])
    found = clicks.beginning(known, clicked)
    return jsonify({move: known[move][len(clicked) :] for move in found})


@pages.post("/play/<int:number>/move")
@anybody
def move(number: int) -> Any:
    """Plays a move of one's own game."""
    word = request.form.get("move", "").strip()
    return _change(number, lambda found, ply, now: sittings.move(found, word, ply, now))


@pages.post("/play/<int:number>/resign")
@anybody
def resign(number: int) -> Any:
    """Gives one's own game up."""
    return _change(number, sittings.resign)


@pages.post("/play/<int:number>/back")
@anybody
def take_back(number: int) -> Any:
    """Takes the last move of a game back that one plays alone."""
    most = settings().open_games
    return _change(
        number, lambda found, ply, now: sittings.take_back(found, ply, now, most_open=most)
    )


@pages.post("/play/<int:number>/asking")
@anybody
def asking(number: int) -> Any:
    """Chooses whether moves are confirmed before they are played, from now on in this browser."""
    player()
    answer = redirect(url_for("sittings.game", number=number), 303)
    answer.set_cookie(
        AT_ONCE_COOKIE,
        "yes" if request.form.get("at_once") else "no",
        max_age=AT_ONCE_LASTS,
        path="/play",
        secure=request.is_secure,
        httponly=True,
        samesite="Lax",
    )
    return answer


@contextmanager
def own_game(number: int) -> Iterator[Sitting]:
    """A game of whoever asks, to be changed; after that somebody is woken if a bot is to move."""
    person = player()
    with writing() as session:
        found = find_sitting(session, number, to_change=True)
        if not person.plays(found):
            abort(403, gettext("This is somebody else's game."))
        yield found
        due = found.status is JobStatus.OPEN
    if due:
        wake(settings())


def _change(number: int, change: Callable[[Sitting, int, datetime], None]) -> Any:
    """Changes one's own game at the ply that the form is of."""
    ply = forms.named_number(request.form.get("ply", ""), -1)
    try:
        with own_game(number) as found:
            change(found, ply, datetime.now(UTC))
    except IllegalMoveError as error:
        return _page(number, problem=sentence(error)), REFUSED
    except SittingError as error:
        return _page(number, problem=sentence(error)), TOO_LATE
    return redirect(url_for("sittings.game", number=number), 303)


@pages.get("/play/<int:number>/<int:ply>/board")
def board(number: int, ply: int) -> Response:
    """The board at a ply alone, for the replay."""
    with reading() as session:
        shown = _show(session, number)
    return _drawn(shown, ply, position_drawn(*position(shown.record, ply)))


@pages.get("/play/<int:number>/<int:ply>.svg")
def picture(number: int, ply: int) -> Response:
    """A position of the game as SVG."""
    with reading() as session:
        shown = _show(session, number)
    state, last, before = position(shown.record, ply)
    return _drawn(shown, ply, svg.render(illustrate(state, last=last, before=before)))


def _drawn(shown: Shown, ply: int, drawing: str) -> Response:
    """A position; the last one of a game that goes on may change by who leaves it there, and all
    of a game that is played alone by moves taken back.
    """
    answer = Response(drawing, mimetype="image/svg+xml")
    alone = all(seat.version_id is None for seat in shown.sitting.seats)
    stays = shown.over or ply < len(shown.record.plies)
    return cacheable(answer) if stays and not alone else answer


@pages.get("/play/<int:number>.json")
def game_json(number: int) -> Response:
    """The game's record; void while it has no result."""
    with reading() as session:
        return jsonify(_show(session, number).record.to_json())
