"""What is of whoever asks alone x every role: whatever others do with these routes, also with the ids of somebody's own
things, they are shown nothing of theirs and change nothing of it (B11).
"""

from ipaddress import ip_network
from typing import Any, Final
from urllib.parse import quote

import httpx

from tests.fixtures.people import person
from tests.scenario.stage import fake_spec
from tests.scenario.test_audit_walk import KEY
from tests.scenario.test_matrix import MAY, Lab, lab
from trainmaster.api.policy import PREFIX
from trainmaster.service.people.public_keys import read

__all__ = ["lab"]

MARK: Final = "annsown"
OURS: Final = read(KEY).fingerprint
MINE: Final[dict[tuple[str, str], dict[str, Any] | None]] = {
    ("GET", "/session"): None,
    ("GET", "/sessions"): None,
    ("GET", "/tokens"): None,
    ("GET", "/ssh-keys"): None,
    ("GET", "/views"): None,
    ("GET", "/notifications"): None,
    ("GET", "/notifications/settings"): None,
    ("GET", "/webhooks"): None,
    ("GET", "/webhooks/deliveries"): None,
    ("POST", "/session/password"): {"old": "what it may be", "new": "a password of others"},
    ("POST", "/session/ticket"): None,
    ("DELETE", "/sessions/{session_id}"): None,
    ("POST", "/tokens"): {"name": "others"},
    ("DELETE", "/tokens/{token_id}"): None,
    ("DELETE", "/ssh-keys"): None,
    ("PUT", "/views/{name}"): {"query": "q=others"},
    ("DELETE", "/views/{name}"): None,
    ("POST", "/invitations/join"): {"token": "not a token of an invitation"},
    ("POST", "/notifications/read"): {"ids": ["{notification}"]},
    ("PATCH", "/notifications/settings"): {"kinds": {"failed": {"console": False}}},
    ("POST", "/notifications/address"): {"address": "others@example.org"},
    ("DELETE", "/notifications/address"): None,
    ("POST", "/notifications/address/confirm"): {"code": "123456"},
    ("POST", "/webhooks"): {"url": "https://127.0.0.1:9/others"},
    ("PATCH", "/webhooks/{webhook}"): {"on": False},
    ("POST", "/webhooks/{webhook}/test"): None,
    ("DELETE", "/webhooks/{webhook}"): None,
    ("POST", "/ssh-keys"): {"key": KEY},
    ("POST", "/uploads"): None,
    ("DELETE", "/session"): None,
}
"""What is sent. The last ends a session, if there is one."""
NAMED: Final = {
    ("DELETE", "/sessions/{session_id}"), ("DELETE", "/tokens/{token_id}"), ("PATCH", "/webhooks/{webhook}"),
    ("POST", "/webhooks/{webhook}/test"), ("DELETE", "/webhooks/{webhook}"), ("DELETE", "/ssh-keys"),
}  # fmt: skip
"""By an id: of somebody else's it is as if there were no such thing."""
LOOSE: Final = {"last_used_at", "seen_at", "at", "now", "seq", "last_seen_at"}
"""What passes by itself."""


def still(body: Any) -> Any:
    """Return an answer without what time alone changes."""
    if isinstance(body, dict):
        return {key: still(value) for key, value in body.items() if key not in LOOSE}
    return [*map(still, body)] if isinstance(body, list) else body


async def shown(http: httpx.AsyncClient) -> dict[str, Any]:
    """Return all that somebody is shown of their own."""
    found = {}
    for method, path in MINE:
        if method == "GET":
            answer = await http.get(PREFIX + path)
            assert answer.status_code == 200, (path, answer.text)
            found[path] = still(answer.json())
    return found


