"""The words that all formats of tournaments share: fixtures, their results, who sits out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

EntrantNumber = int
"""The number by which whoever runs the tournament knows an entrant."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """Entrants that are to meet, or one alone that sits a round out."""

    round: int
    """Numbered from 1."""
    entrants: tuple[EntrantNumber, ...]
    """Who meets, in the order of their seats in the first game."""
    leg: int = 1
    """Which of the fixtures of the same entrants in the same round it is."""

    @property
    def is_bye(self) -> bool:
        """Whether there is nothing to play."""
        return len(self.entrants) == 1


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a fixture, or that it was set and is not played yet.

    A game lost by a bot's own fault is a game like any other. A fixture of which games were
    voided is given without any, and is then due again.

    Raises:
        ValueError: a game has not as many points as the fixture has entrants.
    """

    fixture: Fixture
    games: tuple[tuple[float, ...], ...] = ()
    """The points of each game, from 0 to 1, of each entrant in the fixture's order."""

    def __post_init__(self) -> None:
        for game in self.games:
            if len(game) != len(self.fixture.entrants):
                raise ValueError(
                    f"{len(self.fixture.entrants)} entrants need as many points, not {len(game)}"
                )

    @property
    def points(self) -> tuple[float, ...]:
        """The points of each entrant in all its games."""
        return tuple(
            sum(game[place] for game in self.games) for place in range(len(self.fixture.entrants))
        )


def check_field(entrants: Sequence[EntrantNumber], *, least: int) -> None:
    """Refuses a field that is too small or names somebody twice.

    Raises:
        ValueError: it is one of these.
    """
    if len(entrants) < least:
        raise ValueError(f"this format needs at least {least} entrants, not {len(entrants)}")
    if len(set(entrants)) < len(entrants):
        raise ValueError("an entrant is named twice; a field has everybody once")


def unplayed(fixtures: Sequence[Fixture], results: Collection[Result]) -> list[Fixture]:
    """Those of the fixtures that have no games yet."""
    played = {result.fixture for result in results if result.games}
    return [fixture for fixture in fixtures if fixture not in played]


def sitting_out(
    entrants: Sequence[EntrantNumber],
    fixtures: Sequence[Fixture],
    *,
    points: tuple[float, ...] = (),
) -> list[Result]:
    """A bye for everybody who is missing from a round that has fixtures, round by round.

    Args:
        points: of each game that the bye stands for.
    """
    busy: dict[int, set[EntrantNumber]] = {}
    for fixture in sorted(fixtures, key=lambda fixture: fixture.round):
        busy.setdefault(fixture.round, set()).update(fixture.entrants)
    return [
        Result(Fixture(round_, (entrant,)), tuple((share,) for share in points))
        for round_, seated in busy.items()
        for entrant in entrants
        if entrant not in seated
    ]
