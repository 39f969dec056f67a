"""Downloads leave their places however they end."""

from __future__ import annotations

import pytest
from flask import Flask
from werkzeug.exceptions import TooManyRequests

from arena.web.downloads import EACH, Download


@pytest.mark.parametrize("given_up", [False, True])
def test_a_place_comes_free(given_up: bool) -> None:
    """Also if an error is answered instead, so that no server ever closes what was begun."""
    with Flask(__name__).test_request_context(environ_base={"REMOTE_ADDR": "192.0.2.7"}):
        held = [Download(iter((b"part", b"part"))) for _ in range(EACH)]
        with pytest.raises(TooManyRequests):
            Download(iter(()))
        if given_up:
            held.pop()
        else:
            assert [*held[0]] == [b"part", b"part"]
        held.append(Download(iter(())))
        with pytest.raises(TooManyRequests):
            Download(iter(()))
        for download in held:
            download.close()
