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

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from engine.bot_options import read_options
from engine.channel import TracedChannel
from engine.clauses import LINES_SHOWN, InapplicableError, Talk, cost_words, shown
from engine.clock import ALLOWANCES, Allowances
from engine.conversation import Dialect, with_crlf, with_unknown_keys
from engine.match import MatchSpec, play_match
from engine.player import BotError, StartError
from engine.plurals import counted
from engine.process import LOG_BYTES, BotProcess
from engine.program import Program
from engine.record import Fault, GameRecord, charged_us
from engine.referee import Watch
from engine.reporting import Finding
from engine.translation import N_, gettext, translated

TURNS = 3
"""How often a bot is asked in a game that is not played to its end."""
NEEDED = ("hello", "newgame", "move")
"""Clauses without which no other can be tried."""
DIALECTS = (
    (
        N_("unknown keys"),
        with_unknown_keys,
        N_("(there were keys it can't know, and in another order)"),
    ),
    ("CRLF", with_crlf, N_(r"(every line it read ended with \r\n: take the \r off)")),
)
"""Ways of saying the same that the protocol allows, each a clause of its own."""
LONGEST_LOG = 512 * 1024

Clause = tuple[str, Callable[[], str]]
"""A clause's name, and what tries it: returns what was found, or raises BotError."""


class Examination:
    """The check of a bot, as it goes on."""

    def __init__(
        self,
        start: Callable[[], Program],
        spec: MatchSpec,
        *,
        allowances: Allowances = ALLOWANCES,
        log_bytes: int = LOG_BYTES,
        tells_errors: bool = False,
        watch: Callable[[int], Watch] | None = None,
        declared: Iterable[str] = (),
    ) -> None:
        """Takes the means to start the bot, and the match against itself that it is to play.

        Args:
            log_bytes: how much of its standard error is kept a game, and a conversation.
            tells_errors: whether that is told with a fault, as in `BotProcess`.
            watch: is told of the whole game, as in `play_match`.
            declared: the options that its manifest declares, each in words.
        """
        self.options: tuple[str, ...] | None = None
        """What can be chosen about the bot, each in words; None as long as it has not said."""
        self.log = ""
        """What the bot logged, so far, and its standard error."""
        self._start = start
        self._spec = replace(spec, variant=spec.variant.drawn(spec.seed))
        self._allowances = allowances
        self._log_bytes = log_bytes
        self._tells_errors = tells_errors
        self._watch = watch
        self._declared = read_options(declared)
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
            (N_("state and legal"), first.quiet_lines),
            ("end", first.end),
            (N_("a second game"), first.second_game),
            (N_("time control"), first.other_time_control),
            (N_("log and numbers"), first.notes),
            (N_("one process"), first.one_process),
            ("quit", first.quit),
        )
        for name, dialect, how in DIALECTS:
            talk = self._talk(dialect, how)
            yield from self._tried(talk, (name, talk.short_game))
        late = self._talk()
        yield from self._tried(
            late,
            ("seed", lambda: late.same_seed(first.first_move)),
            (N_("a game under way"), late.game_under_way),
            (N_("a long request"), late.long_request),
            (N_("seats that left"), late.others_left),
        )
        options = first.player.options
        if first.player.name:
            self.options = tuple(option.declaration for option in options.values())
        chosen = {name: option.other for name, option in sorted(options.items())}
        other = self._talk(chosen=chosen)
        yield from self._tried(
            other, ("options", lambda: other.options(chosen, first.player.undeclared))
        )
        if self._missing:
            yield _inapplicable(N_("a whole game"), self._missing)
        else:
            yield self._whole_game()

    def _talk(
        self, dialect: Dialect = str, how: str = "", chosen: Mapping[str, str] | None = None
    ) -> Talk:
        return Talk(
            self._start,
            self._spec,
            self._allowances,
            self._log_bytes,
            dialect,
            how,
            tells_errors=self._tells_errors,
            declared=self._declared,
            chosen=chosen,
        )

    def _tried(self, talk: Talk, *clauses: Clause) -> Iterator[Finding]:
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
                except InapplicableError as error:
                    yield _inapplicable(name, str(error), talk.take_lines())
                except BotError as error:
                    # In English, as it is kept, it begins with NOT_TRIED.
                    broken = gettext(
                        "not tried: the bot failed before, at: %(clause)s", clause=translated(name)
                    )
                    if name in NEEDED:
                        self._missing = broken
                    words = f"{error.termination}: {error.detail}"
                    if isinstance(error, StartError):
                        words = gettext("%(fault)s; is its line flushed?", fault=words)
                    if talk.how:
                        words = f"{words} {translated(talk.how)}"
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
                lines.append(shown(direction, line))

            return BotProcess(
                self._start,
                allowances=self._allowances,
                open_channel=lambda program, errors: TracedChannel(program, errors, tell),
                log_bytes=self._log_bytes,
                tells_errors=self._tells_errors,
            )

        result = play_match(self._spec, start_player, games=1, watch=self._watch)
        (record,), (logs,) = result.games, result.logs
        for seat, log in enumerate(logs):
            if log:
                self._log(f"in the whole game, seat {seat + 1}", log)
        faults = [fault for fault in record.faults if fault.termination.is_failure]
        return Finding(not faults, _told(record, faults), N_("a whole game"), lines=tuple(lines))


def _told(record: GameRecord, faults: Sequence[Fault]) -> str:
    """A game of a bot against itself in a sentence."""
    for fault in faults:
        return gettext(
            "seat %(seat)s, ply %(ply)s: %(cause)s, %(detail)s",
            seat=fault.seat + 1,
            ply=fault.ply,
            cause=fault.termination,
            detail=fault.detail,
        )
    slowest = max((charged_us(ply, record.time) or 0 for ply in record.plies), default=0) / 1000
    return gettext(
        "played %(variant)s against itself to its end (%(plies)s, %(cause)s; the slowest move took "
        "%(time)s)",
        variant=record.variant,
        plies=counted(len(record.plies), "ply", "plies"),
        cause=record.termination,
        time=cost_words(record.time.charge, f"{slowest:.1f}"),
    )


def _inapplicable(name: str, words: str, lines: tuple[str, ...] = ()) -> Finding:
    return Finding(True, words, name, applies=False, lines=lines)
