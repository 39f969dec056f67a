"""Whether workers are as fast as they say, by what the same bots did on all of them.

A worker's measure is its own word. What it says of itself would give its bots more time, or less,
than others have: so it is compared with what bots got done. A bot that tells how many nodes it
searched searches as many in a second of CPU time as the machine is fast. And where clocks are the
reference machine's, a bot that thinks to a fixed depth takes on a slow machine as much longer as
its clock is stretched, and one that uses up its time has more of it: both come to the same time
by the reference machine. A bot is compared with itself alone, in the same seat of the same
competition, by medians (of games, of workers, of bots). Between two workers nobody knows
which one is wrong; of three it is the odd one. Who falsifies what bots say and took, too, is not
found so, but might as well invent the games.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import log2
from statistics import median

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.models import Competition, GameValue, ListedSeat, PlayedGame
from engine.translation import gettext

NEWEST = 2000
"""How many of the newest games are looked at."""
LEAST_GAMES = 5
"""The fewest games of a bot, in one seat, on one worker, that tell something of its speed."""
NODES = "nodes"
"""What bots call the number of positions that they looked at for a ply."""
MOST_OFF = 0.5
"""Octaves by which what bots did may differ from what a worker says of itself: processors differ
by some of that in what they are good at."""

Same = tuple[int, int, int, bool]
"""A version, a competition, a seat, and whether its nodes are known."""


def ratios(session: Session) -> dict[str, float]:
    """How fast each worker is by its newest games, beside what it says; 1 if that is the same.

    Only workers that can be compared with another are in it.
    """
    newest = session.scalar(sa.select(sa.func.max(PlayedGame.id))) or 0
    nodes = sa.and_(
        GameValue.key == NODES,
        GameValue.game_id == ListedSeat.game_id,
        GameValue.seat == ListedSeat.seat,
    )
    query = (
        sa.select(
            ListedSeat.version_id,
            ListedSeat.competition_id,
            ListedSeat.seat,
            ListedSeat.worker,
            ListedSeat.speed,
            ListedSeat.cpu_us,
            ListedSeat.plies,
            GameValue.value,
        )
        .join(Competition, Competition.id == ListedSeat.competition_id)
        .outerjoin(GameValue, nodes)
        .where(ListedSeat.game_id > newest - NEWEST, ListedSeat.speed.is_not(None))
        .where(ListedSeat.worker.is_not(None), ListedSeat.cpu_us > 0, ListedSeat.plies > 0)
        .where(sa.or_(GameValue.value > 0, Competition.reference))
    )
    found: defaultdict[Same, dict[str, list[float]]] = defaultdict(dict)
    for version, competition, seat, worker, speed, cpu_us, plies, told in session.execute(query):
        assert worker is not None
        assert speed is not None
        a_ply = cpu_us / plies
        known = told is not None and told > 0
        # As if it were fast: what it got done for its time, beside the speed that it says it has.
        octaves = log2(told / a_ply / speed) if known else -log2(a_ply * speed)
        same = version, competition, seat, known
        found[same].setdefault(worker, []).append(octaves)
    return compared(
        {
            worker: median(numbers)
            for worker, numbers in by_worker.items()
            if len(numbers) >= LEAST_GAMES
        }
        for by_worker in found.values()
    )


def compared(each: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """How fast workers are beside what they say, by how much octaves lie above the others'.

    Args:
        each: for each bot its octaves on the workers.
    """
    above: defaultdict[str, list[float]] = defaultdict(list)
    for by_worker in each:
        for worker, octaves in by_worker.items() if len(by_worker) > 1 else ():
            # Among several most are right; of two each is compared with the other.
            others = [
                other for name, other in by_worker.items() if name != worker or len(by_worker) > 2
            ]
            above[worker].append(octaves - median(others))
    return {worker: round(float(2 ** median(its)), 3) for worker, its in above.items()}


def doubt(ratio: float | None) -> str:
    """What there is to say of a worker whose bots do not confirm its speed; empty if nothing."""
    if ratio is None or abs(log2(ratio)) <= MOST_OFF:
        return ""
    return gettext(
        "by what the same bots did on it and on others, it is %(ratio)s times as fast as it says",
        ratio=f"{ratio:.2g}",
    )
