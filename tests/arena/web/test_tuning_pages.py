"""The pages of tunings: what they show to whom, and what people can do there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask import Flask

from arena.competitions import tunings
from arena.competitions.gauntlet_deeds import CreateGauntlet
from arena.competitions.rules import CreateByRules
from arena.competitions.strength_deeds import CreateTest
from arena.competitions.tuning_deeds import CreateTuning
from arena.competitions.tuning_standings import progress_of, standing_of
from arena.ground.db import Database
from arena.models import Approval, BotTuning, Ladder, Role, User
from arena.strength.bayes import is_installed
from arena.strength.outcomes import Outcome
from tests.arena.competitions.test_tunings import TuningSimulation
from tests.arena.doing import do
from tests.arena.simulator import CALM
from tests.arena.web.signing_in import complaints, deeds, pages, person, signed_in


@pytest.fixture
def arena(sqlite_database: Database) -> TuningSimulation:
    made = TuningSimulation(sqlite_database, CALM, "clobber", size="4x4")
    person(sqlite_database, "somebody")
    person(sqlite_database, "eve")
    return made


@pytest.fixture
def app(arena: TuningSimulation, tmp_path: Path) -> Iterator[Flask]:
    app = pages(arena.database, data=tmp_path)
    yield app
    app.extensions["arena.database"].close()


def test_one_is_begun_stopped_and_let_go_on(arena: TuningSimulation, app: Flask) -> None:
    """A form names the numbers of each version; its owner does so, and nobody else."""
    owner, eve = signed_in(app, "somebody"), signed_in(app, "eve")
    form = owner.get("/tunings/new").text
    assert "bot-0 v1: aim, width" in form
    assert 'value="aim width"' in form
    fields = set(re.findall(r'name="(\w+)"', form))
    assert "seed" in fields
    assert "machine" not in fields  # which is for organisers to choose
    assert ("method" in fields) is is_installed()
    sent = {"bot": "bot-0:1", "parameters": "aim width=1:0:2", "ladder": "ladder-0", "games": "64"}
    sent["seed"] = "2026"
    wrong = owner.post("/tunings/new", sent | {"parameters": "aim=5:0"})
    assert wrong.status_code == 422
    assert "write NAME=START:LEAST:MOST" in "".join(complaints(wrong))
    made = owner.post("/tunings/new", sent)
    assert made.status_code == 302
    address = made.location
    forms = [f'action="{address}/{what}"' for what in ("pause", "stop", "extend")]
    assert all(one in owner.get(address).text for one in forms)
    assert not any(one in eve.get(address).text for one in forms)
    for what, state in (("pause", "paused"), ("resume", "running"), ("stop", "stopped")):
        assert eve.post(f"{address}/{what}", {}).status_code == 403
        assert owner.post(f"{address}/{what}", {}).status_code == 302
        assert owner.get(f"{address}.json").json["state"] == state
        assert owner.post(f"{address}/{what}", {}).status_code == 409
    assert owner.post(f"{address}/extend", {"games": "100"}).status_code == 302
    told = owner.get(f"{address}.json").json
    assert (told["state"], told["max_games"], told["creator"]) == ("running", 128, "somebody")
    assert told["seed"] == 2026
    said = [one.partition(": ")[2] for one in deeds(arena.database)]
    # To stop it is noted as what was asked for, and as what became of the tuning.
    assert said[-6:] == [
        *("create tuning", "pause tuning", "resume tuning"),
        *("end tuning", "stop tuning", "extend tuning"),
    ]


def test_the_path_of_each_number_is_drawn(arena: TuningSimulation, app: Flask) -> None:
    """Between its bounds with its step above and below; the table and the JSON have the numbers."""
    number = arena.tune("aim=-1:-10:10:3:1", "width", games=160, batch=16)
    anybody = app.test_client()
    address = f"/tunings/{number}"
    assert "<polyline" not in anybody.get(address).text
    with arena.database.begin() as session:
        tuning = tunings.find(session, number)
        stands = standing_of(tuning)
        for _ in range(32):
            stands = stands.add(Outcome(4, 2, 0, 0, ({}, {}), ""))
        tuning.progress = progress_of(stands)
    page, told = anybody.get(address).text, anybody.get(f"{address}.json").json
    assert [one["name"] for one in told["parameters"]] == ["aim", "width"]
    aim = told["parameters"][0]
    assert [games for games, *_ in aim["path"]] == [0, 32, 64]
    assert (aim["path"][0][1], aim["path"][-1][1]) == (-1, stands.values[0])
    # The step of the first of 80 matches: by the formulas 3 * 80^0.101.
    assert aim["path"][0][2] == pytest.approx(3 * 80**0.101)
    (chart, _) = re.findall(r'<svg class="chart".*?</svg>', page, re.S)
    assert chart.count(",") >= 9
    assert f'aria-label="aim, from -1 to {told["chosen"]["aim"]} after 64 games' in chart
    (line,) = re.findall(r'class="line" points="([^"]+)"', chart)
    assert len(line.split()) == 3
    (band,) = re.findall(r'class="band" points="([^"]+)"', chart)
    assert len(band.split()) == 6
    assert told["manifest"] in page.replace("&#34;", '"')
    assert f'aim = "int -10 10 {told["chosen"]["aim"]}"' in told["manifest"]
    assert anybody.get(f"{address}/live").text.count("<svg") == 2
    listed = anybody.get("/tunings.json?bot=BOT-0").json
    assert [one["id"] for one in listed] == [number]
    assert anybody.get("/tunings.json?bot=bot-1").json == []
    assert anybody.get("/tunings.json?creator=somebody").json == listed


def test_what_was_proved_is_linked(arena: TuningSimulation, app: Flask) -> None:
    """And a tuning that changed nothing says that there is nothing to prove."""
    number = arena.tune("aim=-1:-10:10:3:1")
    with arena.database.begin() as session:
        tuning = tunings.find(session, number)
        tunings.prove(session, tuning, arena.now)
        assert (tuning.proof_id, tuning.reason) == (None, tunings.NOTHING_CHANGED)
        stands = standing_of(tuning)
        for _ in range(12):
            stands = stands.add(Outcome(4, 2, 0, 0, ({}, {}), ""))
        assert stands.is_over
        tuning.progress, tuning.reason = progress_of(stands), ""
        tunings.end(session, tuning, "", arena.now)
        tunings.prove(session, tuning, arena.now)
    with arena.database.read() as session:
        proof = session.scalars(sa.select(BotTuning.proof_id)).one()
    page = app.test_client().get(f"/tunings/{number}").text
    assert f'href="/tests/{proof}"' in page
    assert "which alone counts as a proof" in page
    assert app.test_client().get(f"/tests/{proof}").status_code == 200


@pytest.mark.parametrize(
    ("deed", "listings"),
    [
        (
            CreateTest("bot-0:1", "bot-1:1", ladder="ladder-0"),
            ["/tests"],
        ),
        (CreateTuning("bot-0:1", ("aim",), ladder="ladder-0"), ["/tunings"]),
        (CreateGauntlet("bot-0:1", "bot-0:1:aim=2", ("bot-1:1",), ladder="ladder-0"), []),
    ],
    ids=lambda one: type(one).__name__,
)
def test_one_that_waits_is_approved_on_its_page(
    arena: TuningSimulation, app: Flask, deed: CreateByRules, listings: list[str]
) -> None:
    """By an organiser who did not make it; until then its page and lists say that it waits."""
    person(arena.database, "olga", Role.ORGANISER)
    with arena.database.begin() as session:
        session.execute(sa.update(Ladder).values(approval=Approval.NEEDED))
        made = do(session, deed, arena.now)
        made.creator_id = session.scalars(sa.select(User.id).where(User.name == "somebody")).one()
        name = made.name
    olga, maker = signed_in(app, "olga"), signed_in(app, "somebody")
    address, form = f"/competitions/{name}", f'action="/competitions/{name}/approve"'
    waiting = "Nothing is played before an organiser who did not make it approves."
    for reader in (olga, maker):
        page = reader.get(address, follow_redirects=True).text
        assert waiting in page
        assert "aits for approval" in page
        assert (form in page) is (reader is olga)
    for listing in [*listings, "/competitions"]:
        assert "waits for approval" in olga.get(listing).text
    assert olga.post(f"{address}/approve", {}).status_code == 302
    page = maker.get(address, follow_redirects=True).text
    assert "Approved by <bdi>olga</bdi>." in page
    assert waiting not in page
    assert "aits for approval" not in page
