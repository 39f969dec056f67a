"""What a bot's page says besides its numbers: openings, what a version waits for, where to play."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from typing import Any

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.competitions import strength_plans, strength_tests
from arena.competitions.players import NamedPlayer, named_players
from arena.competitions.strength_deeds import StopTest
from arena.fake.fill import fill
from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    Entrant,
    GameSeat,
    Ladder,
    Match,
    Meeting,
    Place,
    PlayedGame,
    StrengthTest,
    VersionStatus,
)
from arena.sittings import opponent_named
from arena.web.bots import OPPONENTS_SHOWN
from arena.web.entrants import OPENINGS_SHOWN, openings
from arena.web.games import live_game
from tests.arena.doing import do
from tests.arena.web.conftest import Site
from tests.arena.web.signing_in import now, pages
from tests.conftest import on_both


@on_both("site")
def test_openings_are_counted_as_they_were_played(site: Site) -> None:
    """The table has the games and points that the games themselves have."""
    with site.database.read() as session:
        entrant = session.get_one(Entrant, site.numbers["rival"])
        points: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for opening, its in session.execute(
            sa.select(Match.opening, GameSeat.points)
            .join(PlayedGame, PlayedGame.match_id == Match.id)
            .join(GameSeat, GameSeat.game_id == PlayedGame.id)
            .where(GameSeat.entrant_id == entrant.id, GameSeat.mu_after.is_not(None))
        ):
            points[tuple(opening)].append(its)
        found = openings(session, entrant)
        assert 1 < len(found) <= OPENINGS_SHOWN
        for split in found:
            its_points = points.pop(split.moves)
            assert split.games == len(its_points)
            assert split.score == pytest.approx(sum(its_points) / len(its_points))
        fewest = min(split.games for split in found)
        assert all(len(others) <= fewest for others in points.values())
        name = entrant.version.bot.name
        opening = " ".join(found[0].moves)
    assert opening in site.page(f"/bots/{name}?ladder=ladder-0")


def test_a_version_says_which_test_it_waits_for(site: Site) -> None:
    """As long as that runs, and no longer."""
    with site.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.name == "ladder-0")).one()
        candidate, baseline = session.scalars(
            sa.select(BotVersion).where(BotVersion.status == VersionStatus.READY).limit(2)
        ).all()
        plan = strength_plans.StrengthPlan.on(ladder)
        test = strength_tests.create(
            session,
            plan,
            NamedPlayer(candidate),
            NamedPlayer(baseline),
            now(),
            ARENA,
            ladder=ladder,
        )
        number, bot, rival = test.id, candidate.bot.name, baseline.bot.name
        version = candidate.number
    link = f'waits for <a href="/tests/{number}">test {number}</a>'
    assert link in site.page(f"/bots/{bot}")
    assert link not in site.page(f"/bots/{rival}")
    told = [site.client.get(f"/api/v1/bots/{name}").json["waiting"] for name in (bot, rival)]
    assert told == [[{"version": version, "test": number}], []]
    with site.database.begin() as session:
        do(session, StopTest(number), now())
    assert link not in site.page(f"/bots/{bot}")


def test_a_strength_match_has_the_games_that_it_has() -> None:
    """Two versions of the Siege meet in six games: both alone on each of the three seats."""
    test = StrengthTest(game="siege", options={"seats": "3"}, move_ms=100, inc_ms=0, charge="cpu")
    versions = [BotVersion(bot=Bot(name=name), number=1) for name in ("a", "b")]
    places = [
        Place(number=n, entrant=Entrant(version=version)) for n, version in enumerate(versions)
    ]
    match = Match(competition=test, options=test.options, opening=[], seed=1, places=places)
    match.progress = {"game": 4, "moves": []}
    live = live_game(match)
    assert live is not None
    assert (live.number, live.games) == (5, 6)


def test_the_best_rank_is_shown(site: Site) -> None:
    """Since when and by which version; what nobody looked at yet is not worse than the present."""
    with site.database.begin() as session:
        session.execute(sa.update(Entrant).values(best_rank=1, best_rank_at=now()))
    text = site.page("/bots/bot-3?ladder=ladder-0")
    assert re.search(r"Best rank</span></dt><dd>1 <small class=\"faint\">v1, <time", text)
    with site.database.begin() as session:
        session.execute(sa.update(Entrant).values(best_rank=None, best_rank_at=None))
    shown = re.search(r"<dt>Rank</dt><dd>(\d+)", site.page("/bots/bot-3?ladder=ladder-0"))
    assert shown
    assert f"Best rank</span></dt><dd>{shown[1]}</dd>" in site.page("/bots/bot-3?ladder=ladder-0")


def test_the_rest_of_the_opponents_is_a_link_away(database: Database) -> None:
    """The most surprising ones come first, however many there are."""
    fill(database, bots=40, ladders=1, games=1600, seed=1, now=now())
    with database.read() as session:
        busiest = session.scalars(sa.select(Entrant).order_by(Entrant.games.desc()).limit(1)).one()
        met = sa.select(sa.func.count()).where(
            (Meeting.first_id == busiest.id) | (Meeting.second_id == busiest.id)
        )
        name, count = busiest.version.bot.name, session.scalar(met) or 0
    app = pages(database)
    client, rival = app.test_client(), f"/bots/{name}/against/"
    some = client.get(f"/bots/{name}").text
    assert some.count(rival) == OPPONENTS_SHOWN < count
    assert f"these are {OPPONENTS_SHOWN} of {count}" in some
    link = re.search(r'<a href="([^"]+)">show all</a>', some)
    assert link
    assert client.get(html.unescape(link[1])).text.count(rival) == count
    app.extensions["arena.database"].close()


PLAY = '<a role="button" class="quiet" href="/play/on/{}" rel="nofollow">'


@pytest.mark.parametrize(
    ("address", "there", "settings", "shown"),
    [
        ("/ladders/ladder-0", "ladder-0", {}, True),
        ("/ladders/ladder-2", "ladder-2", {}, True),
        ("/ladders/ladder-0", "ladder-0", {"play": "nobody"}, False),
        ("/bots/bot-1?ladder=ladder-0", "ladder-0?bot=bot-1", {}, True),
        ("/bots/bot-1?ladder=ladder-0", "ladder-0?bot=bot-1", {"play": "nobody"}, False),
        # Nobody plays a puzzle against a bot.
        ("/bots/bot-1?ladder=ladder-2", "ladder-2?bot=bot-1", {}, False),
    ],
)
def test_a_button_leads_to_a_game(
    site: Site, address: str, there: str, settings: dict[str, Any], shown: bool
) -> None:
    """It is on ladders and bots that can be played, where people may play at all."""
    app = pages(site.database, **settings)
    text = app.test_client().get(address).text
    app.extensions["arena.database"].close()
    assert (PLAY.format(there) in text) is shown


@pytest.mark.parametrize(
    ("address", "leads_to"),
    [
        ("/bots/Bot-0", "/bots/bot-0"),
        ("/bots/BOT-0?ladder=ladder-0&_external=1", "/bots/bot-0?ladder=ladder-0&_external=1"),
        ("/bots/Bot-0/against/bot-1:01", "/bots/bot-0/against/bot-1:1"),
        ("/bots/bot-0/against/Bot-1?in=ladder-0", "/bots/bot-0/against/bot-1?in=ladder-0"),
    ],
)
def test_a_name_in_other_letters_leads_to_the_bot(site: Site, address: str, leads_to: str) -> None:
    """No two bots are called the same but for the case, so that it is plain who is meant."""
    answer = site.client.get(address)
    assert (answer.status_code, answer.location) == (302, leads_to)
    assert site.client.get(leads_to).status_code == 200


@on_both("site")
def test_whatever_takes_a_name_takes_it_in_other_letters(site: Site) -> None:
    """The API, and what commands and forms have names looked up by."""
    with site.database.read() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.name == "ladder-0")).one()
        its = sa.select(Entrant).join(Entrant.version).join(BotVersion.bot)
        its = its.where(Entrant.competition_id == ladder.id, Bot.name == "bot-1")
        entrant = session.scalars(its).one()
        assert entrant.version.bot.name == "bot-1"
        assert named_players(session, ["Bot-1:1"]) == [NamedPlayer(entrant.version)]
        assert opponent_named(session, ladder, "Bot-1:1") == entrant.version_id
    assert site.client.get("/api/v1/bots/Bot-1").json["name"] == "bot-1"
