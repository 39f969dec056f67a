"""A provider of sign-ins on this machine: OpenID Connect and GitHub's OAuth, by Authlib's server.

Authlib proves what a client sends (secret, redirect address, PKCE, that each code is used once);
whoever asks is signed in already, as `Provider.user`. What it says of them can be made wrong.
"""

from __future__ import annotations

import base64
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import OpenIDCode
from flask import Flask, Response, abort, jsonify, request
from joserfc import jwt
from joserfc.jwk import RSAKey
from werkzeug.serving import make_server

CLIENT_ID, CLIENT_SECRET = "arena", "a secret of the arena"
Claims = dict[str, Any]


@cache
def _keys() -> tuple[RSAKey, ...]:
    """The provider's and another, made once: each takes as long as a test."""
    return tuple(RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}) for _ in range(2))


@dataclass
class Client(ClientMixin):
    """This arena, as the provider knows it."""

    redirects: set[str]

    def get_client_id(self) -> str:
        return CLIENT_ID

    def get_allowed_scope(self, scope: str) -> str:
        return scope or ""

    def check_redirect_uri(self, address: str) -> bool:
        return address in self.redirects

    def check_client_secret(self, secret: str) -> bool:
        return secrets.compare_digest(secret, CLIENT_SECRET)

    def check_endpoint_auth_method(self, method: str, _: str) -> bool:
        return method in ("client_secret_basic", "client_secret_post")

    def check_response_type(self, kind: str) -> bool:
        return kind == "code"

    def check_grant_type(self, kind: str) -> bool:
        return kind == "authorization_code"


@dataclass
class Code(AuthorizationCodeMixin):
    """A code that was given to a browser."""

    code: str
    redirect: str
    scope: str
    nonce: str
    code_challenge: str
    code_challenge_method: str

    def get_redirect_uri(self) -> str:
        return self.redirect

    def get_scope(self) -> str:
        return self.scope


@dataclass
class Provider:
    """What the provider says, which a test may change."""

    address: str = ""
    user: Claims = field(default_factory=lambda: {"sub": "17", "preferred_username": "ada.l"})
    github: Claims = field(default_factory=lambda: {"id": 17, "login": "ada-l"})
    claims: Callable[[Claims], Claims] = dict
    """Changes what is said in the ID token."""
    metadata: Claims = field(default_factory=dict)
    sign: str = ""
    """Signs in another way: ``other key``, ``none`` or ``HS256`` (with the public key)."""
    client: Client = field(default_factory=lambda: Client(set()))
    codes: dict[str, Code] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    asked: list[Claims] = field(default_factory=list)
    """What browsers were sent with."""

    def __post_init__(self) -> None:
        self.key, self.other = _keys()

    def id_token(self, nonce: str) -> str:
        """What the arena is told of who signed in."""
        now = int(time.time())
        said = {"iss": self.address, "aud": CLIENT_ID, "iat": now, "exp": now + 300}
        claims = self.claims(said | {"nonce": nonce} | self.user)
        if self.sign in ("none", "HS256"):
            # No library makes these, so they are made by hand.
            head = f"{_packed({'alg': self.sign, 'kid': 'one'})}.{_packed(claims)}"
            shared = self.key.as_pem(private=False)
            made = hmac.digest(shared, head.encode(), "sha256") if self.sign == "HS256" else b""
            return f"{head}.{base64.urlsafe_b64encode(made).decode().rstrip('=')}"
        header = {"alg": "RS256", "kid": "one"}
        return jwt.encode(header, claims, self.other if self.sign == "other key" else self.key)


def _packed(what: Claims) -> str:
    return base64.urlsafe_b64encode(json.dumps(what).encode()).decode().rstrip("=")


def app_of(provider: Provider) -> Flask:
    """The provider as an application."""
    app = Flask("provider")

    class Grant(AuthorizationCodeGrant):
        """Codes are given, asked for once, and forgotten."""

        TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic", "client_secret_post")

        def save_authorization_code(self, code: str, asked: Any) -> Code:
            data = asked.payload.data
            kept = Code(
                code,
                asked.payload.redirect_uri,
                asked.payload.scope,
                data.get("nonce", ""),
                data.get("code_challenge", ""),
                data.get("code_challenge_method", ""),
            )
            provider.codes[code] = kept
            return kept

        def query_authorization_code(self, code: str, _: Client) -> Code | None:
            return provider.codes.get(code)

        def delete_authorization_code(self, code: Code) -> None:
            provider.codes.pop(code.code, None)

        def authenticate_user(self, _: Code) -> Any:
            return SimpleNamespace(id=1)

    class Saying(OpenIDCode):
        """Adds the ID token."""

        def exists_nonce(self, *_: Any) -> bool:
            return False

        def encode_id_token(self, _token: Claims, asked: Any) -> str:
            return provider.id_token(asked.authorization_code.nonce)

    server = AuthorizationServer(
        app,
        query_client=lambda name: provider.client if name == CLIENT_ID else None,
        save_token=lambda token, _: provider.tokens.add(token["access_token"]),
    )
    server.register_grant(Grant, [CodeChallenge(required=True), Saying(require_nonce=False)])

    @app.get("/.well-known/openid-configuration")
    def configuration() -> Response:
        said = {
            "issuer": provider.address,
            "authorization_endpoint": f"{provider.address}/authorize",
            "token_endpoint": f"{provider.address}/token",
            "jwks_uri": f"{provider.address}/keys",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
        }
        return jsonify(said | provider.metadata)

    @app.get("/keys")
    def keys() -> Response:
        return jsonify({"keys": [provider.key.as_dict(private=False)]})

    @app.get("/authorize")
    @app.get("/login/oauth/authorize")
    def authorize() -> Any:
        provider.asked.append(request.args.to_dict())
        grant = server.get_consent_grant(end_user=SimpleNamespace(id=1))
        return server.create_authorization_response(grant_user=SimpleNamespace(id=1), grant=grant)

    @app.post("/token")
    @app.post("/login/oauth/access_token")
    def token() -> Any:
        return server.create_token_response()

    @app.get("/api/v3/user")
    def user() -> Any:
        scheme, _, shown = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or shown not in provider.tokens:
            abort(401)
        return jsonify(provider.github)

    return app


@contextmanager
def running(redirects: set[str]) -> Iterator[Provider]:
    """A provider that listens, and lets browsers back to these addresses alone."""
    provider = Provider(client=Client(redirects))
    server = make_server("127.0.0.1", 0, app_of(provider), threaded=True)
    provider.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join(5)
        server.server_close()
