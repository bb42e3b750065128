"""A sign-in provider (OpenID Connect): where it sends people, and what it says of who comes back.

Its configuration and keys are read once and kept; keys are read again for a name that is not known, at most once in
KEYS_AGAIN_S. Invariant: nothing is believed that is not signed by one of its keys, with an asymmetric algorithm, for
this client, for this sign-in, now. Secrets are sent to no address but its own, and never logged.
"""

import asyncio
import os
import ssl
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from trainmaster.core.config import OidcConfig
from trainmaster.core.errors import ProblemList, Unauthenticated, Unavailable
from trainmaster.messages.said import Said
from trainmaster.messages.server import settings as saying
from trainmaster.messages.server import sign_in
from trainmaster.service.people.flows import FlowSecrets
from trainmaster.service.people.sign_in_settings import usable

if TYPE_CHECKING:
    import httpx
    from joserfc.jwt import Token

ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "Ed25519",
    "EdDSA",
)
"""How a proof may be signed: never by a secret that both know, and never by nothing."""
_BASIC: Final = "client_secret_basic"
KEPT_S: Final = 3600.0
KEYS_AGAIN_S: Final = 60.0
TIMEOUT_S: Final = 10.0
LARGEST: Final = 2**20
LEEWAY_S: Final = 60
CONFIGURATION: Final = "/.well-known/openid-configuration"
Answered = Mapping[str, object]
"""What the provider answers, or its proof says: any of it may be missing, or not what it has to be."""


@dataclass(frozen=True, slots=True)
class Proven:
    """Who came back, as the provider says it."""

    issuer: str
    subject: str
    name: str
    groups: frozenset[str]


@dataclass(frozen=True, slots=True)
class ComesBack:
    """What a browser brings from the provider. `issuer`: see RFC 9207; "" where the provider does not say it."""

    code: str
    state: str
    issuer: str = ""


@dataclass(frozen=True, slots=True)
class _Configuration:
    """What the provider says of itself, as far as it was looked at. `userinfo_endpoint` "": there is none that can be
    used; `names_itself`: who comes back brings its issuer (RFC 9207); `ways`: how a client may prove who it is.
    """

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str
    names_itself: bool
    ways: Collection[object]
    algorithms: Collection[str]


def client_secret(settings: OidcConfig, home: str) -> str:
    """Return the secret by which the provider knows this server, "" for a public client. Raises InvalidSpec."""
    problems = ProblemList()
    try:
        if settings.client_secret_env:
            secret = os.environ.get(settings.client_secret_env, "").strip()
            if not secret:
                raise ValueError(f"${settings.client_secret_env} is not set")
            return secret
        if settings.client_secret_file:
            with open(os.path.join(home, settings.client_secret_file), encoding="utf-8") as file:
                secret = file.read(LARGEST).strip()
            if not secret or "\n" in secret:
                raise ValueError(f"{settings.client_secret_file} does not hold one line")
            return secret
    except (OSError, ValueError) as error:
        key = "client_secret_env" if settings.client_secret_env else "client_secret_file"
        problems.add(f"sign_in.oidc.{key}", sign_in.no_client_secret(str(error)))
    problems.raise_if_any(saying.config_not_valid)
    return ""


def trusted(settings: OidcConfig, home: str) -> ssl.SSLContext:
    """Return by which certificates the provider is known. Raises InvalidSpec."""
    try:
        return ssl.create_default_context(cafile=os.path.join(home, settings.ca_file) if settings.ca_file else None)
    except OSError as error:
        problems = ProblemList()
        problems.add("sign_in.oidc.ca_file", sign_in.no_certificates(str(error)), value=settings.ca_file)
        problems.raise_if_any(saying.config_not_valid)
        raise


