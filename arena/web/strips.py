"""What stands below a replay, over its plies: times and numbers as strips, and what happened when.

A strip has a line at the ply that is shown, and says in ``data-step`` how wide a ply is, so that a
script can move the line. The page of a match under way draws the numbers in the same way
(static/live.js).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from markupsafe import Markup

from arena.web.words import duration, ending, seat_class
from engine.clock import Clock
from engine.game import Seat
from engine.plurals import listed
from engine.record import GameRecord, charged_us, states_known
from engine.translation import gettext, translated

STRIP_WIDTH, STRIP_HEIGHT, TALL = 1000, 40, 100
MOST_POINTS = 1e9
EVALUATION = "eval"
"""The number that has a strip for each bot."""
MOST_VALUES = 4
"""How many of the other numbers that bots give in a game are drawn."""
NEARLY = 0.8
"""The share of the time that a bot had for a move from which on it was nearly all."""
CLIPPED_SHARE, CLIPPED_ROOM = 0.9, 1.5
"""Which share of a bot's evaluations is surely drawn as large as it is, and how much more room
there is than these take: a last one that says that it has won must not flatten all others."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A flat chart over the plies of a game, and what it shows."""

    title: str
    note: str
    picture: Markup


def time_strips(record: GameRecord, ply: int) -> list[Strip]:
    """The CPU time of the plies of each seat that a bot played, as bars, all to one scale."""
    longest_us = max((move.cpu_us or 0 for move in record.plies), default=0)
    if not longest_us:
        return []
    strips = []
    for seat, name in enumerate(record.variant.seat_names):
        spent = [
            (number, move.cpu_us)
            for number, move in enumerate(record.plies)
            if move.seat == seat and move.cpu_us is not None
        ]
        if not spent:
            continue  # a person's, who has no clock
        step = STRIP_WIDTH / len(record.plies)
        bars = "".join(
            f"M{(number + 0.5) * step:.1f} {STRIP_HEIGHT}v-{max(38 * us / longest_us, 0.6):.1f}"
            for number, us in spent
        )
        drawn = Markup('<path class="bars ink {}" d="{}" stroke-width="{:.2f}"/>').format(
            seat_class(name), bars, min(step * 0.8, 12)
        )
        most_us = max(us for _, us in spent)
        all_us = sum(us for _, us in spent)
        note = gettext(
            "%(all)s in all, %(most)s at most",
            all=duration(all_us / 1000),
            most=duration(most_us / 1000),
        )
        seen = translated(name)
        words = gettext("CPU time of %(name)s: %(note)s", name=seen, note=note)
        strips.append(Strip(seen, note, _strip(record, ply, words, drawn)))
    return strips


@dataclass(frozen=True, slots=True)
class Evaluations:
    """What a seat's bot thought of its game, ply by ply, from one side."""

    seat: Seat
    side: str
    """Whose side it is from: the first seat's of two sides, or else its own."""
    points: tuple[tuple[int, float], ...]
    """How many plies came before, and how much better than a draw it is."""
    is_share: bool
    """Whether they are shares of the game, from half of one below a draw to half of one above."""

    @property
    def most(self) -> float:
        """How far above and below a draw they are drawn; what is further stands at the edge."""
        if self.is_share:
            return 0.5
        sizes = sorted(abs(value) for _, value in self.points)
        usual = sizes[math.ceil(CLIPPED_SHARE * len(sizes)) - 1]
        return min(sizes[-1], CLIPPED_ROOM * usual) or sizes[-1] or 1.0

    def turns(self) -> Iterator[int]:
        """The plies at which the bot thought that somebody else is ahead than it did before."""
        before = 0.0
        for number, value in self.points:
            if value and before and (value > 0) != (before > 0):
                yield number
            before = value or before


