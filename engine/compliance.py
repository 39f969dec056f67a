"""The compliance tester: whether a bot keeps each clause of the protocol, in plain words.

Theory of operation. The bot is spoken to through the referee's own player and pipes, in a few
conversations, each with a fresh process. In a conversation the clauses are tried one after
another; the first fault breaks the clause at hand and ends it, and what was still to be tried
is told as not tried. Every finding has the lines that were said meanwhile. The tester is
slower than a referee: after each reply it lets the bot run on for a moment, to hear what it
says unasked. At last the bot plays a whole game against itself.

It is to be run where the bot is to play, in the same box.
"""

from __future__ import annotations

import time as wall
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace

from engine import protocol
from engine.channel import HeadAndTail, TracedChannel
from engine.clock import ALLOWANCES, Allowances, TimeControl
from engine.conversation import Dialect, PatientChannel, TestedGame, with_crlf, with_unknown_keys
from engine.game import Seat, Variant
from engine.jobs import Finding
from engine.match import MatchSpec, play_match
from engine.player import BotError, GameSetup, ProtocolError, StartError
from engine.process import LOG_BYTES, BotProcess
from engine.program import Program, has_forked
from engine.record import GameRecord
from engine.referee import Watch
from engine.seeds import derive

TURNS = 3
"""How often a bot is asked in a game that is not played to its end."""
NEEDED = ("hello", "newgame", "move")
"""Clauses without which no other can be tried."""
DIALECTS = (
    ("unknown keys", with_unknown_keys, " (there were keys it can't know, and in another order)"),
    ("CRLF", with_crlf, r" (every line it read ended with \r\n: take the \r off)"),
)
"""Ways of saying the same that the protocol allows, each a clause of its own."""
LONGEST_LOG = 512 * 1024
LINES_SHOWN = 12
LINE_SHOWN = 160

Clause = tuple[str, Callable[[], str]]
"""A clause's name, and what tries it: returns what was found, or raises BotError."""


class Check:
    """The check of a bot, as it goes on."""

    def __init__(
        self,
        start: Callable[[], Program],
        spec: MatchSpec,
        *,
        allowances: Allowances = ALLOWANCES,
        log_bytes: int = LOG_BYTES,
        watch: Callable[[int], Watch] | None = None,
    ) -> None:
        """Takes the means to start the bot, and the match against itself that it is to play.

        Args:
            log_bytes: how much of its standard error is kept a game, and a conversation.
            watch: is told of the whole game, as in `play_match`.
        """
        self.log = ""
        """What the bot logged, so far, and its standard error."""
        self._start = start
        self._spec = replace(spec, variant=spec.variant.drawn(spec.seed))
        self._allowances = allowances
        self._log_bytes = log_bytes
        self._watch = watch
        self._missing = ""
        """Why nothing more is tried with a bot that can't do what is needed for it."""

    def findings(self) -> Iterator[Finding]:
        """What is found, clause by clause.

        Raises:
            VoidGameError: a fault of ours; nothing can be said of the bot.
        """
        first = self._talk()
        yield from self._tried(
            first,
            ("hello", first.start),
            ("newgame", first.first_game),
            ("move", lambda: first.play(TURNS)),
            ("state and legal", first.quiet_lines),
            ("end", first.end),
            ("a second game", first.second_game),
            ("time control", first.other_time_control),
            ("log and numbers", first.notes),
            ("one process", first.one_process),
            ("quit", first.quit),
        )
        for name, dialect, how in DIALECTS:
            talk = self._talk(dialect, how)
            yield from self._tried(talk, (name, talk.short_game))
        late = self._talk()
        yield from self._tried(
            late,
            ("seed", lambda: late.same_seed(first.first_move)),
            ("a game under way", late.game_under_way),
            ("a long request", late.long_request),
            ("seats that left", late.others_left),
        )
        if self._missing:
            yield _inapplicable("a whole game", self._missing)
        else:
            yield self._whole_game()

    def _talk(self, dialect: Dialect = str, how: str = "") -> _Talk:
        return _Talk(self._start, self._spec, self._allowances, self._log_bytes, dialect, how)

    def _tried(self, talk: _Talk, *clauses: Clause) -> Iterator[Finding]:
        """Tries clauses in one conversation, up to the first that is broken."""
        broken = self._missing
        try:
            for name, attempt in clauses:
                if broken:
                    yield _inapplicable(name, broken)
                    continue
                try:
                    words = attempt()
                    yield Finding(True, words, name, lines=talk.take_lines())
                except _InapplicableError as error:
                    yield _inapplicable(name, str(error), talk.take_lines())
                except BotError as error:
                    broken = f"not tried: the bot failed before, at: {name}"
                    if name in NEEDED:
                        self._missing = broken
                    hint = "; is its line flushed?" if isinstance(error, StartError) else ""
                    words = f"{error.termination}: {error.detail}{hint}{talk.how}"
                    yield Finding(False, words, name, lines=talk.take_lines())
        finally:
            talk.player.close(kill=True)
            if text := talk.player.take_log():
                self._log(f"while trying: {', '.join(name for name, _ in clauses)}", text)

    def _log(self, what: str, text: str) -> None:
        """Keeps a part of the log, as far as there is room."""
        part = f"=== {what}\n{text.rstrip()}\n"
        self.log += part[: max(0, LONGEST_LOG - len(self.log))]

    def _whole_game(self) -> Finding:
        """A game of the bot against itself, in which it must not fail."""
        lines: deque[str] = deque(maxlen=LINES_SHOWN)

        def start_player(_: int) -> BotProcess:
            def tell(direction: str, line: str) -> None:
                lines.append(_shown(direction, line))

            return BotProcess(
                self._start,
                allowances=self._allowances,
                open_channel=lambda program, errors: TracedChannel(program, errors, tell),
                log_bytes=self._log_bytes,
            )

        result = play_match(self._spec, start_player, games=1, watch=self._watch)
        (record,), (logs,) = result.games, result.logs
        for seat, log in enumerate(logs):
            if log:
                self._log(f"in the whole game, seat {seat + 1}", log)
        return Finding(not record.faults, _told(record), "a whole game", lines=tuple(lines))


