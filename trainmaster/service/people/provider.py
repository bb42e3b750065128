"""A sign-in provider (OpenID Connect): where it sends people, and what it says of who comes back.

Its configuration and keys are read once and kept; keys are read again for a name that is not known, at most once in
KEYS_AGAIN_S. Invariant: nothing is believed that is not signed by one of its keys, with an asymmetric algorithm, for
this client, for this sign-in, now. Secrets are sent to no address but its own, and never logged.
"""

import asyncio
import os
import ssl
import time
from collections.abc import Callable, Mapping
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
KEPT_S: Final = 3600.0
KEYS_AGAIN_S: Final = 60.0
TIMEOUT_S: Final = 10.0
LARGEST: Final = 2**20
LEEWAY_S: Final = 60
CONFIGURATION: Final = "/.well-known/openid-configuration"


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
        self._kept: dict[str, tuple[float, Mapping[str, Any]]] = {}
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
            (await self._configuration())["authorization_endpoint"],
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
        says_who = configuration.get("authorization_response_iss_parameter_supported") is True
        if (back.issuer or says_who) and back.issuer != self.settings.issuer:
            raise _not_completed(sign_in.issuer_differs())
        async with self._client() as client:
            tokens = await self._tokens(client, configuration, page, back.code, flow.verifier)
            claims = await self._claims(client, configuration, tokens, flow.nonce)
            needed = (self.settings.name_claim, self.settings.groups_claim)
            if any(name not in claims for name in needed):
                claims = {**await self._told(client, configuration, tokens, claims["sub"]), **claims}
        groups = claims.get(self.settings.groups_claim, ())
        groups = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        name = claims.get(self.settings.name_claim)
        named = frozenset(group for group in groups if isinstance(group, str))
        return Proven(self.settings.issuer, claims["sub"], name if isinstance(name, str) else "", named)

    # ------------------------------------------------------------------------------------------------------- asking

    def _client(self) -> "httpx.AsyncClient":
        import httpx  # noqa: PLC0415 - it costs memory

        return httpx.AsyncClient(verify=self._trusted, timeout=TIMEOUT_S, follow_redirects=False)

    async def _configuration(self) -> Mapping[str, Any]:
        """Return what the provider says of itself. Raises Unavailable."""
        issuer = self.settings.issuer
        found = await self._read(issuer.removesuffix("/") + CONFIGURATION)
        if found.get("issuer") != issuer:
            raise self._unusable(sign_in.provider_is_another(str(found.get("issuer"))[:200], issuer))
        for field in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not isinstance(found.get(field), str) or not usable(found[field]):
                raise self._unusable(sign_in.provider_lacks(field))
        return found

    async def _read(self, address: str, again: bool = False) -> Mapping[str, Any]:
        now = time.monotonic()
        kept = self._kept.get(address)
        if kept is not None and now - kept[0] < KEPT_S and not again:
            return kept[1]
        async with self._client() as client:
            found = await self._ask(client, "GET", address)
        self._kept[address] = (now, found)
        return found

    async def _ask(self, client: "httpx.AsyncClient", method: str, address: str, **how: Any) -> dict[str, Any]:
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
        self, client: "httpx.AsyncClient", configuration: Mapping[str, Any], page: str, code: str, verifier: str
    ) -> dict[str, Any]:
        from authlib.oauth2.auth import ClientAuth  # noqa: PLC0415
        from authlib.oauth2.rfc6749.parameters import prepare_token_request  # noqa: PLC0415

        known = configuration.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        way = "none" if not self._secret else "client_secret_basic"
        if self._secret and "client_secret_basic" not in known and "client_secret_post" in known:
            way = "client_secret_post"
        body = prepare_token_request("authorization_code", code=code, redirect_uri=page, code_verifier=verifier)
        headers = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded"}
        auth = ClientAuth(self.settings.client_id, self._secret, way)
        address, headers, body = auth.prepare("POST", configuration["token_endpoint"], headers, body)
        return await self._ask(client, "POST", address, headers=headers, content=body)

    async def _told(
        self, client: "httpx.AsyncClient", configuration: Mapping[str, Any], tokens: Mapping[str, Any], subject: str
    ) -> dict[str, Any]:
        """Return what else the provider tells of who came, {} where it tells nothing."""
        address, token = configuration.get("userinfo_endpoint"), tokens.get("access_token")
        if not isinstance(address, str) or not usable(address) or not isinstance(token, str):
            return {}
        found = await self._ask(client, "GET", address, headers={"authorization": f"Bearer {token}"})
        if found.get("sub") != subject:  # OpenID Connect Core 1.0, 5.3.2: it may be another's
            raise _not_completed(sign_in.proof_not_valid("sub"))
        return found

    # ------------------------------------------------------------------------------------------------------ judging

    async def _claims(
        self, client: "httpx.AsyncClient", configuration: Mapping[str, Any], tokens: Mapping[str, Any], nonce: str
    ) -> dict[str, Any]:
        """Return what the provider's proof says. Raises Unauthenticated (OpenID Connect Core 1.0, 3.1.3.7)."""
        from authlib.oidc.core import CodeIDToken  # noqa: PLC0415
        from joserfc.errors import InvalidKeyIdError, JoseError  # noqa: PLC0415

        text = tokens.get("id_token")
        if not isinstance(text, str) or not text.isascii():
            raise _not_completed(sign_in.proof_not_valid("id_token"))
        address = configuration["jwks_uri"]
        try:
            try:
                token = self._verified(text, await self._read(address), configuration)
            except (InvalidKeyIdError, ValueError):  # the provider may have new keys
                token = self._verified(text, await self._new_keys(address), configuration)
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
    def _verified(text: str, keys: Mapping[str, Any], configuration: Mapping[str, Any]) -> Any:
        from joserfc import jwt  # noqa: PLC0415
        from joserfc.jwk import KeySet  # noqa: PLC0415
        from joserfc.jws import JWSRegistry  # noqa: PLC0415

        said = configuration.get("id_token_signing_alg_values_supported")
        allowed = [one for one in ALGORITHMS if not isinstance(said, list) or one in said]
        listed = [key for key in keys.get("keys", ()) if isinstance(key, dict) and key.get("use", "sig") == "sig"]
        asymmetric = [key for key in listed if key.get("kty") in ("RSA", "EC", "OKP")]
        if not asymmetric or not allowed:
            raise ValueError("no key that can be used")
        registry = JWSRegistry(algorithms=allowed, strict_check_header=False)
        return jwt.decode(text, KeySet.import_key_set({"keys": asymmetric}), registry=registry)

    async def _new_keys(self, address: str) -> Mapping[str, Any]:
        now = time.monotonic()
        again = self._keys_at == 0.0 or now - self._keys_at > KEYS_AGAIN_S
        if again:
            self._keys_at = now
        return await self._read(address, again)

    def _unusable(self, why: Said) -> Unavailable:
        return Unavailable(sign_in.provider_not_usable(self.settings.issuer, why))


def _not_completed(why: Said) -> Unauthenticated:
    return Unauthenticated(sign_in.sign_in_not_completed(why))


def _short(error: object) -> str:
    """Return what a provider or a library calls a mistake, without what does not belong on a page."""
    return "".join(c for c in str(error) if c.isprintable())[:100] or "?"
