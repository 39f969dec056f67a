"""What becomes of the fixtures of those who were withdrawn in the midst of a tournament.

They stay in the field, so that what they have played counts on. What they have not played never
is: whoever was to meet them is given it, as if by a match won.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from arena.tournaments.formats import Entrant, Fixture, Format, Result


def walkovers(
    form: Format,
    entrants: Sequence[Entrant],
    results: Sequence[Result],
    withdrawn: Collection[Entrant],
    *,
    games: int,
) -> list[Result]:
    """The fixtures that are decided without a game, in which somebody was withdrawn.

    Args:
        results: those that the format takes.
        games: how many a fixture has.
    """
    found: list[Result] = []
    gone = set(withdrawn)
    # One may lead to the next: to the extra leg of a tie, or to a round.
    while fixtures := [
        fixture
        for fixture in (form.fixtures(entrants, [*results, *found]) if gone else ())
        if gone.intersection(fixture.entrants)
    ]:
        found += [_walkover(fixture, gone, games) for fixture in fixtures]
    return found


def _walkover(fixture: Fixture, gone: Collection[Entrant], games: int) -> Result:
    game = tuple(float(one not in gone) for one in fixture.entrants)
    return Result(fixture, (game,) * games)


def earned(
    byes: Sequence[Result], played: Sequence[Result], withdrawn: Collection[Entrant]
) -> list[Result]:
    """The byes, without points for whoever sits out since it was withdrawn.

    One from before, which stands like a result, is known by a match that was played after it.

    Args:
        played: without walkovers.
    """
    last = dict.fromkeys(withdrawn, 0)
    for one in played:
        for entrant in last.keys() & set(one.fixture.entrants):
            last[entrant] = max(last[entrant], one.fixture.round)
    return [
        Result(bye.fixture) if entrant in last and bye.fixture.round > last[entrant] else bye
        for bye in byes
        for entrant in bye.fixture.entrants
    ]


def as_byes(walkovers: Sequence[Result], withdrawn: Collection[Entrant]) -> list[Result]:
    """The same as standings take them: for whoever is given one it is as if a round was sat out."""
    return [
        Result(Fixture(one.fixture.round, (entrant,), one.fixture.leg), ((1.0,),) * len(one.games))
        for one in walkovers
        for entrant in one.fixture.entrants
        if entrant not in withdrawn
    ]
