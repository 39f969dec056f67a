"""Pictures of games and the replay that other pages embed."""

from __future__ import annotations

import io
import threading
from dataclasses import replace
from pathlib import Path
from time import sleep

import pytest
from PIL import Image, ImageChops, ImageDraw

from arena.web import kept_films
from arena.web.app import POLICY
from arena.web.captions import LINE, MARGIN, NARROWEST, Captions
from arena.web.films import FRAME_MS, HIGHEST, LAST_MS, WIDTH, animate
from arena.web.games import position
from arena.web.gifs import COLOURS, gif
from arena.web.kept_films import PLACES, KeptFilms
from arena.web.lookup import find_game, find_record
from arena.web.pictures import PREVIEW_PIXELS
from arena.web.rasters import Raster
from arena.web.unchanging import edition, film_name
from engine import svg
from engine.board import grid
from engine.clicks import illustrate
from engine.clock import TimeControl
from engine.colours import GROUND
from engine.games import GAMES
from engine.record import GameRecord
from engine.referee import play_game
from engine.scene import Body, Paint, Piece, PieceRow, Scene, Sign
from tests.arena.simulator import LotPlayer
from tests.arena.web.conftest import Site

YEAR = "public, max-age=31536000, immutable"


def played(game: str, **options: str) -> GameRecord:
    """A game by players who draw lots."""
    variant = GAMES[game].variant(**options)
    players = [LotPlayer() for _ in range(variant.seats)]
    return play_game(variant, players, time=TimeControl(move_ms=20_000), seed=3)


def frames_of(film: bytes) -> list[Image.Image]:
    """As they are seen, one after the other."""
    found = []
    with Image.open(io.BytesIO(film)) as shown:
        for number in range(shown.n_frames):
            shown.seek(number)
            found.append(shown.convert("RGB"))
    return found


def test_a_preview_is_what_the_page_shows(site: Site) -> None:
    """A PNG of the last position, named by the game's page, in the colours of the drawing."""
    address = site.address("/games/{trio}/{plies}.png") + f"?v={edition()}"
    assert f'property="og:image" content="http://localhost{address}"' in site.page("/games/{trio}")
    answer = site.client.get(address)
    assert answer.mimetype == "image/png"
    assert answer.headers["Cache-Control"] == YEAR
    picture = Image.open(io.BytesIO(answer.data)).convert("RGB")
    assert picture.width == PREVIEW_PIXELS
    seen = {f"#{r:02x}{g:02x}{b:02x}" for _, (r, g, b) in picture.getcolors(1 << 20) or []}
    assert GROUND["light"]["plain"] in seen
    assert {"#0072b2", "#d55e00"} < seen  # blue and red as on all pictures (Okabe and Ito)


def test_a_preview_says_who_plays_and_what_came_of_it(site: Site) -> None:
    """It is seen where nothing else says it; before its end, the move that led there."""
    with site.database.read() as session:
        record = find_record(session, site.numbers["trio"])
    captions = Captions(record, width=PREVIEW_PIXELS)
    last = len(record.plies)
    for ply in (0, 3, last):
        answer = site.client.get(site.address(f"/games/{{trio}}/{ply}.png"))
        picture = Image.open(io.BytesIO(answer.data)).convert("RGB")
        down = picture.height
        for words in (captions.status(ply, is_last=ply == last), captions.names()):
            shown = picture.crop((0, down - words.height, PREVIEW_PIXELS, down))
            assert not ImageChops.difference(shown, words).getbbox(), ply
            down -= words.height


@pytest.mark.parametrize(
    "address",
    ["/games/{trio}/3.png", "/games/{trio}/3.svg", "/games/{trio}/3/board", "/games/{solo}.gif"],
)
def test_who_has_a_picture_is_told_so_before_it_is_drawn(site: Site, address: str) -> None:
    """Its validator says so; and who asks by an address with the edition need not ask again."""
    there = site.address(address)
    first = site.client.get(there)
    assert (first.status_code, first.headers["Cache-Control"]) == (200, "public, max-age=86400")
    known = {"If-None-Match": first.headers["ETag"]}
    again = site.client.get(there, headers=known)
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    # Another address has another picture.
    assert site.client.get(f"{there}?v={edition()}", headers=known).status_code == 200
    assert site.client.get(f"{there}?v={edition()}").headers["Cache-Control"] == YEAR
    assert site.client.get(f"{there}?v=older").headers["Cache-Control"] == "public, max-age=86400"


