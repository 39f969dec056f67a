"""Whether each match of an arena's ladders is counted once: seen by SQL, and by nothing of ours.

It is for games of two seats; ladders of others can be left out. Ratings are folded with the
trueskill package, whose normal distribution is good for seven digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

import sqlalchemy as sa
import trueskill

CLOSE = 1e-4
"""How much a rating may differ; a game counted twice moves that of a bot known well by a hundred
times as much."""

SEATS = """
SELECT g.competition_id, m.id, s.entrant_id, s.rank, g.id, s.mu_after, s.sigma_after
FROM "match" m JOIN game g ON g.match_id = m.id JOIN game_seat s ON s.game_id = g.id
WHERE m.status = 'fixed' AND m.rated AND g.competition_id IN ({ladders})
ORDER BY g.competition_id, m.seq, g.number, s.seat
"""
"""Every seat that counts, in the order in which ratings are made."""
FIXED = 'SELECT id, seq FROM "match" WHERE seq IS NOT NULL ORDER BY seq'
ATTEMPTS = 'SELECT avg(attempt) FROM "match" WHERE seq IS NOT NULL'
GAMES = 'SELECT m.id, m.seq, g.number FROM "match" m LEFT JOIN game g ON g.match_id = m.id'
PLACES = "SELECT match_id, count(*) FROM place GROUP BY match_id"
ENTRANTS = """
SELECT id, games, wins + draws + losses, mu, sigma, competition_id FROM entrant
WHERE competition_id IN ({ladders})
"""
MEETINGS = """
SELECT first_id, second_id, matches, games FROM meeting
WHERE games > 0 AND competition_id IN ({ladders})
"""
LADDERS = "SELECT id, games, draw_probability FROM competition WHERE id IN ({ladders})"
ALL = "SELECT id FROM competition WHERE kind = 'ladder'"


def problems(
    connection: sa.Connection, ladders: Collection[int] = (), *, rated: bool = True
) -> list[str]:
    """What is not counted as it should be, a line each; nothing if all is.

    Args:
        ladders: the numbers of those whose games are looked at; by default all.
        rated: whether ratings are folded, too, which takes the package a millisecond a game.
    """
    which = ",".join(map(str, ladders)) or ALL
    found = [*_order(connection), *_counters(connection, which)]
    return [*found, *(_ratings(connection, which) if rated else ())]


def fixed(connection: sa.Connection) -> int:
    """How many matches were ever fixed."""
    return len(_rows(connection, FIXED))


def attempts(connection: sa.Connection) -> float:
    """How often a match that was fixed was issued, on the average."""
    return float(_rows(connection, ATTEMPTS)[0][0] or 0)


def _rows(
    connection: sa.Connection, words: str, ladders: str = ""
) -> list[sa.Row[tuple[object, ...]]]:
    return list(connection.execute(sa.text(words.format(ladders=ladders))))


def _order(connection: sa.Connection) -> Iterator[str]:
    """Places in the order of completion, each of one match, and the games of each match."""
    numbers = [seq for _, seq in _rows(connection, FIXED)]
    if len(set(numbers)) < len(numbers) or min(numbers, default=1) < 1:
        yield f"{len(numbers)} matches were fixed, with {len(set(numbers))} places in the order"
    places = dict(_rows(connection, PLACES))
    games: dict[int, list[int]] = {}
    counting = set()
    for match, seq, number in _rows(connection, GAMES):
        its = games.setdefault(match, [])
        its += [] if number is None else [number]
        counting |= set() if seq is None else {match}
    for match, its in games.items():
        wanted = list(range(places[match])) if match in counting else []
        if sorted(its) != wanted:
            yield f"match {match} has the games {sorted(its)}, and not {wanted}"


def _counters(connection: sa.Connection, ladders: str) -> Iterator[str]:
    """Games of each entrant, of each two, and of each ladder."""
    played, met, of_ladder = Counter[int](), Counter[tuple[int, ...]](), Counter[int]()
    matches: dict[tuple[int, ...], set[int]] = {}
    tables: dict[int, list[int]] = {}
    for ladder, match, entrant, _, game, *_ in _rows(connection, SEATS, ladders):
        played[entrant] += 1
        table = tables.setdefault(game, [])
        table.append(entrant)
        if len(table) == 2:
            pair = tuple(sorted(table))
            met[pair] += 1
            matches.setdefault(pair, set()).add(match)
            of_ladder[ladder] += 1
    for entrant, games, results, *_ in _rows(connection, ENTRANTS, ladders):
        if not games == results == played[entrant]:
            yield f"entrant {entrant}: {games} games, {results} results, {played[entrant]} seats"
    for first, second, matches_met, games in _rows(connection, MEETINGS, ladders):
        found = met.pop((first, second), 0), len(matches.pop((first, second), ()))
        if found != (games, matches_met):
            yield f"{first} and {second}: {games} games in {matches_met} matches counted, {found}"
    yield from (f"{pair}: {count} games that are no meetings" for pair, count in met.items())
    for ladder, games, _ in _rows(connection, LADDERS, ladders):
        if games != of_ladder[ladder]:
            yield f"ladder {ladder}: {games} games counted, {of_ladder[ladder]} played"


def _ratings(connection: sa.Connection, ladders: str) -> Iterator[str]:
    """Ratings of entrants that began as new ones."""
    models = {
        ladder: trueskill.TrueSkill(draw_probability=draws)
        for ladder, _, draws in _rows(connection, LADDERS, ladders)
    }
    ratings: dict[int, trueskill.Rating] = {}
    rows = _rows(connection, SEATS, ladders)
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        ladder, _, one, its_rank, game, *_ = first
        _, _, other, other_rank, same, *_ = second
        if game != same or one == other:
            yield f"game {game} has not two seats of two entrants"
            return
        sides = [(ratings.get(entrant, trueskill.Rating()),) for entrant in (one, other)]
        after = models[ladder].rate(sides, (its_rank, other_rank))
        for row, (rating,) in zip((first, second), after, strict=True):
            ratings[row[2]] = rating
            if not _is_close(row[5], row[6], rating):
                yield f"game {game}: {row[5:]} written down, by the results {rating}"
    for entrant, _, _, mu, sigma, _ in _rows(connection, ENTRANTS, ladders):
        want = ratings.get(entrant, trueskill.Rating())
        if not _is_close(mu, sigma, want):
            yield f"entrant {entrant}: rated {mu:.5f} ±{sigma:.5f}, by the results {want}"


def _is_close(mu: float | None, sigma: float | None, rating: trueskill.Rating) -> bool:
    """Whether what was written down is that rating."""
    if mu is None or sigma is None:
        return False
    return abs(mu - rating.mu) <= CLOSE and abs(sigma - rating.sigma) <= CLOSE
