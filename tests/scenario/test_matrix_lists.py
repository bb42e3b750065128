"""Every list, report and feed x every role x every level of sharing: each shows what may be read there, of any kind,
and nothing else; and what is done to several things at once (B11, R223 to R228).
"""

from dataclasses import dataclass
from typing import Any, Final

import pytest

from tests.fixtures.algorithms import made_algorithm
from tests.fixtures.images import stored_image
from tests.fixtures.kept_models import stored_model
from tests.fixtures.live import LiveStream
from tests.fixtures.people import person
from tests.fixtures.uploads import begun, uploaded
from tests.fixtures.volumes import filled
from tests.scenario.stage import ADMIN, fake_spec
from tests.scenario.test_matrix import MAY, READ, WRITE, Lab, lab
from tests.scenario.test_sweeps import swept
from trainmaster.api.policy import PREFIX
from trainmaster.core.states import JobShare
from trainmaster.service.environments.builds import Build
from trainmaster.service.use_cases.assets.templates import WantedTemplate
from trainmaster.store.assets.bin import BinQuery

__all__ = ["lab"]

ANN: Final = person("ann", "vision")
WHOSE, LEADING, SHARED, WRITING = (
    "whose it is", "who leads the workspace, too", "whom it is shared with, too", "who may change it",
)  # fmt: skip
SHOWN: Final = {
    "/home": ("job", WHOSE),
    "/jobs": ("job", SHARED),
    "/search?q=shared": ("job", SHARED),
    "/jobs/facets": ("owner", SHARED),
    "/queue/history": ("past", SHARED),
    "/sweeps": ("sweep", SHARED),
    "/image-builds": ("build", LEADING),
    "/images": ("image", SHARED),
    "/models": ("model", LEADING),
    "/templates": ("template", SHARED),
    "/datasets": ("dataset", SHARED),
    "/volumes": ("volume", SHARED),
    "/algorithms": ("algorithm", SHARED),
    "/bin": ("binned", WRITING),
    "/audit": ("job", LEADING),
    "/audit/export": ("job", LEADING),
    "/reports/usage": ("owner", LEADING),
    "/reports/usage.csv": ("used", LEADING),
}
"""A list -> what stands there, and who reads it."""
SEVERAL: Final = ("/templates/delete", "/bin/remove")
RESTORED: Final = "/bin/{ref}/restore"
FEED: Final = "/feed"
WALKED: Final = {("GET", path.partition("?")[0]) for path in (*SHOWN, FEED)} | {
    ("POST", path) for path in (*SEVERAL, RESTORED)
}
UPLOADS: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("GET", "/datasets/uploads/{upload}"): {},
    ("POST", "/datasets/uploads/{upload}/contents"): {"content": b""},
    ("PUT", "/datasets/uploads/{upload}/contents/{sha256}"): {"content": b"w"},
    ("POST", "/datasets/uploads/{upload}/commit"): {},
    ("DELETE", "/datasets/uploads/{upload}"): {},
}
"""Of who began it alone: not even administrators go on with it."""


@dataclass(frozen=True)
class Told:
    """What ann has in the workspace at one level of sharing: the text by which each is known."""

    lab: Lab
    level: int
    marks: dict[str, str]

    def may(self, who: str, readers: str) -> bool:
        """Return whether somebody is one of them."""
        if readers == WRITING:
            return WRITE in MAY[who][self.level]
        return who == "ann" or READ in {WHOSE: (), LEADING: MAY[who][0], SHARED: MAY[who][self.level]}[readers]

    async def deleted(self, name: str) -> str:
        """Return the id in the bin of a data set of this name."""
        gone = await uploaded(
            self.lab.stage.platform, ANN, name, {"w": b"w"}, workspace="vision", share=list(JobShare)[self.level]
        )
        await self.lab.stage.platform.datasets.delete(gone.dataset, ANN)
        items = (await self.lab.stage.platform.bin.page(ANN, BinQuery(), 50)).items
        return next(one.id for one in items if one.name == name)

    async def template(self, name: str) -> str:
        document = {"spec": {**fake_spec(name, "true"), "workspace": "vision"}}
        wanted = WantedTemplate(name, document, share=list(JobShare)[self.level])
        return (await self.lab.stage.platform.templates.create(ANN, wanted)).id


