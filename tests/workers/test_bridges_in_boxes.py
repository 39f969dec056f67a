"""Bridges in full boxes, from a folder with its bot.toml: a bot of two processes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.clock import TimeControl
from engine.compliance import Examination
from engine.games import GAMES, find_variant
from engine.match import MatchSpec, entrants_needed, play_match
from engine.process import BotProcess
from engine.record import GameRecord, replay
from tests.engine.players import FirstMove
from tests.requirements import need
from workers.bundles import pack
from workers.limits import Limits
from workers.sandbox import Sandbox

ENGINE = Path(__file__).parents[1] / "bots" / "foreign_engine.py"
LIMITS = Limits(memory_bytes=96 << 20, threads=12, processes=2)
PATIENT = TimeControl(move_ms=20_000)
Start = Callable[..., BotProcess]


@pytest.fixture
def start(sandbox_at: Callable[[str], Sandbox], bot_folder: Path) -> Start:
    """Makes a player of a folder with this bot.toml, and a file beside it."""

    def make(manifest: str, program: Path = ENGINE, *, tells_errors: bool = False) -> BotProcess:
        shutil.copy(program, bot_folder)
        (bot_folder / "bot.toml").write_text(manifest)
        # Of the names that a bridge itself imports.
        (bot_folder / "select.py").write_text("raise SystemExit('the bot's own')")
        for file in bot_folder.iterdir():
            file.chmod(0o755)
        launch = pack(bot_folder).manifest.launch()
        box = sandbox_at("full")
        return BotProcess(lambda: box.start(bot_folder, launch, LIMITS), tells_errors=tells_errors)

    return make


def played(bot: BotProcess, game: str, time: TimeControl, games: int = 1) -> list[GameRecord]:
    """Games of a match against bots that play the first move there is."""
    name, *options = game.split()
    variant = find_variant(name, options)
    names = ("bridge", *(f"bot {n}" for n in range(entrants_needed(variant) - 1)))
    spec = MatchSpec(variant, names, time, seed=3)

    def player(entrant: int) -> FirstMove | BotProcess:
        return FirstMove() if entrant else bot

    return list(play_match(spec, player, games=games).games)


@pytest.mark.parametrize(
    ("bridge", "words", "game"),
    [
        ("ugi --option Threads=1", "uci", "clobber size=5x6"),
        ("ugi", "ugi", "clobber size=5x6"),
        ("gtp", "gtp", "blokus mode=duel corners=fixed"),
    ],
)
def test_whole_games(start: Start, bridge: str, words: str, game: str) -> None:
    """They go from both seats in one process; what the program burns at each move is charged."""
    bot = start(f'bridge = "{bridge}"\nrun = "python3 {ENGINE.name} {words} busy"\n')
    for record in played(bot, game, PATIENT, games=2):
        assert record.faults == ()
        replay(record)
        seat = record.players.index("bridge")
        assert min(ply.cpu_us for ply in record.plies if ply.seat == seat) > 5_000
        assert record.isolation == "full"


@pytest.mark.parametrize(
    ("flaw", "cause", "told", "last"),
    [
        (
            "killed",
            "crash",
            "python3 ended (killed by SIGSEGV) before it gave bestmove",
            "nets/clobber.bin is missing",
        ),
        ("dies", "crash", "python3 ended (exit 5) before it gave bestmove", "go movetime 200"),
        ("shuts", "crash", "python3 closed its output before it gave bestmove", "go movetime 200"),
        ("illegal", "crash", "'s answer is no move: 'illegal' is not legal", "go movetime 200"),
        ("sleeps", "timeout", "; python3 gave no bestmove in time", "go movetime 200"),
    ],
)
def test_faults_are_told_of_the_program(
    start: Start, flaw: str, cause: str, told: str, last: str
) -> None:
    """Everybody is told, and nothing of the bridge; what it wrote at last its author alone."""
    for tells_errors in (False, True):
        manifest = f'bridge = "ugi"\nrun = "python3 {ENGINE.name} uci {flaw}"\n'
        bot = start(manifest, tells_errors=tells_errors)
        (record,) = played(bot, "clobber size=5x6", TimeControl(move_ms=300, charge="wall"))
        (fault,) = record.faults
        assert (str(fault.termination), told in fault.detail) == (cause, True), fault.detail
        assert fault.detail.endswith(f"; last on standard error: {last}") is tells_errors
        assert "arena bridge" not in fault.detail


def test_fairy_stockfish_is_checked(start: Start) -> None:
    """A real program of others, clause by clause and in a game against itself."""
    found = shutil.which("fairy-stockfish", path=f"{os.environ['PATH']}:/usr/games")
    need(found, "fairy-stockfish is not installed")
    manifest = 'bridge = "ugi --option Hash=16 --option Threads=1"\nrun = "./fairy-stockfish"\n'
    bot = start(manifest, Path(str(found)))
    spec = MatchSpec(GAMES["clobber"].variant(size="5x6"), ("fairy",) * 2, TimeControl(move_ms=50))
    findings = list(Examination(bot._start, spec).findings())
    assert [finding.words for finding in findings if not finding.kept] == []
    assert {finding.clause: finding.applies for finding in findings}["one process"] is False
