"""The command new: writes a folder with a bot that plays, a test of it, and a page on what next."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from arena.cli import InputError
from arena.cli.arguments import SAMPLES, listed_samples, read_variant
from arena.cli.completing import games_known
from engine.game import Variant
from engine.games import GAMES
from engine.match import entrants_needed
from engine.translation import N_, gettext
from workers.manifest import MANIFEST, RUNTIME_NAME
from workers.runtimes import KINDS

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Template:
    """A language in which a bot is written for its author."""

    name: str
    source: str
    """The example, below the folder of the sample bots."""
    called: str
    """What the example calls itself."""
    main: str
    kit: Sequence[str] = ()
    """What goes beside it, from the same place."""
    build: Sequence[str] = ()
    """How the program is built by hand."""
    code: str = N_(
        "`choose` in %(main)s is where it thinks; what stands below it speaks the protocol. Let it "
        "say `want=legal,state` if it is to be told the position, too."
    )
    """Words on where to go on writing, with places for ``main`` and ``kit``."""


OPTIONS = """
# What can be chosen about it, as behind its name in mybot:depth=8: then it is told "set depth 8".
# [options]
# depth = "int 1 20 6"
"""
"""What the manifest says of options that a bot may have."""
KIT = "kit/arena_bot"
CHOOSE = N_(
    "`choose` in %(main)s is where it thinks; %(kit)s speaks the protocol for it, and says in its "
    "first lines what it offers."
)


def _starter(name: str, main: str, *build: str) -> Template:
    """A bot of one file, without a kit."""
    ending = main.rpartition(".")[2]
    return Template(name, f"starters/{main}", f"example-{ending}", main, build=build)


TEMPLATES = {
    "python": Template(
        "Python", "kit/example_bot.py", "example-py", "bot.py", (f"{KIT}.py",), code=CHOOSE
    ),
    "javascript": Template(
        "JavaScript", "kit/example_bot.mjs", "example-js", "bot.mjs", (f"{KIT}.mjs",), code=CHOOSE
    ),
    "c++": Template(
        "C++",
        "kit/example_bot.cpp",
        "example-cpp",
        "bot.cpp",
        (f"{KIT}.hpp",),
        ("g++", "-O2", "-std=c++20", "-o", "bot", "bot.cpp"),
        CHOOSE,
    ),
    "c": _starter("C", "bot.c", "gcc", "-O2", "-std=gnu17", "-o", "bot", "bot.c"),
    "rust": _starter("Rust", "bot.rs", "rustc", "--edition=2021", "-O", "-o", "bot", "bot.rs"),
    "go": _starter("Go", "bot.go", "go", "build", "-o", "bot", "bot.go"),
    "java": _starter("Java", "Bot.java", "javac", "Bot.java"),
    "ruby": _starter("Ruby", "bot.rb"),
    "perl": _starter("Perl", "bot.pl"),
    "lua": _starter("Lua", "bot.lua"),
    "shell": Template(
        "shell",
        "random_bot.sh",
        "random-sh",
        "bot.sh",
        code=N_("The branch `go*` in %(main)s is where it thinks."),
    ),
}


@click.command()
@click.argument("name")
@click.option(
    "--language",
    "--lang",
    type=click.Choice(list(TEMPLATES), case_sensitive=False),
    default="python",
    show_default=True,
    help="What it is written in.",
)
@click.option(
    "--game",
    default=lambda: GAMES.default.name,
    show_default=N_("the one to begin with"),
    shell_complete=games_known,
    help="As in 'clobber size=5x6'.",
)
@click.option("--runtime", help="Packages that its arena offers: see arena runtime list.")
def new(name: str, language: str, game: str, runtime: str | None) -> None:
    """Begin a bot: a folder NAME with a bot that plays, a test, and a README.

    Example: arena new mybot --language python --game clobber
    """
    if words := name_refusal(name):
        raise InputError(words)
    variant = read_variant(game)
    template = TEMPLATES[language]
    folder = Path(name)
    if runtime is not None and not RUNTIME_NAME.fullmatch(runtime):
        raise InputError(
            gettext(
                "%(runtime)r is no name of a runtime: see arena runtime list", runtime=runtime[:60]
            )
        )
    if runtime is not None and template.name not in KINDS.values():
        raise InputError(
            gettext("there are no runtimes for %(name)s: leave out --runtime", name=template.name)
        )
    files = contents(name, template, variant, runtime)
    try:
        folder.mkdir()
    except FileExistsError:
        raise InputError(
            gettext("%(name)s is there already: take another name, or another folder", name=name)
        ) from None
    except OSError as error:
        raise InputError(
            gettext(
                "can't make the folder %(name)s: %(strerror)s", name=name, strerror=error.strerror
            )
        ) from None
    try:
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
    except BaseException as error:
        # Half a bot would stand in the way of the next try.
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise InputError(
                gettext(
                    "can't write the folder %(name)s: %(strerror)s",
                    name=name,
                    strerror=error.strerror,
                )
            ) from None
        raise
    play = play_command(variant, name)
    click.echo(gettext("%(name)s/ has %(files)s", name=name, files=", ".join(sorted(files))))
    click.echo(gettext("It plays already: %(command)s", command=play))


def name_refusal(name: str) -> str:
    """Why a new bot can't be called so, and what to do; empty if it can."""
    if not NAME.fullmatch(name):
        return gettext(
            "%(name)r is no name for a bot: take up to 40 letters, digits, '-' and '_', a letter "
            "first",
            name=name[:60],
        )
    if name in {sample["name"] for sample in listed_samples()}:
        return gettext("%(name)s is the name of a sample bot: take another", name=name)
    return ""


