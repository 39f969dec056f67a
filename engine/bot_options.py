"""What can be chosen about a bot: its options, each with the values that it takes.

A bot declares an option in words, ``depth int 1 20 6``, in its manifest or before its ``ready``
(see docs/protocol.md). Of those that are chosen it is told by ``set NAME VALUE``; of the others
nothing, and they are as the bot has them by default.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from engine.translation import gettext

MOST_OPTIONS = 64
"""How many a bot may have."""
MOST_CHOICES = 32
LONGEST_TEXT = 200
"""Characters of a text, and of a choice."""
LONGEST_CHOSEN = 2000
"""Characters of all that is chosen about a bot, where it is kept."""
LARGEST_INT = 2**53
"""Every whole number up to it is one in any language, whichever numbers that has."""
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,31}", re.ASCII)
_WORD = re.compile(rf"[!-+\--~]{{1,{LONGEST_TEXT}}}")
"""All that can be seen of ASCII, but for the comma: what a bot is told is of ASCII."""
_INT = re.compile(r"[+-]?[0-9]{1,16}", re.ASCII)
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)


class BotOptionError(ValueError):
    """A declaration, or a value, that can't be meant; in words."""


class OptionKind(StrEnum):
    """What values an option takes."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    CHOICE = "choice"
    TEXT = "text"


_FORMS = {
    OptionKind.INT: "int LEAST MOST DEFAULT",
    OptionKind.FLOAT: "float LEAST MOST DEFAULT",
    OptionKind.BOOL: "bool DEFAULT",
    OptionKind.CHOICE: "choice ONE|OTHER|THIRD DEFAULT",
    OptionKind.TEXT: "text DEFAULT",
}
"""How each is declared, behind the option's name."""


@dataclass(frozen=True, slots=True)
class BotOption:
    """An option that a bot declares."""

    name: str
    kind: OptionKind
    default: str
    least: float = -math.inf
    most: float = math.inf
    """The bounds of a number, both among the values."""
    choices: tuple[str, ...] = ()

    @classmethod
    def read(cls, words: str) -> BotOption:
        """The option that is declared so: ``NAME KIND ...``.

        Raises:
            BotOptionError: it is none.
        """
        name, kind, *rest = [*words.split(), "", ""]
        rest = rest[:-2] if kind else []
        if not _NAME.fullmatch(name):
            raise BotOptionError(
                gettext(
                    "%(name)r is no name of an option: a letter or '_', then letters, digits, '_', "
                    "'.' and '-', 32 in all",
                    name=name[:40],
                )
            )
        if kind not in [*OptionKind]:
            kinds = ", ".join(OptionKind)
            raise BotOptionError(
                gettext(
                    "the option %(name)s is of no kind %(kind)r; %(kinds)s are",
                    name=name,
                    kind=kind[:40],
                    kinds=kinds,
                )
            )
        its = OptionKind(kind)
        if len(rest) != len(_FORMS[its].split()) - 1:
            raise BotOptionError(
                gettext(
                    "the option %(name)s is not declared as %(form)r", name=name, form=_FORMS[its]
                )
            )
        *bounds, default = rest
        made = cls(name, its, "")
        if its in (OptionKind.INT, OptionKind.FLOAT):
            least, most = (float(made.value(bound)) for bound in bounds)
            if least > most:
                raise BotOptionError(
                    gettext("the option %(name)s has its least value above its most", name=name)
                )
            made = cls(name, its, "", least, most)
        elif its is OptionKind.CHOICE:
            choices = tuple(dict.fromkeys(bounds[0].split("|")))
            if not all(map(_is_word, choices)) or len(choices) > MOST_CHOICES:
                raise BotOptionError(
                    gettext(
                        "the option %(name)s is a choice of 1 to %(most)s words with | between",
                        name=name,
                        most=MOST_CHOICES,
                    )
                )
            made = cls(name, its, "", choices=choices)
        default = made.value(default)
        return cls(name, its, default, made.least, made.most, made.choices)

    @property
    def declaration(self) -> str:
        """The words by which it is declared."""
        values = {
            OptionKind.INT: [self._number(self.least), self._number(self.most)],
            OptionKind.FLOAT: [self._number(self.least), self._number(self.most)],
            OptionKind.CHOICE: ["|".join(self.choices)],
        }.get(self.kind, [])
        return " ".join([self.name, self.kind, *values, self.default])

    def value(self, text: str) -> str:
        """A value as every bot is told it: the same text for the same value.

        Raises:
            BotOptionError: it is none that the option takes.
        """
        return self._number(self._within(text)) if self._is_number else self._word(text)

    @property
    def other(self) -> str:
        """A value that is not the default; the default if there is no other.

        Of numbers it is one nearby: as much memory, or as many threads, as a bot can be asked to
        take are more than it is granted.
        """
        others: list[str] = []
        if self.kind is OptionKind.INT:
            near = (int(self.default) + 1, int(self.default) - 1)
            others = [str(one) for one in near if self.least <= one <= self.most]
        elif self.kind is OptionKind.FLOAT:
            near_it = (float(self.default) / 2 + bound / 2 for bound in (self.most, self.least))
            others = [self._number(one) for one in near_it]
        elif self.kind is OptionKind.BOOL:
            others = ["true", "false"]
        elif self.kind is OptionKind.CHOICE:
            others = [*self.choices]
        return next((one for one in others if one != self.default), self.default)

    @property
    def _is_number(self) -> bool:
        return self.kind in (OptionKind.INT, OptionKind.FLOAT)

    def _within(self, text: str) -> float:
        pattern = _INT if self.kind is OptionKind.INT else _FLOAT
        if not pattern.fullmatch(text) or not math.isfinite(float(text)):
            whole = self.kind is OptionKind.INT
            what = gettext("a whole number") if whole else gettext("a number")
            raise BotOptionError(
                gettext(
                    "%(name)s takes %(what)s, not %(text)r",
                    name=self.name,
                    what=what,
                    text=text[:40],
                )
            )
        number = float(text)
        if self.kind is OptionKind.INT and abs(int(text)) > LARGEST_INT:
            raise BotOptionError(
                gettext("%(name)s takes no whole number beyond 2^53", name=self.name)
            )
        if not self.least <= number <= self.most:
            least, most = self._number(self.least), self._number(self.most)
            raise BotOptionError(
                gettext(
                    "%(name)s is a number from %(least)s to %(most)s, not %(text)s",
                    name=self.name,
                    least=least,
                    most=most,
                    text=text,
                )
            )
        return number

    def _number(self, number: float) -> str:
        if self.kind is OptionKind.INT:
            return str(int(number))
        return repr(number or 0.0).removesuffix(".0")  # there are two zeros, and they are one value

    def _word(self, text: str) -> str:
        if self.kind is OptionKind.BOOL:
            if text not in ("true", "false"):
                raise BotOptionError(
                    gettext(
                        "%(name)s is true or false, not %(text)r", name=self.name, text=text[:40]
                    )
                )
        elif self.kind is OptionKind.CHOICE:
            if text not in self.choices:
                raise BotOptionError(
                    gettext(
                        "%(name)s is one of %(choices)s, not %(text)r",
                        name=self.name,
                        choices=", ".join(self.choices),
                        text=text[:40],
                    )
                )
        elif not _is_word(text):
            raise BotOptionError(
                gettext(
                    "%(name)s takes a word of 1 to %(most)s letters, digits and signs of "
                    "ASCII, without blanks and commas",
                    name=self.name,
                    most=LONGEST_TEXT,
                )
            )
        return text


