"""How a person's game begins: whose it is, who sits where, and by which lots."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from arena import sittings
from arena.ground.db import Database
from arena.models import (
    BotVersion,
    CompetitionState,
    Entrant,
    EntrantState,
    Ladder,
    Sitting,
    VersionStatus,
    Worker,
)
from arena.schedule.leases import Fate
from arena.sittings import Person, SittingError, bots_for, opponent_named
from engine import sitting
from tests.arena.test_sittings import SMALL, Table

SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
ADA, BOB = Person("ada", user_id=1), Person("bob", user_id=2)
GUEST, OTHER, NOBODY = Person("guest", guest="a"), Person("guest", guest="b"), Person("guest")

GAMES: list[tuple[Sitting, list[Person]]] = [
    (Sitting(user_id=1), [ADA]),
    (Sitting(user_id=2), [BOB]),
    (Sitting(guest="a"), [GUEST]),
    (Sitting(guest="c"), []),
]


@pytest.mark.parametrize(("game", "whose"), GAMES)
def test_a_game_is_one_persons(game: Sitting, whose: list[Person]) -> None:
    """It is a user's or a guest's; whoever is neither has none."""
    assert [one for one in (ADA, BOB, GUEST, OTHER, NOBODY) if one.plays(game)] == whose


def test_a_form_is_one_persons() -> None:
    """Though others chose the same number; the same one again is the same form."""
    people = (ADA, BOB, GUEST, OTHER)
    forms = [one.form(number) for one in people for number in ("1", "2")]
    assert len(set(forms)) == 8
    assert forms == [one.form(number) for one in people for number in ("1", "2")]


@SQLITE
def test_opponents_sit_in_the_order_of_the_other_places(database: Database) -> None:
    """In Blokus, where a person chose the third of four."""
    table = Table(database, [("blokus", {})])
    one, other = table.bots
    record = sittings.record_of(table.look(table.begin(place=2, opponents=(one, other, one))))
    assert record.players == ("bot-0 v1", "bot-1 v1", "ada", "bot-0 v1")


@SQLITE
def test_lots_are_drawn_for_each_game(database: Database) -> None:
    """Those of Oxono, and its opening only if that is asked for; the same ones from one seed."""
    table = Table(database, [("oxono", {})])
    began: dict[bool, list[Any]] = {}
    for random_opening in (False, True):
        for form, seed in enumerate((*range(1, 9), 1)):
            words = f"{random_opening} {form}"
            number = table.begin(seed=seed, random_opening=random_opening, form=words)
            record = sittings.record_of(table.look(number))
            assert record.seed == seed
            began.setdefault(random_opening, []).append(
                (record.variant.options["totems"], record.moves)
            )
            table.change(number, sittings.resign, record.opening)
    for found in began.values():
        assert found[0] == found[-1]
        assert {totems for totems, _ in found} == {"xc4", "xd3"}
    assert {moves for _, moves in began[False]} == {()}
    assert len({moves for _, moves in began[True]}) > 4


@SQLITE
@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"place": -1}, "choose one of the seats: White, Black"),
        ({"place": 2}, "choose one of the seats: White, Black"),
        ({"opponents": (1, 2)}, "the ladder clobber size=4x3 is played against 1 bot"),
    ],
)
def test_what_nobody_can_wish_for(database: Database, wish: dict[str, Any], words: str) -> None:
    """A seat that is not there, or more bots than there are seats."""
    with pytest.raises(SittingError) as refused:
        Table(database, [SMALL]).begin(**wish)
    assert str(refused.value) == words


@SQLITE
@pytest.mark.parametrize("state", CompetitionState)
def test_on_a_closed_ladder_nobody_plays(database: Database, state: CompetitionState) -> None:
    """They do on any other, though it be frozen: their games move nothing there."""
    table = Table(database, [SMALL])
    with database.begin() as session:
        session.execute(sa.update(Ladder).values(state=state))
    if state is CompetitionState.CLOSED:
        with pytest.raises(SittingError, match="the ladder clobber size=4x3 is closed"):
            table.begin()
    else:
        table.begin()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("bot-1", 2),
        ("BOT-1", 2),
        ("bot-1:1", 2),
        ("bot-1:2", None),
        ("bot-1:999999999", None),
        ("bot-9", None),
    ],
)
def test_bots_are_named(database: Database, name: str, found: int | None) -> None:
    """They are in letters of either kind, with the number of a version or without."""
    table = Table(database, [SMALL])
    with database.read() as session:
        ladder = session.scalars(sa.select(Ladder)).one()
        if found is not None:
            assert opponent_named(session, ladder, name) == table.bots[found - 1]
        else:
            with pytest.raises(SittingError, match=r"no bot .* plays clobber on a ladder here"):
                opponent_named(session, ladder, name)


@SQLITE
def test_bots_of_the_ladder_are_offered_first(database: Database) -> None:
    """The best of them first, then those of the game's other ladders, and none that is away."""
    table = Table(database, [SMALL, ("clobber", {"size": "4x4"}), ("oxoxo", {})])
    with database.begin() as session:
        entrants = session.scalars(sa.select(Entrant).order_by(Entrant.id)).all()
        ladder, other, third = session.scalars(sa.select(Ladder).order_by(Ladder.id))
        versions = session.scalars(sa.select(BotVersion).order_by(BotVersion.id)).all()
        assert {one.version_id for one in entrants} == set(table.bots)
        # The second is the better one everywhere, and then plays elsewhere alone.
        for one in entrants:
            one.mu = 30.0 if one.version_id == table.bots[1] else 20.0
        session.flush()
        assert bots_for(session, ladder) == [versions[1], versions[0]]
        here = [one for one in entrants if one.competition_id == ladder.id]
        (away,) = (one for one in here if one.version_id == table.bots[1])
        away.state = EntrantState.RETIRED
        session.flush()
        assert bots_for(session, ladder) == [versions[0], versions[1]]
        assert bots_for(session, other) == [versions[1], versions[0]]
        # A bot that plays another game alone is no opponent here, nor one that is refused.
        for one in entrants:
            if one.competition_id == other.id and one.version_id == table.bots[1]:
                one.state = EntrantState.RETIRED
        session.flush()
        assert bots_for(session, ladder) == [versions[0]]
        assert bots_for(session, third) == [versions[1], versions[0]]
        versions[1].status = VersionStatus.REFUSED
        session.flush()
        assert bots_for(session, third) == [versions[0]]


@SQLITE
def test_a_false_answer_is_held_against_its_worker(database: Database) -> None:
    """And is a failure of the move, which is asked for again."""
    table = Table(database, [SMALL])
    number = table.begin(place=1)
    report = table.answer(table.issue_one())
    moves = sitting.position(report.game).legal_moves()
    twice = replace(report, game=sitting.moved(report.game, moves[0]))
    assert table.record(twice) is Fate.REFUSED
    assert table.look(number).failures == 1
    with database.read() as session:
        worker = session.get_one(Worker, "one")
        assert "its move is refuted by the rules" in worker.problem
        (failed,) = worker.failed
        assert (failed["job"], failed["against"]) == (f"move of game {number} of a person", True)
    assert table.record(table.answer(table.issue_one())) is Fate.FIXED
    assert table.look(number).failures == 0
