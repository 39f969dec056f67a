"""Presets of strength tests: what tests of one kind are asked to be, chosen once by organisers.

A preset says some of the terms, a time, or how many plies a random opening has. What is said
besides counts before it; what neither says is as usual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from arena import audit
from arena.competitions.founding import NAME
from arena.competitions.strength_plans import MAX_GAMES, MOST_GAMES
from arena.deeds import LONGEST_LINE, LONGEST_NAME, By, Deed, Done, asked
from arena.ground import locks
from arena.ground.guesses import MOST_LOOKED_AT
from arena.ground.refusals import NotThere, Refusal
from arena.models import Scope, TestPreset
from arena.ratings.sprt import Model, Sprt
from arena.strength.sequential import MOST_PLIES
from arena.strength.terms import StrengthTerms
from engine.clock import LONGEST_MS, parse_time
from engine.guesses import instead
from engine.translation import N_, gettext

OF_SPRT = ("elo0", "elo1", "alpha", "beta", "model", "max_games")
"""What a test of a fixed number of games has not."""
LEAST_GAMES = 2 * Sprt.min_matches
CHOICES = (*OF_SPRT, "games", "plies", "time", "move")
INSTEAD = {"games": OF_SPRT, "time": ("move",), "move": ("time",)} | dict.fromkeys(
    OF_SPRT, ("games",)
)
"""What of a preset goes where something else is said."""
FRESH: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "stc": (N_("Is it stronger, in quick games?"), {"elo0": 0.0, "elo1": 10.0, "time": "1+0.01"}),
    "ltc": (N_("Is it stronger, in long games?"), {"elo0": 0.0, "elo1": 10.0, "time": "10+0.1"}),
    "non-regression": (
        N_("Is it no weaker? For what makes a bot simpler, or quicker to change."),
        {"elo0": -10.0, "elo1": 0.0},
    ),
    "measure": (N_("How much stronger is it?"), {"games": 1000}),
}
"""Those of a fresh arena: what each is for, which is translated where it is shown, and what it
says."""


@dataclass(frozen=True, kw_only=True)
class TermsAsked(Deed):
    """Asks for the terms of strength tests; what is left out is a preset's, or as usual."""

    elo0: float | None = asked(
        "It fails if the candidate is no stronger than this; by default 0",
        label="Elo 0",
        default=None,
        least=-1000,
        most=1000,
    )
    elo1: float | None = asked(
        "It passes if the candidate is so strong; by default 10",
        label="Elo 1",
        default=None,
        least=-1000,
        most=1000,
    )
    alpha: float | None = asked(
        "The chance to pass if elo0 is true; by default 0.05", label="Alpha", default=None
    )
    beta: float | None = asked(
        "The chance to fail if elo1 is true; by default 0.05", label="Beta", default=None
    )
    model: str = asked(
        "The unit of elo0 and elo1; by default normalized",
        label="Unit of both",
        default="",
        choices=get_args(Model),
    )
    max_games: int | None = asked(
        f"Undecided after so many; by default {MAX_GAMES}",
        label="Games, at most",
        default=None,
        least=1,
        most=MOST_GAMES,
    )
    games: int | None = asked(
        "Instead of a sequential test just so many, rounded up to whole matches: it passes if the "
        "95 % interval lies above zero",
        label="Games, just so many",
        default=None,
        least=1,
        most=MOST_GAMES,
    )
    plies: int | None = asked(
        "How many moves a random opening has; by default as many as the game's usually do",
        label="Plies of a random opening",
        default=None,
        least=1,
        most=MOST_PLIES,
    )

    def terms(self) -> StrengthTerms:
        """The terms that are asked for.

        Raises:
            Refusal: they contradict each other.
        """
        given = said(vars(self))
        if "games" in given and (others := [name for name in OF_SPRT if name in given]):
            raise Refusal(
                gettext(
                    "a fixed number of games is no sequential test: leave out %(others)s",
                    others=", ".join(others),
                )
            )
        limit = {} if "games" in given else {"max_games": MAX_GAMES}
        return StrengthTerms.from_json(limit | given)


def said(values: Mapping[str, Any]) -> dict[str, Any]:
    """What is said, by the names of `CHOICES`."""
    return {name: values[name] for name in CHOICES if values.get(name) not in (None, "")}


