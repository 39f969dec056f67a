"""How fast each game plays: random games by text and by codes, a referee's moves, openings.

Where open-spiel is installed its Clobber, which is C++, plays in the same rounds, driven from
Python as ours is: list the moves, choose one, play it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from itertools import count, cycle
from random import Random
from statistics import median
from time import process_time

from engine.game import State, Variant
from engine.games import GAMES
from engine.openings import opening
from tests.benchmarks.table import Table

ROUNDS = 5
SMOKE_SECONDS = 0.01
"""The time for each job below which there is one round, and a referee is asked of one game."""
REFEREED = 20
"""Games of which a referee is asked, move by move."""
Job = Callable[[], int]


def run(seconds: float) -> Table:
    """A row for each variant that is offered, measured for about so many seconds in all."""
    jobs: dict[tuple[str, str], Job] = {}
    variants = [variant for game in GAMES.singles.values() for variant in game.offered]
    refereed = REFEREED if seconds >= SMOKE_SECONDS * len(variants) else 1
    for variant in variants:
        jobs[str(variant), "text"] = text_playout(variant)
        jobs[str(variant), "fast"] = fast_playout(variant)
        jobs[str(variant), "moves"] = checked_moves(variant, refereed)
        if variant.opening_plies:
            jobs[str(variant), "openings"] = new_openings(variant)
    if find_spec("pyspiel"):
        for size in ("6x7", "8x8"):
            jobs[f"open-spiel clobber size={size}", "text"] = open_spiel_playout(size)
    measured = rates(jobs, seconds / len(jobs))
    rows = []
    for name in dict.fromkeys(name for name, _ in jobs):
        text, fast, moves, openings = (
            measured.get((name, kind)) for kind in ("text", "fast", "moves", "openings")
        )
        rows.append(
            [
                name,
                f"{text:,.0f}" if text else "-",
                f"{fast:,.0f}" if fast else "-",
                f"{1e6 / moves:.2f}" if moves else "-",
                f"{1e3 / openings:.1f}" if openings else "-",
            ]
        )
    return Table(
        "Games (one core)",
        [
            "variant",
            "playouts/s by text",
            "playouts/s, fast path",
            "is_legal + play, µs",
            "an opening, ms",
        ],
        rows,
    )


def rates(jobs: Mapping[tuple[str, str], Job], seconds: float) -> dict[tuple[str, str], float]:
    """How much each job does in a second of CPU time; a job does some work and says how much.

    All take turns in several rounds, so that a busy moment of the machine slows all of them,
    and of each the middle round counts.
    """
    found: dict[tuple[str, str], list[float]] = {key: [] for key in jobs}
    rounds = ROUNDS if seconds >= SMOKE_SECONDS else 1
    for _ in range(rounds):
        for key, job in jobs.items():
            done, start = 0, process_time()
            while (spent := process_time() - start) < seconds / rounds or not done:
                done += job()
            found[key].append(done / spent)
    return {key: median(values) for key, values in found.items()}


def text_playout(variant: Variant) -> Job:
    """One game of random moves through `legal_moves` and `play`."""
    random = Random(1)

    def play() -> int:
        state = variant.initial()
        while moves := state.legal_moves():
            state = state.play(moves[int(random.random() * len(moves))])
        return 1

    return play


def fast_playout(variant: Variant) -> Job:
    """One game of random moves through `playout`."""
    random = Random(1)
    start = variant.initial()

    def play() -> int:
        start.playout(random)
        return 1

    return play


def checked_moves(variant: Variant, games: int) -> Job:
    """One whole random game of so many; `is_legal` is asked of each move, as by a referee.

    Each position comes fresh from the move before, so that nothing is remembered from one game
    to the next.
    """
    turns = cycle([random_game(variant, Random(seed)) for seed in range(games)])

    def play() -> int:
        state, moves = next(turns)
        for move in moves:
            state.is_legal(move)
            state = state.play(move)
        return len(moves)

    return play


def random_game(variant: Variant, random: Random) -> tuple[State, list[str]]:
    """The first position of a game, and the moves that end it."""
    start = state = variant.initial()
    moves = []
    while codes := state.codes():
        code = codes[int(random.random() * len(codes))]
        moves.append(state.word(code))
        state = state.play_code(code)
    return start, moves


def new_openings(variant: Variant) -> Job:
    """One opening, the first of a series that no other has."""
    seeds = count()

    def make() -> int:
        opening(variant, next(seeds))
        return 1

    return make


def open_spiel_playout(size: str) -> Job:
    """One game of random moves of OpenSpiel's Clobber."""
    columns, rows = size.split("x")
    game = import_module("pyspiel").load_game(f"clobber(rows={rows},columns={columns})")
    random = Random(1)

    def play() -> int:
        state = game.new_initial_state()
        while not state.is_terminal():
            moves = state.legal_actions()
            state.apply_action(moves[int(random.random() * len(moves))])
        return 1

    return play
