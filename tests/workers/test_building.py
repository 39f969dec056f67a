"""Bots that are built: every compiled language, what is kept, and what authors are told."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from engine.clock import TimeControl
from engine.game import Termination
from engine.games import GAMES
from engine.process import BotProcess
from engine.referee import play_game
from tests.engine.players import FirstMove
from tests.requirements import need
from workers import bundles
from workers.building import BuildError, StartableBot, prepare, toolchain
from workers.languages import LanguageError, language_named
from workers.large_files import MIB
from workers.launches import Launch, programs_of
from workers.limits import Limits
from workers.program import BoxError
from workers.sandbox import Sandbox

KIT = Path(__file__).parents[2] / "bots" / "kit"
C = """\
#include <stdio.h>
#include <string.h>
int main(void) {
    static char line[1 << 20], move[1 << 16];
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "hello", 5)) puts("ready first want=legal");
        else if (!strncmp(line, "newgame", 7)) puts("ok");
        else if (!strncmp(line, "legal", 5)) sscanf(line, "legal %65535s", move);
        else if (!strncmp(line, "go", 2)) printf("move %s\\n", move);
        else if (!strncmp(line, "quit", 4)) break;
    }
}
"""
RUST = """\
use std::io::BufRead;
fn main() {
    let mut first = String::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "hello" => println!("ready first want=legal"),
            "newgame" => println!("ok"),
            "legal" => first = words[1].to_string(),
            "go" => println!("move {}", first),
            "quit" => break,
            _ => {}
        }
    }
}
"""
GO = """\
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	move := ""
	for lines.Scan() {
		var verb, word string
		fmt.Sscan(lines.Text(), &verb, &word)
		switch verb {
		case "hello":
			fmt.Println("ready first want=legal")
		case "newgame":
			fmt.Println("ok")
		case "legal":
			move = word
		case "go":
			fmt.Println("move", move)
		case "quit":
			return
		}
	}
}
"""
JAVA = """\
import java.io.*;

class Moves {
    static String first = "";
}

public class Main {
    public static void main(String[] arguments) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "hello" -> System.out.println("ready first want=legal");
                case "newgame" -> System.out.println("ok");
                case "legal" -> Moves.first = words[1];
                case "go" -> System.out.println("move " + Moves.first);
                case "quit" -> System.exit(0);
                default -> { }
            }
        }
    }
}
"""
CPP = {
    "bot.cpp": (KIT / "example_bot.cpp").read_text(),
    "arena_bot.hpp": (KIT / "arena_bot.hpp").read_text(),
}
BOTS: Mapping[str, Mapping[str, str]] = {
    "C": {"bot.c": C},
    "C++": CPP,
    "Rust": {"main.rs": RUST},
    "Go": {"main.go": GO},
    "Java": {"Main.java": JAVA},
}
BY_HAND = {
    "bot.toml": 'build = "mkdir made && gcc -o made/player src/*.c"\nrun = "made/player --fast"\n',
    "src/a.c": "int main(void) { extern int play(void); return play(); }\n",
    "src/b.c": C.replace("int main", "int play"),
}
MOVE_TIME = TimeControl(move_ms=1000)
Prepare = Callable[[Mapping[str, str]], StartableBot]


@pytest.fixture
def prepared(sandbox: Sandbox, bot_folder: Path, tmp_path: Path) -> Prepare:
    """Makes a bot of some files ready, by way of its bundle."""
    return lambda files: prepare(sandbox, *unpacked(sandbox, bot_folder, tmp_path, files))


def unpacked(
    sandbox: Sandbox, folder: Path, stored: Path, files: Mapping[str, str]
) -> tuple[Path, str]:
    """A bundle of some files where boxes can see it, and its digest."""
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    bundle = bundles.pack(folder)
    archive = bundles.store(stored, bundle)
    return bundles.unpack(archive, bundle.digest, sandbox.bundles), bundle.digest


def need_language(name: str) -> None:
    """Says so where a compiler is missing."""
    language = language_named(name)
    assert language is not None
    try:
        programs_of(language)
    except LanguageError as error:
        need(False, str(error))


def plays(sandbox: Sandbox, ready: StartableBot, limits: Limits) -> None:
    """Has it play a whole game in a box."""
    bot = BotProcess(lambda: sandbox.start(ready.folder, ready.launch, limits))
    variant = GAMES["clobber"].variant(size="4x4")
    try:
        record = play_game(variant, [bot, FirstMove()], time=MOVE_TIME)
        assert record.termination is Termination.NORMAL, (record.faults, bot.take_log())
    finally:
        bot.close(kill=True)


@pytest.mark.long
@pytest.mark.parametrize("name", BOTS)
def test_compiled_language(name: str, sandbox: Sandbox, prepared: Prepare) -> None:
    """Its bots are built and play a whole game, with no more than the language's entry says."""
    need_language(name)
    ready = prepared(BOTS[name])
    assert ready.built
    launch = ready.launch
    plays(sandbox, ready, Limits(memory_bytes=launch.memory_bytes, threads=launch.threads))