@pytest.fixture(params=range(3), ids=[one.value for one in JobShare])
async def told(lab: Lab, request: pytest.FixtureRequest) -> Told:
    level, platform = request.param, lab.stage.platform
    share, files = list(JobShare)[level], {"w": b"w"}
    made = Told(lab, level, {"owner": '"ann"', "used": ",ann,", "past": '"workspace":"vision"'})
    past = await lab.job(share)
    await lab.stage.running(past)
    await platform.stop(past, ANN)
    await lab.stage.ended(past)
    body = swept("many", {"grid": {"n": [1]}}, "sleep infinity", workspace="vision")
    body["spec"]["share"] = share.value
    build = Build("b1of", "e1", "vision", "ann", 1.0, "failed", 2.0)
    platform.context.images.builds.add(build)
    made.marks.update(
        job=await lab.job(share),
        sweep=(await platform.sweeps.submit(body, ANN, None))[0].id,
        build=build.id,
        image=stored_image(platform, "ann", "of-ann", "vision", share.value),
        model=stored_model(platform, "ann", "of-ann", "vision"),
        template=await made.template("of-ann"),
        dataset=(await uploaded(platform, ANN, "of-ann", files, workspace="vision", share=share)).dataset,
        volume=(await filled(platform, ANN, "of-ann", files, workspace="vision", share=share)).id,
        algorithm=await made_algorithm(platform, ANN, "of-ann", workspace="vision", share=share),
        binned=await made.deleted("gone"),
    )
    await platform.context.master.durable()
    return made


async def test_lists_show_what_may_be_read(told: Told) -> None:
    """A hidden one is not counted either. Whose job it is stands in every list, for who may see it."""
    for who in MAY:
        async with told.lab.client(who) as http:
            for path, (what, readers) in SHOWN.items():
                answer = await http.get(PREFIX + path)
                assert answer.status_code == 200, (who, path, answer.text)
                seen = told.marks[what] in answer.text
                assert seen == told.may(who, readers), (who, path, what, answer.text)
                body = answer.json() if answer.headers["content-type"] == "application/json" else {}
                if not seen and "total" in body and path != "/jobs":
                    assert body["total"] == 0, (who, path, answer.text)
            page = (await http.get(f"{PREFIX}/jobs")).json()
            assert page["total"] == sum(page["counts"].values())
            assert (page["total"] > 0) == told.may(who, SHARED)


async def test_the_feed_tells_of_what_may_be_read(told: Told) -> None:
    """All listen; then the job changes, and after it one of each listener's own, of which they certainly hear."""
    platform = told.lab.stage.platform
    after = {"after": platform.feed.mark(0)}
    views = {who: LiveStream(told.lab.app, told.lab.tokens[who], FEED, after, {}) for who in MAY}
    own = {}
    for who, view in views.items():
        view.open()
        await view.until(lambda one: one.status == 200)
        if who == "viewer":  # submits nothing: hears of nodes
            continue
        workspace = "speech" if who == "stranger" else "vision"
        principal = ADMIN if who == "admin" else person(who, workspace)
        document = {**fake_spec(f"of-{who}", "sleep infinity"), "workspace": workspace, "share": "none"}
        own[who] = ((await platform.submit({"spec": document}, principal, None))[0].id, principal)
    await platform.change(told.marks["job"], ANN, duration_s=7777.0)
    for job, principal in own.values():
        await platform.change(job, principal, duration_s=8888.0)
    await platform.administer.cordon("n1", None, ADMIN)
    for who, view in views.items():
        await view.until(lambda one: "event: cluster" in one.said if who == "viewer" else "8888.0" in one.said)  # noqa: B023
        assert ("7777.0" in await view.leave()) == told.may(who, SHARED), who


async def test_several_are_deleted_for_good_and_brought_back(told: Told) -> None:
    """What is hidden is as what is not there; what may only be read is refused; the rest is done."""
    for who in MAY:
        may = MAY[who][told.level]
        async with told.lab.client(who) as http:
            template = await told.template(f"plan-{who}")
            outcome = (await http.post(f"{PREFIX}/templates/delete", json={"ids": [template]})).json()
            codes = [one["code"] for one in outcome["refused"]]
            if WRITE in may:
                assert (outcome["done"], codes) == ([template], []), (who, outcome)
            else:
                assert outcome["done"] == [], (who, outcome)
                assert codes == ["no_such_template" if READ not in may else "template_only_to_read"], (who, codes)
            binned = await told.deleted(f"thrown-{who}")
            outcome = (await http.post(f"{PREFIX}/bin/remove", json={"ids": [binned]})).json()
            assert outcome["done"] == ([binned] if WRITE in may else []), (who, outcome)
            assert WRITE in may or outcome["refused"][0]["code"] == "not_in_the_bin", (who, outcome)
            answer = await http.post(PREFIX + RESTORED.format(ref=await told.deleted(f"lost-{who}")), json={})
            assert answer.status_code == (200 if WRITE in may else 404), (who, answer.text)


async def test_an_upload_is_of_who_began_it(lab: Lab) -> None:
    """Whoever knows its id: nobody else sees what it is, adds to it, ends it or takes it away."""
    upload = (await begun(lab.stage.platform, ANN, "begun", {"w": b"w"}, workspace="vision")).id
    for who in (*(one for one in MAY if one != "ann"), "ann"):
        async with lab.client(who) as http:
            for (method, path), sent in UPLOADS.items():
                address = PREFIX + path.format(upload=upload, sha256="0" * 64)
                answer = await http.request(method, address, **sent)
                if who == "ann":
                    assert answer.status_code != 404 or "contents/" in path, (method, path, answer.text)
                else:
                    assert answer.status_code == 404, (who, method, path, answer.text)
                    assert "begun" not in answer.text
