"""What the bots of a game wrote and were told, by positions of its replay, for who may read it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from arena.models import GameSeat, PlayedGame
from arena.web.permissions import may_read
from engine import bot_logs, exchange
from engine.exchange import ExchangedLine
from engine.game import Seat
from engine.record import Fault, GameRecord


class SeatLog:
    """What one seat's bot wrote, and the lines exchanged with it."""

    def __init__(self, text: str, record: GameRecord, seat: Seat) -> None:
        """Takes the log as it is kept."""
        self.text = text
        self._record = record
        self.fault: Fault | None = next((one for one in record.faults if one.seat == seat), None)
        """The fault by which it left."""
        self._last = self.fault.ply if self.fault else len(record.plies)

    @cached_property
    def written(self) -> dict[int, str]:
        """What it wrote, by the position in which that is shown."""
        return bot_logs.by_place(self.text, self._record.opening, self._last)

    @cached_property
    def exchanged(self) -> Mapping[int, list[ExchangedLine]]:
        """The whole lines, by the position in which they are shown."""
        found = defaultdict[int, list[ExchangedLine]](list)
        for line in bot_logs.apart(self.text)[1]:
            place = bot_logs.place_of(line.ply, self._record.opening, self._last)
            found[place].append(exchange.whole(line, self._record.plies))
        return found

    def text_at(self, place: int) -> str:
        """What there is in a position, below each other; empty if there is nothing."""
        lines = self.exchanged.get(place, [])
        told = [
            f"> {line.text}" if line.ms is None else f"< {line.ms:.1f} ms: {line.text}"
            for line in lines
        ]
        below = exchange.HEADING + "".join(f"{line}\n" for line in told) if told else ""
        return self.written.get(place, "") + below

    @property
    def last_line(self) -> str:
        """The last that it wrote before it left; empty if it wrote nothing at that ply."""
        said = self.written.get(self._last, "") if self.fault else ""
        return next((line for line in map(str.strip, reversed(said.splitlines())) if line), "")


@dataclass(frozen=True, slots=True)
class ShownLog:
    """A seat's log in one position."""

    seat: GameSeat
    name: str
    """The name of the seat."""
    is_kept: bool
    """Whether there is anything of the whole game."""
    written: str
    exchanged: list[ExchangedLine]
    before: int | None
    """The nearest position before this one in which there is something."""
    after: int | None
    asked: int | None
    """The ply at which it was asked what led here, if it was this seat's turn."""
    fault: Fault | None
    """The fault by which it left here."""


def readable_logs(game: PlayedGame, record: GameRecord) -> dict[Seat, SeatLog]:
    """The logs of a game that who asks may read, by their seats."""
    return {
        its.seat: SeatLog(its.log, record, its.seat)
        for its in game.seats
        if may_read(its.entrant.version.bot)
    }


def shown_at(
    ply: int, game: PlayedGame, record: GameRecord, logs: Mapping[Seat, SeatLog]
) -> list[ShownLog]:
    """Some of a game's logs in the position after so many plies."""
    found = []
    for seat, log in logs.items():
        places = sorted({*log.written, *log.exchanged})
        asked, fault = None, log.fault if log.fault and log.fault.ply == ply else None
        if fault:
            asked = ply
        elif record.opening < ply and record.plies[ply - 1].seat == seat:
            asked = ply - 1
        found.append(
            ShownLog(
                next(one for one in game.seats if one.seat == seat),
                record.variant.seat_names[seat],
                bool(log.text),
                log.written.get(ply, ""),
                log.exchanged.get(ply, []),
                next((place for place in reversed(places) if place < ply), None),
                next((place for place in places if place > ply), None),
                asked,
                fault,
            )
        )
    return found
