"""Secrets of a workspace, from who sets one to a job that prints it (B12): their values are in no answer, no file and
no command line.
"""

import asyncio
import contextlib
import gzip
import json
import tarfile
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.fixtures.api_contract import BASE
from tests.scenario.stage import ADMIN, Stage, fake_spec, spec
from trainmaster.access.roles import Principal
from trainmaster.answers import SecretView
from trainmaster.api.app import create_app
from trainmaster.api.policy import PREFIX, PolicyRoute
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import InvalidSpec, NotFound, TrainmasterError
from trainmaster.service.backup.making import make
from trainmaster.service.secrets.vault import KEYS
from trainmaster.service.use_cases.people.accounts import NewPerson
from trainmaster.service.use_cases.people.credentials import WantedToken
from trainmaster.service.use_cases.people.secrets import LARGEST

CANARY: Final = "canary-0f3b9e6d77"
ANN: Final = Principal("ann", memberships=(("vision", "member"),))
PRINTS: Final = 'echo "sign in with $TOKEN"; cat $TRAINMASTER_SECRETS_DIR/key; echo; '


async def test_a_job_has_its_secret_and_nothing_else_ever_shows_it(stage: Stage) -> None:
    app, platform = create_app(stage.platform), stage.platform
    made = await platform.secrets.put("default", "TOKEN", CANARY, ADMIN)
    assert (made.name, made.used_at) == ("TOKEN", None)
    job = await stage.submit(
        spec("uses", PRINTS + "sleep 2; exit 3", secrets=["TOKEN", {"name": "TOKEN", "file": "key"}], retries=0)
    )
    await stage.running(job, "sign in")
    assert CANARY.encode() not in await everything(app, stage.home, job)
    view = await stage.ended(job)
    assert stage.log(job) == "sign in with ***\n***\n"
    assert view.verdict is not None
    assert "***" in json.dumps([view.verdict.evidence])
    [one] = (await platform.secrets.of("default", ADMIN)).items
    assert one.used_at is not None
    assert CANARY.encode() not in await everything(app, stage.home, job)


async def everything(app: Any, home: Path, job: str) -> bytes:
    """Return all that the home, the machine's command lines, a backup and the answers of the server hold."""
    found = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(line.read_bytes())
    token = (home / "secrets" / "cli-token").read_text().strip()
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE, headers=headers) as client:
        for path in addresses(app, job):
            answer = await client.get(path)
            found.append(answer.content)
        document = json.loads((await client.get(f"/api/v1/jobs/{job}/spec?format=json")).content)
        found.append((await client.post("/api/v1/jobs/preview", json={"spec": document})).content)
        found.append((await client.post(f"/api/v1/jobs/{job}/clone", json={"submit": False})).content)
    return b"\n".join(found)


def addresses(app: Any, job: str) -> list[str]:
    """Return the address of every GET route that a job, or nothing, is enough for."""
    known = {"ref": job, "number": "1", "task": "task0-0", "workspace": "default", "name": "node-1", "user": "admin"}
    found = []
    for route in app.app.router.routes:
        if isinstance(route, PolicyRoute) and "GET" in (route.methods or ()) and route.path.startswith(PREFIX):
            with contextlib.suppress(KeyError):
                path = route.path.format_map(known)
                if not path.endswith(("/feed", "/follow")):
                    asks = {"search": "q=canary", "content": "path=outputs", "download": "path=outputs"}
                    found.append(path + "?" + asks.get(path.rpartition("/")[2], ""))
    return found


async def test_a_search_in_the_log_finds_no_value(stage: Stage) -> None:
    app = create_app(stage.platform)
    await stage.platform.secrets.put("default", "TOKEN", CANARY, ADMIN)
    job = await stage.submit(spec("uses", 'echo "is $TOKEN"', secrets=["TOKEN"]))
    await stage.ended(job)
    token = (stage.home / "secrets" / "cli-token").read_text().strip()
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE, headers=headers) as client:
        place = f"/api/v1/jobs/{job}/attempts/1/tasks/task0-0/log/search"
        assert (await client.get(place, params={"q": CANARY})).json()["items"] == []
        assert len((await client.get(place, params={"q": "***"})).json()["items"]) == 1


async def test_a_secret_that_is_deleted_before_the_start_fails_the_job_in_words(stage: Stage) -> None:
    await stage.platform.secrets.put("default", "TOKEN", CANARY, ADMIN)
    await stage.platform.secrets.put("default", "KEY", CANARY, ADMIN)
    first = await stage.submit(spec("holds", "sleep 60", resources={"cpu": 4.0}))
    second = await stage.submit(spec("holds", "sleep 60", resources={"cpu": 4.0}))
    waits = await stage.submit(spec("waits", "echo $TOKEN", resources={"cpu": 4.0}, secrets=["TOKEN", "KEY"]))
    await stage.running(first), await stage.running(second)
    await stage.platform.secrets.drop("default", "TOKEN", ADMIN)
    await stage.platform.stop(first, ADMIN)
    view = await stage.ended(waits)
    assert view.state == "failed"
    assert view.verdict is not None
    assert "There is no secret TOKEN in workspace default" in view.verdict.message.en
    assert "KEY" not in view.verdict.message.en