def evaluations(record: GameRecord) -> list[Evaluations]:
    """What each bot thought that said it."""
    variant, found = record.variant, []
    two = len(set(variant.side_of)) == 2
    for seat, name in enumerate(variant.seat_names):
        told = [
            (number, move.values[EVALUATION])
            for number, move in enumerate(record.plies)
            if move.seat == seat and EVALUATION in move.values
        ]
        if not told:
            continue
        is_share = all(0 <= value <= 1 for _, value in told)
        turned = -1 if two and variant.side_of[seat] != variant.side_of[0] else 1
        points = tuple((number, turned * (value - 0.5 * is_share)) for number, value in told)
        side = variant.seat_names[0] if two else name
        found.append(Evaluations(seat, side, points, is_share))
    return found


def point_strips(record: GameRecord, ply: int) -> list[Strip]:
    """The points after each ply as a line for each seat, where the game is one of points."""
    names = record.variant.seat_names
    told = (state.points_so_far() for state in states_known(record))
    curves = list(zip(*takewhile(partial(_are_points, len(names)), told), strict=True))
    if not curves or len(curves[0]) < 2:
        return []
    low, high = (extreme(map(extreme, curves)) for extreme in (min, max))
    step, span = STRIP_WIDTH / len(record.plies), (high - low) or 1
    drawn = Markup("").join(
        _line(
            seat,
            names[seat],
            [
                f"{at * step:.1f},{TALL - 3 - (points - low) / span * (TALL - 6):.1f}"
                for at, points in enumerate(curve)
            ],
        )
        for seat, curve in enumerate(curves)
    )
    last = listed(
        [f"{translated(name)} {curve[-1]:g}" for name, curve in zip(names, curves, strict=True)]
    )
    words = gettext(
        "Points after each ply, from %(low)s to %(high)s; in the end %(last)s",
        low=f"{low:g}",
        high=f"{high:g}",
        last=last,
    )
    return [Strip(gettext("Points"), last, _strip(record, ply, words, drawn, TALL))]


def _are_points(seats: int, points: object) -> bool:
    """Whether they can be drawn; the rules may be a stranger's."""
    return (
        isinstance(points, tuple)
        and len(points) == seats
        and all(isinstance(one, (int, float)) and abs(one) <= MOST_POINTS for one in points)
    )


def value_strips(record: GameRecord, ply: int) -> list[Strip]:
    """The numbers that bots gave: a strip for each bot's evaluations, and for each of the first of
    the other keys one with a line a seat.
    """
    keys = sorted({key for move in record.plies for key in move.values} - {EVALUATION})
    return [
        *(_evaluation_strip(record, ply, one) for one in evaluations(record)),
        *(_value_strip(record, ply, key) for key in keys[:MOST_VALUES]),
    ]


def _evaluation_strip(record: GameRecord, ply: int, its: Evaluations) -> Strip:
    step, middle, most = STRIP_WIDTH / len(record.plies), STRIP_HEIGHT / 2, its.most
    points = [
        f"{(number + 0.5) * step:.1f},{middle - (middle - 3) * share:.1f}"
        for number, value in its.points
        for share in [max(-1.0, min(1.0, value / most))]
    ]
    name = record.variant.seat_names[its.seat]
    drawn = Markup('<line class="even" x2="{}" y1="{}" y2="{}"/>{}').format(
        STRIP_WIDTH, middle, middle, _line(its.seat, name, points)
    )
    furthest = max(abs(value) for _, value in its.points)
    low, high = ("0", "1") if its.is_share else (f"{-most:.4g}", f"{most:.4g}")
    told = {"low": low, "high": high, "side": translated(its.side)}
    if furthest > most and not its.is_share:
        note = gettext(
            "%(low)s to %(high)s, as %(side)s sees it; clipped, up to %(furthest)s",
            **told,
            furthest=f"{furthest:.4g}",
        )
    else:
        note = gettext("%(low)s to %(high)s, as %(side)s sees it", **told)
    title = gettext("%(key)s of %(name)s", key=EVALUATION, name=translated(name))
    return Strip(title, note, _strip(record, ply, f"{title}, {note}", drawn))


