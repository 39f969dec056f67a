"""Reading hand-ins that do not want to be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.courses import prints, reading, similarity
from arena.courses.prints import TOO_LARGE, TOO_LONG, TOO_MANY, UNKNOWN, found_in
from arena.courses.reading import BROKEN_OFF, read_code
from arena.courses.similarity import MOST_BYTES


def test_each_has_its_own_process(tmp_path: Path) -> None:
    """What one ends in is no other's."""
    good, gone = tmp_path / "good", tmp_path / "gone"
    good.mkdir()
    (good / "bot.py").write_text("\n".join(f"a{n} = b[{n}] + c * {n}" for n in range(30)))
    (good / "long.py").write_text("x\n" * MOST_BYTES)
    (good / "data.bin").write_bytes(bytes(100))
    gone.write_text("no bundle at all")
    one, two, three = read_code([good, gone, good])
    assert one == three
    assert one["files"] == ["bot.py"]
    assert one["unread"] == []
    assert len(one["prints"]) > 5
    assert two["unread"] == [["", BROKEN_OFF]]


def test_no_encoding_and_no_name_hides_a_program() -> None:
    """What Python reads in another encoding is read; of what has no known language it is said."""
    text = "\n".join(f"a{n} = b[{n}] + c * {n}" for n in range(30))
    foreign = f"# -*- coding: latin-1 -*-\n# caf\xe9\n{text}".encode("latin-1")
    plain = text.encode()
    files = {"bot.py": foreign, "core.dat": plain, "note.txt": b"too short to be one", "run": plain}
    found = found_in({name: (len(content), content) for name, content in files.items()})
    assert found["files"] == ["bot.py"]
    alone = found_in({"bot.py": (len(plain), plain)})
    assert [one[0] for one in found["prints"]] == [one[0] for one in alone["prints"]]
    assert found["unread"] == [["core.dat", UNKNOWN], ["run", UNKNOWN]]


def test_all_files_of_a_hand_in_share_its_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has 300, in lines of ten: half of the second is read, and nothing of the third."""
    content = "\n".join(f"a{n} = b[{n}] + c * {n}" for n in range(30)).encode()
    monkeypatch.setattr(similarity, "MOST_TOKENS", 450)
    found = found_in({name: (len(content), content) for name in ("a.py", "b.py", "c.py")})
    assert found["files"] == ["a.py", "b.py"]
    assert found["unread"] == [["b.py", TOO_MANY], ["c.py", TOO_MANY]]
    assert max(last for _, file, _, last in found["prints"] if file == 1) == 15


def test_a_file_has_its_time_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    import signal

    before = signal.signal(signal.SIGPROF, prints._break_off)
    try:
        monkeypatch.setattr(prints, "FILE_SECONDS", 0.01)
        slow = b"x = 1 + y\n" * 20_000
        found = found_in({"slow.py": (len(slow), slow), "large.py": (MOST_BYTES + 1, b"x")})
        assert found["unread"] == [["large.py", TOO_LARGE], ["slow.py", TOO_LONG]]
        assert found["files"] == []
    finally:
        signal.signal(signal.SIGPROF, before)
    assert reading.SAMPLES.is_dir()
