"""What a provider, or whoever pretends to be one, says and is not believed: every answer that is forged, replayed or of
another is refused, and leaves neither an account nor a session.
"""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import RSAKey

from tests.fixtures.audited import audit_event
from tests.oidc.conftest import PAGE, Serving
from tests.oidc.provided import Liar
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.store.people.accounts import PeopleRows, User

ADMIN = Principal("admin", "admin")
Claims = dict[str, Any]


async def begun(http: httpx.AsyncClient) -> tuple[str, dict[str, str]]:
    """Begin; return the flow and what the provider is asked."""
    answer = await http.post("/session/provider")
    assert answer.status_code == 201, answer.text
    address = urlsplit(answer.json()["address"])
    return answer.json()["flow"], {key: values[0] for key, values in parse_qs(address.query).items()}


def claims_of(liar: Liar, asked: dict[str, str], **other: Any) -> Claims:
    now = int(time.time())
    good = {"iss": liar.issuer, "aud": "trainmaster", "sub": "1", "iat": now, "exp": now + 60, "nonce": asked["nonce"]}
    return {**good, "preferred_username": "ann", "groups": ["lab"], **other}


async def back(http: httpx.AsyncClient, flow: str, state: str, **more: Any) -> httpx.Response:
    return await http.post("/session/provider/back", json={"code": "c", "state": state, "flow": flow, **more})


def nobody_came(platform: Any) -> bool:
    return [user.name for user in PeopleRows(platform.database).users()] == ["admin"]


async def test_what_is_asked_of_the_provider(serving: Serving, liar: Liar) -> None:
    """RFC 7636, OpenID Connect Core 3.1.2.1: PKCE, state and nonce, new each time, and the page to come back to."""
    async with serving(liar.issuer) as (_, http):
        _, asked = await begun(http)
        _, again = await begun(http)
        fixed = {"response_type": "code", "client_id": "trainmaster", "redirect_uri": PAGE}
        assert {**asked, **fixed, "code_challenge_method": "S256", "scope": "openid profile email"} == asked
        assert all(asked[one] != again[one] and len(asked[one]) >= 43 for one in ("state", "nonce", "code_challenge"))
        assert liar.asked == ["/.well-known/openid-configuration"], "it is read once"


async def test_a_good_answer_is_good_once(serving: Serving, liar: Liar) -> None:
    async with serving(liar.issuer, everybody="default:member") as (platform, http):
        flow, asked = await begun(http)
        liar.tokens = {"access_token": "a", "id_token": liar.proof(claims_of(liar, asked))}
        came = await back(http, flow, asked["state"])
        assert came.status_code == 201, came.text
        assert came.json()["user"]["name"] == "ann"
        assert "tm_session" in came.cookies
        replayed = await back(http, flow, asked["state"])
        assert (replayed.status_code, replayed.json()["code"]) == (401, "sign_in_not_completed")
        other_flow, other = await begun(http)  # the same proof in another sign-in
        assert (await back(http, other_flow, other["state"])).status_code == 401
        assert len((await platform.credentials.sessions(Principal("ann"), "")).items) == 1


Forge = Callable[[Liar, Claims], Any]


def with_secret(claims: Claims, secret: bytes) -> str:
    """Return a token signed by a secret that everybody can read."""
    parts = (json.dumps({"alg": "HS256", "kid": "one"}).encode(), json.dumps(claims).encode())
    text = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    mark = base64.urlsafe_b64encode(hmac.new(secret, text, hashlib.sha256).digest()).rstrip(b"=")
    return (text + b"." + mark).decode()