async def test_what_was_changed_since_the_submit_is_what_the_next_attempt_is_given(stage: Stage) -> None:
    await stage.platform.secrets.put("default", "TOKEN", "value-number-one", ADMIN)
    waits = 'while [ ! -e "$TRAINMASTER_OUTPUT_DIR/go" ]; do sleep 0.05; done'
    text = f"echo ${{#TOKEN}}; {waits}; test ${{#TOKEN}} -lt 10"
    job = await stage.submit(spec("again", text, secrets=["TOKEN"], retries=1))
    await stage.running(job, "16")
    await stage.platform.secrets.put("default", "TOKEN", "second", ADMIN)
    stage.output(job, "go").write_text("")
    await stage.ended(job)
    assert stage.log(job, attempt=2) == "6\n"


async def test_a_server_that_starts_anew_gives_them_to_what_waited(stage: Stage) -> None:
    await stage.platform.secrets.put("default", "TOKEN", CANARY, ADMIN)
    blocks = [await stage.submit(spec("holds", "sleep 60", resources={"cpu": 4.0})) for _ in range(2)]
    waits = await stage.submit(spec("waits", "echo is $TOKEN", resources={"cpu": 4.0}, secrets=["TOKEN"]))
    await asyncio.gather(*(stage.running(job) for job in blocks))
    await stage.restart()
    await stage.platform.stop(blocks[0], ADMIN)
    assert (await stage.ended(waits)).state == "succeeded"
    assert stage.log(waits) == "is ***\n"


# ------------------------------------------------------------------------------------------------------------ refusals


async def refused(stage: Stage, document: dict[str, Any], who: Principal = ADMIN) -> dict[str, str]:
    """Return path -> code of what is wrong with a submission."""
    with pytest.raises(InvalidSpec) as error:
        await stage.platform.submit({"spec": document}, who, None)
    preview = await stage.platform.preview({"spec": document}, who)
    found = {one.path: one.code for one in error.value.problems}
    assert found == {one.path: one.code for one in preview.problems}, "a preview finds what a submit does"
    return found


async def test_a_secret_of_another_workspace_is_one_that_does_not_exist(stage: Stage) -> None:
    for name in ("vision", "speech"):
        await stage.platform.administer.put_workspace(Workspace(name), ADMIN)
    await stage.platform.secrets.put("speech", "THEIRS", CANARY, ADMIN)
    document = spec("wants", secrets=["THEIRS", "NOWHERE"], workspace="vision")
    found = await refused(stage, document, ANN)
    assert found == {"secrets.0.name": "unknown_secret", "secrets.1.name": "unknown_secret"}
    document["workspace"] = "speech"
    assert await refused(stage, document, ANN) == {"workspace": "not_in_workspace"}, "nothing of its secrets"
    for place in ("speech", "nowhere"):
        with pytest.raises(NotFound):
            await stage.platform.secrets.of(place, ANN)
        with pytest.raises(NotFound):
            await stage.platform.secrets.put(place, "THEIRS", "another value", ANN)
        with pytest.raises(NotFound):
            await stage.platform.secrets.drop(place, "THEIRS", ANN)


async def test_all_that_is_wrong_is_told_at_once(stage: Stage) -> None:
    await stage.platform.secrets.put("default", "TOKEN", CANARY, ADMIN)
    document = spec(
        "wrong",
        env={"TOKEN": "x"},
        secrets=[
            "TOKEN",
            {"name": "TOKEN", "env": "PAI_TASK"},
            {"name": "TOKEN", "file": "a"},
            {"name": "TOKEN", "file": "a"},
            {"name": "TOKEN", "env": "USED"},
            {"name": "TOKEN", "env": "USED"},
        ],
    )
    document["roles"][0]["command"] = "python train.py --key=$USED ${TOKEN}"
    assert await refused(stage, document) == {
        "secrets.0.name": "variable_twice",
        "secrets.1.env": "reserved_env",
        "secrets.3.file": "duplicate_name",
        "secrets.5.env": "variable_twice",
        "roles.0.command": "secret_in_command",
    }
    wrong = spec("wrong", secrets=["a-b", {"name": "A", "file": "../x"}, 7])
    assert set(await refused(stage, wrong)) == {"secrets.0.name", "secrets.1.file", "secrets.2"}


async def test_an_engine_that_cannot_give_them_says_so_before_the_submit(fake: Stage) -> None:
    await fake.platform.secrets.put("default", "TOKEN", CANARY, ADMIN)
    assert await refused(fake, fake_spec("any", secrets=["TOKEN"])) == {"secrets": "secrets_not_carried"}


