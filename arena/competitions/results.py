"""What stands in a tournament: standings, crosstable, rounds, bracket, as values and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from arena.competitions.fields import entrants_of
from arena.competitions.tournament_matches import SetMatch
from arena.competitions.tournament_progress import TournamentProgress, frame_of, progress_of
from arena.formats.catalogue import FORMATS
from arena.formats.fixtures import Fixture, Result
from arena.formats.format import Tie
from arena.formats.score import Score
from arena.formats.standings import DIGITS, Table, crosstable, standings
from arena.formats.walkovers import as_byes, as_forfeits
from arena.models import Entrant, EntrantState, JobStatus, Tournament
from arena.ratings.bradley_terry import Strength
from arena.ratings.elo import FEWEST_GAMES
from arena.ratings.result import GameResult
from engine.match import shares_beaten
from engine.places import added, mean_place, ordinal, placed

DUE, NOT_PLAYED, WALKOVER = "due", "not played", "walkover"
"""How a fixture stands that no match was made for: yet, as the tournament was called off, or as
somebody in it was withdrawn."""


@dataclass(frozen=True, slots=True)
class Standing:
    """An entrant's line in the standings."""

    place: int | None
    """None while its format has not decided it, and in a tournament that was called off."""
    number: int
    """Its number in the seeding."""
    points: float
    games: int
    unplayed: int
    """Games that were decided without being played: of byes, and of what was given or forfeited."""
    unplayed_points: float
    """How many of the points these are."""
    share: float
    """Points a game, of those that were played and of these."""
    wins: int
    draws: int
    losses: int
    places: tuple[int, ...]
    """How often it had each place, in games of more than two sides (`engine.places`)."""
    mean_place: float | None
    """The mean of these places; None without any such game."""
    tie_breaks: Mapping[str, float]
    """The tie-breaks by their names, in their order; the last is the lot, from 0 to 1."""
    strength: Strength | None
    """Whatever the order of its games; None before the first."""

    @property
    def tells(self) -> bool:
        """Whether its strength is for people: it rests on enough games."""
        return self.strength is not None and self.games >= FEWEST_GAMES


@dataclass(frozen=True, slots=True)
class Pair:
    """A fixture of a round, and the match that was made for it."""

    fixture: Fixture
    match: SetMatch | None = None
    """None as long as none was made."""
    unmade: str = DUE
    """How it stands if none was made."""

    @property
    def words(self) -> str:
        """How the pair's match stands in a word, or why there is none."""
        return str(self.match.status) if self.match else self.unmade

    @property
    def is_waiting(self) -> bool:
        """Whether it is to be played still."""
        return not self.points and (self.match is not None or self.unmade == DUE)

    @property
    def points(self) -> tuple[float, ...] | None:
        """The points of each of its entrants; None before it is played."""
        return self.match.result.points if self.match and self.match.result.games else None


@dataclass(frozen=True, slots=True)
class Round:
    """A round as far as it is known."""

    number: int
    pairs: tuple[Pair, ...]
    byes: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """A tournament as far as it is played."""

    tournament: Tournament
    entrants: Mapping[int, Entrant]
    """The entrants by their numbers, with their bots."""
    standings: tuple[Standing, ...]
    cells: tuple[tuple[Score | None, ...], ...]
    """The crosstable, both ways in the order of the standings."""
    rounds: tuple[Round, ...]
    by_points: bool
    """Whether points and tie-breaks say who stands where; otherwise it is the format's ranking."""
    ties: tuple[Tie, ...]
    """The bracket, of a format that has one."""
    planned: int | None
    """How many matches it has in all; None where that depends on results."""
    points_by_round: Mapping[int, tuple[float, ...]]
    """Each entrant's points after each round that somebody has played in."""

    @property
    def matches(self) -> list[SetMatch]:
        """Those that were made, round by round."""
        return [pair.match for each in self.rounds for pair in each.pairs if pair.match]

    @property
    def current_round(self) -> Round:
        """The first in which something is still to be played, or the last."""
        unfinished = (r for r in self.rounds if any(pair.is_waiting for pair in r.pairs))
        return next(unfinished, self.rounds[-1])

    @property
    def set_aside(self) -> list[int]:
        """The numbers of the matches that somebody is to decide about."""
        return [match.id for match in self.matches if match.status is JobStatus.SET_ASIDE]

    @property
    def is_held_up(self) -> bool:
        """Whether nothing can be played before somebody has decided about those, or before who is
        suspended can play again."""
        gone = {one.number for one in self.suspended}
        waiting = [pair for each in self.rounds for pair in each.pairs if pair.is_waiting]
        return bool(waiting) and all(
            pair.match.status is JobStatus.SET_ASIDE
            if pair.match
            else gone.intersection(pair.fixture.entrants)
            for pair in waiting
        )

    @property
    def suspended(self) -> list[Entrant]:
        """Those who can't play for now; each has a reason."""
        return [one for one in self.entrants.values() if one.state is EntrantState.SUSPENDED]

    @property
    def by_lot(self) -> list[tuple[str, ...]]:
        """Whom nothing but the lot put in order, once all is played, where points say it."""
        if not self.by_points or self.tournament.finished is None or self.tournament.is_called_off:
            return []
        by_share = FORMATS[self.tournament.format].by_share
        groups: dict[tuple[float, ...], list[str]] = {}
        for line in self.standings:
            values = [value for name, value in line.tie_breaks.items() if name != "lot"]
            first = line.share if by_share else line.points
            key = (round(first, DIGITS), *values)
            groups.setdefault(key, []).append(self.label(line.number))
        return [tuple(names) for names in groups.values() if len(names) > 1]

    def count(self, status: JobStatus) -> int:
        """How many matches are in a status."""
        return sum(match.status is status for match in self.matches)

    def withdrawn(self, number: int) -> str | None:
        """Why an entrant plays no more; None if it does."""
        entrant = self.entrants[number]
        return entrant.reason if entrant.state is EntrantState.RETIRED else None

    def label(self, number: int) -> str:
        """An entrant's name: ``greedy v2``."""
        return self.entrants[number].label


