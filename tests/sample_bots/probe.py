"""A bot on the Python kit that tells all it was told; see test_kits.py for what it says."""

from collections.abc import Mapping

from arena_bot import Bot, End, Game, Position


class Probe(Bot):
    name = "probe"
    want = ("legal", "state")
    declares: Mapping[str, str] = {
        "depth": "int 1 20 6",
        "width": "float 0 2.5 0.5",
        "book": "bool true",
        "style": "choice fast|solid solid",
    }

    def new_game(self, game: Game) -> None:
        print("new game")
        options = ",".join(f"{key}:{game.options[key]}" for key in sorted(game.options))
        self.log(f"game {game.name} {options}")
        depth, width = self.options["depth"], self.options["width"]
        book = "no" if self.options["book"] is False else "yes"
        self.log(f"options {depth + 1} {width / 2:g} {book}")
        self.log(f"style {self.options['style']}")
        self.log(f"seat {game.you} of {game.seats}, seed {game.seed}")
        time_ms = -1 if game.time_ms is None else game.time_ms
        move_ms = -1 if game.move_ms is None else game.move_ms
        self.log(f"times {time_ms} {game.inc_ms} {move_ms} {'wall' if game.wall else 'cpu'}")

    def choose(self, position: Position) -> str:
        self.log(f"ply {position.ply}\nmoves {' '.join(f'{s}-{m}' for s, m in position.moves)}.")
        self.log(f"out {' '.join(f'{seat}-{ply}' for seat, ply in position.out.items())}.")
        self.log(f"clocks {' '.join(map(str, position.clocks_ms))}")
        self.log(f"legal {'+'.join(position.legal)}\nposition {position.state}")
        self.number("budget", position.budget)
        self.expect(0.25, position.legal[:2], 3)
        self.tag("told")
        used, left = position.used(), position.left
        clock = position.clocks_ms[position.game.you - 1] / 1000
        self.log("times are right" if 0 <= used < 0.5 and clock - 1 < left <= clock else "wrong")
        if position.ply == 0:
            for _ in range(40):
                self.log("x" * 3000)
            return position.legal[0] + " " + "\u00e9" * 5000
        return position.legal[-1] + " a remark\nof two lines \u00e9"

    def game_over(self, end: End) -> None:
        ranks, scores = (",".join(f"{x:g}" for x in row) for row in (end.ranks, end.scores))
        self.log(f"end {ranks} {scores} {end.cause}")


Probe().run()