BAD: Final = {
    "short": ("TOKEN", "abc", "secret_too_short"),
    "blank": ("TOKEN", "  a \n ", "secret_too_short"),
    "large": ("TOKEN", "é" * (LARGEST // 2 + 1), "secret_too_long"),
    "null": ("TOKEN", "with\0null", "secret_not_text"),
    "half a pair": ("TOKEN", "with \ud800", "secret_not_text"),
    "name": ("1TOKEN", "a value", "bad_secret_name"),
    "path": ("A/B", "a value", "bad_secret_name"),
    "long name": ("A" * 256, "a value", "bad_secret_name"),
}


@pytest.mark.parametrize("case", BAD)
async def test_a_value_that_cannot_be_kept_is_refused_without_being_told(fake: Stage, case: str) -> None:
    name, value, code = BAD[case]
    with pytest.raises(InvalidSpec) as error:
        await fake.platform.secrets.put("default", name, value, ADMIN)
    assert [one.code for one in error.value.problems] == [code]
    assert all(one.value is None or one.path == "name" for one in error.value.problems)
    assert (await fake.platform.secrets.of("default", ADMIN)).items == []


# -------------------------------------------------------------------------------------------------------------- rights

ROLES: Final = {"owner": "owner", "leader": "admin", "member": "member", "viewer": "viewer"}
SETS, SEES, NOTHING, HIDDEN = (200, 200, 204), (200, 403, 403), (403, 403, 403), (404, 404, 404)
MAY: Final = {
    "admin": SETS,
    "owner": SETS,
    "leader": SETS,
    "member": SEES,
    "viewer": NOTHING,
    "stranger": HIDDEN,
}
"""What listing, setting and deleting answer to whom."""


async def test_who_may_do_what_with_secrets(fake: Stage) -> None:
    platform = fake.platform
    for name in ("vision", "speech"):
        await platform.administer.put_workspace(Workspace(name), ADMIN)
    for who in MAY:
        if who != "admin":
            place = ("vision", ROLES[who]) if who in ROLES else ("speech", "owner")
            await platform.accounts.add(NewPerson(who, workspace=place[0], workspace_role=place[1]), ADMIN)
    app, told = create_app(platform), {}
    for who, answers in MAY.items():
        await platform.secrets.put("vision", "TOKEN", CANARY, ADMIN)
        token = (await platform.credentials.create(ADMIN, WantedToken("t", user=who))).token
        told[who] = await tried(app, token)
        assert told[who] == answers, who
    assert (await platform.secrets.of("speech", ADMIN)).items == []


async def tried(app: Any, token: str, place: str = "/api/v1/workspaces/vision/secrets") -> tuple[int, int, int]:
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE, headers=headers) as client:
        listed = await client.get(place)
        put = await client.put(f"{place}/TOKEN", json={"value": f"{CANARY}-2"})
        gone = await client.delete(f"{place}/TOKEN")
    for answer in (listed, put, gone):
        assert CANARY not in answer.text
    return listed.status_code, put.status_code, gone.status_code


async def test_a_token_carries_the_use_of_secrets_only_where_it_says_so(stage: Stage) -> None:
    platform = stage.platform
    await platform.secrets.put("default", "TOKEN", CANARY, ADMIN)
    document = spec("uses", secrets=["TOKEN"])
    less = Principal("admin", "admin", scopes=frozenset({"jobs:read", "jobs:write", "jobs:submit"}))
    assert await refused(stage, document, less) == {"secrets": "secrets_not_permitted"}
    more = Principal("admin", "admin", scopes=frozenset({*less.scopes, "secrets:use"} if less.scopes else ()))
    job, _ = await platform.submit({"spec": document}, more, None)
    assert (await stage.ended(job.id)).state == "succeeded"
    with pytest.raises(TrainmasterError):
        await platform.secrets.put("default", "TOKEN", "another value", more)


@pytest.mark.parametrize(
    "body", [{"value": [CANARY]}, {"value": {"a": CANARY}}, {"valu": CANARY}, {"value": 1234567890}, [CANARY], CANARY]
)
async def test_a_body_that_cannot_be_read_is_refused_without_being_told(fake: Stage, body: Any) -> None:
    app = create_app(fake.platform)
    token = (fake.home / "secrets" / "cli-token").read_text().strip()
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE, headers=headers) as client:
        answer = await client.put("/api/v1/workspaces/default/secrets/TOKEN", json=body)
    assert answer.status_code == 422
    assert CANARY not in answer.text
    assert "1234567890" not in answer.text


async def test_a_backup_has_them_sealed_and_not_the_key(fake: Stage, tmp_path: Path) -> None:
    await fake.platform.secrets.put("default", "TOKEN", CANARY, ADMIN)
    key = (fake.home / "secrets" / KEYS).read_text().strip()
    file = tmp_path / "home.backup"
    await asyncio.to_thread(make, str(fake.home), str(file), (), lambda *_: None, lambda *_: None)
    with tarfile.open(file) as archive:
        members = {one.name: archive.extractfile(one) for one in archive}
        parts = {name: part.read() for name, part in members.items() if part is not None}
    whole = b"".join(gzip.decompress(part) if part[:2] == b"\x1f\x8b" else part for part in parts.values())
    assert b'"TOKEN"' in whole
    assert CANARY.encode() not in whole
    assert key.encode() not in whole


def test_what_is_answered_has_no_field_for_a_value() -> None:
    told = {"name", "workspace", "created_at", "changed_at", "changed_by", "used_at"}
    assert set(SecretView.__struct_fields__) == told
