"""Images that are environments (R25, R68, R69, B18): built once in a sandbox, shown read-only, kept by budget."""

import asyncio
import hashlib
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from tests.fixtures.bins import emptied
from tests.fixtures.packages import sdist, take_only_from, wheel
from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage, spec
from trainmaster.access.roles import Principal
from trainmaster.answers import ImageBuild
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound
from trainmaster.core.folders.layout import Layout
from trainmaster.core.states import JobShare
from trainmaster.service.backup.contents import trees
from trainmaster.service.environments.definition import PROJECT, REQUIREMENTS, Definition
from trainmaster.service.environments.workshop import reason
from trainmaster.service.use_cases.assets.images import WantedImage
from trainmaster.store.assets.versions import AssetQuery

ANN, BOB = person("ann", "default"), person("bob", "default")
PATIENCE_S: Final = 300.0


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages, which is all that the server is configured to take them from."""
    folder = tmp_path / "links"
    folder.mkdir()
    take_only_from(folder, monkeypatch)
    wheel(folder, "tinyone", "1.0", "value = 1\n")
    wheel(folder, "tinyone", "2.0", "value = 2\n")
    wheel(folder, "tinytwo", "1.0", "value = 'two'\n")
    return folder


def wanted(name: str = "tiny", requirements: str = "tinyone==1.0\n", **fields: Any) -> WantedImage:
    return WantedImage(name, Definition({REQUIREMENTS: requirements}), **fields)


async def ended(stage: Stage, build: ImageBuild, who: Principal = ANN) -> ImageBuild:
    """Return a build after its end."""
    async with asyncio.timeout(PATIENCE_S):
        while build.ended_at is None:
            await asyncio.sleep(0.05)
            build = await stage.platform.images.build(build.id, who)
    return build


async def made(stage: Stage, image: WantedImage, who: Principal = ANN) -> ImageBuild:
    """Return the build of an image that was made."""
    build = await ended(stage, await stage.platform.images.create(who, image), who)
    assert build.state == "ready", (build.error, build.log)
    return build


async def ran(stage: Stage, text: str, who: Principal = ANN, **fields: Any) -> tuple[str, str]:
    """Return how a job of `text` ended, and its log."""
    view, _ = await stage.platform.submit({"spec": spec("imports", text, **fields)}, who, None)
    job = await stage.ended(view.id)
    return job.state, Path(stage.platform.layout.task(view.id, 1, 0, 0).log).read_text()


PROOF: Final = (
    "python -c 'import sys, os, tinyone; print(tinyone.value, sys.prefix, os.environ[\"VIRTUAL_ENV\"])'; "
    "touch $VIRTUAL_ENV/x 2>/dev/null || echo sealed"
)


async def test_a_job_has_the_environment_of_its_image(stage: Stage, links: Path) -> None:
    """R25, R68, R69: built once, recorded by version, first on PATH, and nobody can write it."""
    build = await made(stage, wanted(frameworks=("pytorch",), cards=("cpu",)))
    assert (build.version, build.packages) == (1, 1)
    image = await stage.platform.images.detail("tiny", ANN)
    assert [(one.name, one.version) for one in image.installed] == [("tinyone", "1.0")]
    assert (image.frameworks, image.cards, image.built, image.versions[0].reference) == (
        ["pytorch"],
        ["cpu"],
        True,
        "tiny@1",
    )
    state, log = await ran(stage, PROOF, image="tiny")
    assert (state, log.split()) == ("succeeded", ["1", *["/trainmaster/environment"] * 2, "sealed"])
    view, _ = await stage.platform.submit({"spec": spec("named", "true", image="tiny")}, ANN, None)
    assert (await stage.view(view.id)).spec["image"] == "tiny@1"
    again = await made(stage, wanted(requirements="tinyone<2\n"))
    assert again.version == 2
    assert not any("Installed" in line for line in again.log), "what is there is not made again (B18)"


async def test_a_version_is_what_it_was(stage: Stage, links: Path) -> None:
    """A new version changes nothing for who names the old one; without a version the last is meant."""
    await made(stage, wanted())
    await made(stage, wanted(requirements="tinyone==2.0\ntinytwo\n"))
    say = "python -c 'import tinyone; print(tinyone.value)'"
    assert (await ran(stage, say, image="tiny@1"))[1].split() == ["1"]
    assert (await ran(stage, say, image="tiny"))[1].split() == ["2"]
    with pytest.raises(InvalidSpec) as why:
        await ran(stage, say, image="tiny@3")
    assert [one.path for one in why.value.problems] == ["image"]


async def test_an_environment_is_made_of_a_project(stage: Stage, links: Path) -> None:
    """R235: its dependencies, not itself."""
    text = '[project]\nname = "mine"\nversion = "1"\ndependencies = ["tinytwo"]\n'
    await made(stage, WantedImage("project", Definition({PROJECT: text})))
    assert (await ran(stage, "python -c 'import tinytwo; print(tinytwo.value)'", image="project"))[1] == "two\n"


HOSTILE: Final = """
import glob, os, socket, sys
FOUND = {
    'home': [p for p in ('SECRET', *map(os.path.expanduser, ('~root/.ssh', '~root/.bashrc'))) if os.path.exists(p)],
    'others': [p for p in glob.glob('/proc/[0-9]*/environ') if b'TRAINMASTER_HOME' in open(p, 'rb').read()],
    'env': sorted(k for k in os.environ if 'SECRET' in k or 'TOKEN' in k),
    'platform': os.path.exists('PLATFORM'),
    'wrote': [],
}
for path in ('OUTSIDE/wrote', '/etc/wrote', '/usr/wrote', '/wrote', 'LINKS/wrote'):
    try:
        open(path, 'w').write('x')
        FOUND['wrote'].append(path)
    except OSError:
        pass
