"""The first page: the ten lines, the games, what runs, and one's own bots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from arena.lists.rows import seat_result
from arena.models import (
    Bot,
    Entrant,
    EntrantState,
    GameDayCount,
    GameSeat,
    Ladder,
    Match,
    PlayedGame,
)
from arena.web.own_bots import LAST_GAMES, own_bots
from arena.web.queries import games_of_day
from engine.games import GAMES
from tests.arena.web.conftest import Site
from tests.arena.web.signing_in import now
from tests.arena.web.test_access import opened, unchanged
from tests.arena.web.test_pages import read as look
from tests.sample_bots.test_kits import printed_bots

MOST_BYTES = 150_000


@pytest.fixture(scope="module")
def door(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """The site with people at its door."""
    with unchanged(site.database):
        found = opened(site, tmp_path_factory.mktemp("data"))
        yield found
        found.app.extensions["arena.database"].close()


def test_the_ten_lines_are_a_bot_that_plays(site: Site) -> None:
    """They are those of the page for authors, which its tests play as they stand."""
    shown = re.search(r'<code id="first-bot">(.*?)</code>', site.page("/"), re.DOTALL)
    assert shown is not None
    text = unescape(shown[1])
    assert ("python", text) in printed_bots()
    assert len(text.splitlines()) == 10


def test_the_front_page_is_light(site: Site) -> None:
    """With all that it loads, packed as browsers ask for it, whatever games there are."""
    packed = {"Accept-Encoding": "gzip"}
    # Whoever has a session is answered unpacked, unless a page of ours asks.
    newcomer = site.client.application.test_client()

    def size(link: str) -> int:
        with newcomer.get(link, headers=packed) as answer:
            assert answer.status_code == 200
            return len(answer.data)

    reader = look(site.page("/"))
    loaded = {link for link in reader.sources if not link.endswith(("/now", "theme=dark"))}
    assert {f"/rules/{name}.svg" for name in GAMES.singles} < loaded
    sizes = {link: size(link) for link in loaded | {"/"}}
    assert sum(sizes.values()) < MOST_BYTES, sizes


def test_games_stand_with_their_leaders_and_numbers(site: Site) -> None:
    """Those that ended today are counted as the days of all games have them."""
    page = site.page("/")
    assert "leads." in page
    with site.database.read() as session:
        day = session.scalars(sa.select(sa.func.max(PlayedGame.finished))).one()
        games = games_of_day(session, day)
        assert games
        for game, count in games.items():
            wanted = sa.select(PlayedGame.finished).join(
                Ladder, Ladder.id == PlayedGame.competition_id
            )
            ended = session.scalars(wanted.where(Ladder.game == game))
            assert count == sum(one.date() == day.date() for one in ended)
    with site.database.begin() as session:
        today = GameDayCount(day=now().toordinal(), game="clobber", games=1234)
        session.merge(today)
    try:
        assert "1234 games today" in site.page("/").replace(",", "")
    finally:
        with site.database.begin() as session:
            session.delete(session.get_one(GameDayCount, (now().toordinal(), "clobber")))


def test_one_s_own_bots_stand_there(door: SimpleNamespace, site: Site) -> None:
    """With rank, last games and what is wrong; to others nothing of it is shown."""
    assert "Your bots" not in site.page("/")
    with site.database.begin() as session:
        bot = session.scalars(sa.select(Bot).where(Bot.name == "bot-2")).one()
        its = session.scalars(
            sa.select(Entrant)
            .join(Ladder, Ladder.id == Entrant.competition_id)
            .where(Entrant.version.has(bot_id=bot.id), Entrant.state == EntrantState.ACTIVE)
            .order_by(Entrant.id)
        ).all()
        its[-1].state, its[-1].reason = EntrantState.SUSPENDED, "it crashed <i>twice</i>"
    page = door.browsers["owner"].get("/").text
    assert "Your bots" in page
    assert "is suspended from" in page
    assert "it crashed &lt;i&gt;twice&lt;/i&gt;" in page
    assert "did not pass its check" in page
    assert "Your bots" in door.browsers["other"].get("/").text
    assert "None yet: the ten lines above are one." in door.browsers["other"].get("/").text


def test_what_is_said_of_one_s_bots(site: Site) -> None:
    """The last games in their order, and what they did to the rating, as the games have it."""
    with site.database.read() as session:
        owner = session.scalars(sa.select(Bot.owner_id).where(Bot.name == "bot-0")).one()
        found = own_bots(session, owner)
        assert found.places
        for place in found.places:
            seats = session.scalars(
                sa.select(GameSeat)
                .where(GameSeat.entrant_id == place.entrant.id)
                .order_by(GameSeat.game_id)
            ).all()[-LAST_GAMES:]
            assert [(one.number, one.result) for one in place.last] == [
                (seat.game_id, seat_result(seat.rank, seat.points)) for seat in seats
            ]
            rated = [seat for seat in seats if seat.mu_after is not None]
            if rated:
                moved = 47 * ((rated[-1].mu_after or 0) - (rated[0].mu_before or 0))
                assert place.change == pytest.approx(moved)


def test_where_nothing_is_played_the_last_game_of_a_ladder_is_shown(site: Site) -> None:
    """So does the page of the best running game, so that a wall is never bare."""
    with site.database.read() as session:
        of_worker = sa.select(Match.id, Match.worker).where(Match.worker.is_not(None))
        at_work = [row._asdict() for row in session.execute(of_worker)]
    try:
        with site.database.begin() as session:
            session.execute(sa.update(Match).values(worker=None))
            newest = sa.select(PlayedGame.id).join(Ladder, Ladder.id == PlayedGame.competition_id)
            lively = newest.where(Ladder.last_game.is_not(None)).order_by(Ladder.last_game.desc())
            last = session.scalar(lively.order_by(PlayedGame.id.desc()).limit(1))
        page, front = site.page("/tv"), site.page("/watch")
    finally:
        with site.database.begin() as session:
            session.execute(sa.update(Match), at_work)
    assert "Nothing is played at this moment" in page
    assert f'id="last"><a href="/games/{last}"' in page
    assert 'id="watched"><a href="/games/' in front
