"""What there is to say of tunings on the site: where each number is, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from arena.competitions.players import NamedPlayer
from arena.competitions.tuning_standings import standing_of
from arena.ground.numbered_pages import Page, page_of
from arena.models import (
    WAITS,
    Approval,
    Bot,
    BotTuning,
    BotVersion,
    CompetitionState,
    Entrant,
    StrengthTest,
    User,
)
from arena.strength.outcomes import faults_json
from arena.strength.parameters import Parameter, manifest_of
from arena.strength.tuning import Method, Tuning
from arena.strength.words import conditions_row
from engine.plurals import counted
from engine.translation import gettext, pgettext, translated


@dataclass(frozen=True, slots=True)
class TunedNumber:
    """One number, and where it was."""

    parameter: Parameter
    points: tuple[tuple[int, float, float], ...]
    """How many games were played, the value then, and the step from there, for each point of its
    way."""
    told: str
    """Its present value, as the bot is told it."""
    start: str
    """The value that it began with, likewise."""

    @property
    def name(self) -> str:
        return self.parameter.option.name

    @property
    def value(self) -> float:
        return self.points[-1][1]

    @property
    def step(self) -> float:
        """How far it is moved now, up and down."""
        return self.points[-1][2]


@dataclass(frozen=True, slots=True)
class TuningReport:
    """A tuning with all that its page shows."""

    tuning: BotTuning
    player: NamedPlayer
    """The version, and what is chosen about it besides."""
    creator: str | None
    approver: str | None
    """Who approved it, where somebody had to."""
    standing: Tuning
    """How it stands by whole batches."""
    proof: StrengthTest | None
    """The test of what came out."""

    @property
    def numbers(self) -> list[TunedNumber]:
        """Each number and where it was, in the order in which they were named."""
        settings = self.standing.settings
        size, last = settings.games_a_match, settings.most - 1
        found = []
        for number, one in enumerate(settings.parameters):
            points = tuple(
                (match * size, values[number], self._step(number, min(match, last)))
                for match, values in self.standing.path
            )
            name = one.option.name
            told, start = self.standing.chosen[name], self.standing.chosen_at_start[name]
            found.append(TunedNumber(one, points, told, start))
        return found

    def _step(self, number: int, match: int) -> float:
        """How far a number is moved in a match; of Bayesian optimisation it is not."""
        settings = self.standing.settings
        return 0.0 if settings.method is Method.BAYES else settings.gains(match)[number][0]

    @property
    def manifest(self) -> str:
        """What came out, as ``bot.toml`` has it."""
        return manifest_of(self.standing.settings.parameters, self.standing.chosen)

    @property
    def state(self) -> str:
        """How it stands, in a word for programs."""
        if self.tuning.waits:
            return WAITS
        if self.tuning.state is CompetitionState.CLOSED:
            return "over" if self.standing.is_over else "stopped"
        return "running" if self.tuning.state is CompetitionState.OPEN else str(self.tuning.state)

    @property
    def state_words(self) -> str:
        """The state in words for people."""
        match self.state:
            case "over":
                return pgettext("a tuning", "over")
            case "stopped":
                return pgettext("a tuning", "stopped")
            case "running":
                return pgettext("a tuning", "running")
            case "paused":
                return pgettext("a tuning", "paused")
            case "waits for approval":
                return pgettext("a tuning", "waits for approval")
        return self.state

    @property
    def outcome(self) -> str:
        """What became of it, in words."""
        words = [translated(self.tuning.reason)]
        if self.proof is not None:
            proof = gettext("tested against the start in test %(number)s", number=self.proof.id)
            words.insert(0, proof)
        said, state = "; ".join(filter(None, words)), self.state_words
        return gettext("%(state)s: %(reason)s", state=state, reason=said) if said else state

    @property
    def seconds_left(self) -> float | None:
        """The workers' time that what is left takes, as games did so far; None before the first."""
        tuning = self.tuning
        if self.standing.is_over:
            return 0.0
        if not tuning.games:
            return None
        left = max(0, tuning.max_games - tuning.games)
        return left * tuning.worker_seconds / tuning.games

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What is known of it, as names and texts."""
        tuning, stands = self.tuning, self.standing
        size = stands.settings.batch
        rows = [
            (gettext("bot"), self.player.label),
            conditions_row(tuning.variant, tuning.time, tuning.seed),
            *([(gettext("book"), tuning.book_name)] if tuning.book_name else []),
            (
                pgettext("games that were played", "games"),
                gettext(
                    "%(games)s of %(most)s, in batches of %(matches)s matches",
                    games=tuning.games,
                    most=tuning.max_games,
                    matches=size,
                ),
            ),
        ]
        if stands.matches:
            rows.append((gettext("gain"), stands.gain_words))
        rows += [
            (
                one.name,
                gettext(
                    "%(start)s -> %(now)s, step %(step)s",
                    start=one.start,
                    now=one.told,
                    step=f"{one.step:.3g}",
                ),
            )
            for one in self.numbers
        ]
        if stands.faults:
            rows.append((gettext("faults"), counted(sum(stands.faults.values()), "game")))
        return rows

    def to_json(self) -> dict[str, Any]:
        """The tuning as JSON's types."""
        tuning, stands = self.tuning, self.standing
        return {
            "id": tuning.id,
            "name": tuning.name,
            "title": tuning.title,
            "bot": self.player.label,
            "game": str(tuning.variant),
            "time": tuning.time.words,
            "seed": tuning.seed,
            "batch": stands.settings.batch,
            "method": str(stands.settings.method),
            "book": tuning.book_name,
            "state": self.state,
            "reason": tuning.reason,
            "outcome": self.outcome,
            "told": self.rows,
            "creator": self.creator,
            "approval": str(tuning.approval or Approval.NO),
            "approver": self.approver,
            "note": tuning.note,
            "weight": tuning.weight,
            "created": tuning.created.isoformat(),
            "finished": tuning.finished and tuning.finished.isoformat(),
            "games": tuning.games,
            "max_games": tuning.max_games,
            "seconds_left": self.seconds_left,
            "matches": stands.matches,
            "wins": stands.wins,
            "draws": stands.draws,
            "losses": stands.losses,
            "faults": faults_json(stands.faults),
            "gain": stands.gain,
            "gain_95": [stands.gain - stands.gain_margin, stands.gain + stands.gain_margin],
            "chosen": stands.chosen,
            "chosen_at_start": stands.chosen_at_start,
            "manifest": self.manifest,
            "digest": stands.digest,
            "proof": self.proof and self.proof.id,
            "parameters": [
                one.parameter.to_json()
                | {
                    "name": one.name,
                    "value": one.value,
                    "step": one.step,
                    "path": [list(point) for point in one.points],
                }
                for one in self.numbers
            ],
        }


