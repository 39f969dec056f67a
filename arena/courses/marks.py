"""What mark a hand-in gets: points for what it won against reference bots, by a table.

An organiser writes the table, a rule in each line: whom it is about, what share of the games has to
be won, and how many points that gives. A draw counts as half a game won.

    # bot     share  points
    greedy    50%    10
    mcts      50%    20
    mcts      share  20       in proportion: 20 for all games, 5 for a quarter of them
    late      1d     -10%     for each day that was begun, of all points

Points of all rules that are met add up. The mark of a hand-in is their sum, less what being late
takes off, and never below 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from arena.ground.refusals import Refusal
from engine.guesses import instead
from engine.translation import gettext

LATE, IN_PROPORTION = "late", "share"
"""The words of rules that are about no bot, and that name no share."""
HEAD = ["bot", "share", "points"]
"""What may stand above the rules."""
MOST_RULES, MOST_POINTS = 200, 1_000_000.0
_CELLS = re.compile(r"[\s,;|]+")
_RULED = re.compile(r"[-:]*", re.ASCII)
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?)%", re.ASCII)
_POINTS = re.compile(r"[0-9]{1,7}(?:\.[0-9]{1,3})?", re.ASCII)
_SPAN = re.compile(r"([1-9][0-9]{0,3})([mhd])", re.ASCII)
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


class MarkRule(NamedTuple):
    """Points for games against a reference bot."""

    reference: str
    share: float | None
    """What has to be won at least, from 0 to 1; None for points in proportion to what was won."""
    points: float

    def earned(self, won: float) -> float:
        """The points for a share of the games that was won, from 0 to 1."""
        if self.share is None:
            return self.points * won
        # Shares are quotients of small numbers: 7 of 10 games are 70 %, whatever floats say.
        return self.points if won >= self.share - 1e-9 else 0.0


class LateRule(NamedTuple):
    """What being late takes off."""

    span: timedelta
    """The step in which lateness is counted; one that has begun counts whole."""
    percent: float
    """How much each such step takes off, in percent of all points."""

    def kept(self, late: timedelta) -> float:
        """The share of the points that is left, from 0 to 1."""
        begun = math.ceil(late / self.span) if late > timedelta(0) else 0
        return max(0.0, 1.0 - begun * self.percent / 100)


@dataclass(frozen=True, slots=True)
class MarkTable:
    """All rules of a course."""

    rules: tuple[MarkRule, ...]
    late: LateRule | None = None
    """None: being late takes nothing off."""

    @property
    def most(self) -> float:
        """The best mark."""
        return sum(rule.points for rule in self.rules)

    def mark(self, won: Mapping[str, float], late: timedelta = timedelta(0)) -> CourseMark:
        """The mark of a hand-in.

        Args:
            won: the share of the games that it won against each reference bot that it has met.
            late: by how much it was late.
        """
        points = tuple(rule.earned(won.get(rule.reference, 0.0)) for rule in self.rules)
        kept = self.late.kept(late) if self.late else 1.0
        return CourseMark(sum(points) * kept, points, 1.0 - kept)


class CourseMark(NamedTuple):
    """What a hand-in gets."""

    points: float
    by_rule: tuple[float, ...]
    """What each rule gave, in their order, before anything was taken off."""
    taken_off: float
    """The share of all points that being late took, from 0 to 1."""


def read_table(text: str, references: Mapping[str, str]) -> MarkTable:
    """The rules that a text has.

    Args:
        references: the reference bots as they are called, by their names in lower case.

    Raises:
        Refusal: a line is no rule, names another bot, or there is no rule for a bot at all.
    """
    rules: list[MarkRule] = []
    late: LateRule | None = None
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell for cell in _CELLS.split(line.partition("#")[0]) if cell]
        if [cell.lower() for cell in cells] == HEAD or all(map(_RULED.fullmatch, cells)):
            continue  # its head, or nothing, or the line below a head in Markdown
        if len(cells) < 3:
            raise _refusal(number, gettext("give a bot, a share and points, as: greedy 50%% 10"))
        who, share, points = cells[:3]
        if who.lower() == LATE:
            if late is not None:
                raise _refusal(number, gettext("there is a rule for being late already"))
            late = _late(number, share, points)
            continue
        name = references.get(who.lower())
        if name is None:
            known = instead(who, list(references.values()))
            raise _refusal(
                number,
                gettext("%(name)s is no reference bot here; %(known)s", name=who[:60], known=known),
            )
        rules.append(MarkRule(name, _share(number, share), _points(number, points)))
        if len(rules) > MOST_RULES:
            raise _refusal(number, gettext("give at most %(most)s rules", most=MOST_RULES))
    if not rules:
        raise Refusal(gettext("the table of marks has no rule: give a bot, a share and points"))
    return MarkTable(tuple(rules), late)


def _share(number: int, text: str) -> float | None:
    if text.lower() == IN_PROPORTION:
        return None
    found = _PERCENT.fullmatch(text)
    if found is None or not 0 < float(found[1]) <= 100:
        raise _refusal(
            number,
            gettext(
                "%(text)s is no share: give one as 50%%, or share for points in proportion",
                text=text[:60],
            ),
        )
    return float(found[1]) / 100


def _points(number: int, text: str) -> float:
    if not _POINTS.fullmatch(text) or not 0 < float(text) <= MOST_POINTS:
        raise _refusal(
            number, gettext("%(text)s are no points: give a number above 0", text=text[:60])
        )
    return float(text)


def _late(number: int, span: str, percent: str) -> LateRule:
    its = _SPAN.fullmatch(span)
    off = _PERCENT.fullmatch(percent.removeprefix("-"))
    if its is None or off is None or not 0 < float(off[1]) <= 100:
        raise _refusal(
            number,
            gettext("say what each hour or day takes off, as: late 1d -10%%"),
        )
    return LateRule(int(its[1]) * _UNITS[its[2]], float(off[1]))


def _refusal(number: int, words: str) -> Refusal:
    return Refusal(gettext("line %(number)s: %(words)s", number=number, words=words))