@pytest.mark.parametrize("body", [Body.DISC, Body.TILE])
def test_what_is_marked_stays_whole(body: Body) -> None:
    """Neither the frame of a move nor the line around a row cuts the pieces within."""
    squares = ("a1", "b1", "c1")
    pieces = tuple(Piece((name,), body, Paint.WHITE, "w") for name in squares)
    bare = Scene("", grid(3, 1), pieces)
    marked = replace(bare, last=("b1",)), replace(bare, rows=(PieceRow("a1", "c1"),))
    plain, *others = (Raster(one, widest=600, highest=600).pixels() for one in (bare, *marked))
    side = plain.width / (3 + 2 * svg.BARE_MARGIN)
    within = Image.new("1", plain.size)
    draw = ImageDraw.Draw(within)
    for file in range(3):
        x, y, half = plain.width / 2 + (file - 1) * side, plain.height / 2, 0.38 * side
        box = (x - half, y - half, x + half, y + half)
        draw.rounded_rectangle(box, half if body is Body.DISC else 0.06 * side, 1)
    for other in others:
        changed = ImageChops.difference(plain, other).convert("L").point(bool, "1")
        assert changed.getbbox()
        assert not ImageChops.logical_and(within, changed).getbbox()


def test_letters_need_no_font_of_the_machine() -> None:
    """The letters on a piece, and a board of letters, are there; so is each drawn sign."""
    for sign in ("G", "漢", *Sign):
        bare, signed = (
            Raster(
                Scene("", grid(2, 2), (Piece(("a1",), Body.DISC, Paint.WHITE, "w", one),)),
                widest=100,
                highest=100,
            ).pixels()
            for one in ("", sign)
        )
        assert ImageChops.difference(bare, signed).getbbox(), sign
    typed = Raster(Scene("", (), (), text=("abc",)), widest=200, highest=200).pixels()
    assert len(typed.getcolors() or []) > 1


