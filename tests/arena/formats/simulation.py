"""Whole tournaments played by bots of known strengths, in no time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from arena.formats.fixtures import EntrantNumber, Fixture, Result
from arena.formats.format import Format
from arena.formats.settings import Frame
from arena.formats.walkovers import last_round, still_set, walkovers

DRAWS = 0.2


def play(fixture: Fixture, random: Random, *, games: int = 1, draws: float = DRAWS) -> Result:
    """Games that of two the entrant of the lower number wins more often, sometimes drawn."""
    if len(fixture.entrants) > 2:
        others = len(fixture.entrants) - 1
        shares = [0.5 if draws == 1 else place / others for place in range(others + 1)]
        return Result(
            fixture, tuple(tuple(random.sample(shares, others + 1)) for _ in range(games))
        )
    a, b = fixture.entrants
    better = 0.5 + 0.4 * ((a < b) - (b < a))
    points = []
    for _ in range(games):
        share = 0.5 if random.random() < draws else float(random.random() < better)
        points.append((share, 1 - share))
    return Result(fixture, tuple(points))


def play_out(
    tournament: Format,
    entrants: Sequence[EntrantNumber],
    *,
    seed: int,
    games: int = 1,
    draws: float = DRAWS,
) -> list[Result]:
    """All results, in the order of play."""
    random = Random(seed)
    results: list[Result] = []
    while due := tournament.fixtures(entrants, results):
        results += [play(fixture, random, games=games, draws=draws) for fixture in due]
    return results


@dataclass
class RandomTournament:
    """A tournament in which anything may happen between two games.

    It does what `arena.competitions.tournament_progress` does, and keeps its book in lists.
    """

    kind: type[Format]
    frame: Frame
    settings: Mapping[str, int]
    random: Random
    results: list[Result] = field(default_factory=list)
    playing: list[Fixture] = field(default_factory=list)
    voided: list[Fixture] = field(default_factory=list)
    """The last made first."""
    made: list[Fixture] = field(default_factory=list)
    """All that was ever begun, void or not, in its order."""
    gone: dict[EntrantNumber, int] = field(default_factory=dict)
    """The last round that each of those who left was in for."""
    paired: dict[EntrantNumber, int] = field(default_factory=dict)
    """The last round that had begun then."""

    def __post_init__(self) -> None:
        self.field = list(range(1, self.frame.size + 1))
        self.look()

    def look(self) -> None:
        """Works out what is given, what stands and what is due."""
        self.form = self.kind.build(replace(self.frame, withdrawn=dict(self.paired)), self.settings)
        made = [*self.results, *map(Result, self.playing)]
        void = still_set(self.voided, made) if self.form.keeps_rounds else []
        self.given = walkovers(
            self.form,
            self.field,
            [*made, *void],
            self.gone,
            games=self.frame.games,
            playing=self.playing,
        )
        void = [one for one in void if self.gone.keys().isdisjoint(one.fixture.entrants)]
        self.past = [*made, *void, *self.given]
        self.due = self.form.fixtures(self.field, self.past)

    @property
    def fresh(self) -> list[Fixture]:
        """What is due and not begun."""
        return [fixture for fixture in self.due if fixture not in self.playing]

    @property
    def decided(self) -> list[Result]:
        """What was played or given."""
        return [*self.results, *self.given]

    def begin(self) -> None:
        """Some match that is due begins."""
        fixture = self.random.choice(self.fresh)
        self.playing.append(fixture)
        self.made.append(fixture)
        self.past.append(Result(fixture))

    def end(self) -> None:
        """Some match that is under way ends."""
        ended = self.playing.pop(self.random.randrange(len(self.playing)))
        self.results.append(play(ended, self.random, games=self.frame.games))
        self.look()
        self._void_strays()

    def void(self) -> None:
        """Some match that was played never happened."""
        if self.results:
            self._void(self.random.choice(self.results).fixture)
            self._void_strays()

    def leave(self, entrant: EntrantNumber) -> None:
        """Somebody is withdrawn, as `arena.competitions.tournament_fields` has it."""
        begun = max((one.round for one in self.made), default=0)
        byes = [bye for bye in self.form.byes(self.field, self.past) if bye.fixture.round <= begun]
        self.gone[entrant] = last_round(entrant, self.due, [*self.past, *byes], self.playing)
        self.paired[entrant] = begun
        self.look()
        self._void_strays()

    def strays(self) -> list[Fixture]:
        """What was set and has no place any more."""
        return self.form.strays(self.field, self.past)

    def run(self, *, pace: float = 0.6) -> Iterator[None]:
        """Goes on by a match that begins or ends, until all is played.

        Args:
            pace: how likely another begins before one ends.
        """
        while self.due or self.playing:
            if self.fresh and (not self.playing or self.random.random() < pace):
                self.begin()
            else:
                self.end()
            yield

    def _void_strays(self) -> None:
        for fixture in set(self.strays()).intersection(self.made):
            self._void(fixture)

    def _void(self, fixture: Fixture) -> None:
        self.results = [one for one in self.results if one.fixture != fixture]
        self.playing = [one for one in self.playing if one != fixture]
        self.voided = [one for one in reversed(self.made) if one == fixture or one in self.voided]
        self.look()
