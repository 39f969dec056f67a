"""A recorded game once more: some of its seats are asked again, and say what they play now.

Whoever sits there gets the requests of then, with the clocks of then, up to the fault that it
may have made; whatever it answers, the game goes on as it is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.clock import Clock
from engine.game import IllegalMoveError, Seat, State, Termination
from engine.player import BotError, GameEnd, GameSetup, Player, Turn
from engine.record import Fault, GameRecord, replay
from engine.referee import RESIGN
from engine.seeds import derive


@dataclass(frozen=True, slots=True)
class ReproducedMove:
    """What a seat did then and does now."""

    ply: int
    seat: Seat
    recorded: str
    """Its move, or the name of its fault."""
    now: str
    detail: str = ""
    """Details of a fault that it makes now."""

    @property
    def same(self) -> bool:
        return self.recorded == self.now


def reproduce(
    record: GameRecord, players: Mapping[Seat, Player], *, only: int | None = None
) -> Iterator[ReproducedMove]:
    """Every answer of these seats, in the order of the game; a seat's fault is its last.

    Args:
        only: asks only in the position after so many plies.

    Raises:
        RecordError: the rules contradict the record.
        VoidGameError: a fault of ours.
    """
    replay(record)
    return _Reproduction(record, players, only).answers()


class _Reproduction:
    def __init__(
        self, record: GameRecord, players: Mapping[Seat, Player], only: int | None
    ) -> None:
        self.record = record
        self.only = only
        self.players = dict(players)
        self.state: State = record.variant.initial(record.seed)
        self.history: list[str] = []
        self.clocks = list(map(Clock.start, record.granted))
        self.out: list[tuple[Seat, int]] = []

    def answers(self) -> Iterator[ReproducedMove]:
        record = self.record
        for seat in sorted(self.players):
            dice = derive(record.seed, "seat", seat)
            setup = GameSetup(record.variant, seat, record.granted[seat], dice)
            try:
                self.players[seat].new_game(setup)
            except BotError as error:
                fault = next((fault for fault in record.faults if fault.seat == seat), None)
                yield self._fault(seat, str(fault.termination) if fault else "ok", error)
        faults = list(record.faults)
        for number, ply in enumerate([*record.plies, None]):
            while faults and faults[0].ply == number:
                fault = faults.pop(0)
                if self._fell_in_turn(fault):
                    yield from self._ask(fault.seat, str(fault.termination))
                self.out.append((fault.seat, number))
                self.state = self.state.retire(fault.seat)
            if ply is None:
                break
            if number >= record.opening:
                yield from self._ask(ply.seat, ply.move)
            clock = self.clocks[ply.seat]
            if ply.cpu_us is not None and ply.wall_us is not None:
                self.clocks[ply.seat] = clock.after(ply.cpu_us, ply.wall_us, ply.waited_us)
            self.history.append(f"{ply.seat + 1}:{ply.move}")
            self.state = self.state.play(ply.move)
        for player in self.players.values():
            player.end_game(GameEnd(record.ranks, record.scores, record.termination))

    def _fell_in_turn(self, fault: Fault) -> bool:
        """Whether a fault was made when its seat was asked, and not before the first move."""
        return self.state.to_move == fault.seat and fault.termination is not Termination.START

    def _ask(self, seat: Seat, recorded: str) -> Iterator[ReproducedMove]:
        """Asks a seat, if somebody sits there and this is to be asked."""
        ply = len(self.history)
        if seat not in self.players or self.only not in (None, ply):
            return
        mine = self.clocks[seat]
        turn = Turn(
            self.state, ply, " ".join(self.history), tuple(self.clocks), tuple(self.out), mine
        )
        try:
            move = self.players[seat].choose(turn).move
        except BotError as error:
            yield self._fault(seat, recorded, error)
            return
        if move == RESIGN:
            yield ReproducedMove(ply, seat, recorded, str(Termination.RESIGN))
            return
        try:
            yield ReproducedMove(ply, seat, recorded, self.state.canonical(move))
        except IllegalMoveError as error:
            yield ReproducedMove(ply, seat, recorded, str(Termination.ILLEGAL), str(error))

    def _fault(self, seat: Seat, recorded: str, error: BotError) -> ReproducedMove:
        """A fault now; its process has ended, so the seat is asked no more."""
        del self.players[seat]
        return ReproducedMove(
            len(self.history), seat, recorded, str(error.termination), error.detail
        )
