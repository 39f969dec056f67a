"""Records that are proved, shown and refuted by a command."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from arena.cli.listing import visible
from engine.pgn import read_games
from tests.arena.cli.conftest import DICE, assert_refused
from tests.arena.cli.pressing import press
from tests.arena.conftest import Cli
from tests.requirements import need_openspiel

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def test_records_are_confirmed(cli: Cli, records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All games in short, one in full, and from standard input as well."""
    said = cli("replay", records)
    assert said.code == 0
    assert said.out.endswith("2 games, 0 refuted by the rules\n")
    one = cli("replay", records, "--game", "2", "--ply", "0")
    assert "confirmed by the rules" in one.out
    assert "position before ply 0: wbwb/bwbw/wbwb/bwbw 1" in one.out
    monkeypatch.setattr("sys.stdin", io.StringIO(records.read_text()))
    assert cli("replay", "-").out == said.out


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_newlines_alone_end_a_record(cli: Cli, records: Path, tmp_path: Path, ending: str) -> None:
    """JSON may have what else ends a line somewhere, as another program's JSON Lines do."""
    path = tmp_path / "games.jsonl"
    games = [json.loads(line) for line in records.read_text().splitlines()]
    for game in games:
        game["players"][0] = "one\u2028two\u2029three\x85"
    lines = [json.dumps(game, ensure_ascii=False) for game in games]
    path.write_bytes(ending.join([*lines, ""]).encode())
    assert cli("replay", path).out.endswith("2 games, 0 refuted by the rules\n")


def test_a_record_commands_no_terminal(cli: Cli, records: Path, tmp_path: Path) -> None:
    """Whoever wrote its names and texts; nor does a word in a listing."""
    game = json.loads(records.read_text().splitlines()[0])
    game["players"][0], game["texts"] = "\x1b[2Jevil", {"0": "\N{RIGHT-TO-LEFT OVERRIDE}\r"}
    (tmp_path / "evil.jsonl").write_text(json.dumps(game) + "\n")
    said = cli("replay", tmp_path / "evil.jsonl").out
    assert r"\x1b[2Jevil" in said
    assert r"\u202e\r" in said
    assert visible("\x1b]0;x\a\x9b") == r"\x1b]0;x\x07\x9b"
    assert visible("two\n\tlines") == "two\n\tlines"


def test_replay_as_pgn(cli: Cli, records: Path, tmp_path: Path) -> None:
    """Where games are written so; each with its number as its round."""
    assert_refused(cli("replay", records, "--pgn"), "games of clobber are not written as PGN")
    assert_refused(cli("replay", records, "--pgn", "--json"), "--pgn prints whole games: leave")
    need_openspiel()
    played, book = tmp_path / "chess.jsonl", tmp_path / "a.epd"
    book.write_text("4k3/8/8/8/8/8/8/4K2R b K - 0 1")
    words = ["--games", "2", "--move", "500", "--records", played, "--book", book]
    assert cli("play", "openspiel:chess", "random", "random", *words).code == 0
    one, two = read_games(cli("replay", played, "--pgn").out)
    assert [one.tags["Round"], two.tags["Round"]] == ["1", "2"]
    games = [json.loads(line) for line in played.read_text().splitlines()]
    assert [move.text for move in two.moves] == [move[2:] for move in games[1]["moves"]]


@pytest.mark.extras
def test_a_file_of_pgn(cli: Cli, tmp_path: Path) -> None:
    """It is taken for the records that it stands for, in Latin-1, too; its moves are proven."""
    need_openspiel()
    mate = '[White "Ann"]\n[Black "Bj\xf6rn"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n'
    ending = '[FEN "4k3/8/8/8/8/8/8/4K2R b K - 3 17"]\n[Result "1-0"]\n\n17... Kd7 1-0\n'
    usual = f'[FEN "{START}"]\n\n1. e4 *\n'
    path = tmp_path / "games.pgn"
    path.write_bytes(f"{mate}\n{ending}\n{usual}".encode("latin-1"))
    said = cli("replay", path)
    assert (said.code, said.out.splitlines()) == (
        0,
        [
            "game 1: openspiel:chess fen=startpos: Ann 0, Bj\xf6rn 1 (normal, 4 plies)",
            "game 2: openspiel:chess fen=4k3/8/8/8/8/8/8/4K2R_b_K_-_3_17: ? 1, ? 0 (resign, 1 ply)",
            "game 3: openspiel:chess fen=startpos: ?, ? (goes on, 1 ply)",
            "3 games, 0 refuted by the rules",
        ],
    )
    path.write_text(mate.replace("0-1", "1-0"))
    wrong = cli("replay", path)
    assert (wrong.code, "REFUTED by the rules: the result is ranks" in wrong.out) == (1, True)


