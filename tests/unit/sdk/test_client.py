"""The client against the application on a real port (R241, R242): submit once whatever is lost, wait without
polling.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import msgspec
import pytest

from tests.fixtures.api_server import Running, running
from tests.unit.sdk.made import detail, view
from trainmaster import answers
from trainmaster.core.errors import Conflict, InvalidSpec, NotFound, TrainmasterError, Unauthenticated, Unavailable
from trainmaster.core.states import Shown
from trainmaster.sdk import seen
from trainmaster.sdk.client import Client
from trainmaster.sdk.jobs import Job
from trainmaster.sdk.lost import Lost
from trainmaster.sdk.transport import error_of
from trainmaster.service.language import document_of
from trainmaster.spec.check import check

SPEC = {"name": "a", "command": "true"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "home") as made:
        yield made


@pytest.fixture
def client(server: Running) -> Iterator[Client]:
    with Client(server.url, server.token) as made:
        yield made


class Watched(httpx.HTTPTransport):
    """The real connection; notes requests, and loses the first answers to `lose`."""

    def __init__(self, lose: int = 0, path: str = "/api/v1/jobs") -> None:
        super().__init__()
        self.seen: list[str] = []
        self.lose, self.path = lose, path

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(f"{request.method} {request.url.path}")
        response = super().handle_request(request)
        if self.lose and request.url.path == self.path and request.method == "POST":
            self.lose -= 1
            response.read()
            raise httpx.ReadError("the line broke after the server had done its work")
        return response


def test_a_submit_gives_a_unique_id(client: Client) -> None:
    """R242."""
    ids = {client.submit(SPEC).id for _ in range(5)}
    assert len(ids) == 5
    assert {job.id for job in client.list()} == ids


def test_a_lost_answer_never_becomes_a_second_job(server: Running) -> None:
    """B4: the server did its work twice over, the job is there once."""
    wire = Watched(lose=2)
    with Client(server.url, server.token, http=httpx.Client(transport=wire)) as client:
        job = client.submit(SPEC)
        assert wire.seen.count("POST /api/v1/jobs") == 3
        assert [one.id for one in client.list()] == [job.id]


def test_the_same_key_of_ones_own(client: Client) -> None:
    first = client.submit(SPEC, key="mine")
    assert client.submit(SPEC, key="mine").id == first.id
    with pytest.raises(Conflict):
        client.submit({**SPEC, "name": "b"}, key="mine")


def test_a_jobs_state_is_live_and_asked_for_once_a_second_at_most(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = Watched()
    with Client(server.url, server.token, http=httpx.Client(transport=wire)) as client:
        job = client.submit(SPEC)
        wire.seen.clear()
        assert [job.state for _ in range(5)] == ["queued"] * 5
        assert wire.seen == [], "what was seen just now counts as now"
        monkeypatch.setattr(seen, "FRESH_S", -1.0)
        server.call(lambda p: p.run(job.id))
        assert (job.state, job.ended) == ("running", False)
        server.call(lambda p: p.finish(job.id))
        assert (job.state, job.succeeded) == ("succeeded", True)
        wire.seen.clear()
        assert job.ended
        assert repr(job)
        assert wire.seen == [], "an end is final"


def test_an_error_in_a_notebook_says_everything() -> None:
    """Whoever prints the error sees what a person at the terminal sees."""
    with pytest.raises(InvalidSpec) as refused:
        check({"name": "a", "comand": "true", "roles": []})
    sent = error_of(httpx.Response(422, json=msgspec.to_builtins(document_of("en", refused.value))))
    assert str(sent) == str(refused.value)
    assert len(str(sent).splitlines()) == 1 + len(sent.problems)
    assert all(problem.path in str(sent) and problem.rule in str(sent) for problem in sent.problems)
    assert "Did you mean command" in str(sent)


def test_waiting_watches_and_never_polls(server: Running) -> None:
    wire = Watched()
    with Client(server.url, server.token, http=httpx.Client(transport=wire)) as client:
        job = client.submit(SPEC)
        server.later(0.3, lambda p: p.run(job.id))
        server.later(1.0, lambda p: p.finish(job.id))
        wire.seen.clear()
        states = [one.state for one in job.watch(timeout=60)]
    assert states[0] == "queued"
    assert states[-2:] == ["running", "succeeded"]
    assert wire.seen == [f"GET /api/v1/jobs/{job.id}", "GET /api/v1/feed"]


def test_waiting_has_an_end(server: Running, client: Client) -> None:
    job = client.submit(SPEC)
    began = time.monotonic()
    with pytest.raises(TimeoutError, match="still queued"):
        job.wait(timeout=0.5)
    assert time.monotonic() - began < 20


def test_a_job_that_is_deleted_meanwhile(server: Running, client: Client) -> None:
    job = client.submit(SPEC)
    server.once(lambda p: p.feed.listeners, lambda p: (p.finish(job.id), p.jobs_.pop(job.id)))
    job.wait(timeout=60)
    with pytest.raises(NotFound):
        job.refresh()


def test_waiting_survives_a_restart_of_the_server(server: Running, client: Client) -> None:
    job = client.submit(SPEC)
    views = job.watch(timeout=100)
    assert next(views).state == "queued"
    kept = dict(server.platform.jobs_)
    server.stop()
    server.start()  # the same address, the same home
    server.call(lambda p: p.jobs_.update(kept))
    server.later(0.5, lambda p: p.finish(job.id))
    assert [one.state for one in views][-1] == "succeeded"


class Line:
    """A server whose live view breaks time and again, each time after a while without news; the job ends with the last
    one.
    """

    def __init__(self, breaks: int, clock: list[float]) -> None:
        self.breaks, self.clock = breaks, clock

    def read(self, kind: type[Any], method: str, path: str) -> Any:
        assert kind is answers.JobDetail
        return detail(state=Shown.RUNNING if self.breaks else Shown.SUCCEEDED)

    def events(self, path: str, params: Any, quiet_s: float) -> Iterator[Any]:
        assert self.breaks, "it is known to have ended"
        self.breaks -= 1
        self.clock[0] += 100.0
        raise Lost("nothing came")
        yield


def test_a_line_that_breaks_now_and_then_is_no_server_that_went_away(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1.0]
    stands_for_time = SimpleNamespace(monotonic=lambda: clock[0], sleep=lambda seconds: None)
    monkeypatch.setattr(seen, "time", stands_for_time)
    client: Any = SimpleNamespace(http=Line(5, clock), url="http://there")
    assert Job(client, view(state=Shown.RUNNING)).wait().state == "succeeded"


def test_errors_come_back_as_they_were(client: Client) -> None:
    with pytest.raises(InvalidSpec) as refused:
        client.submit({})
    assert [problem.path for problem in refused.value.problems] == ["name"]
    with pytest.raises(NotFound):
        client.get("t999999")
    with pytest.raises(NotFound):
        client.get("../session")
    job = client.submit(SPEC)
    with pytest.raises(Conflict, match="Only jobs that have ended"):
        job.delete()
    job.stop()
    job.delete()
    with pytest.raises(NotFound):
        job.refresh()


def test_a_wrong_token_and_no_server(server: Running) -> None:
    with Client(server.url, "tm_wrong") as wrong, pytest.raises(Unauthenticated):
        wrong.list()
    with Client("http://127.0.0.1:9", "x") as nobody, pytest.raises(Unavailable) as refused:
        nobody.list()
    assert refused.value.message == "The server at http://127.0.0.1:9 does not answer (Connection refused)"


def test_logs_whole_in_part_and_followed(server: Running, client: Client) -> None:
    job = client.submit(SPEC)
    with pytest.raises(NotFound):
        job.logs()
    server.later(0.3, lambda p: p.run(job.id))
    pieces = job.logs(follow=True)  # waits for the start
    log = Path(server.platform.layout.task(job.id, 1, 0, 0).log)
    server.later(0.8, lambda p: log.write_text("a\nb\nc\n"))
    assert isinstance(pieces, Iterator)
    got = next(pieces)
    server.later(0.3, lambda p: p.finish(job.id))
    got += "".join(pieces)
    assert got == job.logs() == "a\nb\nc\n"
    assert job.logs(tail=1) == "c\n"
    assert [hit.line for hit in job.search("b")] == [1]


def test_a_followed_log_may_hold_what_some_take_for_the_end_of_a_line(server: Running, client: Client) -> None:
    """Unicode's separators and the control characters of ASCII, as a tokenizer's data or a progress bar has them
    (R138).
    """
    said = "a\u2028b\u2029c\x85d\x1ee\x0bf\rg\n\nh 你好\n" * 3000
    job = client.submit(SPEC)
    server.call(lambda p: p.run(job.id))
    Path(server.platform.layout.task(job.id, 1, 0, 0).log).write_bytes(said.encode())
    server.call(lambda p: p.finish(job.id))
    assert "".join(job.logs(follow=True)) == said


def test_a_code_folder_is_sent_first(server: Running, client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "train.py").write_text("print(1)\n")
    (folder / "job.yaml").write_text("name: a\ncode: .\ncommand: python train.py\n")
    sent: list[int] = []
    body = client.body(folder / "job.yaml", set={"retries": 2}, on_upload=sent.append)
    digest = body["spec"]["code"]["upload"].removeprefix("sha256:")
    assert (Path(server.platform.layout.upload(digest)) / "train.py").read_text() == "print(1)\n"
    assert body["set"] == {"retries": 2}
    assert sum(sent) > 0
    with pytest.raises(InvalidSpec) as refused:
        client.body({"name": "a", "code": str(tmp_path / "none")})
    assert refused.value.problems[0].path == "code.path"


def test_many_jobs_at_once_and_page_by_page(client: Client) -> None:
    made = client.submit_many([{"name": f"n{n}"} for n in range(120)])
    assert len({job.id for job in made}) == 120
    assert len(client.list(limit=7)) == 7


def test_all_of_a_filter_are_stopped_part_by_part(client: Client) -> None:
    """R202: as many requests as it takes; of more than were expected none, and no filter is not all."""
    made = [job.id for job in client.submit_many([{"name": f"n{n}"} for n in range(121)])][1:]  # the first is number 0
    assert client.count(q="n") == 121
    assert client.stop(q="n", state="queued").done == made
    assert client.change(change={"duration_s": None}, q="n", expected=200).done == made
    with pytest.raises(Conflict):
        client.delete(q="n", expected=5)
    with pytest.raises(TrainmasterError):
        client.stop()
    assert client.facets(q="n").labels == []


def test_of_many_jobs_the_rest_is_asked_for_when_it_is_wanted(server: Running) -> None:
    """A submit of thousands answers with their ids and states."""
    wire = Watched()
    with Client(server.url, server.token, http=httpx.Client(transport=wire)) as client:
        first, second = client.submit_many([{"name": "first"}, {"name": "second"}])
        wire.seen.clear()
        assert (first.state, first.ended, repr(first)) == ("queued", False, f"<Job {first.id} '' queued>")
        assert first.url.endswith(first.id)
        assert wire.seen == []
        assert (first.name, first.owner, first.attempts, first.detail.roles[0].name) == ("first", "admin", 0, "main")
        assert wire.seen == [f"GET /api/v1/jobs/{first.id}"], "once, and everything"
        wire.seen.clear()
        server.call(lambda p: p.finish(second.id))
        assert second.wait(timeout=60).succeeded
        assert wire.seen == [f"GET /api/v1/jobs/{second.id}"], "that is what waiting begins with"


def test_everything_about_a_job_is_asked_for_when_less_was_last_seen(server: Running) -> None:
    wire = Watched()
    with Client(server.url, server.token, http=httpx.Client(transport=wire)) as client:
        client.submit(SPEC)
        (job,) = client.list()
        asked = f"GET /api/v1/jobs/{job.id}"
        assert not isinstance(job.seen, answers.JobDetail)
        wire.seen.clear()
        assert job.detail.spec == {"name": "a"}
        assert job.detail is job.seen
        assert wire.seen == [asked]
        server.call(lambda p: p.run(job.id))
        job.stop("enough")
        assert (type(job.seen), job.state) == (answers.JobView, "stopped"), "all that was known before is old"
        assert job.detail.attempt_list[0].tasks[0].name == "task0-0"
        wire.seen.clear()
        assert (job.state, job.detail.state, job.attempts, job.model) == ("stopped", "stopped", 1, None)
        assert wire.seen == [], "an end is final"


def test_a_job_in_a_notebook(client: Client) -> None:
    job = client.submit({"name": "<script>alert(1)</script>"})
    page = job._repr_html_()
    assert "<script>" not in page
    assert job.id in page
    assert "排队中" in page


def test_a_preview_without_a_server() -> None:
    """R41, B8: the same checks and commands, offline."""
    from trainmaster.sdk.offline import preview

    good = preview({"name": "a", "command": "python train.py", "parameters": {"lr": 0.1}}, {"parameters.epochs": 3})
    assert good.ok, good
    assert good.roles[0].tasks[0].argv == ("python", "train.py", "--lr=0.1", "--epochs=3")
    bad = preview({"name": "a b c", "replicas": 0}, {})
    assert not bad.ok
    assert len(bad.problems) >= 2