class Provider:
    """One per server, where one is set up. `clock` returns seconds since the epoch."""

    def __init__(self, settings: OidcConfig, home: str, clock: Callable[[], float] = time.time) -> None:
        """Raise InvalidSpec where its secret or certificates cannot be read."""
        self.settings = settings
        self._secret = client_secret(settings, home)
        self._trusted = trusted(settings, home)
        self._clock = clock
        self._kept: dict[str, tuple[float, Answered]] = {}
        self._keys_at = 0.0

    @property
    def label(self) -> str:
        """What people call it."""
        return self.settings.label or urlsplit(self.settings.issuer).hostname or self.settings.issuer

    async def address(self, page: str, flow: FlowSecrets) -> str:
        """Return where a browser is sent, that comes back to `page`. Raises Unavailable."""
        from authlib.oauth2.rfc6749.parameters import prepare_grant_uri  # noqa: PLC0415 - only who has a provider
        from authlib.oauth2.rfc7636 import create_s256_code_challenge  # noqa: PLC0415

        found: str = prepare_grant_uri(
            (await self._configuration()).authorization_endpoint,
            client_id=self.settings.client_id,
            response_type="code",
            redirect_uri=page,
            scope=" ".join(self.settings.scopes),
            state=flow.state,
            nonce=flow.nonce,
            code_challenge=create_s256_code_challenge(flow.verifier),
            code_challenge_method="S256",
        )
        return found

    async def proven(self, page: str, back: ComesBack, flow: FlowSecrets) -> Proven:
        """Return who came back to `page`. Raises Unauthenticated for whatever is not proven, Unavailable."""
        configuration = await self._configuration()
        if (back.issuer or configuration.names_itself) and back.issuer != self.settings.issuer:
            raise _not_completed(sign_in.issuer_differs())
        async with self._client() as client:
            tokens = await self._tokens(client, configuration, page, back.code, flow.verifier)
            claims = await self._claims(configuration, tokens, flow.nonce)
            subject = claims.get("sub")
            if not isinstance(subject, str):
                raise _not_completed(sign_in.proof_not_valid("sub"))
            needed = (self.settings.name_claim, self.settings.groups_claim)
            if any(name not in claims for name in needed):
                claims = {**await self._told(client, configuration, tokens, subject), **claims}
        groups = claims.get(self.settings.groups_claim, ())
        groups = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        name = claims.get(self.settings.name_claim)
        named = frozenset(group for group in groups if isinstance(group, str))
        return Proven(self.settings.issuer, subject, name if isinstance(name, str) else "", named)

    # ------------------------------------------------------------------------------------------------------- asking

    def _client(self) -> "httpx.AsyncClient":
        import httpx  # noqa: PLC0415 - it costs memory

        return httpx.AsyncClient(verify=self._trusted, timeout=TIMEOUT_S, follow_redirects=False)

    async def _configuration(self) -> _Configuration:
        """Return what the provider says of itself. Raises Unavailable."""
        issuer = self.settings.issuer
        found = await self._read(issuer.removesuffix("/") + CONFIGURATION)
        if found.get("issuer") != issuer:
            raise self._unusable(sign_in.provider_is_another(str(found.get("issuer"))[:200], issuer))
        ways = found.get("token_endpoint_auth_methods_supported")
        algorithms = found.get("id_token_signing_alg_values_supported")
        return _Configuration(
            authorization_endpoint=self._needed(found, "authorization_endpoint"),
            token_endpoint=self._needed(found, "token_endpoint"),
            jwks_uri=self._needed(found, "jwks_uri"),
            userinfo_endpoint=_address(found, "userinfo_endpoint"),
            names_itself=found.get("authorization_response_iss_parameter_supported") is True,
            ways=ways if ways and isinstance(ways, list | str) else [_BASIC],
            algorithms=[one for one in ALGORITHMS if not isinstance(algorithms, list) or one in algorithms],
        )

    def _needed(self, found: Answered, field: str) -> str:
        address = _address(found, field)
        if not address:
            raise self._unusable(sign_in.provider_lacks(field))
        return address

    async def _read(self, address: str, again: bool = False) -> Answered:
        now = time.monotonic()
        kept = self._kept.get(address)
        if kept is not None and now - kept[0] < KEPT_S and not again:
            return kept[1]
        async with self._client() as client:
            found = await self._ask(client, "GET", address)
        self._kept[address] = (now, found)
        return found

    async def _ask(self, client: "httpx.AsyncClient", method: str, address: str, **how: Any) -> Answered:
        """Return the object that the provider answers. Raises Unavailable; Unauthenticated where it refuses a code."""
        import httpx  # noqa: PLC0415
        import msgspec  # noqa: PLC0415

        what = urlsplit(address).path
        try:
            async with asyncio.timeout(TIMEOUT_S), client.stream(method, address, **how) as answer:
                body = b""
                async for piece in answer.aiter_bytes():
                    body += piece
                    if len(body) > LARGEST:
                        raise self._unusable(sign_in.provider_unreadable(what))
        except (httpx.HTTPError, OSError, TimeoutError) as error:
            raise self._unusable(sign_in.provider_silent(type(error).__name__)) from error
        try:
            found = msgspec.json.decode(body)
        except msgspec.DecodeError:
            found = None
        if method == "POST" and answer.status_code in (400, 401) and isinstance(found, dict):
            raise _not_completed(sign_in.code_refused(_short(found.get("error"))))
        if answer.status_code != 200:
            raise self._unusable(sign_in.provider_refuses(what, answer.status_code))
        if not isinstance(found, dict):
            raise self._unusable(sign_in.provider_unreadable(what))
        return found

    async def _tokens(
        self, client: "httpx.AsyncClient", configuration: _Configuration, page: str, code: str, verifier: str
    ) -> Answered:
        from authlib.oauth2.auth import ClientAuth  # noqa: PLC0415
        from authlib.oauth2.rfc6749.parameters import prepare_token_request  # noqa: PLC0415

        way = _BASIC if self._secret else "none"
        if self._secret and _BASIC not in configuration.ways and "client_secret_post" in configuration.ways:
            way = "client_secret_post"
        body = prepare_token_request("authorization_code", code=code, redirect_uri=page, code_verifier=verifier)
        headers = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded"}
        auth = ClientAuth(self.settings.client_id, self._secret, way)
        address, headers, body = auth.prepare("POST", configuration.token_endpoint, headers, body)
        return await self._ask(client, "POST", address, headers=headers, content=body)

    async def _told(
        self, client: "httpx.AsyncClient", configuration: _Configuration, tokens: Answered, subject: str
    ) -> Answered:
        """Return what else the provider tells of who came, {} where it tells nothing."""
        address, token = configuration.userinfo_endpoint, tokens.get("access_token")
        if not address or not isinstance(token, str):
            return {}
        found = await self._ask(client, "GET", address, headers={"authorization": f"Bearer {token}"})
        if found.get("sub") != subject:  # OpenID Connect Core 1.0, 5.3.2: it may be another's
            raise _not_completed(sign_in.proof_not_valid("sub"))
        return found

    # ------------------------------------------------------------------------------------------------------ judging

    async def _claims(self, configuration: _Configuration, tokens: Answered, nonce: str) -> Answered:
        """Return what the provider's proof says. Raises Unauthenticated (OpenID Connect Core 1.0, 3.1.3.7)."""
        from authlib.oidc.core import CodeIDToken  # noqa: PLC0415
        from joserfc.errors import InvalidKeyIdError, JoseError  # noqa: PLC0415

        text = tokens.get("id_token")
        if not isinstance(text, str) or not text.isascii():
            raise _not_completed(sign_in.proof_not_valid("id_token"))
        address, algorithms = configuration.jwks_uri, configuration.algorithms
        try:
            try:
                token = self._verified(text, await self._read(address), algorithms)
            except (InvalidKeyIdError, ValueError):  # the provider may have new keys
                token = self._verified(text, await self._new_keys(address), algorithms)
            wanted = {
                "iss": {"essential": True, "value": self.settings.issuer},
                "aud": {"essential": True, "value": self.settings.client_id},
                "sub": {"essential": True},
                "nonce": {"essential": True, "value": nonce},
            }
            known = {"nonce": nonce, "client_id": self.settings.client_id, "access_token": tokens.get("access_token")}
            claims = CodeIDToken(token.claims, token.header, wanted, known)
            claims.validate(now=int(self._clock()), leeway=LEEWAY_S)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise _not_completed(sign_in.proof_not_valid(_short(getattr(error, "claim", "") or error))) from error
        return dict(claims)

    @staticmethod
    def _verified(text: str, keys: Answered, allowed: Collection[str]) -> "Token":
        from joserfc import jwt  # noqa: PLC0415
        from joserfc.jwk import KeySet  # noqa: PLC0415
        from joserfc.jws import JWSRegistry  # noqa: PLC0415

        told = keys.get("keys")
        known = [key for key in told if isinstance(key, dict)] if isinstance(told, list) else []
        listed = [key for key in known if key.get("use", "sig") == "sig"]
        asymmetric = [key for key in listed if key.get("kty") in ("RSA", "EC", "OKP")]
        if not asymmetric or not allowed:
            raise ValueError("no key that can be used")
        registry = JWSRegistry(algorithms=allowed, strict_check_header=False)
        return jwt.decode(text, KeySet.import_key_set({"keys": asymmetric}), registry=registry)

    async def _new_keys(self, address: str) -> Answered:
        now = time.monotonic()
        again = self._keys_at == 0.0 or now - self._keys_at > KEYS_AGAIN_S
        if again:
            self._keys_at = now
        return await self._read(address, again)

    def _unusable(self, why: Said) -> Unavailable:
        return Unavailable(sign_in.provider_not_usable(self.settings.issuer, why))


def _address(found: Answered, field: str) -> str:
    """Return where the provider says that something of it is, "" where that cannot be used."""
    address = found.get(field)
    return address if isinstance(address, str) and usable(address) else ""


def _not_completed(why: Said) -> Unauthenticated:
    return Unauthenticated(sign_in.sign_in_not_completed(why))


def _short(error: object) -> str:
    """Return what a provider or a library calls a mistake, without what does not belong on a page."""
    return "".join(c for c in str(error) if c.isprintable())[:100] or "?"