async def own_things(lab: Lab, http: httpx.AsyncClient) -> dict[str, str]:
    """Give ann one of everything; return its ids."""
    async with lab.client("admin") as admin:
        password = (await admin.post(f"{PREFIX}/users/ann/password")).json()["one_time_password"]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(lab.app), base_url=str(http.base_url)) as browser:
        entered = await browser.post(f"{PREFIX}/session", json={"username": "ann", "password": password})
        assert entered.status_code == 200, entered.text
    document = {**fake_spec(f"{MARK}-job", "exit 3"), "workspace": "vision"}
    view, _ = await lab.stage.platform.submit({"spec": document}, person("ann", "vision"), None)
    await lab.stage.ended(view.id)
    told: list[Any] = []
    while not told:  # it is told beside the job's end
        told = (await http.get(f"{PREFIX}/notifications")).json()["items"]
    made: dict[str, Any] = {}
    lab.stage.platform.context.notices.guard._allow.append(ip_network("127.0.0.0/8"))
    for method, path, body in (
        ("POST", "/tokens", {"name": MARK}),
        ("POST", "/ssh-keys", {"key": KEY.replace("ann@laptop", MARK)}),
        ("PUT", f"/views/{MARK}", {"query": f"q={MARK}"}),
        ("POST", "/webhooks", {"url": f"https://127.0.0.1:9/{MARK}", "name": MARK}),
    ):
        answer = await http.request(method, PREFIX + path, json=body)
        assert answer.is_success, (path, answer.text)
        made[path] = answer.json()
    [session] = (await http.get(f"{PREFIX}/sessions")).json()["items"]
    tokens = (await http.get(f"{PREFIX}/tokens")).json()["items"]
    return {
        "session_id": session["id"],
        "token_id": next(one["id"] for one in tokens if one["name"] == MARK),
        "webhook": made["/webhooks"]["id"],
        "name": MARK,
        "notification": told[0]["id"],
    }


async def test_nobody_reaches_what_is_anothers(lab: Lab) -> None:
    """Not the administrator either: these are of one account, and no matter of the platform; but that they may switch
    off what the server sends to.
    """
    async with lab.client("ann") as ann:
        ids = await own_things(lab, ann)
        before = await shown(ann)
        assert all(MARK in str(told) for path, told in before.items() if path in (
            "/tokens", "/ssh-keys", "/views", "/notifications", "/webhooks",
        )), before  # fmt: skip
        for who in sorted({*MAY} - {"ann"}, key=lambda one: one == "admin"):
            async with lab.client(who) as http:
                for (method, path), body in MINE.items():
                    address = PREFIX + path.format(**ids)
                    if (method, path) == ("DELETE", "/ssh-keys"):
                        address += f"?fingerprint={quote(OURS)}"
                    if who == "admin" and "{webhook}" in path:
                        for switch in (False, True):
                            assert (
                                await http.patch(f"{PREFIX}/webhooks/{ids['webhook']}", json={"on": switch})
                            ).is_success
                        continue
                    sent = {key: [ids["notification"]] if key == "ids" else one for key, one in (body or {}).items()}
                    answer = await http.request(method, address, **({} if body is None else {"json": sent}))
                    assert answer.status_code < 500, (who, method, path, answer.text)
                    if (method, path) in NAMED:
                        assert answer.status_code == 404, (who, method, path, answer.text)
                    elif (method, path) == ("POST", "/ssh-keys"):
                        assert answer.status_code == 409, "of somebody else"
                    if "{name}" not in path:
                        assert MARK not in answer.text, (who, method, path, answer.text)
            assert await shown(ann) == before, who
        gone = [
            ("DELETE", f"/sessions/{ids['session_id']}"),
            ("DELETE", f"/webhooks/{ids['webhook']}"),
            ("DELETE", f"/views/{MARK}"),
            ("DELETE", f"/ssh-keys?fingerprint={quote(OURS)}"),
            ("DELETE", f"/tokens/{ids['token_id']}"),
        ]
        for method, path in gone:  # with the same ids ann does what the others could not
            answer = await ann.request(method, PREFIX + path)
            assert answer.is_success, (path, answer.text)
