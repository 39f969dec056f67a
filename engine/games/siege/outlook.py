"""What a position of the Siege promises, by plain facts: for searches that can't see the end.

Three things decide the game: how near the attackers' next officer and soldiers are to the
fortress, and how many are in; how many were taken; and how near Yellow's hunters are to a prey.
The weights are no rule: with them the sample bots that search beat those that don't.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.games.siege.board import (
    ATTACKERS,
    BITS,
    BLACK,
    INSIDE,
    OFFICERS_TO_SPARE,
    OUTSIDE,
    PITCH,
    WHITE,
    Board,
    mask,
)

FAR = 8
"""Steps; who is further away counts as if it were so far."""
GATE_SQUARES = mask(("c8", "c9", "j8", "j9"))
ALL_PREY = len(ATTACKERS) - OFFICERS_TO_SPARE
ENTERED, NEAR, TAKEN, HUNTING = 0.3, 0.15, 0.5, 0.05
"""What all of it is worth: a team in the fortress, or at its gates; all attackers; all hunters."""


def _grown(places: int) -> int:
    """Squares and all those a step away from them, in any direction."""
    wide = places | places << 1 | places >> 1
    return (wide | wide << PITCH | wide >> PITCH) & OUTSIDE


def _within(on_the_way: int) -> tuple[int, ...]:
    """The squares from which the fortress is entered in one step, in two, and so on."""
    found = [GATE_SQUARES]
    for _ in range(FAR - 1):
        found.append(_grown(found[-1]) & on_the_way)
    return tuple(found)


RANK_8, RANK_10 = (BITS[name] for name in ("a8", "a10"))
WITHIN = {
    # Who may not go back and has passed the gates comes in no more.
    1: _within((1 << RANK_10) - 1),
    -1: _within(-1 << RANK_8),
    0: _within(OUTSIDE),
}
"""The squares of an army that may not lower its rank, one that may not raise it, and one that may
do both."""


def yellow_hopes(board: Board, headings: Mapping[int, int], soldiers_needed: int) -> float:
    """What Yellow may hope to score, 0 to 1.

    Args:
        headings: of White and Black, as `moves.attackers_moves` takes them.
        soldiers_needed: in the fortress, beside an officer.
    """
    attackers, soldiers = board.attackers, board.attackers & board.soldiers
    officers = attackers & ~soldiers
    inside = attackers & INSIDE
    team = soldiers_needed + 1
    entered = min(soldiers_needed, (inside & soldiers).bit_count()) + bool(inside & officers)
    missing = 0
    for white, black in zip(WITHIN[headings[WHITE]], WITHIN[headings[BLACK]], strict=True):
        close = inside | board.white & white | board.black & black
        late = team - min(soldiers_needed, (close & soldiers).bit_count()) - bool(close & officers)
        if not late:
            break
        missing += late
    prey = soldiers.bit_count() + max(0, officers.bit_count() - OFFICERS_TO_SPARE)
    hunters = board.yellow & OUTSIDE
    idle, reach = 0, attackers & OUTSIDE
    for _ in range(FAR):
        reach = _grown(reach)
        distant = hunters & ~reach
        if not distant:
            break
        idle += distant.bit_count()
    return (
        0.5
        + TAKEN * (1 - prey / ALL_PREY)
        - HUNTING * (idle / (FAR * hunters.bit_count()) if hunters else 1.0)
        - ENTERED * entered / team
        - NEAR * (1 - missing / (team * FAR))
    )
