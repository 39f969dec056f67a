"""A forge: repositories of git, served over HTTPS by git itself, and odd servers beside them."""

from __future__ import annotations

import base64
import os
import subprocess
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

BOT = "print('ready first')\n"
TOKEN = "read-only"


def git(folder: Path, *words: str, **more: Any) -> str:
    """Runs git as somebody without settings of their own."""
    who = {
        f"GIT_{role}_{key}": "ada" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", **who},
        capture_output=True,
        text=True,
        check=True,
        **more,
    )
    return done.stdout.strip()


def repository(folder: Path, *options: str) -> Path:
    """A repository with two commits of a bot, the first one tagged in both ways."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main", *options)
    (folder / "bot.py").write_text(BOT)
    (folder / "other").mkdir()
    (folder / "other" / "main.py").write_text(BOT)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    git(folder, "tag", "v1")
    git(folder, "tag", "-m", "the first", "release-1")
    commit(folder, "two\n\nand more words", bot=BOT * 2)
    return folder


def commit(folder: Path, message: str, bot: str = "", **files: str) -> str:
    """Commits files, and gives the commit's name."""
    for name, text in {**({"bot.py": bot} if bot else {}), **files}.items():
        (folder / name).write_text(text)
    git(folder, "add", "--all", ".")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


class Forge(BaseHTTPRequestHandler):
    """Serves the repositories of a folder; below ``/private`` to who shows the token."""

    root: ClassVar[Path]
    asked: ClassVar[list[str]] = []
    """The paths that were asked for."""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.asked.append(self.path)
        odd = getattr(self, f"_{self.path.split('/')[1].partition('?')[0]}", None)
        if odd is not None and not (odd == self._private and self._is_open()):
            odd()
            return
        self._by_git()

    do_POST = do_GET

    def _is_open(self) -> bool:
        user, _, token = (
            base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic "))
            .decode()
            .partition(":")
        )
        return token == TOKEN and bool(user)

    def _by_git(self) -> None:
        path, _, query = self.path.partition("?")
        length = int(self.headers.get("Content-Length") or 0)
        done = subprocess.run(
            ["git", "http-backend"],
            env={
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(self.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
            },
            input=self.rfile.read(length),
            capture_output=True,
            check=False,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in {**headers, "Transfer-Encoding": "chunked"}.items():
            self.send_header(name, value)
        self.end_headers()
        for begin in range(0, len(body), 1000):
            piece = body[begin : begin + 1000]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _private(self) -> None:
        self._answer(401, b"", **{"WWW-Authenticate": 'Basic realm="forge"'})

    def _inward(self) -> None:
        self._answer(302, b"", Location="https://127.0.0.1:1/secret.git/info/refs?service=x")

    def _broken(self) -> None:
        self._answer(502)

    def _busy(self) -> None:
        self._answer(429)

    def _page(self) -> None:
        self._answer(200, b"<html>", **{"Content-Type": "text/html"})

    def _hangs(self) -> None:
        time.sleep(5)
        self.close_connection = True

    def _said(self, *lines: bytes) -> None:
        kind = "application/x-git-upload-pack-advertisement"
        self._answer(200, b"".join(lines), **{"Content-Type": kind})

    def _old(self) -> None:
        self._said(b"001e# service=git-upload-pack\n", b"0000", b"000d" + b"0" * 9, b"0000")

    def _garbage(self) -> None:
        self._said(b"0005x\xff\xff\xff\xff")

    def _curses(self) -> None:
        self._said(b"0019ERR \x1b[31mgo away\r\nnow")

    def _bomb(self) -> None:
        """A pack that does not end; with branches that don't, it is a crowd."""
        if self.command == "GET":
            self._said(b"000eversion 2\n", b"0000")
            return
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        line = b"a" * 40 + b" refs/heads/main\n"
        packet = b"%04x%s" % (len(line) + 4, line)
        if b"ls-refs" not in asked:
            self.wfile.write(b"000dpackfile\n")
            packet = b"%04x\x01" % 65520 + bytes(65515)
        elif not self.path.startswith("/crowd/"):
            self.wfile.write(packet + b"0000")
            return
        else:
            line = line.removesuffix(b"\n") + b"x" * 60_000
            packet = b"%04x%s" % (len(line) + 4, line)
        try:
            for _ in range(10_000):
                self.wfile.write(packet)
        except OSError:
            return

    _crowd = _bomb

    def log_message(self, *_: Any) -> None:
        pass
