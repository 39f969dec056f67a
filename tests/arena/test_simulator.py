"""Random schedules of an arena in which everything goes wrong (see tests/arena/simulator.py).

`make test-long` runs a few, `make simulate` runs thousands.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import pytest

from arena.ground.db import Database
from arena.schedule.occurrences import SILENT, UNTAKEN
from tests.arena.simulator import CALM, Simulation, Villainy, empty
from tests.conftest import DATABASES

# On a busy machine; what they wait for is themselves alone.
pytestmark = pytest.mark.timeout(600)

VARIANTS = [("clobber", {"size": "4x4"}), ("clobber", {"size": "4x3"})]
CRUEL = Villainy(
    worker_dies=0.3,
    message_lost=0.15,
    message_doubled=0.3,
    recorder_killed=0.15,
    job_void=0.2,
    report_forged=0.2,
    recorder_busy=0.5,
    slow=0.3,
    late=0.3,
)
LONG = replace(CALM, slow=0.15)
"""Nothing goes wrong, and some matches take longer than a lease."""
SCHEDULES = int(os.environ.get("SCHEDULES", "6"))
"""How many schedules the first test below tries that takes a part of them."""
CRUEL_SCHEDULES = SCHEDULES * 2 // 3
"""How many schedules have so much go wrong that fewer show it."""


def in_parts(schedules: int, parts: int = 2) -> pytest.MarkDecorator:
    """Half of the seeds on each database: the schedule of a seed is the same on both.

    Args:
        parts: how many tests they are, each of which is to show what goes wrong.
    """
    parts = min(parts, schedules)
    each = [(DATABASES[part % 2], range(part, schedules, parts)) for part in range(parts)]
    return pytest.mark.parametrize(
        ("database", "seeds"),
        each,
        indirect=["database"],
        ids=[f"{database}-{part // 2}" for part, (database, _) in enumerate(each)],
    )


def simulate(
    database: Database,
    seed: int,
    villainy: Villainy,
    *,
    seconds: float,
    quick: bool = False,
    shards: int = 1,
) -> Counter[str]:
    """Runs one schedule, proves it, and returns what became of its matches and messages."""
    empty(database)
    made = type("Sharded", (Simulation,), {"shards": shards})
    simulation = made(database, seed, villainy)
    simulation.quick = quick
    simulation.furnish(VARIANTS, bots=3)
    simulation.play(seconds, uploads=2, deeds=0 if villainy in (CALM, LONG) else 12)
    return Counter(simulation.prove()) + Counter(simulation.outcomes)


@pytest.mark.long
def test_a_calm_arena_fixes_all(database: Database) -> None:
    """Without mishaps every match is fixed at its first attempt, however long it takes."""
    counts = simulate(database, 1, LONG, seconds=30)
    assert counts["fixed"] > 2 * 20
    assert counts["longer than a lease"] > 0
    assert counts["set aside"] == counts["stale, ignored"] == counts["rolled back"] == 0
    assert counts[SILENT] == counts[UNTAKEN] == 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("database", "villainy"),
    [("sqlite", CALM), ("postgresql", Villainy())],
    indirect=["database"],
    ids=["calm", "villain"],
)
def test_short_matches_are_played_several_at_a_time(database: Database, villainy: Villainy) -> None:
    """Whatever becomes of the messages that give them out and of those that report them."""
    total: Counter[str] = Counter()
    for seed in range(max(1, SCHEDULES // 5)):
        total += simulate(database, 20_000 + seed, villainy, seconds=2, quick=True)
    assert total["several at a time"] > 3
    assert total["fixed"] > 100
    if villainy is CALM:
        assert total["set aside"] == total["stale, ignored"] == total["rolled back"] == 0
    else:
        assert total["stale, ignored"] > 0


@pytest.mark.long
@in_parts(SCHEDULES)
def test_every_match_counts_once(database: Database, seeds: range) -> None:
    """Whatever dies, is lost, doubled, late or forged: each match is fixed once or set aside."""
    total: Counter[str] = Counter()
    for seed in seeds:
        total += simulate(database, seed, Villainy(), seconds=30)
    # The villain was at work, and the arena was too.
    assert total["fixed"] > 20 * len(seeds)
    assert total["stale, ignored"] > 0
    # And so was the organiser.
    for deed in ("void", "unrated", "suspended", "change", "bring_back"):
        assert total[deed] > 0, deed


@pytest.mark.long
@in_parts(SCHEDULES // 2)
def test_every_match_counts_once_of_several_recorders(database: Database, seeds: range) -> None:
    """Whoever of them is killed and takes over, and whomever reports come to."""
    total: Counter[str] = Counter()
    for seed in seeds:
        total += simulate(database, 30_000 + seed, Villainy(), seconds=30, shards=3)
    assert total["fixed"] > 20 * len(seeds)
    assert total["stale, ignored"] > 0
    assert total["passed on"] > 0


@pytest.mark.long
@in_parts(CRUEL_SCHEDULES, parts=4)
def test_even_in_a_cruel_world(database: Database, seeds: range) -> None:
    """The same where a third of all goes wrong; matches that fail for ever are set aside."""
    total: Counter[str] = Counter()
    for seed in seeds:
        # Those between fail in fewer ways, or are not over soon.
        total += simulate(database, 10_000 + 3 * seed, CRUEL, seconds=240)
    assert total["fixed"] > 10
    assert total["stale, ignored"] > 0
    assert total["forged, refused"] > 0
    assert total["refused"] > 0
    assert total["rolled back"] > 0
    # An organiser may have had some of them played again.
    assert total["set aside"] + total["requeue"] > 0
