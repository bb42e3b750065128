"""kill -9 of the server while outputs go to object storage: everything is there in the end, and what was whole there
is not sent again (R147).

TRAINMASTER_TEST_SEND_KILLS sets how many kills.
"""

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.crash.server.harness import Home, served_home
from tests.fixtures.stores import HERE, Store, own_store
from tests.scenario.stage import spec

pytestmark = [pytest.mark.serial, pytest.mark.timeout(1800)]

__all__ = ["own_store"]  # a fixture

KILLS: Final = int(os.environ.get("TRAINMASTER_TEST_SEND_KILLS", "4"))
FILES: Final = max(100, 40 * KILLS)
"""So many that there is another one after every kill."""
PATIENCE_S: Final = 240.0
TEXT: Final = (
    'cd "$TRAINMASTER_OUTPUT_DIR"; mkdir many; n=0; while [ ! -e go ]; do n=$((n+1)); '
    f"[ $n -gt {FILES} ] || seq $n 3000 > many/$n.txt; [ $n -ne 5 ] || head -c 9000000 /dev/urandom > large-$n; "
    "sleep 0.1; done; echo last > last"
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    storage: dict[str, Any] = {"allow": [HERE], "send_every_s": 0.5}
    with served_home(tmp_path / "home", {"local": {"virtual_nodes": 1}, "storage": storage}) as made:
        yield made


def below(root: Path) -> dict[str, Path]:
    """Return the files of a folder; not those that rclone has not renamed yet, or never will."""
    found = (path for path in root.rglob("*") if path.is_file())
    whole = (path for path in found if not path.name.startswith(".rclone_temp") and path.suffix != ".partial")
    return {str(path.relative_to(root)): path for path in whole}


def until(true: Callable[[], bool], what: str, home: Home) -> None:
    limit = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < limit, f"waited in vain for {what}\n{home.said()}"
        time.sleep(0.2)  # another process: nothing tells


def test_nothing_is_lost_and_nothing_that_is_whole_is_sent_again(home: Home, own_store: Store) -> None:
    store = own_store
    client, chance = home.client(), random.Random(5)
    client.ask("PUT", "/workspaces/default/storage/data", store.connection)
    document = spec("sends", TEXT, outputs=[{"s3": "data/{id}"}], model={"save": False})
    job = client.ask("POST", "/jobs", {"spec": document})["id"]
    there, outputs = store.bucket / job, Path(home.layout.outputs(job))
    whole: dict[str, int] = {}
    for kill in range(KILLS):
        until(lambda: below(there).keys() > whole.keys(), "another object", home)
        time.sleep(chance.random())  # the moment of the kill is any
        if kill == KILLS - 1:
            (outputs / "go").touch()
        home.kill_server()
        store.kill()  # as a power cut does; and rclone at times answers nobody once a client has died amid an upload
        for path, at in below(there).items():
            if at.read_bytes() == (outputs / path).read_bytes():
                whole.setdefault(path, at.stat().st_mtime_ns)
        store.start()
        home.spawn()
        client.ask("GET", "/session")

    def done() -> bool:
        view = client.ask("GET", f"/jobs/{job}")
        return bool(view["state"] == "succeeded" and view["uploads"][0]["state"] == "done")

    until(done, "the upload", home)
    found = below(there)
    assert found.keys() == below(outputs).keys()
    assert all(at.read_bytes() == (outputs / path).read_bytes() for path, at in found.items())
    assert {path: found[path].stat().st_mtime_ns for path in whole} == whole
    [upload] = client.ask("GET", f"/jobs/{job}")["uploads"]
    assert (upload["files"], upload["left_files"], upload["left_out"]) == (len(found), 0, 0)
    events = client.ask("GET", f"/jobs/{job}/events")["items"]
    assert [one["kind"] for one in events].count("uploaded") == 1
