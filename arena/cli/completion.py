"""The command completion: has a shell complete commands, options, and the names they take."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    get_completion_class,
)

from arena.cli import COMPLETE

SHELLS = ("bash", "zsh", "fish")
BREAKS = ":", "="
"""The characters at which bash breaks words, though they are within names here."""


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Have a shell complete commands, and the games, bots and ladders that they name.

    Prints what the shell is to run when it starts. Ladders and bots come from the arena that the
    command is about: the one elsewhere of --server or of arena login, or the one of this machine.

    \b
    Examples:
      arena completion bash >> ~/.bashrc
      arena completion zsh >> ~/.zshrc
      arena completion fish > ~/.config/fish/completions/arena.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    root = click.get_current_context().find_root().command
    click.echo(kind(root, {}, "arena", COMPLETE).source(), nl=False)


class _WholeWords(BashComplete):
    """Puts together what bash breaks: ``size=5x6``, ``openspiel:chess``."""

    def get_completion_args(self) -> tuple[list[str], str]:
        args, begun = super().get_completion_args()
        whole: list[str] = []
        for word in [*args, begun]:
            if whole and (word.startswith(BREAKS) or whole[-1].endswith(BREAKS)):
                whole[-1] += word
            else:
                whole.append(word)
        *args, begun = whole
        # One with a space is in quotes, and then bash leaves it whole.
        at = 0 if " " in begun else max(map(begun.rfind, BREAKS)) + 1
        self._before = begun[:at]
        return args, begun

    def format_completion(self, item: CompletionItem[Any]) -> str:
        # Only what stands behind the break is completed.
        return f"{item.type},{item.value.removeprefix(self._before)}"


add_completion_class(_WholeWords)
