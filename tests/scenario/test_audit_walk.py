"""Every change that the API can make leaves an entry in the audit, with who, how and from where: each route that is no
GET, as it is found in the router, is used with success once. A new route is told here how to, or why it need not be.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import httpx
import pytest

from tests.fixtures.algorithms import made_algorithm
from tests.fixtures.api_contract import BASE
from tests.fixtures.images import stored_image
from tests.fixtures.kept_models import stored_model
from tests.fixtures.uploads import begun, sent, uploaded
from tests.fixtures.volumes import filled
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.answers import AuditEventView
from trainmaster.api.app import create_app
from trainmaster.api.policy import PREFIX, PolicyRoute, PolicySocket
from trainmaster.core.cluster import Workspace
from trainmaster.core.sending import SendState, SendTarget
from trainmaster.service.environments.definition import Definition
from trainmaster.service.notices.kinds import Wishes
from trainmaster.service.people.public_keys import read
from trainmaster.service.use_cases.assets.images import WantedImage
from trainmaster.service.use_cases.assets.templates import WantedTemplate
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.service.use_cases.people.credentials import WantedToken
from trainmaster.store.assets.bin import BinQuery
from trainmaster.store.assets.versions import AssetKind

ADDRESS: Final = "192.0.2.77"
KEY: Final = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f ann@laptop"
GOOD: Final = "correct horse battery"
READS: Final = frozenset({"GET", "HEAD"})

UNTOLD: Final = {
    "POST /notifications/read": "changes what one has seen oneself, and nothing else",
    "POST /notifications/address": "needs a mail server: tests/scenario/test_notices.py",
    "POST /notifications/address/confirm": "likewise",
    "POST /workspaces/{workspace}/storage/{connection}/check": "changes nothing: looks, and removes what it tried with",
    "POST /jobs/preview": "changes nothing: says what a submit would do",
    "POST /sweeps/preview": "changes nothing: says what a submit would do",
    "POST /queue/policy/simulate": "changes nothing: runs the past again",
    "POST /queue/would-start": "changes nothing: asks the plan",
    "POST /session/ticket": "lasts 30 seconds in memory and opens what its session may read",
    "PUT /jobs/{ref}/favorite": "a person's own mark, which nobody else sees",
    "DELETE /jobs/{ref}/favorite": "the same",
    **{
        f"{method} /{kind}s/{{ref}}/favorite": "likewise"
        for method in ("PUT", "DELETE")
        for kind in ("dataset", "volume", "algorithm", "image", "template", "model")
    },
    "PUT /views/{name}": "a person's own view of a list, which changes nothing of what it lists",
    "DELETE /views/{name}": "the same",
    "POST /invitations/look": "changes nothing: says what a link is to",
    "POST /invitations/accept": "told of who comes: tests/unit/api/test_invitations.py",
    "POST /session/provider": "changes nothing: says where a browser goes",
    "POST /session/provider/back": "told of who comes: tests/oidc/test_forged.py",
    "PUT /users/{user}/identity": "needs a provider; told: tests/oidc/test_forged.py",
    "DELETE /users/{user}/identity": "likewise",
    "POST /datasets/uploads": "begins what its commit tells",
    "POST /datasets/uploads/{upload}/contents": "sends bytes of it",
    "PUT /datasets/uploads/{upload}/contents/{sha256}": "likewise",
    "DELETE /datasets/uploads/{upload}": "removes what became nothing",
    "PUT /volumes/{ref}/files/content": "a job writes as many files as it likes, and nobody tells of those either",
    "POST /volumes/{ref}/folders": "the same",
    "POST /uploads": "stores bytes under their own digest; the submit that uses them is told",
}
"""Routes that leave no entry, and why."""

SOCKETS: Final = {
    "/jobs/{ref}/exec": "told before the shell opens: tests/unit/api/test_entering.py",
}
"""Sockets that change something, and what shows that it is told."""


@dataclass
class Scene:
    """The platform, a client with the local token, and what earlier deeds left for later ones."""

    stage: Stage
    http: httpx.AsyncClient
    left: dict[str, Any] = field(default_factory=dict)

    async def entries(self) -> list[AuditEventView]:
        return (await self.stage.platform.auditing.page(ADMIN, AuditFilters(), 500)).items

    async def job(self, command: str = "sleep infinity", **fields: Any) -> str:
        return await self.stage.submit(fake_spec("walked", command, **fields))

    async def over(self) -> str:
        job = await self.job("exit 3")
        await self.stage.ended(job)
        return job

    async def held(self) -> str:
        job = await self.job("exit 7", debug_hold=600)
        await self.stage.state(job, "retained")
        return job

    async def not_uploaded(self) -> str:
        """A job of whose outputs something could not be uploaded."""
        job = await self.over()
        seq = self.stage.platform.context.records.get_job(job).seq
        place = SendTarget(job, seq, 0, "default", "data/x", "outputs", "keep", state=SendState.FAILED, open=False)
        self.stage.platform.context.sending.rows.add([place])
        return job

    def keys(self) -> dict[str, str]:
        return {"cookie": f"tm_session={self.left['cookie']}", "x-session-key": self.left["key"]}


Ask = Callable[[Scene], Awaitable[tuple[str, dict[str, Any]]]]
"""Makes what a request needs; returns its address and what httpx is given besides."""


def plain(path: str, body: Any = None) -> Ask:
    async def ask(_: Scene) -> tuple[str, dict[str, Any]]:
        return path, {} if body is None else {"json": body}

    return ask


def of_job(after: str, make: Callable[[Scene], Awaitable[str]], body: Any = None) -> Ask:
    async def ask(scene: Scene) -> tuple[str, dict[str, Any]]:
        return f"/jobs/{await make(scene)}{after}", {} if body is None else {"json": body}

    return ask


def of_several(after: str, make: Callable[[Scene], Awaitable[str]], **body: Any) -> Ask:
    async def ask(scene: Scene) -> tuple[str, dict[str, Any]]:
        return f"/jobs/{after}", {"json": {"ids": [await make(scene)], **body}}

    return ask


async def _sign_in(scene: Scene) -> tuple[str, dict[str, Any]]:
    password = scene.stage.platform.people.one_time_password
    return "/session", {"json": {"username": "admin", "password": password}, "headers": {"authorization": ""}}


async def _password(scene: Scene) -> tuple[str, dict[str, Any]]:
    password = scene.stage.platform.people.one_time_password
    return "/session/password", {"json": {"old": password, "new": GOOD}, "headers": _only(scene)}


async def _sign_out(scene: Scene) -> tuple[str, dict[str, Any]]:
    return "/session", {"headers": _only(scene)}


async def _token(scene: Scene) -> tuple[str, dict[str, Any]]:
    return f"/tokens/{scene.left['token']}", {}


async def _session(scene: Scene) -> tuple[str, dict[str, Any]]:
    await scene.stage.platform.people.sign_in("admin", GOOD, "192.0.2.1")
    [one] = (await scene.stage.platform.credentials.sessions(ADMIN, "")).items
    return f"/sessions/{one.id}", {}


def of_webhook(after: str, body: Any = None) -> Ask:
    async def ask(scene: Scene) -> tuple[str, dict[str, Any]]:
        [one] = (await scene.stage.platform.webhooks.all(ADMIN)).items
        return f"/webhooks/{one.id}{after}", {} if body is None else {"json": body}

    return ask


def of_template(after: str, body: Any = None) -> Ask:
    async def ask(scene: Scene) -> tuple[str, dict[str, Any]]:
        wanted = WantedTemplate(f"t{len(scene.left)}", {"spec": fake_spec("walked", "true")})
        made = await scene.stage.platform.templates.create(ADMIN, wanted)
        scene.left[made.id] = made
        return f"/templates/{made.id}{after}", {} if body is None else {"json": body}

    return ask


def of_dataset(after: str, body: Any = None) -> Ask:
    async def ask(scene: Scene) -> tuple[str, dict[str, Any]]:
        made = await uploaded(scene.stage.platform, ADMIN, f"d{len(scene.left)}", {"a": b"a"})
        scene.left[made.dataset] = made
        return f"/datasets/{made.dataset}{after}", {} if body is None else {"json": body}

    return ask


def of_offered(path: str, body: Any = None) -> Ask:
    """Of a data set that is offered to everybody, and that the workspace `taking` takes in."""

    async def ask(scene: Scene) -> tuple[str, dict[str, Any]]:
        platform = scene.stage.platform
        made = await uploaded(platform, ADMIN, f"d{len(scene.left)}", {"a": b"a"})
        scene.left[made.dataset] = made
        await platform.administer.put_workspace(Workspace("taking"), ADMIN)
        await platform.subscribing.offer(AssetKind.DATASET, made.dataset, "*", ADMIN)
        name = f"taken{len(scene.left)}"
        await platform.subscribing.subscribe(AssetKind.DATASET, "taking", name, made.dataset, ADMIN)
        return path.format(id=made.dataset, name=name), {} if body is None else {"json": {"asset": made.dataset}}

    return ask


def withdrawn(kind: str, offered: Ask) -> Ask:
    """Of something of a kind that is offered to everybody; `offered`: asks for that."""

    async def ask(scene: Scene) -> tuple[str, dict[str, Any]]:
        address, more = await offered(scene)
        await scene.stage.platform.subscribing.offer(AssetKind(kind[:-1]), address.split("/")[2], "*", ADMIN)
        return address, more

    return ask


async def _restore(scene: Scene) -> tuple[str, dict[str, Any]]:
    return f"/bin/{await _deleted(scene)}/restore", {"json": {}}


async def _remove(scene: Scene) -> tuple[str, dict[str, Any]]:
    return "/bin/remove", {"json": {"ids": [await _deleted(scene)]}}


async def _deleted(scene: Scene) -> str:
    made = await uploaded(scene.stage.platform, ADMIN, f"d{len(scene.left)}", {"a": b"a"})
    scene.left[made.dataset] = made
    await scene.stage.platform.datasets.delete(made.dataset, ADMIN)
    return (await scene.stage.platform.bin.page(ADMIN, BinQuery(), 1)).items[0].id


def of_model(after: str) -> Ask:
    async def ask(scene: Scene) -> tuple[str, dict[str, Any]]:
        name = f"m{len(scene.left)}"
        scene.left[name] = stored_model(scene.stage.platform, "admin", name)
        return f"/models/{scene.left[name]}{after}", {}

    return ask


def of_volume(after: str, body: Any = None) -> Ask:
    async def ask(scene: Scene) -> tuple[str, dict[str, Any]]:
        made = await filled(scene.stage.platform, ADMIN, f"v{len(scene.left)}", {"a": b"a"})
        scene.left[made.id] = made
        return f"/volumes/{made.id}{after}", {} if body is None else {"json": body}

    return ask


def of_algorithm(after: str, body: Any = None) -> Ask:
    async def ask(scene: Scene) -> tuple[str, dict[str, Any]]:
        made = await made_algorithm(scene.stage.platform, ADMIN, f"a{len(scene.left)}")
        scene.left[made] = made
        return f"/algorithms/{made}{after}", {} if body is None else {"json": body}

    return ask


async def _commit(scene: Scene) -> tuple[str, dict[str, Any]]:
    upload = await begun(scene.stage.platform, ADMIN, "walked", {"a": b"a"})
    await sent(scene.stage.platform, ADMIN, upload, {"a": b"a"})
    return f"/datasets/uploads/{upload.id}/commit", {}


async def _templates(scene: Scene) -> tuple[str, dict[str, Any]]:
    address, _ = await of_template("")(scene)
    return "/templates/delete", {"json": {"ids": [address.rpartition("/")[2]]}}


def of_image(after: str, body: Any = None) -> Ask:
    async def ask(scene: Scene) -> tuple[str, dict[str, Any]]:
        image = scene.left["image"] = stored_image(scene.stage.platform, "admin", f"walked-{len(scene.left)}")
        return f"/images/{image}{after}", {} if body is None else {"json": body}

    return ask


def of_sweep(after: str, body: Any = None, ends: str = "") -> Ask:
    """A sweep of one entry; `ends`: the state that it is waited for in."""

    async def ask(scene: Scene) -> tuple[str, dict[str, Any]]:
        command = {"": "sleep infinity", "failed": "exit 3"}[ends]
        made, _ = await scene.stage.platform.sweeps.submit({"spec": swept("walked", command)}, ADMIN, None)
        [entry] = (await scene.stage.platform.sweeps.views.entries(made.id, ADMIN, "index", (), 9, 0)).items
        await (scene.stage.ended(entry.job) if ends else scene.stage.running(entry.job))
        return f"/sweeps/{made.id}{after}", {} if body is None else {"json": body}

    return ask


async def _build(scene: Scene) -> tuple[str, dict[str, Any]]:
    wanted = WantedImage("stopped", Definition({"requirements.txt": "# nothing\n"}))
    made = await scene.stage.platform.images.create(ADMIN, wanted)
    return f"/image-builds/{made.id}", {}


def swept(name: str, command: str = "true") -> dict[str, Any]:
    return {**fake_spec(name, command), "sweep": {"grid": {"lr": [1]}}}


async def _webhook(scene: Scene) -> tuple[str, dict[str, Any]]:
    """To where nobody listens, which is allowed here."""
    scene.stage.platform.context.notices.guard._allow.append(ip_network("127.0.0.0/8"))
    return "/webhooks", {"json": {"url": "https://127.0.0.1:9/hook"}}


async def _address(scene: Scene) -> tuple[str, dict[str, Any]]:
    settings = scene.stage.platform.context.notices.tables.settings
    settings.put("admin", Wishes(address="admin@example.org").to_json(), [])
    return "/notifications/address", {}


async def _pool(scene: Scene) -> tuple[str, dict[str, Any]]:
    await scene.stage.platform.administer.assign("n2", "default", ADMIN)
    return "/pools/lab", {}


async def _join(scene: Scene) -> tuple[str, dict[str, Any]]:
    made = await scene.stage.platform.inviting.make("vision", "member", 3600, ADMIN)
    return "/invitations/join", {"json": {"secret": made.link.partition("#")[2]}}


async def _invitation(scene: Scene) -> tuple[str, dict[str, Any]]:
    [one, *_] = (await scene.stage.platform.inviting.of("vision", ADMIN)).items
    return f"/workspaces/vision/invitations/{one.id}", {}


def _only(scene: Scene) -> dict[str, str]:
    return {"authorization": "", **scene.keys()}


CONNECTION: Final = {
    "endpoint": "https://s3.example.org",
    "bucket": "training",
    "key_id": "AKIDWALK",
    "secret": "never-to-be-seen",
}
JOB: Final = {"spec": fake_spec("walked", "true")}
DEEDS: Final[dict[str, Ask]] = {
    "POST /session": _sign_in,
    "POST /session/password": _password,
    "DELETE /session": _sign_out,
    "DELETE /sessions/{session_id}": _session,
    "POST /tokens": plain("/tokens", {"name": "ci"}),
    "DELETE /tokens/{token_id}": _token,
    "POST /users": plain("/users", {"name": "ann"}),
    "POST /users/{user}/password": plain("/users/ann/password"),
    "POST /users/{user}/lock": plain("/users/ann/lock", {}),
    "POST /users/{user}/unlock": plain("/users/ann/unlock"),
    "PUT /workspaces/{name}": plain("/workspaces/vision", {"weight": 2}),
    "PUT /workspaces/{name}/limits": plain("/workspaces/vision/limits", {"per_person": {"default": {"gpu": 2}}}),
    "PUT /workspaces/{workspace}/members/{user}": plain("/workspaces/vision/members/ann", {"role": "admin"}),
    "DELETE /workspaces/{workspace}/members/{user}": plain("/workspaces/vision/members/ann"),
    "POST /workspaces/{workspace}/invitations": plain("/workspaces/vision/invitations", {}),
    "POST /invitations/join": _join,
    "DELETE /workspaces/{workspace}/invitations/{invitation}": _invitation,
    "POST /ssh-keys": plain("/ssh-keys", {"key": KEY}),
    "DELETE /ssh-keys": plain(f"/ssh-keys?{urlencode({'fingerprint': read(KEY).fingerprint})}"),
    "PUT /workspaces/{workspace}/secrets/{secret}": plain("/workspaces/vision/secrets/TOKEN", {"value": "a value"}),
    "DELETE /workspaces/{workspace}/secrets/{secret}": plain("/workspaces/vision/secrets/TOKEN"),
    "PUT /workspaces/{workspace}/storage/{connection}": plain("/workspaces/vision/storage/data", CONNECTION),
    "DELETE /workspaces/{workspace}/storage/{connection}": plain("/workspaces/vision/storage/data"),
    "PUT /workspaces/{workspace}/flavors/{name}": plain("/workspaces/vision/flavors/one", {"cpu": 2}),
    "PUT /workspaces/{workspace}/budget": plain("/workspaces/vision/budget", {"budget": "100"}),
    "POST /workspaces/{workspace}/entries": plain("/workspaces/vision/entries", {"amount": "50"}),
    "DELETE /workspaces/{workspace}/flavors/{name}": plain("/workspaces/vision/flavors/one"),
    "DELETE /workspaces/{name}": plain("/workspaces/vision"),
    "DELETE /users/{user}": plain("/users/ann"),
    "PATCH /notifications/settings": plain("/notifications/settings", {"kinds": {"ended": {"console": False}}}),
    "DELETE /notifications/address": _address,
    "POST /webhooks": _webhook,
    "PATCH /webhooks/{webhook}": of_webhook("", {"on": False}),
    "POST /webhooks/{webhook}/test": of_webhook("/test"),
    "DELETE /webhooks/{webhook}": of_webhook(""),
    "PUT /pools/{name}": plain("/pools/lab", {}),
    "PUT /virtual-clusters/{name}": plain("/virtual-clusters/vc", {"pool": "lab"}),
    "DELETE /virtual-clusters/{name}": plain("/virtual-clusters/vc"),
    "PATCH /nodes/{name}": plain("/nodes/n2", {"pool": "lab"}),
    "POST /nodes/{name}/cordon": plain("/nodes/n2/cordon"),
    "POST /nodes/{name}/uncordon": plain("/nodes/n2/uncordon"),
    "POST /nodes/{name}/drain": plain("/nodes/n2/drain"),
    "DELETE /pools/{name}": _pool,
    "PUT /cluster/privacy": plain("/cluster/privacy", {"owners_told": False}),
    "PUT /queue/policy": plain("/queue/policy", {"values": {"age_cap_s": 60}}),
    "POST /templates": plain("/templates", {"name": "walked", "spec": fake_spec("walked", "true")}),
    "PATCH /templates/{ref}": of_template("", {"description": "for the walk"}),
    "PUT /templates/{ref}/share": of_template("/share", {"share": "read"}),
    "POST /templates/{ref}/copy": of_template("/copy", {}),
    "POST /templates/{ref}/submit": of_template("/submit", {}),
    "PUT /templates/{ref}/offers/{workspace}": of_template("/offers/*"),
    "DELETE /templates/{ref}/offers/{workspace}": withdrawn("templates", of_template("/offers/*")),
    "DELETE /templates/{ref}": of_template(""),
    "POST /templates/delete": _templates,
    "POST /images": plain("/images", {"name": "walked", "requirements": "# nothing\n"}),
    "DELETE /image-builds/{ref}": _build,
    "PATCH /images/{ref}": of_image("", {"description": "for the walk"}),
    "PUT /images/{ref}/share": of_image("/share", {"share": "read"}),
    "PUT /images/{ref}/offers/{workspace}": of_image("/offers/*"),
    "DELETE /images/{ref}/offers/{workspace}": withdrawn("images", of_image("/offers/*")),
    "DELETE /images/{ref}": of_image(""),
    "DELETE /images/{ref}/versions/{version}": of_image("/versions/1"),
    "DELETE /models/{ref}": of_model(""),
    "DELETE /models/{ref}/versions/{version}": of_model("/versions/1"),
    "POST /datasets/uploads/{upload}/commit": _commit,
    "PATCH /datasets/{ref}": of_dataset("", {"description": "for the walk"}),
    "PUT /datasets/{ref}/share": of_dataset("/share", {"share": "read"}),
    "PUT /datasets/{ref}/offers/{workspace}": of_dataset("/offers/*"),
    "DELETE /datasets/{ref}/offers/{workspace}": of_offered("/datasets/{id}/offers/*"),
    "PUT /workspaces/{workspace}/subscriptions/{kind}/{subscription}": of_offered(
        "/workspaces/taking/subscriptions/dataset/renamed", {"asset": "{id}"}
    ),
    "DELETE /workspaces/{workspace}/subscriptions/{kind}/{subscription}": of_offered(
        "/workspaces/taking/subscriptions/dataset/{name}"
    ),
    "DELETE /datasets/{ref}/versions/{version}": of_dataset("/versions/1"),
    "DELETE /datasets/{ref}": of_dataset(""),
    "POST /bin/{ref}/restore": _restore,
    "POST /bin/remove": _remove,
    "POST /volumes": plain("/volumes", {"name": "walked"}),
    "PATCH /volumes/{ref}": of_volume("", {"description": "for the walk"}),
    "PUT /volumes/{ref}/share": of_volume("/share", {"share": "read"}),
    "POST /volumes/{ref}/moves": of_volume("/moves", {"path": "a", "to": "b"}),
    "DELETE /volumes/{ref}/files": of_volume("/files?path=a"),
    "DELETE /volumes/{ref}": of_volume(""),
    "POST /algorithms": plain("/algorithms", {"name": "walked", "spec": {"command": "true"}}),
    "PATCH /algorithms/{ref}": of_algorithm("", {"description": "for the walk"}),
    "PUT /algorithms/{ref}/share": of_algorithm("/share", {"share": "read"}),
    "PUT /algorithms/{ref}/offers/{workspace}": of_algorithm("/offers/*"),
    "DELETE /algorithms/{ref}/offers/{workspace}": withdrawn("algorithms", of_algorithm("/offers/*")),
    "DELETE /algorithms/{ref}/versions/{version}": of_algorithm("/versions/1"),
    "DELETE /algorithms/{ref}": of_algorithm(""),
    "POST /sweeps": plain("/sweeps", {"spec": swept("walked")}),
    "POST /sweeps/{ref}/stop": of_sweep("/stop", {"reason": "walked by"}),
    "POST /sweeps/{ref}/retry": of_sweep("/retry", ends="failed"),
    "DELETE /sweeps/{ref}": of_sweep("", ends="failed"),
    "POST /jobs": plain("/jobs", JOB),
    "POST /jobs/batch": plain("/jobs/batch", {"items": [JOB, JOB]}),
    "POST /jobs/{ref}/clone": of_job("/clone", Scene.over),
    "PATCH /jobs/{ref}": of_job("", Scene.job, {"duration_s": 600}),
    "POST /jobs/change": of_several("change", Scene.job, priority="urgent"),
    "POST /jobs/{ref}/stop": of_job("/stop", Scene.job, {"reason": "walked by"}),
    "POST /jobs/stop": of_several("stop", Scene.job),
    "POST /jobs/{ref}/release": of_job("/release", Scene.held),
    "POST /jobs/{ref}/upload": of_job("/upload", Scene.not_uploaded),
    "PUT /jobs/{ref}/share": of_job("/share", Scene.over, {"share": "read"}),
    "PATCH /jobs/{ref}/tags": of_job("/tags", Scene.over, {"add": ["good"]}),
    "PUT /jobs/{ref}/note": of_job("/note", Scene.over, {"note": "worth a look"}),
    "POST /jobs/tags": of_several("tags", Scene.over, add=["good"]),
    "POST /jobs/share": of_several("share", Scene.over, share="read"),
    "DELETE /jobs/{ref}": of_job("", Scene.over),
    "POST /jobs/delete": of_several("delete", Scene.over),
}
"""Each is done once, in this order: what a later one needs an earlier one has left."""


def changing(app: Any) -> tuple[set[str], set[str]]:
    """Return every route that is no GET, and every socket."""
    routes, sockets = set(), set()
    for route in app.app.router.routes:
        path = route.path.removeprefix(PREFIX)
        if isinstance(route, PolicyRoute):
            routes |= {f"{method} {path}" for method in (route.methods or set()) - READS}
        elif isinstance(route, PolicySocket):
            sockets.add(path)
    return routes, sockets


async def test_every_change_over_the_api_is_told(fake: Stage) -> None:
    app = create_app(fake.platform)
    routes, sockets = changing(app)
    assert routes == DEEDS.keys() | UNTOLD.keys(), (
        "say in DEEDS how a new route is used with success, or in UNTOLD why it need not be told"
    )
    assert sockets == SOCKETS.keys()
    token = Path(fake.platform.layout.cli_token).read_text().strip()
    transport = httpx.ASGITransport(app, client=(ADDRESS, 1234))
    async with httpx.AsyncClient(
        transport=transport, base_url=BASE, headers={"authorization": f"Bearer {token}"}, timeout=60
    ) as http:
        scene = Scene(fake, http)
        for name, ask in DEEDS.items():
            address, more = await ask(scene)
            before = {one.id for one in await scene.entries()}
            answer = await http.request(name.partition(" ")[0], PREFIX + address, **more)
            assert answer.is_success, (name, answer.text)
            if name == "POST /session":
                scene.left |= {"cookie": answer.cookies["tm_session"], "key": answer.json()["key"]}
                http.cookies.clear()
            elif name == "POST /tokens":
                scene.left["token"] = answer.json()["id"]
            new = [one for one in await scene.entries() if one.id not in before]
            by_us = [one for one in new if one.actor.address == ADDRESS]
            assert by_us, f"{name} changed something and left no entry that names who did it from where: {new}"
            for one in by_us:
                assert (one.by, one.actor.kind) == ("admin", "person"), (name, one)
                assert GOOD not in str(one)
                assert token not in str(one)


async def test_a_tokens_deeds_name_the_token(fake: Stage) -> None:
    made = await fake.platform.credentials.create(ADMIN, WantedToken("ci"))
    transport = httpx.ASGITransport(create_app(fake.platform), client=(ADDRESS, 1234))
    headers = {"authorization": f"Bearer {made.token}"}
    async with httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers) as http:
        assert (await http.put(f"{PREFIX}/pools/lab", json={"description": "for all"})).is_success
    [told, *_] = (await fake.platform.auditing.page(ADMIN, AuditFilters(actor="token", subject="pool:lab"))).items
    assert (told.actor.kind, told.actor.through, told.actor.address) == ("token", made.id, ADDRESS)
    assert {(one.field, one.before, one.after) for one in told.changes} >= {("description", None, "for all")}
    assert made.token not in str(told)


@pytest.mark.parametrize("name", ["admin", "nobody", GOOD])
async def test_sign_ins_that_fail_are_told_but_never_what_was_typed(fake: Stage, name: str) -> None:
    """The first, second and fourth; a name that is no account's may be a password."""
    app = create_app(fake.platform)
    transport = httpx.ASGITransport(app, client=(ADDRESS, 1234))
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as http:
        for _ in range(5):
            answer = await http.post(f"{PREFIX}/session", json={"username": name, "password": "not this one"})
            assert answer.status_code == 401
    await fake.platform.credentials.create(ADMIN, WantedToken("behind them"))  # what was not waited for is written
    page = await fake.platform.auditing.page(ADMIN, AuditFilters("person"), 500)
    failed = [one for one in page.items if one.kind.startswith("sign_in_")]
    assert [one.args["count"] for one in failed] == [4, 2, 1]
    assert {(one.by, one.actor.address, one.subject.name) for one in failed} == {
        ("", ADDRESS, "admin" if name == "admin" else "")
    }
    assert "not this one" not in str(page)
    assert GOOD not in str(page)