@pytest.mark.parametrize("widest", [97, 300, 400, 1000])
@pytest.mark.parametrize(
    "game", ["clobber size=2x26", "clobber size=26x2", "siege", "blokus mode=classic"]
)
def test_a_part_of_a_picture_is_that_part_of_the_whole(game: str, widest: int) -> None:
    """So that a film may be drawn by its changes; and no picture is larger than it may be."""
    name, *options = game.split()
    state = GAMES[name].variant(**dict(one.split("=") for one in options)).initial()
    scene = replace(illustrate(state), last=(state.scene().squares[0].name,))
    raster = Raster(scene, widest=widest, highest=widest)
    whole = raster.pixels()
    assert whole.size == raster.size
    assert max(whole.size) <= widest
    names = {square.name for square in scene.squares[:1]}
    left, top, right, bottom = box = raster.box_of(names)
    assert raster.pixels(box).size == (right - left, bottom - top)
    inner = (left + 1, top + 1, right - 1, bottom - 1)
    part = raster.pixels(box).crop((1, 1, right - left - 1, bottom - top - 1))
    differing = (
        ImageChops.difference(part, whole.crop(inner)).convert("L").point([0] * 40 + [255] * 216)
    )
    assert differing.getbbox() is None


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("clobber", {"size": "4x3"}),
        ("siege", {"seats": "2"}),
        ("blokus", {"mode": "trio"}),
        ("mijnlieff", {}),
        ("oxoxo", {}),
        ("puzzle", {"task": "tetrominoes"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_frame_is_the_whole_position(game: str, options: dict[str, str]) -> None:
    """Though it is made of what differs from the frame before: all plies, and drawn as a preview
    of that position is, in the colours of the film.
    """
    record = played(game, **options)
    record = replace(record, plies=record.plies[:12])
    frames = frames_of(animate(record))
    assert len(frames) == len(record.plies) + 1
    for ply in {0, 1, len(record.plies) // 2, len(record.plies)}:
        state, last, before = position(record, ply)
        scene = illustrate(state, last=last, before=before)
        board = Raster(scene, widest=WIDTH, highest=HIGHEST).pixels()
        left = (WIDTH - board.width) // 2
        shown = frames[ply].crop((left, 0, left + board.width, board.height))
        differing = ImageChops.difference(board, shown).convert("L").histogram()
        # The colours of a film are few: edges of letters and lines are as near as there are any.
        assert sum(differing[64:]) < 0.002 * board.width * board.height, ply


def test_a_film_says_who_plays_each_ply_and_what_came_of_it() -> None:
    """A line for each seat, which stays; and one that is another with each ply."""
    record = played("clobber", size="4x3")
    frames = frames_of(animate(replace(record, players=("a-bot:2", "<b>"))))
    beneath = [frame.crop((0, frame.height - 4 * LINE, WIDTH, frame.height)) for frame in frames]
    seats, statuses = zip(
        *(
            (each.crop((0, 0, WIDTH, 2 * LINE)), each.crop((0, 3 * LINE - 8, WIDTH, 4 * LINE)))
            for each in beneath
        ),
        strict=True,
    )
    assert len({picture.tobytes() for picture in seats}) == 1
    assert len({picture.tobytes() for picture in statuses}) == len(frames)
    others = frames_of(animate(replace(record, players=("c", "d"))))
    assert ImageChops.difference(others[0], frames[0]).getbbox()


@pytest.mark.parametrize(("game", "lines"), [("clobber", 1), ("siege", 2)])
def test_words_beneath_a_board_have_the_lines_that_their_game_needs(game: str, lines: int) -> None:
    """The same at each of its plies; that a long game ended at a limit takes two."""
    record = played(game)
    captions, last = Captions(record, width=NARROWEST), len(record.plies)
    heights = {captions.status(ply, is_last=ply == last).height for ply in range(last + 1)}
    assert heights == {lines * LINE + MARGIN}


def test_a_long_game_loses_plies_which_its_film_says() -> None:
    """Never its last position, which is shown the longest."""
    record = played("clobber", size="4x3")
    whole, less = (Image.open(io.BytesIO(animate(record, most=most))) for most in (1000, 4))
    assert whole.format == "GIF"
    assert whole.n_frames == len(record.plies) + 1
    assert less.n_frames in (3, 4)
    assert less.height - whole.height == LINE
    for film in (whole, less):
        durations = []
        for number in range(film.n_frames):
            film.seek(number)
            durations.append(film.info["duration"])
        assert durations == [FRAME_MS] * (film.n_frames - 1) + [LAST_MS]
        assert film.info["loop"] == 0
    last, its = (film.convert("RGB").crop((0, 0, WIDTH, WIDTH // 2)) for film in (whole, less))
    # Each film has colours of its own.
    assert max(high for _, high in ImageChops.difference(last, its).getextrema()) < 64


@pytest.mark.parametrize("most", [5, None])
def test_an_animation_ends_where_the_rules_do(site: Site, most: int | None) -> None:
    """They refuse it from its third ply; the frames are not those of its length."""
    with site.database.read() as session:
        _, record = find_game(session, site.numbers["trio"])
    plies = tuple(ply._replace(move="x") if n == 2 else ply for n, ply in enumerate(record.plies))
    film = Image.open(io.BytesIO(animate(replace(record, plies=plies), most=most)))
    assert film.n_frames == 3


def test_frames_are_written_as_their_differences() -> None:
    """By hand: three frames of four pixels, the last like the second."""
    palette = [0, 0, 0, 255, 0, 0, 0, 255, 0]
    assert len(palette) <= 3 * COLOURS
    frames = [Image.frombytes("L", (4, 1), bytes(row)) for row in ([0, 1, 2, 0], [0, 2, 2, 0])]
    film = gif((4, 1), palette, zip([*frames, frames[1]], (100, 200, 300), strict=True))
    black, red, green = bytes(3), b"\xff\0\0", b"\0\xff\0"
    seen = [frame.tobytes() for frame in frames_of(film)]
    assert seen[0] == black + red + green + black
    assert seen[1:] == [black + green + green + black] * (len(seen) - 1)


def test_a_film_is_made_once(tmp_path: Path) -> None:
    """Whoever asks meanwhile waits for it; and it is kept for all who ask later."""
    kept = KeptFilms(tmp_path / "films", most_bytes=1000)
    begun, go, made = threading.Event(), threading.Event(), list[str]()

    def slowly() -> bytes:
        made.append("film")
        begun.set()
        assert go.wait(20)
        return b"GIF"

    found: list[Path | None] = []
    readers = [
        threading.Thread(target=lambda: found.append(kept.brought("a.gif", slowly)))
        for _ in range(PLACES)
    ]
    readers[0].start()
    assert begun.wait(20)
    readers[1].start()
    while kept._places.acquire(blocking=False):  # until the second has its place
        kept._places.release()
        sleep(0.01)
    # All places are taken, so a third one is told that it would take too long.
    assert kept.brought("b.gif", slowly) is None
    go.set()
    for reader in readers:
        reader.join(20)
    assert [path and path.read_bytes() for path in found] == [b"GIF"] * PLACES
    assert made == ["film"]
    assert kept.brought("a.gif", slowly) == found[0]


def test_who_waits_too_long_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another process of the machine makes one."""
    monkeypatch.setattr(kept_films, "PATIENCE_SECONDS", 0.0)
    first, second = (KeptFilms(tmp_path, most_bytes=1000) for _ in range(2))
    assert first.brought("a.gif", lambda: str(second.brought("b.gif", bytes)).encode())
    assert (tmp_path / "a.gif").read_bytes() == b"None"


def test_films_that_nobody_asked_for_longest_go(tmp_path: Path) -> None:
    """When there is no room for another; and what a killed process left goes with them."""
    kept = KeptFilms(tmp_path, most_bytes=10)
    (tmp_path / "left.part").write_bytes(b"12345")
    for name in ("a.gif", "b.gif"):
        kept.brought(name, lambda: b"12345")
        sleep(0.01)
    assert kept.path("a.gif")  # it is asked for again
    kept.brought("c.gif", lambda: b"123")
    assert {path.name for path in tmp_path.iterdir()} == {"lock", "a.gif", "c.gif"}
    kept.brought("d.gif", lambda: b"12345678901")  # alone too large: it is shown all the same
    assert {path.name for path in tmp_path.iterdir()} == {"lock", "d.gif"}


def test_a_film_that_can_not_be_made_now_is_a_picture(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody is refused: who is too many sees the last position, and the next time the film."""
    address = site.address("/games/{solo}.gif")
    films = site.client.application.extensions["arena.films"]
    with site.database.read() as session:
        _, record = find_game(session, site.numbers["solo"])
    for path in films.folder.glob("*.gif"):
        path.unlink()
    for _ in range(PLACES):
        films._places.acquire()
    answer = site.client.get(address)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (302, "no-store")
    assert f"/{len(record.plies)}.png" in answer.headers["Location"]
    assert site.client.get(address, follow_redirects=True).mimetype == "image/png"
    for _ in range(PLACES):
        films._places.release()
    answer = site.client.get(address)
    assert (answer.status_code, answer.mimetype) == (200, "image/gif")
    assert (films.folder / film_name(record)).read_bytes() == answer.data
    # A folder that can't be written is the operator's affair, who finds it in the log.
    (tmp_path / "no-folder").write_text("")
    monkeypatch.setattr(films, "folder", tmp_path / "no-folder" / "films")
    assert site.client.get(address).status_code == 302


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
