"""What a strength test says in words: on a terminal, in a report, on its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.ratings.elo import FEWEST_MATCHES, TOO_FEW, Estimate, signed
from arena.strength.forecast import Forecast
from arena.strength.gauntlet import GauntletTest
from arena.strength.sequential import SequentialTest
from engine.game import Termination
from engine.plurals import counted, lasting

RAREST = 1e-9
"""What is rarer needs no number."""
MOST_COUNTS = 9
"""More cells than these are shown in JSON alone."""


def result_rows(test: SequentialTest) -> list[tuple[str, str]]:
    """What is known after so many matches, as names and texts."""
    settings = test.settings
    rows = [("test", f"{settings.candidate.name} against {settings.baseline.name}")]
    rows.append(("game", f"{settings.game_words}, {settings.time.words}, seed {settings.seed}"))
    if settings.book:
        rows.append(("book", str(settings.book)))
    if test.matches:
        rows.append(("Elo", elo_words(test.estimate)))
    if settings.terms.games is None:
        llr = llr_words(test.llr, test.llr_bounds)
        rows.append(("LLR", f"{llr} for {settings.terms.elo0:g} or {settings.terms.elo1:g}"))
    most = settings.most_matches
    of = f" of {most * settings.games_a_match:,}" if most else ""
    rows.append(("games", f"{test.games:,}{of}, W-D-L {games_words(test)}"))
    shown = " ".join(map(str, test.counts)) if len(test.counts) <= MOST_COUNTS else ""
    rows.append(("matches", f"{test.matches}{shown and f', from 0 points to all: {shown}'}"))
    for board, its in zip(settings.boards, test.on_boards, strict=False):
        known = elo_words(its.estimate) if sum(its.counts) else "nothing yet"
        rows.append(("on", f"{board}: {known}, W-D-L {its.wins}-{its.draws}-{its.losses}"))
    sides = zip((settings.candidate, settings.baseline), test.faults, strict=True)
    rows.append(("faults", ", ".join(f"{bot.name} {faults_words(side)}" for bot, side in sides)))
    return rows


def gauntlet_rows(gauntlet: GauntletTest, names: Sequence[str]) -> list[tuple[str, str]]:
    """The same of a gauntlet.

    Args:
        names: of candidate, baseline and opponents.
    """
    rows = [("game", str(gauntlet.variant))]
    each = zip(names[2:], gauntlet.games_of[2:], gauntlet.opponents, strict=True)
    for number, (name, games, faults) in enumerate(each):
        against = f"{name}, {counted(games, 'game')}, faults {faults_words(faults)}"
        rows.append(("" if number else "field", against))
    lines = ("score", gauntlet.candidate), ("", gauntlet.baseline)
    for (key, line), name in zip(lines, names[:2], strict=True):
        results = f"W-D-L {line.wins}-{line.draws}-{line.losses}"
        words = f"{name} {gauntlet.score(line):.1%}, {results}, faults {faults_words(line.faults)}"
        rows.append((key, words))
    if gauntlet.played:
        mean, lower, upper = gauntlet.difference
        rows.append(("better", f"by {mean:+z.1%} [{lower:+z.1%}, {upper:+z.1%}]"))
        rows.append(("Elo", elo_words(gauntlet.estimate)))
    rounds = f"{gauntlet.played} of {counted(gauntlet.rounds, 'round')}"
    rows.append(("games", f"{gauntlet.games}, in {rounds}"))
    return rows


def forecast_lines(points: Sequence[Forecast], hours: Sequence[float | None]) -> list[str]:
    """What is to be expected by true difference, as a table.

    Args:
        hours: the workers' time of each; None where nothing is known of it.
    """
    more = "   hours" if any(one is not None for one in hours) else ""
    lines = [f"{'if truly':>9} {'passes':>7} {'fails':>7} {'games':>8}{more}"]
    for point, its in zip(points, hours, strict=True):
        end = "" if its is None else f" {its:>7.2f}"
        chances = f"{point.passes:>7.1%} {point.fails:>7.1%}"
        lines.append(f"{signed(point.elo, 1):>9} {chances} {point.games:>8.0f}{end}")
    return lines


def elo_words(found: Estimate) -> str:
    """Elo with its 95 % interval, and the likelihood of superiority; or that it is too early."""
    return f"{found.words}, LOS {found.sure}" if found.tells else TOO_FEW


def llr_words(llr: float, bounds: Sequence[float]) -> str:
    """The LLR and its bounds."""
    lower, upper = bounds
    return f"{llr:.2f} between {lower:.2f} and {upper:.2f}"


def games_words(test: SequentialTest) -> str:
    """Games won, drawn and lost."""
    return f"{test.wins}-{test.draws}-{test.losses}"


def pace_words(test: SequentialTest, games: int, seconds: float) -> str:
    """How fast a test is played, and how long it may take still, if that can be told.

    Args:
        games: so many were played lately.
        seconds: in so long.
    """
    if not (games and seconds > 0):
        return "no game yet"
    words = rate_words(games / seconds)
    if test.matches < FEWEST_MATCHES or test.matches_left is None:
        return words
    left = test.matches_left * test.settings.games_a_match * seconds / games
    return f"{words}, about {lasting(left)} left"


def rate_words(games_a_second: float) -> str:
    """``19.2 games a second``, ``12.0 games a minute``, ``0.5 games an hour``."""
    if games_a_second >= 1:
        return f"{games_a_second:.1f} games a second"
    if games_a_second >= 1 / 60:
        return f"{60 * games_a_second:.1f} games a minute"
    return f"{3600 * games_a_second:.1f} games an hour"


def faults_words(side: Mapping[Termination, int]) -> str:
    """How many faults of a side, and of which kinds."""
    each = ", ".join(f"{key} {count}" for key, count in side.items())
    return f"{sum(side.values())}{each and f' ({each})'}"


def chance_words(chance: float) -> str:
    """How seldom chance alone would do something; of a thousand matches it can come out as 0."""
    if chance < RAREST:
        return f"fewer than 1 in {1 / RAREST:,.0f}"
    return f"1 in {1 / chance:,.0f}"
