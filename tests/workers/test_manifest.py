"""What bot.toml says of a bot, and what is found out without it."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from tests.requirements import need
from tests.workers.test_archives import BOT, make_folder
from workers.archives import MAX_BYTES, BundleError
from workers.bundles import launch, pack, store, unpack
from workers.launches import BOX_PATH, box_python

PYTHON = ("{python}", "-u", "-s")


@pytest.mark.parametrize(
    ("manifest", "command", "threads"),
    [
        ("", (*PYTHON, "./bot.py"), 1),
        ('main = "src/other.py"', (*PYTHON, "./src/other.py"), 1),
        ('main = "plain"\nlanguage = "python"\nthreads = 3', (*PYTHON, "./plain"), 3),
        ('run = "python3 bot.py --depth 4"', (*PYTHON, "./bot.py", "--depth", "4"), 1),
        ("run = \"./tool 'two words'\"", ("./tool", "two words"), 1),
        ('run = "sh plain"', ("/usr/bin/sh", "./plain"), 1),
        ('run = "/bin/sh plain bot.py"', ("/usr/bin/sh", "./plain", "./bot.py"), 1),
        ('run = "/usr/bin/env python3 bot.py 4"', (*PYTHON, "./bot.py", "4"), 1),
        ('run = "env python3.12 -O bot.py"', (*PYTHON, "-O", "./bot.py"), 1),
        ('run = "python3 -m bot --depth 4"', (*PYTHON, "-m", "bot", "--depth", "4"), 1),
        ('run = "python3 -O -m src.other"', (*PYTHON, "-O", "-m", "src.other"), 1),
        ('run = "python -m package"', (*PYTHON, "-m", "package"), 1),
        ('\ufeffmain = "plain"\r\nlanguage = "python"\r\n', (*PYTHON, "./plain"), 1),
    ],
)
def test_manifest_says_how_it_is_run(
    manifest: str, command: tuple[str, ...], threads: int, tmp_path: Path
) -> None:
    """It goes from bot.toml through storing and unpacking to the command in the box."""
    files = {"bot.py": BOT, "src/other.py": BOT, "plain": BOT, "tool": b"#!/bin/own\n"}
    files["package/__main__.py"] = BOT
    folder = make_folder(tmp_path / "mine", {**files, "bot.toml": manifest.encode()})
    bundle = pack(folder)
    found = launch(unpack(store(tmp_path / "store", bundle), bundle.digest, tmp_path / "cache"))
    expected = tuple(word.format(python=box_python()) for word in command)
    assert (tuple(found.command), found.threads) == (expected, threads)


def test_manifest_declares_options(tmp_path: Path) -> None:
    """So does that of a bridge's program."""
    said = b"[options]\ndepth = 'int 1 20 06'\nstyle = 'choice fast|solid solid'\n"
    for more in (b"", b"bridge = 'gtp'\nmain = 'bot.py'\n"):
        folder = make_folder(tmp_path / str(len(more)), {"bot.py": BOT, "bot.toml": more + said})
        found = pack(folder).manifest.launch()
        assert found.options == ("depth int 1 20 6", "style choice fast|solid solid")


BRIDGE = (*PYTHON, "-P", "-m", "engine.bridges")


