"""Which level of box a sandbox builds, and what it says where it can build none."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workers.conftest import LIMITS, python_launch, said, write
from workers import bubblewrap
from workers.program import BoxError
from workers.sandbox import Sandbox
from workers.walls import NamespaceBox

STRICT = """
import ctypes, struct, sys
from pathlib import Path
from workers.sandbox import Sandbox

if "filtered" in sys.argv:  # by a filter of one instruction, which allows every call
    code = ctypes.create_string_buffer(struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000), 8)
    filters = ctypes.create_string_buffer(struct.pack("@HP", 1, ctypes.addressof(code)))
    prctl = ctypes.CDLL(None).prctl
    assert not prctl(38, 1, 0, 0, 0) and not prctl(22, 2, filters, 0, 0)
Sandbox("good", Path(sys.argv[1]), bubblewrap=Path(sys.argv[2]))
"""
"""A worker that accepts nothing weaker than `good`: its box folder and its bubblewrap."""


def test_layers_all_hold(sandbox: Sandbox) -> None:
    """A sandbox has only found layers that hold, and says so for each."""
    assert len(sandbox.layers) >= 6
    assert all(layer.holds and layer.detail for layer in sandbox.layers)


def test_never_below_the_minimum(open_folder: Path) -> None:
    """What the operator asks for and the machine can't give is refused, with the reason."""
    with pytest.raises(BoxError, match=r"best box here is 'none' and 'good' is asked for"):
        Sandbox("good", open_folder / "box_folder", maximum="none")


def test_no_box_at_all(open_folder: Path, bot_folder: Path) -> None:
    """With the operator's leave an ordinary user runs bots plainly; root never does."""
    sandbox = Sandbox("none", open_folder / "box_folder", maximum="none")
    write(bot_folder, "import os, engine\nprint(os.getcwd(), flush=True)")
    if os.geteuid() == 0:
        with pytest.raises(BoxError, match="root runs no bot"):
            sandbox.start(bot_folder, python_launch(), LIMITS)
        return
    program = sandbox.start(bot_folder, python_launch(), LIMITS)
    assert said(program) == str(bot_folder)
    assert program.isolation == "none"
    program.kill()


@pytest.mark.parametrize("filtered", [False, True])
def test_broken_layer_rules_a_box_out(
    sandbox_at: Callable[[str], Sandbox], open_folder: Path, filtered: bool
) -> None:
    """A box in which the probe finds a layer missing is not used, and the layer is named.

    So, too, where the worker has a filter, as a systemd unit may give it one: bots inherit it.
    """
    box = sandbox_at("good").box
    assert isinstance(box, NamespaceBox)
    leaky = open_folder / "leaky"
    # The first two arguments are --seccomp and its file.
    leaky.write_text(f'#!/bin/sh\nshift 2\nexec {box.bubblewrap.path} "$@"\n')
    leaky.chmod(0o755)
    words = "good: does not hold (call filter: none is loaded, one process: it could fork)"
    command = [sys.executable, "-c", STRICT, str(open_folder / "box_folder"), str(leaky)]
    done = subprocess.run(
        [*command, *["filtered"] * filtered], capture_output=True, text=True, check=False
    )
    assert words in done.stderr.splitlines()[-1]


def test_bubblewrap_that_fails_is_quoted(open_folder: Path) -> None:
    """Why no box could be built is told in bubblewrap's own words, with what that means."""
    broken = open_folder / "broken"
    broken.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    words = "No permissions to create new namespace .the kernel or the container refuses"
    with pytest.raises(BoxError, match=words):
        Sandbox("good", open_folder / "box_folder", bubblewrap=broken)


def test_of_two_forms_of_a_level_one_is_enough(
    sandbox_at: Callable[[str], Sandbox], open_folder: Path
) -> None:
    """Only the looser can be built in a container whose /proc/sys is read-only: no word of it."""
    box = sandbox_at("good").box
    assert isinstance(box, NamespaceBox)
    looser = open_folder / "looser" / "bwrap"
    looser.parent.mkdir()
    looser.parent.chmod(0o777)
    # The sterner form is tried first.
    refusal = "echo 'bwrap: cannot open /proc/sys/user/max_user_namespaces' >&2; exit 1"
    looser.write_text(
        f'#!/bin/sh\nmkdir $0.tried && {{ {refusal}; }}\nexec {box.bubblewrap.path} "$@"\n'
    )
    looser.chmod(0o755)
    sandbox = Sandbox("good", open_folder / "box_folder", maximum="good", bubblewrap=looser)
    assert isinstance(sandbox.box, NamespaceBox)
    assert not sandbox.box.bubblewrap.disable_userns
    assert (sandbox.level, sandbox.failures) == ("good", [])


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("Creating new namespace failed: Operation not permitted", "refuses user namespaces"),
        ("Creating new namespace failed: Resource temporarily unavailable", "see ulimit -u"),
        ("Can't find source path /x: Permission denied", "can't reach that path"),
        ("[Errno 11] Resource temporarily unavailable", "see ulimit -u"),
        ("can't start new thread", "see ulimit -u"),
    ],
)
def test_what_stands_in_the_way_of_a_box_is_explained(said: str, advice: str) -> None:
    """Its last line, with what is to be done."""
    told = bubblewrap.complaint(f"warning\nbwrap: {said}\n")
    assert told.startswith(f"{said} (")
    assert advice in told
