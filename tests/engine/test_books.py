"""Books of openings: what each kind of file gives, what is refused, in which order all come."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from engine.books import BookError, read_book
from engine.game import Variant
from engine.games import GAMES
from engine.pgn import PgnError, read_games
from tests.requirements import need_openspiel

BOOKS = Path(__file__).parents[1] / "data" / "books"
CLOBBER = "clobber size=4x4"


def variant_of(words: str) -> Variant:
    """A variant as commands name it."""
    name, *options = words.split()
    if name.startswith("openspiel:"):
        need_openspiel()
    return GAMES[name].variant(**dict(option.split("=") for option in options))


def read(text: str, variant: str = CLOBBER, **how: int) -> list[tuple[str, str]]:
    """The openings of a book: the options that are not the variant's own, and the moves."""
    plain = variant_of(variant)
    return [
        (
            " ".join(
                value for key, value in one.variant.options.items() if value != plain.options[key]
            ),
            " ".join(one.moves),
        )
        for one in read_book(text.encode(), plain, "a.book", **how).openings
    ]


CHESS = "openspiel:chess"


@pytest.mark.parametrize(
    ("variant", "text", "openings"),
    [
        (CLOBBER, "a2a1\n", ["a2a1"]),
        (CLOBBER, "\ufeff# white\r\n\r\na2a1 b2b3 # why\r\nb1a1\r\n", ["a2a1 b2b3", "b1a1"]),
        (CLOBBER, "a2a1 d4d3\nd1d2 b2b3", ["a2a1 d4d3", "d1d2 b2b3"]),
        (CLOBBER, '[Event "x"]\n\n1. a2a1 b2b3 *', ["a2a1 b2b3"]),
        (CHESS, "e2e4 e7e5\nd4", ["e4 e5", "d4"]),
        (CHESS, "1.e4 {a (b} (1. d4 (1. c4 $1) ; x)\n) 1... e5! 2. Ng1f3?! 1-0", ["e4 e5 Nf3"]),
        (
            CHESS,
            "% escaped\n1... e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. 0-0",
            ["e4 e5 Nf3 Nf6 Bc4 Bc5 O-O"],
        ),
        (CHESS, '[A "a \\" ] b"]\n[B "b"]\n\ne4 *\n\n[A ""]\n\n1. d4', ["e4", "d4"]),
    ],
    ids=str,
)
def test_books_of_moves(variant, text, openings):
    """Each kind of file is known by what is in it; moves come out as the game spells them."""
    assert [moves for _, moves in read(text, variant)] == openings


def test_published_positions_and_a_published_game():
    need_openspiel()
    chess = variant_of(CHESS)
    book = read_book((BOOKS / "bratko-kopec.epd").read_bytes(), chess, "bk.epd")
    assert [one.variant.options["fen"] for one in book.openings] == [
        "1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5_b_-_-_0_1",
        "3r1k2/4npp1/1ppr3p/p6P/P2PPPP1/1NR5/5K2/2R5_w_-_-_0_1",
        "2q1rr1k/3bbnnp/p2p1pp1/2pPp3/PpP1P1P1/1P2BNNP/2BQ1PRK/7R_b_-_-_0_1",
    ]
    assert all(not one.moves for one in book.openings)
    (game,) = read_book((BOOKS / "standard.pgn").read_bytes(), chess, "x").openings
    # Of a whole game the first ten moves of each.
    assert " ".join(game.moves[-6:]) == "c3 O-O h3 Nb8 d4 Nbd7"
    assert len(game.moves) == 20
    (whole,) = read_games((BOOKS / "standard.pgn").read_text())
    assert (len(whole.moves), whole.tags["Round"], whole.line) == (85, "29", 2)


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("4k3/8/8/8/8/8/8/4K2R w K -", "4k3/8/8/8/8/8/8/4K2R_w_K_-_0_1"),
        ("4k3/8/8/8/8/8/8/4K2R w K - hmvc 3; fmvn 17;", "4k3/8/8/8/8/8/8/4K2R_w_K_-_3_17"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 3 17", "4k3/8/8/8/8/8/8/4K2R_w_K_-_3_17"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", ""),
    ],
)
def test_positions_of_chess(line, option):
    """FEN, and EPD with what it says of the counts; the usual start is the usual variant."""
    assert read(line, CHESS) == [(option, "")]
    fen = line if len(line.split()) == 6 else ""
    if fen:
        assert read(f'[FEN "{fen}"]\n\n17. O-O *', CHESS) == [(option, "O-O")]


