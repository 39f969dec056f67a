"""Servers that tests send to: one of hooks, by TLS with a certificate of our own, as it behaves."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult


def make_certificate(folder: Path, name: str) -> Path:
    """A certificate for a name that signs itself, with its key beside it in the same file."""
    file = folder / f"{name}.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *(
                "-nodes",
                "-days",
                "1",
                "-subj",
                f"/CN={name}",
                "-addext",
                f"subjectAltName=DNS:{name}",
            ),
            *("-keyout", folder / f"{name}.key", "-out", file),
        ],
        check=True,
        capture_output=True,
    )
    file.write_bytes(file.read_bytes() + (folder / f"{name}.key").read_bytes())
    return file


@dataclass
class Receiver:
    """A server of hooks, which answers as it is told to, and what it was sent."""

    port: int = 0
    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    answer: bytes = b""
    behaves: str = "answers"
    """``answers``, ``hangs``, ``resets``, or ``drips`` a byte now and then."""
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    """The path, the headers and the body of each message."""
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}/hook?of=ada"


@contextmanager
def receiver(certificate: Path) -> Iterator[Receiver]:
    """A server that runs for a while."""
    its = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            its.got.append((self.path, dict(self.headers), body))
            if its.behaves == "hangs":
                its.over.wait(30)
                return
            if its.behaves == "resets":
                # With this a close is a reset.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                socket.socket.close(self.connection)
                return
            if its.behaves == "drips":
                line = b"HTTP/1.1 200 OK\r\nX-Slow: " + b"y" * 1000
                for sign in line:
                    if its.over.wait(0.05):
                        return
                    self.connection.sendall(bytes([sign]))
                return
            self.send_response(its.status)
            for name, value in its.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(its.answer)))
            self.end_headers()
            self.wfile.write(its.answer)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: Any) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        its.port = server.server_address[1]
        serving = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        serving.start()
        try:
            yield its
        finally:
            its.over.set()
            server.shutdown()
            serving.join()


def waited_for(what: Any, seconds: float = 5.0) -> bool:
    """Whether something came to be within some seconds."""
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


class Mailbox:
    """What a mail server was sent, and how it answers."""

    def __init__(self) -> None:
        self.letters: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self.answers: dict[str, str] = {}
        """What a recipient is refused with, by the address."""
        self.breaks_at: str | None = None
        """A recipient at which the connection is dropped."""

    async def handle_RCPT(
        self, server: Any, _session: Any, envelope: Any, address: str, _options: Any
    ) -> str:
        if address == self.breaks_at:
            server.transport.abort()
        if address in self.answers:
            return self.answers[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        self.letters.append(message_from_bytes(envelope.content, EmailMessage, policy=default))
        self.recipients.append(envelope.rcpt_tos)
        return "250 OK"


@contextmanager
def mail_server(box: Mailbox, certificate: Path | None = None) -> Iterator[int]:
    """A mail server that runs for a while, at a port; with a certificate it asks for STARTTLS, and
    for the password ``a/b@c`` of ``ada``.
    """
    more: dict[str, Any] = {}
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)

        def known(_server: Any, _session: Any, _envelope: Any, _way: Any, login: Any) -> AuthResult:
            return AuthResult(success=(login.login, login.password) == (b"ada", b"a/b@c"))

        more = {"tls_context": context, "require_starttls": True, "authenticator": known}
        more |= {"auth_required": True}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serving = Controller(box, hostname="127.0.0.1", port=port, **more)
    serving.start()
    try:
        yield port
    finally:
        serving.stop()
