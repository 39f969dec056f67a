"""A match under way as it is shown: what its worker tells, replayed by the rules, as events.

What a worker tells is taken for nothing until the rules allow it, and shown no further than they
do. Whoever says how far they have seen a match is told what follows, so that a connection that
breaks neither costs a ply nor shows one twice. It is told in the language that is spoken then, so
that what is drawn is kept for each language that somebody watches in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from arena.live.running_logs import RunningLogs
from arena.web.boards import position_drawn
from arena.web.replay_files import Packing, templates
from arena.web.words import outcome
from engine.clock import Clock
from engine.game import CHANCE, GameError, State, Termination, Variant
from engine.live import LiveLog, LivePlies, LiveWord
from engine.match import MatchSpec
from engine.record import GameRecord, Ply, ending
from engine.seeds import lot
from engine.translation import N_, gettext, spoken, translated

MOST_TOGETHER = 200
"""Plies in an event."""
WAITING = N_("Waiting for a worker.")
BEGUN = N_("A worker has begun.")
EARLY = N_("It ended early: by a fault, or somebody resigned.")


class Seen(NamedTuple):
    """How far somebody has seen a match."""

    attempt: int
    game: int
    again: int
    boards: int
    """How many of that game: one more than its plies, or none."""
    words: str | None = None
    """What was last said of it all, so that something is told to who has just come."""
    result: str = ""
    """What was last said of the outcome of that game."""

    @property
    def id(self) -> str:
        """It as the id of an event, from which `read_seen` reads it, all but the words."""
        return ".".join(map(str, self[:4]))


NOTHING = Seen(0, 0, 0, 0)


def read_seen(text: str) -> Seen:
    """How far the id of an event leads; nothing was seen if it is none."""
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9}){3}", text, re.ASCII):
        return NOTHING
    attempt, game, again, boards = map(int, text.split("."))
    return Seen(attempt, game, again, boards)


class LiveEvent(NamedTuple):
    """Something that a page is told."""

    kind: str
    """``plies``; ``words``, how it stands; ``log``, what bots log; or ``over``, which is ``words``
    and the last."""
    id: str
    data: Any
    """JSON's types."""

    @property
    def text(self) -> bytes:
        """It as a part of a stream (Server-Sent Events, in the HTML standard)."""
        data = json.dumps(self.data, separators=(",", ":"))
        return f"event: {self.kind}\nid: {self.id}\ndata: {data}\n\n".encode()


class _Drawing:
    """What of a play was drawn in a language."""

    def __init__(self) -> None:
        self.packing = Packing()
        self.boards: list[list[int]] = []
        self.known: list[int] = []
        """How many lines the boards up to each have."""
        self.items: list[str] = []
        """The moves that led to them."""


