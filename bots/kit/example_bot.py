"""A whole bot on the kit: it plays a random legal move."""

from random import Random

from arena_bot import Bot, Game, Position


class ExampleBot(Bot):
    name = "example-py"

    def new_game(self, game: Game) -> None:
        self.dice = Random(game.seed)

    def choose(self, position: Position) -> str:
        return self.dice.choice(position.legal)


ExampleBot().run()