def results(session: Session, tournament: Tournament) -> Results:
    """What stands in a tournament now, in a fixed number of statements."""
    entrants = {one.number: one for one in entrants_of(session, tournament)}
    if not entrants:  # bots sign up for it, or not enough did
        return Results(tournament, {}, (), (), (), False, (), None, {})
    progress = progress_of(session, tournament, list(entrants.values()))
    made, field, past, byes = progress.made, progress.field, progress.results, progress.byes
    frame = frame_of(tournament, len(field))
    form, given = progress.format, progress.walkovers
    counted = [*(match.result for match in made), *byes]
    if form.walkover_is_bye:
        counted, given = [*counted, *as_byes(given)], []
    elif frame.seats > 2:
        given = as_forfeits(given, progress.withdrawn)
    games = [game for match in made for game in match.games]
    table = Table(field, counted, seed=tournament.seed, games=games, given=given)
    names = [*tournament.settings["tie_breaks"], "lot"]
    records = _records(field, games)
    rows = standings(table, tournament.settings["tie_breaks"], by_share=form.by_share)
    places: Mapping[int, int | None] = {row.entrant: row.place for row in rows}
    ranking = form.ranking(field, past)
    if ranking is not None:
        order = {one: level for level, rank in enumerate(ranking) for one in rank.entrants}
        rows.sort(key=lambda row: order[row.entrant])
        places = {one: rank.place for rank in ranking for one in rank.entrants}
    if tournament.is_called_off:
        places = {}  # it has no winner, and so no second
    lines = tuple(
        Standing(
            places.get(row.entrant),
            row.entrant,
            row.points,
            row.games,
            row.unplayed,
            row.unplayed_points,
            row.share,
            *records[row.entrant],
            dict(zip(names, row.tie_breaks, strict=True)),
            row.strength,
        )
        for row in rows
    )
    planned = form.planned(len(field))
    return Results(
        tournament,
        entrants,
        lines,
        tuple(map(tuple, crosstable(table, [line.number for line in lines]))),
        _rounds(progress, byes, DUE if not tournament.is_called_off else NOT_PLAYED),
        ranking is None,
        tuple(form.ties(field, past)),
        None if planned is None else planned - len(progress.walkovers),
        {one: _course(table, one) for one in field},
    )


_Record = tuple[int, int, int, tuple[int, ...], float | None]


def _records(field: Sequence[int], games: Sequence[GameResult[int]]) -> dict[int, _Record]:
    """Games won, drawn and lost of each: first alone, first with another side, or behind; and of
    more than two sides the places and their mean.
    """
    counts = {one: [0, 0, 0] for one in field}
    places: dict[int, list[int]] = {one: [] for one in field}
    beaten = dict.fromkeys(field, 0.0)
    for game in games:
        firsts = len({s for s, rank in zip(game.sides, game.ranks, strict=True) if rank == 1})
        its = zip(game.ranks, shares_beaten(game.sides, game.ranks), strict=True)
        for one, (rank, share) in dict(zip(game.entrants, its, strict=True)).items():
            counts[one][2 if rank > 1 else min(firsts - 1, 1)] += 1
            places[one] = added(places[one], placed(game.sides, rank))
            beaten[one] += share
    return {
        one: (
            *(won, drawn, lost),
            tuple(places[one]),
            round(mean_place(beaten[one] / sum(places[one]), len(places[one])), DIGITS)
            if places[one]
            else None,
        )
        for one, (won, drawn, lost) in counts.items()
    }


def _rounds(progress: TournamentProgress, byes: Sequence[Result], due: str) -> tuple[Round, ...]:
    set_ = {match.result.fixture for match in progress.made}
    pairs = [Pair(match.result.fixture, match) for match in progress.made]
    pairs += [Pair(one.fixture, unmade=WALKOVER) for one in progress.walkovers]
    pairs += [Pair(fixture, unmade=due) for fixture in progress.due if fixture not in set_]
    numbers = sorted({pair.fixture.round for pair in pairs})
    return tuple(
        Round(
            number,
            tuple(pair for pair in pairs if pair.fixture.round == number),
            tuple(bye for bye in byes if bye.fixture.round == number),
        )
        for number in numbers
    )


