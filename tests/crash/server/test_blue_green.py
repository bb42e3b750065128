"""An upgrade as administrators do it: the same home, a server from another place, and jobs that do not notice (B7)."""

from pathlib import Path

import pytest

from tests.crash.server.harness import ROOT, Home
from tests.fixtures.copies import Copy, who
from tests.scenario.stage import spec

WAITS = "while [ ! -e $TRAINMASTER_OUTPUT_DIR/go ]; do sleep 0.1; done"
OWN = {"text": "def op_leave(", "instead": "# a release of its own\n    def op_leave("}


@pytest.mark.parametrize("age_s", [86_400.0, -86_400.0], ids=["older", "younger"])
def test_a_server_from_another_place_takes_over_and_jobs_go_on(tmp_path: Path, age_s: float) -> None:
    """With other code, whose files are older or younger, and back again. SIGTERM ends each of them."""
    green = Copy.make(tmp_path / "green", age_s).change("agent/server.py", **OWN)
    home = Home(tmp_path / "home", {"local": {"cpu": 4.0, "memory_mib": 4096}})
    try:
        client, key = home.client(), {"Idempotency-Key": "one"}
        job = client.ask("POST", "/jobs", {"spec": spec("on", WAITS)}, key)["id"]
        while client.ask("GET", f"/jobs/{job}")["state"] != "running":
            pass
        for place in (green.folder, ROOT):
            assert home.stop_server() == 0, home.said()
            home.spawn(place)
            assert client.ask("GET", f"/jobs/{job}")["state"] == "running"
            assert who(str(home.folder))["package"] == str(place / "trainmaster")
        Path(home.layout.outputs(job), "go").touch()
        while (view := client.ask("GET", f"/jobs/{job}"))["state"] in ("running", "saving", "stopping"):
            pass
        assert (view["state"], view["attempts"]) == ("succeeded", 1)
    finally:
        home.end()
