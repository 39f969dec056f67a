"""The sample bots: they play every game they are entered in without a fault, and keep their rank.

Bots that are told a number of nodes look at no clock, so these games are the same on every
machine, however busy it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, islice

import pytest

from engine.clock import TimeControl
from engine.game import State, Variant
from engine.games import GAMES, find_variant
from engine.match import entrants_needed, points, race_ranks
from engine.process import BotProcess
from tests.sample_bots.play import (
    BOTS,
    SAMPLES,
    ask,
    play,
    random_moves,
    sample,
    samples_of,
    start,
    talk,
)

PLIES = 24
"""How many plies at the end of a longer game are played by the bots."""
FEW_NODES = {
    "mcts": "3",
    "alphabeta": "40",
    "clobber-expert": "20",
    "mijnlieff-expert": "20",
    "clobber-cpp": "20",
    "blokus-cpp": "5",
    "oxono-cpp": "500",
    "siege-cpp": "300",
}
"""How little the searching bots do where strength is no matter."""
NAMES = [entry["name"] for entry in SAMPLES]


@pytest.mark.parametrize("game", GAMES.singles)
def test_five_samples_for_every_game(game: str) -> None:
    """Every ladder has somebody to play."""
    assert len(samples_of(game)) >= 5


def test_the_table_is_sound() -> None:
    """Every name is given once, every file exists, and every note is one short line."""
    assert len(set(NAMES)) == len(NAMES)
    for entry in SAMPLES:
        assert (BOTS / entry["file"]).is_file()
        assert 0 < len(entry["note"]) < 100
        assert "\n" not in entry["note"]


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES.singles)
def test_samples_play_to_the_end_without_a_fault(game: str) -> None:
    """Every sample sits in some seat of a game that it is entered in."""
    variant = GAMES[game].offered[0]
    moves = random_moves(variant.drawn(1), 1)
    opening = moves[: max(0, len(moves) - PLIES)] if variant.seats > 1 else []
    seats = entrants_needed(variant)
    waiting = samples_of(game)
    while waiting:
        names, waiting = waiting[:seats], waiting[seats:]
        names = list(islice(cycle(names), seats))
        chosen = [{"nodes": FEW_NODES[name]} if name in FEW_NODES else {} for name in names]
        bots = [sample(name) for name in names]
        record = play(variant, bots, seed=1, opening=opening, chosen=chosen)[0]
        assert record.faults == ()
        assert len(record.plies) > len(opening)


@pytest.fixture(scope="module", params=["mcts", "alphabeta"])
def searcher(request: pytest.FixtureRequest) -> Iterator[BotProcess]:
    """A searching bot whose one process plays game after game."""
    bot = start(sample(request.param))
    yield bot
    bot.close()


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES.singles)
def test_searches_keep_within_a_short_time(searcher: BotProcess, game: str) -> None:
    """A tenth of a second a move is kept from the first move on, however many there are."""
    choice = ask(searcher, GAMES[game].offered[0].drawn(1), [], TimeControl(move_ms=100))
    assert choice.cpu_us <= 100_000


def test_greedy_is_quick_on_a_large_board() -> None:
    """Among the most moves that a game but a puzzle has: no search, so no more than a moment."""
    bot = start(sample("greedy"))
    variant = GAMES["mijnlieff"].variant(size="8x8")
    choice = ask(bot, variant, ["d4<>"], TimeControl(move_ms=1000))
    bot.close()
    assert choice.cpu_us <= 30_000


def test_searches_keep_within_a_short_time_late_in_a_long_game(searcher: BotProcess) -> None:
    """Taking in the moves so far is part of a move's time."""
    variant = GAMES["siege"].offered[0]
    moves = random_moves(variant, 1)[:-1]
    assert len(moves) > 200
    choice = ask(searcher, variant, moves, TimeControl(move_ms=100))
    assert choice.cpu_us <= 100_000


@pytest.mark.parametrize(
    "time",
    [
        TimeControl(time_ms=5_000, inc_ms=100),
        TimeControl(time_ms=300),
        TimeControl(time_ms=20, inc_ms=5),
        TimeControl(move_ms=10),
        TimeControl(time_ms=5_000, charge="wall"),
    ],
    ids=lambda time: time.words,
)
def test_searches_share_out_their_clock(searcher: BotProcess, time: TimeControl) -> None:
    """However little time there is, a move comes in it; of a clock no more than a tenth is used."""
    choice = ask(searcher, GAMES["clobber"].variant(), [], time)
    if time.time_ms is not None:
        used_us = choice.wall_us if time.charge == "wall" else choice.cpu_us
        assert used_us <= 1000 * max(10, time.time_ms / 10)


