"""What the API says of tournaments, strength tests and encounters, whose JSON is made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field
from sqlalchemy.orm import Session

from arena.competitions import results
from arena.competitions.strength_exclusions import exclusion
from arena.competitions.strength_reports import StrengthReport, numbers, reports
from arena.models import Approval, StrengthTest, TestVerdict, Tournament
from arena.web import exports
from arena.web.api.shapes import At, List, Shape
from arena.web.permissions import may_know_workers


class ConditionsShape(Shape):
    """The conditions by which bots sign up for a tournament."""

    places: int = Field(description="How many play; those who come later wait.")
    games: int = Field(description="How many rated games a bot must have had on the ladder.")
    each_person: int = Field(description="How many bots of one person may sign up.")
    check_in: int = Field(
        description="For how many minutes before its field is drawn bots are checked in; 0 for "
        "not at all."
    )
    seeding: Literal["rating", "random", "order"]


class SignUpShape(Shape):
    """A bot that signed up for a tournament."""

    bot: str
    owner: str
    version: int | None = Field(
        description="The one that is to play; null for the one that it has then."
    )
    at: datetime
    waits: bool = Field(description="Whether it is on the waiting list.")
    place: int = Field(description="From 1; of one that waits, on the waiting list.")
    checked_in: datetime | None
    hindered: str | None = Field(
        description="Why it would not play if the field were drawn now, or does not, since it was "
        "drawn; null if it would, or does."
    )


class TournamentShape(Shape):
    """What a tournament is."""

    tournament: str
    title: str
    game: str
    variant: str
    sides: int = Field(description="Of a game; of more than two, results are places.")
    time: str
    openings: str
    book: str | None = Field(description="Whose openings are played; null if those of none.")
    format: str
    tie_breaks: list[str]
    settings: dict[str, int]
    seed: int
    state: Literal["open", "paused", "signing up", "closed", "called off"]
    called_off: str | None = Field(description="Why it was called off; null if it was not.")
    sign_up: ConditionsShape | None = Field(
        description="By what bots sign up for it, or did; null if its field was named."
    )
    games: int
    winner: str | None = Field(description="Who came first, as greedy v2; null before its end.")
    created: datetime
    finished: datetime | None
    note: str

    @classmethod
    def of(cls, row: Tournament, **besides: Any) -> Self:
        """What travels of a tournament."""
        return cls.model_validate(results.summary(row) | besides)


class TournamentList(List):
    items: list[TournamentShape]


class StandingShape(Shape):
    """An entrant's line in the standings."""

    place: int | None
    bot: str
    version: int
    options: str = Field(description="What it plays with, as depth=8,style=fast.")
    owner: str
    withdrawn: str | None = Field(description="Why it plays no more; null if it does.")
    suspended: str | None = Field(description="Why it can't play for now; null if it can.")
    seeding: int
    points: float
    games: int
    unplayed: int = Field(
        description="Games decided without being played: of byes, and of what was given to it, or "
        "forfeited by it, since somebody was withdrawn."
    )
    unplayed_points: float = Field(description="How many of the points these are.")
    points_a_game: float = Field(description="Of its games, those not played among them.")
    wins: int
    draws: int
    losses: int
    places: list[int] = Field(
        description="How often it came first, second and so on, in games of more than two sides."
    )
    mean_place: float | None = Field(description="Of these games.")
    tie_breaks: dict[str, float]
    by_lot: bool = Field(
        description="Whether nothing but the lot put it in order with others, once all is played."
    )
    elo: float | None
    elo_lower: float | None
    elo_upper: float | None


class ScoreShape(Shape):
    """Games of one against another."""

    wins: int
    draws: int
    losses: int


class PairShape(Shape):
    """A fixture of a round."""

    match: int | None = Field(description="Null as long as none was made.")
    leg: int
    bots: list[str]
    status: str
    points: list[float] | None


class ByeShape(Shape):
    bot: str
    points: float


class RoundShape(Shape):
    round: int
    matches: list[PairShape]
    byes: list[ByeShape]


