"""People ask for unrated matches between bots of their choice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from arena.audit import ARENA
from arena.bots.submissions import enter, submit
from arena.ground.db import Database
from arena.models import (
    Bot,
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    JobStatus,
    Ladder,
    Match,
    Scope,
    User,
    VersionStatus,
)
from arena.people.accounts import add_token, get
from arena.schedule import waits
from tests.arena.simulator import CALM, START, Simulation
from tests.arena.web.conftest import HOSTILE
from tests.arena.web.signing_in import Browser, now, pages_of_a_copy, person, signed_in
from tests.arena.web.test_pages import read

DUEL, TRIO, RACE = "ladder-0", "ladder-1", "ladder-2"
QUOTA = 3


@dataclass(frozen=True, slots=True)
class Asking:
    """Somebody at a browser, and the database behind it."""

    browser: Browser
    database: Database

    def ask(self, ladder: str, *bots: str) -> tuple[int, str]:
        """Sends the form, and gives the status and the address or the text of the answer."""
        page = f"/ladders/{ladder}/unrated"
        answer = self.browser.post(page, {"bot": list(bots)}, page=page)
        return answer.status_code, answer.location or answer.text

    def asked(self) -> list[Match]:
        with self.database.read() as session:
            return list(session.scalars(sa.select(Match).where(Match.requester_id.is_not(None))))


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an arena: ladders for two, three and one, bot-0 in two versions, ada."""
    file = tmp_path_factory.mktemp("furnished") / "arena.db"
    database = Database(f"sqlite:///{file}")
    database.upgrade()
    simulation = Simulation(database, 1, CALM)
    simulation.furnish(
        [
            ("clobber", {"size": "4x3"}),
            ("blokus", {"mode": "trio"}),
            ("puzzle", {"task": "tetrominoes"}),
        ],
        bots=3,
    )
    with database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).order_by(Ladder.id)).first()
        assert ladder is not None
        owner = session.scalars(sa.select(User)).one()
        newer = submit(
            session, owner, "bot-0", digest="1" * 64, size=9, language="C", ladder=ladder, now=START
        )
        newer.status = VersionStatus.READY
        enter(session, ladder, newer, START)
    person(database, "ada")
    database.close()
    return file


@pytest.fixture
def ada(furnished: Path, tmp_path: Path) -> Iterator[Asking]:
    """Somebody at the pages of a copy of it."""
    with pages_of_a_copy(furnished, tmp_path, requests_a_day=QUOTA) as (app, database):
        yield Asking(signed_in(app, "ada"), database)


ASKED = [
    (DUEL, ["bot-0", "bot-1"], ["bot-0 v2", "bot-1 v1"]),
    (DUEL, [" bot-2 ", "bot-0:1"], ["bot-2 v1", "bot-0 v1"]),
    (DUEL, ["bot-0:1", "bot-0:2"], ["bot-0 v1", "bot-0 v2"]),
    (TRIO, ["bot-2", "bot-0", "bot-1"], ["bot-2 v1", "bot-0 v1", "bot-1 v1"]),
    (RACE, ["bot-1", "bot-2", "", ""], ["bot-1 v1", "bot-2 v1"]),
    (RACE, ["bot-1", "", "bot-2", "bot-0"], ["bot-1 v1", "bot-2 v1", "bot-0 v1"]),
]


@pytest.mark.parametrize(
    ("ladder", "bots", "versions"),
    ASKED,
    ids=["two", "an old one", "itself", "three", "a race", "of three"],
)
def test_a_match_is_asked_for(
    ada: Asking, ladder: str, bots: list[str], versions: list[str]
) -> None:
    """It is unrated, in that order of seats, and its page and the account's list have it."""
    status, where = ada.ask(ladder, *bots)
    (made,) = ada.asked()
    assert (status, where) == (302, f"/matches/{made.id}")
    assert not made.rated
    page = ada.browser.get(where).text
    assert " is played when a worker is free." in page
    assert "It was asked for, and counts for nothing." in page
    account = ada.browser.get("/account").text
    for text in (page, account):
        places = [text.index(f">{version.replace(' ', '</bdi> ')}") for version in versions]
        assert places == sorted(places)
        assert read(text).verdict() == []
    assert f'href="/matches/{made.id}"' in account
    assert "waiting" in account


REFUSED = [
    (DUEL, ["bot-0"], "A match of ladder-0 is between 2 bots, not 1."),
    (DUEL, [], "Bots: this is needed."),
    (DUEL, ["bot-0", "bot-1", "bot-2"], "A match of ladder-0 is between 2 bots, not 3."),
    (DUEL, ["bot-0", "nobody"], "There is no active bot &#39;nobody&#39; on the ladder ladder-0."),
    (DUEL, ["bot-0", "bot-1:9"], "There is no version 9 of a bot bot-1 on the ladder ladder-0."),
    (DUEL, ["bot-0", "bot-1:x"], "&#39;bot-1:x&#39; names no bot: write greedy, greedy:2"),
    (
        DUEL,
        ["bot-0", "bot-0"],
        "A bot version sits in a match once: name different ones, or give one other options.",
    ),
    (DUEL, ["bot-0", HOSTILE], "names no bot: write greedy"),
    (TRIO, ["bot-0", "bot-1"], "A match of ladder-1 is between 3 bots, not 2."),
    (RACE, ["bot-0"], "A match of ladder-2 is between from 2 to 8 bots, not 1."),
]