def filled(session: Session, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """What is said with what a preset says besides, by the names of `CHOICES`.

    Args:
        name: the preset's; nothing for none.

    Raises:
        NotThere: there is none of this name.
    """
    given = said(values)
    preset = find(session, name).chosen if name else {}
    gone = {other for one in given for other in INSTEAD.get(one, ())}
    return {key: value for key, value in preset.items() if key not in gone} | given


def listed() -> sa.Select[TestPreset]:
    """A query for all presets, in no order."""
    return sa.select(TestPreset)


def find(session: Session, name: str) -> TestPreset:
    """The preset of a name.

    Raises:
        NotThere: there is none; it says which there are.
    """
    found = session.scalar(listed().where(TestPreset.name == name))
    if found is None:
        names = sa.select(TestPreset.name).order_by(TestPreset.name).limit(MOST_LOOKED_AT)
        known = instead(name[:60], session.scalars(names))
        raise NotThere(
            gettext("there is no preset %(name)r; %(known)s", name=name[:60], known=known)
        )
    return found


def words(preset: TestPreset) -> str:
    """What a preset says: ``elo0=0 elo1=10 time=10+0.1``."""
    shown = {
        key: f"{one:g}" if isinstance(one, float) else one for key, one in preset.chosen.items()
    }
    return " ".join(f"{key}={value}" for key, value in shown.items())


def add_fresh(session: Session, now: datetime) -> None:
    """Adds those of a fresh arena."""
    known = set(session.scalars(sa.select(TestPreset.name)))
    for name, (note, chosen) in FRESH.items():
        if name not in known:
            session.add(TestPreset(name=name, note=note, chosen=dict(chosen), changed=now))


@dataclass(frozen=True)
class KeepPreset(TermsAsked):
    """Keep a preset of strength tests, or change the one of this name to what is said now.

    Tests that were made by it stay as they are.
    """

    scope = Scope.ORGANISE
    address = "POST /presets"
    command = "preset keep NAME"
    example = "stc --elo0 0 --elo1 10 --time 1+0.01"
    subject = "strength tests"
    answers = TestPreset

    name: str = asked("What forms and commands call it", label="Name", most=LONGEST_NAME)
    note: str = asked("What it is for", label="What it is for", default="", most=LONGEST_LINE)
    time: str = asked(
        "Seconds a game and more a move, as in 10+0.1; by default the ladder's",
        label="Time: seconds a game and more a move",
        default="",
        most=20,
    )
    move: int | None = asked(
        "Milliseconds a move; by default the ladder's",
        label="or milliseconds a move",
        default=None,
        least=1,
        most=LONGEST_MS,
    )

    def do(self, session: Session, by: By) -> Done:
        if not NAME.fullmatch(self.name):
            raise Refusal(
                gettext(
                    "%(name)r is no name for a preset: 1 to 80 small letters, digits and '-'",
                    name=self.name[:60],
                )
            )
        self._check()
        its = listed().where(TestPreset.name == self.name)
        preset = session.scalar(locks.locking(its, TestPreset))
        before = "" if preset is None else words(preset)
        undo = RemovePreset(self.name) if preset is None else _kept(preset)
        if preset is None:
            preset = TestPreset(name=self.name)
            session.add(preset)
        preset.note, preset.chosen, preset.changed = self.note, said(vars(self)), by.now
        try:
            session.flush()
        except IntegrityError:
            raise Refusal(
                gettext("somebody else just made the preset %(name)s: try again", name=self.name)
            ) from None
        now = words(preset) or "all as usual"
        detail = f"{before} → {now}" if before else now
        audit.note(session, by.actor, "keep preset", f"preset {self.name}", detail, now=by.now)
        if preset.chosen:
            kept = gettext("the preset %(name)s is kept: %(words)s", name=self.name, words=now)
        else:
            kept = gettext("the preset %(name)s is kept: all as usual", name=self.name)
        return Done(kept, preset, (undo,))

    def _check(self) -> None:
        """Refuses what no test could be asked to be."""
        if self.time and self.move is not None:
            raise Refusal(gettext("give a time a game or a time a move, not both"))
        try:
            if self.time:
                parse_time(self.time)
            terms = self.terms()
            terms.sprt(2, None).llr([0] * 5)
        except ValueError as error:
            raise Refusal(str(error)) from None
        # The smallest matches are pairs of games.
        if terms.max_games is not None and terms.max_games < LEAST_GAMES:
            raise Refusal(
                gettext(
                    "a test needs %(least)s games or more: nothing is decided before",
                    least=LEAST_GAMES,
                )
            )


def _kept(preset: TestPreset) -> KeepPreset:
    """What keeps a preset as it is."""
    return KeepPreset(name=preset.name, note=preset.note, **preset.chosen)


@dataclass(frozen=True)
class RemovePreset(Deed):
    """Remove a preset of strength tests; those that were made by it stay as they are."""

    scope = Scope.ORGANISE
    address = "POST /presets/<name>/remove"
    command = "preset remove NAME"
    example = "stc"
    subject = "strength tests"

    name: str = asked("The preset")

    def do(self, session: Session, by: By) -> Done:
        preset = find(session, self.name)
        session.delete(preset)
        name = preset.name
        audit.note(session, by.actor, "remove preset", f"preset {name}", words(preset), now=by.now)
        return Done(gettext("the preset %(name)s is removed", name=name), undo=(_kept(preset),))
