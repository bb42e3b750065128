"""Templates (R42, R230 to R234): made of a form or of a job, edited, copied, shared, deleted, and submitted from."""

import asyncio
import itertools
from typing import Any, Final

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage, fake_spec
from tests.scenario.test_matrix import HIDDEN, MAY, READ, SHARE, WRITE, Lab, lab
from trainmaster.access.roles import Principal
from trainmaster.answers import TemplateDetail
from trainmaster.api.policy import PREFIX, PolicyRoute
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound
from trainmaster.core.states import JobShare
from trainmaster.service.use_cases.assets.templates import Templates, WantedEdit, WantedTemplate
from trainmaster.service.use_cases.auditing import AuditFilters
from trainmaster.store.assets.templates import KEPT
from trainmaster.store.assets.versions import AssetQuery

__all__ = ["lab"]  # a fixture

ANN, BOB = person("ann", "vision"), person("bob", "vision")
EVE, STRANGER = person("eve", "vision", role="viewer"), person("stranger", "speech")
ALL: Final = AssetQuery()


@pytest.fixture
async def vision(fake: Stage) -> Stage:
    """A cluster with two workspaces."""
    for name in ("vision", "speech"):
        await fake.platform.administer.put_workspace(Workspace(name), ADMIN)
    return fake


def wanted(name: str = "plan", share: JobShare = JobShare.NONE, **fields: Any) -> WantedTemplate:
    """Return a template of a job in the workspace vision."""
    document = {**fake_spec("trained", "sleep infinity"), "workspace": "vision", **fields}
    document["roles"][0]["parameters"] = {"lr": 0.01, "a.b": 1}
    return WantedTemplate(name, {"spec": document}, share=share)


async def made(stage: Stage, who: Principal = ANN, name: str = "plan", **fields: Any) -> TemplateDetail:
    return await stage.platform.templates.create(who, wanted(name, **fields))


async def names(templates: Templates, who: Principal, query: AssetQuery = ALL) -> list[str]:
    """Return the names of all that somebody sees, page by page."""
    found, cursor = list[str](), None
    while True:
        page = await templates.page(who, query, 2, cursor)
        found, cursor = [*found, *(one.name for one in page.items)], page.next_cursor
        if cursor is None:
            assert page.total == len(found)
            return found


async def test_a_template_holds_a_document_and_jobs_are_made_of_it(vision: Stage) -> None:
    """R230, R232: with other parameters and another name; each job is counted, a repeated request once."""
    templates = vision.platform.templates
    plan = await templates.create(ANN, wanted(slug="one-only"))
    assert (plan.owner, plan.workspace, plan.share, plan.version, plan.used) == ("ann", "vision", "none", 1, 0)
    assert (plan.spec["name"], plan.spec["slug"]) == ("trained", None)
    first, created = await templates.submit("plan", ANN, {"name": "hot"}, {"lr": "0.5", "a.b": 2, "new": 3}, key="k")
    assert created
    job = await vision.view(first.id)
    assert (job.name, job.owner, job.workspace) == ("hot", "ann", "vision")
    assert job.spec["roles"][0]["parameters"] == {"lr": 0.5, "a.b": 2, "new": 3}
    again, created = await templates.submit("plan", ANN, {"name": "hot"}, {"lr": "0.5", "a.b": 2, "new": 3}, key="k")
    assert (again.id, created) == (first.id, False)
    document = {**plan.spec, "name": "of-a-form"}
    other, _ = await templates.submit(plan.id[:8], ANN, {}, spec=document)
    assert (await vision.view(other.id)).name == "of-a-form"
    seen = await templates.detail("plan", ANN)
    assert (seen.used, seen.used_at is not None, seen.version) == (2, True, 1)


async def test_a_template_is_made_of_a_job(vision: Stage) -> None:
    """R230: with changes, of a job that one sees; the job's short name stays the job's."""
    templates = vision.platform.templates
    document = {**fake_spec("first", "sleep infinity"), "workspace": "vision", "slug": "s1"}
    job, _ = await vision.platform.submit({"spec": document}, ANN, None)
    plan = await templates.create(ANN, WantedTemplate("plan", job=job.id, changes={"name": "next"}))
    assert (plan.spec["name"], plan.spec["slug"]) == ("next", None)
    with pytest.raises(NotFound):
        await templates.create(BOB, WantedTemplate("other", job=job.id))


