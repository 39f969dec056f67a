"""What a strength test says in words: on a terminal, in a report, on its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.ratings.elo import FEWEST_MATCHES, TOO_FEW, Estimate, signed
from arena.strength.forecast import Forecast
from arena.strength.gauntlet import GauntletTest
from arena.strength.sequential import SequentialTest
from engine.clock import TimeControl
from engine.game import Termination
from engine.plurals import counted, grouped, time_span
from engine.translation import gettext, pgettext, translated

RAREST = 1e-9
"""What is rarer needs no number."""
MOST_COUNTS = 9
"""The most cells that are shown; more are in JSON alone."""
WIDTHS = (9, 7, 7, 8, 7)
"""Characters of the columns of a forecast, unless what stands above them has more."""


def result_rows(test: SequentialTest) -> list[tuple[str, str]]:
    """What is known after so many matches, as names and texts."""
    settings = test.settings
    sides = gettext(
        "%(candidate)s against %(baseline)s",
        candidate=settings.candidate.name,
        baseline=settings.baseline.name,
    )
    rows = [(gettext("test"), sides)]
    rows.append(conditions_row(settings.game_words, settings.time, settings.seed))
    if settings.book:
        rows.append((gettext("book"), str(settings.book)))
    if test.matches:
        rows.append(("Elo", elo_words(test.estimate)))
    if settings.terms.games is None:
        llr = llr_words(test.llr, test.llr_bounds)
        its = settings.terms
        hypotheses = gettext(
            "%(llr)s for %(elo0)s or %(elo1)s",
            llr=llr,
            elo0=f"{its.elo0:g}",
            elo1=f"{its.elo1:g}",
        )
        rows.append(("LLR", hypotheses))
    played, results, most = grouped(test.games), games_words(test), settings.most_matches
    if most:
        words = gettext(
            "%(games)s of %(most)s, W-D-L %(results)s",
            games=played,
            most=grouped(most * settings.games_a_match),
            results=results,
        )
    else:
        words = gettext("%(games)s, W-D-L %(results)s", games=played, results=results)
    rows.append((pgettext("games that were played", "games"), words))
    words = str(test.matches)
    if len(test.counts) <= MOST_COUNTS:
        words = gettext(
            "%(matches)s, from 0 points to all: %(counts)s",
            matches=words,
            counts=" ".join(map(str, test.counts)),
        )
    rows.append((gettext("matches"), words))
    for board, on_it in zip(settings.boards, test.on_boards, strict=False):
        words = gettext(
            "%(board)s: %(elo)s, W-D-L %(results)s",
            board=board,
            elo=elo_words(on_it.estimate) if sum(on_it.counts) else gettext("nothing yet"),
            results=f"{on_it.wins}-{on_it.draws}-{on_it.losses}",
        )
        rows.append((gettext("on"), words))
    each = zip((settings.candidate, settings.baseline), test.faults, strict=True)
    faults = ", ".join(f"{bot.name} {faults_words(side)}" for bot, side in each)
    rows.append((gettext("faults"), faults))
    return rows


def conditions_row(game: object, time: TimeControl, seed: int) -> tuple[str, str]:
    """The row that says what it is played by."""
    words = gettext("%(game)s, %(time)s, seed %(seed)s", game=game, time=time.words, seed=seed)
    return pgettext("a kind of game", "game"), words


def gauntlet_rows(gauntlet: GauntletTest, names: Sequence[str]) -> list[tuple[str, str]]:
    """The rows that say what a gauntlet is played by.

    Args:
        names: of candidate, baseline and opponents.
    """
    rows = [(pgettext("a kind of game", "game"), str(gauntlet.variant))]
    each = zip(names[2:], gauntlet.games_of[2:], gauntlet.opponents, strict=True)
    for number, (name, games, faults) in enumerate(each):
        against = gettext(
            "%(name)s, %(games)s, faults %(faults)s",
            name=name,
            games=counted(games, "game"),
            faults=faults_words(faults),
        )
        rows.append(("" if number else gettext("field"), against))
    lines = (gettext("score"), gauntlet.candidate), ("", gauntlet.baseline)
    for (key, line), name in zip(lines, names[:2], strict=True):
        words = gettext(
            "%(name)s %(score)s, W-D-L %(results)s, faults %(faults)s",
            name=name,
            score=f"{gauntlet.score(line):.1%}" if gauntlet.played else "-",
            results=f"{line.wins}-{line.draws}-{line.losses}",
            faults=faults_words(line.faults),
        )
        rows.append((key, words))
    if gauntlet.played:
        mean, lower, upper = gauntlet.difference
        words = gettext(
            "by %(mean)s [%(lower)s, %(upper)s]",
            mean=f"{mean:+z.1%}",
            lower=f"{lower:+z.1%}",
            upper=f"{upper:+z.1%}",
        )
        rows.append((gettext("better"), words))
        rows.append(("Elo", elo_words(gauntlet.estimate)))
    words = gettext(
        "%(games)s, in %(played)s of %(rounds)s",
        games=gauntlet.games,
        played=gauntlet.played,
        rounds=counted(gauntlet.rounds, "round"),
    )
    rows.append((pgettext("games that were played", "games"), words))
    return rows


def forecast_lines(points: Sequence[Forecast], hours: Sequence[float | None]) -> list[str]:
    """What is to be expected by true difference, as a table.

    Args:
        hours: the workers' time of each; None where nothing is known of it.
    """
    heads = [
        gettext("if truly"),
        gettext("passes"),
        gettext("fails"),
        pgettext("games that were played", "games"),
    ]
    if any(one is not None for one in hours):
        heads.append(gettext("hours"))
    rows = [heads]
    for point, its in zip(points, hours, strict=True):
        row = [f"{point.passes:.1%}", f"{point.fails:.1%}", f"{point.games:.0f}"]
        rows.append([signed(point.elo, 1), *row, *([] if its is None else [f"{its:.2f}"])])
    widths = [max(least, len(head)) for least, head in zip(WIDTHS, heads, strict=False)]
    return [
        " ".join(text.rjust(width) for text, width in zip(row, widths, strict=False))
        for row in rows
    ]


def elo_words(found: Estimate) -> str:
    """Elo with its 95 % interval, and the likelihood of superiority; or that it is too early."""
    if not found.tells:
        return translated(TOO_FEW)
    return gettext("%(elo)s, LOS %(los)s", elo=found.words, los=found.sure)


def llr_words(llr: float, bounds: Sequence[float]) -> str:
    """The LLR and its bounds."""
    lower, upper = bounds
    return gettext(
        "%(llr)s between %(lower)s and %(upper)s",
        llr=f"{llr:.2f}",
        lower=f"{lower:.2f}",
        upper=f"{upper:.2f}",
    )


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
        return gettext("no game yet")
    words = rate_words(games / seconds)
    if test.matches < FEWEST_MATCHES or test.matches_left is None:
        return words
    left = test.matches_left * test.settings.games_a_match * seconds / games
    return gettext("%(rate)s, about %(time)s left", rate=words, time=time_span(left))


def rate_words(games_a_second: float) -> str:
    """``19.2 games a second``, ``12.0 games a minute``, ``0.5 games an hour``."""
    if games_a_second >= 1:
        return gettext("%(games)s games a second", games=f"{games_a_second:.1f}")
    if games_a_second >= 1 / 60:
        return gettext("%(games)s games a minute", games=f"{60 * games_a_second:.1f}")
    return gettext("%(games)s games an hour", games=f"{3600 * games_a_second:.1f}")


def faults_words(side: Mapping[Termination, int]) -> str:
    """How many faults of a side, and of which kinds."""
    each = ", ".join(f"{translated(key)} {count}" for key, count in side.items())
    return f"{sum(side.values())}{each and f' ({each})'}"


def chance_words(chance: float) -> str:
    """How seldom chance alone would do something; of a thousand matches it can come out as 0."""
    if chance < RAREST:
        return gettext("fewer than 1 in %(many)s", many=grouped(1 / RAREST, ".0f"))
    return gettext("1 in %(many)s", many=grouped(1 / chance, ".0f"))
