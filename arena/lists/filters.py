"""What a list of games is filtered by: read once, from the words of an address.

A filter is a value: pages, the API, exports, charts and kept selections read it from words and
write it as words. Whether what it names is there is for `arena.lists.search` to say.
"""

from __future__ import annotations

import base64
import binascii
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from arena.ground import bot_names
from arena.ground.bot_names import Named
from arena.ground.refusals import Refusal, WrongField
from arena.ground.texts import unkept
from arena.lists.lines import LONGEST, ROOT_BYTES
from arena.models import SeatResult
from engine.game import Termination
from engine.protocol import parse_tag, parse_value
from engine.translation import gettext

MOST_OF_ONE = 3
"""How many opponents, tags or numbers a filter may name."""
LONGEST_WORD = 200
"""Characters of what one word of a filter says."""
MOST_PLIES = 1_000_000
LAST_SEAT = 99

COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
_VALUE = re.compile(r"([^<>=]+)(?:(>=|<=|>|<|=)(.+))?", re.DOTALL)
_RANGE = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,6})?)?-([0-9]{1,4}(?:\.[0-9]{1,6})?)?", re.ASCII)
_PLIES = re.compile(r"([0-9]{1,6})?(-)?([0-9]{1,6})?", re.ASCII)


class Order(StrEnum):
    """Which games come first; those of as many plies by their numbers."""

    NEWEST = "newest"
    OLDEST = "oldest"
    LONGEST = "longest"
    SHORTEST = "shortest"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Whole numbers from one to another, both among them; None for no bound."""

    least: int | None
    most: int | None

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """The least and the most, None where there is no bound."""
        return self.least, self.most

    def __str__(self) -> str:
        if self.least == self.most:
            return str(self.least)
        return "-".join("" if end is None else str(end) for end in self.ends)


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from one to below another; None for no bound."""

    least: float | None
    below: float | None

    def __str__(self) -> str:
        ends = (self.least, self.below)
        return "-".join("" if end is None else f"{end:.12g}" for end in ends)


@dataclass(frozen=True, slots=True)
class ValueBound:
    """A part of a filter: that a bot gave a number, and how its mean over the game compares."""

    key: str
    comparison: str = ""
    """One of `COMPARISONS`; empty where it only has to be given."""
    value: float = 0.0

    def __str__(self) -> str:
        return f"{self.key}{self.comparison}{self.value:.12g}" if self.comparison else self.key


@dataclass(frozen=True, slots=True)
class DayOrMoment:
    """A moment, or a whole day in UTC, from its beginning to its end."""

    begin: datetime
    is_day: bool

    @property
    def end(self) -> datetime:
        """The last moment of it."""
        last = timedelta(hours=23, minutes=59, seconds=59, microseconds=999_999)
        return self.begin + last if self.is_day else self.begin

    def __str__(self) -> str:
        return f"{self.begin:%Y-%m-%d}" if self.is_day else self.begin.isoformat()


def _name(word: str) -> str:
    return word


def _bot(word: str) -> Named:
    return bot_names.read_player(word)


def _bots(word: str) -> tuple[Named, ...]:
    return tuple(map(bot_names.read_player, _few(bot_names.apart(word))))


def _several(word: str) -> list[str]:
    return _few([one.strip() for one in word.split(",") if one.strip()])


def _few(found: list[str]) -> list[str]:
    if len(found) > MOST_OF_ONE:
        raise Refusal(gettext("name at most %(most)s, with commas between them", most=MOST_OF_ONE))
    return list(dict.fromkeys(found))


def _seat(word: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]?", word, re.ASCII):
        raise Refusal(gettext("give the number of a seat, from 1 to %(most)s", most=LAST_SEAT))
    return int(word)


def _chosen(label: str, help: str, kind: type[StrEnum], but: Sequence[StrEnum] = ()) -> FilterWord:
    """A word that is one of a few."""
    choices = tuple(str(one) for one in kind if one not in but)

    def read(word: str) -> StrEnum:
        if word not in choices:
            raise Refusal(gettext("it is one of %(choices)s", choices=", ".join(choices)))
        return kind(word)

    return FilterWord(label, help, read, choices)


