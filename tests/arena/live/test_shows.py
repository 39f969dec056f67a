"""A match under way as it is shown: whatever comes in which order, everybody sees each ply once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from arena.live.shows import BEGUN, EARLY, NOTHING, LiveShow, LiveStanding, Seen, read_seen
from arena.web.boards import position_drawn
from arena.web.words import outcome
from engine.clock import TimeControl
from engine.games import GAMES
from engine.jobs import Lease
from engine.live import LivePlies, in_parts
from engine.match import MatchSpec, play_match
from engine.record import GameRecord, Ply, states
from engine.sitting import clocks
from engine.translation import speaking
from tests import dice
from tests.arena.simulator import LotPlayer
from tests.marked import END, MARK, MARKED
from tests.packages import Installer

LEASE = Lease("match", 7, 1, "ticket")
SPECS = {
    "two seats": ("clobber", {"size": "4x3"}, ("one", "<b>two")),
    "a race": ("puzzle", {"task": "tetrominoes"}, ("one", "two")),
}


class Match:
    """A match that was played, and shows of it."""

    def __init__(self, game: str, options: dict[str, str], names: tuple[str, ...]) -> None:
        variant = GAMES[game].variant(**options)
        self.spec = MatchSpec(variant, names, TimeControl(60_000), seed=5)
        self.records = play_match(self.spec, lambda _: LotPlayer()).games

    def show(self) -> LiveShow:
        """One that knows of no ply."""
        return LiveShow(LiveStanding(self.spec, self.spec.variant, 1, BEGUN))

    def told(self, game: int, first: int, last: int | None = None, *, again: int = 0) -> LivePlies:
        """What a worker tells of some plies."""
        return LivePlies(LEASE, game, again, first, self.records[game].plies[first:last])


@pytest.fixture(scope="module", params=SPECS)
def match(request: pytest.FixtureRequest) -> Match:
    return Match(*SPECS[request.param])


@pytest.fixture(scope="module")
def clobber() -> Match:
    return Match(*SPECS["two seats"])


class Page:
    """What a page puts together of the events that come to it, as static/live.js does."""

    def __init__(self, show: LiveShow, seen: Seen = NOTHING) -> None:
        self.show, self.seen = show, seen
        self.games: dict[tuple[int, int], dict[str, Any]] = {}
        self.words: list[str] = []
        self.is_over = False

    def look(self) -> Page:
        """Hears what is new; nothing comes twice, and no gap is left."""
        events, self.seen = self.show.since(self.seen)
        for kind, seen, data in events:
            assert read_seen(seen).id == seen
            json.dumps(data)
            if kind != "plies":
                self.words.append(data)
                self.is_over = kind == "over"
                continue
            game = self.games.setdefault((data["game"], data["again"]), {"boards": [], "parts": []})
            assert data["first"] == len(game["boards"])
            assert data["at"] == len(game["parts"])
            game["parts"] += data["parts"]
            game["boards"] += data["boards"]
            game.setdefault("items", []).extend(data["items"])
            game.setdefault("said", []).extend(data["said"])
            game.setdefault("moves", []).extend(data["moves"])
            game |= {key: data[key] for key in ("due", "left", "result", "out")}
            once = ("games", "players", "sides", "variant", "start", "before")
            game |= {key: data[key] for key in once if key in data}
        assert self.show.since(self.seen)[0] == []
        return self

    def boards(self, game: int, again: int = 0) -> list[str]:
        """What the page has drawn of a game."""
        its = self.games[game, again]
        drawn = []
        for runs in its["boards"]:
            pairs = zip(runs[::2], runs[1::2], strict=True)
            lines = [line for at, count in pairs for line in its["parts"][at : at + count]]
            drawn.append("\n".join(lines))
        return drawn


def drawn(record: GameRecord, plies: int | None = None) -> list[str]:
    """The boards of a game, as its page shows them."""
    reached = list(states(record))
    steps = zip(reached, [None, *record.moves], [None, *reached[:-1]], strict=True)
    found = [position_drawn(*step) for step in steps]
    return found[: None if plies is None else plies + 1]


def test_each_ply_comes_once_and_in_order(match: Match) -> None:
    """So they come to who is there from the first or comes in the middle; then how it ended."""
    show = match.show()
    early, rng = Page(show).look(), Random(1)
    assert early.words == [BEGUN]
    late: list[Page] = []
    for game, record in enumerate(match.records):
        at = 0
        while at < len(record.plies):
            most = at + rng.randint(1, 3)
            show.take(match.told(game, rng.randint(0, at), most))
            at = min(most, len(record.plies))
            early.look()
            if at > len(record.plies) // 2 and len(late) == game:
                late.append(Page(show).look())
                assert set(late[-1].games) == {(game, 0)}
            for page in late:
                page.look()
        assert early.games[game, 0]["result"] == outcome(record)
    ended = replace(show.standing, words="Finished.", is_over=True, records=match.records)
    show.stand(ended)
    for page in (early, *late):
        page.look()
        assert page.is_over
        for (game, _), its in page.games.items():
            told = [line.rpartition("): ")[2] for line in its["before"]]
            assert told == [outcome(record) for record in match.records[:game]]
    assert early.words == [BEGUN, "", "Finished."]
    for game, record in enumerate(match.records):
        assert early.boards(game) == drawn(record)
        its = early.games[game, 0]
        assert len(its["items"]) == len(record.plies)
        assert its["said"] == [[ply.seat, ply.values] for ply in record.plies]
        moves = [(ply.seat, ply.move, ply.cpu_us, ply.text) for ply in record.plies]
        assert [tuple(one) for one in its["moves"]] == moves
        start, *_ = states(record)
        assert (its["variant"], its["start"]) == (str(record.variant), start.text())
        assert its["out"] == []
        assert its["left"] == [clock.left_ms for clock in clocks(record)]
        assert (its["games"], its["due"]) == (match.spec.games, None)


def test_what_a_page_is_told_can_do_no_harm(clobber: Match) -> None:
    """What bots say is escaped in what is put into the page, and names are texts there."""
    show = clobber.show()
    (ply, *_) = clobber.records[0].plies
    show.take(LivePlies(LEASE, 0, 0, 0, (ply._replace(text="<script>", tags=("t",)),)))
    page = Page(show).look()
    (item,) = page.games[0, 0]["items"]
    assert "&lt;script&gt;" in item
    assert "<script>" not in item
    assert page.games[0, 0]["players"][1][1] == "<b>two"


def test_who_was_cut_off_goes_on_where_they_were(clobber: Match) -> None:
    """The id of the last event says where, at this process or at one that has just begun."""
    show, new = clobber.show(), clobber.show()
    show.take(clobber.told(0, 0, 5))
    page = Page(show).look()
    again = Page(new, read_seen(page.seen.id))
    again.games = page.games
    again.look()  # which knows less than the page by now
    for told in (clobber.told(0, 0, 2), clobber.told(0, 0), clobber.told(1, 0, 3)):
        new.take(told)
        again.look()
    assert again.boards(0) == drawn(clobber.records[0])
    assert again.boards(1) == drawn(clobber.records[1], 3)


def test_a_new_process_hears_of_the_second_game_first(clobber: Match) -> None:
    """Who has seen that goes on with it; they are not shown the first one once more."""
    show, new = clobber.show(), clobber.show()
    show.take(clobber.told(1, 0, 3))
    page = Page(show).look()
    again = Page(new, read_seen(page.seen.id))
    again.games = page.games
    new.take(clobber.told(0, 0))
    again.look()
    new.take(clobber.told(1, 0, 4))
    again.look()
    assert set(again.games) == {(1, 0)}
    assert again.boards(1) == drawn(clobber.records[1], 4)


def test_each_is_told_in_their_language(clobber: Match) -> None:
    """Whoever comes first; what is drawn in one language is drawn in another by itself."""
    show = clobber.show()
    with speaking(MARKED):
        (event,), _ = show.since(NOTHING)
    assert event.data == f"{MARK}{BEGUN}{END}"
    assert show.since(NOTHING)[0][0].data == BEGUN
    for told in (clobber.told(0, 0), clobber.told(1, 0, 2)):
        show.take(told)
    english = show.since(NOTHING)[0][0].data
    with speaking(MARKED):
        marked = show.since(NOTHING)[0][0].data
        (ended, *_), _ = show.since(Seen(1, 0, 0, show.since(NOTHING)[1].boards))
    assert (english["first"], marked["first"]) == (0, 0)
    assert len(english["boards"]) == len(marked["boards"]) == 3
    assert english["before"][0].startswith("Game 1 (")
    assert marked["before"][0].startswith(f"{MARK}Game 1 (")
    assert MARK not in json.dumps(english, ensure_ascii=False)
    assert ended.data["result"].startswith(MARK)


def test_a_match_that_is_played_anew(clobber: Match) -> None:
    """Begins anew for everybody; so does a game of which the first try was void."""
    show = clobber.show()
    show.take(clobber.told(0, 0, 5))
    page = Page(show).look()
    show.take(clobber.told(0, 0, 1, again=1))
    page.look()
    assert page.boards(0, 1) == drawn(clobber.records[0], 1)
    show.stand(replace(show.standing, attempt=2))
    page.games.clear()
    page.look()
    show.take(clobber.told(0, 0, 2))
    page.look()
    assert page.seen.attempt == 2
    assert page.boards(0) == drawn(clobber.records[0], 2)


def test_a_game_that_ended_early_says_so(clobber: Match) -> None:
    """Who lost it the worker does not tell, and the result only says in the end."""
    show = clobber.show()
    show.take(clobber.told(0, 0, 2))
    page = Page(show).look()
    assert page.games[0, 0]["result"] == ""
    show.take(clobber.told(1, 0, 1))
    page.look()
    assert page.games[0, 0]["result"] == EARLY


def test_the_record_counts_and_not_what_was_told(clobber: Match) -> None:
    """A worker may tell one game and report another: then that is shown as one more play of it."""
    show = clobber.show()
    first, *_ = drawn(clobber.records[0], 0)
    legal = clobber.spec.variant.initial(clobber.spec.game_seed(0)).legal_moves()
    other = next(move for move in legal if move != clobber.records[0].moves[0])
    show.take(LivePlies(LEASE, 0, 0, 0, (Ply(0, other, 1, 1),)))
    page = Page(show).look()
    assert page.boards(0)[0] == first
    show.stand(replace(show.standing, words="Finished.", is_over=True, records=clobber.records))
    page.look()
    assert page.boards(0, 1) == drawn(clobber.records[0])


def test_a_long_remark_makes_no_other_game(clobber: Match) -> None:
    """It is told cut, and stored whole."""
    record = clobber.records[0]
    said = tuple(ply._replace(text="x" * 2000) for ply in record.plies)
    show = clobber.show()
    for told in in_parts(LEASE, 0, 0, said, 0):
        show.take(LivePlies.from_json(told.to_json().encode()))
    page = Page(show).look()
    records = (replace(record, plies=said), clobber.records[1])
    show.stand(replace(show.standing, words="Finished.", is_over=True, records=records))
    assert set(page.look().games) == {(0, 0), (1, 0)}


FORGED: dict[str, Callable[[Sequence[Ply], int], Sequence[Ply]]] = {
    "no move": lambda plies, _: [plies[0]._replace(move="nonsense")],
    "not its turn": lambda plies, _: [plies[0], plies[1]._replace(seat=plies[0].seat)],
    "chance where there is none": lambda plies, _: [plies[0]._replace(seat=-1)],
    "no such seat": lambda plies, seats: [plies[0]._replace(seat=seats + 3)],
    "after the end": lambda plies, _: [*plies, plies[0]],
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_what_the_rules_refuse_is_not_shown(
    clobber: Match, forge: Callable[[Sequence[Ply], int], Sequence[Ply]]
) -> None:
    """Nor does it disturb what is true."""
    show, record = clobber.show(), clobber.records[0]
    show.take(LivePlies(LEASE, 0, 0, 0, tuple(forge(record.plies, clobber.spec.variant.seats))))
    show.take(LivePlies(LEASE, 0, 0, 90, record.plies[:1]))  # behind plies that nobody knows
    show.take(LivePlies(LEASE, 99, 0, 0, record.plies[:1]))  # of a game that the match has not
    page = Page(show).look()
    its = page.boards(0)
    assert its == drawn(record)[: len(its)]
    assert set(page.games) == {(0, 0)}
    show.take(clobber.told(0, 0))
    assert page.look().boards(0) == drawn(record)


def test_a_seat_that_leaves_is_seen_to_have_left() -> None:
    """The others play on, and whose turn it was has none any more."""
    variant = GAMES["blokus"].variant(mode="trio")
    spec = MatchSpec(variant, ("one", "two", "three"), TimeControl(60_000))
    plies, state = list[Ply](), variant.initial(spec.game_seed(0))
    boards = [position_drawn(state, None)]
    for _ in range(9):
        if len(plies) == 4:
            gone = state.to_move or 0
            state = state.retire(gone)
        plies.append(Ply(state.to_move or 0, state.legal_moves()[-1], 1, 1))
        state = state.play(plies[-1].move)
        boards.append(position_drawn(state, plies[-1].move))
    show = LiveShow(LiveStanding(spec, variant, 1, BEGUN))
    show.take(LivePlies(LEASE, 0, 0, 0, tuple(plies[:4])))
    page = Page(show).look()
    assert page.games[0, 0]["out"] == []
    show.take(LivePlies(LEASE, 0, 0, 4, tuple(plies[4:])))
    assert page.look().boards(0) == boards
    assert page.games[0, 0]["out"] == [(gone, 4)]
    assert gone not in {ply.seat for ply in plies[4:]}


def test_dice_are_drawn_by_the_seed(packages: Installer) -> None:
    """What they show is seen, and no roll that a worker thought of."""
    packages.install("dice-game", dice.CODE, dice.ENTRY)
    match = Match("dice", {}, ("one", "two"))
    record = match.records[0]
    at = next(n for n, ply in enumerate(record.plies) if ply.seat == -1)
    state = list(states(record))[at]
    other = next(move for move in state.legal_moves() if move != record.moves[at])
    show = match.show()
    show.take(match.told(0, 0, at))
    show.take(LivePlies(LEASE, 0, 0, at, (Ply(-1, other),)))
    assert len(Page(show).look().boards(0)) == at + 1
    # Nor does chance say anything, whatever a worker tells.
    show.take(LivePlies(LEASE, 0, 0, at, (Ply(-1, record.moves[at], values={"x": 1.0}),)))
    assert Page(show).look().games[0, 0]["said"][at] == [-1, {}]
    show.take(match.told(0, 0))
    assert Page(show).look().boards(0) == drawn(record)


@pytest.mark.parametrize(
    "text",
    ["", "x", "1.2.3", "1.2.3.4.5", "-1.0.0.0", "1.0.0.9999999999", "1.0.0.\N{BENGALI DIGIT ONE}"],
)
def test_what_is_no_place_is_nowhere(text: str) -> None:
    """A browser may send anything."""
    assert read_seen(text) == NOTHING


@pytest.mark.parametrize("seen", ["1.0.0.999", "1.9.0.1", "9.0.0.1", "1.0.7.3", "0.0.0.0"])
def test_a_place_where_nobody_can_be(clobber: Match, seen: str) -> None:
    """Is answered with nothing, or from the beginning."""
    show = clobber.show()
    show.take(clobber.told(0, 0))
    Page(show, read_seen(seen)).look()


def test_a_very_long_game_comes_in_parts(clobber: Match, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no event is too long."""
    monkeypatch.setattr("arena.live.shows.MOST_TOGETHER", 2)
    show = clobber.show()
    for told in in_parts(LEASE, 0, 0, clobber.records[0].plies, 0):
        show.take(told)
    events, _ = show.since(NOTHING)
    assert len([one for one in events if one.kind == "plies"]) > 3
    assert Page(show).look().boards(0) == drawn(clobber.records[0])