async def test_a_document_without_a_name_has_the_templates(vision: Stage) -> None:
    document = {key: value for key, value in (wanted().body or {})["spec"].items() if key != "name"}
    plan = await vision.platform.templates.create(ANN, WantedTemplate("plan", {"spec": document}))
    assert plan.spec["name"] == "plan"


@pytest.mark.parametrize(
    ("bad", "paths"),
    [
        (WantedTemplate("no way!", {"spec": fake_spec("a")}, description="x" * 2001), {"name", "description"}),
        (WantedTemplate("plan"), {"spec"}),
        (WantedTemplate("plan", {"spec": fake_spec("a")}, job="t1"), {"spec"}),
        (WantedTemplate("plan", {"spec": {"roles": [{"name": "a"}], "colour": 1}}), {"roles.0.command", "colour"}),
        (WantedTemplate("plan", {"spec": {**fake_spec("a"), "workspace": "speech"}}), {"workspace"}),
        (WantedTemplate("plan", {"spec": {**fake_spec("a"), "workspace": "vision", "pool": "none"}}), {"pool"}),
        (
            WantedTemplate(
                "plan", {"spec": {**fake_spec("a"), "workspace": "vision", "code": {"upload": f"sha256:{'0' * 64}"}}}
            ),
            {"code.upload"},
        ),
    ],
)
async def test_a_document_is_judged_as_a_jobs_is(vision: Stage, bad: WantedTemplate, paths: set[str]) -> None:
    """Everything that is wrong is told at once, with its field and a remedy, and nothing is kept."""
    with pytest.raises(InvalidSpec) as why:
        await vision.platform.templates.create(ANN, bad)
    assert {one.path for one in why.value.problems} == paths
    assert all(one.rule and one.remedy for one in why.value.problems)
    assert await names(vision.platform.templates, ANN) == []


async def test_what_is_free_and_which_pool_is_not_asked(vision: Stage) -> None:
    """A template may ask for more than is free, or there is, and leave the pool to whoever submits of it."""
    plan = await made(vision, pool="any", priority="urgent")
    assert plan.spec["pool"] == "any"
    huge = wanted("huge")
    (huge.body or {})["spec"]["roles"][0]["resources"] = {"gpu": 8, "cpu": 1}
    assert (await vision.platform.templates.create(ANN, huge)).version == 1


async def test_a_change_is_a_version_and_the_second_of_two_is_told(vision: Stage) -> None:
    """R231: what was stays to be looked at; nobody writes over a change that they have not seen."""
    templates = vision.platform.templates
    plan = await made(vision)
    document = {**plan.spec, "description": "more epochs"}
    edit = WantedEdit("plan-2", "for the paper", {"spec": document}, version=1)
    after = await templates.edit("plan", ANN, edit)
    assert (after.id, after.name, after.description, after.version) == (plan.id, "plan-2", "for the paper", 2)
    assert (await templates.detail("plan-2", ANN, 1)).spec == plan.spec
    with pytest.raises(Conflict) as why:
        await templates.edit("plan-2", ANN, edit)
    assert [one.path for one in why.value.problems] == ["version"]
    only_words = await templates.edit("plan-2", ANN, WantedEdit(description=""))
    assert (only_words.version, only_words.spec["description"], only_words.description) == (3, "more epochs", "")
    with pytest.raises(NotFound):
        await templates.detail("plan-2", ANN, 9)
    edits = [templates.edit(plan.id, ANN, WantedEdit(body={"spec": document}, version=3)) for _ in range(4)]
    done = await asyncio.gather(*edits, return_exceptions=True)
    assert sorted(type(one).__name__ for one in done) == ["Conflict"] * 3 + ["TemplateDetail"]


async def test_so_many_versions_are_kept(vision: Stage) -> None:
    plan = await made(vision)
    for at in range(KEPT + 2):
        plan = await vision.platform.templates.edit(plan.id, ANN, WantedEdit(description=f"{at}"))
    assert (plan.version, len(plan.versions), plan.versions[-1].version) == (KEPT + 3, KEPT, 4)