prefix = '/trainmaster/environment'
for path, text in ((prefix + '/pyvenv.cfg', 'home = OUTSIDE/bin'),):
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, 'w').write(text)
    except OSError:
        pass
"""


async def test_a_hostile_package_reaches_nothing(
    stage: Stage, links: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that runs code while it is built sees no home, no secret and no process, and writes nowhere outside."""
    secret, outside = tmp_path / "secret", tmp_path / "outside"
    secret.write_text("s3cret")
    (outside / "bin").mkdir(parents=True)
    monkeypatch.setenv("MY_SECRET_TOKEN", "s3cret")
    code = HOSTILE
    for word, value in (("SECRET'", f"{secret}'"), ("PLATFORM", stage.home), ("OUTSIDE", outside), ("LINKS", links)):
        code = code.replace(word, str(value), 1 if word == "SECRET'" else -1)
    sdist(links, "hostile", "1.0", code)
    await made(stage, wanted("hostile", "hostile\n"))
    state, log = await ran(stage, "python -c 'import hostile; print(hostile.found)'", image="hostile")
    assert state == "succeeded", log
    found = eval(log)
    assert found == {"home": [], "others": [], "env": [], "platform": False, "wrote": []}
    assert not (outside / "wrote").exists()
    settings = [*Path(stage.platform.layout.environments).glob("*/pyvenv.cfg")]
    assert all(str(outside) not in one.read_text() for one in settings), "what is shown of the host is ours to say"


async def test_what_cannot_be_made_says_why_and_leaves_nothing(stage: Stage, links: Path) -> None:
    build = await ended(stage, await stage.platform.images.create(ANN, wanted(requirements="tinyone==9\n")))
    assert build.state == "failed"
    assert build.error is not None
    assert build.remedy is not None
    assert "tinyone" in build.error.en
    assert build.remedy.zh
    with pytest.raises(NotFound):
        await stage.platform.images.detail("tiny", ANN)
    left = [name for name in os.listdir(stage.platform.layout.environments) if name != ".builds"]
    assert left in ([], [".building"])
    assert not os.path.exists(os.path.join(stage.platform.layout.environments, ".building")) or not os.listdir(
        os.path.join(stage.platform.layout.environments, ".building")
    )


