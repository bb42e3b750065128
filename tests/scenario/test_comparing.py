"""Jobs side by side (B16, R159): what differs, who reached what, and nothing of what one may not see."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.people import person
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Workspace
from trainmaster.core.errors import NotFound
from trainmaster.core.states import JobShare
from trainmaster.service.use_cases.finding import comparing
from trainmaster.storage.uploads import receive_all

ANN, BOB = person("ann", "vision"), person("bob", "vision")


@pytest.fixture
async def vision(fake: Stage) -> Stage:
    await fake.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    return fake


async def trained(stage: Stage, who: Principal, name: str, points: list[dict[str, Any]], **fields: Any) -> str:
    """An ended job of `who` that logged `points`."""
    document = {**fake_spec(name, "exit 0"), "workspace": "vision", **fields}
    job = (await stage.platform.submit({"spec": document}, who, None))[0].id
    await stage.ended(job)
    place = Path(stage.platform.layout.task(job, 1, 0, 0).metrics)
    place.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"t": 1e9 + number, "step": number, "values": one}) for number, one in enumerate(points)]
    (place / "metrics.jsonl").write_text("\n".join([*lines, ""]))
    return job


def roles(command: str, **parameters: Any) -> list[dict[str, Any]]:
    return [{"name": "train", "command": command, "parameters": parameters, "resources": {"cpu": 0.1, "memory": 16}}]


def uploaded(stage: Stage, files: dict[str, bytes]) -> str:
    """The name of a code folder with these files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return "sha256:" + receive_all([packed.getvalue()], stage.platform.layout, 10).digest


async def test_what_differs_is_told_and_who_is_best(vision: Stage) -> None:
    first = await trained(
        vision, ANN, "first", [{"loss": 3.0}, {"loss": 0.5}, {"loss": 0.9}], roles=roles("exit 0", lr=0.1, epochs=3)
    )
    second = await trained(
        vision, ANN, "second", [{"loss": 2.0, "acc": 0.7}], roles=roles("exit 0", lr=0.2, epochs=3), env={"SEED": "7"}
    )
    found = await vision.platform.comparing.jobs([first, second[:12], first], ANN)
    assert [job.id for job in found.jobs] == [first, second], "each once, however it is called"
    differ = {(row.section, row.name): row.values for row in found.rows if row.differs}
    assert differ == {("parameters", "lr"): [0.1, 0.2], ("environment", "SEED"): [None, "7"]}
    same = {(row.section, row.name): row.values for row in found.rows if not row.differs}
    assert same["parameters", "epochs"] == [3, 3]
    assert same["command", "command"] == ["exit 0", "exit 0"]
    assert same["resources", "cpu"] == [0.1, 0.1]
    told = {one.name: one for one in found.metrics}
    loss = told["loss"]
    assert (loss.better, loss.best) == ("min", [0])
    assert loss.values[0] is not None
    assert (loss.values[0].last, loss.values[0].low, loss.values[0].low_step, loss.values[0].count) == (0.9, 0.5, 1, 3)
    assert (told["acc"].better, told["acc"].best, told["acc"].values[0]) == ("max", [], None)
    assert found.partial == found.unreadable == []


async def test_curves_come_for_the_metrics_asked_for_and_thinned(vision: Stage) -> None:
    long = await trained(vision, ANN, "long", [{"loss": 1 / (n + 1), "acc": 0.5} for n in range(5000)])
    short = await trained(vision, ANN, "short", [{"loss": 1.0}])
    found = await vision.platform.comparing.curves([long, short], ["loss"], 100, ANN)
    assert [(one.id, [series.name for series in one.series]) for one in found.jobs] == [
        (long, ["loss"]),
        (short, ["loss"]),
    ]
    series = found.jobs[0].series[0]
    assert (series.count, series.values[0], series.values[-1]) == (5000, 1.0, 1 / 5000)
    assert len(series.values) <= 100


async def test_points_that_take_too_long_are_read_for_the_next_answer(
    vision: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [await trained(vision, ANN, name, [{"loss": 1.0}]) for name in ("first", "second")]
    monkeypatch.setattr(comparing, "PATIENCE_S", -1.0)
    hurried = await vision.platform.comparing.jobs(jobs, ANN)
    assert hurried.partial == jobs
    monkeypatch.setattr(comparing, "PATIENCE_S", 60.0)
    found = await vision.platform.comparing.jobs(jobs, ANN)
    assert (found.partial, [one.name for one in found.metrics]) == ([], ["loss"])


async def test_code_is_compared_file_by_file(vision: Stage) -> None:
    one = uploaded(vision, {"train.py": b"lr = 1\nprint(lr)\n", "same.py": b"x\n", "old.bin": b"\0\1"})
    two = uploaded(vision, {"train.py": b"lr = 2\nprint(lr)\n", "same.py": b"x\n", "new.py": b"y"})
    first = await trained(vision, ANN, "first", [], code={"upload": one})
    second = await trained(vision, ANN, "second", [], code={"upload": two})
    bare = await trained(vision, ANN, "bare", [])
    found = await vision.platform.comparing.code(first, second, ANN)
    assert [(file.path, file.change, file.binary) for file in found.files] == [
        ("new.py", "added", False),
        ("old.bin", "removed", True),
        ("train.py", "changed", False),
    ]
    assert found.files[2].diff == "--- a/train.py\n+++ b/train.py\n@@ -1,2 +1,2 @@\n-lr = 1\n+lr = 2\n print(lr)\n"
    assert (found.same, found.left_out, found.gone) == (1, 0, [])
    again = await vision.platform.comparing.code(first, first, ANN)
    assert (again.files, again.base_code) == ([], one.removeprefix("sha256:"))
    alone = await vision.platform.comparing.code(bare, first, ANN)
    assert (alone.base_code, [file.change for file in alone.files]) == (None, ["added"] * 3)


async def test_who_may_not_see_a_job_is_told_that_there_is_none(vision: Stage) -> None:
    """Beside one's own, and in every way of comparing; shared to read is enough."""
    own = await trained(vision, BOB, "own", [{"loss": 1.0}])
    hidden = await trained(vision, ANN, "hidden", [{"loss": 1.0}])
    compared = vision.platform.comparing
    for asked in (
        compared.jobs([own, hidden], BOB),
        compared.curves([own, hidden], ["loss"], 100, BOB),
        compared.code(own, hidden, BOB),
        compared.code(hidden, own, BOB),
        compared.jobs([own, "model@1"], BOB),
        compared.jobs([own, "model@x"], BOB),
    ):
        with pytest.raises(NotFound):
            await asked
    await vision.platform.share(hidden, ANN, JobShare.READ)
    assert [job.owner for job in (await compared.jobs([own, hidden], BOB)).jobs] == ["bob", "ann"]
    assert (await compared.code(own, hidden, BOB)).files == []
