"""OpenSpiel's games: whole random games of each by text, and playouts a second."""

from __future__ import annotations

from random import Random
from statistics import mean
from time import process_time

from engine.game import Variant
from engine.games import GAMES
from tests.benchmarks.table import Table

COLUMNS = ("game", "random games", "plies, mean", "most", "list + play, µs", "playouts/s")


def run(seconds: float) -> Table:
    """A row for each game, each tried for its share of so many seconds of CPU time."""
    names = [name for name in GAMES if name.startswith("openspiel:")]
    rows = [measured(GAMES[name].variant(), seconds / len(names) / 2) for name in names]
    # Without OpenSpiel there is nothing to measure, and that is said.
    return Table("OpenSpiel's games (one core)", COLUMNS, rows or [["not installed", *"-----"]])


def measured(variant: Variant, seconds: float) -> list[object]:
    """Whole games of random moves by text for so long, and playouts for as long."""
    lengths: list[int] = []
    start = process_time()
    while not lengths or process_time() - start < seconds:
        lengths.append(whole_game(variant, Random(len(lengths))))
    ply_us = 1e6 * (process_time() - start) / sum(lengths)
    playouts, start = 0, process_time()
    while not playouts or process_time() - start < seconds:
        variant.initial().playout(Random(playouts))
        playouts += 1
    rate = playouts / (process_time() - start)
    return [
        variant.game,
        f"{len(lengths):,}",
        f"{mean(lengths):.0f}",
        max(lengths),
        f"{ply_us:.0f}",
        f"{rate:,.3g}" if rate < 1000 else f"{rate:,.0f}",
    ]


def whole_game(variant: Variant, random: Random) -> int:
    """Plays a game to its end, its moves listed and judged as words; how many plies it had."""
    state, plies = variant.initial(), 0
    while moves := state.legal_moves():
        state = state.play(moves[int(random.random() * len(moves))])
        plies += 1
    return plies