def _opening(word: str) -> int:
    if not re.fullmatch(r"[0-7][0-9a-f]{15}", word, re.ASCII):
        raise Refusal(gettext("give the 16 letters and digits by which lists call an opening"))
    return int(word, 16)


def line_word(line: bytes) -> str:
    """How a line is called."""
    return base64.urlsafe_b64encode(line).decode()


def _line(word: str) -> bytes:
    try:
        found = base64.b64decode(word, b"-_", validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) % 4 or not ROOT_BYTES <= len(found) <= LONGEST:
        raise Refusal(gettext("give the letters and digits by which the explorer calls a line"))
    return found


def _plies(word: str) -> Bounds:
    found = _PLIES.fullmatch(word)
    if not found or not (found[1] or found[3]):
        raise Refusal(gettext("give a number of plies, or bounds as in 20-60, 20- or -60"))
    least = int(found[1]) if found[1] else None
    most = int(found[3]) if found[3] else None if found[2] else least
    if least is not None and most is not None and least > most:
        raise Refusal(
            gettext("there is no number from %(least)s to %(most)s", least=least, most=most)
        )
    return Bounds(least, most)


def _range(word: str) -> Range:
    found = _RANGE.fullmatch(word)
    ends = [float(end) if end else None for end in found.groups()] if found else [None, None]
    least, below = ends
    if least is None and below is None:
        raise Refusal(gettext("give bounds as in 0.7-1.4, 1.4- or -0.7"))
    if least is not None and below is not None and least >= below:
        raise Refusal(
            gettext(
                "there is no number from %(least)s to below %(below)s",
                least=f"{least:g}",
                below=f"{below:g}",
            )
        )
    return Range(least, below)


def _moment(word: str) -> DayOrMoment:
    try:
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", word, re.ASCII):
            day = date.fromisoformat(word)
            return DayOrMoment(datetime.combine(day, time(), UTC), is_day=True)
        # A plus stands for a space in an address.
        when = datetime.fromisoformat(word.replace(" ", "+"))
        return DayOrMoment(
            (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC), False
        )
    except (ValueError, OverflowError):
        raise Refusal(
            gettext("give a day as in 2026-05-31, or a moment as in 2026-05-31T12:00, in UTC")
        ) from None


def _tags(word: str) -> tuple[str, ...]:
    found = tuple(_several(word))
    for one in found:
        if parse_tag(f"# tag {one}") is None:
            raise Refusal(gettext("%(name)r is no tag", name=one[:40]))
    return found


def _values(word: str) -> tuple[ValueBound, ...]:
    return tuple(map(_value, _several(word)))


def _value(word: str) -> ValueBound:
    found = _VALUE.fullmatch(word)
    if found is not None:
        key, comparison, number = found[1].strip(), found[2] or "", found[3]
        parsed = parse_value(f"# {key} {number.strip() if number else 0}")
        if parsed is not None:
            return ValueBound(key, comparison, parsed[1])
    raise Refusal(
        gettext(
            "%(word)r: give a number's key, as in depth, or bounds, as in depth>=12", word=word[:40]
        )
    )


def _yes(word: str) -> bool:
    if word not in ("yes", "no"):
        raise Refusal(gettext("it is yes or no"))
    return word == "yes"


