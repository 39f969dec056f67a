"""The clauses of the protocol, each tried in a conversation with one process of a bot.

A clause is a method: it says what it found, or raises a fault as the referee's player does.
"""

from __future__ import annotations

import time as wall
from collections.abc import Callable, Mapping

from engine import protocol
from engine.bot_options import BotOption, chosen_words
from engine.channel import HeadAndTail
from engine.clock import Allowances, TimeControl
from engine.conversation import Dialect, PatientChannel, TestedGame
from engine.game import Seat, Variant
from engine.match import MatchSpec
from engine.player import GameSetup, ProtocolError
from engine.plurals import counted, listed
from engine.process import BotProcess
from engine.program import Program, has_forked
from engine.seeds import derive
from engine.translation import gettext

LINES_SHOWN = 12
LINE_SHOWN = 160


class InapplicableError(Exception):
    """A clause that says nothing of this bot or game; in words."""


class Talk:
    """A conversation with one process of the bot, clause by clause."""

    def __init__(
        self,
        start: Callable[[], Program],
        spec: MatchSpec,
        allowances: Allowances,
        log_bytes: int,
        dialect: Dialect,
        how: str,
        *,
        tells_errors: bool = False,
        declared: Mapping[str, BotOption] | None = None,
        chosen: Mapping[str, str] | None = None,
    ) -> None:
        self.player = BotProcess(
            start,
            declared=declared,
            chosen=chosen,
            allowances=allowances,
            open_channel=self._opened,
            log_bytes=log_bytes,
            tells_errors=tells_errors,
        )
        self.how = how
        """What is said of the dialect when a clause is broken."""
        self.first_move = ""
        self._spec = spec
        self._variant = spec.variant
        self._allowances = allowances
        self._dialect = dialect
        self._last_line = ""
        self._lines: list[str] = []
        self._channel: PatientChannel | None = None
        self._game = TestedGame(spec.variant, spec.time, 0, spec.seed)
        self._heard = self._notes = self._longest = 0
        self._doubt = ""

    def _opened(self, program: Program, errors: HeadAndTail) -> PatientChannel:
        self._channel = PatientChannel(program, errors, self._tell, self._dialect)
        return self._channel

    def _tell(self, direction: str, line: str) -> None:
        if direction == "<":
            self._heard += 1
            self._notes += line.startswith("#")
            self._longest = max(self._longest, len(line.encode()))
            self._last_line = line
        self._lines.append(shown(direction, line))

    def take_lines(self) -> tuple[str, ...]:
        """What was said since the last call; of a long talk its beginning and its end."""
        lines, self._lines = self._lines, []
        if len(lines) > LINES_SHOWN:
            half = LINES_SHOWN // 2
            gap = f"  ({len(lines) - 2 * half} lines left out)"
            lines = [*lines[:half], gap, *lines[-half:]]
        return tuple(lines)

    # The clauses, in the words of their findings.

    def start(self) -> str:
        """It says hello, in time and by a name."""
        self.player.start()
        name = self.player.name
        words = protocol.split_words(protocol.without_control(self._last_line))
        if len(words[1]) > len(name):
            raise ProtocolError(
                gettext(
                    "its name has %(letters)s characters; 80 are allowed", letters=len(words[1])
                )
            )
        keys = dict(word.split("=", 1) for word in words[2:] if "=" in word)
        unknown = sorted({*keys.get("want", "").split(",")} - protocol.WANTS - {""})
        took = self._took(self._allowances.start_seconds)
        if unknown:
            return gettext(
                "%(name)s was ready %(took)s; it wants %(unknown)s, which is not known here",
                name=name,
                took=took,
                unknown=", ".join(unknown),
            )
        return gettext("%(name)s was ready %(took)s", name=name, took=took)

    def first_game(self) -> str:
        """It takes up a game."""
        self._begin(_first_seat(self._variant), self._spec.time)
        return gettext("said ok %(took)s", took=self._took(self._allowances.newgame_seconds))

    def play(self, turns: int) -> str:
        """It replies to so many requests, legally and in time."""
        moves, slowest = [], 0
        for _ in range(turns):
            if (choice := self._game.ask(self.player)) is None:
                break
            moves.append(choice.move)
            self._doubt = self._doubt or self._game.doubt
            self.first_move = self.first_move or choice.move
            charged = choice.wall_us if self._game.time.charge == "wall" else choice.cpu_us
            slowest = max(slowest, charged)
        return gettext(
            "played %(moves)s in seat %(seat)s, all legal and in time (at most %(time)s)",
            moves=", ".join(moves),
            seat=self._game.seat + 1,
            time=cost_words(self._game.time.charge, f"{slowest / 1000:.1f}"),
        )

    def quiet_lines(self) -> str:
        """It says nothing to what it asked to be told."""
        if not self.player.wants:
            raise InapplicableError(gettext("it wants neither, so it was sent neither"))
        return gettext(
            "it wants %(wants)s, and says nothing to them",
            wants=listed(sorted(self.player.wants)),
        )

    def end(self) -> str:
        """It says nothing to the end of a game."""
        self._end()
        return gettext("said nothing, and waits for what comes next")

    def second_game(self) -> str:
        """It plays another game in the same process, in the last seat."""
        self._begin(self._variant.seats - 1, self._spec.time)
        words = self.play(1)
        self._end()
        return gettext("in the same process it %(did)s", did=words)

    def other_time_control(self) -> str:
        """It plays by a clock of the other kind, too."""
        other = _other(self._spec.time)
        self._begin(self._variant.seats - 1, other)
        words = self.play(1)
        self._end()
        return gettext("with %(time)s it %(did)s", time=other.words, did=words)

    def notes(self) -> str:
        """Its notes come where they may."""
        lines = counted(self._heard, "line")
        longest = gettext(
            "the longest of its %(lines)s has %(bytes)s",
            lines=lines,
            bytes=counted(self._longest, "byte"),
        )
        if not self._notes:
            raise InapplicableError(gettext("it sends no # lines; %(longest)s", longest=longest))
        told = gettext(
            "%(notes)s # lines, each before a reply or between; %(longest)s",
            notes=self._notes,
            longest=longest,
        )
        return _noted(told, self._doubt)

    def one_process(self) -> str:
        """It is a single process."""
        assert self._channel is not None
        program = self._channel.program
        if not program.pid:
            raise InapplicableError(
                gettext("it stays at home, where nobody looks at its processes")
            )
        if program.processes > 1:
            raise InapplicableError(
                gettext("it may have %(processes)s processes here", processes=program.processes)
            )
        if has_forked(program.pid):
            raise ProtocolError(
                gettext("started another process; a bot is one process, with threads")
            )
        return gettext("it started no other process")

    def quit(self) -> str:
        """It ends when it is told to."""
        began = wall.monotonic()
        self.player.close()
        took = wall.monotonic() - began
        assert self._channel is not None
        how = self._channel.program.kill()
        if how == "still running":
            raise ProtocolError(
                gettext(
                    "it still ran %(seconds)s s after 'quit'; end the program when that line comes",
                    seconds=f"{self._allowances.quit_seconds:g}",
                )
            )
        return gettext(
            "it was gone %(time)s ms after 'quit' (%(how)s)", time=f"{took * 1000:.0f}", how=how
        )

    def short_game(self) -> str:
        """It plays a move in this dialect, and ends."""
        self._begin(_first_seat(self._variant), self._spec.time)
        words = self.play(1)
        self._end()
        return f"{words}; {self.quit()}"

    def options(self, chosen: Mapping[str, str], undeclared: str) -> str:
        """It says nothing to what is chosen about it, and plays a move so.

        Args:
            undeclared: why something that it said before declares no option.
        """
        if not chosen:
            raise InapplicableError(undeclared or gettext("it declares none"))
        self._begin(_first_seat(self._variant), self._spec.time)
        words = self.play(1)
        told = gettext("told of %(chosen)s, it %(did)s", chosen=chosen_words(chosen), did=words)
        return _noted(told, undeclared)

    def same_seed(self, first: str) -> str:
        """The seed decides its move: ``first``, in another process."""
        self._begin(_first_seat(self._variant), self._spec.time)
        choice = self._game.ask(self.player)
        self._end()
        if choice is None or choice.move != first:
            raise InapplicableError(
                gettext(
                    "it played %(first)s and then %(then)s in the same position from the same "
                    "seed: allowed, but its mistakes will not happen again",
                    first=first,
                    then=choice.move if choice else gettext("nothing"),
                )
            )
        return gettext("the same position and seed gave the same move, %(move)s", move=first)

    def game_under_way(self) -> str:
        """A game that it enters in the middle: the first request tells all that was played."""
        stations = self._stations("middle")
        game = stations[len(stations) // 2]
        self._enter(game)
        words = self.play(1)
        self._end()
        return gettext("entered a game at ply %(ply)s, and %(did)s", ply=game.asked_at, did=words)

    def long_request(self) -> str:
        """The longest one of a random game."""

        def size(game: TestedGame) -> int:
            return len(protocol.turn_lines(game.turn(), self.player.wants))

        game = max(self._stations("long"), key=size)
        longest = size(game)
        self._enter(game)
        words = self.play(1)
        self._end()
        return gettext("read a request of %(bytes)s bytes, and %(did)s", bytes=longest, did=words)

    def _stations(self, name: str) -> list[TestedGame]:
        """A random game, each time the bot's seat is to move: at least once.

        Raises:
            InapplicableError: that did not happen.
        """
        for seat in reversed(range(self._variant.seats)):
            game = TestedGame(self._variant, self._spec.time, seat, derive(self._spec.seed, name))
            found = []
            while game.to_seat():
                found.append(game.copy())
                game.play_random()
            if found:
                return found
        raise InapplicableError(gettext("no seat came to move in a random game"))

    def others_left(self) -> str:
        """A game in which another seat has left, where the others play on."""
        game = TestedGame(self._variant, self._spec.time, 0, derive(self._spec.seed, "left"))
        for _ in range(self._variant.opening_plies):
            game.play_random()
        leaver = self._variant.seats - 1
        if not game.leave(leaver) or not game.to_seat():
            raise InapplicableError(gettext("in this game nobody plays on when a seat has left"))
        self._enter(game)
        words = self.play(1)
        self._end()
        return gettext("seat %(seat)s had left; it %(did)s", seat=leaver + 1, did=words)

    def _begin(self, seat: Seat, time: TimeControl) -> None:
        self._enter(TestedGame(self._variant, time, seat, self._spec.seed))

    def _enter(self, game: TestedGame) -> None:
        self._game = game
        self.player.new_game(
            GameSetup(self._variant, game.seat, game.time, derive(self._spec.seed, "dice"))
        )

    def _end(self) -> None:
        self.player.end_game(self._game.finish())

    def _took(self, seconds: float) -> str:
        assert self._channel is not None
        return gettext(
            "after %(took)s ms of %(allowed)s ms",
            took=f"{self._channel.wall_us / 1000:.0f}",
            allowed=f"{seconds * 1000:.0f}",
        )


def cost_words(charge: str, milliseconds: str) -> str:
    """What a move cost, in words: ``0.3 ms of CPU time``."""
    if charge == "wall":
        return gettext("%(time)s ms of wall time", time=milliseconds)
    return gettext("%(time)s ms of CPU time", time=milliseconds)


def _noted(words: str, note: str) -> str:
    return gettext("%(words)s; note: %(note)s", words=words, note=note) if note else words


def _first_seat(variant: Variant) -> Seat:
    return max(0, variant.initial().to_move or 0)


def _other(time: TimeControl) -> TimeControl:
    """A control of the other kind, of about the same speed."""
    if time.move_ms is not None:
        return TimeControl(time_ms=10 * time.move_ms, inc_ms=time.move_ms, charge=time.charge)
    assert time.time_ms is not None
    return TimeControl(move_ms=max(time.inc_ms, time.time_ms // 20, 100), charge=time.charge)


def shown(direction: str, line: str) -> str:
    """A line of a conversation as it is shown."""
    if len(line) > LINE_SHOWN:
        line = f"{line[: LINE_SHOWN - 40]}... ({len(line)} characters)"
    return f"{direction} {protocol.visible(line)}"
