"""A fresh arena's furniture: made once, and what was removed stays removed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from arena.bots.furnish import Sample, furnish
from arena.bots.submissions import enter
from arena.cli.prepare import games_of
from arena.ground.config import SettingError
from arena.ground.db import Database
from arena.models import Bot, BotVersion, Check, Entrant, EntrantState, Ladder, User
from engine.games import GAMES
from tests.packages import Installer

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CLOBBER = [GAMES["clobber"]]


def sample(digest: str = "a" * 64, games: tuple[str, ...] = ("clobber",)) -> Sample:
    return Sample("random", digest, 100, 60, "Python", "", games)


def test_ladders_are_opened_for_the_chosen_games(database: Database) -> None:
    """Only for those, only once; a deleted one stays deleted, a game chosen later is added."""
    with database.begin() as session:
        furnish(session, [], NOW, games=CLOBBER)
        ladders = session.scalars(sa.select(Ladder)).all()
        offered = CLOBBER[0].offered
        assert {str(ladder.variant) for ladder in ladders} == {str(v) for v in offered}
        session.delete(ladders[0])
    both = [*CLOBBER, GAMES["oxoxo"]]
    with database.begin() as session:
        furnish(session, [], NOW, games=both)
    with database.begin() as session:
        furnish(session, [], NOW, games=both)
        ladders = session.scalars(sa.select(Ladder)).all()
        assert len(ladders) == len(offered) - 1 + len(GAMES["oxoxo"].offered)


def test_a_game_that_can_not_make_its_offers_stops_no_other(
    database: Database, packages: Installer
) -> None:
    """It is told, and the arena starts."""
    code = "class Broken(Clobber):\n    def __init__(self, options):\n        1 / 0\n"
    packages.install("games-x", f"{code}ONE = game('one', Broken)", "one = games_x:ONE")
    with database.begin() as session:
        (said,) = furnish(session, [], NOW, games=[GAMES["one"], *CLOBBER])
        assert "the game one, which can't make what it offers: ZeroDivisionError" in said
        assert session.scalar(sa.select(sa.func.count(Ladder.id))) == len(CLOBBER[0].offered)


def test_samples_are_entered_where_they_belong(database: Database) -> None:
    """A sample is checked for each ladder of its games, and not again by the next start."""
    for _ in range(2):
        with database.begin() as session:
            furnish(session, [sample()], NOW, games=[*CLOBBER, GAMES["oxoxo"]])
            checks = session.scalars(sa.select(Check)).all()
            assert [check.ladder.game for check in checks] == ["clobber"] * len(CLOBBER[0].offered)


def test_who_took_a_samples_name_keeps_it(database: Database) -> None:
    """The arena starts all the same, and says once which bot it goes without."""
    with database.begin() as session:
        furnish(session, [], NOW, games=CLOBBER)
        person = User(name="ann", created=NOW)
        session.add_all([person, Bot(name="Random", owner=person, created=NOW)])
    with database.begin() as session:
        said = furnish(session, [sample()], NOW, games=CLOBBER)
        assert said == [
            f"the sample bot random is not entered on {ladder.name}: there is a bot Random "
            "already, of another owner: choose a name"
            for ladder in session.scalars(sa.select(Ladder).order_by(Ladder.id))
        ]
        assert not session.scalars(sa.select(Check)).all()
    with database.begin() as session:
        assert furnish(session, [sample()], NOW, games=CLOBBER) == []


@pytest.mark.parametrize("still_there", [True, False])
def test_new_files_of_a_sample_are_a_new_version(database: Database, still_there: bool) -> None:
    """They are entered where the sample still plays; who retired it is not overruled."""
    with database.begin() as session:
        furnish(session, [sample()], NOW, games=CLOBBER)
        for check in session.scalars(sa.select(Check)).all():
            enter(session, check.ladder, check.version, NOW)
        if not still_there:
            session.execute(sa.update(Entrant).values(state=EntrantState.RETIRED))
    with database.begin() as session:
        furnish(session, [sample("b" * 64)], NOW, games=CLOBBER)
        digests = session.scalars(sa.select(BotVersion.digest).order_by(BotVersion.id)).all()
        assert digests == (["a" * 64, "b" * 64] if still_there else ["a" * 64])


@pytest.mark.parametrize(
    ("names", "games"),
    [
        ("", list(GAMES.singles)),
        ("clobber", ["clobber"]),
        (" oxono , clobber", ["oxono", "clobber"]),
    ],
)
def test_the_setting_names_games(names: str, games: list[str]) -> None:
    """Names with commas between them; without any, all that are of no family."""
    assert [game.name for game in games_of(names)] == games


@pytest.mark.parametrize("names", ["chess", "clobber,", "go"])
def test_unknown_games_are_refused(names: str) -> None:
    """With a line that says which games there are."""
    with pytest.raises(SettingError, match=r"there is no game .*; there are.* blocco, "):
        games_of(names)
