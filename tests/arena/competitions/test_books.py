"""Competitions that are played by a book: what is taken in, which openings come, in which order."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from arena.audit import ARENA, Actor, entries
from arena.competitions import books, strength_tests
from arena.competitions.book_deeds import AddBook, RemoveBook
from arena.competitions.ladder_deeds import ChangeLadder, CreateLadder
from arena.competitions.strength_deeds import CloneTest, CreateTest
from arena.competitions.tournament_deeds import CreateTournament
from arena.deeds import By
from arena.ground.db import Database
from arena.ground.refusals import NotAllowed, NotThere, Refusal
from arena.models import (
    Competition,
    JobStatus,
    Ladder,
    Match,
    OpeningBook,
    OpeningPolicy,
    PlayedGame,
    Scope,
    StrengthTest,
    TestVerdict,
    Tournament,
)
from arena.people import accounts
from arena.recorder.rebuild import rebuild
from arena.schedule import verdicts
from arena.schedule.matchmaking import new_matches
from arena.strength.sequential import StrengthError
from tests.arena.competitions.strength_simulation import OWNER, Equals, StrengthSimulation
from tests.arena.competitions.tournament_simulation import TournamentSimulation
from tests.arena.doing import do
from tests.arena.meanwhile import at_once
from tests.arena.simulator import CALM, START
from tests.requirements import need_openspiel

GAME = "clobber size=4x4"
MOVES = ["a2a1", "a2a3", "b1a1 b2b3"]
SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


def add(session: Session, name: str = "mine", game: str = GAME, text: str = "") -> OpeningBook:
    """A book of three openings."""
    deed = AddBook(name=name, game=game, text=text or "\n".join(MOVES))
    found: OpeningBook = do(session, deed, START)
    return found


def openings_of(matches: Sequence[Match]) -> list[str]:
    return [" ".join(match.opening) for match in matches]


def made(session: Session, name: str, count: int) -> list[Match]:
    """The next matches of a competition."""
    found = new_matches(session, START, only=name)
    return [next(found) for _ in range(count)]


def test_a_book_is_kept_once_and_read_as_it_was_sent(database: Database) -> None:
    """It is kept for each variant, with a note."""
    with database.begin() as session:
        book = add(session)
        text = "\n".join(MOVES)
        assert (book.text, book.size, book.variant) == (text, 3, GAME)
        assert book.digest == hashlib.sha256(text.encode()).hexdigest()
        (noted,) = entries(session, action="add book")
        assert noted.detail == f"{GAME}, mine, 3 openings, digest {book.digest[:12]}"
        with pytest.raises(Refusal, match="is there already: it is called mine"):
            add(session, "again")
        add(session, "other", text="a2a1")


def of(person: int | None, *scopes: Scope) -> By:
    return By(Actor(person, "x", ""), frozenset(scopes), START)


def test_a_book_that_nothing_was_played_by_is_gone(database: Database) -> None:
    """Who added it or an organiser removes it; its name and its openings can be had anew."""
    with database.begin() as session:
        people = [accounts.add(session, ARENA, name, now=START) for name in ("ada", "bob")]
        session.flush()
        ada, other = (of(person.id, Scope.SUBMIT) for person in people)
        for by in (ada, of(None, Scope.SUBMIT, Scope.ORGANISE)):
            AddBook(name="mine", game=GAME, text="a2a1").do(session, ada)
            for stranger in (other, of(None, Scope.SUBMIT)):
                with pytest.raises(NotAllowed, match="the book mine is not yours"):
                    RemoveBook(name="mine").do(session, stranger)
            RemoveBook(name="mine").do(session, by)
            assert session.scalar(sa.select(OpeningBook)) is None
        assert [one.actor for one in entries(session, action="remove book")] == ["x", "x"]
        with pytest.raises(NotThere, match="there is no book 'mine'; there are: none"):
            RemoveBook(name="mine").do(session, ada)


def test_a_book_is_not_removed_beneath_what_is_just_made_of_it(database: Database) -> None:
    """Whoever comes second waits, and is told what there is then."""
    deed = CreateLadder(
        name="blitz", game="clobber", options={"size": "4x4"}, settings={"openings": "mine"}
    )

    def create(session: Session) -> None:
        do(session, deed, START)

    def remove(session: Session) -> None:
        do(session, RemoveBook(name="mine"), START)

    with database.begin() as session:
        add(session)
    with pytest.raises(NotThere, match="there is no book 'mine'"):
        at_once(database, remove, create)
    with database.begin() as session:
        add(session)
    with pytest.raises(Refusal, match="the book mine is in use"):
        at_once(database, create, remove)


def test_a_book_is_removed_when_what_is_played_by_it_is_over(arena: StrengthSimulation) -> None:
    """Its games keep it, nothing new has it, and whoever adds it again has it back."""
    remove = RemoveBook(name="mine")
    with arena.database.begin() as session:
        add(session)
        rules = {"game": "clobber", "options": {"size": "4x4"}}
        for name in ("one", "two"):
            settings = {"openings": "mine", "state": "frozen"}
            do(session, CreateLadder(name=name, **rules, settings=settings), START)
        for still in ("one, two", "two"):
            with pytest.raises(Refusal, match=f"in use: close first .*, {still}$"):
                do(session, remove, START)
            first = still.partition(",")[0]
            do(session, ChangeLadder(name=first, settings={"state": "closed"}), START)
        do(session, remove, START)
        assert books.find(session, "mine").text == "\n".join(MOVES)
        one = session.scalars(sa.select(Ladder).where(Ladder.name == "one")).one()
        assert one.book
        assert " ".join(one.book.opening(0, 0).moves) in MOVES
        assert session.scalars(books.listed()).all() == []
        for deed, words in (
            (CreateLadder(name="new", **rules, settings={"openings": "mine"}), "no book 'mine'"),
            (remove, "is removed already"),
            (AddBook(name="mine", game=GAME, text="a2a1"), "there is a book mine already, or was"),
            (AddBook(name="other", game=GAME, text="\n".join(MOVES)), "by its name, mine"),
        ):
            with pytest.raises(Refusal, match=words), session.begin_nested():
                do(session, deed, START)
        assert add(session).size == 3
        assert len(session.scalars(books.listed()).all()) == 1


@SQLITE
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "Mine"}, "'Mine' is no name for a book: 1 to 80 small letters"),
        ({"name": "random"}, "digits and '-', and not book, empty or random"),
        ({"name": "book"}, "'book' is no name for a book"),
        ({"name": "there"}, "there is a book there already"),
        ({"game": "chess"}, "there is no game 'chess'"),
        ({"game": "puzzle"}, "puzzle is played alone and has no openings"),
        ({"text": "a2a1\na2a1 b1b4"}, "mine, line 2: ply 2: 'b1b4' is not legal here"),
    ],
)
def test_what_is_no_book_is_refused(
    database: Database, changes: dict[str, Any], words: str
) -> None:
    with database.begin() as session:
        add(session, "there", text="a2a1")
        with pytest.raises(Refusal, match=words), session.begin_nested():
            do(session, AddBook(**{"name": "mine", "game": GAME, "text": "a2a3"} | changes), START)


@SQLITE
def test_nobody_has_more_books_than_one_may(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But organisers."""
    monkeypatch.setattr(books, "MOST_OF_ANYBODY", 1)
    with database.begin() as session:
        anybody, organiser = (
            By(Actor(None, "x", ""), frozenset(scopes), START)
            for scopes in ({Scope.SUBMIT}, {Scope.ORGANISE})
        )
        for by, name in ((anybody, "one"), (organiser, "two")):
            AddBook(name=name, game=GAME, text=f"a2a1 # {name}").do(session, by)
        with pytest.raises(Refusal, match="you have 1 book, as many as one may"):
            AddBook(name="three", game=GAME, text="a2a1").do(session, anybody)


