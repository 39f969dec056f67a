"""Tournaments of each format, played while everything goes wrong and come out the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from arena.formats.catalogue import FORMATS
from arena.ground.db import Database
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.simulator import CALM, Villainy, empty

CLOBBER = ("clobber", {"size": "4x3"})
TRIO = ("siege", {})
PUZZLE = ("puzzle", {"task": "tetrominoes"})
UNDISTURBED = replace(CALM, faulty_bots=True)
"""A bot that crashes does so whatever else happens."""
TOURNAMENTS: list[tuple[str, tuple[str, dict[str, str]], int, dict[str, int], int | None]] = [
    # Matches by hand: 5 bots have 10 pairs, 7 of which one sits out have 3 a round, a knockout of
    # 6 has 5 ties and one more for the third place, 2 candidates meet 3 others, 6 bots have two
    # tables of three. Of two that tests alone have: 5 bots have 2 matches a round or 4 of which the
    # winner stays.
    ("round-robin", CLOBBER, 5, {"cycles": 2}, 20),
    ("gauntlet", CLOBBER, 5, {"candidates": 2}, 6),
    ("swiss", CLOBBER, 7, {"rounds": 3}, 9),
    ("knockout", CLOBBER, 6, {"third_place": 1, "extra_legs": 0}, 6),
    ("knockout", CLOBBER, 5, {"double": 1, "legs": 3}, None),
    ("balanced", TRIO, 6, {"rounds": 2}, 4),
    ("round-robin", PUZZLE, 4, {}, 6),
    ("danish", CLOBBER, 5, {"rounds": 3}, 6),
    ("hill", CLOBBER, 5, {}, 4),
]
TOURNAMENTS += [
    (name, CLOBBER if 2 in form.for_seats else TRIO, 5, {}, None)
    for name, form in FORMATS.items()
    if name not in {row[0] for row in TOURNAMENTS}
]
CASES = [
    # Which database it is matters only to how results are read, and that is one for all formats.
    pytest.param(
        "postgresql" if case[0] == "gauntlet" else "sqlite", *case, id=f"{case[0]} of {case[1][0]}"
    )
    for case in TOURNAMENTS
]


@pytest.mark.long
@pytest.mark.usefixtures("newcomers")
@pytest.mark.parametrize(
    ("database", "format_", "game", "bots", "settings", "matches"), CASES, indirect=["database"]
)
def test_a_tournament_comes_out_the_same_whatever_happens(
    database: Database,
    format_: str,
    game: tuple[str, dict[str, str]],
    bots: int,
    settings: dict[str, int],
    matches: int | None,
) -> None:
    """Every fixture is played once, and games and tables are those of a calm run."""
    outcomes = []
    for seed, villainy in ((1, UNDISTURBED), (2, Villainy())):
        empty(database)
        simulation = TournamentSimulation(database, seed, villainy, game[0], bots, **game[1])
        simulation.create("cup", format_, **settings)
        disturbed = villainy is not UNDISTURBED
        simulation.play_out(30 if disturbed else 0, voids=3 if disturbed else 0)
        outcomes.append(simulation.outcome("cup"))
    assert simulation.voided
    assert outcomes[0] == outcomes[1]
    _, found = outcomes[0]
    fixtures = Counter(
        (each["round"], *match["bots"], match["leg"])
        for each in found["rounds"]
        for match in each["matches"]
    )
    assert set(fixtures.values()) == {1}
    assert found["state"] == "closed"
    assert matches in (None, fixtures.total())
    assert found["planned"] in (None, fixtures.total())