def _value_strip(record: GameRecord, ply: int, key: str) -> Strip:
    step = STRIP_WIDTH / len(record.plies)
    told = [
        (number, move.seat, move.values[key])
        for number, move in enumerate(record.plies)
        if key in move.values
    ]
    low, high = min(value for *_, value in told), max(value for *_, value in told)
    lines: dict[int, list[str]] = {}
    for number, seat, value in told:
        # Halves, for the whole span may be more than a float holds.
        share = (value / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.5
        y = STRIP_HEIGHT - 3 - share * (STRIP_HEIGHT - 6)
        lines.setdefault(seat, []).append(f"{(number + 0.5) * step:.1f},{y:.1f}")
    drawn = Markup("").join(
        _line(seat, record.variant.seat_names[seat], points)
        for seat, points in sorted(lines.items())
    )
    note = gettext("%(low)s to %(high)s", low=f"{low:.6g}", high=f"{high:.6g}")
    return Strip(key, note, _strip(record, ply, f"{key}, {note}", drawn))


def _line(seat: Seat, name: str, points: list[str]) -> Markup:
    # A single value is no line, so it is doubled: with round ends that is a dot.
    return Markup('<polyline class="line ink dash-{} {}" points="{}" fill="none"/>').format(
        seat + 1, seat_class(name), " ".join(points if len(points) > 1 else points * 2)
    )


def _strip(
    record: GameRecord, ply: int, words: str, drawn: Markup, height: int = STRIP_HEIGHT
) -> Markup:
    step = STRIP_WIDTH / len(record.plies)
    return Markup(
        '<svg class="strip{}" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" '
        'aria-label="{}" data-step="{:.4f}">{}<line class="now" x1="{:.1f}" x2="{:.1f}" y1="0" '
        'y2="{}"/></svg>'
    ).format(
        " tall" if height == TALL else "", STRIP_WIDTH, height, words, step, drawn,
        ply * step, ply * step, height,
    )  # fmt: skip


class Incident(NamedTuple):
    """Something that happened in a game, as its timeline marks it."""

    kind: str
    """``fault``, ``time``, or ``turn`` for an evaluation by which another is ahead than before."""
    first: int
    """The position in which it is seen, or begins to be."""
    last: int
    seat: str
    words: str


def incidents(record: GameRecord) -> list[Incident]:
    """What happened in a game, in the order of its positions."""
    names, found = record.variant.seat_names, []
    for fault in record.faults:
        words = f"{translated(names[fault.seat])}: {ending(fault.termination)}"
        found.append(Incident("fault", fault.ply, fault.ply, names[fault.seat], words))
    for its in evaluations(record):
        name = names[its.seat]
        words = gettext(
            "%(name)s, %(key)s: another is ahead", name=translated(name), key=EVALUATION
        )
        found += [Incident("turn", at + 1, at + 1, name, words) for at in its.turns()]
    for seat, first, last in _hurried(record):
        words = gettext(
            "%(name)s used %(share)s of its time or more",
            name=translated(names[seat]),
            share=f"{NEARLY:.0%}",
        )
        found.append(Incident("time", first + 1, last + 1, names[seat], words))
    return sorted(found, key=lambda one: (one.first, one.last))


def _hurried(record: GameRecord) -> list[tuple[Seat, int, int]]:
    """Where a bot used nearly all the time that it had, in each of its moves from a ply to one."""
    clocks = list(map(Clock.start, record.granted))
    under_way: dict[Seat, int] = {}
    found: list[tuple[Seat, int, int]] = []
    for number, ply in enumerate(record.plies):
        if ply.cpu_us is None or ply.wall_us is None:
            continue
        clock = clocks[ply.seat]
        is_late = (charged_us(ply, clock.control) or 0) >= NEARLY * clock.left_us
        clocks[ply.seat] = clock.after(ply.cpu_us, ply.wall_us, ply.waited_us)
        if not is_late:
            under_way.pop(ply.seat, None)
        elif ply.seat in under_way:
            at = under_way[ply.seat]
            found[at] = (ply.seat, found[at][1], number)
        else:
            under_way[ply.seat] = len(found)
            found.append((ply.seat, number, number))
    return found
