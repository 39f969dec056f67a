"""A game as it was played: what it takes to replay it, prove it and show it.

The JSON form counts seats from 1, as people do. What differs from run to run (times, the date,
the box, the words of a fault) stands under ``run``; all else is the same whenever the same
bots play the same game from the same seeds.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from engine.clock import Clock, TimeControl, granted
from engine.game import CHANCE, GameError, Move, Seat, State, Termination, Variant
from engine.games import GAMES
from engine.measure import stretch_of
from engine.plurals import counted
from engine.seeds import lot
from engine.shelf import Missing
from engine.translation import N_, gettext

FORMAT = 1
TOO_LARGE = 1e300
"""A record's numbers lie below, so that what is reckoned with them is a number, too."""


class RecordError(ValueError):
    """A text that is no record, or a record that the rules contradict; one sentence."""


class Ply(NamedTuple):
    """One move of a game. Moves of the opening, and of chance, have no times."""

    seat: Seat
    move: Move
    cpu_us: int | None = None
    wall_us: int | None = None
    text: str = ""
    """What the bot said of its move."""
    values: Mapping[str, float] = {}
    """Numbers that the bot gave for this ply."""
    waited_us: int = 0
    """How much of the wall time the bot waited for a core, as far as that is known."""
    tags: tuple[str, ...] = ()
    """Words by which the bot marked this ply."""
    pv: tuple[Move, ...] = ()
    """The moves that the bot expected from here, its own first, as it wrote them."""


