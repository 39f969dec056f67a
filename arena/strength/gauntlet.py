"""Gauntlets: candidate and baseline against the same field, compared by their common opponents.

A bot can beat its baseline and yet do worse against everybody else. Here the two never meet:
each plays the same openings against the same opponents, with the same dice. A round is one
opening played against one opponent by both, each a whole match (`arena.strength.sequential`); its
difference in score, from all lost against all won to the opposite, is what is counted. The
openings differ from round to round, so the differences are independent of each other.

An opponent that fails is no opponent: games that it gives away are won by both alike. So faults
are judged (see `arena.strength.faults`) by bot, each opponent by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from arena.ratings.elo import Estimate, elo_of, estimate, expected_score
from arena.ratings.sprt import Decision
from arena.strength.faults import clearly_too_many, too_many
from arena.strength.outcomes import (
    BASELINE,
    CANDIDATE,
    Faults,
    Outcome,
    add_faults,
    cells,
    faults_json,
    seatings,
)
from arena.strength.sequential import StrengthError
from engine.game import Termination, Variant
from engine.match import entrants_needed
from engine.plurals import counted
from engine.translation import N_, gettext

VERDICTS = {
    Decision.ACCEPT: N_("passed: the candidate does better against this field"),
    Decision.REJECT: N_("failed: the baseline does better against this field"),
    Decision.UNDECIDED: N_("undecided: the 95 %% interval of the difference holds zero"),
    Decision.CONTINUE: N_("undecided: it was not played to its end"),
}


@dataclass(frozen=True, slots=True)
class GauntletLine:
    """What one bot did against the field."""

    half_points: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    faults: Faults = field(default_factory=dict)
    """The candidate's own faults."""

    def add(self, outcome: Outcome) -> GauntletLine:
        """The line after one more match."""
        return GauntletLine(
            self.half_points + outcome.half_points,
            self.wins + outcome.wins,
            self.draws + outcome.draws,
            self.losses + outcome.losses,
            add_faults(self.faults, outcome.faults[CANDIDATE]),
        )

    def to_json(self) -> dict[str, Any]:
        """Tells it as JSON's types."""
        return asdict(self) | {"faults": faults_json(self.faults)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GauntletLine:
        """Reads what `to_json` told."""
        return cls(**{**data, "faults": _faults(data["faults"])})


def _faults(data: Mapping[str, int]) -> Faults:
    return {Termination(kind): count for kind, count in data.items()}


@dataclass(frozen=True, slots=True)
class GauntletTest:
    """A gauntlet after some rounds."""

    variant: Variant
    rounds: int
    """How many it is to have."""
    counts: tuple[int, ...]
    """Rounds by their difference, from the worst for the candidate to the best."""
    opponents: tuple[Faults, ...]
    """Their faults; they are met in this order, again and again."""
    met: tuple[int, ...]
    """How many rounds each of them was in."""
    candidate: GauntletLine = GauntletLine()
    baseline: GauntletLine = GauntletLine()
    allow_faults: bool = False
    """Decides whatever share of the games faults ended."""

    @classmethod
    def begin(
        cls, variant: Variant, games: int, opponents: int, *, allow_faults: bool = False
    ) -> GauntletTest:
        """A gauntlet of so many games or a few more: everybody is met equally often.

        Raises:
            StrengthError: nobody to meet, or a game of one seat.
        """
        if variant.seats == 1:
            raise StrengthError(
                gettext(
                    "%(variant)s can't be a gauntlet: a game of one seat is played alone",
                    variant=variant,
                )
            )
        if not opponents:
            raise StrengthError(gettext("a gauntlet needs an opponent or more"))
        a_turn = 2 * len(seatings(variant)) * opponents
        rounds, counts = -(-games // a_turn) * opponents, (0,) * (2 * cells(variant) - 1)
        clean: tuple[Faults, ...] = ({},) * opponents
        return cls(variant, rounds, counts, clean, (0,) * opponents, allow_faults=allow_faults)

    def add(
        self, candidate: Outcome, baseline: Outcome, opponent: int | None = None
    ) -> GauntletTest:
        """The gauntlet after a round: what each of the two did against the same opponent.

        Args:
            opponent: which, from 0; by default whose turn it is.

        Raises:
            StrengthError: it is over.
        """
        if self.decision is not Decision.CONTINUE:
            raise StrengthError(gettext("the gauntlet is over and takes no more rounds"))
        return self.counting(candidate, baseline, opponent)

    def counting(
        self, candidate: Outcome, baseline: Outcome, opponent: int | None = None
    ) -> GauntletTest:
        """The gauntlet after a round that comes in late, when it may be over."""
        counts, opponents, met = list(self.counts), list(self.opponents), list(self.met)
        which = self.played % len(opponents) if opponent is None else opponent
        for outcome in (candidate, baseline):
            opponents[which] = add_faults(opponents[which], outcome.faults[BASELINE])
        met[which] += 1
        most = cells(self.variant) - 1
        counts[most + candidate.half_points - baseline.half_points] += 1
        return replace(
            self,
            counts=tuple(counts),
            opponents=tuple(opponents),
            met=tuple(met),
            candidate=self.candidate.add(candidate),
            baseline=self.baseline.add(baseline),
        )

    @property
    def played(self) -> int:
        """How many rounds were played so far."""
        return sum(self.counts)

    @property
    def games(self) -> int:
        """How many games both bots played together."""
        return 2 * self.played * len(seatings(self.variant))

    def score(self, line: GauntletLine) -> float:
        """The mean share of the points that a bot took from the field."""
        most = cells(self.variant) - 1
        return line.half_points / (self.played * most) if self.played else 0.5

    @property
    def difference(self) -> tuple[float, float, float]:
        """The difference of the two scores, and the ends of its 95 % interval."""
        # (1 + difference) / 2 is a score like any other, with its interval in Elo.
        found = estimate(self.counts)
        mean = self.score(self.candidate) - self.score(self.baseline)
        return mean, 2 * expected_score(found.lower) - 1, 2 * expected_score(found.upper) - 1

    @property
    def estimate(self) -> Estimate:
        """The Elo of the candidate's score against the field, less that of the baseline's.

        The interval is that of the difference carried over, with the middle of the two scores
        held: so it holds zero if and only if the difference's does. Between bots of like strength
        an error of the middle shifts both Elos alike; where one scores far more than the other,
        the interval is mostly too wide, for the higher a score the less it spreads.
        """
        middle = (self.score(self.candidate) + self.score(self.baseline)) / 2
        elo, lower, upper = (
            elo_of(middle + apart / 2) - elo_of(middle - apart / 2) for apart in self.difference
        )
        return Estimate(elo, lower, upper, estimate(self.counts).los, self.played)

    @property
    def decision(self) -> Decision:
        """ACCEPT if at the end the whole interval lies above zero, REJECT if below."""
        if self.spoilt_by:
            return Decision.UNDECIDED
        if self.played < self.rounds:
            return Decision.CONTINUE
        _, lower, upper = self.difference
        if lower > 0:
            return Decision.ACCEPT
        return Decision.REJECT if upper < 0 else Decision.UNDECIDED

    @property
    def games_of(self) -> tuple[int, ...]:
        """How many games candidate, baseline, and then each opponent has had."""
        size = len(seatings(self.variant))
        own = size * self.played
        return own, own, *(2 * size * met for met in self.met)

    @property
    def spoilt_by(self) -> tuple[int, ...]:
        """Who failed in so many of its games that no verdict is to be had.

        By their places: 0 is the candidate, 1 the baseline, and 2 the first opponent.
        """
        if self.allow_faults:
            return ()
        judge = clearly_too_many if self.played < self.rounds else too_many
        everybody = (self.candidate.faults, self.baseline.faults, *self.opponents)
        entrants = entrants_needed(self.variant)
        return tuple(
            place
            for place, (faults, games) in enumerate(zip(everybody, self.games_of, strict=True))
            if judge(sum(faults.values()), games, entrants)
        )

    def spoilt_words(self, names: Sequence[str]) -> str:
        """Says by whose faults it is spoilt; empty if it is not.

        Args:
            names: of candidate, baseline and opponents.
        """
        everybody = (self.candidate.faults, self.baseline.faults, *self.opponents)
        words = []
        for place in self.spoilt_by:
            faults, games = sum(everybody[place].values()), self.games_of[place]
            words.append(
                gettext(
                    "%(name)s has %(faults)s in %(games)s games",
                    name=names[place],
                    faults=counted(faults, "fault"),
                    games=games,
                )
            )
        if not words:
            return ""
        return gettext("%(faults)s: too many to tell who is stronger", faults=", ".join(words))

    def verdict(self, names: Sequence[str]) -> str:
        """The decision in words.

        Args:
            names: of candidate, baseline and opponents.
        """
        spoilt = self.spoilt_words(names)
        if spoilt:
            return gettext("undecided: %(reason)s", reason=spoilt)
        return gettext(VERDICTS[self.decision])

    def to_json(self, field: Sequence[str]) -> dict[str, Any]:
        """The result as JSON's types.

        Args:
            field: the opponents' names.
        """
        games = self.games_of[2:]
        mean, lower, upper = self.difference
        return {
            "game": str(self.variant),
            "decision": str(self.decision),
            "passed": self.decision is Decision.ACCEPT,
            "rounds": self.played,
            "games": self.games,
            "counts": list(self.counts),
            "difference": round(mean, 6),
            "difference_95": [round(lower, 6), round(upper, 6)],
            **self.estimate.to_json(),
            "candidate": self._line(self.candidate),
            "baseline": self._line(self.baseline),
            "field": [
                {"name": name, "games": count, "faults": faults_json(faults)}
                for name, count, faults in zip(field, games, self.opponents, strict=True)
            ],
        }

    def counts_json(self) -> dict[str, Any]:
        """What it has counted, as JSON's types; `with_counts` takes it back."""
        return {
            "counts": list(self.counts),
            "met": list(self.met),
            "opponents": [faults_json(faults) for faults in self.opponents],
            "lines": [line.to_json() for line in (self.candidate, self.baseline)],
        }

    def with_counts(self, data: Mapping[str, Any]) -> GauntletTest:
        """This gauntlet with the counts that `counts_json` told."""
        candidate, baseline = map(GauntletLine.from_json, data["lines"])
        return replace(
            self,
            counts=tuple(data["counts"]),
            met=tuple(data["met"]),
            opponents=tuple(map(_faults, data["opponents"])),
            candidate=candidate,
            baseline=baseline,
        )

    def _line(self, line: GauntletLine) -> dict[str, Any]:
        return {
            "score": round(self.score(line), 6),
            "wins": line.wins,
            "draws": line.draws,
            "losses": line.losses,
            "faults": faults_json(line.faults),
        }