async def test_a_name_is_unique_in_its_workspace(vision: Stage) -> None:
    """Whoever owns it, also where it is not seen; another workspace has names of its own."""
    templates = vision.platform.templates
    await made(vision)
    for who in (ANN, BOB):
        with pytest.raises(Conflict) as why:
            await made(vision, who)
        assert [one.path for one in why.value.problems] == ["name"]
    other = await made(vision, name="other")
    with pytest.raises(Conflict):
        await templates.edit(other.id, ANN, WantedEdit("plan"))
    both = person("ann", "vision", "speech")
    await templates.create(both, wanted(workspace="speech"))
    with pytest.raises(Conflict):  # several are meant
        await templates.detail("plan", both)
    assert sorted(await names(templates, both)) == ["other", "plan", "plan"]


async def test_a_copy_is_ones_own(vision: Stage) -> None:
    """R233: of what is shared with one, under a name that is free, and not shared itself."""
    templates = vision.platform.templates
    plan = await made(vision, share=JobShare.READ)
    found = [await templates.copy("plan", BOB) for _ in range(2)]
    assert [(one.name, one.owner, one.share) for one in found] == [
        ("plan-copy", "bob", "none"),
        ("plan-copy-2", "bob", "none"),
    ]
    assert found[0].spec == plan.spec
    assert (await templates.copy("plan", BOB, "mine")).name == "mine"
    assert await names(templates, ANN) == ["plan"]
    with pytest.raises(Conflict):
        await templates.copy("plan", BOB, "plan")


async def test_one_or_many_are_deleted(vision: Stage) -> None:
    """R234: each is done or refused for its own reason; jobs that were made of them stay."""
    templates = vision.platform.templates
    plan, other = await made(vision), await made(vision, name="other")
    theirs = await made(vision, BOB, "theirs", share=JobShare.READ)
    job, _ = await templates.submit("plan", ANN, {})
    await templates.delete("plan", ANN)
    outcome = await templates.delete_many((other.id, theirs.id, plan.id), ANN)
    assert outcome.done == [other.id]
    assert [(one.id, one.kind) for one in outcome.refused] == [(theirs.id, "forbidden"), (plan.id, "not_found")]
    assert await names(templates, ANN) == ["theirs"]
    assert (await vision.view(job.id)).name == "trained"


async def test_lists_are_searched_and_come_in_pages(vision: Stage) -> None:
    """What was changed last comes first."""
    templates = vision.platform.templates
    for at in range(5):
        vision.let_pass(1)
        await made(vision, name=f"plan-{at}", share=JobShare.READ)
    vision.let_pass(1)
    await templates.edit("plan-2", ANN, WantedEdit(description="Nightly 100%"))
    assert await names(templates, BOB) == ["plan-2", "plan-4", "plan-3", "plan-1", "plan-0"]
    for q, found in (("nightly plan", 1), ("%", 1), ("PLAN", 5), ("ann", 5), ("nobody", 0)):
        assert len(await names(templates, BOB, AssetQuery(q))) == found, q
    assert await names(templates, BOB, AssetQuery(owner="bob")) == []
    assert await names(templates, BOB, AssetQuery(workspace="speech")) == []
    with pytest.raises(InvalidSpec):
        await templates.page(BOB, ALL, 2, "not one of ours")


async def test_nothing_is_shared_where_sharing_is_off(vision: Stage) -> None:
    """R225: and what was shared before is hidden with the rest, and forgotten when the workspace goes."""
    templates = vision.platform.templates
    await made(vision, share=JobShare.READ_WRITE)
    await vision.platform.administer.put_workspace(Workspace("vision", sharing="off"), ADMIN)
    with pytest.raises(InvalidSpec) as why:
        await templates.share("plan", ANN, JobShare.READ)
    assert [one.path for one in why.value.problems] == ["share"]
    closed = Principal("bob", memberships=(("vision", "member"),))
    assert await names(templates, closed) == []
    await vision.platform.administer.drop_workspace("vision", ADMIN)
    assert await names(templates, BOB) == []
    assert await names(templates, ANN) == ["plan"]