def charged_us(ply: Ply, time: TimeControl) -> int | None:
    """What a move cost its clock, in microseconds; None of the opening's."""
    return ply.wall_us if time.charge == "wall" else ply.cpu_us


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
    """The game with its options fixed and its lots drawn."""
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
    rules: str = ""
    """Whose rules of the game it was played by, and which version of them (see
    `engine.shelf.Edition`); empty if that is not known."""
    chosen: tuple[Mapping[str, str], ...] = ()
    """The options that the player in each seat was told; empty if nobody was told any."""
    times: tuple[TimeControl, ...] = ()
    """The time control of each seat; empty if all have `time`."""
    speeds: tuple[float, ...] = ()
    """How fast the machine was for the program in each seat, the reference machine being 1
    (`engine.measure`); empty if that is not known."""
    stretch: tuple[float, ...] = ()
    """What the clock of each seat was multiplied by; empty for not at all."""

    @property
    def controls(self) -> tuple[TimeControl, ...]:
        """The time control of each seat."""
        return self.times or (self.time,) * self.variant.seats

    @property
    def granted(self) -> tuple[TimeControl, ...]:
        """The clock that each seat had."""
        return granted(self.controls, self.stretch)

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves alone."""
        return tuple(ply.move for ply in self.plies)

    def digest(self) -> str:
        """SHA-256 over all but the circumstances of the run, in hexadecimal."""
        return digest_of(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """The record as JSON's types; `from_json` takes it back."""
        waited_us = [ply.waited_us for ply in self.plies]
        tags = {str(n): list(ply.tags) for n, ply in enumerate(self.plies) if ply.tags}
        pv = {str(n): list(ply.pv) for n, ply in enumerate(self.plies) if ply.pv}
        return {
            "record": FORMAT,
            "game": self.variant.game,
            "options": dict(self.variant.options),
            "seed": self.seed,
            "players": list(self.players),
            **({"chosen": [dict(one) for one in self.chosen]} if self.chosen else {}),
            "time": self.time.to_json(),
            **({"times": [one.to_json() for one in self.times]} if self.times else {}),
            "opening": self.opening,
            "moves": [f"{ply.seat + 1}:{ply.move}" for ply in self.plies],
            "texts": {str(n): ply.text for n, ply in enumerate(self.plies) if ply.text},
            "values": {str(n): dict(ply.values) for n, ply in enumerate(self.plies) if ply.values},
            **({"tags": tags} if tags else {}),
            **({"pv": pv} if pv else {}),
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
                **({"rules": self.rules} if self.rules else {}),
                **({"speeds": list(self.speeds)} if self.speeds else {}),
                **({"stretch": list(self.stretch)} if self.stretch else {}),
                "cpu_us": [ply.cpu_us for ply in self.plies],
                "wall_us": [ply.wall_us for ply in self.plies],
                **({"waited_us": waited_us} if any(waited_us) else {}),
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
            raise RecordError(gettext("this is no game record: it has no key 'record'"))
        try:
            if data["record"] != FORMAT:
                raise RecordError(
                    gettext(
                        "this record has format %(format)s; this program reads format %(known)s, "
                        "so use the release that wrote it",
                        format=str(data["record"])[:20],
                        known=FORMAT,
                    )
                )
            return cls._parse(data)
        except RecordError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            what = str(error)
            if isinstance(error, KeyError):
                what = gettext("no %(key)s", key=error)
            raise RecordError(
                gettext("this record is damaged: %(what)s", what=what[:200])
            ) from None

    @classmethod
    def _parse(cls, data: dict[str, Any]) -> GameRecord:
        game = _text(data["game"])
        options = {_text(key): _text(value) for key, value in data["options"].items()}
        players = tuple(map(_text, _list(data["players"])))
        variant = GAMES.find(game, options, seats=len(players))
        run = data["run"]
        moves = _list(data["moves"])
        numbers = [str(n) for n in range(len(moves))]
        cpu_us, wall_us = (_times(run[clock], len(moves)) for clock in ("cpu_us", "wall_us"))
        waited_us = _times(run.get("waited_us", [0] * len(moves)), len(moves))
        texts, values = (map(data[said].get, numbers) for said in ("texts", "values"))
        tags, pv = (map(data.get(said, {}).get, numbers) for said in ("tags", "pv"))
        plies = tuple(map(ply_of, moves, cpu_us, wall_us, texts, values, waited_us, tags, pv))
        faults = tuple(
            Fault(
                _integer(fault["seat"]) - 1,
                _integer(fault["ply"]),
                Termination(fault["termination"]),
                _text(detail),
            )
            for fault, detail in zip(data["faults"], run["details"], strict=True)
        )
        moved = {ply.seat for ply in plies} - ({CHANCE} if variant.has_chance else set())
        for seat in [*moved, *(fault.seat for fault in faults)]:
            if not 0 <= seat < variant.seats:
                raise RecordError(
                    gettext(
                        "there is no seat %(seat)s in %(variant)s", seat=seat + 1, variant=variant
                    )
                )
        when = [0, *(fault.ply for fault in faults), len(plies)]
        if when != sorted(when) or not all(fault.termination.is_fault for fault in faults):
            raise RecordError(gettext("the faults are no faults of this game in their order"))
        chosen = tuple(map(_chosen, _list(data.get("chosen", []))))
        times = tuple(map(_time, _list(data.get("times", []))))
        opening = _integer(data["opening"])
        if not 0 <= opening <= len(plies):
            raise RecordError(
                gettext(
                    "an opening of %(opening)s in a game of %(plies)s",
                    opening=counted(opening, "move"),
                    plies=len(plies),
                )
            )
        termination = Termination(data["termination"])
        scores, ranks = tuple(map(_number, data["scores"])), tuple(map(_integer, data["ranks"]))
        # A game that goes on has no result yet.
        results = 0 if termination is Termination.VOID else variant.seats
        for what, given, needed in (
            (N_("its players are %(given)s, not %(needed)s"), players, variant.seats),
            (
                N_("its chosen options are %(given)s, not %(needed)s"),
                chosen,
                variant.seats if chosen else 0,
            ),
            (
                N_("its time controls are %(given)s, not %(needed)s"),
                times,
                variant.seats if times else 0,
            ),
            (N_("its scores are %(given)s, not %(needed)s"), scores, results),
            (N_("its ranks are %(given)s, not %(needed)s"), ranks, results),
        ):
            if len(given) != needed:
                raise ValueError(gettext(what, given=len(given), needed=needed))
        return cls(
            variant=variant,
            seed=_integer(data["seed"]),
            players=players,
            time=_time(data["time"]),
            opening=opening,
            plies=plies,
            faults=faults,
            termination=termination,
            scores=scores,
            ranks=ranks,
            isolation=_text(run["isolation"]),
            started=_text(run["started"]),
            rules=_text(run.get("rules", "")),
            chosen=chosen if any(chosen) else (),
            times=times,
            speeds=_factors(run.get("speeds", []), "speeds", variant.seats),
            stretch=_factors(run.get("stretch", []), "clocks' factors", variant.seats),
        )


def digest_of(data: Mapping[str, Any]) -> str:
    """The digest of a record (`GameRecord.digest`), as JSON has it."""
    essence = {key: value for key, value in data.items() if key != "run"}
    text = json.dumps(essence, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


_SEATS: Mapping[str, Seat] = {str(number): number - 1 for number in range(100)}
"""Seats as moves name them, who are counted from 1; 0 is chance."""


def ply_of(
    word: Any,
    cpu_us: Any,
    wall_us: Any,
    text: Any,
    values: Any,
    waited_us: Any,
    tags: Any,
    pv: Any = None,
) -> Ply:
    """A ply of its parts as JSON has them, the seat before the move; its times are as they come.

    Raises:
        RecordError: it is none.
    """
    number, _, move = _text(word).partition(":")
    seat = _SEATS.get(number)
    if seat is None:
        raise RecordError(gettext("%(word)r is no move with its seat", word=word[:40]))
    return Ply(
        seat,
        move,
        cpu_us,
        wall_us,
        "" if text is None else _text(text),
        {} if values is None else {_text(key): _number(value) for key, value in values.items()},
        waited_us or 0,
        () if tags is None else tuple(map(_text, _list(tags))),
        () if pv is None else tuple(map(_text, _list(pv))),
    )


def _time(data: Mapping[str, Any]) -> TimeControl:
    if data["charge"] not in ("cpu", "wall"):
        raise RecordError(
            gettext("%(charge)r time is charged by no clock", charge=str(data["charge"])[:20])
        )
    if "move_ms" in data:
        time = TimeControl(move_ms=_integer(data["move_ms"]), charge=data["charge"])
    else:
        time_ms, inc_ms = _integer(data["time_ms"]), _integer(data["inc_ms"])
        time = TimeControl(time_ms=time_ms, inc_ms=inc_ms, charge=data["charge"])
    return replace(time, reference=True) if data.get("reference") is True else time


def _factors(data: Any, what: str, seats: int) -> tuple[float, ...]:
    """Reads a number above zero for each seat, or nothing."""
    found = tuple(map(_number, _list(data)))
    if found and (len(found) != seats or min(found) <= 0):
        raise RecordError(
            gettext(
                "its %(what)s are %(found)s, not one above 0 for each seat", what=what, found=found
            )
        )
    return found


def _chosen(data: Any) -> Mapping[str, str]:
    """What a player was told of its options."""
    if not isinstance(data, dict):
        raise RecordError(gettext("%(data)r says no options of a player", data=str(data)[:40]))
    return {_text(name): _text(value) for name, value in data.items()}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise RecordError(gettext("%(value)r is no text", value=str(value)[:40]))
    value.encode()  # half a character can be shown by no page and kept by no database
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise RecordError(gettext("%(value)r is no list", value=str(value)[:40]))
    return value


def _integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -(2**63) <= value < 2**63:
        raise RecordError(gettext("%(value)r is no whole number of 64 bits", value=str(value)[:40]))
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < TOO_LARGE:
        raise RecordError(gettext("%(value)r is no number", value=str(value)[:40]))
    return float(value)


def _times(data: Any, moves: int) -> list[int | None]:
    """A time in microseconds for each move, or None."""
    values = _list(data)
    if len(values) != moves:
        raise ValueError(
            gettext("its times are %(times)s, its moves %(moves)s", times=len(values), moves=moves)
        )
    for value in values:
        # A record is mostly such numbers, so that a right one is known by a single look.
        if value is not None and not (type(value) is int and 0 <= value < 2**63):
            raise RecordError(
                gettext("%(value)s is no time in microseconds", value=_integer(value))
            )
    return values


def demand_in_time(record: GameRecord) -> None:
    """Proves the times of a record against what its clocks granted.

    Raises:
        RecordError: the reference machine's clock was stretched for nobody, by too much or by
            what its machine's speed does not say, or a move cost more than there was.
    """
    stretch = record.stretch
    if stretch != (tuple(map(stretch_of, record.speeds)) if record.time.reference else ()):
        raise RecordError(
            gettext(
                "its clocks are stretched by %(stretch)s at speeds of %(speeds)s",
                stretch=list(stretch),
                speeds=list(record.speeds),
            )
        )
    if record.time.reference and not stretch:
        raise RecordError(
            gettext("its clocks are the reference machine's, and nothing is said of its own")
        )
    clocks = list(map(Clock.start, record.granted))
    for number, ply in enumerate(record.plies):
        if ply.cpu_us is None or ply.wall_us is None:
            continue
        clock = clocks[ply.seat]
        if words := clock.overrun(ply.cpu_us, ply.wall_us):
            raise RecordError(f"at ply {number} seat {ply.seat + 1} {words}")
        clocks[ply.seat] = clock.after(ply.cpu_us, ply.wall_us, ply.waited_us)


def parse_record(text: str) -> GameRecord:
    """The record in a text of JSON.

    Raises:
        RecordError: it is none.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise RecordError(gettext("this is no JSON: %(error)s", error=error)) from None
    except (ValueError, RecursionError):
        # JSON to its grammar, and beyond what Python reads.
        raise RecordError(
            gettext("this is no game record: it is nested too deeply or too long")
        ) from None
    return GameRecord.from_json(data)


def record_texts(text: str) -> list[str]:
    """The texts of the records in one: one a line, or a single one over several lines.

    Raises:
        RecordError: there is none.
    """
    if re.match(r"\s*\{\s*\n", text):
        return [text]
    # JSON may have within it what else Python takes for the end of a line.
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise RecordError(gettext("there is no record: the text is empty"))
    return lines


def parse_records(text: str) -> list[GameRecord]:
    """The records in a text, as `record_texts` finds them.

    Raises:
        RecordError: there is none, or one is damaged; it names the line.
    """
    records = []
    for number, line in enumerate(record_texts(text), start=1):
        try:
            records.append(parse_record(line))
        except RecordError as error:
            raise RecordError(
                gettext("line %(number)s: %(error)s", number=number, error=error)
            ) from None
    return records


def states(record: GameRecord) -> Iterator[State]:
    """The position before each ply and the one at the end, by the rules.

    Raises:
        RecordError: a ply that the rules do not allow, or a seat that was not to move.
    """
    state: State = record.variant.initial(record.seed)
    faults = list(record.faults)
    for number, ply in enumerate(record.plies):
        if faults:
            state = _retired(state, faults, number)
        yield state
        if state.to_move != ply.seat:
            raise RecordError(
                gettext(
                    "at ply %(number)s it was not seat %(seat)s's turn",
                    number=number,
                    seat=ply.seat + 1,
                )
            )
        if ply.seat == CHANCE and number >= record.opening:
            drawn = state.roll(lot(record.seed, number))
            if ply.move != drawn:
                raise RecordError(
                    gettext(
                        "at ply %(number)s its seed draws %(drawn)s, not %(move)s",
                        number=number,
                        drawn=drawn,
                        move=ply.move,
                    )
                )
        try:
            state = state.play(ply.move)
        except GameError as error:
            raise RecordError(
                gettext("at ply %(number)s: %(error)s", number=number, error=error)
            ) from None
    yield _retired(state, faults, len(record.plies))


def states_known(record: GameRecord) -> Iterator[State]:
    """The positions of a record for who only looks: up to the ply that the rules do not allow.

    Rules may have changed since a game was recorded. The first position is always there.
    """
    found = states(record)
    try:
        yield next(found)
    except RecordError:
        yield record.variant.initial(record.seed)
        return
    with suppress(RecordError):
        yield from found


def _retired(state: State, faults: list[Fault], ply: int) -> State:
    while faults and faults[0].ply <= ply:
        fault = faults.pop(0)
        if state.to_move is None:
            raise RecordError(
                gettext(
                    "seat %(seat)s left at ply %(ply)s a game that was over",
                    seat=fault.seat + 1,
                    ply=fault.ply,
                )
            )
        state = state.retire(fault.seat)
    return state


def other_rules(record: GameRecord) -> str:
    """Says that its game is not here, or by other rules than it was played by; empty if it is."""
    if isinstance(record.variant, Missing):
        return record.variant.reason
    here = GAMES.rules(record.variant.game)
    if here and record.rules not in ("", here):
        return gettext(
            "played by the rules of %(rules)s; here are those of %(here)s",
            rules=record.rules,
            here=here,
        )
    return ""


def ending(state: State, faults: Sequence[Fault], plies: int) -> Termination | None:
    """Why a game ended: by its last fault if no ply came after it, else as the rules say."""
    if faults and faults[-1].ply == plies and state.to_move is None:
        return faults[-1].termination
    return state.ending()


def replay(record: GameRecord) -> State:
    """The final position of a record whose every move, end and result the rules confirm.

    Raises:
        RecordError: they don't; it names the ply or the result. Or it was played by other rules
            than are here, whatever these say.
    """
    if other := other_rules(record):
        raise RecordError(other)
    *_, state = states(record)
    if state.to_move is not None:
        raise RecordError(
            gettext(
                "the game is not over after %(plies)s",
                plies=counted(len(record.plies), "ply", "plies"),
            )
        )
    if state.ranks() != record.ranks or state.scores() != record.scores:
        raise RecordError(
            gettext(
                "the result is ranks %(ranks)s, scores %(scores)s; the record says ranks "
                "%(recorded_ranks)s, scores %(recorded_scores)s",
                ranks=list(state.ranks()),
                scores=list(state.scores()),
                recorded_ranks=list(record.ranks),
                recorded_scores=list(record.scores),
            )
        )
    if record.termination != (why := ending(state, record.faults, len(record.plies))):
        raise RecordError(
            gettext(
                "it ended by %(cause)s, not by %(recorded)s",
                cause=why,
                recorded=record.termination,
            )
        )
    return state