def _told(record: GameRecord) -> str:
    """A game of a bot against itself in a sentence."""
    for fault in record.faults:
        return f"seat {fault.seat + 1}, ply {fault.ply}: {fault.termination}, {fault.detail}"
    slowest = max((ply.cpu_us or 0 for ply in record.plies), default=0) / 1000
    return (
        f"played {record.variant} against itself to its end ({len(record.plies)} plies, "
        f"{record.termination}; the slowest move took {slowest:.1f} ms of CPU time)"
    )


def _inapplicable(name: str, words: str, lines: tuple[str, ...] = ()) -> Finding:
    return Finding(True, words, name, applies=False, lines=lines)


class _InapplicableError(Exception):
    """A clause that says nothing of this bot or game; in words."""


class _Talk:
    """A conversation with one process of the bot, clause by clause."""

    def __init__(
        self,
        start: Callable[[], Program],
        spec: MatchSpec,
        allowances: Allowances,
        log_bytes: int,
        dialect: Dialect,
        how: str,
    ) -> None:
        self.player = BotProcess(
            self._started(start),
            allowances=allowances,
            open_channel=self._opened,
            log_bytes=log_bytes,
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

    def _started(self, start: Callable[[], Program]) -> Callable[[], Program]:
        def started() -> Program:
            self._program = start()
            return self._program

        return started

    def _opened(self, program: Program, errors: HeadAndTail) -> PatientChannel:
        self._channel = PatientChannel(program, errors, self._tell, self._dialect)
        return self._channel

    def _tell(self, direction: str, line: str) -> None:
        if direction == "<":
            self._heard += 1
            self._notes += line.startswith("#")
            self._longest = max(self._longest, len(line.encode()))
            self._last_line = line
        self._lines.append(_shown(direction, line))

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
        self.player.start()
        name = self.player.name
        words = protocol.split_words(self._last_line)
        if len(words[1]) > len(name):
            raise ProtocolError(f"its name has {len(words[1])} characters; 80 are allowed")
        keys = dict(word.split("=", 1) for word in words[2:] if "=" in word)
        unknown = sorted({*keys.get("want", "").split(",")} - protocol.WANTS - {""})
        more = f"; it wants {', '.join(unknown)}, which is not known here" if unknown else ""
        took = self._took(self._allowances.start_seconds)
        return f"{name} was ready {took}{more}"

    def first_game(self) -> str:
        self._begin(_first_seat(self._variant), self._spec.time)
        return f"said ok {self._took(self._allowances.newgame_seconds)}"

    def play(self, turns: int) -> str:
        moves, slowest = [], 0
        for _ in range(turns):
            if (choice := self._game.ask(self.player)) is None:
                break
            moves.append(choice.move)
            self.first_move = self.first_move or choice.move
            charged = choice.wall_us if self._game.time.charge == "wall" else choice.cpu_us
            slowest = max(slowest, charged)
        kind = "wall" if self._game.time.charge == "wall" else "CPU"
        return (
            f"played {', '.join(moves)} in seat {self._game.seat + 1}, "
            f"all legal and in time (at most {slowest / 1000:.1f} ms of {kind} time)"
        )

    def quiet_lines(self) -> str:
        if not self.player.wants:
            raise _InapplicableError("it wants neither, so it was sent neither")
        return f"it wants {' and '.join(sorted(self.player.wants))}, and says nothing to them"

    def end(self) -> str:
        self._end()
        return "said nothing, and waits for what comes next"

    def second_game(self) -> str:
        self._begin(self._variant.seats - 1, self._spec.time)
        words = self.play(1)
        self._end()
        return f"in the same process it {words}"

    def other_time_control(self) -> str:
        other = _other(self._spec.time)
        self._begin(self._variant.seats - 1, other)
        words = self.play(1)
        self._end()
        return f"with {other.words} it {words}"

    def notes(self) -> str:
        longest = f"the longest of its {self._heard} lines has {self._longest} bytes"
        if not self._notes:
            raise _InapplicableError(f"it sends no # lines; {longest}")
        return f"{self._notes} # lines, each before a reply or between; {longest}"

    def one_process(self) -> str:
        if has_forked(self._program.pid):
            raise ProtocolError("started another process; a bot is one process, with threads")
        return "it started no other process"

    def quit(self) -> str:
        began = wall.monotonic()
        self.player.close()
        took = wall.monotonic() - began
        how = self._program.kill()
        if how == "still running":
            raise ProtocolError(
                f"it still ran {self._allowances.quit_seconds:g} s after 'quit'; end the program "
                "when that line comes"
            )
        return f"it was gone {took * 1000:.0f} ms after 'quit' ({how})"

    def short_game(self) -> str:
        self._begin(_first_seat(self._variant), self._spec.time)
        words = self.play(1)
        self._end()
        return f"{words}; {self.quit()}"

    def same_seed(self, first: str) -> str:
        self._begin(_first_seat(self._variant), self._spec.time)
        choice = self._game.ask(self.player)
        self._end()
        if choice is None or choice.move != first:
            raise _InapplicableError(
                f"it played {first} and then {choice.move if choice else 'nothing'} in the same "
                "position from the same seed: allowed, but its mistakes will not happen again"
            )
        return f"the same position and seed gave the same move, {first}"

    def game_under_way(self) -> str:
        """A game that it enters in the middle: the first request tells all that was played."""
        stations = self._stations("middle")
        game = stations[len(stations) // 2]
        self._enter(game)
        words = self.play(1)
        self._end()
        return f"entered a game at ply {game.asked_at}, and {words}"

    def long_request(self) -> str:
        """The longest one of a random game."""

        def size(game: TestedGame) -> int:
            return len(protocol.turn_lines(game.turn(), self.player.wants))

        game = max(self._stations("long"), key=size)
        longest = size(game)
        self._enter(game)
        words = self.play(1)
        self._end()
        return f"read a request of {longest} bytes, and {words}"

    def _stations(self, name: str) -> list[TestedGame]:
        """A random game, each time the bot's seat is to move: at least once.

        Raises:
            _InapplicableError: that did not happen.
        """
        for seat in reversed(range(self._variant.seats)):
            game = TestedGame(self._variant, self._spec.time, seat, derive(self._spec.seed, name))
            found = []
            while game.to_seat():
                found.append(game.copy())
                game.play_random()
            if found:
                return found
        raise _InapplicableError("no seat came to move in a random game")

    def others_left(self) -> str:
        """A game in which another seat has left, where the others play on."""
        game = TestedGame(self._variant, self._spec.time, 0, derive(self._spec.seed, "left"))
        for _ in range(self._variant.opening_plies):
            game.play_random()
        leaver = self._variant.seats - 1
        if not game.leave(leaver) or not game.to_seat():
            raise _InapplicableError("in this game nobody plays on when a seat has left")
        self._enter(game)
        words = self.play(1)
        self._end()
        return f"seat {leaver + 1} had left; it {words}"

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
        return f"after {self._channel.wall_us / 1000:.0f} ms of {seconds * 1000:.0f} ms"


def _first_seat(variant: Variant) -> Seat:
    return variant.initial().to_move or 0


def _other(time: TimeControl) -> TimeControl:
    """A control of the other kind, of about the same speed."""
    if time.move_ms is not None:
        return TimeControl(time_ms=10 * time.move_ms, inc_ms=time.move_ms, charge=time.charge)
    assert time.time_ms is not None
    return TimeControl(move_ms=max(time.inc_ms, time.time_ms // 20, 100), charge=time.charge)


def _shown(direction: str, line: str) -> str:
    """A line of a conversation as it is shown."""
    if len(line) > LINE_SHOWN:
        line = f"{line[: LINE_SHOWN - 40]}... ({len(line)} characters)"
    return f"{direction} {line}"