async def test_a_stopped_build_leaves_nothing(stage: Stage, links: Path) -> None:
    """Nor does it keep the next one waiting."""
    sdist(links, "slow", "1.0", "import time\ntime.sleep(600)\nFOUND = 0\n")
    build = await stage.platform.images.create(ANN, wanted("slow", "slow\n"))
    async with asyncio.timeout(60):
        while not any("Building slow" in line for line in build.log):
            await asyncio.sleep(0.05)
            build = await stage.platform.images.build(build.id, ANN)
    assert build.state == "installing"
    assert (await stage.platform.images.stop_build(build.id, ANN)).state == "stopped"
    assert os.listdir(os.path.join(stage.platform.layout.environments, ".building")) == []
    with pytest.raises(Conflict):
        await stage.platform.images.stop_build(build.id, ANN)
    await made(stage, wanted())


async def test_nobody_sees_what_is_not_shared(stage: Stage, links: Path) -> None:
    """Another's image is one that is not there; shared, it is to be had in jobs."""
    build = await made(stage, wanted())
    assert (await stage.platform.images.page(BOB, AssetQuery(), 10)).items == []
    assert (await stage.platform.images.builds(BOB)).items == []
    for ask in (stage.platform.images.detail("tiny", BOB), stage.platform.images.build(build.id, BOB)):
        with pytest.raises(NotFound):
            await ask
    words = []
    for ref in ("tiny@1", "none@1"):
        with pytest.raises(InvalidSpec) as why:
            await stage.platform.submit({"spec": spec("a", image=ref)}, BOB, None)
        words.append([one.code for one in why.value.problems])
    assert words[0] == words[1], "what is another's and what is not there are the same answer"
    with pytest.raises(Conflict):
        await stage.platform.images.create(BOB, wanted())
    await stage.platform.images.share("tiny", ANN, JobShare.READ)
    mine, _ = await stage.platform.submit({"spec": spec("holds", "sleep 600", image="tiny")}, ANN, None)
    shown = await stage.platform.images.detail("tiny", BOB)
    assert (shown.jobs, shown.used_by) == (1, []), "that it is used is told, not by which job of another's"
    await stage.platform.stop(mine.id, ANN)
    assert (await ran(stage, "python -c 'import tinyone'", BOB, image="tiny"))[0] == "succeeded"


async def test_what_was_used_longest_ago_goes_and_is_made_again(stage: Stage, links: Path) -> None:
    """By budget; never what a live job needs; a job whose environment is gone waits until it is made."""
    await made(stage, wanted())
    await made(stage, wanted("other", "tinytwo\n"))
    keeper = stage.platform.context.images.keeper
    keeper._budget = 1
    view, _ = await stage.platform.submit({"spec": spec("holds", "sleep 600", image="tiny")}, ANN, None)
    await stage.running(view.id)
    await keeper.make_room()
    assert (await stage.platform.images.detail("tiny", ANN)).built, "a live job needs it"
    assert not (await stage.platform.images.detail("other", ANN)).built
    with pytest.raises(Conflict):
        await stage.platform.images.delete("tiny", ANN)
    shown = await stage.platform.images.detail("tiny", ANN)
    assert (shown.jobs, [(one.job, one.version) for one in shown.used_by]) == (1, [(view.id, 1)])
    page = await stage.platform.images.page(ANN, AssetQuery("", "", ""), 10)
    assert {one.name: one.jobs for one in page.items} == {"tiny": 1, "other": 0}
    keeper._budget = 1 << 40
    state, log = await ran(stage, "python -c 'import tinytwo; print(tinytwo.value)'", image="other")
    assert (state, log) == ("succeeded", "two\n")
    await stage.platform.stop(view.id, ANN)
    await stage.ended(view.id)
    await stage.platform.images.delete("tiny", ANN)
    await emptied(stage.platform, ANN)
    assert len([one for one in os.listdir(stage.platform.layout.environments) if one.endswith(".json")]) == 1


OTHER_GITS = (
    "git+ext::sh -c touch% /tmp/owned", "git+file:///etc", "git+fd::17", "git+--upload-pack=touch", "git+https::x",
    "GIT+EXT::sh",
)  # fmt: skip
"""Sources that read files of the server, or run a program on it."""
PROJECT_OF = "[project]\nname = 'a'\nversion = '1'\n[tool.uv.sources]\nb = {{git = '{git}'}}\n"