class TieShape(Shape):
    """Who meets whom in a knockout until one goes on."""

    stage: str
    round: int
    bots: list[str | None]
    score: list[float]
    winner: str | None
    tie_break: str = Field(
        description="What the winner is that the score does not show, such as better seed."
    )
    decided: bool = Field(description="Whether nothing is left to play.")


class TournamentDetail(TournamentShape):
    """All that stands in a tournament."""

    format_title: str
    by_share: bool = Field(description="Whether points a game decide, and not their sum.")
    matches: int
    planned: int | None
    set_aside: int
    held_up: bool = Field(
        description="Whether nothing can be played before somebody has decided about what was set "
        "aside, or before who is suspended can play again."
    )
    quiet: str | None = Field(description="Why no match is played; null if one is, or all are.")
    standings: list[StandingShape]
    crosstable: list[list[ScoreShape | None]] = Field(
        description="Both ways in the order of the standings."
    )
    lots: list[list[str]] = Field(
        description="Those whom nothing but the lot put in order with each other."
    )
    rounds: list[RoundShape]
    bracket: list[TieShape] | None
    ladder: str | None = Field(description="The ladder on which those who sign up have to be.")
    entries_close: datetime | None = Field(
        description="Until when bots sign up; null if no date says so."
    )
    check_in_opens: datetime | None
    sign_ups: list[SignUpShape] = Field(description="In the order in which they came.")
    digest: str

    @classmethod
    def now(cls, session: Session, one: Tournament, quiet: str | None) -> TournamentDetail:
        """A tournament as it travels, with all that stands in it.

        Args:
            quiet: why nothing is played there; None if something is.
        """
        return cls.model_validate(exports.tournament_json(session, one, quiet))


class StrengthSettingsShape(Shape):
    """What a strength test tests, and how."""

    game: str
    candidate: str
    candidate_digest: str
    baseline: str
    baseline_digest: str
    time: str
    seed: int
    elo0: float
    elo1: float
    alpha: float
    beta: float
    model: str
    max_games: int | None
    games: int | None = Field(description="Of a test of a fixed number of games: that number.")
    allow_faults: bool = Field(description="Whether it decides although faults ended many games.")
    others: list[str] = Field(description="Further boards, that take turns with the game's.")
    book: str | None = Field(description="Whose openings are played; null for random ones.")
    book_digest: str | None
    plies: int | None = Field(
        description="How many moves a random opening has; null for as many as usual."
    )


def told_of_workers(report: StrengthReport) -> StrengthReport:
    """A strength test for who asks, who may not know which workers played it."""
    return replace(report, are_workers_named=may_know_workers())


class TestWorker(Shape):
    """What one worker's matches of a test say."""

    worker: str = Field(description="Its name, for organisers; a number for all others.")
    counts: list[int]
    wins: int
    draws: int
    losses: int
    faults: list[dict[str, int]]
    chance: float | None = Field(
        description="How likely chance makes it so different from the others; null if it is not."
    )
    excluded: str | None = Field(description="Why its games are left out; null if they count.")


class TestSpeed(Shape):
    """What the matches of a test say that were played at speeds of one class."""

    speeds: str = Field(
        description="From which to which, the reference machine being 1; empty if nobody knows."
    )
    counts: list[int]
    wins: int
    draws: int
    losses: int
    faults: int
    chance: float | None = Field(
        description="How likely chance makes it so different from the others; null if it is not."
    )


class TestNumbers(Shape):
    """What was played of a test, and what it says by that."""

    matches: int
    games: int
    wins: int
    draws: int
    losses: int
    counts: list[int]
    faults: list[dict[str, int]]
    elo: float
    elo_95: tuple[float, float]
    los: float
    llr: float | None = Field(description="Null of a test of a fixed number of games.")
    llr_bounds: tuple[float, float] | None


class BoardNumbers(Shape):
    """What one of several boards says by itself; the test decides by all together."""

    game: str
    counts: list[int]
    wins: int
    draws: int
    losses: int
    elo: float
    elo_95: tuple[float, float]
    los: float


