"""A game that a bot lost by a crash, really played, in the place of a furnished one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from arena.ground.db import Database
from arena.keeping.packing import pack
from arena.models import Competition, GameSeat, PlayedGame
from engine.clock import TimeControl
from engine.match import MatchSpec, play_match
from engine.process import BotProcess
from engine.record import GameRecord
from tests.engine.players import scripted_program

LOSES = """
say(f'# looked at {len(legal)} moves\\n# depth {turn}\\n# eval {60 - 25 * turn}\\n')
if turn == 3: burn(450)
if turn == 4: raise ValueError('bad hash')
honest()
"""
WINS = "say(f'# eval {0.4 + turn / 10}\\n# secret plan\\n'); honest()"
CONTROL = TimeControl(move_ms=500)


def play_lost_game(database: Database) -> tuple[int, GameRecord]:
    """Plays it: Clobber between the two bots of a game on a board of 4x3, seat 1 loses.

    Returns:
        The number of the game in whose place it stands, and its record.
    """
    with database.begin() as session:
        its = sa.select(PlayedGame).join(PlayedGame.competition).order_by(PlayedGame.id).limit(1)
        game = session.scalars(its.where(Competition.game == "clobber")).one()
        names = tuple(seat.entrant.version.label for seat in game.seats)
        spec = MatchSpec(game.competition.variant, names, CONTROL)
        programs = [scripted_program(go=code) for code in (LOSES, WINS)]
        played = play_match(
            spec, lambda bot: BotProcess(lambda: programs[bot], keeps_lines=True), games=1
        )
        (record,), (logs,) = played.games, played.logs
        game.record, game.plies = pack(record), len(record.plies)
        game.termination = record.termination
        for seat, log in zip(game.seats, logs, strict=True):
            seat.log = log
        return game.id, record


@contextmanager
def lost_game(database: Database) -> Iterator[tuple[int, GameRecord]]:
    """The same, as long as this lasts."""
    columns = (PlayedGame.id, PlayedGame.record, PlayedGame.plies, PlayedGame.termination)
    with database.read() as session:
        before = [row._asdict() for row in session.execute(sa.select(*columns))]
    number, record = play_lost_game(database)
    try:
        yield number, record
    finally:
        with database.begin() as session:
            session.execute(sa.update(PlayedGame), before)
            session.execute(sa.update(GameSeat).where(GameSeat.game_id == number).values(log=""))