def _course(table: Table, entrant: int) -> tuple[float, ...]:
    return tuple(table.points_before(entrant, after) for after in range(2, table.rounds + 2))


def summary(tournament: Tournament) -> dict[str, Any]:
    """What a tournament is, as JSON's types."""
    settings = dict(tournament.settings)
    return {
        "tournament": tournament.name,
        "title": tournament.title,
        "game": tournament.game,
        "variant": str(tournament.variant),
        "sides": len(set(tournament.variant.side_of)),
        "time": tournament.time.words,
        "openings": str(tournament.openings),
        "book": tournament.book_name,
        "format": tournament.format,
        "tie_breaks": settings.pop("tie_breaks"),
        "settings": settings,
        "seed": tournament.seed,
        "state": tournament.standing,
        "called_off": tournament.reason,
        "sign_up": _conditions(tournament),
        "games": tournament.games,
        "created": tournament.created.isoformat(),
        "winner": tournament.winner,
        "finished": tournament.finished and tournament.finished.isoformat(),
        "note": tournament.note,
    }


def _conditions(tournament: Tournament) -> dict[str, Any] | None:
    """The conditions by which bots sign up, or did, as JSON; None if its field was named."""
    if tournament.sign_up is None:
        return None
    wanted = "places", "games", "check_in", "seeding"
    its = tournament.sign_up
    return {**{key: its[key] for key in wanted}, "each_person": its["each"]}


def rows(found: Results) -> list[dict[str, Any]]:
    """The standings as JSON's types."""
    drawn = {name for level in found.by_lot for name in level}
    suspended = {one.number: one.reason for one in found.suspended}
    # Adding zero makes a zero of minus zero.
    return [
        {
            "place": line.place,
            "bot": found.entrants[line.number].version.bot.name,
            "version": found.entrants[line.number].version.number,
            "options": found.entrants[line.number].options,
            "owner": found.entrants[line.number].version.bot.owner.name,
            "withdrawn": found.withdrawn(line.number),
            "suspended": suspended.get(line.number),
            "seeding": line.number,
            "points": line.points,
            "games": line.games,
            "unplayed": line.unplayed,
            "unplayed_points": line.unplayed_points,
            "points_a_game": line.share,
            "wins": line.wins,
            "draws": line.draws,
            "losses": line.losses,
            "places": list(line.places),
            "mean_place": line.mean_place,
            "tie_breaks": dict(line.tie_breaks),
            "by_lot": found.label(line.number) in drawn,
            "elo": line.strength and round(line.strength.elo, 1) + 0.0,
            "elo_lower": line.strength and round(line.strength.lower, 1) + 0.0,
            "elo_upper": line.strength and round(line.strength.upper, 1) + 0.0,
        }
        for line in found.standings
    ]


def flat_rows(standings: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The standings as lines of CSV: each tie-break is a column of its own, as is each place.

    Args:
        standings: as JSON's types.
    """
    standings = list(standings)
    sides = max((len(row["places"]) for row in standings), default=0)
    return [
        {key: value for key, value in row.items() if key not in ("tie_breaks", "places")}
        | {f"tie_break {name}": value for name, value in row["tie_breaks"].items()}
        | {
            ordinal(place): count
            for place, count in enumerate(added(row["places"], [0] * sides), 1)
        }
        for row in standings
    ]


def to_json(found: Results) -> dict[str, Any]:
    """All that stands in a tournament as JSON's types."""
    return {
        **summary(found.tournament),
        "format_title": FORMATS[found.tournament.format].title,
        "by_share": FORMATS[found.tournament.format].by_share,
        "matches": found.count(JobStatus.FIXED),
        "planned": found.planned,
        "set_aside": found.count(JobStatus.SET_ASIDE),
        "held_up": found.is_held_up,
        "standings": rows(found),
        "crosstable": [
            [
                cell and {"wins": cell.wins, "draws": cell.draws, "losses": cell.losses}
                for cell in row
            ]
            for row in found.cells
        ],
        "lots": [list(names) for names in found.by_lot],
        "rounds": [
            {
                "round": each.number,
                "matches": [
                    {
                        "match": pair.match.id if pair.match else None,
                        "leg": pair.fixture.leg,
                        "bots": [found.label(number) for number in pair.fixture.entrants],
                        "status": pair.words,
                        "points": pair.points and list(pair.points),
                    }
                    for pair in each.pairs
                ],
                "byes": [
                    {"bot": found.label(bye.fixture.entrants[0]), "points": sum(bye.points)}
                    for bye in each.byes
                ],
            }
            for each in found.rounds
        ],
        "bracket": [_tie(found, tie) for tie in found.ties] or None,
    }


def _tie(found: Results, tie: Tie) -> dict[str, Any]:
    return {
        "stage": tie.stage,
        "round": tie.round,
        "bots": [side and found.label(side) for side in tie.sides],
        "score": list(tie.score),
        "winner": tie.winner and found.label(tie.winner),
        "tie_break": tie.tie_break,
        "decided": tie.decided,
    }