@pytest.mark.parametrize(
    ("variant", "text", "words"),
    [
        (CLOBBER, "", "a.book: there is no opening in it"),
        (CLOBBER, "# nothing", "a.book: there is no opening in it"),
        (CLOBBER, "a1\0a2", "a.book: this is no text: .*"),
        (CLOBBER, "a2a1\n\nb1b4", "a.book, line 3: ply 1: 'b1b4' is not legal here: .*"),
        (CLOBBER, "a2a1 a2a1", "a.book, line 1: ply 2: 'a2a1' is not legal here: .*"),
        (CLOBBER, "8/8 w", "a.book, line 1: this is neither moves .* nor a position .*"),
        (CLOBBER, '[FEN "8/8"]\n\n1. a2a1', "a.book, line 1: its FEN: a game of clobber can't .*"),
        ("clobber size=2x2", "a2a1 b2b1 a1b1", "a.book, line 1: this opening ends the game: .*"),
        ("puzzle", "a1", "a.book: puzzle is played alone and has no openings: .*"),
        ("oxono", "a1", "a.book: oxono totems=random draws its start by lot, .*"),
        (CHESS, "1. e4 e5\n2. Ke3 *", "a.book, line 2: ply 3: 'Ke3' is not legal here: .*"),
        (CHESS, "1. e4 2 e5", "a.book, line 1: ply 2: '2' is not legal here: .*"),
        (CHESS, "f3 e5 g4 Qh4#", "a.book, line 1: this opening ends the game: .*"),
        (CHESS, "4k3/8/8/8/8/8/8/4K2R w K -\n8/8 w - -", "a.book, line 2: the ranks of a FEN .*"),
        (CHESS, "1. e4 (e5\n", "a.book, line 1: a variation is not closed by \\)"),
        (
            CHESS,
            "1. e4\n e5)\n",
            "a.book, line 2: a variation is closed by \\) .*",
        ),
        (CHESS, "1. e4 {e5\n", "a.book, line 1: a comment is not closed by }"),
        (CHESS, '[A "b"]\n[B b]', 'a.book, line 2: a tag is no \\[Name "value"\\]'),
    ],
    ids=str,
)
def test_files_that_are_no_books(variant, text, words):
    """One line says where and what is wrong."""
    with pytest.raises(BookError, match=f"^{words}$"):
        read(text, variant)


def test_a_book_has_bounds():
    with pytest.raises(BookError, match="a book has 5 bytes at most, this one 9"):
        read("a2a1\nb1a1", most_bytes=5)
    with pytest.raises(BookError, match="line 2: a book has 1 openings at most"):
        read("a2a1\nb1a1", most_openings=1)
    with pytest.raises(BookError, match="line 1: an opening has 100 plies at most"):
        read(" ".join(["a2a1"] * 101))


def test_what_comes_again_is_left_out_and_counted():
    """Whatever led to the same position."""
    book = read_book(b"a2a1 d4d3\nb1a1\na2a1 d4d3\n", variant_of(CLOBBER), "x")
    assert (len(book.openings), book.repeated) == (2, 1)
    assert str(book).startswith("x, 2 openings, ")


def test_all_openings_come_before_one_comes_again():
    """Each time in another order, by the seed alone."""
    moves = variant_of(CLOBBER).initial().legal_moves()
    book = read_book("\n".join(moves).encode(), variant_of(CLOBBER), "x")
    size = len(moves)
    rounds = [[book.opening(7, n) for n in range(r * size, (r + 1) * size)] for r in range(3)]
    assert all(set(one) == set(book.openings) for one in rounds)
    assert rounds[0] == list(book.series(7)) != list(book.openings)
    assert rounds[0] != rounds[1] != rounds[2]
    assert list(book.series(8)) != rounds[0]
    # The same on every machine, and by every release.
    assert [book.openings.index(one) for one in islice(book.series(7), 5)] == ORDER
    assert Counter(book.opening(7, n) for n in range(2 * size)) == dict.fromkeys(book.openings, 2)


ORDER = [15, 2, 10, 3, 0]


@pytest.mark.parametrize("text", ["{" * 50_000, "(" * 50_000, "[" * 50_000, '[A "' * 20_000])
def test_what_nobody_closes_is_refused_at_once(text):
    with pytest.raises(PgnError):
        list(read_games(text))