class TestShape(TestNumbers):
    """Whether a candidate is stronger than a baseline, as far as that is known."""

    id: int
    title: str
    verdict: TestVerdict
    reason: str
    withdrawn: TestVerdict | None = Field(
        description="The verdict that was passed, if what is left without a worker does not say so."
    )
    outcome: str = Field(description="The verdict in words, with the reason.")
    told: list[tuple[str, str]] = Field(
        description="How it stands in words, as its page has it: names and texts."
    )
    creator: str | None
    approval: Approval = Field(
        description="Whether a second person has to approve: as long as it is needed, it waits."
    )
    approver: str | None = Field(description="Who gave it.")
    note: str
    weight: float
    hours: float | None = Field(description="Of workers' time, at most; null for any.")
    worker_hours: float = Field(description="Those that it has had.")
    created: datetime
    finished: datetime | None
    settings: StrengthSettingsShape
    boards: list[BoardNumbers] = Field(description="Where there are several: of each.")
    workers: list[TestWorker]
    speeds: list[TestSpeed]
    without_odd_workers: TestNumbers | None = None

    @classmethod
    def each(cls, session: Session, rows: Sequence[StrengthTest]) -> list[Self]:
        """What travels of some tests, looked up together."""
        return [
            cls.model_validate(told_of_workers(one).to_json()) for one in reports(session, rows)
        ]


class OddsShape(Shape):
    """How many tests pass that should not, of which one in twenty may by design."""

    once: float = Field(description="If somebody looks once, and leaves out the worst worker.")
    always: float = Field(
        description="If somebody looks after every match, until the test passes without one."
    )
    said: str = Field(description="The same in words.")


class ExclusionShape(Shape):
    """What a strength test says with a worker's games, and what without them."""

    worker: str
    excluded: bool = Field(description="Whether they are left out now.")
    games: int
    counted: TestNumbers
    without: TestNumbers
    verdict: TestVerdict
    turned: TestVerdict = Field(description="What it becomes if that is changed.")
    outcome: str = Field(description="The same in words.")
    workers: int = Field(description="How many have played for the test.")
    odds: OddsShape | None

    @classmethod
    def of_worker(cls, session: Session, test: StrengthTest, worker: str) -> Self:
        """What travels of a choice about a worker."""
        found = exclusion(session, test, worker)
        both = {"counted": numbers(found.counted), "without": numbers(found.without)}
        odds = found.odds and found.odds._asdict() | {"said": found.odds.words(found.workers)}
        rest = {"outcome": found.words, "odds": odds}
        return cls.model_validate(found._asdict() | both | rest)


class TestList(List):
    items: list[TestShape]


class _Scored(Shape):
    wins: Annotated[int, At("score.wins")]
    draws: Annotated[int, At("score.draws")]
    losses: Annotated[int, At("score.losses")]


class SplitShape(_Scored):
    name: str


class EloShape(Shape):
    elo: float
    lower: float
    upper: float
    los: float


class CommonShape(Shape):
    """An opponent that both have met."""

    bot: Annotated[str, At("entrant.label")]
    first: Annotated[ScoreShape, At(lambda one: ScoreShape.of(one.first))]
    second: Annotated[ScoreShape, At(lambda one: ScoreShape.of(one.second))]


class EncounterResultsShape(_Scored):
    """What two bots did against each other in one competition."""

    competition: Annotated[str, At("competition.name")]
    partial: bool = Field(description="Whether only their last games are counted.")
    elo: Annotated[EloShape | None, At(lambda found: found.elo and EloShape.of(found.elo))]
    faults: tuple[int, int]
    seats: Annotated[list[SplitShape], At(lambda found: [*map(SplitShape.of, found.seats)])]
    openings: Annotated[list[SplitShape], At(lambda found: [*map(SplitShape.of, found.openings)])]
    versions: Annotated[list[SplitShape], At(lambda found: [*map(SplitShape.of, found.versions)])]
    common: Annotated[list[CommonShape], At(lambda found: [*map(CommonShape.of, found.common)])]
    games: Annotated[list[int], At(lambda found: [game.id for game in found.games])] = Field(
        description="The numbers of the last ones."
    )


class Encounter(Shape):
    """Two bots side by side."""

    bots: tuple[str, str]
    met_in: list[str]
    duel: EncounterResultsShape | None