class Play:
    """One play of a game of a match, as far as it is known."""

    def __init__(self, spec: MatchSpec, variant: Variant, game: int, again: int) -> None:
        seed = spec.game_seed(game)
        self.game, self.again = game, again
        self.spec, self.seed = spec, seed
        self.variant = variant.drawn(seed)
        self.state: State = self.variant.initial(seed)
        self._start = self.state.text()
        self.plies: list[Ply] = []
        self.record: GameRecord | None = None
        """What tells what came of it, once that is known."""
        self.ended_early = False
        controls = spec.controls(game) or (spec.time,) * variant.seats
        self._clocks = list(map(Clock.start, controls))
        self._states = [self.state]
        self._drawings: dict[str, _Drawing] = {}
        """The drawings in each language."""
        self._out: list[tuple[int, int]] = []
        """The seats that left while others played on, each with the ply before which it did."""

    def take(self, first: int, plies: Sequence[Ply]) -> None:
        """Takes in what is new of some plies, as far as the rules allow it.

        Args:
            first: how many there are before them.
        """
        for ply in plies[max(0, len(self.plies) - first) :] if first <= len(self.plies) else ():
            try:
                self._play(ply)
            except GameError:
                return

        if self.state.to_move is None and not self.is_over:
            self.record = self._record()

    @property
    def is_over(self) -> bool:
        """Whether it is known what came of it, or that somebody left."""
        return self.record is not None or self.ended_early

    @property
    def result(self) -> str:
        """What came of it, once that is known."""
        if self.record is not None:
            return outcome(self.record)
        return translated(EARLY) if self.ended_early else ""

    def _record(self) -> GameRecord:
        """It as a record, as far as that can be known here: of no fault, and not when."""
        state = self.state
        return GameRecord(
            variant=self.variant,
            seed=self.seed,
            players=self.spec.entrants,
            time=self.spec.time,
            opening=len(self.spec.opening),
            plies=tuple(self.plies),
            faults=(),
            termination=ending(state, (), len(self.plies)) or Termination.VOID,
            scores=tuple(state.scores()),
            ranks=tuple(state.ranks()),
            isolation="none",
            started="",
        )

    def _play(self, ply: Ply) -> None:
        number, state, out = len(self.plies), self.state, list[tuple[int, int]]()
        if CHANCE in (state.to_move, ply.seat):
            by_lot = number >= len(self.spec.opening)
            if (
                state.to_move != ply.seat
                or by_lot
                and ply.move != state.roll(lot(self.seed, number))
            ):
                raise GameError("it was not drawn so")
        while state.to_move not in (ply.seat, None):
            # Whose turn it was has left the game.
            out.append((state.to_move, number))
            state = state.retire(state.to_move)
        self.state = state.play(ply.move)
        self._out += out
        self.plies.append(ply)
        self._states.append(self.state)
        if ply.cpu_us is not None and ply.wall_us is not None:
            clock = self._clocks[ply.seat]
            self._clocks[ply.seat] = clock.after(ply.cpu_us, ply.wall_us, ply.waited_us)

    def _draw(self, boards: int) -> _Drawing:
        """Draws what is missing of so many boards, and the moves that led to them."""
        item = templates().get_template("_replay.html").module.item  # type: ignore[attr-defined]
        drawing = self._drawings.setdefault(spoken().language, _Drawing())
        for number in range(len(drawing.boards), boards):
            ply = self.plies[number - 1] if number else None
            before = self._states[number - 1] if number else None
            drawn = position_drawn(self._states[number], ply and ply.move, before)
            drawing.boards.append(drawing.packing.add(drawn))
            drawing.known.append(len(drawing.packing.parts))
            if ply:
                drawing.items.append(item(self.variant, ply, number, len(self.spec.opening), ""))
        return drawing

    @property
    def boards(self) -> int:
        """How many boards there are: one before each ply, and the last one."""
        return len(self.plies) + 1

    @property
    def number(self) -> tuple[int, int]:
        """Which play of which game it is."""
        return self.game, self.again

    def part(self, boards: int) -> tuple[dict[str, Any], int]:
        """What is told to who has seen so many boards, and how many they have then."""
        end = min(self.boards, boards + MOST_TOGETHER)
        head = end == self.boards
        drawing = self._draw(end)
        at = drawing.known[boards - 1] if boards else 0
        told = {
            "game": self.game,
            "again": self.again,
            "first": boards,
            "at": at,
            "parts": drawing.packing.parts[at : drawing.known[end - 1]],
            "boards": drawing.boards[boards:end],
            "items": drawing.items[max(0, boards - 1) : end - 1],
            "said": [
                [ply.seat, {} if ply.seat == CHANCE else dict(ply.values)]
                for ply in self.plies[max(0, boards - 1) : end - 1]
            ],
            "moves": [
                [ply.seat, ply.move, ply.cpu_us, ply.text]
                for ply in self.plies[max(0, boards - 1) : end - 1]
            ],
            "out": [one for one in self._out if one[1] < end],
            "due": self.state.to_move if head and not self.is_over else None,
            "left": self._left(),
            "result": self.result if head else "",
        }
        if not boards:
            # Not its seed, by which bots that watch could tell what is drawn by lot.
            told |= {
                "games": self.spec.games,
                "players": self.players(),
                "sides": list(self.variant.side_of),
                "variant": str(self.variant),
                "start": self._start,
            }
        return told, end

    def _left(self) -> list[float] | None:
        """Milliseconds on each seat's clock; None where each move has its own time.

        Nor is it known of the reference machine's clock before the match is over.
        """
        controls = [clock.control for clock in self._clocks]
        if all(one.move_ms is not None for one in controls) or self.spec.time.reference:
            return None
        return [clock.left_ms for clock in self._clocks]

    def players(self) -> list[list[str]]:
        """Each seat's name, and who sits there."""
        seating = self.spec.seating(self.game)
        names = [self.spec.entrants[entrant] for entrant in seating]
        return [list(one) for one in zip(self.variant.seat_names, names, strict=True)]