@pytest.mark.parametrize(
    ("manifest", "command", "threads", "processes"),
    [
        ("processes = 3\nthreads = 2", (*PYTHON, "./bot.py"), 2, 3),
        ('bridge = "gtp"\nrun = "./tool -q"', (*BRIDGE, "gtp", "--", "./tool", "-q"), 2, 2),
        (
            'bridge = "ugi --option Threads=4 --option \'Skill Level=3\'"\nmain = "bot.py"\n'
            "threads = 4\nprocesses = 3",
            (
                *(*BRIDGE, "ugi", "--option", "Threads=4", "--option", "Skill Level=3", "--"),
                *(*PYTHON, "./bot.py"),
            ),
            5,
            3,
        ),
    ],
)
def test_manifest_of_several_processes(
    manifest: str, command: tuple[str, ...], threads: int, processes: int, tmp_path: Path
) -> None:
    """A bridge comes before the program that it stands for, and is a process of its own."""
    files = {"bot.py": BOT, "tool": b"#!/bin/own\n", "bot.toml": manifest.encode()}
    found = pack(make_folder(tmp_path / "mine", files)).manifest.launch()
    expected = tuple(word.format(python=box_python()) for word in command)
    assert tuple(found.command) == expected
    assert (found.threads, found.processes) == (threads, processes)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (b"class Bot {}", "Bot"),
        (b"package my;\nclass Bot {}", "my.Bot"),
        (b"// package a;\r\n/* package\nb; */ package my.bots ;", "my.bots.Bot"),
        (b"class Bot { } // package my;", "Bot"),
        (b"/* package my;", "Bot"),
    ],
)
def test_java_starts_a_class_by_its_whole_name(source: bytes, name: str, tmp_path: Path) -> None:
    """Where javac -d puts it: the language specification, 7.4, and the compiler's manual."""
    need(shutil.which("java", path=BOX_PATH), "Java is not installed")
    manifest = b"main = 'src/Bot.java'"
    files = {"src/Bot.java": source, "src/Other.java": b"", "bot.toml": manifest}
    assert pack(make_folder(tmp_path, files)).manifest.launch().command[-1] == name


@pytest.mark.parametrize("begun", [b"/*", b"//", b"/**/", b"//\n", b" ", b"package "])
def test_a_package_is_looked_for_once(begun: bytes, tmp_path: Path) -> None:
    """A file made to be slow to read is read as quickly as others."""
    content = begun * (MAX_BYTES // len(begun) - 1)
    (tmp_path / "Bot.java").write_bytes(content)
    began = time.process_time()
    assert pack(tmp_path / "Bot.java").manifest.package == ""
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("name", "first"),
    [("bot.sh", b""), ("bot", b"#!/bin/sh\r\n"), ("bot", b"#!/usr/bin/awk -f\r\n")],
)
def test_a_script_with_lines_of_windows_is_refused(name: str, first: bytes, tmp_path: Path) -> None:
    """A CR is no blank to a shell (POSIX 2.3): all that it would say is ': not found'.

    Nor is it to the kernel in a program's first line (execve(2)).
    """
    (tmp_path / name).write_bytes(first + b"while read line; do\r\n  echo ok\r\ndone\r\n")
    with pytest.raises(BundleError, match=f"^{name} has line ends of Windows, .*save it with"):
        pack(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bot.py", b"#!/usr/bin/env python3\r\nprint()\r\n"),
        ("bot", b"#!/usr/bin/python3\r\nprint()\r\n"),
        ("bot.c", b"int main(void) {}\r\n"),
        ("bot", b"\x7fELF\r\n"),
    ],
)
def test_other_languages_may_have_them(name: str, content: bytes, tmp_path: Path) -> None:
    """Interpreters, which the box starts itself, and compilers read them as the other kind."""
    (tmp_path / name).write_bytes(content)
    assert pack(tmp_path / name).manifest.main == name


def test_manifest_of_a_bot_in_full(tmp_path: Path) -> None:
    """Its other keys are kept for whoever asks."""
    manifest = b'name = "Greedy Gus"\ngames = ["clobber", "oxono"]\nthreads = 2\n'
    bundle = pack(make_folder(tmp_path / "mine", {"bot.js": b"", "bot.toml": manifest}))
    assert bundle.name == "Greedy Gus"
    assert bundle.manifest.games == ("clobber", "oxono")
    assert bundle.manifest.threads == 2