EVIL = RSAKey.generate_key(2048, {"kid": "one"}, private=True)
FORGED: dict[str, Forge] = {
    "another nonce": lambda liar, good: liar.proof({**good, "nonce": "x" * 43}),
    "no nonce": lambda liar, good: liar.proof({k: v for k, v in good.items() if k != "nonce"}),
    "another issuer": lambda liar, good: liar.proof({**good, "iss": "https://evil.example"}),
    "no issuer": lambda liar, good: liar.proof({k: v for k, v in good.items() if k != "iss"}),
    "another audience": lambda liar, good: liar.proof({**good, "aud": "somebody"}),
    "two audiences, issued to the other": lambda liar, good: liar.proof(
        {**good, "aud": ["trainmaster", "evil"], "azp": "evil"}
    ),
    "two audiences, issued to nobody": lambda liar, good: liar.proof({**good, "aud": ["trainmaster", "evil"]}),
    "no audience": lambda liar, good: liar.proof({k: v for k, v in good.items() if k != "aud"}),
    "no subject": lambda liar, good: liar.proof({k: v for k, v in good.items() if k != "sub"}),
    "an empty subject": lambda liar, good: liar.proof({**good, "sub": ""}),
    "a subject that is no text": lambda liar, good: liar.proof({**good, "sub": 1}),
    "expired": lambda liar, good: liar.proof({**good, "exp": int(time.time()) - 120}),
    "without an end": lambda liar, good: liar.proof({k: v for k, v in good.items() if k != "exp"}),
    "from the future": lambda liar, good: liar.proof({**good, "iat": int(time.time()) + 600}),
    "not signed": lambda liar, good: liar.proof(good, alg="none"),
    "signed by another key of the same name": lambda liar, good: liar.proof(good, EVIL),
    "signed by a key that nobody knows": lambda liar, good: liar.proof(good, EVIL, kid="two"),
    "signed with the public key as a secret": lambda liar, good: with_secret(good, liar.key.as_pem(private=False)),
    "changed after it was signed": lambda liar, good: ".".join(
        [
            *liar.proof(good).split(".")[:1],
            liar.proof({**good, "sub": "2"}).split(".")[1],
            liar.proof(good).split(".")[2],
        ]
    ),
    "cut off": lambda liar, good: liar.proof(good)[:-20],
    "no token": lambda liar, good: "",
    "no text": lambda liar, good: 7,
}


@pytest.mark.parametrize("what", FORGED)
@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
async def test_a_forged_proof_is_refused(serving: Serving, liar: Liar, what: str) -> None:
    async with serving(liar.issuer, everybody="default:member") as (platform, http):
        flow, asked = await begun(http)
        liar.tokens = {"access_token": "a", "id_token": FORGED[what](liar, claims_of(liar, asked))}
        refused = await back(http, flow, asked["state"])
        assert (refused.status_code, refused.json()["code"]) == (401, "sign_in_not_completed"), refused.text
        assert "tm_session" not in refused.cookies
        assert nobody_came(platform)


async def test_an_answer_of_another_sign_in_is_refused(serving: Serving, liar: Liar) -> None:
    """State (RFC 6749, 10.12), the page that began, and the provider (RFC 9207)."""
    async with serving(liar.issuer, everybody="default:member") as (platform, http):
        flow, asked = await begun(http)
        _, other = await begun(http)
        liar.tokens = {"access_token": "a", "id_token": liar.proof(claims_of(liar, asked))}
        assert (await back(http, flow, other["state"])).status_code == 401
        assert (await back(http, "made.up.flow", asked["state"])).status_code == 401
        assert (await back(http, flow[:-1] + ("A" if flow[-1] != "A" else "B"), asked["state"])).status_code == 401
        assert (await back(http, flow, asked["state"], iss="https://evil.example")).status_code == 401
        elsewhere = {"origin": "https://127.0.0.1:8470", "host": "127.0.0.1:8470"}
        moved = {"code": "c", "state": asked["state"], "flow": flow}
        assert (await http.post("/session/provider/back", json=moved, headers=elsewhere)).status_code == 401
        assert "/token" not in liar.asked, "the provider is not even asked"
        clock = platform.context.clock
        platform.context.clock = lambda: clock() + 601
        assert (await back(http, flow, asked["state"])).status_code == 401
        platform.context.clock = clock
        assert (await back(http, flow, asked["state"], iss=liar.issuer)).status_code == 201


