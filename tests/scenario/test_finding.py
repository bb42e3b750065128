"""What people say of jobs, and how jobs, people and places are found again (R198, R199): by whom, and by whom not."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection

from tests.fixtures.algorithms import made_algorithm
from tests.fixtures.api_contract import BASE
from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.roles import Principal
from trainmaster.api.app import create_app
from trainmaster.api.policy import PREFIX
from trainmaster.core.cluster import Flavor, Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound
from trainmaster.core.states import JobShare, Shown
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.service.use_cases.finding.marking import LONGEST_NOTE, MOST_TAGS
from trainmaster.service.use_cases.listing import Chosen
from trainmaster.service.use_cases.people.accounts import NewPerson
from trainmaster.service.use_cases.people.credentials import WantedToken
from trainmaster.store.assets.versions import Asset, AssetKind, AssetSource, NewVersion, add_version
from trainmaster.store.finding import index
from trainmaster.store.jobs.job_query import JobQuery

ANN, BOB = person("ann", "vision"), person("bob", "vision")
EVE, STRANGER = person("eve", "vision", role="viewer"), person("stranger", "speech")


@pytest.fixture
async def vision(fake: Stage) -> Stage:
    """A cluster with two workspaces."""
    for name in ("vision", "speech"):
        await fake.platform.administer.put_workspace(Workspace(name), ADMIN)
    return fake


async def submitted(stage: Stage, who: Principal, name: str, command: str = "sleep infinity", **fields: Any) -> str:
    document = {**fake_spec(name, command), "workspace": "vision", **fields}
    return (await stage.platform.submit({"spec": document}, who, None))[0].id


async def found(stage: Stage, who: Principal, **query: Any) -> list[str]:
    page = await stage.platform.jobs(JobQuery(**query), 50, None, who)
    assert page.total == len(page.items)
    return [job.id for job in page.items]


async def test_tags_and_a_note_stay_with_a_job_after_its_end(vision: Stage) -> None:
    """Also over a restart; the audit and the events say who, and what was there before."""
    job = await submitted(vision, ANN, "short", "exit 3")
    await vision.ended(job)
    marking = vision.platform.marking
    assert (await marking.tag(job, ANN, ["Paper", "best"])).tags == ["best", "Paper"]
    assert (await marking.tag(job, ANN, ["paper", "v2"], ["BEST"])).tags == ["Paper", "v2"], "case makes no other tag"
    assert (await marking.note(job, ANN, " diverged\nafter 300 ")).note == "diverged\nafter 300"
    await vision.restart()
    view = await vision.platform.job(job, ANN)
    assert (view.tags, view.note, view.state) == (["Paper", "v2"], "diverged\nafter 300", Shown.FAILED)
    for query in ({"q": "diverged"}, {"q": "v2 paper"}, {"tags": ("PAPER",)}, {"tags": ("v2", "paper")}):
        assert await found(vision, ANN, **query) == ([] if query == {"q": "v2 paper"} else [job]), query
    assert await found(vision, ANN, tags=("best",)) == []
    told = (await vision.platform.auditing.page(ADMIN, AuditFilters(subject=f"job:{job}"))).items
    assert [(one.by, one.text.en) for one in told[:2]] == [
        ("ann", "Changed the note of the job"),
        ("ann", "Changed the tags of the job to: Paper, v2 (was: best, Paper)"),
    ]
    assert "diverged" not in str([one.text for one in told])


async def test_bad_tags_and_notes_are_refused_all_at_once(vision: Stage) -> None:
    """Each by its place, with what to do; nothing of the request is done."""
    job = await submitted(vision, ANN, "short")
    marking = vision.platform.marking
    with pytest.raises(InvalidSpec) as why:
        await marking.tag(job, ANN, ["good", "", " x", "x" * 65, "a,b", "-b", "+b", "a\nb"])
    assert [one.path for one in why.value.problems] == [f"add.{number}" for number in range(1, 8)]
    with pytest.raises(InvalidSpec) as why:
        await marking.tag(job, ANN, [f"t{number}" for number in range(MOST_TAGS + 1)])
    assert [one.path for one in why.value.problems] == ["add"]
    with pytest.raises(InvalidSpec) as why:
        await marking.note(job, ANN, "x" * (LONGEST_NOTE + 1))
    assert [one.path for one in why.value.problems] == ["note"]
    view = await vision.platform.job(job, ANN)
    assert (view.tags, view.note) == ([], "")


async def test_who_only_reads_a_job_does_not_mark_it_and_favors_it_for_themselves(vision: Stage) -> None:
    """Who may act on it does; a favorite is nobody else's business; what is hidden is not there."""
    job = await submitted(vision, ANN, "shared", share="read")
    marking = vision.platform.marking
    for refused in (marking.tag(job, BOB, ["x"]), marking.note(job, EVE, "x")):
        with pytest.raises(Forbidden):
            await refused
    assert (await marking.favor(job, BOB, True)).favorite
    assert await found(vision, BOB, favorite_of="bob") == [job]
    assert [one.favorite for one in (await vision.platform.jobs(JobQuery(), 9, None, ANN)).items] == [False]
    await vision.platform.share(job, ANN, JobShare.NONE)
    assert await found(vision, BOB, favorite_of="bob") == []
    for hidden in (marking.favor(job, BOB, False), marking.tag(job, BOB, ["x"]), marking.note(job, STRANGER, "x")):
        with pytest.raises(NotFound):
            await hidden
    await vision.platform.share(job, ANN, JobShare.READ_WRITE)
    assert (await marking.tag(job, BOB, ["bobs"])).tags == ["bobs"]
    assert not (await marking.favor(job, BOB, False)).favorite
    assert await found(vision, BOB, favorite_of="bob") == []


