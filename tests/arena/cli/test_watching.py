"""Games of `arena play` that are watched: in the terminal, as text, by other threads."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from threading import Event

import pytest
from rich.console import Console

from arena.cli.browser_watch import fragment
from arena.cli.interrupts import AbandonedError
from arena.cli.terminal_watch import picture
from arena.cli.viewer import Beside
from arena.cli.watching import GameNow, RunningGames
from engine.clock import TimeControl
from engine.games import GAMES
from engine.match import MatchSpec, play_match
from engine.record import Ply
from engine.referee import Watch
from tests.arena.cli.conftest import DICE, assert_refused
from tests.arena.cli.pressing import press
from tests.arena.conftest import Cli
from tests.arena.simulator import LotPlayer

SPEC = MatchSpec(GAMES["clobber"].variant(size="4x3"), ("one", "two"), TimeControl(60_000))
PLAY = ("clobber", "size=4x4", DICE, DICE, "--no-box", "--move", "20000")


def nothing(*_: object) -> None:
    """Is called, and that is all."""


def test_a_game_is_watched_at_a_terminal() -> None:
    """Its board and who is at it; whoever leaves has the screen back, and the games go on."""
    code, rest = press(
        ["play", "--watch", *PLAY, "--games", "2"],
        [
            (b"", "match 1, game 1 of 2, ply"),
            (b"", "0 of 2 games played"),
            (b"+\x1b[C", "last move"),  # which it hurries, and there is no other game
            (b"q", "\x1b[?1049l"),
        ],
    )
    assert code == 0
    assert re.search(r"2 games in .* s, .* games a second\s+digest", rest)


def test_a_game_is_watched_as_text(cli: Cli) -> None:
    """Where there is no terminal: every ply with its board, one game after the other."""
    said = cli("play", *PLAY, "--games", "2", "--watch", "--concurrency", "2")
    assert said.code == 0
    headings = re.findall(r"^clobber size=4x4: match 1, game (\d) of 2$", said.out, re.MULTILINE)
    plies = [int(ply) for ply in re.findall(r"^ply (\d+): (?:White|Black)", said.out, re.MULTILINE)]
    assert headings == sorted(headings)
    assert set(headings) == {"1", "2"}
    start = plies.index(plies[0], 1)
    assert plies == [*range(plies[0], plies[0] + start), *range(plies[0], plies[-1] + 1)]
    assert said.out.count("  a b c d") == len(plies)


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ((*PLAY, "--watch", "--json"), "--watch takes the terminal: leave out --trace, --log"),
        ((*PLAY, "--watch", "terminal", "--trace"), "--watch takes the terminal"),
        (("--replay", "x.jsonl", DICE, "--watch"), "--watch does not go with --replay"),
        ((*PLAY, "--watch=tv"), "'tv' is not one of 'terminal', 'browser'"),
    ],
)
def test_what_cannot_be_watched_is_refused(cli: Cli, words: tuple[str, ...], refusal: str) -> None:
    """Before anything is played."""
    assert_refused(cli("play", *words), f".*{re.escape(refusal)}")


def test_one_of_the_running_games_is_shown() -> None:
    """The first that was begun, until another is chosen or it ends; at the end the last one."""
    games = RunningGames(pause_seconds=0)
    state = SPEC.variant.initial()
    move = Ply(0, state.legal_moves()[0])

    def shown() -> tuple[int, int] | None:
        now = games.shown
        return now and (now.match, now.game)

    with ExitStack() as first, ExitStack() as second:
        one = first.enter_context(games.match(SPEC, nothing))
        two = second.enter_context(games.match(SPEC, nothing))
        assert shown() is None
        two(0)(state, [move])
        assert shown() is None
        one(1)(state, [move])
        assert shown() == (1, 1)
        games.choose(1)
        assert shown() == (2, 0)
        games.choose(1)
        assert shown() == (1, 1)
        first.close()
        assert shown() == (2, 0)
        two(1)(state, [move])
        second.close()
        assert shown() == (2, 1)
    games.choose(1)
    assert shown() == (2, 1)


def test_only_the_shown_game_waits_and_only_for_who_watches() -> None:
    """Once the last has left nobody waits; what is broken off while it waits does so at once."""
    games = RunningGames(pause_seconds=60)
    state = SPEC.variant.initial()
    moves = [Ply(0, state.legal_moves()[0])]
    over = Event()

    def check(*_: object) -> None:
        if over.is_set():
            raise AbandonedError

    def tell(watch: Callable[[int], Watch], pool: ThreadPoolExecutor) -> Future[None]:
        before = games.version
        telling = pool.submit(watch(0), state, moves)
        with games.changed:
            assert games.changed.wait_for(lambda: games.version > before, 10)
        return telling

    with ThreadPoolExecutor() as pool, games.match(SPEC, check) as one:
        with games.match(SPEC, check) as two:
            two(0)(state, moves)
        for _ in range(2):
            games.come()
        waiting = tell(one, pool)
        games.leave()
        with pytest.raises(TimeoutError):
            waiting.result(0.3)
        games.leave()
        waiting.result(10)
        games.come()
        waiting = tell(one, pool)
        over.set()
        with pytest.raises(AbandonedError):
            waiting.result(10)


def games_now(spec: MatchSpec) -> list[GameNow]:
    """All that is told of a match that is played by lot."""
    found: list[GameNow] = []
    games = RunningGames(0, found.append)
    with games.match(spec, nothing) as watch:
        play_match(spec, lambda _: LotPlayer(), watch=watch)
    return found


def test_a_running_game_tells_who_sits_where() -> None:
    """With the clocks and last moves; nothing that a bot says commands the terminal."""
    found = games_now(SPEC)
    assert {now.game for now in found} == {0, 1}
    for now in found:
        players = [seat.player for seat in now.seats]
        assert players == (["one", "two"] if now.game == 0 else ["two", "one"])
        assert [seat.is_due for seat in now.seats].count(True) == (now.state.to_move is not None)
        assert now.seats[now.plies[-1].seat].last == now.plies[-1]
        assert all(0 < (seat.left_ms or 0) <= 60_000 for seat in now.seats)
        # A stone went to its neighbour's place, as the page of a match draws it.
        assert ('class="arrow"' in fragment(now)) == (now.before is not None)
    assert [now.before for now in found].count(None) == 2  # games
    *plies, last = found[-1].plies
    hostile = replace(found[-1], plies=(*plies, last._replace(text="\x1b[2J [red]so[/]")))
    console = Console(width=100)
    with console.capture() as told:
        console.print(picture(hostile))
    assert r"\x1b[2J [red]so[/]" in told.get()


@pytest.mark.parametrize("width", [80, 40])
def test_words_stand_beside_a_board_where_there_is_room(width: int) -> None:
    """A terminal of 80 columns by 24 lines has it, even of the largest board, with all words."""
    variant = GAMES["blokus"].variant()
    state = variant.initial()
    console = Console(width=width, color_system=None)
    with console.capture() as told:
        console.print(Beside(state, None, ["what it is", "", "who plays"]))
    lines = told.get().splitlines()
    assert all(len(line) <= width for line in lines)
    beside = next(line for line in lines if "what it is" in line)
    assert ("·" in beside) == (width == 80)
    # The board has 20 rows and the letters of its files.
    assert (len(lines) <= 24) == (width == 80)