def reports(session: Session, tunings: Iterable[BotTuning]) -> list[TuningReport]:
    """What there is to say of some tunings, in a fixed number of statements."""
    tunings = list(tunings)
    sides = (
        sa.select(Entrant)
        .where(Entrant.competition_id.in_([one.id for one in tunings]), Entrant.number == 2)
        .options(joinedload(Entrant.version).joinedload(BotVersion.bot))
    )
    players = {
        one.competition_id: NamedPlayer(one.version, one.options) for one in session.scalars(sides)
    }
    people = {who for one in tunings for who in (one.creator_id, one.approver_id) if who}
    found = session.execute(sa.select(User.id, User.name).where(User.id.in_(people)))
    names = {row.id: row.name for row in found}
    tests = sa.select(StrengthTest).where(StrengthTest.id.in_([one.proof_id for one in tunings]))
    proofs = {one.id: one for one in session.scalars(tests)}
    return [
        TuningReport(
            one,
            players[one.id],
            names.get(one.creator_id or 0),
            names.get(one.approver_id or 0),
            standing_of(one),
            proofs.get(one.proof_id or 0),
        )
        for one in tunings
    ]


@dataclass(frozen=True, slots=True)
class WantedTunings:
    """Which tunings are wanted; by default all."""

    bot: str = ""
    creator: str = ""

    @property
    def query(self) -> sa.Select[BotTuning]:
        """The tunings, in no order."""
        found = sa.select(BotTuning)
        if self.bot:
            found = found.where(
                sa.exists().where(
                    Entrant.competition_id == BotTuning.id,
                    Entrant.version_id == BotVersion.id,
                    BotVersion.bot_id == Bot.id,
                    Bot.named(self.bot),
                )
            )
        if self.creator:
            creator = sa.select(User.id).where(User.named(self.creator))
            found = found.where(BotTuning.creator_id == creator.scalar_subquery())
        return found


RUNNING_FIRST = BotTuning.state == CompetitionState.CLOSED, BotTuning.id.desc()
"""The order in which tunings are listed: those that are not over, then the last made."""


def listed_tunings(
    session: Session, wanted: WantedTunings = WantedTunings()
) -> Sequence[TuningReport]:
    """All tunings that are wanted."""
    return reports(session, session.scalars(wanted.query.order_by(*RUNNING_FIRST)).all())


def page_of_tunings(session: Session, wanted: WantedTunings, page: int) -> Page[TuningReport]:
    """A page of the tunings that are wanted, from 1."""
    found = page_of(session, wanted.query, RUNNING_FIRST, page)
    return replace(found, items=reports(session, found.items))
