"""Tunings on the site: a version's numbers, tuned by games against itself that workers play.

Theory of operation. The tuning itself is `arena.strength.tuning`; here its matches are played by
the arena's workers. Match n has opening n of the series, or of the book, by the tuning's
seed, and its two sides are told their values (`Match.chosen`). Matches are made a batch at a time,
all from the same values: `Match.round` is the batch, `Match.leg` the place in it, both from 1. When
all of a batch are fixed they are counted in the order of their places, whichever came in first, and
the next batch is made. So what comes out follows from the seed and the results alone, and is a
fold over the matches, that can be made anew (`recount`).

A match can be made void as long as its batch is not counted, and is then played again by the same
opening, dice and values; later ones were played from what it gave.

At the end a strength test of what came out against the start begins by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena import audit
from arena.audit import ARENA, Actor
from arena.competitions import strength_tests
from arena.competitions.books import demand_fitting, policy_of
from arena.competitions.comparisons import ComparisonKind, hold
from arena.competitions.fields import demand_proven, enter_field, entrants_of
from arena.competitions.founding import TUNING, add_by_number, come_back, demand_few, fair_start
from arena.competitions.kind import Conclusion, Moment
from arena.competitions.opening_series import opening_series
from arena.competitions.pairings import Pairing, under_way
from arena.competitions.players import NamedPlayer, told
from arena.competitions.strength_plans import MOST_GAMES, MOST_WEIGHT, StrengthPlan
from arena.competitions.tuning_standings import (
    folded,
    number_of_batch,
    outcomes_of,
    progress_of,
    settings_of,
    standing_of,
)
from arena.competitions.visibility import put_within
from arena.competitions.voids import make_void
from arena.ground import locks
from arena.ground.db import count_rows
from arena.ground.refusals import NotThere, Refusal
from arena.ground.texts import cut
from arena.models import (
    USUAL_LIMITS,
    BotTuning,
    CompetitionLimits,
    CompetitionState,
    Entrant,
    JobStatus,
    Match,
    StrengthTest,
    TestVerdict,
    User,
)
from arena.models.competitions import LONGEST_TITLE
from arena.strength.bayes import NotInstalledError, is_installed
from arena.strength.outcomes import seatings
from arena.strength.parameters import Parameter
from arena.strength.sequential import StrengthError, Version
from arena.strength.terms import StrengthTerms
from arena.strength.tuning import (
    MOST_TRIALS,
    MOST_TRIED,
    Method,
    Tuning,
    TuningSettings,
    default_batch,
)
from engine.bot_options import LONGEST_CHOSEN, chosen_words
from engine.clock import TimeControl
from engine.game import Variant
from engine.games import GAMES
from engine.openings import Opening
from engine.plurals import counted
from engine.record import GameRecord
from engine.seeds import derive
from engine.translation import ENGLISH, N_, gettext, speaking, translated

MOST_BATCH = 1024
LONGEST_VALUE = 20
"""Characters of a number as a bot is told it, with what stands around it."""
BY_GAMES_ALONE = ("matches", "wins", "draws", "losses", "faults", "digest")
"""What of the progress is the same by whatever method values are found."""
OUT_OF_OPENINGS = N_("there are no more different openings")
NOTHING_CHANGED = N_("nothing has changed, so there is nothing to test")


class TuningPlan(NamedTuple):
    """What is to be tuned by which rules, before it is made."""

    variant: Variant
    time: TimeControl
    player: NamedPlayer
    """The version, and what is chosen about it besides what is tuned."""
    parameters: tuple[Parameter, ...]
    games: int
    """Rounded up to whole batches."""
    batch: int | None = None
    """Matches from the same values; by default as at home."""
    method: Method = Method.SPSA
    proof: StrengthTerms = StrengthTerms(0.0, 5.0, max_games=20_000)
    """The terms of the test at the end."""
    weight: float = 1.0
    limits: CompetitionLimits = USUAL_LIMITS
    note: str = ""
    seed: int = 0
    openings: str = "random"
    needs_approval: bool = False
    """Whether a second person has to approve before it begins."""


def create(session: Session, plan: TuningPlan, now: datetime, actor: Actor) -> BotTuning:
    """Makes a tuning, which runs at once, or as soon as somebody has approved it.

    Raises:
        StrengthError: it can't be tuned so, or too many of this person's tunings are running.
        Refusal: the version has passed no check of the game.
    """
    fixed = told(plan.player.options)
    names = [one.option.name for one in plan.parameters]
    if both := [name for name in names if name in fixed]:
        raise StrengthError(
            gettext("%(name)s is to be tuned, and can't be chosen besides", name=both[0])
        )
    if len(plan.player.options) + sum(len(name) + LONGEST_VALUE for name in names) > LONGEST_CHOSEN:
        raise StrengthError(
            gettext("so many options with such long names can't be kept: tune fewer at once")
        )
    if not 0 < plan.weight <= MOST_WEIGHT:
        raise StrengthError(
            gettext("a weight is above 0 and %(most)s at most", most=f"{MOST_WEIGHT:g}")
        )
    if plan.method is Method.BAYES and not is_installed():
        raise StrengthError(
            gettext(
                "Bayesian optimisation is not to be had here: whoever runs the arena installs "
                "'game-bot-arena[tune]'"
            )
        )
    matches = -(-plan.games // len(seatings(plan.variant)))
    batch = default_batch(plan.method, matches) if plan.batch is None else plan.batch
    if not 1 <= plan.games <= MOST_GAMES or not 1 <= batch <= MOST_BATCH:
        raise StrengthError(
            gettext(
                "a tuning has 1 to %(games)s games, and batches of 1 to %(batch)s matches",
                games=MOST_GAMES,
                batch=MOST_BATCH,
            )
        )
    version = plan.player.version
    settings = TuningSettings(
        plan.variant,
        Version(version.label, version.told_digest),
        plan.parameters,
        plan.time,
        max(1, matches),
        batch=batch,
        method=plan.method,
    )
    _demand_light(settings)
    start = Tuning.begin(settings).chosen_at_start
    # Refused at once, and not after the games.
    StrengthPlan(plan.variant, plan.time, plan.proof).settings(plan.player, plan.player)
    demand_proven(session, plan.variant.game, [version], TUNING)
    policy = policy_of(plan.openings)
    demand_fitting(session, policy["book_name"], plan.variant)
    demand_few(session, BotTuning, actor.id)
    games = _whole(plan.games, settings)
    make = partial(
        BotTuning,
        title=cut(f"{plan.player.label}: {', '.join(names)}", LONGEST_TITLE),
        note=plan.note,
        creator_id=actor.id,
        variant=plan.variant,
        **policy,
        time=plan.time,
        limits=plan.limits,
        state=CompetitionState.OPEN,
        seed=plan.seed,
        weight=plan.weight,
        head_start=fair_start(session, plan.weight),
        created=now,
        max_games=games,
        reason="",
        settings={
            "parameters": [one.to_json() for one in plan.parameters],
            "batch": batch,
            "method": str(plan.method),
            "games": games,
            "proof": plan.proof.to_json(),
        },
    )
    tuning = add_by_number(session, make, TUNING)
    hold(session, tuning, actor, asks=plan.needs_approval)
    tuning.progress = progress_of(Tuning.begin(settings_of(tuning)))
    # Both are the version; that the first names the start is what tells the two sides apart.
    sides = chosen_words(dict(sorted({**fixed, **start}.items()))), plan.player.options
    put_within(session, tuning, [version], now)
    enter_field(session, tuning, [NamedPlayer(version, options) for options in sides], now)
    audit.note(session, actor, "create tuning", tuning.name, tuning.title, now=now)
    return tuning


def _demand_light(settings: TuningSettings) -> None:
    """Refuses what would keep the recorder too long.

    Raises:
        StrengthError: Bayesian optimisation is to have too many trials or numbers.
    """
    if not settings.is_light:
        raise StrengthError(
            gettext(
                "Bayesian optimisation has %(numbers)s numbers and %(trials)s batches at most: "
                "tune fewer, make batches larger, or take spsa",
                numbers=MOST_TRIED,
                trials=MOST_TRIALS,
            )
        )


def _whole(games: int, settings: TuningSettings) -> int:
    """Rounds a number of games up to whole batches."""
    size = settings.games_a_match * settings.batch
    return -(-games // size) * size


def find(session: Session, number: int) -> BotTuning:
    """The tuning of this number.

    Raises:
        NotThere: there is none.
    """
    tuning = locks.find(session, BotTuning, number)
    if tuning is None:
        raise NotThere(gettext("there is no tuning %(number)s", number=number))
    return tuning


def _openings_so_far(session: Session, tuning: BotTuning) -> list[Opening]:
    """Those of the batches that are counted, so that none is missing between them."""
    query = sa.select(Match.options, Match.opening).where(
        Match.competition_id == tuning.id, Match.status == JobStatus.FIXED
    )
    query = query.order_by(Match.round, Match.leg).limit(standing_of(tuning).matches)
    game = GAMES[tuning.game]
    return [
        Opening(game.variant(**options), tuple(moves)) for options, moves in session.execute(query)
    ]


def opening_of(session: Session, tuning: BotTuning, number: int) -> Opening | None:
    """The opening of a match by its number, from 0; None if there are no more."""
    if tuning.book is None:
        series = opening_series(tuning.variant, tuning.seed)
        return series.opening(number, lambda: _openings_so_far(session, tuning))
    return tuning.book.opening(tuning.seed, number) if number < tuning.book.size else None


def end(session: Session, tuning: BotTuning, reason: str, now: datetime) -> None:
    """Ends a tuning, for now or for good."""
    tuning.state, tuning.reason, tuning.finished = CompetitionState.CLOSED, reason, now
    audit.note(session, ARENA, "end tuning", tuning.name, reason, now=now)


def prove(session: Session, tuning: BotTuning, now: datetime) -> None:
    """Begins the test of what came out against the start, by other openings and dice."""
    stands = standing_of(tuning)
    if stands.chosen == stands.chosen_at_start:
        tuning.reason = NOTHING_CHANGED
        return
    # What is chosen besides is all that is told of the second entrant.
    second = entrants_of(session, tuning)[1]
    fixed = told(second.options)
    best, start = (
        NamedPlayer(second.version, chosen_words(dict(sorted({**fixed, **its}.items()))))
        for its in (stands.chosen, stands.chosen_at_start)
    )
    plan = StrengthPlan(
        tuning.variant,
        tuning.time,
        StrengthTerms.from_json(tuning.settings["proof"]),
        weight=tuning.weight,
        limits=tuning.limits,
        note=f"What {tuning.name} came to, against its start",
        seed=derive(tuning.seed, "proof", stands.matches),
        openings=tuning.openings_words,
    )
    creator = session.get(User, tuning.creator_id) if tuning.creator_id else None
    by = Actor(creator.id, creator.name, "") if creator else ARENA
    try:
        test = strength_tests.create(session, plan, best, start, now, by, follows=True)
    except Refusal as error:
        tuning.reason = f"what came out can't be tested: {error}"
        return
    tuning.proof_id = test.id


# What people do with one.


def go_on(session: Session, tuning: BotTuning, actor: Actor) -> None:
    """Lets a tuning that was paused or stopped go on.

    Raises:
        StrengthError: it runs, waits for approval, is over, is spoilt by faults or has no more
            openings.
    """
    if tuning.waits:
        raise StrengthError(
            gettext(
                "%(name)s waits for approval, which an organiser gives who did not make it",
                name=tuning.name,
            )
        )
    if tuning.state is CompetitionState.OPEN:
        raise StrengthError(gettext("%(name)s is running", name=tuning.name))
    stands = standing_of(tuning)
    if stands.is_over:
        raise StrengthError(
            gettext("%(name)s is over: extend it if it is to have more games", name=tuning.name)
        )
    if stands.is_spoilt or tuning.reason == OUT_OF_OPENINGS:
        raise StrengthError(
            gettext(
                "%(name)s can't go on: %(reason)s",
                name=tuning.name,
                reason=translated(tuning.reason),
            )
        )
    reopen(session, tuning, actor)


def set_aside(session: Session, tuning: BotTuning) -> Sequence[Match]:
    """Its matches that could not be played, locked; who locks the tuning, too, does so after it."""
    query = sa.select(Match).where(
        Match.competition_id == tuning.id, Match.status == JobStatus.SET_ASIDE
    )
    return session.scalars(locks.locking(query, Match)).all()


def reopen(session: Session, tuning: BotTuning, actor: Actor) -> None:
    """Opens one that is not, and has played again what could not be played."""
    if tuning.state is CompetitionState.CLOSED and actor.id == tuning.creator_id:
        demand_few(session, BotTuning, actor.id)
    for match in set_aside(session, tuning):
        make_void(session, match, f"{tuning.name} goes on")
    tuning.state, tuning.reason, tuning.finished = CompetitionState.OPEN, "", None
    come_back(session, tuning)
    hold(session, tuning, actor, asks=False)


def extend(
    session: Session,
    tuning: BotTuning,
    games: int,
    now: datetime,
    actor: Actor,
    *,
    asks: bool = False,
) -> None:
    """Lets a tuning have so many games in all, and go on.

    What it came to before was another result: the test of it, if it runs still, is stopped.

    Args:
        asks: whether more of it needs approval, even if the tuning did not when it was made.

    Raises:
        StrengthError: it has had so many, may have them already or can't have as many, is spoilt
            or has no more openings.
    """
    stands = standing_of(tuning)
    if stands.is_spoilt or tuning.reason == OUT_OF_OPENINGS:
        raise StrengthError(
            gettext(
                "%(name)s can't go on: %(reason)s",
                name=tuning.name,
                reason=translated(tuning.reason),
            )
        )
    if games <= tuning.max_games:
        has = counted(tuning.max_games, "game")
        raise StrengthError(
            gettext(
                "%(name)s may have %(games)s already: allow it more", name=tuning.name, games=has
            )
        )
    if games > MOST_GAMES:
        raise StrengthError(gettext("a tuning has %(most)s games at most", most=MOST_GAMES))
    most = _whole(games, stands.settings)
    more = (most - tuning.max_games) // stands.settings.games_a_match
    _demand_light(replace(stands.settings, extended=stands.settings.extended + more))
    proof = session.get(StrengthTest, tuning.proof_id) if tuning.proof_id else None
    if proof is not None and proof.verdict is TestVerdict.RUNNING:
        locks.lock(session, proof)
        why = f"{tuning.name} goes on"
        strength_tests.end(session, proof, TestVerdict.STOPPED, why, now)
    before, tuning.max_games = tuning.max_games, most
    tuning.proof_id = None
    if tuning.state is CompetitionState.CLOSED:
        reopen(session, tuning, actor)
    # What was approved was less.
    hold(session, tuning, actor, asks=asks or tuning.asks_approval)
    words = f"from {before} to {tuning.max_games} games"
    audit.note(session, actor, "extend tuning", tuning.name, words, now=now)


class Tunings(ComparisonKind[BotTuning]):
    """A version against itself with other values, a batch at a time."""

    model, word = BotTuning, N_("tuning")
    paused = N_("The tuning is paused: no matches are made for now.")
    suspends = False  # it ends by itself when its matches fail

    def next_pairing(self, competition: BotTuning, moment: Moment) -> Pairing | None:
        """The first match of the batch that is not made yet; None if there is none for now.

        A tuning ends here of which several matches could not be played, and one that has used up
        the openings once nothing is under way any more.
        """
        session, tuning, now = moment.session, competition, moment.now
        of_it = Match.competition_id == tuning.id
        stands = standing_of(tuning)
        batch = number_of_batch(stands)
        made = sa.select(Match.leg, Match.status).where(of_it, Match.round == batch)
        made = made.where(Match.status != JobStatus.VOID)
        status = {row.leg: row.status for row in session.execute(made)}
        aside = sum(one is JobStatus.SET_ASIDE for one in status.values())
        if aside >= strength_tests.MOST_ASIDE:
            words = f"{aside} of its matches could not be played, through no bot's fault"
            end(session, tuning, words, now)
            return None
        places = range(1, len(stands.batch) + 1)
        leg = next((place for place in places if place not in status), None)
        if leg is None:
            if status and {*status.values()} == {JobStatus.FIXED}:
                # It could not be counted when the last of it came in.
                self._count(session, tuning, now)
            return None
        number = stands.matches + leg - 1
        opening = opening_of(session, tuning, number)
        if opening is None:
            if not under_way(moment.due_of(tuning)):
                end(session, tuning, OUT_OF_OPENINGS, now)
            return None
        entrants = entrants_of(session, tuning)
        fixed = told(entrants[1].options)
        moved, against = ({**fixed, **its} for its in stands.sides(number))
        return Pairing(
            tuple(one.id for one in entrants),
            round=batch,
            leg=leg,
            key=("match", number),
            opening=opening,
            chosen=(moved, against),
        )

    def follow_up(
        self, session: Session, match: Match, games: Sequence[GameRecord], now: datetime
    ) -> None:
        """Counts the batch once all of it is there, and ends the tuning if it was the last."""
        self._count(session, self._own(match), now)

    def _count(self, session: Session, tuning: BotTuning, now: datetime) -> None:
        stands = standing_of(tuning)
        its = Match.round == number_of_batch(stands)
        session.flush()
        fixed = count_rows(
            session,
            Match,
            Match.competition_id == tuning.id,
            Match.status == JobStatus.FIXED,
            its,
        )
        if fixed < len(stands.batch) or not stands.batch:
            return
        try:
            for _, outcomes in outcomes_of(session, tuning, its):
                for one in outcomes:
                    stands = stands.add(one)
        except NotInstalledError as error:
            with speaking(ENGLISH):
                end(session, tuning, str(error), now)
            return
        tuning.progress = progress_of(stands)
        if stands.is_spoilt:
            faults = counted(sum(stands.faults.values()), "fault")
            games_words = counted(stands.games, "game")
            words = f"{faults} in {games_words} are too many to tune by"
            end(session, tuning, words, now)
        elif stands.is_over:
            end(session, tuning, "", now)
            prove(session, tuning, now)

    def end_or_reopen(self, session: Session, competition: BotTuning, now: datetime) -> None:
        """Nothing: what is void is due again, and only a batch that is counted can be the last."""

    def withdraw(
        self, session: Session, competition: BotTuning, entrant: Entrant, why: str, now: datetime
    ) -> None:
        end(session, competition, why, now)

    def why_not_void(self, competition: BotTuning, match: Match) -> str | None:
        batch = number_of_batch(standing_of(competition))
        if match.round is not None and match.round < batch:
            return gettext(
                "match %(number)s is of batch %(batch)s of %(name)s, and later ones were played "
                "from what it gave: start the tuning anew",
                number=match.id,
                batch=match.round,
                name=competition.name,
            )
        if competition.state is CompetitionState.CLOSED:
            return gettext("%(name)s is over: let it go on first", name=competition.name)
        return None

    def recount(self, session: Session, competition: BotTuning, *, write: bool) -> list[str]:
        settings = settings_of(competition)
        if settings.method is Method.BAYES:
            # What trials say takes long to find, and on another machine may end in other digits.
            spsa = progress_of(folded(session, competition, replace(settings, method=Method.SPSA)))
            if all(spsa[key] == competition.progress[key] for key in BY_GAMES_ALONE):
                return []
        now = progress_of(folded(session, competition, settings))
        if now == competition.progress:
            return []
        if write:
            competition.progress = now
        was = competition.progress.get("matches"), competition.progress.get("values")
        return [
            f"{competition.name}: {was[1]} after {was[0]} matches is stored, "
            f"{now['values']} after {now['matches']} came out"
        ]

    def conclusion(self, session: Session, competition: BotTuning) -> Conclusion:
        stands = standing_of(competition)
        words = gettext(
            "%(values)s after %(games)s",
            values=chosen_words(stands.chosen),
            games=counted(stands.games, "game"),
        )
        if stands.is_over:
            message = N_("The tuning of %(title)s is over")
        else:
            message = N_("The tuning of %(title)s is stopped")
        reason = translated(competition.reason)
        said = "; ".join(filter(None, [words, reason]))
        return Conclusion(message, {"title": competition.title}, said)
