"""What filters find is what a plain look at every game finds, on both databases."""

from __future__ import annotations

from itertools import cycle
from random import Random

import pytest
import sqlalchemy as sa

from arena.ground.db import Database
from arena.ground.refusals import NotThere
from arena.lists import search
from arena.lists.filters import GameFilter, Order, line_word, opening_word
from arena.lists.search import find, known_words
from arena.models import GameDay, GameTag, GameValue
from tests.arena.lists.conftest import Archive, PlainGame

RANDOM_FILTERS = 40


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page looks at few games, so that among some hundred all ways to look are taken."""
    monkeypatch.setattr(search, "PROBE", 15)
    monkeypatch.setattr(search, "WINDOW", 40)


def all_of(archive: Archive, wanted: GameFilter, *, most: int) -> list[int]:
    """What a filter finds, from page to page; no page has more than was asked for."""
    found: list[int] = []
    place, pages = None, 0
    with archive.database.read() as session:
        while pages == 0 or place is not None:
            page = find(session, wanted, most=most, after=place)
            assert len(page.games) == most or page.is_cut or page.further is None
            found += page.games
            place, pages = page.further, pages + 1
    return found


def words_of(game: PlainGame, random: Random) -> dict[str, str]:
    """Every word of a filter, as one seat of a game would have it."""
    seat, other = random.sample(game.seats, 2) if len(game.seats) > 1 else game.seats * 2
    return {
        "competition": game.competition,
        "game": game.game,
        "bot": random.choice([seat.bot, f"{seat.bot}:{seat.version}", seat.bot.upper()]),
        "against": other.bot,
        "seat": str(seat.seat + 1),
        "result": str(seat.result),
        "fault": random.choice(["crash", "timeout", "memory", "protocol"]),
        "ending": str(game.ending),
        "opening": opening_word(game.opening),
        "line": line_word(game.line[: random.choice((8, 12, 16, 20, 28))]),
        "plies": random.choice(["12-", "-14", str(game.plies), f"{game.plies - 1}-{game.plies}"]),
        "since": f"{game.finished:%Y-%m-%d}",
        "until": random.choice([f"{game.finished:%Y-%m-%d}", game.finished.isoformat()]),
        "tag": random.choice(["book", "endgame", "book,sacrifice"]),
        "value": random.choice(["eval>=0.5", "depth<=12", "depth", "depth>11,eval<0.6", "none"]),
        "counts": random.choice(["yes", "no"]),
        "worker": game.worker or "",
    }


def test_each_word_alone(archive: Archive) -> None:
    """As a plain look at all games finds them."""
    random = Random(1)
    game = archive.games[len(archive.games) // 2]
    for (word, text), order in zip(words_of(game, random).items(), cycle(Order), strict=False):
        wanted = GameFilter.read({word: text, "sort": order})
        assert all_of(archive, wanted, most=20) == archive.wanted(wanted), wanted


def test_words_together(archive: Archive) -> None:
    """Any of them at once, from page to page of any size; most find something."""
    random, found = Random(2), 0
    for _ in range(RANDOM_FILTERS):
        words = words_of(random.choice(archive.games), random)
        chosen = random.sample(sorted(words), random.choice((2, 2, 3, 4)))
        order = str(random.choice(list(Order)))
        wanted = GameFilter.read({"sort": order, **{word: words[word] for word in chosen}})
        games = archive.wanted(wanted)
        assert all_of(archive, wanted, most=random.choice((5, 20, 100))) == games, wanted
        found += bool(games)
    assert found > RANDOM_FILTERS // 4


def test_a_page_looks_at_so_many_games_and_says_so(archive: Archive) -> None:
    """Where nothing of what is common is found, the next page looks from there on."""
    wanted = GameFilter.read({"ending": "normal", "value": "eval>=0.99"})
    assert archive.wanted(wanted) == []
    with archive.database.read() as session:
        page = find(session, GameFilter.read({"seat": "9"}), most=50)
        assert page.is_cut
        assert page.further is not None
        # What is rare is looked for at once.
        assert find(session, wanted, most=50) == search.Found((), None, is_cut=False)


@pytest.mark.parametrize(
    ("word", "text", "problem"),
    [
        ("competition", "none", "there is no competition none"),
        ("bot", "nobody", "there is no bot nobody"),
        ("against", "nobody:2", "there is no bot nobody"),
    ],
)
def test_what_is_not_there(archive: Archive, word: str, text: str, problem: str) -> None:
    """It is said, and nothing is found instead."""
    with archive.database.read() as session, pytest.raises(NotThere, match=problem):
        find(session, GameFilter.read({word: text}), most=1)


def test_a_game_is_listed_once(archive: Archive) -> None:
    """Also if several of its seats are as they are asked for."""
    both = GameFilter.read({"result": "drawn"})
    found = all_of(archive, both, most=5)
    assert len(found) == len(set(found))


def test_clocks_that_are_set_back_hide_nothing(archive: Archive) -> None:
    """A day whose games lie among those of others is looked for among all of these."""
    days = {game.finished.toordinal() for game in archive.games}
    with archive.database.read() as session:
        rows = {row.day: row for row in session.scalars(sa.select(GameDay))}
    assert rows.keys() == days
    for day, row in rows.items():
        numbers = [game.number for game in archive.games if game.finished.toordinal() == day]
        assert (row.first_id, row.last_id) == (min(numbers), max(numbers))


def test_what_bots_say_can_be_chosen_from(archive: Archive) -> None:
    """Each tag and each number's key once, in order."""
    with archive.database.read() as session:
        assert known_words(session, GameTag.tag, 9) == ["book", "endgame", "sacrifice"]
        assert known_words(session, GameValue.key, 9) == ["depth", "eval"]
        assert known_words(session, GameValue.key, 1) == ["depth"]


def test_an_empty_arena_has_nothing(database: Database) -> None:
    """No word, no game."""
    with database.read() as session:
        assert known_words(session, GameTag.tag, 9) == []
        assert find(session, GameFilter(), most=5) == search.Found((), None, is_cut=False)
        dated = GameFilter.read({"since": "2026-01-01"})
        assert find(session, dated, most=5).games == ()
