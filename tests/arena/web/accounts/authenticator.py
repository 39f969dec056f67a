"""An authenticator (WebAuthn) without a browser: it makes one passkey and answers by it.

What it signs can be made wrong in each of its parts.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import bytes_to_base64url

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


@dataclass
class Authenticator:
    """A passkey of one person at one site."""

    site: str = "localhost"
    origin: str = "http://localhost"
    counter: int = 0
    flags: int = PRESENT | VERIFIED
    credential: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def __post_init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())

    def _client_data(self, kind: str, challenge: str) -> bytes:
        said = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(said).encode()

    def _data(self, flags: int) -> bytes:
        return (
            hashlib.sha256(self.site.encode()).digest()
            + bytes([flags])
            + self.counter.to_bytes(4, "big")
        )

    def make(self, asked: dict[str, Any]) -> str:
        """The passkey, as `navigator.credentials.create` answers what a page asked."""
        point = self.key.public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (point.x, point.y))
        public = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})
        its = len(self.credential).to_bytes(2, "big") + self.credential + public
        data = self._data(self.flags | ATTESTED) + bytes(16) + its
        attested = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._answer(
            clientDataJSON=self._client_data("webauthn.create", asked["challenge"]),
            attestationObject=attested,
        )

    def answer(self, asked: dict[str, Any]) -> str:
        """What `navigator.credentials.get` answers."""
        client = self._client_data("webauthn.get", asked["challenge"])
        data = self._data(self.flags)
        signed = data + hashlib.sha256(client).digest()
        signature = self.key.sign(signed, ec.ECDSA(hashes.SHA256()))
        return self._answer(clientDataJSON=client, authenticatorData=data, signature=signature)

    def _answer(self, **response: bytes) -> str:
        name = bytes_to_base64url(self.credential)
        parts = {key: bytes_to_base64url(value) for key, value in response.items()}
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": parts})
