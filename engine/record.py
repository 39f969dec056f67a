"""A game as it was played: what it takes to replay it, prove it and show it.

The JSON form counts seats from 1, as people do. What differs from run to run (times, the date,
the box, the words of a fault) stands under ``run``; all else is the same whenever the same
bots play the same game from the same seeds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.clock import TimeControl
from engine.game import GameError, Move, Seat, State, Termination, Variant
from engine.games import GAMES

FORMAT = 1


class RecordError(ValueError):
    """A text that is no record, or a record that the rules contradict; one sentence."""


@dataclass(frozen=True, slots=True)
class Ply:
    """One move of a game. Moves of the opening have no times."""

    seat: Seat
    move: Move
    cpu_us: int | None = None
    wall_us: int | None = None
    text: str = ""
    """What the bot said of its move."""
    values: Mapping[str, float] = field(default_factory=dict)
    """Numbers that the bot gave for this ply."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A seat that left by its own fault, before the ply with this number."""

    seat: Seat
    ply: int
    termination: Termination
    detail: str


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One play of a game."""

    variant: Variant
    """With its lots drawn."""
    seed: int
    players: tuple[str, ...]
    """A name for each seat."""
    time: TimeControl
    opening: int
    """How many of the plies the opening made."""
    plies: tuple[Ply, ...]
    faults: tuple[Fault, ...]
    termination: Termination
    scores: tuple[float, ...]
    ranks: tuple[int, ...]
    isolation: str
    """The weakest box that a player sat in."""
    started: str
    """When it began, in UTC, as ``YYYY-MM-DDTHH:MM:SSZ``."""

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves alone."""
        return tuple(ply.move for ply in self.plies)

    def digest(self) -> str:
        """SHA-256 over all but the circumstances of the run, in hexadecimal."""
        essence = {key: value for key, value in self.to_json().items() if key != "run"}
        text = json.dumps(essence, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """The record as JSON's types; `from_json` takes it back."""
        time: dict[str, Any] = {"charge": self.time.charge}
        if self.time.move_ms is not None:
            time["move_ms"] = self.time.move_ms
        else:
            time |= {"time_ms": self.time.time_ms, "inc_ms": self.time.inc_ms}
        return {
            "record": FORMAT,
            "game": self.variant.game,
            "options": dict(self.variant.options),
            "seed": self.seed,
            "players": list(self.players),
            "time": time,
            "opening": self.opening,
            "moves": [f"{ply.seat + 1}:{ply.move}" for ply in self.plies],
            "texts": {str(n): ply.text for n, ply in enumerate(self.plies) if ply.text},
            "values": {str(n): dict(ply.values) for n, ply in enumerate(self.plies) if ply.values},
            "faults": [
                {
                    "seat": fault.seat + 1,
                    "ply": fault.ply,
                    "termination": str(fault.termination),
                }
                for fault in self.faults
            ],
            "termination": str(self.termination),
            "scores": list(self.scores),
            "ranks": list(self.ranks),
            "run": {
                "started": self.started,
                "isolation": self.isolation,
                "cpu_us": [ply.cpu_us for ply in self.plies],
                "wall_us": [ply.wall_us for ply in self.plies],
                "details": [fault.detail for fault in self.faults],
            },
        }

    @classmethod
    def from_json(cls, data: Any) -> GameRecord:
        """The record that `to_json` wrote.

        Raises:
            RecordError: it is no record, or one of another format.
        """
        if not isinstance(data, dict) or "record" not in data:
            raise RecordError("this is no game record: it has no key 'record'")
        if data["record"] != FORMAT:
            raise RecordError(
                f"this record has format {str(data['record'])[:20]}; this program reads format "
                f"{FORMAT}, so use the release that wrote it"
            )
        try:
            return cls._parse(data)
        except RecordError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise RecordError(f"this record is damaged: {what}") from None

    @classmethod
    def _parse(cls, data: dict[str, Any]) -> GameRecord:
        if data["game"] not in GAMES:
            raise RecordError(f"there is no game {str(data['game'])[:40]!r}")
        variant = GAMES[data["game"]].variant(**{k: str(v) for k, v in data["options"].items()})
        run = data["run"]
        plies = []
        for n, (word, cpu_us, wall_us) in enumerate(
            zip(data["moves"], run["cpu_us"], run["wall_us"], strict=True)
        ):
            seat, _, move = word.partition(":")
            plies.append(
                Ply(
                    _seat(seat, variant),
                    move,
                    _microseconds(cpu_us),
                    _microseconds(wall_us),
                    str(data["texts"].get(str(n), "")),
                    {str(k): float(v) for k, v in data["values"].get(str(n), {}).items()},
                )
            )
        time = data["time"]
        return cls(
            variant=variant,
            seed=int(data["seed"]),
            players=tuple(map(str, data["players"])),
            time=TimeControl(
                time_ms=time.get("time_ms"),
                inc_ms=time.get("inc_ms", 0),
                move_ms=time.get("move_ms"),
                charge=time["charge"],
            ),
            opening=int(data["opening"]),
            plies=tuple(plies),
            faults=tuple(
                Fault(
                    _seat(fault["seat"], variant),
                    int(fault["ply"]),
                    Termination(fault["termination"]),
                    str(detail),
                )
                for fault, detail in zip(data["faults"], run["details"], strict=True)
            ),
            termination=Termination(data["termination"]),
            scores=tuple(map(float, data["scores"])),
            ranks=tuple(map(int, data["ranks"])),
            isolation=str(run["isolation"]),
            started=str(run["started"]),
        )


def _seat(number: str | int, variant: Variant) -> Seat:
    seat = int(number) - 1
    if not 0 <= seat < variant.seats:
        raise RecordError(f"there is no seat {number} in {variant}")
    return seat


def _microseconds(value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise RecordError(f"{str(value)[:20]!r} is no time in microseconds")
    return value


def parse_record(text: str) -> GameRecord:
    """The record in a text of JSON.

    Raises:
        RecordError: it is none.
    """
    try:
        return GameRecord.from_json(json.loads(text))
    except json.JSONDecodeError as error:
        raise RecordError(f"this is no JSON: {error}") from None
    except RecursionError:
        raise RecordError("this is no game record: it is nested too deeply") from None


def states(record: GameRecord) -> Iterator[State]:
    """The position before each ply and the one at the end, by the rules.

    Raises:
        RecordError: a ply that the rules do not allow, or a seat that was not to move.
    """
    state: State = record.variant.initial(record.seed)
    faults = list(record.faults)
    for number, ply in enumerate(record.plies):
        state = _retired(state, faults, number)
        yield state
        if state.to_move != ply.seat:
            raise RecordError(f"at ply {number} it was not seat {ply.seat + 1}'s turn")
        try:
            state = state.play(ply.move)
        except GameError as error:
            raise RecordError(f"at ply {number}: {error}") from None
    yield _retired(state, faults, len(record.plies))


def _retired(state: State, faults: list[Fault], ply: int) -> State:
    while faults and faults[0].ply <= ply:
        state = state.retire(faults.pop(0).seat)
    return state


def replay(record: GameRecord) -> State:
    """The final position of a record whose every move, end and result the rules confirm.

    Raises:
        RecordError: they don't; it names the ply or the result.
    """
    *_, state = states(record)
    seats = record.variant.seats
    if len(record.players) != seats:
        raise RecordError(f"there are {len(record.players)} players for {seats} seats")
    if state.to_move is not None:
        raise RecordError(f"the game is not over after {len(record.plies)} plies")
    if state.ranks() != record.ranks or state.scores() != record.scores:
        raise RecordError(
            f"the result is ranks {list(state.ranks())}, scores {list(state.scores())}; the "
            f"record says ranks {list(record.ranks)}, scores {list(record.scores)}"
        )
    # A game that a fault ended ends for that fault's reason, any other as the rules say.
    last = record.faults[-1] if record.faults else None
    ended_by_fault = last is not None and last.ply == len(record.plies)
    allowed = {state.ending()} | ({last.termination} if last and ended_by_fault else set())
    if record.termination not in allowed:
        raise RecordError(f"it did not end by {record.termination}")
    return state