@pytest.mark.long
@pytest.mark.parametrize(
    ("game", "stronger", "weaker", "matches"),
    [
        ("clobber size=5x6", "greedy", "random", 6),
        ("blocco size=4x4", "greedy", "random", 10),
        ("blokus mode=duel", "greedy", "random", 1),
        ("blokus mode=duel", "alphabeta 1000", "greedy", 1),
        ("blokus mode=duel", "mcts 20", "greedy", 1),
        ("puzzle task=full", "greedy", "random", 1),
        ("puzzle task=tetrominoes", "greedy", "random", 3),
        ("oxono", "greedy", "random", 3),
        ("oxoxo", "greedy", "random", 3),
        ("siege seats=2", "greedy", "random", 2),
        ("mijnlieff", "greedy", "random", 4),
        ("mijnlieff size=8x8", "greedy", "random", 2),
        ("clobber size=5x6", "mcts 600", "greedy", 3),
        ("clobber size=5x6", "alphabeta 2000", "random", 2),
        ("siege seats=2", "alphabeta 100", "greedy", 1),
        ("siege seats=2", "mcts 30", "random", 1),
        ("mijnlieff", "alphabeta 1000", "random", 3),
        ("oxono", "alphabeta 1000", "random", 2),
        ("clobber", "clobber-expert 200", "mcts 100", 3),
        ("mijnlieff", "mijnlieff-expert 200", "mcts 100", 4),
        ("clobber", "clobber-cpp 3000", "mcts 100", 2),
        ("blokus mode=duel", "blokus-cpp 100", "greedy", 1),
        ("oxono", "oxono-cpp 20000", "alphabeta 1000", 2),
        ("siege seats=2", "siege-cpp 3000", "alphabeta 100", 1),
        ("puzzle task=full", "solver", "greedy", 1),
    ],
)
def test_the_order_of_strength(game: str, stronger: str, weaker: str, matches: int) -> None:
    """Who looks further wins: three fifths of the points of a few matches at least."""
    name, *options = game.split()
    variant = find_variant(name, options)
    assert share(variant, stronger, weaker, matches) > 0.6


def share(variant: Variant, first: str, second: str, matches: int) -> float:
    """The share of the points that one bot takes from another, 0 to 1.

    Args:
        first: its name, and behind it the number of its nodes if it searches.
        second: the other one's.
    """
    total = 0.0
    words = [bot.split() for bot in (first, second)]
    bots = [sample(name) for name, *_ in words]
    chosen = [dict(zip(["nodes"], nodes, strict=False)) for _, *nodes in words]
    for number in range(matches):
        opening = random_moves(variant.drawn(number), number)[:2] if variant.seats > 1 else []
        games = play(variant, bots, seed=number, opening=opening, chosen=chosen)
        if variant.seats == 1:
            total += {(1, 2): 1.0, (2, 1): 0.0}.get(race_ranks(games), 0.5)
        else:
            total += sum(points(variant, game.ranks)[seat] for seat, game in enumerate(games)) / 2
    return total / matches


TALKS = {
    "clobber": (("size=3x2", "b1c1"), ("size=2x2", "")),
    "blokus": (("mode=duel corners=free", "blue:a1"), ("corners=fixed mode=classic", "")),
    "oxono": (("totems=xc4", "Xb4b3"), ("totems=xd3", "")),
    "siege": (
        ("seats=2 setup=free soldiers=2 retreat=no protection=any demand=yes", "=GSSSSSSC"),
        ("demand=no protection=able retreat=yes soldiers=3 setup=fixed seats=3", ""),
    ),
    "mijnlieff": (
        ("size=4x4 shape=square first=any", "b2+"),
        ("first=edge shape=ell size=4x4", ""),
    ),
    "puzzle": (("task=tetrominoes hard=no", ""), ("hard=yes task=tetrominoes", "")),
}
"""Two variants of some games, each with the moves that a bot is told of before its own."""


def conversation(game: str) -> tuple[str, list[Sequence[str]]]:
    """The beginnings of two games in one process, and the moves that are legal in each."""
    lines, legal = ["hello 1"], []
    keys = ("move=60 seed=7 weather=fine", "inc=10 seed=8 time=1000 clock=wall")
    for (options, opening), more in zip(TALKS[game], keys, strict=True):
        state: State = find_variant(game, options.split()).initial()
        for move in opening.split():
            state = state.play(move)
        plies = len(opening.split())
        legal.append(state.legal_moves())
        moves = " ".join(f"1:{move}" for move in opening.split())
        seats = state.variant.seats
        ones = ",".join("1" * seats)
        lines += [
            f"newgame {game} {options} you={plies + 1} seats={seats} {more}",
            f"state {state.text()}",
            f"legal {' '.join(legal[-1])}",
            f"go {plies} clocks={','.join(['60'] * seats)} mood=good moves {moves}",
            f"end ranks={ones} scores={ones} cause=normal mood=better",
        ]
    return "\n".join([*lines, "quit\n"]), legal


@pytest.mark.long
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("name", NAMES)
def test_samples_take_what_the_protocol_allows(name: str, end: str) -> None:
    """Unknown keys, keys in any order, two games in one process, and an end in order."""
    game = next(game for game in TALKS if name in samples_of(game))
    text, legal = conversation(game)
    lines, errors = talk(sample(name), text.replace("\n", end))
    ready, *replies = [line.split() for line in lines if not line.startswith("#")]
    assert ready[:2] == ["ready", name]
    assert [reply[0] for reply in replies] == ["ok", "move", "ok", "move"]
    for reply, moves in zip(replies[1::2], legal, strict=True):
        assert reply[1] in moves
    assert errors == ""
