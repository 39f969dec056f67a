"""What tests of the sender share: a server of hooks that is trusted, and one of mail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.arena.sender.receivers import Receiver, make_certificate, receiver


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for localhost."""
    return make_certificate(tmp_path_factory.mktemp("certificates"), "localhost")


@pytest.fixture
def hooks_server(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A server whose certificate holds."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with receiver(certificate) as found:
        yield found
