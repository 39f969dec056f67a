"""What a bot would play in positions of a game that it does not play: asked one after the other.

It is told of each as of a game of its own, in the seat whose turn it is, with all that was played
before, in one process. Its dice are those of the ply, so that whoever asks again hears the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from engine.game import IllegalMoveError, Move, Termination
from engine.player import Player
from engine.protocol import share
from engine.record import Fault, GameRecord, RecordError, ply_of, states
from engine.sitting import Answer, answer_at

MOST_PLIES = 600
"""Positions of a game that are asked about at once."""
LONGEST_DETAIL = 2000
"""Characters of what is told of a fault."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a bot answered in one position."""

    ply: int
    """How many moves were played before it."""
    seat: int
    move: Move
    """Empty if it answered with a fault."""
    fault: Termination | None = None
    detail: str = ""
    """What the fault was, in words."""
    text: str = ""
    share: float | None = None
    """What its side expects, 0 to 1, if it said so."""
    depth: float | None = None
    pv: tuple[Move, ...] = ()
    cpu_us: int = 0
    numbers: Mapping[str, float] = field(default_factory=dict)
    """All that it gave, by their keys."""

    @classmethod
    def of(cls, ply: int, answer: Answer) -> Opinion:
        """The opinion that an answer is."""
        if isinstance(answer, Fault):
            return cls(ply, answer.seat, "", answer.termination, answer.detail)
        return cls(
            ply,
            answer.seat,
            answer.move,
            text=answer.text,
            share=share(answer.values),
            depth=answer.values.get("depth"),
            pv=answer.pv,
            cpu_us=answer.cpu_us or 0,
            numbers=answer.values,
        )

    def to_json(self) -> dict[str, Any]:
        """The opinion as JSON's types; what is empty is left out."""
        told = {
            "ply": self.ply,
            "seat": self.seat + 1,
            "move": self.move,
            "fault": self.fault and str(self.fault),
            "detail": self.detail,
            "text": self.text,
            "share": self.share,
            "depth": self.depth,
            "pv": list(self.pv),
            "cpu_us": self.cpu_us,
            "numbers": dict(self.numbers),
        }
        return {key: value for key, value in told.items() if value not in (None, "", [], {})}


def opinions(
    game: GameRecord, plies: Collection[int], player: Player
) -> Iterator[tuple[int, Answer]]:
    """What a player who has just come answers at some plies of a game, one after the other.

    After a fault that ends its process it is asked no more.

    Raises:
        VoidGameError: a fault of ours.
        RecordError: the rules contradict the game.
    """
    wanted = set(plies)
    for ply, state in zip(count(), states(game), strict=False):
        if ply not in wanted or state.to_move is None:
            continue
        before = replace(
            game,
            plies=game.plies[:ply],
            opening=ply,
            faults=tuple(fault for fault in game.faults if fault.ply <= ply),
        )
        yield ply, answer_at(before, state, player)
        if player.closed:
            break


def confirm(
    game: GameRecord,
    plies: Sequence[int],
    answers: Sequence[tuple[int, Answer]],
    *,
    is_part: bool = False,
) -> None:
    """Proves against the rules that these answers can be those of one bot to these questions.

    Args:
        is_part: whether they are some of its answers, in order, while it is asked on.

    Raises:
        RecordError: they can't; one sentence.
    """
    positions = dict(enumerate(states(game)))
    asked = [ply for ply in plies if positions[ply].to_move is not None]
    told = [ply for ply, _ in answers]
    ended = bool(answers) and isinstance(answers[-1][1], Fault)
    expected = asked[: len(told)] if ended else asked
    if is_part:
        expected = [ply for ply in asked if ply in set(told)]
    if told != expected:
        raise RecordError("it does not answer what was asked")
    for ply, answer in answers:
        state = positions[ply]
        if answer.seat != state.to_move:
            raise RecordError(f"at ply {ply} seat {answer.seat + 1} was not asked")
        if isinstance(answer, Fault):
            if not answer.termination.is_fault:
                raise RecordError(f"at ply {ply} it can't have left so")
            continue
        try:
            if state.canonical(answer.move) != answer.move:
                raise RecordError(f"at ply {ply}: {answer.move[:40]!r} is not how it is written")
        except IllegalMoveError as error:
            raise RecordError(f"at ply {ply}: {error}") from None


def answer_to_json(ply: int, answer: Answer) -> dict[str, Any]:
    """An answer as JSON's types."""
    if isinstance(answer, Fault):
        fault, detail = str(answer.termination), answer.detail
        return {"ply": ply, "seat": answer.seat + 1, "fault": fault, "detail": detail}
    return {
        "ply": ply,
        "move": f"{answer.seat + 1}:{answer.move}",
        "cpu_us": answer.cpu_us,
        "wall_us": answer.wall_us,
        "text": answer.text,
        "values": dict(answer.values),
        "pv": list(answer.pv),
    }


def answer_from_json(data: Any) -> tuple[int, Answer]:
    """The answer that `answer_to_json` wrote.

    Raises:
        RecordError, KeyError, TypeError, ValueError, AttributeError: it is none.
    """
    ply = data["ply"]
    if type(ply) is not int:
        raise RecordError("an answer has no number of its ply")
    if "fault" in data:
        detail = str(data["detail"])[:LONGEST_DETAIL]
        detail.encode()  # half a character can be kept by no database
        return ply, Fault(int(data["seat"]) - 1, ply, Termination(data["fault"]), detail)
    cpu_us, wall_us = data["cpu_us"], data["wall_us"]
    for time_us in (cpu_us, wall_us):
        if type(time_us) is not int or not 0 <= time_us < 2**63:
            raise RecordError(f"{str(time_us)[:40]} is no time in microseconds")
    told = data["text"], data["values"], 0, None, data["pv"]
    return ply, ply_of(data["move"], cpu_us, wall_us, *told)
