"""A whole round of matches between seeded bots comes out the same, to the last bit, always.

The digest stands for the rules, the openings, the seeds, the protocol and the form of records
together. A change of any of them changes it, and is to be committed with the new one.
"""

import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, islice

import pytest

from engine.clock import TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.match import MatchResult, MatchSpec, play_match
from engine.openings import openings
from engine.process import BotProcess
from engine.program import PlainProgram
from engine.record import replay
from engine.seeds import derive
from tests.engine.players import BOTS

DICE = [sys.executable, "-I", "-S", str(BOTS / "dice.py")]
ENTRANTS = {
    "dice": DICE,
    "flawed": [*DICE, "6"],
    "first": ["sh", str(BOTS / "first.sh")],
    "other dice": DICE,
}
PLENTY = TimeControl(move_ms=20_000)

GOLDEN = "a4894b3889e1afbe3ce1379bb63206ae1ddb4387cef7d29d5b8fa4c140f9c449"


def schedule() -> list[MatchSpec]:
    """Clobber, all against all from two openings; then Blokus, all four from one."""
    clobber = GAMES["clobber"].variant(size="5x6")
    blokus = GAMES["blokus"].variant(mode="classic", corners="fixed")
    starts = [(clobber, pair, 2) for pair in combinations(ENTRANTS, 2)]
    starts.append((blokus, tuple(ENTRANTS), 1))
    return [
        MatchSpec(opening.variant, names, PLENTY, opening.moves, derive(1, number, index))
        for number, (variant, names, count) in enumerate(starts)
        for index, opening in enumerate(islice(openings(variant, derive(1, number)), count))
    ]


def play(spec: MatchSpec) -> MatchResult:
    """A match of real processes."""
    commands = [ENTRANTS[name] for name in spec.entrants]
    return play_match(spec, lambda entrant: BotProcess(lambda: PlainProgram(commands[entrant])))


@pytest.mark.parametrize("concurrency", [1, 2])
def test_the_golden_run(concurrency, no_leaks):
    """However many matches are played at the same time."""
    with ThreadPoolExecutor(concurrency) as pool:
        results = list(pool.map(play, schedule()))
    records = [record for result in results for record in result.games]
    assert len(records) == 6 * 2 * 2 + 4
    for record in records:
        assert replay(record).ranks() == record.ranks
        assert all(fault.termination == Termination.ILLEGAL for fault in record.faults)
    digest = hashlib.sha256("\n".join(record.digest() for record in records).encode()).hexdigest()
    print(f"golden digest: {digest}")
    assert digest == GOLDEN