@dataclass(frozen=True, slots=True)
class LiveStanding:
    """A match as the database has it."""

    spec: MatchSpec
    variant: Variant
    attempt: int
    words: str
    """How it stands, where no game is to be seen yet, or that it is over: as `gettext` takes it."""
    places: Mapping[str, object] = field(default_factory=dict)
    """What stands in these words."""
    is_over: bool = False
    records: tuple[GameRecord, ...] = ()
    """The games of a match that was played."""


class LiveShow:
    """What is known of a match under way."""

    def __init__(self, standing: LiveStanding) -> None:
        self.standing = standing
        self._plays: list[Play] = []
        self._logs = RunningLogs()

    @property
    def is_over(self) -> bool:
        """Whether nothing follows any more."""
        return self.standing.is_over

    def stand(self, standing: LiveStanding) -> None:
        """Takes in how it stands by now."""
        if standing.attempt != self.standing.attempt:
            self._plays = []  # it is played anew
            self._logs.forget()
        self.standing = standing
        for game, record in enumerate(standing.records):
            play = self._play(game, self._again_of(game, record))
            play.take(0, record.plies)
            play.record = record

    def _again_of(self, game: int, record: GameRecord) -> int:
        """Which play of a game counts: the last, unless that has other plies than the record."""
        its = [play for play in self._plays if play.game == game]
        if not its:
            return 0
        last = its[-1]
        # What was said of a move may have been cut.
        told = [ply[:2] for ply in last.plies]
        is_it = told == [ply[:2] for ply in record.plies[: len(told)]]
        return last.again if is_it else last.again + 1

    def take(self, told: LiveWord) -> None:
        """Takes in what the worker tells that has the match."""
        if told.game >= self.standing.spec.games:
            return
        if isinstance(told, LiveLog):
            self._logs.take(told, self.standing.variant.seats)
        elif isinstance(told, LivePlies):
            last = self._plays[-1] if self._plays else None
            if last and told.game > last.game:
                last.ended_early = True
            self._play(told.game, told.again).take(told.first, told.plies)

    def _play(self, game: int, again: int) -> Play:
        for play in self._plays:
            if play.number == (game, again):
                return play
        made = Play(self.standing.spec, self.standing.variant, game, again)
        self._plays.append(made)
        self._plays.sort(key=lambda play: play.number)
        return made

    def since(self, seen: Seen) -> tuple[list[LiveEvent], Seen]:
        """What is to be told to who has seen so much, and how much they have seen then.

        Who has seen nothing of this attempt begins with the running game; who has seen more than is
        known here is told nothing until that is known, too.
        """
        events: list[LiveEvent] = []
        attempt, plays = self.standing.attempt, self._plays[-1:]
        if seen.attempt != attempt:
            seen = Seen(attempt, 0, 0, 0, seen.words)
        elif seen.boards:
            plays = [play for play in self._plays if play.number >= seen[1:3]]
        for play in plays:
            if play.number != seen[1:3]:
                seen = Seen(attempt, *play.number, 0, seen.words)
            while seen.boards < play.boards or (
                seen.boards == play.boards and seen.result != play.result
            ):
                told, boards = play.part(seen.boards)
                if not seen.boards:
                    told["before"] = self._before(play)
                result = play.result if boards == play.boards else ""
                seen = seen._replace(boards=boards, result=result)
                events.append(LiveEvent("plies", seen.id, told))
        words, standing = "", self.standing
        if self.is_over or not self._plays:
            words = gettext(standing.words, **standing.places)
        if words != seen.words:
            events.append(LiveEvent("over" if self.is_over else "words", seen.id, words))
        return events, seen._replace(words=words)

    def _before(self, play: Play) -> list[str]:
        """What came of the games before a play, as far as it is known, in sentences."""
        results: dict[int, str] = {}
        for one in self._plays:
            if one.game < play.game and one.is_over:
                players = (f"{translated(seat)} {player}" for seat, player in one.players())
                results[one.game] = gettext(
                    "Game %(number)s (%(players)s): %(result)s",
                    number=one.game + 1,
                    players=", ".join(players),
                    result=one.result,
                )
        return list(results.values())

    def logs_since(
        self, number: int, entrants: Collection[int], seen: Seen
    ) -> tuple[list[LiveEvent], int]:
        """What is to be told of these entrants' logs, and its number: as `RunningLogs.since`."""
        if not entrants:
            return [], number
        found, last = self._logs.since(number, entrants, self.standing.spec.seating)
        return [LiveEvent("log", seen.id, one) for one in found], last

    def forget_logs(self) -> None:
        """Nobody reads them any more."""
        self._logs.forget()
