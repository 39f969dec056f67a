"""What becomes of the fixtures of those who were withdrawn in the midst of a tournament.

They stay in the field, so that what they have played counts on. What they have not played never
is: whoever was to meet them is given it, as if by a match won.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from arena.tournaments.formats import Entrant, Fixture, Format, Result
from arena.tournaments.knockout import Knockout
from arena.tournaments.swiss import Swiss


def walkovers(
    form: Format,
    entrants: Sequence[Entrant],
    results: Sequence[Result],
    withdrawn: Collection[Entrant],
    *,
    games: int,
) -> list[Result]:
    """The fixtures that are decided without a game, in which somebody was withdrawn.

    Where one round follows from another, who left later keeps what it was given before: of two
    who have left it is known by a match that it alone played after.

    Args:
        results: those that the format takes.
        games: how many a fixture has.
    """
    found: list[Result] = []
    gone = set(withdrawn)
    in_turn = isinstance(form, Knockout | Swiss)
    last = _last_rounds(results, gone) if in_turn else dict.fromkeys(gone, 0)
    # One may lead to the next: to the extra leg of a tie, or to a round.
    while fixtures := [
        fixture
        for fixture in (form.fixtures(entrants, [*results, *found]) if gone else ())
        if gone.intersection(fixture.entrants)
    ]:
        found += [_walkover(fixture, last, games) for fixture in fixtures]
    return found


def _walkover(fixture: Fixture, last: Mapping[Entrant, int], games: int) -> Result:
    there = [one for one in fixture.entrants if one not in last]
    later = [one for one in fixture.entrants if last.get(one, 0) > fixture.round]
    if not there and len(later) == 1:
        there = later
    game = tuple(float(one in there) for one in fixture.entrants)
    return Result(fixture, (game,) * games)


def _last_rounds(results: Sequence[Result], withdrawn: Collection[Entrant]) -> dict[Entrant, int]:
    """The last round in which each of those who were withdrawn played; 0 if none."""
    last = dict.fromkeys(withdrawn, 0)
    for one in results:
        for entrant in last.keys() & set(one.fixture.entrants) if one.games else ():
            last[entrant] = max(last[entrant], one.fixture.round)
    return last


def earned(
    byes: Sequence[Result], played: Sequence[Result], withdrawn: Collection[Entrant]
) -> list[Result]:
    """The byes, without points for whoever sits out since it was withdrawn.

    One from before, which stands like a result, is known by a match that was played after it.

    Args:
        played: without walkovers.
    """
    last = _last_rounds(played, withdrawn)
    return [
        Result(bye.fixture) if entrant in last and bye.fixture.round > last[entrant] else bye
        for bye in byes
        for entrant in bye.fixture.entrants
    ]


def as_byes(walkovers: Sequence[Result]) -> list[Result]:
    """The same as standings take them: for whoever is given one it is as if a round was sat out."""
    return [
        Result(Fixture(one.fixture.round, (entrant,), one.fixture.leg), ((1.0,),) * len(one.games))
        for one in walkovers
        for entrant, points in zip(one.fixture.entrants, one.points, strict=True)
        if points
    ]