async def test_what_else_the_provider_tells_must_be_of_the_same_person(serving: Serving, liar: Liar) -> None:
    """OpenID Connect Core 1.0, 5.3.2."""
    async with serving(liar.issuer, everybody="default:member") as (platform, http):
        for subject, status in (("2", 401), ("1", 201)):
            flow, asked = await begun(http)
            claims = {k: v for k, v in claims_of(liar, asked).items() if k not in ("preferred_username", "groups")}
            liar.tokens = {"access_token": "a", "id_token": liar.proof(claims)}
            liar.told = {"sub": subject, "preferred_username": "ann", "iss": "https://evil.example"}
            assert (await back(http, flow, asked["state"])).status_code == status
            assert nobody_came(platform) == (status == 401)


async def test_a_name_that_is_somebodys_is_never_taken_for_them(serving: Serving, liar: Liar) -> None:
    """Same name, same e-mail address: it is another until an administrator says so."""
    async with serving(liar.issuer, everybody="default:member", name_claim="email") as (platform, http):
        rows = PeopleRows(platform.database)
        rows.add_user(User("ann", "", "user", must_change_password=True), audit_event())
        for name, code in (("Ann@example.org", "name_of_another"), ("安", "name_not_usable"), ("", "claim_missing")):
            flow, asked = await begun(http)
            liar.tokens = {"id_token": liar.proof(claims_of(liar, asked, email=name, email_verified=True))}
            refused = await back(http, flow, asked["state"])
            assert (refused.status_code in (403, 409), refused.json()["code"]) == (True, code)
            assert "claim" in refused.text or "tm user link" in refused.json()["remedy"]
        await platform.sign_ins.link("ann", "1", ADMIN)
        with pytest.raises(Conflict):
            await platform.sign_ins.link("admin", "1", ADMIN)
        flow, asked = await begun(http)
        liar.tokens = {"id_token": liar.proof(claims_of(liar, asked, email="other@example.org"))}
        came = await back(http, flow, asked["state"])
        assert (came.json()["user"]["name"], came.json()["user"]["must_change_password"]) == ("ann", False)
        assert (await platform.sign_ins.identity("ann", ADMIN)).subject == "1"
        await platform.sign_ins.unlink("ann", ADMIN)
        with pytest.raises(NotFound):
            await platform.sign_ins.identity("ann", ADMIN)
        assert (await platform.credentials.sessions(Principal("ann"), "")).items == []
        kinds = {one.kind for one in (await platform.auditing.page(ADMIN, AuditFilters(), 100)).items}
        assert {"user_linked", "user_unlinked", "signed_in_through"} <= kinds


async def test_who_is_locked_or_in_no_group_stays_out(serving: Serving, liar: Liar) -> None:
    async with serving(liar.issuer, groups={"lab": "vision:member"}) as (platform, http):
        await platform.administer.put_workspace(Workspace("vision"), ADMIN)

        async def comes(**claims: Any) -> httpx.Response:
            flow, asked = await begun(http)
            liar.tokens = {"id_token": liar.proof(claims_of(liar, asked, **claims))}
            return await back(http, flow, asked["state"])

        assert (await comes(groups=["others"])).json()["code"] == "no_group"
        assert nobody_came(platform)
        assert (await comes()).status_code == 201
        PeopleRows(platform.database).set_state("ann", "locked", audit_event())
        assert (await comes()).json()["code"] == "account_locked"
        PeopleRows(platform.database).set_state("ann", "active", audit_event())
        assert (await comes(groups=[])).json()["code"] == "no_group"
        person = PeopleRows(platform.database).person("ann")
        assert person is not None
        assert person.members == ()