def test_a_ladder_plays_all_openings_before_one_comes_again(arena: StrengthSimulation) -> None:
    """The order follows from its seed; one that is played anew keeps its own."""
    with arena.database.begin() as session:
        add(session)
        settings = {"openings": "mine", "state": "open"}
        do(session, ChangeLadder(name="ladder-0", settings=settings), START)
        ladder = session.scalars(sa.select(Ladder)).one()
        assert (ladder.openings, ladder.openings_words) == (OpeningPolicy.BOOK, "mine")
        found = openings_of(made(session, "ladder-0", 9))
        assert [sorted(found[n : n + 3]) for n in (0, 3, 6)] == [MOVES] * 3
        session.flush()
        first = session.scalars(sa.select(Match).order_by(Match.id).limit(1)).one()
        first.status = JobStatus.SET_ASIDE
        session.flush()
        again = verdicts.void(session, ARENA, first.id, "why", replay=True, now=START)
        assert again is not None
        assert again.opening == first.opening
        words = "has matches by its openings"
        with pytest.raises(Refusal, match=words):
            do(session, ChangeLadder(name="ladder-0", settings={"openings": "random"}), START)


def test_a_ladder_can_leave_its_book_before_it_plays(arena: StrengthSimulation) -> None:
    with arena.database.begin() as session:
        add(session)
        add(session, "other", "clobber size=5x5", "a2a1")
        for openings, words in (("other", "is of clobber size=5x5, and not"), ("none", "no book")):
            deed = ChangeLadder(name="ladder-0", settings={"openings": openings})
            with pytest.raises(Refusal, match=words):
                do(session, deed, START)
        deed = CreateLadder(
            name="blitz", game="clobber", options={"size": "4x4"}, settings={"openings": "mine"}
        )
        ladder = do(session, deed, START)
        assert ladder.book_name == "mine"
        do(session, ChangeLadder(name="blitz", settings={"openings": "empty"}), START)
        assert (ladder.openings, ladder.book_name) == (OpeningPolicy.EMPTY, None)