def test_the_most_that_a_manifest_may_say(tmp_path: Path) -> None:
    """Each limit is what is still taken: 60 characters, 64 threads, 8 KiB in all."""
    said = f"name = '{'x' * 60}'\nthreads = 64\n"
    folder = make_folder(tmp_path, {"bot.py": BOT, "bot.toml": f"{said:#<8192}".encode()})
    manifest = pack(folder).manifest
    assert (len(manifest.name), manifest.threads) == (60, 64)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ("name = Gambler", "bot.toml: Invalid value .*; texts stand in quotes"),
        (b"name = '\xff'", "bot.toml: .*decode.*: save it as UTF-8"),
        (
            "colour = 1",
            "no key 'colour'; name, main, .*, threads, processes, bridge, runtime, options are",
        ),
        ("name = 1", "name takes a text in quotes"),
        ("threads = true", "threads takes a whole number"),
        ("threads = 0", "threads is a number from 1 to 64"),
        ("threads = 65", "threads is a number from 1 to 64"),
        ("processes = 0", "processes is a number from 1 to 64"),
        ("processes = 65", "processes is a number from 1 to 64"),
        ("bridge = 'gtp'\nprocesses = 1", "from 2 to 64, as a bridge and its program are two"),
        ("bridge = 'uci'", "bridge can't be 'uci': a bridge is gtp or ugi"),
        ("bridge = ''", "bridge can't be '': a bridge is gtp or ugi"),
        ("bridge = 'ugi --first x'", "a bridge of ugi takes --option and what that is"),
        ("bridge = 'ugi --option'", "a bridge of ugi takes --option and what that is"),
        ("bridge = 'ugi --option Hash'", "'Hash' is no option; an option is written NAME=VALUE"),
        ("bridge = \"gtp --first ''\"", "--first is empty; it takes a GTP command"),
        ('bridge = "gtp \'open"', "bridge can't be .*No closing quotation"),
        ("games = 'clobber'", "games takes a list of texts"),
        ("games = [1]", "games takes a list of texts"),
        ("options = 1", "options takes a table: "),
        ("[options]\ndepth = 6", "an option is a text in quotes, as in depth = "),
        ("[options]\ndepth = 'int 1 20'", "bot.toml: the option depth is not declared as"),
        ('name = ""', "name is one line"),
        (f"name = '{'x' * 61}'", "name is one line of 1 to 60 characters"),
        ('name = "a\\nb"', "name is one line"),
        ("main = 'missing.py'", "main is 'missing.py', and there is no such file"),
        ("main = '../bot.py'", "main is '../bot.py', and there is no such file"),
        ("language = 'cobol'", "the language 'cobol' is not known; Python, "),
        ("main = 'notes.txt'", "how is 'notes.txt' run"),
        ("run = 'bot.py'\nmain = 'bot.py'", "run stands for main and language"),
        ("run = ''", "run starts '', which is none of the bot's files"),
        ("run = 'sh missing.sh'", "run starts 'missing.sh', which is none of the bot's files"),
        (
            "run = 'python3 -m chess'",
            "the module 'chess', and there is neither chess.py nor chess/",
        ),
        ("run = 'python3 -m'", "run starts the module ''"),
        ("run = '/usr/bin/env python3 -c pass'", "run starts '-c', which is none"),
        ("run = '/usr/bin/env A=1 bot.py'", "run starts '/usr/bin/env', which is none"),
        ("run = '/opt/python3 bot.py'", "run starts '/opt/python3', which is none"),
        ("run = '/bin/sh -c env'", "run starts '/bin/sh', which is none of the bot's files"),
        ('run = "sh \'open"', "run can't be read: No closing quotation"),
        ('run = "bot.py \\u0000"', "run has a zero byte"),
        ('build = "true \\u0000"', "build has a zero byte"),
        (f"games = {'[' * 5000}", "bot.toml: maximum recursion depth"),
        (f"threads = {'9' * 5000}", "bot.toml: Exceeds the limit"),
        (f"# {'x' * 8192}", "bot.toml has more than 8 KiB"),
    ],
)
def test_manifest_refused(manifest: str | bytes, words: str, tmp_path: Path) -> None:
    """Each with one line that says what is wrong."""
    content = manifest if isinstance(manifest, bytes) else manifest.encode()
    folder = make_folder(tmp_path, {"bot.py": BOT, "notes.txt": b"", "bot.toml": content})
    with pytest.raises(BundleError, match=words) as caught:
        pack(folder)
    assert "\n" not in str(caught.value)