def _is_word(text: str) -> bool:
    """Whether it can stand in a line of the protocol, and between commas."""
    return bool(_WORD.fullmatch(text))


def read_options(declared: Iterable[str]) -> dict[str, BotOption]:
    """Options by their names, of which each is declared once.

    Raises:
        BotOptionError: one is none, is declared again and otherwise, or they are too many.
    """
    found: dict[str, BotOption] = {}
    for words in declared:
        option = BotOption.read(words)
        if found.setdefault(option.name, option) != option:
            raise BotOptionError(gettext("the option %(name)s is declared twice", name=option.name))
    if len(found) > MOST_OPTIONS:
        raise BotOptionError(gettext("a bot has at most %(most)s options", most=MOST_OPTIONS))
    return found


def read_chosen(text: str) -> dict[str, str]:
    """What ``depth=8,style=solid`` chooses, as it is written.

    Raises:
        BotOptionError: it is not written so.
    """
    found: dict[str, str] = {}
    if len(text) > LONGEST_CHOSEN:
        raise BotOptionError(
            gettext(
                "at most %(most)s characters of options are chosen at once",
                most=LONGEST_CHOSEN,
            )
        )
    for word in text.split(","):
        name, equals, value = word.partition("=")
        if not _NAME.fullmatch(name) or not equals or not _is_word(value):
            raise BotOptionError(
                gettext("%(word)r chooses no option: write NAME=VALUE", word=word[:60])
            )
        if name in found:
            raise BotOptionError(gettext("the option %(name)s is chosen twice", name=name))
        found[name] = value
    return found


def check_chosen(
    options: Mapping[str, BotOption], chosen: Mapping[str, str], whose: str
) -> dict[str, str]:
    """What is chosen, each value as the bot is told it, in the order of the names.

    Args:
        whose: the bot's name, for the refusal.

    Raises:
        BotOptionError: there is no such option, or it takes no such value.
    """
    for name in chosen:
        if name not in options:
            others = ", ".join(sorted(options))
            told = gettext("its options are %(others)s", others=others)
            if not options:
                told = gettext("it has none")
            raise BotOptionError(
                gettext(
                    "%(whose)s has no option %(name)s: %(told)s",
                    whose=whose,
                    name=name[:40],
                    told=told,
                )
            )
    return {name: options[name].value(chosen[name]) for name in sorted(chosen)}


def told_label(label: str, words: str) -> str:
    """A bot's name with what is chosen about it: ``greedy v2:depth=8``."""
    return f"{label}:{words}" if words else label


def chosen_words(chosen: Mapping[str, str]) -> str:
    """``depth=8,style=solid``, as `read_chosen` reads it."""
    return ",".join(f"{name}={value}" for name, value in chosen.items())