async def test_an_invitation_lets_in_who_is_in_no_group(serving: Serving, liar: Liar) -> None:
    async with serving(liar.issuer, password=False) as (platform, http):
        await platform.administer.put_workspace(Workspace("vision"), ADMIN)
        secret = (await platform.inviting.make("vision", "member", 3600, ADMIN)).link.partition("#")[2]
        off = await http.post(
            "/invitations/accept", json={"secret": secret, "name": "ann", "password": "correct horse"}
        )
        assert (off.status_code, off.json()["code"]) == (403, "password_off")
        for invitation, status in ((None, 403), ("guessed", 404), (secret, 201), (secret, 201)):
            flow, asked = await begun(http)
            liar.tokens = {"id_token": liar.proof(claims_of(liar, asked, groups=[]))}
            came = await back(http, flow, asked["state"], invitation=invitation)
            assert came.status_code == status, came.text
        assert came.json()["user"]["workspaces"] == [{"workspace": "vision", "role": "member"}]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"issuer": "https://evil.example"}, 503),
        ({"token_endpoint": "http://evil.example/token"}, 503),
        ({"jwks_uri": None}, 503),
        ({"authorization_endpoint": "javascript:alert(1)"}, 503),
    ],
)
async def test_a_configuration_that_is_not_the_providers_own_is_not_used(
    serving: Serving, liar: Liar, change: dict[str, Any], code: int
) -> None:
    liar.configuration |= change
    async with serving(liar.issuer) as (_, http):
        refused = await http.post("/session/provider")
        assert (refused.status_code, refused.json()["code"]) == (code, "provider_not_usable")


async def test_a_provider_that_does_not_answer_is_said_to(serving: Serving, liar: Liar) -> None:
    async with serving("http://127.0.0.1:9") as (_, http):
        refused = await http.post("/session/provider")
        assert (refused.status_code, "127.0.0.1:9" in refused.json()["title"]) == (503, True)
    liar.configuration = b"x" * (2**20 + 1)
    async with serving(liar.issuer) as (_, http):
        assert (await http.post("/session/provider")).status_code == 503


async def test_new_keys_of_the_provider_are_found(serving: Serving, liar: Liar) -> None:
    async with serving(liar.issuer, everybody="default:member") as (_, http):
        for kid in ("one", "new"):
            liar.key = RSAKey.generate_key(2048, {"kid": kid, "use": "sig"}, private=True)
            liar.keys = {"keys": [liar.key.as_dict(private=False)]}
            flow, asked = await begun(http)
            liar.tokens = {"id_token": liar.proof(claims_of(liar, asked), kid=kid)}
            assert (await back(http, flow, asked["state"])).status_code == 201
        assert liar.asked.count("/keys") == 2


async def test_the_password_form_can_be_switched_off(serving: Serving, liar: Liar) -> None:
    async with serving(liar.issuer, password=False, label="Lab ID") as (platform, http):
        ways = (await http.get("/session/ways")).json()
        assert ways == {"password": False, "provider": {"label": "Lab ID"}, "first": False}
        body = {"username": "admin", "password": platform.people.one_time_password}
        refused = await http.post("/session", json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "password_off")
        local = open(platform.layout.cli_token).read().strip()  # noqa: SIM115 - a test
        by_local = await http.get("/users", headers={"authorization": f"Bearer {local}"})
        assert by_local.status_code == 200, "the server's own machine stays open"


async def test_who_is_deleted_gets_nothing_from_their_groups(serving: Serving, liar: Liar) -> None:
    """The provider goes on to send them; they are not in any list of members again."""
    async with serving(liar.issuer, everybody="default:member") as (platform, http):

        async def comes() -> httpx.Response:
            flow, asked = await begun(http)
            liar.tokens = {"id_token": liar.proof(claims_of(liar, asked))}
            return await back(http, flow, asked["state"])

        assert (await comes()).status_code == 201
        await platform.accounts.delete("ann", ADMIN, None)
        assert (await comes()).json()["code"] == "account_locked"
        assert "ann" not in [one.user for one in (await platform.members.of("default", ADMIN)).items]
        kinds = [one.kind for one in (await platform.auditing.page(ADMIN, AuditFilters(subject="workspace"))).items]
        assert kinds.count("group_gave") == 1
