"""What a project's own tests may assert of a bot; the pytest plugin's fixture `arena`."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from arena.cli.arguments import (
    GivenBot,
    find_bots,
    given_book,
    read_position,
    read_variant,
    time_control,
)
from arena.cli.capacity import find_room
from arena.cli.first_faults import FirstFaults, has_failed
from arena.cli.runner import (
    LEAST_BOX,
    Launcher,
    go_on,
    in_order,
    launch_all,
    match_spec,
    on_cores,
)
from arena.cli.test import MAX_GAMES
from arena.cli.versions import version_of
from arena.ratings.sprt import Decision, Model
from arena.strength.outcomes import margin, seatings
from arena.strength.sequential import SequentialTest, StrengthSettings
from arena.strength.terms import StrengthTerms
from arena.strength.words import result_rows
from engine.clock import Clock, TimeControl
from engine.game import CHANCE, GameError, State, Variant
from engine.match import MatchResult, MatchSpec, entrants_needed, play_match
from engine.openings import Opening, opening, openings
from engine.player import BotError, Choice, GameSetup, Turn
from engine.plurals import counted
from engine.protocol import visible
from engine.record import GameRecord
from engine.seeds import derive
from workers.cores import claimed_core

SHOWN_GAMES = 5
"""Games whose replay a failing test suggests."""
LOST, WITH_FAULTS = "lost games", "games with faults"
"""The kinds of games that are kept of a failing test, as it names them."""


class Assertions:
    """Asserts what bots do in games played on this machine, without a server.

    A bot is the path of a program, from the current folder, or the name of a sample bot. A game
    is written as on the command line: ``"clobber size=5x6"``. Time is ``move_ms`` milliseconds a
    move (1000 by default) or a clock ``time="10+0.1"``. The bots run in boxes as in an arena, and
    not at all where this machine can build none; which they are is printed, so that a failing test
    shows it.
    """

    def __init__(
        self,
        folder: Path,
        test: str,
        *,
        no_box: bool = False,
        minimum: str = LEAST_BOX,
        processes: int = 1,
    ) -> None:
        """Keeps the games of a failing test in the folder, in a file with the test's name.

        Args:
            no_box: runs the bots as plain processes of this user.
            minimum: the weakest box to accept.
            processes: how many each bot may have in its box.
        """
        self._no_box = no_box
        self._processes = processes
        self._minimum = minimum
        self._file = folder / (re.sub(r"[^\w.-]+", "-", test).strip("-") + ".jsonl")

    def assert_not_weaker(
        self,
        bot: str,
        *,
        than: str,
        game: str,
        elo: tuple[float, float] = (-10, 0),
        alpha: float = 0.05,
        beta: float = 0.05,
        model: Model = "normalized",
        allow_faults: bool = False,
        time: str | None = None,
        move_ms: int | None = None,
        max_games: int = MAX_GAMES,
        seed: int = 0,
        book: str | None = None,
        concurrency: int | None = None,
    ) -> None:
        """Asserts by a strength test that the difference is ``elo[1]`` rather than ``elo[0]``.

        Args:
            allow_faults: decides even if faults ended many of the games.
            book: a file of openings to play instead of random ones.

        Raises:
            AssertionError: it is not, or that was not decided within ``max_games`` or for faults;
                it names games that the bot lost.
        """
        __tracebackhide__ = True
        candidate, baseline = find_bots([bot, than])
        variant = read_variant(game)
        settings = StrengthSettings(
            variant,
            version_of(candidate, no_box=self._no_box),
            version_of(baseline, no_box=self._no_box),
            time_control(time, move_ms),
            seed,
            StrengthTerms(*elo, alpha, beta, model, max_games, allow_faults),
            book=given_book(book, variant),
        )
        test = SequentialTest.begin(settings)
        mine, theirs = self._launched([candidate, baseline])
        many = find_room(concurrency, settings.variant, [mine, theirs])
        steps, faults = go_on(test, mine, theirs, concurrency=many), FirstFaults()
        with closing(steps), _games(self._file) as games:
            for step, records in steps:
                test = step
                faults.note(records)
                for record, holders in zip(records, seatings(settings.variant), strict=False):
                    lost = margin(settings.variant, record, holders) < 0
                    games.add(record, {LOST: lost, WITH_FAULTS: has_failed(record)})
            if test.decision is not Decision.ACCEPT:
                rows = "\n".join(f"  {name:<8} {text}" for name, text in result_rows(test))
                words = f"{test.verdict}\n{rows}"
                if test.is_spoilt:
                    why = "\n".join([*faults.lines, "mend the bots, or say allow_faults=True"])
                    raise AssertionError(f"{words}\n{why}\n{games.keep(WITH_FAULTS)}")
                raise AssertionError(f"{words}\n{games.keep(LOST)}")

    def assert_plays_clean(
        self,
        bot: str,
        *,
        game: str,
        games: int = 20,
        time: str | None = None,
        move_ms: int | None = None,
        seed: int = 0,
        concurrency: int | None = None,
    ) -> None:
        """Asserts that a bot plays games against itself, from random openings, without a fault.

        Raises:
            AssertionError: there was an illegal move, a crash or another fault; it names them.
            ValueError: no game is asked for, of which nothing could be asserted.
        """
        __tracebackhide__ = True
        if games < 1:
            raise ValueError(f"games={games}: ask for one game or more")
        (found,) = find_bots([bot])
        variant, control = read_variant(game), time_control(time, move_ms)
        seats = entrants_needed(variant)
        specs = [
            match_spec(opening, [found.name] * seats, control, seed, number)
            for number, opening in enumerate(_starts(variant, seed, games))
        ]
        (launcher,) = self._launched([found])
        many = find_room(concurrency, variant, [launcher])

        def play(spec: MatchSpec, core: int | None) -> MatchResult:
            return play_match(spec, lambda _: launcher.player(core=core), games=1)

        faults = []
        with _games(self._file) as kept:
            for _, result in in_order(specs, on_cores(play), concurrency=many):
                (record,) = result.games
                found_here = [
                    f"  ply {fault.ply}: {fault.termination}, {fault.detail}"
                    for fault in record.faults
                    if fault.termination.is_failure
                ]
                faults += found_here
                kept.add(record, {WITH_FAULTS: bool(found_here)})
            if faults:
                text = visible("\n".join(faults[:SHOWN_GAMES]))
                raise AssertionError(
                    f"{found.name} has {counted(len(faults), 'fault')} in "
                    f"{counted(games, 'game')} of {variant}\n"
                    f"{text}\n{kept.keep(WITH_FAULTS)}"
                )

    def assert_finds(
        self,
        bot: str,
        *,
        game: str,
        moves: Sequence[str],
        after: str = "",
        time: str | None = None,
        move_ms: int | None = None,
        seed: int = 0,
    ) -> None:
        """Asserts that a bot's answer to a position is one of some moves.

        Args:
            after: the moves that lead to the position, with spaces between them.
            seed: draws what the rules leave to the lot, and is the bot's own.

        Raises:
            AssertionError: it plays another move, or has a fault.
            GameError: one of the moves, before or then, is not legal.
        """
        __tracebackhide__ = True
        (found,) = find_bots([bot])
        variant = read_variant(game).drawn(seed)
        state = read_position(variant, after, seed=seed)
        wanted = [state.canonical(move) for move in moves]
        words = ["arena", "draw", *str(variant).split(), "--after", after, "--seed", str(seed)]
        where = f"the position: {shlex.join(words)}"
        try:
            (launcher,) = self._launched([found])
            choice = _ask(launcher, variant, after.split(), time_control(time, move_ms), seed)
            answer = state.canonical(choice.move)
        except BotError as error:
            raise AssertionError(
                f"{found.name}: {error.termination}, {visible(error.detail)}; {where}"
            ) from None
        except GameError as error:
            raise AssertionError(f"{found.name}: {error}; {where}") from None
        if answer not in wanted:
            raise AssertionError(f"{found.name} plays {answer}, not {' or '.join(wanted)}; {where}")

    def _launched(self, bots: Sequence[GivenBot]) -> list[Launcher]:
        return launch_all(
            bots,
            no_box=self._no_box,
            minimum=self._minimum,
            processes=self._processes,
            say=print,
        )


class _Games:
    """The games of a test under way: kept for good only if it fails."""

    def __init__(self, path: Path, file: IO[str]) -> None:
        self._path = path
        self._file = file
        self._count = 0
        self._told: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, record: GameRecord, kinds: Mapping[str, bool]) -> None:
        """Takes a game, and of which kinds it is."""
        self._count += 1
        self._file.write(json.dumps(record.to_json()) + "\n")
        for what, told in kinds.items():
            if told and len(self._told[what]) < SHOWN_GAMES:
                self._told[what].append(self._count)

    def keep(self, what: str) -> str:
        """Keeps the games, and says how the first ones of a kind are replayed."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file.seek(0)
        with self._path.open("w", encoding="utf-8") as kept:
            shutil.copyfileobj(self._file, kept)
        file = shlex.quote(str(self._path))
        return "\n".join(
            [f"{what}:", *(f"  arena replay {file} --game {n}" for n in self._told[what])]
        )