@pytest.mark.parametrize(("ladder", "bots", "words"), REFUSED, ids=[words for *_, words in REFUSED])
def test_what_can_not_be_played_is_refused(
    ada: Asking, ladder: str, bots: list[str], words: str
) -> None:
    """It is one line, with the bots still in their fields; nothing is made."""
    status, text = ada.ask(ladder, *bots)
    assert (status, words in text) == (422, True)
    assert "<script>alert" not in text
    for bot in bots[:2]:
        assert bot not in ("bot-0", "bot-1", "nobody") or f'value="{bot}"' in text
    assert read(text).verdict() == []
    assert ada.asked() == []


def test_the_quota_is_said_and_kept(ada: Asking) -> None:
    """How many are left, and when the next is free; a form that is sent again counts again."""
    address = f"/ladders/{DUEL}/unrated"
    for left in ("3 of them are left", "2 of them are left", "1 of them is left"):
        assert left in ada.browser.get(address).text
        assert ada.ask(DUEL, "bot-0", "bot-1")[0] == 302
    assert "none of them are left" in ada.browser.get(address).text
    status, text = ada.ask(DUEL, "bot-0", "bot-1")
    assert status == 422
    assert "3 matches may be asked for within 24 hours: the next is free at" in text
    assert len(ada.asked()) == QUOTA


def test_a_match_tells_what_was_asked_for_before(ada: Asking) -> None:
    """And has not begun either; and what the workers are busy with."""
    for _ in range(3):
        ada.ask(DUEL, "bot-0", "bot-1")
    with ada.database.begin() as session:
        found = session.scalars(sa.select(Match).where(Match.requester_id.is_not(None))).all()
        first, *_, last = sorted(found, key=lambda match: match.id)
        assert waits.of_match(session, first) == []
        assert waits.of_match(session, last) == ["2 matches asked for before it did not begin yet."]
        first.status, first.worker, first.lease_ends = JobStatus.ISSUED, "w", now()
        first.ticket = "ticket"
        session.flush()
        assert waits.of_match(session, last) == [
            "1 match asked for before it did not begin yet.",
            "The workers are busy with 1 match.",
        ]
        session.rollback()


@pytest.mark.parametrize("state", ["paused", "frozen", "closed"])
def test_a_ladder_that_does_not_play_takes_no_requests(ada: Asking, state: str) -> None:
    """Its page does not offer it, and the form says why not."""
    assert ">Ask for a match</a>" in ada.browser.get(f"/ladders/{DUEL}").text
    with ada.database.begin() as session:
        ladder = session.scalars(sa.select(Ladder).where(Ladder.name == DUEL)).one()
        ladder.state = CompetitionState(state)
    assert ">Ask for a match</a>" not in ada.browser.get(f"/ladders/{DUEL}").text
    status, text = ada.ask(DUEL, "bot-0", "bot-1")
    assert (status, f"The ladder ladder-0 is {state}, and plays no matches." in text) == (422, True)


def test_bots_are_filled_in_by_the_page_one_comes_from(ada: Asking) -> None:
    """A bot's page names it, with its version if another one plays now."""
    for bot in ("bot-0", "bot-1"):
        text = ada.browser.get(f"/bots/{bot}?ladder={DUEL}").text
        assert f'href="/ladders/{DUEL}/unrated?bot={bot}"' in text
    text = ada.browser.get(f"/ladders/{DUEL}/unrated?bot=bot-1&bot=bot-0:1&bot=x").text
    assert text.index('value="bot-1"') < text.index('value="bot-0:1"')
    with ada.database.begin() as session:
        entrant = session.scalars(
            sa.select(Entrant)
            .join(Entrant.version)
            .join(BotVersion.bot)
            .join(Ladder, Ladder.id == Entrant.competition_id)
            .where(Bot.name == "bot-1", Ladder.name == DUEL)
        ).one()
        entrant.state = EntrantState.SUSPENDED
    text = ada.browser.get(f"/bots/bot-1?ladder={DUEL}").text
    assert f'href="/ladders/{DUEL}/unrated?bot=bot-1:1"' in text


