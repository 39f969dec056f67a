"""How far a tuning on the site is, by the matches of its whole batches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.competitions.strength_tallies import outcomes_in
from arena.models import BotTuning, Match
from arena.strength.outcomes import Outcome, seatings
from arena.strength.parameters import Parameter
from arena.strength.sequential import Version
from arena.strength.tuning import FORMAT, Method, Tuning, TuningSettings
from engine.bot_options import BotOption

_NUMBERS = ("start", "least", "most", "c_end", "r_end")


def settings_of(tuning: BotTuning) -> TuningSettings:
    """What is tuned, and how."""
    kept = tuning.settings
    parameters = tuple(
        Parameter(BotOption.read(one["option"]), *(float(one[key]) for key in _NUMBERS))
        for one in kept["parameters"]
    )
    games_a_match = len(seatings(tuning.variant))
    matches = kept["games"] // games_a_match
    return TuningSettings(
        tuning.variant,
        Version(tuning.title, ""),
        parameters,
        tuning.time,
        matches,
        tuning.seed,
        kept["batch"],
        # A release before knew one method.
        method=Method(kept.get("method", Method.SPSA)),
        extended=tuning.max_games // games_a_match - matches,
    )


def standing_of(tuning: BotTuning) -> Tuning:
    """How far it came by whole batches."""
    settings = settings_of(tuning)
    data = {"tuning": FORMAT, "settings": settings.to_json(), **tuning.progress}
    return Tuning.from_json(data, settings)


def progress_of(now: Tuning) -> dict[str, Any]:
    """What is kept of how far it came: all but its settings."""
    return {key: value for key, value in now.to_json().items() if key not in ("tuning", "settings")}


def outcomes_of(
    session: Session, tuning: BotTuning, *which: sa.ColumnElement[bool]
) -> Iterator[tuple[int, list[Outcome]]]:
    """What the matches say that are fixed, batch by batch, each in the order of its places.

    Args:
        which: of which matches.
    """
    found = outcomes_in(session, tuning, *which, order=(Match.round, Match.leg))
    for batch, matches in groupby(found, key=lambda one: one[0].round):
        yield batch, [outcome for _, outcome in matches]


def folded(session: Session, tuning: BotTuning, settings: TuningSettings) -> Tuning:
    """How far it came by whole batches, made anew from all its games."""
    made = Tuning.begin(settings)
    for _, outcomes in outcomes_of(session, tuning):
        if len(outcomes) == len(made.batch):
            for one in outcomes:
                made = made.add(one)
    return made


def number_of_batch(now: Tuning) -> int:
    """The number of the batch that is played, from 1."""
    return now.matches // now.settings.batch + 1
