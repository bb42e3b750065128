"""Numbers that no parameter can have, as people send them: over HTTP and from the command line."""

from typing import Any

import pytest

from tests.fixtures.api_contract import signed_in
from tests.scenario.stage import Stage
from trainmaster.api.app import create_app

JOB = '{"spec": {"name": "a", "command": "x", "parameters": {"lr": %s}}}'
SWEEP = '{"spec": {"name": "a", "command": "x", "sweep": {"grid": {"lr": [0.1, %s]}}}}'
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("number", "code"),
    [("9223372036854775808", "too_big"), ("-9223372036854775808", "too_small")],
)
async def test_over_http_at_their_field(fake: Stage, number: str, code: str) -> None:
    """Of a job and of a sweep, which are not submitted; JSON itself has no NaN, and no number of that size is read."""
    async with signed_in(create_app(fake.platform), fake.platform) as http:

        async def problems(path: str, body: str) -> list[dict[str, Any]]:
            answer = await http.post(path, content=body, headers=JSON)
            assert answer.status_code == 422, answer.text
            found: list[dict[str, Any]] = answer.json()["problems"]
            return found

        for path, body, place in (
            ("/api/v1/jobs", JOB % number, "parameters.lr"),
            ("/api/v1/sweeps", SWEEP % number, "sweep.grid.lr.1"),
        ):
            (found,) = await problems(path, body)
            assert (found["path"], found["code"]) == (place, code)
            assert found["remedy"]
        assert (await http.get("/api/v1/jobs")).json()["items"] == []
        for constant in ("NaN", "Infinity", "-Infinity", "1e400"):
            answer = await http.post("/api/v1/jobs", content=JOB % constant, headers=JSON)
            assert answer.status_code in (400, 422), answer.text
            assert answer.json()["problems"], answer.text
