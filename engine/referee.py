"""Plays one game between players and turns every fault into a record.

Theory of operation. The referee alone knows the rules. It tells each player that a game
begins, then asks whoever is to move, checks the answer by playing it on the State, and at the
end tells all who are still there. A `BotError`, an illegal move or a resignation retires the
seat: the State says whether that ends the game (two sides) or the others play on. Nothing a
bot does escapes as an exception; what does escape (`VoidGameError`, or a bug of ours) means
that the game never happened. Players are not closed here unless they failed: a match keeps
them for its next game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from engine.clock import Clock, TimeControl, granted
from engine.game import CHANCE, IllegalMoveError, Move, Seat, State, Termination, Variant
from engine.games import GAMES
from engine.measure import stretch_of
from engine.player import BotError, GameEnd, GameSetup, Player, ProtocolError, Turn, VoidGameError
from engine.record import Fault, GameRecord, Ply, ending
from engine.seeds import derive, lot
from engine.translation import ENGLISH, gettext, speaking, spoken

RESIGN = "resign"

Watch = Callable[[State, Sequence[Ply]], None]
"""Is told the position and the plies so far, after each ply."""

ISOLATION_LEVELS = ("none", "reduced", "good", "full")


def play_game(
    variant: Variant,
    players: Sequence[Player],
    *,
    time: TimeControl,
    seed: int = 0,
    opening: Sequence[Move] = (),
    names: Sequence[str] | None = None,
    chosen: Sequence[Mapping[str, str]] = (),
    times: Sequence[TimeControl] = (),
    watch: Watch | None = None,
    speeds: Sequence[float] = (),
) -> GameRecord:
    """One game from its opening to its end.

    Args:
        variant: the game; what it leaves to the lot is drawn by ``seed``.
        players: one for each seat.
        time: the time control of every seat that has none of its own.
        seed: of the game; each seat's own dice are derived from it.
        opening: moves played before the first player is asked.
        names: of the players, for the record; by default their numbers.
        chosen: the options that each of them is told, for the record; by default none.
        times: the time control of each seat, if not all have the same.
        watch: called after each ply.
        speeds: how fast this machine is for the program in each seat (`engine.measure`), if that
            is known; where the time is the reference machine's, their clocks are stretched by it.

    Raises:
        VoidGameError: a fault of ours; there is no result.
        IllegalMoveError: the opening is not legal.
    """
    game = _Game(
        variant.drawn(seed), players, time, seed, opening, names, chosen, times, watch, speeds
    )
    with speaking(ENGLISH):  # as the record is, whoever has it played
        return game.play()


class _Game:
    """The game under way."""

    def __init__(
        self,
        variant: Variant,
        players: Sequence[Player],
        time: TimeControl,
        seed: int,
        opening: Sequence[Move],
        names: Sequence[str] | None,
        chosen: Sequence[Mapping[str, str]],
        times: Sequence[TimeControl],
        watch: Watch | None,
        speeds: Sequence[float],
    ) -> None:
        if len(players) != variant.seats:
            raise ValueError(f"{variant} has {variant.seats} seats, not {len(players)}")
        self.variant = variant
        self.players = players
        self.time = time
        self.speeds = tuple(round(speed, 3) for speed in speeds)
        self.stretch = tuple(map(stretch_of, self.speeds)) if time.reference else ()
        self.seed = seed
        self.names = names or [f"seat {seat + 1}" for seat in range(variant.seats)]
        self.chosen = tuple(chosen)
        self.watch = watch
        self.spoken = spoken()
        self.started = datetime.now(UTC)
        self.state: State = variant.initial(seed)
        self.plies: list[Ply] = []
        self.history = ""
        self.times = tuple(times)
        self.granted = granted(self.times or (time,) * variant.seats, self.stretch)
        self.clocks = list(map(Clock.start, self.granted))
        self.faults: list[Fault] = []
        self.out: tuple[tuple[Seat, int], ...] = ()
        self.opening = len(opening)
        for move in opening:
            if self.state.to_move is None:
                raise IllegalMoveError(
                    move, gettext("the opening goes on after the end of the game")
                )
            self._play(Ply(self.state.to_move, self.state.canonical(move)))

    def play(self) -> GameRecord:
        for number, player in enumerate(self.players):
            try:
                dice = derive(self.seed, "seat", number)
                player.new_game(GameSetup(self.variant, number, self.granted[number], dice))
            except BotError as error:
                self._leave(number, error.termination, error.detail)
        while (seat := self.state.to_move) is not None:
            if len(self.plies) == self.variant.max_plies:
                raise VoidGameError(f"{self.variant} goes on after its {len(self.plies)} plies")
            if seat == CHANCE:
                self._play(Ply(CHANCE, self.state.roll(lot(self.seed, len(self.plies)))))
            else:
                self._turn(seat)
        return self._finish()

    def _turn(self, seat: Seat) -> None:
        turn = Turn(
            self.state,
            len(self.plies),
            self.history,
            self.clocks,
            self.out,
            self.clocks[seat],
        )
        try:
            choice = self.players[seat].choose(turn)
        except BotError as error:
            self._leave(seat, error.termination, error.detail)
            return
        if choice.move == RESIGN:
            self._leave(seat, Termination.RESIGN, "resigned")
            return
        try:
            move = self.state.canonical(choice.move)
        except IllegalMoveError as error:
            self._refuse(seat, error)
            return
        _, text, cpu_us, wall_us, values, waited_us, tags, pv = choice
        self._play(Ply(seat, move, cpu_us, wall_us, text, values, waited_us, tags, pv))
        self.clocks[seat] = self.clocks[seat].after(cpu_us, wall_us, waited_us)
        if self.watch:
            with speaking(self.spoken):
                self.watch(self.state, self.plies)

    def _refuse(self, seat: Seat, error: IllegalMoveError) -> None:
        """A seat leaves by an illegal move, or by what that is a sign of.

        A second reply to one turn, if the bot was frozen before it came out, looks like an
        illegal reply to the next turn; the true one follows it.
        """
        termination, detail = Termination.ILLEGAL, str(error)
        try:
            self.players[seat].end_turn()
        except ProtocolError as unasked:
            termination, detail = unasked.termination, unasked.detail
        except BotError:
            pass  # what it did after its move is no matter any more
        self._leave(seat, termination, detail)

    def _play(self, ply: Ply) -> None:
        self.state = self.state.play(ply.move)
        self.plies.append(ply)
        self.history += f"{self.history and ' '}{ply.seat + 1}:{ply.move}"

    def _leave(self, seat: Seat, termination: Termination, detail: str) -> None:
        """A seat leaves by its own fault; the rules say what becomes of the game."""
        # Whoever resigned may leave in order; any other fault ends the process at once.
        self.players[seat].close(kill=termination is not Termination.RESIGN)
        if self.state.to_move is not None:
            self.state = self.state.retire(seat)
            self.faults.append(Fault(seat, len(self.plies), termination, detail))
            self.out += ((seat, len(self.plies)),)

    def _finish(self) -> GameRecord:
        state, faults = self.state, self.faults
        termination = ending(state, faults, len(self.plies))
        assert termination is not None
        end = GameEnd(state.ranks(), state.scores(), termination)
        for player in self.players:
            if not player.closed:
                player.end_game(end)
        return GameRecord(
            variant=self.variant,
            seed=self.seed,
            players=tuple(self.names),
            time=self.time,
            opening=self.opening,
            plies=tuple(self.plies),
            faults=tuple(faults),
            termination=termination,
            scores=tuple(end.scores),
            ranks=tuple(end.ranks),
            isolation=min(
                (player.isolation for player in self.players), key=ISOLATION_LEVELS.index
            ),
            started=self.started.strftime("%Y-%m-%dT%H:%M:%SZ"),
            rules=GAMES.rules(self.variant.game),
            chosen=self.chosen,
            times=self.times,
            speeds=self.speeds,
            stretch=self.stretch,
        )
