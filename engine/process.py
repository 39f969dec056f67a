"""A bot as a process behind pipes.

Theory of operation. A `Program` is a started process: two pipes, a file for its standard
error, a clock, and the power to freeze and to kill it. A `PipeChannel` moves lines through it
against a deadline, and `BotProcess` is the player that speaks the protocol over the channel.

Between two requests the process is frozen (SIGSTOP), so that nobody thinks on the opponent's
time. Nobody else is asked before all its threads stand, and until they do it pays. The first
fault ends the process; what it would still say counts for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy

from engine import bot_logs, exchange, protocol
from engine.bot_options import BotOption, BotOptionError, check_chosen, read_options
from engine.channel import HeadAndTail, PipeChannel
from engine.clock import ALLOWANCES, Allowances, apart
from engine.exchange import Exchange
from engine.player import (
    BotError,
    Choice,
    CrashError,
    GameEnd,
    GameSetup,
    LogSoFar,
    MemoryForfeitError,
    StartError,
    TimeForfeitError,
    Turn,
    VoidGameError,
)
from engine.program import Program

LOG_BYTES = 64 * 1024
"""Bytes of standard error kept a game, half from its beginning and half from its end; of ``#``
text, which is meant for the log, four times as many; and of the lines exchanged as many again."""
LAST_WORDS_SECONDS = 0.1
"""How long more of what an illegal move is a part of is waited for."""
LAST_WORDS = 300
"""Letters of the last line of standard error that are told."""
STANDARD_ERROR = "--- standard error ---\n"
"""What stands in a log before what was written there."""
OpenChannel = Callable[[Program, HeadAndTail], PipeChannel]
"""Makes the channel to a program whose standard error is kept in that place."""


class BotProcess:
    """A player behind pipes that speaks the bot protocol."""

    def __init__(
        self,
        start: Callable[[], Program],
        *,
        allowances: Allowances = ALLOWANCES,
        open_channel: OpenChannel = PipeChannel,
        log_bytes: int = LOG_BYTES,
        tells_errors: bool = False,
        keeps_lines: bool = False,
        declared: Mapping[str, BotOption] | None = None,
        chosen: Mapping[str, str] | None = None,
    ) -> None:
        """Takes the means to start the bot; its first game starts it.

        Args:
            log_bytes: how much of its standard error is kept a game.
            tells_errors: whether a fault is told with the last line of that, which is for the
                bot's author alone.
            keeps_lines: whether the lines exchanged are kept with its log.
            declared: the options that its manifest declares.
            chosen: values of its options, which must be declared there or before its ``ready``.
        """
        self.name = ""
        """What it calls itself, once it has said so."""
        self.closed = False
        self._start = start
        self._allowances = allowances
        self._to_stop = apart(allowances.stop_seconds)
        self._open_channel = open_channel
        self._channel: PipeChannel | None = None
        """The channel to its process, once that has started."""
        self.wants: frozenset[str] = frozenset()
        """What it asked to be told before each move."""
        self.options: Mapping[str, BotOption] = declared or {}
        """What can be chosen about it; all of it once it has started."""
        self.undeclared = ""
        """Why lines that were to declare an option do not; empty if they do."""
        self._chosen = chosen or {}
        self._errors = HeadAndTail(log_bytes)
        self._log = HeadAndTail(4 * log_bytes)
        self._exchange = Exchange(log_bytes)
        self._keeps_lines = keeps_lines
        self._asked: int | None = None
        """The ply at which it was asked last in this game."""
        self._tells_errors = tells_errors
        self._ending = _Ending(self)

    @property
    def isolation(self) -> str:
        return self._channel.program.isolation if self._channel else "none"

    def start(self) -> None:
        """Starts the bot and waits for its ``ready``, which otherwise its first game does.

        Raises:
            BotError, VoidGameError: as for `new_game`.
        """
        with self._ending:
            if self._channel is None:
                self._channel = self._open_channel(self._start(), self._errors)
                if self._keeps_lines:
                    self._channel.trace(self._exchange.tell)
                seconds = self._allowances.start_seconds
                answer = _greet(self._channel, protocol.HELLO, seconds, "ready")
                ready = protocol.parse_ready(answer)
                self.name, self.wants = ready.name, ready.wants
                self._learn_options(self._channel.notes)
                self._set_options(self._channel)

    def _learn_options(self, notes: list[str]) -> None:
        """Takes the declarations out of what it said before its ``ready``."""
        declared = [option.declaration for option in self.options.values()]
        for note in notes:
            words = protocol.parse_option(note)
            try:
                if words is not None:
                    self.options = read_options([*declared, words])
                    declared.append(words)
            except BotOptionError as error:
                self.undeclared = self.undeclared or str(error)
        notes[:] = [note for note in notes if protocol.parse_option(note) is None]

    def _set_options(self, channel: PipeChannel) -> None:
        """Tells it what is chosen.

        Raises:
            StartError: it does not have it any more, or never had.
        """
        try:
            chosen = check_chosen(self.options, self._chosen, self.name)
        except BotOptionError as error:
            raise StartError(f"{error}{self.undeclared and '; '}{self.undeclared}") from None
        if chosen:
            channel.send("".join(map(protocol.set_line, chosen, chosen.values())))

    def new_game(self, setup: GameSetup) -> None:
        self._asked, self._exchange.ply = None, exchange.BEFORE
        self.start()
        with self._ending:
            assert self._channel is not None
            self._channel.hear_out()
            request, seconds = protocol.newgame_line(setup), self._allowances.newgame_seconds
            protocol.parse_ok(_greet(self._channel, request, seconds, "ok"))
            self._channel.stop(self._to_stop)
            # What it said before its first turn belongs to no ply.
            self._log_notes()

    def choose(self, turn: Turn) -> Choice:
        with self._ending:
            assert self._channel is not None
            channel, clock = self._channel, turn.clock
            channel.hear_out()
            self._asked = self._exchange.ply = turn.ply
            channel.errors.head(bot_logs.HEADING.format(turn.ply))
            request = protocol.turn_lines(turn, self.wants)
            try:
                answer = channel.ask(request, clock.limit, then_stop=self._to_stop)
            except TimeForfeitError as error:
                left = clock.left_us / 1000
                raise TimeForfeitError(f"{error.detail}; its clock had {left:.0f} ms") from None
            if overrun := clock.overrun(answer.cpu_us, answer.wall_us):
                raise TimeForfeitError(overrun)
            reply = protocol.parse_reply(answer.line)
            values, tags, pv = self._take_notes(turn.ply) if channel.notes else ({}, (), ())
            return Choice(
                reply.move,
                reply.text,
                answer.cpu_us,
                answer.wall_us,
                values,
                answer.waited_us,
                tags,
                pv,
            )

    def end_turn(self) -> None:
        with self._ending:
            assert self._channel is not None
            self._channel.program.thaw()
            self._channel.hear_out(LAST_WORDS_SECONDS)

    def end_game(self, end: GameEnd) -> None:
        if self._channel and not self.closed:
            self._exchange.ply = exchange.AFTER
            self._channel.errors.head("")
            self._channel.program.thaw()
            self._channel.send(protocol.end_line(end))
            # Whatever it has not done yet can wait, rather than disturb another's `newgame`.
            with suppress(BotError), self._ending:
                self._channel.stop(self._to_stop)

    def _take_notes(self, ply: int) -> tuple[dict[str, float], tuple[str, ...], tuple[str, ...]]:
        """Sorts a ply's ``#`` lines into the log and its numbers, tags and last line."""
        values: dict[str, float] = {}
        tags: dict[str, None] = {}
        pv: tuple[str, ...] = ()
        assert self._channel is not None
        notes = self._channel.notes
        for note in notes:
            line = protocol.parse_pv(note)
            value = None if line else protocol.parse_value(note)
            tag = protocol.parse_tag(note)
            if line:
                pv = line
            elif value and (value[0] in values or len(values) < protocol.NUMBERS_LIMIT):
                values[value[0]] = value[1]
            elif tag and (tag in tags or len(tags) < protocol.TAGS_LIMIT):
                tags[tag] = None
            else:
                self._log_note(note, ply)
        notes.clear()
        return values, tuple(tags), pv

    def _log_note(self, note: str, ply: int | None) -> None:
        where = "" if ply is None else bot_logs.NOTE.format(ply)
        self._log.add(f"{where}{note[1:].strip()}\n".encode())

    def _log_notes(self) -> None:
        """Takes all ``#`` lines into the log: no ply has them, for it came to no move."""
        if self._channel:
            for note in self._channel.notes:
                self._log_note(note, self._asked)
            self._channel.notes.clear()

    def take_log(self) -> str:
        if self._channel and not self.closed:
            self._channel.errors.collect()
        self._log_notes()
        return _whole_log(self._log, self._errors, self._exchange.take())

    def log_so_far(self) -> LogSoFar:
        if self._channel and not self.closed:
            self._channel.errors.collect()
        log, errors, exchanged = copy(self._log), copy(self._errors), self._exchange.so_far()
        return lambda: _whole_log(log, errors, exchanged.take())

    def close(self, *, kill: bool = False) -> None:
        if self._channel and not self.closed and not kill:
            self._channel.program.thaw()
            self._channel.send(protocol.QUIT)
            self._await_end(self._channel.program)
        self._end()

    def _await_end(self, program: Program) -> None:
        """Gives it its time to end by itself, without what it waits for a core meanwhile."""
        watch = program.watch(apart(self._allowances.quit_seconds))
        while not program.wait(watch.pause_ms / 1000):
            if watch.lap() and watch.overrun():
                return

    def _end(self) -> str:
        """Ends the process, after what it wrote to standard error was taken in."""
        if self.closed:
            return ""
        self.closed = True
        if self._channel is None:
            return ""
        self._channel.program.freeze()
        self._channel.errors.collect()
        return self._channel.program.kill()

    def fail(self, error: BaseException) -> None:
        """Ends the process at its first fault; a crash is told with how the process ended.

        Raises:
            BotError: what a crash was after all.
        """
        if not isinstance(error, CrashError):
            self._end()
            if isinstance(error, StartError | TimeForfeitError):
                if told := self._told():
                    error.detail += f"; {told}"
                error.detail += self._last_words()
            return
        if self._channel:
            # A dying process gets a moment, so that its exit code can be told.
            self._channel.program.thaw()
            self._channel.program.wait(0.5)
        how = self._end()
        if how.startswith("memory"):
            raise MemoryForfeitError("was killed at its memory limit") from None
        words = self._told() or (f"{error.detail}: {how}" if how else error.detail)
        raise CrashError(words + self._last_words()) from None

    def _told(self) -> str:
        """What a bridge says that the program behind it did; empty if there is no bridge."""
        its = self._channel.program.told_by if self._channel else ""
        if not its:
            return ""
        # The program behind it may have begun a line there, and not ended it.
        said = self._errors.last_line(lambda line: its in line)
        return protocol.clean(said.rpartition(its)[2])[:LAST_WORDS]

    def _last_words(self) -> str:
        """What is to be added to those of a fault."""
        its = self._channel.program.told_by if self._channel else ""
        said = ""
        if self._tells_errors:
            said = self._errors.last_line(lambda line: not its or its not in line)
        return f"; last on standard error: {protocol.clean(said)[:LAST_WORDS]}" if said else ""


def _whole_log(log: HeadAndTail, errors: HeadAndTail, exchanged: str) -> str:
    """All that was kept of both, which are empty then, and of the lines exchanged."""
    text = log.take()
    if written := errors.take():
        text += f"{STANDARD_ERROR}{protocol.clean(written)}"
    return text + "\n" * (text[-1:] not in ("", "\n")) * bool(exchanged) + exchanged


def _greet(channel: PipeChannel, request: str, seconds: float, answer: str) -> str:
    try:
        return channel.ask(request, apart(seconds)).line
    except TimeForfeitError:
        begun = channel.half_line()
        raise StartError(f"sent no {answer!r} within {seconds:g} s{begun}") from None


class _Ending:
    """A block that no fault leaves without ending the bot's process.

    An object for all of a bot's blocks: they are entered at every ply.
    """

    def __init__(self, bot: BotProcess) -> None:
        self._bot = bot

    def __enter__(self) -> None:
        if self._bot.closed:
            raise VoidGameError("a bot's process was asked to play after its end")

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: object
    ) -> None:
        if error is not None:
            self._bot.fail(error)