def contents(
    name: str, template: Template, variant: Variant, runtime: str | None = None
) -> dict[str, str]:
    """The files of a new bot's folder, each with its text."""
    return {
        **program(name, template, variant, runtime),
        _test_name(name): _test(variant),
        "README.md": _readme(name, template, variant),
    }


def program(
    name: str, template: Template, variant: Variant, runtime: str | None = None
) -> dict[str, str]:
    """Those of them that make the bot, the one to write in first."""
    example = (SAMPLES / template.source).read_text(encoding="utf-8")
    files = {template.main: example.replace(template.called, name)}
    for file in template.kit:
        files[Path(file).name] = (SAMPLES / file).read_text(encoding="utf-8")
    files[MANIFEST] = (
        f"name = {json.dumps(name)}\n"
        f"main = {json.dumps(template.main)}\n"
        f"games = [{json.dumps(variant.game)}]\n"
    )
    if runtime is not None:
        files[MANIFEST] += f"runtime = {json.dumps(runtime)}\n"
    files[MANIFEST] += OPTIONS
    return files


def _test_name(name: str) -> str:
    """A file of its own name, so that the tests of several bots can be run together."""
    return f"test_{name.replace('-', '_')}.py"


def play_command(variant: Variant, name: str) -> str:
    """How the bot is played against samples."""
    others = ["greedy", "random"][: max(1, entrants_needed(variant) - 1)]
    others += ["random"] * (entrants_needed(variant) - 1 - len(others))
    return f"arena play {_words(variant)} {name} {' '.join(others)}"


def _words(variant: Variant) -> str:
    """A variant on the command line: the game, and what of it is not as usual."""
    usual = read_variant(variant.game).options
    changed = [f"{key}={value}" for key, value in variant.options.items() if usual[key] != value]
    return " ".join([variant.game, *changed])


def _test(variant: Variant) -> str:
    return f'''"""What the bot must always be able to do. Run it with: pytest --arena"""

from pathlib import Path

BOT = str(Path(__file__).parent)


def test_it_plays_without_a_fault(arena):
    """Games against itself, from different openings: no illegal move, no crash, no delay."""
    arena.assert_plays_clean(BOT, game="{_words(variant)}", games=4)
'''


def _readme(name: str, template: Template, variant: Variant) -> str:
    """The text of a new bot's README, in the language of whoever begins it."""
    kit = Path(template.kit[0]).name if template.kit else ""
    games = "" if entrants_needed(variant) == 1 else " --games 10"
    paragraphs = [
        f"# {name}",
        _wrapped(
            gettext(
                "A bot for %(game)s, in %(language)s. It plays any legal move, so far.",
                game=variant.game,
                language=template.name,
            ),
            gettext(template.code, main=template.main, kit=kit),
        ),
        gettext("From the folder above this one:"),
        f"""```sh
{play_command(variant, name)}{games}
arena check {name} --game "{_words(variant)}"
arena submit {name} --ladder LADDER
```""",
        _wrapped(
            gettext(
                "The first plays it against others, and says in words what went wrong, if "
                "anything did; with `--trace` it shows the lines that pass, with `--log` what the "
                "bot logged. The second is what an arena does with a bot that is handed in. The "
                "third hands it in; `arena ladders` lists the ladders."
            )
        ),
    ]
    if template.build:
        paragraphs += [
            _wrapped(
                gettext(
                    "The arena builds it from its sources, in the box. By hand, for a debugger:"
                )
            ),
            f"```sh\ncd {name} && {' '.join(template.build)}\n```",
        ]
    paragraphs += [
        _wrapped(
            gettext(
                "`%(file)s` is a test for pytest, in the environment in which the arena is "
                "installed:",
                file=_test_name(name),
            )
        ),
        f"```sh\npytest --arena {name}\n```",
    ]
    return "\n\n".join(paragraphs) + "\n"


def _wrapped(*sentences: str) -> str:
    """A paragraph in lines of 100 characters."""
    text = " ".join(sentences)
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)