def test_a_tournament_uses_a_book_evenly(sqlite_database: Database) -> None:
    """What is due again has the opening that it had; two of one seed have the same."""
    arena = TournamentSimulation(sqlite_database, 1, CALM, "clobber", 4, size="4x4")
    with arena.database.begin() as session:
        add(session)
        for name in ("one", "two"):
            deed = CreateTournament(
                name=name, format="round-robin", ladder="ladder-0", openings="mine", seed=3
            )
            do(session, deed, START)
        one, two = openings_of(made(session, "one", 6)), made(session, "two", 2)
        assert Counter(one) == dict.fromkeys(MOVES, 2)
        session.flush()
        for match in two:
            match.status = JobStatus.SET_ASIDE
            session.flush()
            verdicts.void(session, ARENA, match.id, "why", now=START)
        assert openings_of(made(session, "two", 6)) == one, "what is due again takes no other's"
    arena.play_out(100, voids=2)
    with arena.database.begin() as session:
        assert len(arena.voided) == 2
        for match in session.scalars(sa.select(Match).where(Match.id.in_(arena.voided))):
            same = sa.select(Match).where(
                Match.seed == match.seed, Match.competition_id == match.competition_id
            )
            assert len({tuple(one.opening) for one in session.scalars(same)}) == 1
        for tournament in session.scalars(sa.select(Tournament)):
            assert rebuild(session, tournament, write=False).equal


def test_a_strength_test_ends_with_its_book(sqlite_database: Database) -> None:
    """Each opening once; it is undecided then, and can't be extended, but be cloned."""
    arena = Equals(sqlite_database, CALM, "clobber", size="4x4")
    with arena.database.begin() as session:
        add(session)
        deed = CreateTest(candidate="bot-0", baseline="bot-1", ladder="ladder-0", openings="mine")
        number = do(session, deed, START, OWNER).id
    assert arena.play_out(number) is TestVerdict.UNDECIDED
    with arena.database.begin() as session:
        test = arena.test(session, number)
        assert test.reason == strength_tests.OUT_OF_BOOK
        matches = session.scalars(sa.select(Match).where(Match.competition_id == number)).all()
        assert sorted(openings_of(matches)) == MOVES
        assert session.scalar(sa.select(sa.func.count(PlayedGame.id))) == 6
        with pytest.raises(StrengthError, match="can't go on: all openings of its book"):
            strength_tests.extend(session, test, 50_000, arena.now, OWNER)
        clone = do(session, CloneTest(number=number), START, OWNER)
        assert clone.book_name == "mine"


def test_a_test_is_played_by_its_ladders_book(arena: StrengthSimulation) -> None:
    """Unless another is chosen, or random openings are."""
    with arena.database.begin() as session:
        add(session)
        do(session, ChangeLadder(name="ladder-0", settings={"openings": "mine"}), START)
        rules = {"candidate": "bot-0", "baseline": "bot-1", "ladder": "ladder-0"}
        for openings, book in (("", "mine"), ("random", None)):
            test = do(session, CreateTest(**rules, openings=openings), START, OWNER)
            assert isinstance(test, StrengthTest)
            assert test.book_name == book
        with pytest.raises(Refusal, match="a test has no empty openings"):
            do(session, CreateTest(**rules, openings="empty"), START, OWNER)


def test_positions_of_a_book_are_options_of_a_match(arena: StrengthSimulation) -> None:
    """They are chess positions, read from EPD."""
    need_openspiel()
    epd = "4k3/8/8/8/8/8/8/4K2R w K -"
    with arena.database.begin() as session:
        add(session, game="openspiel:chess", text=epd)
        settings = {"openings": "mine"}
        do(session, CreateLadder(name="chess", game="openspiel:chess", settings=settings), START)
        found = session.scalars(sa.select(OpeningBook)).one().opening(0, 0)
        assert found.variant.options == {"fen": f"{epd} 0 1".replace(" ", "_")}
        assert session.scalar(sa.select(Competition.book_name).where(Competition.name == "chess"))
