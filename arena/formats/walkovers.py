"""What becomes of the fixtures of those who were withdrawn in the midst of a tournament.

They stay in the field, so that what they have played counts on, and what they are just playing:
else one could leave when about to lose. What they have not begun they never play: whoever was to
meet them is given it, as if by a match won.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from arena.formats.fixtures import EntrantNumber, Fixture, Result
from arena.formats.format import Format


def walkovers(
    form: Format,
    entrants: Sequence[EntrantNumber],
    results: Sequence[Result],
    withdrawn: Mapping[EntrantNumber, int],
    *,
    games: int,
    playing: Collection[Fixture] = (),
) -> list[Result]:
    """The fixtures that are decided without a game, in which somebody was withdrawn.

    Where one round follows from another, who left later keeps what it was given before.

    Args:
        results: those that the format takes. Those without games of who left are decided, too, be
            it that a round before theirs is played anew.
        withdrawn: the last round that each of those who left was in for.
        games: how many a fixture has.
        playing: those that are under way, and are decided by their games.
    """
    gone = set(withdrawn)
    last = withdrawn if form.in_turn else dict.fromkeys(gone, 0)

    def is_forfeit(fixture: Fixture) -> bool:
        return not gone.isdisjoint(fixture.entrants) and fixture not in playing

    past = [one for one in results if one.games or not is_forfeit(one.fixture)]
    stopped = [one.fixture for one in results if not one.games and is_forfeit(one.fixture)]
    found = [_walkover(fixture, last, games) for fixture in stopped]
    # One may lead to the next: to the extra leg of a tie, or to a round.
    while fixtures := [
        fixture
        for fixture in (form.fixtures(entrants, [*past, *found]) if gone else ())
        if is_forfeit(fixture)
    ]:
        found += [_walkover(fixture, last, games) for fixture in fixtures]
    return found


def _walkover(fixture: Fixture, last: Mapping[EntrantNumber, int], games: int) -> Result:
    there = [one for one in fixture.entrants if last.get(one, fixture.round) >= fixture.round]
    if len(there) == len(fixture.entrants):  # all had been in for it, and it is due again
        there = [one for one in there if one not in last]
    game = tuple(float(one in there) for one in fixture.entrants)
    return Result(fixture, (game,) * games)


def last_round(
    entrant: EntrantNumber,
    due: Sequence[Fixture],
    past: Sequence[Result],
    playing: Collection[Fixture] = (),
) -> int:
    """The last round that an entrant is in for if it begins no more from now on; 0 if none.

    It has played all of it or is about to, was given it, or sits it out. That there is something to
    be played anew in a round before takes nothing from it.

    Args:
        due: what is not played yet.
        past: results, and the byes of rounds that have begun.
        playing: those that are under way.
    """
    its = [fixture for fixture in due if entrant in fixture.entrants]
    ahead = {fixture.round for fixture in its if fixture not in playing}
    behind = {
        one.fixture.round
        for one in past
        if entrant in one.fixture.entrants
        and (one.games or one.fixture.is_bye or one.fixture in playing)
    }
    return max(behind - ahead | {min(ahead, default=1) - 1})


def earned(byes: Sequence[Result], withdrawn: Mapping[EntrantNumber, int]) -> list[Result]:
    """The byes, without points for whoever sits out since it was withdrawn.

    Args:
        withdrawn: the last round that each of those who left was in for.
    """
    return [
        Result(bye.fixture)
        if bye.fixture.round > withdrawn.get(entrant, bye.fixture.round)
        else bye
        for bye in byes
        for entrant in bye.fixture.entrants
    ]


def still_set(voided: Sequence[Fixture], results: Sequence[Result]) -> list[Result]:
    """The fixtures of void matches that are due again: without games, as a format takes them.

    Args:
        voided: the last made first; who has met somebody else in that round since has not to meet.
    """
    seated = {(one.fixture.round, entrant) for one in results for entrant in one.fixture.entrants}
    found = []
    for fixture in voided:
        seats = {(fixture.round, entrant) for entrant in fixture.entrants}
        if seats.isdisjoint(seated):
            found.append(Result(fixture))
            seated |= seats
    return found


def as_byes(walkovers: Sequence[Result]) -> list[Result]:
    """Walkovers as standings take them: to be given one is as if a round was sat out."""
    return [
        _alone(one, entrant, 1.0)
        for one in walkovers
        for entrant, points in zip(one.fixture.entrants, one.points, strict=True)
        if points
    ]


def as_forfeits(walkovers: Sequence[Result], withdrawn: Collection[EntrantNumber]) -> list[Result]:
    """Walkovers where more than two meet: lost by who left, and for the others they never were.

    They were to meet each other, too, and have not beaten one another.
    """
    return [
        _alone(one, entrant, 0.0)
        for one in walkovers
        for entrant in one.fixture.entrants
        if entrant in withdrawn
    ]


def _alone(walkover: Result, entrant: EntrantNumber, share: float) -> Result:
    fixture = replace(walkover.fixture, entrants=(entrant,))
    return Result(fixture, ((share,),) * len(walkover.games))