async def test_the_same_is_done_to_all_that_match(vision: Stage) -> None:
    """R202: tags and sharing of a selection and of a filter, ended jobs too; more than were counted is refused."""
    ended = await submitted(vision, ANN, "sweep-1", "exit 3")
    await vision.ended(ended)
    live, other = await submitted(vision, ANN, "sweep-2"), await submitted(vision, BOB, "sweep-3")
    many = vision.platform.many
    with pytest.raises(Conflict):
        await many("tag", Chosen(query=JobQuery(q="sweep"), expected=1), ANN, add=["set"], remove=[])
    outcome = await many("tag", Chosen(query=JobQuery(q="sweep"), expected=2), ANN, add=["set"], remove=[])
    assert sorted(outcome.done) == sorted([ended, live])
    assert await found(vision, ANN, tags=("set",)) == [live, ended]
    assert (await vision.platform.job(other, BOB)).tags == []
    outcome = await many("share", Chosen(query=JobQuery(tags=("set",)), expected=2), ANN, share=JobShare.READ)
    assert sorted(outcome.done) == sorted([ended, live])
    assert sorted(await found(vision, BOB)) == sorted([ended, live, other])
    outcome = await many("share", Chosen((live, other)), BOB, share=JobShare.NONE)
    assert (outcome.done, [one.code for one in outcome.refused]) == ([other], ["not_yours_to_share"])


