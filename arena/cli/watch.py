"""The command watch: a match while it is played, on its board, here or elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text
from sqlalchemy.orm import Session

from arena.cli import InputError
from arena.cli.client import RemoteArena, Where, on_arena
from arena.cli.data_folder import opened
from arena.cli.keys import is_terminal, pressed
from arena.cli.listing import Output, say
from arena.cli.match_stream import FollowedGame, FollowedMatch, StreamEvent, events, here, there
from arena.cli.reading import told
from arena.cli.terminal_watch import seats_table
from arena.cli.viewer import STEPS, Beside, move_words, position_text, said
from arena.cli.watching import SeatNow
from arena.models import Match
from arena.web.live import NOTHING_PLAYED, best_running
from arena.web.words import sentence
from engine.protocol import visible
from engine.record import Ply
from engine.translation import N_, gettext, translated

LOOK_SECONDS = 0.1
SLOWEST_SECONDS, QUICKEST_SECONDS, CATCH_UP_SECONDS = 0.7, 0.15, 3.0
"""How long a ply stands at most and at least; in what time those that are behind are caught up
with. As on the page of a match (arena/web/static/live.js)."""
FAR, NEAR = 60, 20
"""Nobody follows so many plies, and is brought so near."""
NEXT_SECONDS = 2.0
"""How often it is looked whether there is another match."""
REST_SECONDS = 2.5
"""How long the end of a game stands before the next one."""
HELP = N_("← → step   Home   End follows   q leaves")


@click.command()
@click.argument("number", metavar="MATCH", type=click.IntRange(1), required=False)
@click.option(
    "--best", is_flag=True, help="The one whose players are rated highest, then the next."
)
@on_arena
def watch(number: int | None, best: bool, where: Where) -> None:
    """Watch a match while it is played, ply by ply, on its board.

    MATCH is its number, as on its page. In a terminal keys go back and forth meanwhile; elsewhere
    each ply is printed with its board.

    \b
    Examples:
      arena watch 1207
      arena watch --best --server https://arena.example
    """
    if (number is None) == (not best):
        raise InputError(gettext("give the number of a match, or --best"))
    show = _view if is_terminal() else _print
    if number is not None:
        show(
            _events(where, _there(where, number)),
            gettext("match %(number)s", number=number),
            stays=True,
        )
        return
    wanted = _best(where)
    if wanted is None:
        raise InputError(translated(NOTHING_PLAYED))
    while show(_events(where, wanted), gettext("match %(number)s", number=wanted), stays=False):
        last = wanted
        while (wanted := _best(where)) in (None, last):
            time.sleep(NEXT_SECONDS)


def _there(where: Where, number: int) -> int:
    """The number of a match that is there."""

    def look(session: Session, _: Any) -> int:
        if session.get(Match, number) is None:
            raise InputError(gettext("there is no match %(number)s", number=number))
        return number

    return int(told(where, lambda server: server.get(f"/matches/{number}")["number"], look))


def _best(where: Where) -> int | None:
    """The best match under way; None if there is none."""

    def ask(server: RemoteArena) -> int | None:
        try:
            return int(server.get("/matches/best")["number"])
        except InputError as refusal:
            if refusal.message in (sentence(NOTHING_PLAYED), sentence(translated(NOTHING_PLAYED))):
                return None
            raise

    return told(where, ask, lambda session, _: best_running(session))


def _events(where: Where, number: int) -> Iterator[StreamEvent]:
    server = where.server()
    if server is not None:
        return events(there(server, number))
    with opened(where.data) as (_, settings):
        return events(here(settings, number))


def _print(told_events: Iterator[StreamEvent], name: str, *, stays: bool) -> bool:
    """Prints what happens in a match; says whether somebody may want to see another."""
    match, printed, result = FollowedMatch(), 0, ""
    for event in told_events:
        match.take(event)
        if match.words and event.kind != "plies":
            click.echo(f"{name}: {visible(match.words, but='')}")
        if event.kind == "plies" and match.games:
            game = match.games[-1]
            if event.data["first"] == 0:
                printed, result = 0, ""
                click.echo(visible(f"{name}, {_title(game)}", but=""))
            for ply in range(printed + 1, len(game.plies) + 1):
                click.echo(
                    gettext("ply %(ply)s: %(move)s", ply=ply, move=_move(game, game.plies[ply - 1]))
                )
                say(f"{_board(game, ply).plain}\n")
            printed = len(game.plies)
            if game.result != result:
                result = game.result
                click.echo(f"{visible(game.result, but='')}\n")
    return not stays


def _title(game: FollowedGame) -> str:
    return gettext(
        "game %(number)s of %(games)s: %(name)s",
        number=game.number,
        games=game.games,
        name=game.name,
    )


def _move(game: FollowedGame, ply: Ply) -> str:
    if game.variant is not None:
        return move_words(game.variant, ply)
    return gettext("seat %(number)s", number=ply.seat + 1) + f" {said(ply)}"


def _board(game: FollowedGame, ply: int) -> Text:
    if ply < len(game.states):
        return position_text(game.states[ply], game.plies[ply - 1].move if ply else None)
    name = visible(game.name, but="")
    return Text(
        gettext(
            "%(game)s is not installed here in these rules: its board can't be shown.", game=name
        )
    )


class Watched:
    """What is seen of a match: which ply of which game, and whether it goes on by itself.

    Args:
        name: what the match is called.
    """

    def __init__(self, name: str) -> None:
        self.match = FollowedMatch()
        self.ply = 0
        self.follows = True
        self._name = name
        self._at = 0
        self._since = -math.inf

    @property
    def game(self) -> FollowedGame | None:
        """The play that is looked at."""
        return self.match.games[self._at] if self.match.games else None

    @property
    def is_at_end(self) -> bool:
        """Whether all of the match was seen, and no more will come."""
        game = self.game
        is_seen = game is None or (game is self.match.games[-1] and self.ply == len(game.plies))
        return self.match.is_over and is_seen

    def press(self, key: str) -> None:
        """Goes where a key leads."""
        if key == "end":
            self.follows = True
            self._at = max(0, len(self.match.games) - 1)
            self.ply = len(self.game.plies) if self.game else 0
        elif key in STEPS and self.game:
            self.follows = False
            self.ply = int(min(max(self.ply + STEPS[key], 0), len(self.game.plies)))

    def go_on(self, now: float) -> None:
        """Goes on by itself, the quicker the more there is to come.

        Args:
            now: in seconds, from any moment on.
        """
        if not self.follows or self.game is None:
            return
        behind = len(self.game.plies) - self.ply
        stood = now - self._since
        stands = max(QUICKEST_SECONDS, min(SLOWEST_SECONDS, CATCH_UP_SECONDS / max(1, behind)))
        if behind > 0 and stood >= stands:
            self.ply += behind - NEAR if behind > FAR else 1
            self._since = now
        elif behind == 0 and self._at < len(self.match.games) - 1 and stood >= REST_SECONDS:
            self._at, self.ply, self._since = self._at + 1, 0, now

    def picture(self) -> RenderableType:
        """What the terminal shows."""
        game = self.game
        if game is None:
            stands = self.match.words or gettext("Nothing was told of it yet.")
            return Group(
                Text(visible(f"{self._name}: {stands}", but="")), "", Text(translated(HELP), "dim")
            )
        head = Text(visible(f"{self._name}, {_title(game)}", but=""))
        where = gettext("ply %(ply)s of %(plies)s", ply=self.ply, plies=len(game.plies))
        at_end = self.ply == len(game.plies)
        lines = [where, game.result if at_end else "", self.match.words if self.is_at_end else ""]
        foot = Text(visible("   ".join(filter(None, lines)), but=""))
        seats = seats_table(self._seats(game))
        words: list[RenderableType] = [head, "", seats, "", foot, Text(translated(HELP), "dim")]
        if self.ply < len(game.states):
            last = game.plies[self.ply - 1].move if self.ply else None
            return Beside(game.states[self.ply], last, words)
        return Group(_board(game, self.ply), "", *words)

    def _seats(self, game: FollowedGame) -> list[SeatNow]:
        plies = game.plies[: self.ply]
        lasts = {ply.seat: ply for ply in plies}
        is_head = self.ply == len(game.plies)
        due = game.states[self.ply].to_move if self.ply < len(game.states) else None
        left = game.left if is_head and game.left else [None] * len(game.players)
        return [
            SeatNow(name, player, seat == due, None if ms is None else round(ms), lasts.get(seat))
            for seat, ((name, player), ms) in enumerate(zip(game.players, left, strict=True))
        ]


def _view(told_events: Iterator[StreamEvent], name: str, *, stays: bool) -> bool:
    """Shows a match in the terminal; says whether it was seen to its end, and nobody left.

    Args:
        stays: whether its end stands until somebody leaves.
    """
    heard: SimpleQueue[StreamEvent | BaseException] = SimpleQueue()

    def listen() -> None:
        try:
            for event in told_events:
                heard.put(event)
        except BaseException as error:
            heard.put(error)

    Thread(target=copy_context().run, args=(listen,), daemon=True).start()
    watched, ended = Watched(name), math.inf
    with pressed() as read, Live(console=Output(), screen=True, auto_refresh=False) as live:
        try:
            while True:
                _take(heard, watched.match)
                watched.go_on(now := time.monotonic())
                live.update(watched.picture(), refresh=True)
                if not stays and watched.is_at_end:
                    ended = min(ended, now)
                    if now - ended >= REST_SECONDS:
                        return True
                keys = read(LOOK_SECONDS)
                if "q" in keys:
                    return False
                for key in keys:
                    watched.press(key)
        except KeyboardInterrupt:
            return False


def _take(heard: SimpleQueue[StreamEvent | BaseException], match: FollowedMatch) -> None:
    """Takes in all that was heard since.

    Raises:
        ClickException: what was heard is that nothing can be heard any more.
    """
    while True:
        try:
            one = heard.get_nowait()
        except Empty:
            return
        if isinstance(one, BaseException):
            raise one
        match.take(one)