def test_build_of_the_authors_own(sandbox: Sandbox, prepared: Prepare) -> None:
    """What bot.toml says is run by a shell, in a copy of the folder, and then started."""
    need_language("C")
    ready = prepared(BY_HAND)
    assert ready.launch.command == ("./made/player", "--fast")
    plays(sandbox, ready, Limits())


def test_built_once(
    sandbox: Sandbox, bot_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was built is taken again, with its log, until the sources or a compiler change."""
    need_language("C")
    script = {
        "bot.toml": 'build = "cp /dev/null bot; date +%N >> bot; echo did it"\nrun = "./bot"\n'
    }
    folder, digest = unpacked(sandbox, bot_folder, tmp_path, script)
    shutil.rmtree(sandbox.builds, ignore_errors=True)
    first = prepare(sandbox, folder, digest)
    again = prepare(sandbox, folder, digest)
    assert first.build_seconds > 0.0
    assert (again, again.log) == (replace(first, build_seconds=0.0), "did it\n")
    before = (first.folder / "bot").read_text()
    # One that was spoilt is built anew, never run.
    (first.folder / "bot").write_text("spoilt")
    assert (prepare(sandbox, folder, digest).folder / "bot").read_text() not in (before, "spoilt")
    # A new compiler is seen by its size and time.
    path = tmp_path / "bin"
    path.mkdir()
    (path / "gcc").write_text("")
    (path / "gcc").chmod(0o755)
    now = toolchain()
    monkeypatch.setattr("workers.launches.BOX_PATH", f"{path}:/usr/bin:/bin")
    assert toolchain() != now
    assert prepare(sandbox, folder, digest).folder != first.folder


@pytest.mark.parametrize(
    ("files", "words", "log"),
    [
        ({"bot.c": "int main(void) { return x; }"}, "^the build failed: exit 1$", "undeclared"),
        ({"bot.toml": 'build = "true"\nrun = "./bot"'}, "^the build made no file 'bot'$", "^$"),
        ({"bot.toml": 'build = "echo oh; exit 7"\nrun = "x"'}, "failed: exit 7$", "oh\n"),
        (
            {"bot.toml": 'build = "seq 100000; false"\nrun = "x"'},
            "exit 1$",
            r"\A1\n2\n(?s:.*)bytes left out(?s:.*)\n100000\n\Z",
        ),
    ],
)
def test_what_authors_are_told(
    files: Mapping[str, str], words: str, log: str, prepared: Prepare
) -> None:
    """Why it failed in one line, and the beginning and end of what was written."""
    need_language("C")
    with pytest.raises(BuildError, match=words) as caught:
        prepared(files)
    assert re.search(log, caught.value.log), caught.value.log


@pytest.mark.parametrize(
    ("command", "name", "content", "words"),
    [
        ("sh it.sh", "it.sh", "set -e\n", r"exit 2 \(it.sh has .* Windows, .*those of Unix\)$"),
        ("sh it", "it", "#!/bin/sh\nfalse\n", r"exit 127 \(it has line ends of Windows"),
        ("sh sub/it.sh", "sub/it.sh", "cp /dev/null bot\n", r"printed \(sub/it.sh has line ends"),
        ("sh it.sh", "it.sh", ": # nothing\n", r"no file 'bot' \(it.sh has line ends"),
        (
            "cp /bin/true x; cat it.py > x; ./x",  # not every build may change a mode
            *("it.py", "#!/usr/bin/env python3\n", r"exit 127 \(it.py has line ends"),
        ),
        ("sh it.sh", "it.sh", "\ufefffalse", r"exit 127 \(it.sh begins with a byte order mark"),
        ("python3 it.py", "it.py", "exit(3)\n", "exit 3$"),
    ],
)
def test_script_that_only_windows_reads(
    command: str, name: str, content: str, words: str, prepared: Prepare
) -> None:
    """A CR is no blank to a shell (POSIX 2.3), whose own words for that don't show it."""
    manifest = f'build = "{command}"\nrun = "./bot"'
    with pytest.raises(BuildError, match=words):
        prepared({"bot.toml": manifest, name: content.replace("\n", "\r\n")})


def test_only_files_of_the_box_are_counted(sandbox: Sandbox, bot_folder: Path) -> None:
    """The disk of the host is seen while bubblewrap builds a box, and has many more."""
    script = "cd $HOME; touch a b c; sleep 0.1"
    limits = Limits(threads=12, work_bytes=(16 << 20) + 1)  # which is no whole page
    counts = set()
    for _ in range(5):
        program = sandbox.start(bot_folder, Launch(("/bin/sh", "-c", script)), limits)
        while not program.wait(0):
            counts.add(program.written()[0])
        assert program.kill() == "exit 0"
    assert max(counts) in (3, 4)  # a folder in memory counts itself


def test_nothing_is_kept_of_a_failure(sandbox: Sandbox, bot_folder: Path, tmp_path: Path) -> None:
    """A build that failed is tried again; it may have been for lack of memory."""
    files = {"bot.toml": 'build = "false"\nrun = "./bot"'}
    folder, digest = unpacked(sandbox, bot_folder, tmp_path, files)
    for _ in range(2):
        with pytest.raises(BuildError):
            prepare(sandbox, folder, digest)
    assert list(sandbox.builds.glob(f"{digest}*")) == []


def test_nothing_to_build(prepared: Prepare) -> None:
    """A bot that is only run is ready as it is."""
    ready = prepared({"bot.sh": "echo hi"})
    assert (ready.built, ready.log) == (False, "")
    assert "builds" not in ready.folder.parts


def test_missing_compiler(prepared: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine lacks it, which is said before anything is started."""
    monkeypatch.setattr("workers.launches.BOX_PATH", "/nowhere")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(LanguageError, match="gcc is not installed on this machine"):
        prepared({"bot.c": C})


def test_without_any_box(open_folder: Path, bot_folder: Path, tmp_path: Path) -> None:
    """Where there is no box an ordinary user builds plainly; root never does."""
    need_language("C")
    sandbox = Sandbox("none", open_folder / "box_folder", maximum="none")
    folder, digest = unpacked(sandbox, bot_folder, tmp_path, {"bot.c": C})
    shutil.rmtree(sandbox.builds, ignore_errors=True)
    if os.geteuid() == 0:
        with pytest.raises(BoxError, match="root runs no bot"):
            prepare(sandbox, folder, digest)
        return
    plays(sandbox, prepare(sandbox, folder, digest), Limits())


def test_a_build_with_tools_of_its_own(prepared: Prepare) -> None:
    """Its scripts may be executed though nothing says so, and what it makes stays, wherever.

    CMake's folders are left out of what an author hands in, not of what the arena built.
    """
    script = "#!/bin/sh\nmkdir -p out/CMakeFiles && cp bot.txt out/bot && : > out/CMakeCache.txt\n"
    said = 'build = "tools/make"\nrun = "out/bot"\n'
    ready = prepared({"bot.toml": said, "tools/make": script, "bot.txt": "#!/bin/true\n"})
    assert os.access(ready.folder / "out" / "bot", os.X_OK)
    assert (ready.folder / "out" / "CMakeCache.txt").is_file()


def test_a_program_for_another_processor(prepared: Prepare) -> None:
    """As a compiler of another machine makes it (ELF-64, e_machine): it is told before it fails."""
    number, name = 40, "arm"
    header = "\x7fELF\x02\x01\x01" + "\0" * 9 + f"\x02\0{chr(number)}\0"
    with pytest.raises(LanguageError, match=f"^player is a program for {name}, and this machine"):
        prepared({"player": header})
    if os.uname().machine == "x86_64":
        assert prepared({"player": header.replace(chr(number), chr(62))})


def test_a_build_sees_no_large_files_and_the_bot_does(
    sandbox_at: Callable[[str], Sandbox], tmp_path: Path
) -> None:
    """They stand beside what was built, as links to what the worker keeps; none is made anew."""
    box = sandbox_at("good")
    folder = tmp_path / "heavy"
    folder.mkdir()
    net = b"weights " * (17 * MIB // 8)
    (folder / "net.bin").write_bytes(net)
    (folder / "player.sh").write_text("#!/bin/sh\n")
    script = "ls > seen; cp player.sh player"
    for build, words in ((script, ""), (f"{script}; echo > net.bin", "made 'net.bin', which")):
        (folder / "bot.toml").write_text(f'run = "./player"\nbuild = "{build}"\n')
        bundle = bundles.pack(folder, max_bytes=64 * MIB)
        stored = bundles.store(tmp_path / "stored", bundle)
        unpacked = bundles.unpack(stored, bundle.digest, box.bundles, box.kept)
        if words:
            with pytest.raises(BuildError, match=words):
                prepare(box, unpacked, bundle.digest)
            continue
        for _ in range(2):  # the second time from the cache
            found = prepare(box, unpacked, bundle.digest)
            assert (found.folder / "seen").read_text().split() == ["bot.toml", "player.sh", "seen"]
            assert (found.folder / "net.bin").samefile(unpacked / "net.bin")
        assert found.build_seconds == 0