async def test_another_server_goes_on_with_what_is_whole(stage: Stage, links: Path) -> None:
    """What was half made when a server was killed is removed; what is whole is used, with its builds' logs."""
    build = await made(stage, wanted())
    root = Path(stage.platform.layout.environments)
    (root / ".building" / "x" / "tree").mkdir(parents=True)
    half = root / hashlib.md5(b"half").hexdigest()
    (half / "bin").mkdir(parents=True)
    (root / f"{'0' * 32}.json").write_text('{"bytes": 1, "files": 1}')
    await stage.restart()
    assert not half.exists()
    assert not (root / ".building").exists()
    assert not (root / f"{'0' * 32}.json").exists()
    assert (await stage.platform.images.build(build.id, ANN)).state == "ready"
    assert (await ran(stage, PROOF, image="tiny@1"))[0] == "succeeded"


@pytest.mark.parametrize(
    ("bad", "paths"),
    [
        (wanted("no way"), {"name"}),
        (wanted("default"), {"name"}),
        (WantedImage("a", Definition({})), {"requirements"}),
        (wanted(requirements="-e .\n./a.whl\nb @ file:///etc\n-r /etc/passwd\nc.whl\n/abs\n"), {"requirements"}),
        *((wanted(requirements=f"a @ {git}\n"), {"requirements"}) for git in OTHER_GITS),
        *((WantedImage("a", Definition({PROJECT: PROJECT_OF.format(git=git)})), {"pyproject"}) for git in OTHER_GITS),
        (wanted(requirements="--index-url https://me:secret@host/simple\n"), {"requirements"}),
        (WantedImage("a", Definition({PROJECT: "not [toml"})), {"pyproject"}),
        (WantedImage("a", Definition({REQUIREMENTS: "x"}, "2.7")), {"python"}),
        (wanted(workspace="elsewhere"), {"workspace"}),
        (
            wanted(frameworks=("none",), cards=("best",), description="x" * 2001),
            {"frameworks.0", "cards.0", "description"},
        ),
    ],
)
async def test_all_that_is_wrong_is_told_at_once(fake: Stage, bad: WantedImage, paths: set[str]) -> None:
    with pytest.raises(InvalidSpec) as why:
        await fake.platform.images.create(ANN, bad)
    assert {one.path for one in why.value.problems} == paths
    assert "secret" not in str(why.value.problems)


async def test_jobs_that_do_not_suit_an_image_are_warned(stage: Stage, links: Path) -> None:
    """R26, R54."""
    await made(stage, wanted(frameworks=("pytorch",), cards=("cpu",)))
    document = spec("a", image="tiny", resources={"gpu": 1})
    preview = await stage.platform.preview({"spec": document}, ANN)
    assert "image_without_cards" in [one.code for one in preview.warnings]
    assert ADMIN.role == "admin"


@pytest.mark.parametrize(
    ("lines", "code", "why"),
    [
        (
            ["error: No solution found when resolving dependencies", "  cause: Because six==99.", "  hint: --strategy"],
            "not_resolved",
            "Because six==99.",
        ),
        (
            ["Using Python", "  × No solution found when resolving dependencies:", "  ╰─▶ Because a", "      wants b."],
            "not_resolved",
            "Because a wants b.",
        ),
        (
            ["error: Failed to fetch: `http://x/`", "  Caused by: dns error"],
            "index_not_reached",
            "Failed to fetch: `http://x/` dns error",
        ),
        (["error: Failed to build `a==1`"], "not_built", "Failed to build `a==1`"),
        ([], "not_made", "uv said nothing"),
    ],
)
def test_of_what_uv_says_the_cause_is_told(lines: list[str], code: str, why: str) -> None:
    found = reason(lines)
    assert (found.code, found.args) == (code, {"why": why})


def test_a_backup_holds_no_environments(tmp_path: Path) -> None:
    """They are made again of what their versions hold."""
    paths = {"path": ["environments/x", "models/m/1"]}
    snapshot: Any = SimpleNamespace(column=lambda table, name: paths.get(name, []))
    assert [one.name for one in trees(Layout(str(tmp_path)), snapshot, ())] == ["data/models/m/1"]
