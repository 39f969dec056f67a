"""The furniture of a fresh arena: ladders for the variants that games offer, sample bots, presets.

What was made once is marked and never made again, so that what was deleted stays deleted. A
game that comes with a later release is furnished by that release's first start, and a sample
bot whose files changed is entered as a new version.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.bots.submissions import submit
from arena.competitions.founding import fair_start, free_name
from arena.competitions.presets import add_fresh
from arena.ground.refusals import Refusal
from arena.models import (
    HOUSE,
    USUAL_LIMITS,
    Bot,
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    Ladder,
    Mark,
    User,
)
from engine.clock import TimeControl
from engine.declaring import in_a_line
from engine.game import Game, Variant
from engine.seeds import derive

MOVE_MS = 100
DRAW_PROBABILITY = 0.05


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample bot whose bundle is stored."""

    name: str
    digest: str
    size: int
    files_bytes: int
    language: str
    note: str
    games: tuple[str, ...]


def furnish(
    session: Session,
    samples: Iterable[Sample],
    now: datetime,
    *,
    games: Collection[Game],
) -> list[str]:
    """Opens what ladders are missing for the first time, and enters new sample bots there.

    Args:
        games: those that ladders are opened for.

    Returns:
        A line for each sample that a ladder does not take, and for each game whose offers its rules
        can't make, with the reason; they are no reason not to start.
    """
    left_out: list[str] = []
    house = session.scalar(sa.select(User).where(User.name == HOUSE))
    if house is None:
        house = User(name=HOUSE, created=now)
        session.add(house)
    start = fair_start(session, weight=1.0)
    for game in games:
        try:
            offered = game.offered
        except Exception as error:  # a stranger's rules
            left_out.append(
                f"no ladders are opened for the game {game.name}, which can't make what it offers: "
                f"{in_a_line(error)}"
            )
            continue
        for variant in offered:
            if _first_time(session, f"ladder {variant}"):
                opened = open_ladder(game, variant, now)
                # An organiser may have made one of that name before this game was furnished.
                opened.name = free_name(session, opened.name)
                opened.head_start = start
                session.add(opened)
    if _first_time(session, "presets of strength tests"):
        add_fresh(session, now)
    session.flush()
    house_ladders = list(
        session.scalars(sa.select(Ladder).where(Ladder.state != CompetitionState.CLOSED))
    )
    for sample in samples:
        for ladder in house_ladders:
            if ladder.game in sample.games and _is_due(session, sample, ladder):
                try:
                    version = submit(
                        session,
                        house,
                        sample.name,
                        digest=sample.digest,
                        size=sample.size,
                        language=sample.language,
                        ladder=ladder,
                        note=sample.note,
                        now=now,
                    )
                    version.files_bytes = sample.files_bytes
                except Refusal as error:
                    left_out.append(
                        f"the sample bot {sample.name} is not entered on {ladder.name}: {error}"
                    )
    return left_out


def _first_time(session: Session, key: str) -> bool:
    """Whether something was never done before; from now on it was."""
    if session.get(Mark, key) is not None:
        return False
    session.add(Mark(key=key, value="done"))
    return True


def _is_due(session: Session, sample: Sample, ladder: Ladder) -> bool:
    """Whether a sample is to be entered: for the first time, or with new files if it is there."""
    mark = session.get(Mark, f"sample {sample.name} on {ladder.id}")
    if mark is None:
        session.add(Mark(key=f"sample {sample.name} on {ladder.id}", value=sample.digest))
        return True
    if mark.value == sample.digest:
        return False
    mark.value = sample.digest
    still_there = (
        sa.select(Entrant.id)
        .join(Entrant.version)
        .join(BotVersion.bot)
        .where(
            Entrant.competition_id == ladder.id,
            Entrant.state == EntrantState.ACTIVE,
            Bot.name == sample.name,
        )
    )
    return session.scalar(still_there.limit(1)) is not None


def open_ladder(game: Game, variant: Variant, now: datetime) -> Ladder:
    """A new open ladder of a variant, with the settings of a fresh arena."""
    return Ladder(
        name=ladder_name(game, variant),
        title=ladder_title(game, variant),
        variant=variant,
        time=TimeControl(move_ms=MOVE_MS),
        limits=USUAL_LIMITS,
        draw_probability=DRAW_PROBABILITY,
        state=CompetitionState.OPEN,
        seed=derive(0, "ladder", str(variant)),
        created=now,
    )


def ladder_name(game: Game, variant: Variant) -> str:
    """The ladder's name in addresses and commands: the game and what is not by default."""
    words = [game.name, *_special(game, variant)]
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")


def ladder_title(game: Game, variant: Variant) -> str:
    """The ladder's name for people."""
    special = _special(game, variant)
    return f"{game.title} {', '.join(special)}" if special else game.title


def _special(game: Game, variant: Variant) -> list[str]:
    """The values that tell a variant from others of its game; a size always does."""
    return [
        _words(key, value)
        for key, value in variant.options.items()
        if key == "size" or value != game.options[key].default
    ]


def _words(key: str, value: str) -> str:
    """An option in words: ``8x8``, ``hard``, ``seats 2``."""
    if key in ("size", "mode", "task", "shape"):
        return value
    return key if value == "yes" else f"{key} {value}"
