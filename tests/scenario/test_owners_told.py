"""Where people share nodes, each is told whose the jobs of others are, and nothing else of them; an administrator can
take that away.
"""

import asyncio

from tests.fixtures.two_people import NAMES, said, seen_in
from tests.scenario.doors import CLOSED, MEMBERS, SHARED, Scene, doors
from tests.scenario.stage import ADMIN
from trainmaster.api.policy import PREFIX


async def test_who_shares_the_nodes_is_told_whose_the_jobs_are(scene: Scene) -> None:
    """Owner and workspace of what runs and waits, by node, in line and as sums; no id, no name, no command."""
    first, second = scene.first, scene.second
    use = (await scene.get(first, f"{PREFIX}/cluster/use")).json()
    assert {row["owner"]: (row["running"], row["gpu"]) for row in use["people"]} == {
        first.name: (1, 2.0),
        second.name: (1, 2.0),
    }
    assert use["workspaces"][0]["workspace"] == "default"
    node = (await scene.get(first, f"{PREFIX}/cluster/nodes/{second.node}")).json()
    assert [(task["job"], task["name"], task["owner"], task["workspace"]) for task in node["tasks"]] == [
        (None, None, second.name, "default")
    ]
    line = (await scene.get(first, f"{PREFIX}/queue?owner={second.name}")).json()
    assert [(one["job"], one["name"], one["owner"]) for one in line["items"]] == [(None, None, second.name)]
    rows = (await scene.get(first, f"{PREFIX}/cluster/resources?owner={second.name}")).json()
    assert [row["name"] for row in rows["nodes"]] == [second.node]


async def test_an_administrator_hides_whose_the_jobs_of_others_are(scene: Scene) -> None:
    """From all but administrators, on every page and in every stream, also from whoever asks by name; and tells it
    again.
    """
    privacy = f"{PREFIX}/cluster/privacy"
    async with scene.first.client(scene.app) as http:
        assert (await http.get(privacy)).json()["owners_told"] is True
        refused = await http.put(privacy, json={"owners_told": False})
        assert (refused.status_code, refused.json()["code"]) == (403, "not_permitted")
    async with scene.admin.client(scene.app) as http:
        hidden = (await http.put(privacy, json={"owners_told": False})).json()
        assert (hidden["owners_told"], hidden["changed_by"]) == (False, "admin")
    for door in doors(scene.app):
        if door.path in CLOSED | MEMBERS or (door.stream and not door.of_one):
            continue
        for person, other in scene.pairs():
            answer = await scene.get(person, door.of(person))
            assert not seen_in(said(answer), other.marks), (door.path, answer.text)
        if door.path in SHARED and not door.of_one:
            assert seen_in(said(await scene.get(scene.admin, door.of(scene.first))), NAMES), door.path
    line = (await scene.get(scene.first, f"{PREFIX}/queue?owner={scene.second.name}")).json()
    assert (line["items"], line["total"]) == ([], 0)
    rows = (await scene.get(scene.first, f"{PREFIX}/cluster/resources?owner={scene.second.name}")).json()
    assert (rows["nodes"], rows["total"]) == ([], 0)
    own = (await scene.get(scene.first, f"{PREFIX}/cluster/use")).json()["people"]
    assert [row["owner"] for row in own] == [scene.first.name]
    async with scene.admin.client(scene.app) as http:
        await http.put(privacy, json={"owners_told": True})
    use = (await scene.get(scene.first, f"{PREFIX}/cluster/use")).json()
    assert {row["owner"] for row in use["people"]} == {*NAMES}
    told = (await scene.get(scene.admin, f"{PREFIX}/audit?kind=privacy_changed")).json()["items"]
    assert [one["changes"][0]["after"] for one in told] == [True, False]


async def test_live_views_of_who_is_told_less_end(scene: Scene) -> None:
    """What was taken away ends: whoever watched is looked up again, and is told that their rights changed."""
    seen = await scene.stage.platform.people.by_token(scene.first.token)
    lost = asyncio.create_task(scene.stage.platform.people.wait_until_lost(seen))
    await asyncio.sleep(0)
    await scene.stage.platform.privacy.change(False, ADMIN)
    assert (await asyncio.wait_for(lost, 60)).said.code == "rights_changed"