async def test_jobs_are_found_by_algorithm_flavor_and_where_results_go(vision: Stage) -> None:
    """R199: through the API, for who sees them; favorites are the caller's own; after a restart, too."""
    platform = vision.platform
    await platform.administer.put_flavor(Flavor("small", "vision", cpu=1.0, memory_mib=64), ADMIN)
    command = {"command": "sleep infinity"}
    nets = [
        await made_algorithm(platform, ANN, name, {}, command, workspace="vision", share=JobShare.READ)
        for name in ("net", "other")
    ]
    plain = await submitted(vision, ANN, "plain")
    of_net = await submitted_of(vision, ANN, algorithm="net", model={"name": "digits"}, share="read")
    of_other = await submitted_of(vision, ANN, algorithm="other", flavors=["small"])
    await platform.algorithms.favor(nets[0], BOB, True)
    await platform.algorithms.favor(nets[1], ANN, True)

    async def check() -> None:
        app = create_app(vision.platform)
        for who, query, wanted in (
            (ANN, "algorithm=net", [of_net]),
            (ANN, "algorithm=net@1", [of_net]),
            (ANN, "algorithm=net@2", []),
            (ANN, "algorithm=ne", []),
            (BOB, "algorithm=other", []),
            (ANN, "flavor=small", [of_other]),
            (ANN, "output=digits", [of_net]),
            (ANN, "output=plain", [plain]),
            (ANN, "favorite_algorithm=true", [of_other]),
            (BOB, "favorite_algorithm=true", [of_net]),
            (EVE, "favorite_algorithm=true", []),
            (ADMIN, "algorithm=other&flavor=small&output=run", [of_other]),
        ):
            token = (await vision.platform.credentials.create(who, WantedToken("t"))).token
            headers = {"authorization": f"Bearer {token}"}
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url=BASE, headers=headers, timeout=60
            ) as http:
                page = (await http.get(f"{PREFIX}/jobs?{query}")).json()
                facets = (await http.get(f"{PREFIX}/jobs/facets?{query}")).json()
            assert ([one["id"] for one in page["items"]], page["total"]) == (wanted, len(wanted)), (who.name, query)
            assert sum(one["jobs"] for one in facets["owner"]) == len(wanted), (who.name, query)
        facets = await vision.platform.job_facets(JobQuery(), ANN)
        assert {one.value: one.jobs for one in facets.algorithm} == {"net": 1, "other": 1}
        assert {one.value: one.jobs for one in facets.flavor} == {"small": 1}

    for who in (ANN, BOB, EVE):
        await platform.accounts.add(NewPerson(who.name, workspace="vision"), ADMIN)
    await check()
    outcome = await platform.many("tag", Chosen(query=JobQuery(algorithm="net"), expected=1), ANN, add=["x"], remove=[])
    assert outcome.done == [of_net]
    await vision.restart()
    await check()


async def submitted_of(stage: Stage, who: Principal, flavors: Sequence[str] = (), **fields: Any) -> str:
    """Submit a job of an algorithm; return its id."""
    document = {"name": "run", "workspace": "vision", **fields, **({"flavors": list(flavors)} if flavors else {})}
    return (await stage.platform.submit({"spec": document}, who, None))[0].id


async def test_search_finds_of_every_kind_what_one_may_know(vision: Stage) -> None:
    """R198: jobs, people, workspaces, pools; Chinese, and a word with a slip. A stranger finds no canary."""
    platform = vision.platform
    for who in (ANN, BOB, EVE):
        await platform.accounts.add(NewPerson(who.name, workspace="vision"), ADMIN)
    await platform.accounts.add(NewPerson("stranger", workspace="speech"), ADMIN)
    job = await submitted(vision, ANN, "canary-语音训练", share="read")
    await platform.context.master.durable()
    ledger = platform.context.reader._database  # the index lags behind a moment: a slip is only found in it
    ledger.write(lambda connection: index.fill(connection, 100)).result(60)
    search = platform.searching.everything
    for q, near in (("canary", False), ("canray", True), ("训练", False), ("语音", False), (job, False)):
        for who in (ANN, BOB, ADMIN):
            assert [(one.id, one.near) for one in (await search(q, who)).jobs] == [(job, near)], (q, who.name)
        assert (await search(q, STRANGER)).jobs == [], q
    assert [one.name for one in (await search("bob", ANN)).people] == ["bob"]
    assert [one.name for one in (await search("bbo", ANN)).people] == []
    for q in ("ann", "bob", "vision", "visoin"):
        seen = await search(q, STRANGER)
        assert (seen.jobs, seen.people, seen.workspaces) == ([], [], []), q
    assert [one.name for one in (await search("visoin", ANN)).workspaces] == ["vision"]
    assert [one.name for one in (await search("defau", STRANGER)).pools] == ["default"]
    assert {one.name for one in (await search("an", ADMIN)).people} >= {"ann", "stranger"}
    assert await search("  ", ANN) == await search("", STRANGER)
    only_jobs = Principal("ann", scopes=frozenset({"jobs:read"}))
    seen = await search("default", only_jobs)
    assert (seen.people, seen.pools, seen.models) == ([], [], [])


