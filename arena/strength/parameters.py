"""What is tuned about a bot: options that are numbers, each with its bounds and its step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.strength.sequential import StrengthError
from engine.bot_options import BotOption, OptionKind
from engine.translation import gettext, pgettext

R_END = 0.02
"""R at the end, for some thousand games. fishtest and OpenBench propose 0.002, for some hundred
thousand."""
STEPS = 20
"""The parts of a parameter's range of which its last step is one, by default."""
SMALLEST, LARGEST = 1e-100, 1e100
"""The bounds of a step: its square is to be a number still."""
DIGITS = 7
"""How many a number has as a bot is told it; a step is far larger than what is lost."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An option of a bot that is tuned."""

    option: BotOption
    start: float
    least: float
    most: float
    c_end: float
    """The step of the last match."""
    r_end: float = R_END

    def __post_init__(self) -> None:
        name = self.option.name
        _demand_number(self.option)
        numbers = (self.start, self.least, self.most, self.c_end, self.r_end)
        if not all(map(math.isfinite, numbers)):
            raise StrengthError(
                gettext("the option %(name)s: a bound or a step is no finite number", name=name)
            )
        if not self.option.least <= self.least <= self.start <= self.most <= self.option.most:
            raise StrengthError(
                gettext(
                    "the option %(name)s is to begin within its bounds, and these within those "
                    "that the bot declares (%(declaration)s)",
                    name=name,
                    declaration=self.option.declaration,
                )
            )
        if self.least == self.most or self.c_end <= 0 or self.r_end <= 0:
            raise StrengthError(
                gettext(
                    "the option %(name)s needs room to move, a step and a rate above zero",
                    name=name,
                )
            )

    def clip(self, value: float) -> float:
        """The nearest value within the bounds."""
        return min(max(value, self.least), self.most)

    def scaled(self, value: float) -> float:
        """A value within the bounds, as from 0 to 1."""
        return (value - self.least) / (self.most - self.least)

    def unscaled(self, part: float) -> float:
        """The value at a part of the way from the least to the most."""
        return self.least + part * (self.most - self.least)

    def told(self, value: float, lot: float = 0.5) -> str:
        """A value as the bot is told it.

        Args:
            lot: from 0 up to 1; of a whole number it decides whether it is rounded up, which
                happens as often as its fraction says. Of one half it is the nearest.
        """
        clipped = self.clip(value)
        if self.option.kind is OptionKind.INT:
            return self.option.value(str(int(self.clip(math.floor(clipped + lot)))))
        return self.option.value(f"{clipped:.{DIGITS}g}")

    def to_json(self) -> dict[str, Any]:
        """Tells it as JSON's types."""
        return {
            "option": self.option.declaration,
            "start": self.start,
            "least": self.least,
            "most": self.most,
            "c_end": self.c_end,
            "r_end": self.r_end,
        }


def read_parameter(options: Mapping[str, BotOption], whose: str, words: str) -> Parameter:
    """The parameter that ``NAME[=START:LEAST:MOST[:STEP[:RATE]]]`` names.

    Args:
        options: what the bot declares.
        whose: the bot's name, for the refusal.

    Raises:
        StrengthError: it can't be tuned so, or there is none.
    """
    name, equals, said = words.partition("=")
    option = options.get(name)
    if option is None:
        others = ", ".join(sorted(options)) or pgettext("of options", "none")
        raise StrengthError(
            gettext(
                "%(whose)s has no option %(name)s: it has %(others)s",
                whose=whose,
                name=name[:40],
                others=others,
            )
        )
    _demand_number(option)
    numbers = said.split(":") if equals else []
    if len(numbers) not in (0, 3, 4, 5):
        raise StrengthError(
            gettext(
                "%(words)r: write NAME=START:LEAST:MOST, and :STEP:RATE if you like",
                words=words[:60],
            )
        )
    try:
        declared = option.default, str(option.least), str(option.most)
        start, least, most, *more = map(_read, numbers or declared)
    except ValueError:
        raise StrengthError(
            gettext("%(words)r: a number can't be read", words=words[:60])
        ) from None
    step = more[0] if more else default_step(option, least, most)
    found = Parameter(option, start, least, most, step, more[1] if more[1:] else R_END)
    _demand_reach(found)
    return found


def _demand_reach(asked: Parameter) -> None:
    """Refuses what leads nowhere, or to what is no number."""
    name = asked.option.name
    if asked.c_end > asked.most - asked.least or asked.r_end > 1:
        raise StrengthError(
            gettext(
                "the option %(name)s has its whole range as a step at most, and a rate of 1",
                name=name,
            )
        )
    if not SMALLEST <= asked.c_end <= LARGEST:
        raise StrengthError(
            gettext(
                "the option %(name)s has a step from %(least)s to %(most)s, not %(step)s: give it "
                "other bounds",
                name=name,
                least=f"{SMALLEST:g}",
                most=f"{LARGEST:g}",
                step=f"{asked.c_end:g}",
            )
        )


def _read(text: str) -> float:
    """A number in digits of ASCII, as a bot has them."""
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    return float(text)


def _demand_number(option: BotOption) -> None:
    if option.kind not in (OptionKind.INT, OptionKind.FLOAT):
        raise StrengthError(
            gettext("the option %(name)s is no number, and can't be tuned so", name=option.name)
        )


def manifest_of(parameters: Sequence[Parameter], chosen: Mapping[str, str]) -> str:
    """The options as ``bot.toml`` has them, what was chosen being the defaults."""
    lines = ["[options]"]
    for one in parameters:
        name = one.option.name
        declared = replace(one.option, default=chosen[name]).declaration
        lines.append(f'{_key(name)} = "{declared.partition(" ")[2]}"')
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    """A name as a key of TOML: one with a point would be a table's."""
    return f'"{name}"' if "." in name else name


def default_step(option: BotOption, least: float, most: float) -> float:
    """The last step of a parameter of which nothing else is said: of a whole number at least 1/2,
    since less would change nothing in most matches."""
    step = (most - least) / STEPS
    return max(step, 0.5) if option.kind is OptionKind.INT else step
