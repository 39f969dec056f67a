"""Whether each match of an arena's ladders is counted once: seen by SQL, and by nothing of ours.

It is for games of two seats. Ratings are folded with the trueskill package, whose normal
distribution is good for seven digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import sqlalchemy as sa
import trueskill

CLOSE = 1e-4
"""By which a rating may differ; a game counted twice moves that of a bot known well by a hundred
times as much."""

SEATS = """
SELECT g.competition_id, m.id, m.seq, g.number, s.entrant_id, s.rank, g.id
FROM "match" m JOIN game g ON g.match_id = m.id JOIN game_seat s ON s.game_id = g.id
WHERE m.status = 'fixed' AND m.rated
ORDER BY g.competition_id, m.seq, g.number, s.seat
"""
"""Every seat that counts, in the order in which ratings are made."""
FIXED = 'SELECT id, seq FROM "match" WHERE seq IS NOT NULL ORDER BY seq'
GAMES = 'SELECT m.id, m.seq, g.number FROM "match" m LEFT JOIN game g ON g.match_id = m.id'
PLACES = "SELECT match_id, count(*) FROM place GROUP BY match_id"
ENTRANTS = "SELECT id, games, wins + draws + losses, mu, sigma, competition_id FROM entrant"
MEETINGS = "SELECT first_id, second_id, matches, games FROM meeting WHERE games > 0"
LADDERS = "SELECT id, games, draw_probability FROM competition WHERE kind = 'ladder'"


def problems(connection: sa.Connection) -> list[str]:
    """What is not counted as it should be, a line each; nothing if all is."""
    return [*_order(connection), *_counters(connection), *_ratings(connection)]


def fixed(connection: sa.Connection) -> int:
    """How many matches were ever fixed."""
    return len(_rows(connection, FIXED))


def _rows(connection: sa.Connection, words: str) -> list[sa.Row[tuple[object, ...]]]:
    return list(connection.execute(sa.text(words)))


def _order(connection: sa.Connection) -> Iterator[str]:
    """Places in the order of completion, and the games of each match."""
    numbers = [seq for _, seq in _rows(connection, FIXED)]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"{len(numbers)} matches were fixed, with numbers up to {max(numbers)}"
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


def _counters(connection: sa.Connection) -> Iterator[str]:
    """Games of each entrant, of each two, and of each ladder."""
    played, met, of_ladder = Counter[int](), Counter[tuple[int, ...]](), Counter[int]()
    matches: dict[tuple[int, ...], set[int]] = {}
    tables: dict[int, list[int]] = {}
    for ladder, match, _, _, entrant, _, game in _rows(connection, SEATS):
        played[entrant] += 1
        table = tables.setdefault(game, [])
        table.append(entrant)
        if len(table) == 2:
            pair = tuple(sorted(table))
            met[pair] += 1
            matches.setdefault(pair, set()).add(match)
            of_ladder[ladder] += 1
    for entrant, games, results, *_ in _rows(connection, ENTRANTS):
        if not games == results == played[entrant]:
            yield f"entrant {entrant}: {games} games, {results} results, {played[entrant]} seats"
    for first, second, matches_met, games in _rows(connection, MEETINGS):
        found = met.pop((first, second), 0), len(matches.pop((first, second), ()))
        if found != (games, matches_met):
            yield f"{first} and {second}: {games} games in {matches_met} matches counted, {found}"
    yield from (f"{pair}: {count} games that are no meetings" for pair, count in met.items())
    for ladder, games, _ in _rows(connection, LADDERS):
        if games != of_ladder[ladder]:
            yield f"ladder {ladder}: {games} games counted, {of_ladder[ladder]} played"


def _ratings(connection: sa.Connection) -> Iterator[str]:
    """Ratings of entrants that began as new ones."""
    models = {
        ladder: trueskill.TrueSkill(draw_probability=draws)
        for ladder, _, draws in _rows(connection, LADDERS)
    }
    ratings: dict[int, trueskill.Rating] = {}
    before: tuple[int, int] | None = None
    for ladder, _, _, _, entrant, rank, game in _rows(connection, SEATS):
        if before is None:
            before = entrant, rank
            continue
        other, its_rank = before
        before = None
        sides = [(ratings.get(one, trueskill.Rating()),) for one in (other, entrant)]
        if other == entrant:
            yield f"game {game} has one entrant in both seats"
            continue
        ((first,), (second,)) = models[ladder].rate(sides, (its_rank, rank))
        ratings[other], ratings[entrant] = first, second
    for entrant, _, _, mu, sigma, _ in _rows(connection, ENTRANTS):
        want = ratings.get(entrant, trueskill.Rating())
        if abs(mu - want.mu) > CLOSE or abs(sigma - want.sigma) > CLOSE:
            yield f"entrant {entrant}: rated {mu:.5f} ±{sigma:.5f}, by the results {want}"