async def test_search_finds_what_is_kept_under_a_name(vision: Stage) -> None:
    """R198: by words of name and description, names first; of each kind only what one may see, and only with the right
    to read that kind.
    """
    platform, context = vision.platform, vision.platform.context
    swept = {**fake_spec("canary-swept"), "workspace": "vision", "sweep": {"grid": {"lr": [1, 2]}}}
    await platform.sweeps.submit({"spec": swept}, ANN, None)
    lists = {"datasets": "dataset", "volumes": "volume", "templates": "template", "algorithms": "algorithm"}
    lists["images"] = "image"
    new = NewVersion("sha256:0", 1, 1, 1.0, AssetSource.PERSON, "x")

    def keep(connection: Connection) -> None:
        for kind in (*lists.values(), "model"):
            for n, name, about, share in (
                (1, "plain", "a canary within", "none"),
                (2, "canary-kept", "", "none"),
                (3, "bright-canary", "", "read"),
            ):
                line = Asset(f"{kind}{n}", AssetKind(kind), f"{name}-{kind}", "vision", "ann", 10.0 - n, share, about)
                add_version(connection, line, new)

    context.reader._database.write(keep).result(60)
    search = platform.searching.everything
    found = await search("canary", ANN)
    assert [one.name for one in found.sweeps] == ["canary-swept"]
    for plural, kind in {**lists, "models": "model"}.items():
        names = [one.name for one in getattr(found, plural)]
        assert names == [f"canary-kept-{kind}", f"bright-canary-{kind}", f"plain-{kind}"], plural
        assert [one.ref for one in getattr(await search(f"{kind} WITHIN", ANN), plural)] == [f"{kind}1"]
        shared = [] if kind == "model" else [f"bright-canary-{kind}"]  # models are their owners' alone
        for who, seen in ((BOB, shared), (STRANGER, [])):
            assert [one.name for one in getattr(await search("canary", who), plural)] == seen, (plural, who.name)
        only = replace(ANN, scopes=frozenset({f"{plural}:read"}))
        told = await search("canary", only)
        assert {one for one in told.__struct_fields__ if getattr(told, one)} == {plural}
    assert (await search("canary", STRANGER)).sweeps == []


async def test_a_view_is_saved_for_oneself_or_for_a_workspace(vision: Stage) -> None:
    """Others see what is shared with a workspace of theirs; only its owner replaces or deletes it."""
    views = vision.platform.saved_views
    await views.put("Mine 我的", "state=running&order=-gpus", None, ANN)
    await views.put("Ours", "tag=paper", "vision", ANN)
    await views.put("Ours", "tag=paper&columns=name,tags", "vision", ANN)
    assert [(one.name, one.query, one.mine) for one in (await views.all(ANN)).items] == [
        ("Mine 我的", "state=running&order=-gpus", True),
        ("Ours", "tag=paper&columns=name,tags", True),
    ]
    assert [(one.name, one.owner, one.mine) for one in (await views.all(BOB)).items] == [("Ours", "ann", False)]
    assert (await views.all(STRANGER)).items == []
    with pytest.raises(NotFound):
        await views.remove("Ours", BOB)
    with pytest.raises(InvalidSpec) as why:
        await views.put(" x", "a?b", "speech", ANN)
    assert [one.path for one in why.value.problems] == ["name", "query", "workspace"]
    await views.remove("Ours", ANN)
    assert (await views.all(BOB)).items == []