@pytest.mark.extras
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1. e4 e6 2. Bc9", "openspiel:chess fen=startpos: line 1: ply 3: 'Bc9' is not legal"),
        ("1. e4 {never closed", "line 1: a comment is not closed by }"),
        ('[FEN "8/8"]\n\n1. e4', "no game is played here that PGN has and that begins at 8/8"),
    ],
    ids=["illegal", "damaged", "no position"],
)
def test_pgn_that_is_refused(cli: Cli, tmp_path: Path, text: str, words: str) -> None:
    """With the line that is wrong."""
    need_openspiel()
    path = tmp_path / "games.pgn"
    path.write_text(text)
    assert_refused(cli("replay", path), re.escape(f"{path}: {words}"))


def test_replay_as_json(cli: Cli, records: Path) -> None:
    """A line a game, with the digest of the record and the record itself."""
    lines = [json.loads(line) for line in cli("replay", records, "--json").out.splitlines()]
    assert [(line["game"], line["valid"], line["problem"]) for line in lines] == [
        (1, True, None),
        (2, True, None),
    ]
    assert [line["record"] for line in lines] == [
        json.loads(line) for line in records.read_text().splitlines()
    ]


def test_a_position_of_a_record_is_drawn(cli: Cli, records: Path, tmp_path: Path) -> None:
    """The last one, unless another is asked for, with the move that led there."""
    picture = tmp_path / "end.svg"
    assert cli("replay", records, "--game", "1", "--draw", picture).code == 0
    assert ET.fromstring(picture.read_text()).tag.endswith("svg")
    assert 'class="arrow' in picture.read_text()  # where the last move came from


def test_positions_as_text(cli: Cli, records: Path) -> None:
    """One after the other with the moves between them, and so wherever there is no terminal."""
    said = cli("replay", records, "--game", "1", "--text")
    game = json.loads(records.read_text().splitlines()[0])
    told = re.findall(r"^ply \d+: (?:White|Black) (\w+)", said.out, re.MULTILINE)
    assert [move[2:] for move in game["moves"]] == told
    assert said.out.count("\nposition: ") == len(told) + 1
    assert "4 ○ ● ○ ●\n3 ● ○ ● ○\n2 ○ ● ○ ●\n1 ● ○ ● ○\n  a b c d\n" in said.out
    assert cli("replay", records, "--game", "1", "--board").out == said.out
    one = cli("replay", records, "--game", "1", "--text", "--ply", "0").out
    assert one.count("position: ") == one.count("the start") == 1


def test_replays_as_files(cli: Cli, records: Path, tmp_path: Path) -> None:
    """Each game has its own, with its number; the picture has a frame of every position."""
    page, film = tmp_path / "cup.html", tmp_path / "cup.gif"
    said = cli("replay", records, "--html", page, "--gif", film)
    assert said.out.endswith("2 games, 0 refuted by the rules\n")
    assert {path.name for path in tmp_path.iterdir()} == {
        f"cup-{number}.{kind}" for number in (1, 2) for kind in ("html", "gif")
    }
    game = json.loads(records.read_text().splitlines()[1])
    with Image.open(tmp_path / "cup-2.gif") as frames:
        assert frames.n_frames == len(game["moves"]) + 1
        assert frames.height > frames.width  # a square board, and its captions
    assert cli("replay", records, "--game", "2", "--html", page).code == 0
    assert page.read_text() == (tmp_path / "cup-2.html").read_text()


def test_a_replay_opens_in_a_browser(
    cli: Cli, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that is named; where there is none, its file is."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)  # and says that it could not
    said = cli("replay", records, "--game", "1", "--browser")
    (made,) = tmp_path.glob("*/game.html")
    assert opened == [made.as_uri()]
    assert f"wrote {made}, " in said.err
    assert said.err.endswith("there is no browser here: open that file in one\n")


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("--board",), "has 2 games: say which with --game N"),
        (("--browser",), "has 2 games: say which with --game N"),
        (("--text", "--json"), "--board, --text, --pgn and --json each print games: give one"),
        (("--game", "1", "--text", "--draw", "x.svg"), "--draw draws one position: leave out"),
        (("--game", "1", "--text", "--ply", "99"), "so there is no position 99"),
        (("--game", "1", "--html", "/nowhere/x.html"), "can't write /nowhere/x.html: No such"),
        (("--game", "1", "--gif", ""), "the name is empty"),
    ],
)
def test_forms_that_cannot_be(
    cli: Cli, records: Path, words: tuple[str, ...], refusal: str
) -> None:
    """Each refusal says what to do."""
    assert_refused(cli("replay", records, *words), f".*{re.escape(refusal)}")


def test_a_board_is_moved_by_keys(records: Path) -> None:
    """Back, to both ends, by itself from the start, and away; the screen is given back."""
    plies = len(json.loads(records.read_text().splitlines()[0])["moves"])
    steps = [
        (b"", f"ply {plies}: "),
        (b"\x1b[D", f"ply {plies - 1}: "),
        (b"\x1b[H", "the start"),
        (b"\x1bOC", "ply 1: "),
        (b"\x1b[F", f"ply {plies}: "),
        (b"\x1b[Zx ", "the start"),  # keys that mean nothing are passed over
        (b"", "ply 1: "),
        (b"q", "\x1b[?1049l"),
    ]
    assert press(["replay", records, "--game", "1", "--board"], steps)[0] == 0