def _text(value: Any) -> str:
    """What was read as it is written in an address."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, bytes):
        return line_word(value)
    if isinstance(value, Named):
        return str(value)
    if isinstance(value, tuple):
        return ",".join(map(_text, value))
    return str(value)


def opening_word(opening: int) -> str:
    """How an opening is called, by its number."""
    return f"{opening:016x}"


@dataclass(frozen=True, slots=True)
class GameFilter:
    """Which games are wanted, and in which order."""

    competition: str | None = None
    game: str | None = None
    bot: Named | None = None
    against: tuple[Named, ...] = ()
    seat: int | None = None
    """The seat's number from 1, as people count."""
    result: SeatResult | None = None
    fault: Termination | None = None
    ending: Termination | None = None
    opening: int | None = None
    line: bytes | None = None
    """What the lines of the games begin with."""
    plies: Bounds | None = None
    since: DayOrMoment | None = None
    until: DayOrMoment | None = None
    tag: tuple[str, ...] = ()
    value: tuple[ValueBound, ...] = ()
    counts: bool | None = None
    worker: str | None = None
    speed: Range | None = None
    sort: Order = Order.NEWEST

    @classmethod
    def read(cls, words: Mapping[str, str]) -> GameFilter:
        """The filter that some words say; other words, and empty ones, are none of its.

        Raises:
            WrongField: one of them can't be meant.
        """
        found: dict[str, Any] = {}
        for name, word in words.items():
            text = word.strip()
            if name not in WORDS or not text:
                continue
            if len(text) > LONGEST_WORD or unkept(text):
                raise WrongField(
                    name,
                    gettext("give at most %(most)s plain characters", most=LONGEST_WORD),
                )
            try:
                found[name] = WORDS[name].read(text)
            except Refusal as refusal:
                raise WrongField(name, str(refusal)) from None
        return cls(**found)

    @property
    def words(self) -> dict[str, str]:
        """The words that say it, as they are written in an address."""
        usual = GameFilter()
        told = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: opening_word(value) if name == "opening" else _text(value)
            for name, value in told.items()
            if value != getattr(usual, name)
        }

    @property
    def is_of_seat(self) -> bool:
        """Whether it says something of one seat, of which all that has to hold."""
        of_seat = (self.bot, self.seat, self.result, self.fault)
        return bool(any(one is not None for one in of_seat) or self.tag or self.value)

    def but(self, **changes: Any) -> GameFilter:
        """A filter that is the same but for some of its parts."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class FilterWord:
    """A word of a filter, for people."""

    label: str
    help: str
    """What it asks for, as a sentence without its full stop; both are translated where they are
    shown."""
    read: Callable[[str], Any]
    """
    Raises:
        Refusal: it can't be meant.
    """
    choices: tuple[str, ...] = ()
    """All that it can be, where these are few."""


WORDS: Mapping[str, FilterWord] = {
    "competition": FilterWord(
        "Competition", "A ladder, a tournament, or test-5 for strength test 5", _name
    ),
    "game": FilterWord("Game", "By whose rules they are played", _name),
    "bot": FilterWord(
        "Bot",
        "One of its players, as greedy, greedy:2 for one version, or greedy:depth=8 if told that",
        _bot,
    ),
    "against": FilterWord(
        "Against", f"Who else sat in the game, up to {MOST_OF_ONE} with commas between them", _bots
    ),
    "seat": FilterWord("Seat", "The seat of the bot, from 1", _seat),
    "result": _chosen("Result", "What came of it for the bot, or for that seat", SeatResult),
    "fault": _chosen(
        "Fault",
        "How the bot, or anybody, left by its own fault, or resigned",
        Termination,
        [one for one in Termination if not one.is_fault],
    ),
    "ending": _chosen("Ending", "Why the game ended", Termination, [Termination.VOID]),
    "opening": FilterWord("Opening", "Its number, as lists have it", _opening),
    "line": FilterWord("Line", "How those that count begin, as the explorer calls it", _line),
    "plies": FilterWord("Plies", "How many: 20, 20-60, 20- or -60", _plies),
    "since": FilterWord("Since", "The day or moment of the first, in UTC", _moment),
    "until": FilterWord("Until", "The day or moment of the last, in UTC", _moment),
    "tag": FilterWord("Tags", f"By which the bot marked it, up to {MOST_OF_ONE}", _tags),
    "value": FilterWord(
        "Numbers", "That the bot gave, by their means over the game: depth>=12, or just depth",
        _values,
    ),
    "counts": FilterWord(
        "Counts",
        "Whether it counts in its competition: yes, or no if void or played on request",
        _yes,
        ("yes", "no"),
    ),
    "worker": FilterWord("Worker", "Who played it; for organisers", _name),
    "speed": FilterWord(
        "Speed", "Of the machine, the reference machine being 1: 0.7-1.4, 1.4- or -0.7", _range
    ),
    "sort": _chosen("Order", "Which come first", Order),
}  # fmt: skip
"""The words of filters by their names in addresses, in the order of the form."""