def test_a_form_that_is_sent_twice_makes_one_match(ada: Asking) -> None:
    """One page makes one; who asks again by another gets another. So with a key, by the API."""
    page = f"/ladders/{DUEL}/unrated"
    form = re.findall(r'name="form" value="([0-9a-f]+)"', ada.browser.get(page).text)
    fields = {"bot": ["bot-0", "bot-1"], "form": form[0]}
    with ThreadPoolExecutor(2) as hands:
        sent = [hands.submit(ada.browser.post, page, fields, page=page) for _ in range(2)]
    assert len({one.result().location for one in sent}) == 1
    assert len(ada.asked()) == 1
    assert ada.ask(DUEL, "bot-0", "bot-1")[0] == 302
    assert len(ada.asked()) == 2


def test_a_key_makes_one_match(ada: Asking) -> None:
    """Whatever else is asked for by it; keys of others are theirs."""
    tokens: list[str] = []
    person(ada.database, "eve")
    with ada.database.begin() as session:
        for name in ("ada", "eve"):
            user = get(session, name)
            tokens.append(add_token(session, ARENA, user, "x", [Scope.SUBMIT], now()))
    body = {"ladder": DUEL, "bots": ["bot-0", "bot-1"], "key": "build 17"}
    made = [
        ada.browser.client.post(
            "/api/v1/matches", json=body, headers={"Authorization": f"Bearer {token}"}
        )
        for token in (tokens[0], tokens[0], tokens[1])
    ]
    assert [one.status_code for one in made] == [201] * 3
    first, again, other = (one.json["number"] for one in made)
    assert first == again != other


def test_matches_begin_where_somebody_says(ada: Asking) -> None:
    """They do from a line, as many as are wanted; a form that is sent twice makes no more."""
    page = f"/ladders/{DUEL}/unrated"
    moves = ["a2a1", "c1b1"]
    shown = ada.browser.get(f"{page}?moves={'+'.join(moves)}").text
    assert "It begins here, after 2 plies: <code>a2a1 c1b1</code>." in shown
    form = {"bot": ["bot-0", "bot-1"], "moves": " ".join(moves), "count": "2", "form": "one"}
    for _ in range(2):
        answer = ada.browser.post(page, form, page=page)
        made = ada.asked()
        assert answer.location == f"/matches/{made[0].id}"
        assert [match.opening for match in made] == [moves, moves]
        assert len({match.seed for match in made}) == 2
    form |= {"form": "two"}
    answer = ada.browser.post(page, form, page=page)
    assert answer.status_code == 422
    assert "and 1 of them are left: ask for fewer" in answer.text
    assert 'name="moves" value="a2a1 c1b1"' in answer.text
    assert len(ada.asked()) == 2


@pytest.mark.parametrize(
    ("ladder", "asked", "words"),
    [
        (DUEL, {"moves": "a1a9"}, "Moves: &#39;a1a9&#39; is not legal here"),
        (DUEL, {"start": "size=5x5", "moves": ""}, "Start: size=5x5 is no start of clobber"),
        (DUEL, {"count": "0"}, "Matches: give a number from 1 to 50"),
        (DUEL, {"count": "51"}, "Matches: give a number from 1 to 50"),
        (RACE, {"start": "hard=no"}, "puzzle is played alone and has no openings"),
    ],
)
def test_what_no_match_can_begin_with(
    ada: Asking, ladder: str, asked: dict[str, str], words: str
) -> None:
    """It is refused in one line; nothing is made."""
    page = f"/ladders/{ladder}/unrated"
    answer = ada.browser.post(page, {"bot": ["bot-0", "bot-1"], **asked}, page=page)
    assert answer.status_code == 422
    assert words in answer.text
    assert ada.asked() == []


def test_somebody_plays_on_from_a_line(ada: Asking) -> None:
    """The game begins there, by default with the seat that is to move; the same by the API."""
    page = f"/play/on/{DUEL}"
    shown = ada.browser.get(f"{page}?moves=a2a1").text
    assert re.search(r'name="place" value="1" checked> [^<]*, to move<', shown)
    bot = re.findall(r'<option value="(\d+)"', shown)[0]
    form = {"place": "1", "bot1": bot, "moves": "a2a1", "form": "one"}
    answer = ada.browser.post(page, form, page=page)
    assert answer.status_code == 303
    record = ada.browser.get(f"{answer.location}.json").json
    assert (record["opening"], record["moves"]) == (1, ["1:a2a1"])
    refused = ada.browser.post(page, form | {"form": "two", "moves": "zz"}, page=page)
    assert (refused.status_code, "is not legal here" in refused.text) == (422, True)

    over = ada.browser.post(f"{answer.location}/resign", {"ply": "1"}, page=answer.location)
    assert over.status_code == 303
    page_of_it = ada.browser.get(answer.location).text
    form_again = page_of_it[page_of_it.index('value="a2a1"') - 1500 :]
    fields = dict(re.findall(r'name="(form|place|bot1|moves)" value="([^"]*)"', form_again))
    assert fields["place"] == "0"
    again = ada.browser.post(page, fields, page=page)
    assert again.status_code == 303
    other = ada.browser.get(f"{again.location}.json").json
    assert (other["moves"][0], other["players"][0]) == ("1:a2a1", "ada")