async def test_the_audit_tells_who_did_it(vision: Stage) -> None:
    templates = vision.platform.templates
    plan = await made(vision)
    await templates.share(plan.id, ANN, JobShare.READ_WRITE)
    await templates.edit(plan.id, BOB, WantedEdit("renamed"))
    await templates.delete(plan.id, BOB)
    page = await vision.platform.auditing.page(ADMIN, AuditFilters(subject=f"template:{plan.id}"))
    assert [(one.by, one.code) for one in page.items] == [
        ("bob", "template_deleted"),
        ("bob", "template_changed"),
        ("ann", "template_shared"),
        ("ann", "template_made"),
    ]
    changed = {one.field: (one.before, one.after) for one in page.items[1].changes}
    assert changed == {"name": ("plan", "renamed"), "version": (1, 2)}
    assert (await vision.platform.auditing.page(STRANGER, AuditFilters(subject="template"))).items == []


async def test_who_may_only_read_is_told_so(vision: Stage) -> None:
    templates = vision.platform.templates
    await made(vision, share=JobShare.READ)
    for who in (BOB, EVE):
        assert (await templates.detail("plan", who)).may == []
        with pytest.raises(Forbidden) as why:
            await templates.edit("plan", who, WantedEdit("mine"))
        assert why.value.code == "template_only_to_read"
    await templates.share("plan", ANN, JobShare.READ_WRITE)
    assert (await templates.detail("plan", BOB)).may == ["write"]
    with pytest.raises(Forbidden):
        await templates.share("plan", BOB, JobShare.NONE)


# -- every route, every role, every level of sharing ------------------------------------------------------------------

NEEDS: Final[dict[tuple[str, str], tuple[str, Any]]] = {
    ("GET", "/templates/{ref}"): (READ, None),
    ("PUT", "/templates/{ref}/favorite"): (READ, None),
    ("DELETE", "/templates/{ref}/favorite"): (READ, None),
    ("POST", "/templates/{ref}/copy"): (READ, {}),
    ("POST", "/templates/{ref}/submit"): (READ, {}),
    ("PATCH", "/templates/{ref}"): (WRITE, {"description": "changed"}),
    ("PUT", "/templates/{ref}/share"): (SHARE, {"share": "none"}),
    ("PUT", "/templates/{ref}/offers/{workspace}"): (SHARE, None),
    ("DELETE", "/templates/{ref}/offers/{workspace}"): (SHARE, None),
    ("DELETE", "/templates/{ref}"): (WRITE, None),
}
"""What a route needs of a template, and what is sent."""
SUBMITS: Final = {"/templates/{ref}/copy", "/templates/{ref}/submit"}
"""What also needs the right to submit there, which a viewer has not."""


async def test_the_table_has_every_route_of_a_template(lab: Lab) -> None:
    found = [
        (method, route.path.removeprefix(PREFIX))
        for route in lab.app.app.router.routes
        if isinstance(route, PolicyRoute) and route.path.startswith(f"{PREFIX}/templates/{{ref}}")
        for method in route.methods or ()
    ]
    assert sorted(found) == sorted(NEEDS)


@pytest.mark.parametrize(("who", "level"), [*itertools.product(MAY, range(3))])
async def test_each_may_do_what_the_table_says(lab: Lab, who: str, level: int) -> None:
    """R223 to R228: as with jobs. Who may not see it is told that it is not there."""
    may, share = MAY[who][level], list(JobShare)[level]
    async with lab.client(who) as http:
        for (method, path), (need, body) in NEEDS.items():
            plan = await lab.stage.platform.templates.create(ANN, wanted(f"p{level}-{len(path)}-{method}", share))
            listed = (await http.get(f"{PREFIX}/templates")).json()["items"]
            assert (plan.id in {one["id"] for one in listed}) == (READ in may)
            answer = await http.request(
                method, PREFIX + path.format(ref=plan.id, workspace="*"), **({} if body is None else {"json": body})
            )
            if need in may:
                submits = who != "viewer" or path not in SUBMITS
                assert answer.is_success == submits, (method, path, answer.text)
                if not submits:
                    assert [one["path"] for one in answer.json()["problems"]] == ["workspace"]
            elif may:
                assert answer.status_code == 403, (method, path, answer.text)
            else:
                assert answer.status_code == 404, (method, path, answer.text)
                assert answer.json()["code"] in HIDDEN | {"no_such_template"}
