"""What the API says of what is counted of some games."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field
from sqlalchemy.orm import Session

from arena.lists import counts
from arena.lists.counts import Counts, Share
from arena.lists.filters import GameFilter, opening_word
from arena.web.api.shapes import Shape


class ShareShape(Shape):
    """What came of some of the games, for the seat that was asked about."""

    key: str = Field(description="A seat from 1, an opening, a bot, or a month as in 2026-05.")
    games: int
    won: int
    drawn: int
    lost: int
    cpu_us: int
    plies: int = Field(description="Of all these games together, as cpu_us, for each such seat.")


class PliesShape(Shape):
    """How many games have so many plies."""

    plies: int
    games: int


class CountsShape(Shape):
    """What came of some games. Where no seat was asked about, results are those of seat 1."""

    games: int
    partial: bool = Field(description="Whether there may be older games like these, not counted.")
    first: datetime | None = Field(description="When the oldest of them ended.")
    last: datetime | None
    won: int
    drawn: int
    lost: int
    seats: list[ShareShape]
    openings: list[ShareShape] = Field(description="Those with the most games.")
    bots: list[ShareShape] = Field(
        description="The opponents of the seat that was asked about, with its results; if none "
        "was, those who played most, with their own."
    )
    months: list[ShareShape]
    plies: list[PliesShape]
    endings: dict[str, int]
    faults: dict[str, int] = Field(description="Of the seat that was asked about, else of all.")
    others_faults: dict[str, int] = Field(description="Of the other seats of these games.")


def told(session: Session, wanted: GameFilter) -> CountsShape:
    """What is counted of the games that a filter wants.

    Raises:
        NotThere: it names what is not there.
    """
    found = counts.count(session, wanted)
    names = counts.bots_of(session, [one.key for one in found.bots])
    return CountsShape(
        games=found.games,
        partial=found.is_cut,
        first=found.first,
        last=found.last,
        won=found.all.won,
        drawn=found.all.drawn,
        lost=found.all.lost,
        seats=[_share(one, str(one.key + 1)) for one in found.seats],
        openings=[_share(one, opening_word(one.key)) for one in found.openings],
        bots=[_share(one, names[one.key]) for one in found.bots],
        months=[_share(one, month_word(one.key)) for one in found.months],
        plies=[PliesShape(plies=plies, games=games) for plies, games in found.plies],
        endings=_by_word(found, "endings"),
        faults=_by_word(found, "faults"),
        others_faults=_by_word(found, "others_faults"),
    )


def month_word(key: int) -> str:
    """A month as dates begin: 202605 is 2026-05."""
    return f"{key // 100}-{key % 100:02}"


def _share(one: Share, key: str) -> ShareShape:
    return ShareShape(
        key=key,
        games=one.games,
        won=one.won,
        drawn=one.drawn,
        lost=one.lost,
        cpu_us=one.cpu_us,
        plies=one.plies,
    )


def _by_word(found: Counts, name: str) -> dict[str, int]:
    told: dict[str, int] = {str(word): games for word, games in getattr(found, name).items()}
    return dict(sorted(told.items()))