@pytest.mark.parametrize("number", ["1", "2"])
def test_a_forged_result_is_refuted(cli: Cli, records: Path, tmp_path: Path, number: str) -> None:
    """Whoever exchanges the scores of a game is told so, with exit code 1."""
    forged = tmp_path / "forged.jsonl"
    games = [json.loads(line) for line in records.read_text().splitlines()]
    game = games[int(number) - 1]
    game["scores"].reverse()
    game["ranks"].reverse()
    forged.write_text("\n".join(json.dumps(one) for one in games))
    said = cli("replay", forged)
    assert said.code == 1
    assert re.search(rf"game {number}: .*REFUTED: the result is", said.out)
    assert said.out.endswith("2 games, 1 refuted by the rules\n")


@pytest.fixture
def unfinished(records: Path, tmp_path: Path) -> Path:
    """A game that goes on, as the API gives it."""
    game = json.loads(records.read_text().splitlines()[0])
    game |= {"moves": game["moves"][:-1], "termination": "void", "scores": [], "ranks": []}
    for key in ("cpu_us", "wall_us"):
        game["run"][key].pop()
    path = tmp_path / "unfinished.json"
    path.write_text(json.dumps(game))
    return path


def test_a_game_that_goes_on_is_shown(cli: Cli, unfinished: Path, tmp_path: Path) -> None:
    """Its moves are proved, and it has no result yet; a move that is not legal refutes it."""
    picture = tmp_path / "now.svg"
    said = cli("replay", unfinished, "--draw", picture)
    assert said.code == 0, said.err
    assert re.match(r"clobber size=4x4: dice\.py, dice\.py#2 \(goes on, \d+ plies\)\n", said.out)
    assert "confirmed by the rules" in said.out
    assert "ranks" not in said.out
    assert ET.fromstring(picture.read_text()).tag.endswith("svg")
    assert cli("replay", unfinished, "--json").json["valid"] is True
    game = json.loads(unfinished.read_text())
    unfinished.write_text(json.dumps(game | {"moves": ["1:a1a1", *game["moves"][1:]]}))
    said = cli("replay", unfinished)
    assert (said.code, "REFUTED by the rules: at ply 0" in said.out) == (1, True)


def test_a_game_that_goes_on_is_not_asked_again(cli: Cli, unfinished: Path) -> None:
    """Its clocks and its end are not known yet."""
    assert_refused(cli("play", "--replay", unfinished, DICE, DICE), "the game goes on")


def damaged(text: str) -> str:
    return text[: len(text) // 4]


def of_another_format(text: str) -> str:
    return json.dumps(json.loads(text.splitlines()[0]) | {"record": 99})


def without_players(text: str) -> str:
    return json.dumps(json.loads(text.splitlines()[0]) | {"players": []})


def without_a_key(text: str) -> str:
    return json.dumps({k: v for k, v in json.loads(text.splitlines()[0]).items() if k != "seed"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (damaged, r"games\.jsonl: line 1: this is no JSON: .*"),
        (of_another_format, r"games\.jsonl: line 1: this record has format 99; .*use the release"),
        (without_a_key, r"games\.jsonl: line 1: this record is damaged: .*seed"),
        (without_players, "line 1: this record is damaged: its players are 0, not 2"),
        (lambda _: "[1]\n", r"games\.jsonl: line 1: this is no game record"),
        (lambda _: "\n \n", r"games\.jsonl: it is empty: give a file that"),
        (lambda text: text + "x", r"games\.jsonl: line 3: this is no JSON"),
    ],
)
def test_what_is_no_record_is_refused(
    cli: Cli, records: Path, tmp_path: Path, change: Callable[[str], str], words: str
) -> None:
    """With the line of the file, and what to do."""
    path = tmp_path / "games.jsonl"
    path.write_text(change(records.read_text()))
    assert_refused(cli("replay", path), words)


@pytest.mark.long
@pytest.mark.parametrize(
    ("variables", "row"),
    [
        ({"TERM": "dumb"}, "4 O @ O @"),
        ({"PYTHONIOENCODING": "ascii"}, "4 O @ O @"),
        ({"NO_COLOR": "1"}, "4 ○ ● ○ ●"),
    ],
    ids=["dumb", "ASCII", "NO_COLOR"],
)
def test_a_terminal_is_told_what_it_can_show(
    records: Path, variables: dict[str, str], row: str
) -> None:
    """Letters like the signs that it lacks, colours if it may; one that is dumb has no keys."""
    words = ["replay", records, "--game", "1", "--ply", "0"]
    steps: list[tuple[bytes, str]] = []
    code, out = press([*words, "--text"], steps, **variables)
    assert code == 0
    assert row in out
    assert ("\x1b[3" in out) == ("PYTHONIOENCODING" in variables)
    if variables.get("TERM") == "dumb":
        assert press([*words, "--board"], steps, **variables) == (0, out)
