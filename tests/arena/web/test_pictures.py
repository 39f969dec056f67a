"""Pictures of games and the replay that other pages embed."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from PIL import Image

from arena.recorder.storage import unpack
from arena.web.app import POLICY
from arena.web.games import position
from arena.web.lookup import find_game
from arena.web.pictures import (
    ANIMATED_PIXELS,
    LAST_FRAME_MS,
    PREVIEW_PIXELS,
    animate,
    animating,
    raster,
)
from engine.colours import GROUND
from tests.arena.web.conftest import Site


def test_a_preview_is_what_the_page_shows(site: Site) -> None:
    """A PNG of the last position, named by the game's page, in the colours of the drawing."""
    address = site.address("/games/{trio}/{plies}.png")
    assert f'property="og:image" content="http://localhost{address}"' in site.page("/games/{trio}")
    answer = site.client.get(address)
    assert answer.mimetype == "image/png"
    assert answer.headers["Cache-Control"] == "public, max-age=86400"
    picture = Image.open(io.BytesIO(answer.data)).convert("RGB")
    assert picture.width == PREVIEW_PIXELS
    seen = {f"#{r:02x}{g:02x}{b:02x}" for _, (r, g, b) in picture.getcolors(1 << 20) or []}
    assert GROUND["light"]["plain"] in seen
    assert {"#0072b2", "#d55e00"} < seen  # blue and red as on all pictures (Okabe and Ito)


@pytest.mark.parametrize("most", [48, 5])
def test_an_animation_ends_at_the_end(site: Site, most: int) -> None:
    """A long game loses plies, never its last position, which is shown the longest."""
    with site.database.read() as session:
        stored, record = find_game(session, site.numbers["trio"])
        assert unpack(stored.record) == record
    film = Image.open(io.BytesIO(animate(record, most=most)))
    assert film.format == "GIF"
    assert film.n_frames <= most
    durations = []
    for number in range(film.n_frames):
        film.seek(number)
        durations.append(film.info["duration"])
    assert durations[-1] >= LAST_FRAME_MS
    last = raster(*position(record, len(record.plies)), width=ANIMATED_PIXELS)
    shown = film.convert("RGB")
    middle = (shown.width // 2, shown.width // 2)
    assert shown.size == last.size
    near = zip(shown.getpixel(middle), last.getpixel(middle), strict=True)
    assert all(abs(mine - theirs) <= 24 for mine, theirs in near)


@pytest.mark.parametrize("most", [5, None])
def test_an_animation_ends_where_the_rules_do(site: Site, most: int | None) -> None:
    """Of a game that they refuse from its third ply, whose frames are not those of its length."""
    with site.database.read() as session:
        _, record = find_game(session, site.numbers["trio"])
    plies = tuple(ply._replace(move="x") if n == 2 else ply for n, ply in enumerate(record.plies))
    film = Image.open(io.BytesIO(animate(replace(record, plies=plies), most=most)))
    assert film.n_frames == 3


def test_one_animation_at_a_time(site: Site) -> None:
    """Whoever asks meanwhile is told when to come again; then it is made."""
    address = site.address("/games/{solo}.gif")
    with animating:
        answer = site.client.get(address)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert "come again in a moment" in answer.text
    answer = site.client.get(address)
    assert (answer.status_code, answer.mimetype) == (200, "image/gif")


@pytest.mark.parametrize("address", ["/games/{trio}/embed", "/games/{trio}/embed/3"])
def test_a_replay_may_be_framed_anywhere_and_nothing_else(site: Site, address: str) -> None:
    """Only this page lets others show it in a frame; the rest of its policy is everyone's."""
    answer = site.client.get(site.address(address))
    policy = answer.headers["Content-Security-Policy"]
    assert policy == POLICY.replace("frame-ancestors 'self'", "frame-ancestors *")
    assert "data-embedded" in answer.text
    assert "frame-ancestors 'self'" in POLICY
    assert site.client.get("/").headers["Content-Security-Policy"] == POLICY


@pytest.mark.parametrize(
    "address",
    ["/games/999999.gif", "/games/999999/0.png", "/games/{trio}/999.png", "/games/{trio}/embed/99"],
)
def test_what_is_not_there(site: Site, address: str) -> None:
    """Forged numbers are 404s that say what is missing."""
    answer = site.client.get(site.address(address))
    assert answer.status_code == 404
    assert "There is no game" in answer.text or "so there is no position" in answer.text