@contextmanager
def _games(path: Path) -> Iterator[_Games]:
    """The games of a test that would be kept at this path."""
    with TemporaryFile("w+", encoding="utf-8") as file:
        yield _Games(path, file)


def _starts(variant: Variant, seed: int, games: int) -> list[Opening]:
    """An opening for each game: as many different ones as there are, then the same again."""
    if variant.seats == 1:
        return [opening(variant, derive(seed, "race", number)) for number in range(games)]
    found = list(islice(openings(variant, seed), games))
    return list(islice(cycle(found), games))


def _ask(
    bot: Launcher, variant: Variant, after: Sequence[str], control: TimeControl, seed: int
) -> Choice:
    """A bot's answer after these moves, in a game that it enters at that point.

    Raises:
        BotError: its fault.
    """
    state: State = variant.initial(seed)
    history = []
    for move in after:
        assert state.to_move is not None
        history.append(f"{state.to_move + 1}:{state.canonical(move)}")
        state = state.play(move)
    if state.to_move is None:
        raise GameError(f"{variant} is over after {' '.join(after)}: there is no move to find")
    if state.to_move == CHANCE:
        drawn = ", ".join(list(state.legal_moves())[:6])
        raise GameError(f"{variant}: say what is drawn after {' '.join(after)}, as in {drawn}")
    clocks = (Clock.start(control),) * variant.seats
    mine = clocks[state.to_move]
    with claimed_core() as core:
        player = bot.player(core=core)
        try:
            player.new_game(GameSetup(variant, state.to_move, control, seed))
            return player.choose(Turn(state, len(history), " ".join(history), clocks, (), mine))
        finally:
            player.close()
